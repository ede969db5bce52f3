package io.tokenstair.job;

import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.rule.syntax.RuleParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The rules a job starts with: the built-in ones and those of a file or folder. */
final class RuleFiles {
    /** Most rule files of a folder. */
    private static final int MAX_FILES = 1_000;

    private RuleFiles() {}

    /**
     * The built-in rules and those of a file, or of all {@code .yaml} and {@code .yml} files of a folder, in the order of their ids.
     *
     * @param place the file or folder; null for the built-in rules alone
     * @throws io.tokenstair.rule.RuleException where a file holds no rule
     * @throws IllegalArgumentException where two files have one id, or a file has the id of a built-in rule and no higher version
     */
    static List<BoundRule> withBuiltIn(@Nullable Path place) throws IOException {
        Map<String, BoundRule> rules = new TreeMap<>();
        RuleLibrary.builtIn().rules().forEach(rule -> rules.put(rule.id(), rule));
        if (place != null) {
            Map<String, BoundRule> own = new TreeMap<>();
            for (Path file : files(place)) {
                BoundRule rule = read(file);
                BoundRule other = own.put(rule.id(), rule);
                if (other != null) {
                    throw new IllegalArgumentException("Cannot use two rules of one id: " + rule.id() + " is in "
                            + other.source().file() + " and in " + file);
                }
                BoundRule builtIn = rules.get(rule.id());
                if (builtIn != null && builtIn.revision() >= rule.revision()) {
                    throw new IllegalArgumentException("Cannot put " + file + " in the place of the built-in rule "
                            + rule.id() + ": give it a version above " + builtIn.revision() + ", or another id");
                }
            }
            rules.putAll(own);
        }
        return List.copyOf(rules.values());
    }

    private static BoundRule read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return RuleBinder.bind(RuleParser.parse(file.toString(), in.readNBytes(RuleParser.MAX_BYTES + 1)));
        }
    }

    private static List<Path> files(Path place) throws IOException {
        if (!Files.isDirectory(place)) {
            if (!Files.isRegularFile(place)) {
                throw new IllegalArgumentException(
                        "Cannot read rules from " + place + ": there is no such file or folder");
            }
            return List.of(place);
        }
        try (Stream<Path> entries = Files.list(place)) {
            List<Path> files = entries.filter(file ->
                            file.toString().endsWith(".yaml") || file.toString().endsWith(".yml"))
                    .sorted()
                    .limit(MAX_FILES + 1)
                    .toList();
            if (files.isEmpty() || files.size() > MAX_FILES) {
                throw new IllegalArgumentException(
                        "Cannot read rules from " + place + ": give a folder of 1 to " + MAX_FILES + " .yaml files");
            }
            return files;
        }
    }
}
