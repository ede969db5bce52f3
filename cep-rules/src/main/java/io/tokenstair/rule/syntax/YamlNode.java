package io.tokenstair.rule.syntax;

import java.util.List;

/** A YAML value with its place. */
sealed interface YamlNode {
    /** Where it begins in the file. */
    int offset();

    /** What people call it. */
    String description();

    /** A text. */
    record Scalar(ScalarSyntax scalar) implements YamlNode {
        @Override
        public int offset() {
            return scalar.offset();
        }

        @Override
        public String description() {
            return "a text";
        }
    }

    /** A list. */
    record Sequence(int offset, List<YamlNode> elements) implements YamlNode {
        @Override
        public String description() {
            return "a list";
        }
    }

    /** Names and values, in the order of the file; no name twice. */
    record Mapping(int offset, List<Entry> entries) implements YamlNode {
        @Override
        public String description() {
            return "names with values";
        }
    }

    /** A name and its value. */
    record Entry(ScalarSyntax name, YamlNode value) {}
}
