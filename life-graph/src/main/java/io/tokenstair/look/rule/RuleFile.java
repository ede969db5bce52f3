package io.tokenstair.look.rule;

import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.text.Terminal;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.syntax.RuleParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A rule file as it was read: a rule, or the reason why it is none.
 *
 * @param name the file as people named it
 * @param rule the rule; absent where it was refused
 * @param refused why it is no rule; absent where it is one
 */
record RuleFile(
        String name, @Nullable BoundRule rule, @Nullable RuleException refused) {
    private static final List<String> ENDINGS = List.of(".yaml", ".yml");

    /**
     * The rule files named, a folder standing for those in it, in the order of their names.
     *
     * @throws UnusableInputException where one cannot be read at all, or a folder holds none
     */
    static List<RuleFile> read(List<Path> named) {
        List<RuleFile> read = new ArrayList<>();
        for (Path path : named) {
            if (Files.isDirectory(path)) {
                inFolder(path).forEach(file -> read.add(readOne(file)));
            } else {
                read.add(readOne(path));
            }
        }
        return List.copyOf(read);
    }

    private static List<Path> inFolder(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> rules = files.filter(Files::isRegularFile)
                    .filter(file -> ENDINGS.stream()
                            .anyMatch(ending -> file.getFileName().toString().endsWith(ending)))
                    .sorted()
                    .toList();
            if (rules.isEmpty()) {
                throw new UnusableInputException(
                        "Cannot find a rule in folder " + folder + ": it has no file that ends in .yaml or .yml");
            }
            return rules;
        } catch (IOException failure) {
            throw new UnusableInputException("Cannot list folder " + folder + ": check that it can be read", failure);
        }
    }

    private static RuleFile readOne(Path file) {
        String name = Terminal.safe(file.toString());
        byte[] utf8;
        try (InputStream in = Files.newInputStream(file)) {
            utf8 = in.readNBytes(RuleParser.MAX_BYTES + 1);
        } catch (IOException failure) {
            throw new UnusableInputException(
                    "Cannot read rule file " + name + ": "
                            + (Files.exists(file) ? "check that it can be read" : "there is no such file"),
                    failure);
        }
        try {
            return new RuleFile(name, RuleBinder.bind(RuleParser.parse(name, utf8)), null);
        } catch (RuleException refused) {
            return new RuleFile(name, null, refused);
        }
    }
}
