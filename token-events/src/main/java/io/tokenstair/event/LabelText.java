package io.tokenstair.event;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Labels of a sample as the Prometheus text format writes them. */
public final class LabelText {
    private LabelText() {}

    /** One label. */
    public static String of(String name, String value) {
        return name + "=\"" + escaped(value) + "\"";
    }

    /** Labels sorted by name; those without a value are left out. */
    public static String of(Map<String, @Nullable String> values) {
        StringBuilder labels = new StringBuilder();
        new TreeMap<>(values).forEach((name, value) -> {
            if (value != null) {
                labels.append(labels.isEmpty() ? "" : ",").append(of(name, value));
            }
        });
        return labels.toString();
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
