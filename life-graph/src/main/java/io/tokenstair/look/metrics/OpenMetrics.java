package io.tokenstair.look.metrics;

import io.tokenstair.event.LabelText;
import java.math.BigDecimal;
import java.util.Locale;

/** Metrics in the OpenMetrics text format: families one after another, each with its help and type. */
final class OpenMetrics {
    /** The content type of the format. */
    static final String CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    private final StringBuilder out = new StringBuilder();
    private String family = "";

    /** The types that are used here. */
    enum Type {
        GAUGE,
        SUMMARY
    }

    /** Begins a family. */
    void family(String name, Type type, String unit, String help) {
        family = name;
        out.append("# HELP ").append(name).append(' ').append(help).append('\n');
        out.append("# TYPE ")
                .append(name)
                .append(' ')
                .append(type.name().toLowerCase(Locale.ROOT))
                .append('\n');
        if (!unit.isEmpty()) {
            out.append("# UNIT ").append(name).append(' ').append(unit).append('\n');
        }
    }

    /** A sample of the family. Labels come as names and values in turn; those without a value are left out. */
    void sample(double value, String... labels) {
        out.append(family);
        String before = "{";
        for (int i = 0; i + 1 < labels.length; i += 2) {
            if (!labels[i + 1].isEmpty()) {
                out.append(before).append(LabelText.of(labels[i], labels[i + 1]));
                before = ",";
            }
        }
        out.append(before.equals(",") ? "} " : " ").append(number(value)).append('\n');
    }

    private static String number(double value) {
        return Double.isFinite(value)
                ? new BigDecimal(String.valueOf(value)).stripTrailingZeros().toPlainString()
                : "NaN";
    }

    /** The text with its end mark. */
    String text() {
        return out + "# EOF\n";
    }
}
