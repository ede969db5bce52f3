package io.tokenstair.rule.syntax;

import io.tokenstair.rule.RuleException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads the part of YAML that rules use: names, lists and texts of one document.
 *
 * <p>It builds the tree from parser events, so depth is checked before anything recurses; anchors, aliases and tags are refused,
 * so a small file cannot grow.
 */
final class YamlReader {
    private static final int MAX_DEPTH = 12;

    private final SourceText source;
    private final Iterator<Event> events;

    private YamlReader(SourceText source, Iterator<Event> events) {
        this.source = source;
        this.events = events;
    }

    /**
     * The one document of a file.
     *
     * @throws RuleException where the file is not such a document
     */
    static YamlNode read(SourceText source) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(source.file())
                .setCodePointLimit(RuleParser.MAX_BYTES)
                .build();
        try {
            return new YamlReader(
                            source,
                            new Parse(settings).parseString(source.text()).iterator())
                    .document();
        } catch (MarkedYamlEngineException e) {
            int offset = e.getProblemMark()
                    .or(e::getContextMark)
                    .map(mark -> source.offsetOf(mark.getLine(), mark.getColumn()))
                    .orElse(0);
            throw source.error(offset, "Cannot read the YAML: " + e.getProblem());
        } catch (ReaderException e) {
            int offset = source.text()
                    .offsetByCodePoints(
                            0, Math.min(e.getPosition(), source.text().length()));
            throw source.error(
                    offset, "Cannot read the YAML: the character U+%04X is not allowed".formatted(e.getCodePoint()));
        } catch (YamlEngineException e) {
            throw source.error(0, "Cannot read the YAML: " + e.getMessage());
        }
    }

    private YamlNode document() {
        events.next();
        Event start = events.next();
        if (start.getEventId() != Event.ID.DocumentStart) {
            throw source.error(0, "Cannot read a rule from an empty file");
        }
        YamlNode root = node(events.next(), 1);
        events.next();
        Event end = events.next();
        if (end.getEventId() != Event.ID.StreamEnd) {
            throw source.error(
                    offset(end.getStartMark()), "Cannot read a second rule from one file: give it a file of its own");
        }
        return root;
    }

    private YamlNode node(Event event, int depth) {
        int offset = offset(event.getStartMark());
        if (depth > MAX_DEPTH) {
            throw source.error(offset, "Cannot read values nested deeper than " + MAX_DEPTH);
        }
        if (event.getEventId() == Event.ID.Alias) {
            throw source.error(offset, "Cannot use a YAML alias in a rule: write the value out");
        }
        if (event instanceof NodeEvent node && node.getAnchor().isPresent()) {
            throw source.error(offset, "Cannot use a YAML anchor in a rule: write the value out");
        }
        return switch (event.getEventId()) {
            case Scalar -> new YamlNode.Scalar(scalar((ScalarEvent) event));
            case SequenceStart -> sequence(offset, depth);
            case MappingStart -> mapping(offset, depth);
            default -> throw source.error(offset, "Cannot read the YAML: unexpected " + event.getEventId());
        };
    }

    private YamlNode.Sequence sequence(int offset, int depth) {
        List<YamlNode> elements = new ArrayList<>();
        for (Event event = events.next(); event.getEventId() != Event.ID.SequenceEnd; event = events.next()) {
            elements.add(node(event, depth + 1));
        }
        return new YamlNode.Sequence(offset, List.copyOf(elements));
    }

    private YamlNode.Mapping mapping(int offset, int depth) {
        List<YamlNode.Entry> entries = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Event event = events.next(); event.getEventId() != Event.ID.MappingEnd; event = events.next()) {
            if (!(node(event, depth + 1) instanceof YamlNode.Scalar name)) {
                throw source.error(offset(event.getStartMark()), "Cannot use a list or mapping as a name");
            }
            if (!names.add(name.scalar().value())) {
                throw name.scalar()
                        .error("Cannot give a name twice: " + name.scalar().value());
            }
            entries.add(new YamlNode.Entry(name.scalar(), node(events.next(), depth + 1)));
        }
        return new YamlNode.Mapping(offset, List.copyOf(entries));
    }

    private ScalarSyntax scalar(ScalarEvent event) {
        int offset = offset(event.getStartMark());
        if (event.getTag().isPresent()) {
            // Most likely a condition that begins with a negation.
            throw source.error(offset, "Cannot use a YAML tag in a rule: put a text that begins with '!' in quotes");
        }
        ScalarStyle style = event.getScalarStyle();
        int contentOffset = switch (style) {
            case SINGLE_QUOTED, DOUBLE_QUOTED -> offset + 1;
            case LITERAL, FOLDED -> lineAfter(offset);
            default -> offset;
        };
        return new ScalarSyntax(
                source,
                event.getValue(),
                offset,
                contentOffset,
                style == ScalarStyle.DOUBLE_QUOTED,
                style == ScalarStyle.SINGLE_QUOTED);
    }

    private int lineAfter(int offset) {
        int lineEnd = source.text().indexOf('\n', offset);
        return lineEnd < 0 ? offset : lineEnd + 1;
    }

    private int offset(Optional<Mark> mark) {
        return mark.map(known -> source.offsetOf(known.getLine(), known.getColumn()))
                .orElse(0);
    }
}
