package io.tokenstair.collector;

import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.log.LogOutlet;
import io.tokenstair.spelling.NearestName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** The one configuration file of all collectors. Every mistake is told with its file, line and column. */
final class ConfigFile {
    static final int MAX_CHARACTERS = 256 << 10;

    private static final String TO = "to";
    private static final String QUEUE = "queue-events";
    private static final String COLLECTORS = "collectors";
    private static final String TYPE = "type";
    private static final String NAME = "name";

    /** Most mistakes that are told at once. */
    private static final int MOST_MISTAKES = 20;

    private final String file;
    private final List<Collector> known;
    /** A line each, in the order of the file. */
    private final List<String> mistakes = new ArrayList<>();
    /** Who listens where, in the order of the file. */
    private final Map<String, String> addressByListener = new LinkedHashMap<>();

    private ConfigFile(String file, List<Collector> known) {
        this.file = file;
        this.known = known;
    }

    /**
     * What a file says is to be collected.
     *
     * @param file the file
     * @param known the collectors there are
     * @param to where the log is, instead of what the file says; absent when the file is to say it
     * @throws CollectorException where it cannot be read, and for its mistakes: a line each
     */
    static Plan read(Path file, List<Collector> known, @Nullable String to) throws CollectorException {
        try {
            return read(file.toString(), Files.readString(file, StandardCharsets.UTF_8), known, to);
        } catch (NoSuchFileException missing) {
            throw new CollectorException(file + ": there is no such file", missing);
        } catch (IOException unreadable) {
            throw new CollectorException(
                    file + ": cannot be read: " + unreadable.getClass().getSimpleName(), unreadable);
        }
    }

    /**
     * What a file says is to be collected.
     *
     * @param file its name, for messages
     * @param text what it holds
     * @param known the collectors there are
     * @param to where the log is, instead of what the file says; absent when the file is to say it
     * @throws CollectorException for its mistakes: a line each
     */
    static Plan read(String file, String text, List<Collector> known, @Nullable String to) throws CollectorException {
        if (text.length() > MAX_CHARACTERS) {
            throw new CollectorException(file + ": longer than " + MAX_CHARACTERS + " characters");
        }
        try {
            Optional<Node> root = new Compose(LoadSettings.builder()
                            .setLabel(file)
                            .setCodePointLimit(MAX_CHARACTERS)
                            .build())
                    .composeString(text);
            if (root.isEmpty()) {
                throw new CollectorException(file + ": empty: see tokenstair collect --print-config");
            }
            return new ConfigFile(file, known).plan(root.get(), to);
        } catch (MarkedYamlEngineException broken) {
            Mark mark = broken.getProblemMark().or(broken::getContextMark).orElse(null);
            throw new CollectorException(
                    file + (mark == null ? "" : ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1))
                            + ": cannot read the YAML: " + broken.getProblem(),
                    broken);
        } catch (YamlEngineException broken) {
            throw new CollectorException(
                    file + ": cannot read the YAML: "
                            + String.valueOf(broken.getMessage())
                                    .lines()
                                    .findFirst()
                                    .orElse(""),
                    broken);
        } catch (StackOverflowError tooDeep) {
            throw new CollectorException(file + ": lists in lists too deep to read", tooDeep);
        }
    }

    private Plan plan(Node root, @Nullable String to) throws CollectorException {
        Map<String, Node> top = mapping(root, "the file", List.of(TO, QUEUE, Plan.METRICS_LISTEN, COLLECTORS));
        Node log = top.get(TO);
        String address = to != null ? to : log == null ? null : scalar(log, TO);
        if (address == null || address.isBlank()) {
            mistake(root, "to is missing: the log, kafka://host:port/topic or a folder");
        }
        int queueEvents = LogOutlet.Settings.DEFAULT.queueEvents();
        Node queue = top.get(QUEUE);
        if (queue != null) {
            String count = scalar(queue, QUEUE);
            if (OptionKind.COUNT.problem(count) != null
                    || Integer.parseInt(count) < 8
                    || Integer.parseInt(count) > 1 << 20) {
                mistake(queue, QUEUE + ": not a whole number from 8 to " + (1 << 20) + ": " + count);
            } else {
                queueEvents = Integer.parseInt(count);
            }
        }
        Node page = top.get(Plan.METRICS_LISTEN);
        String metricsListen = page == null ? null : scalar(page, Plan.METRICS_LISTEN);
        if (page != null && metricsListen != null) {
            String problem = Plan.metricsListenProblem(metricsListen);
            if (problem != null) {
                mistake(page, Plan.METRICS_LISTEN + ": " + problem + ": " + metricsListen);
            } else {
                listens(page, Plan.METRICS_LISTEN, "", Plan.metricsAddress(metricsListen));
            }
        }
        Node list = top.get(COLLECTORS);
        if (!(list instanceof SequenceNode sequence) || sequence.getValue().isEmpty()) {
            mistake(list == null ? root : list, "collectors is to be a list of at least one collector");
            throw mistaken();
        }
        List<Plan.Planned> planned = new ArrayList<>();
        Set<String> names = new HashSet<>();
        Map<String, Integer> countByType = new HashMap<>();
        for (Node element : sequence.getValue()) {
            try {
                Plan.Planned one = planned(element, names, countByType);
                if (one != null) {
                    planned.add(one);
                }
            } catch (CollectorException wrong) {
                mistakes.add(String.valueOf(wrong.getMessage()));
            }
        }
        if (address == null || !mistakes.isEmpty()) {
            throw mistaken();
        }
        return new Plan(address, queueEvents, metricsListen, planned);
    }

    private CollectorException mistaken() {
        List<String> told =
                mistakes.size() <= MOST_MISTAKES ? mistakes : new ArrayList<>(mistakes.subList(0, MOST_MISTAKES));
        if (told != mistakes) {
            told.add(file + ": and " + (mistakes.size() - MOST_MISTAKES) + " more mistakes");
        }
        return new CollectorException(String.join("\n", told));
    }

    private void mistake(Node node, String problem) {
        mistakes.add(place(node) + ": " + problem);
    }

    /** A collector; null where mistakes in it were told. */
    private Plan.@Nullable Planned planned(Node element, Set<String> names, Map<String, Integer> countByType)
            throws CollectorException {
        int before = mistakes.size();
        Map<String, Node> unchecked = mapping(element, "a collector", null);
        Node typeNode = unchecked.get(TYPE);
        if (typeNode == null) {
            throw error(element, "type is missing: one of " + types());
        }
        String type = scalar(typeNode, TYPE);
        Collector collector = null;
        for (Collector candidate : known) {
            if (candidate.type().equals(type)) {
                collector = candidate;
            }
        }
        if (collector == null) {
            throw error(typeNode, "unknown collector: " + type + nearest(type, types()));
        }
        List<String> allowed = new ArrayList<>(List.of(TYPE, NAME));
        collector.options().forEach(option -> allowed.add(option.name()));
        Map<String, Node> given = mapping(element, type, allowed);
        int index = countByType.merge(type, 1, Integer::sum) - 1;
        Node nameNode = given.get(NAME);
        String name = nameNode == null ? type + "-" + index : scalar(nameNode, NAME);
        if (name.isBlank()
                || name.getBytes(StandardCharsets.UTF_8).length > EventCodec.MAX_ID_BYTES
                || name.chars().anyMatch(Character::isISOControl)) {
            throw error(nameNode == null ? element : nameNode, "name: not a name of 1 to 256 bytes");
        }
        if (!names.add(name)) {
            throw error(nameNode == null ? element : nameNode, "name: two collectors are called " + name);
        }
        Map<String, String> texts = new LinkedHashMap<>();
        for (Option option : collector.options()) {
            Node node = given.get(option.name());
            if (node instanceof ScalarNode scalar) {
                String text = scalar.getValue();
                String problem = option.problem(text);
                if (problem != null) {
                    mistake(node, option.name() + ": " + problem + option.shown(text));
                }
                texts.put(option.name(), text);
            } else if (node != null) {
                mistakes.add(String.valueOf(notScalar(node, option.name()).getMessage()));
            }
        }
        if (mistakes.size() > before) {
            // A setting that is misspelt is not missing beside that.
            return null;
        }
        OptionValues values = new OptionValues(collector.options(), texts, place(element));
        try {
            collector.check(values);
        } catch (CollectorException together) {
            throw new CollectorException(place(element) + ": " + type + ": " + together.getMessage(), together);
        }
        for (Option option : collector.options()) {
            String address = values.optionalText(option.name());
            if (address != null && option.kind().listens()) {
                listens(given.getOrDefault(option.name(), element), option.name(), " of " + name, address);
            }
        }
        return new Plan.Planned(name, collector, values);
    }

    /** Notes who listens where, and that another does already. */
    private void listens(Node node, String setting, String ofWhom, String address) {
        addressByListener.forEach((listener, taken) -> {
            if (OptionKind.collide(address, taken)) {
                mistake(node, setting + ": " + address + " is where " + listener + " listens");
            }
        });
        addressByListener.put(setting + ofWhom, address);
    }

    private List<String> types() {
        return known.stream().map(Collector::type).toList();
    }

    private Map<String, Node> mapping(Node node, String what, @Nullable List<String> allowed)
            throws CollectorException {
        if (!(node instanceof MappingNode mapping)) {
            throw error(node, what + " is to be names with values");
        }
        Map<String, Node> entries = new LinkedHashMap<>();
        for (NodeTuple entry : mapping.getValue()) {
            String name = scalar(entry.getKeyNode(), "a name");
            if (allowed != null && !allowed.contains(name)) {
                mistake(entry.getKeyNode(), what + ": unknown setting: " + name + nearest(name, allowed));
                continue;
            }
            if (entries.put(name, entry.getValueNode()) != null) {
                throw error(entry.getKeyNode(), "set twice: " + name);
            }
        }
        return entries;
    }

    private String scalar(Node node, String what) throws CollectorException {
        if (node instanceof ScalarNode scalar) {
            return scalar.getValue();
        }
        throw notScalar(node, what);
    }

    private CollectorException notScalar(Node node, String what) {
        return error(node, what + ": one value is wanted here");
    }

    private static String nearest(String name, List<String> candidates) {
        String nearest = NearestName.of(name, candidates);
        return nearest != null ? ": did you mean " + nearest + "?" : ". There are: " + String.join(", ", candidates);
    }

    private String place(Node node) {
        return file
                + node.getStartMark()
                        .map(mark -> ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1))
                        .orElse("");
    }

    private CollectorException error(Node node, String problem) {
        return new CollectorException(place(node) + ": " + problem);
    }

    /** A whole file with every setting, its meaning and its default. */
    static String sample(List<Collector> known) {
        StringBuilder text = new StringBuilder();
        text.append("# tokenstair collect --config FILE: every setting. What is commented out shows its default.\n");
        text.append("# Sizes: 65536, 64KiB, 1MiB. Times: 500ms, 10s, 5m, 1h.\n\n");
        text.append("# The log: kafka://host:port/topic, or a folder.\n");
        text.append("to: ./log\n\n");
        text.append("# Most events that wait for the log. Beyond, events are lost and counted; nothing waits.\n");
        text.append("#queue-events: ")
                .append(LogOutlet.Settings.DEFAULT.queueEvents())
                .append("\n\n");
        text.append(
                "# Where /metrics of this process is served: a port of 127.0.0.1, or host:port. Not set by default.\n");
        text.append("#" + Plan.METRICS_LISTEN + ": 9465\n\n");
        text.append("# A list: leave away what you do not need; a kind may stand here more than once.\n");
        text.append("collectors:\n");
        for (Collector collector : known) {
            text.append("  # ").append(collector.summary()).append('\n');
            text.append("  - type: ").append(collector.type()).append('\n');
            text.append("    # Its name in the log.\n    #name: ")
                    .append(collector.type())
                    .append("-0\n");
            Option needed = needed(collector);
            for (Option option : collector.options()) {
                boolean set = option.required() || Objects.equals(option, needed);
                text.append("    # ").append(option.description());
                if (!option.required() && option.defaultText() == null) {
                    text.append(" Not set by default.");
                }
                text.append('\n');
                text.append(set ? "    " : "    #").append(option.name()).append(": ");
                text.append(
                        set ? example(option) : option.defaultText() == null ? shown(option) : option.defaultText());
                text.append('\n');
            }
        }
        return text.toString();
    }

    /** The option that is shown set though it may be left out, as the collector does nothing without any; null where none need be. */
    private static @Nullable Option needed(Collector collector) {
        List<Option> options = collector.options();
        Map<String, String> required = new HashMap<>();
        options.stream().filter(Option::required).forEach(option -> required.put(option.name(), example(option)));
        try {
            collector.check(new OptionValues(options, required, collector.type()));
            return null;
        } catch (CollectorException nothingToDo) {
            return options.stream()
                    .filter(option -> option.defaultText() == null && !option.required())
                    .findFirst()
                    .orElse(null);
        }
    }

    /** What stands for a value that is not set: an example where its form is not told by a word. */
    private static String shown(Option option) {
        return option.kind() == OptionKind.PAGES
                        || option.kind() == OptionKind.SOCKETS
                        || option.kind() == OptionKind.LISTENING_SOCKET
                ? example(option)
                : option.label();
    }

    private static String example(Option option) {
        String own = option.example();
        if (own != null) {
            return own;
        }
        return switch (option.kind()) {
            case URL -> "http://127.0.0.1:8000";
            case PAGES -> "http://127.0.0.1:8000/metrics";
            case SOCKETS -> "tcp://127.0.0.1:5557";
            case LISTENING_SOCKET -> "tcp://127.0.0.1:5559";
            case ADDRESS -> "127.0.0.1:8100";
            case COUNT -> "1";
            case BYTES -> "64KiB";
            case DURATION -> "10s";
            case FLAG -> "true";
            case SECRET -> "env:NAME";
            case TEXT, PATH -> "./" + option.name();
            case CHOICE -> option.choices().get(0);
        };
    }
}
