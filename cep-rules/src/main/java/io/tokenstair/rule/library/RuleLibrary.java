package io.tokenstair.rule.library;

import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** A set of bound rules with different ids, in the order of their ids. */
public final class RuleLibrary {
    /** A jar cannot list its folders, so the files are named here; a test compares the list with the folder. */
    private static final List<String> BUILT_IN_FILES = List.of(
            "alloc-stall-with-sync.yaml",
            "batch-oscillation-felt.yaml",
            "context-expansion-staircase.yaml",
            "decode-starved.yaml",
            "driver-error-after-stall.yaml",
            "first-use-jit.yaml",
            "gateway-buffering-felt.yaml",
            "graph-fallback.yaml",
            "host-pause.yaml",
            "kv-pressure-then-recompute.yaml",
            "output-stall.yaml",
            "overtaken-after-preemption.yaml",
            "preemption-loop-begins.yaml",
            "preemption-storm-begins.yaml",
            "prefill-interference.yaml",
            "prefix-hit-collapse-begins.yaml",
            "priority-inversion.yaml",
            "remote-kv-admission.yaml",
            "seat-limit.yaml",
            "thermal-slowdown.yaml",
            "token-budget-starvation.yaml",
            "ttft-breach.yaml");

    private final List<BoundRule> rules;

    private RuleLibrary(List<BoundRule> rules) {
        this.rules = rules;
    }

    /** The rules that come with Tokenstair. */
    public static RuleLibrary builtIn() {
        return of(BUILT_IN_FILES.stream().map(RuleLibrary::builtInRule).toList());
    }

    /**
     * A library of some rules.
     *
     * @throws IllegalArgumentException where two have one id
     */
    public static RuleLibrary of(List<BoundRule> rules) {
        Set<String> ids = new HashSet<>();
        for (BoundRule rule : rules) {
            if (!ids.add(rule.id())) {
                throw new IllegalArgumentException("Cannot hold two rules of one id: " + rule.id());
            }
        }
        return new RuleLibrary(
                rules.stream().sorted(Comparator.comparing(BoundRule::id)).toList());
    }

    /** The rules, in the order of their ids. */
    public List<BoundRule> rules() {
        return rules;
    }

    /** File names of the built-in rules, in the folder {@code rules} of this module's resources. */
    static Stream<String> builtInFiles() {
        return BUILT_IN_FILES.stream();
    }

    private static BoundRule builtInRule(String file) {
        try (InputStream in = RuleLibrary.class.getResourceAsStream("/rules/" + file)) {
            if (in == null) {
                throw new RuleException(file, 1, 1, "Cannot find the file of a built-in rule", "");
            }
            return RuleBinder.bind(file, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the file of a built-in rule: " + file, e);
        }
    }
}
