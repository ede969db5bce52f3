package io.tokenstair.server;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Figures of collectors in the OpenMetrics text format, each family once, with the collector's name as a label. */
public final class HealthText {
    /** The content type of the format. */
    public static final String CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    private HealthText() {}

    /** The families of these collectors' figures, without the format's end mark. */
    public static String of(Map<String, List<HealthFigure>> byCollector) {
        Map<String, List<String>> lines = new LinkedHashMap<>();
        byCollector.forEach((collector, figures) -> figures.forEach(figure -> lines.computeIfAbsent(
                        figure.family(), family -> begun(figure))
                .add(figure.family() + (figure.counter() ? "_total" : "") + "{collector=\"" + escaped(collector) + '"'
                        + (figure.label().isEmpty() ? "" : "," + figure.label()) + "} " + figure.value())));
        StringBuilder text = new StringBuilder();
        lines.values()
                .forEach(family -> family.forEach(line -> text.append(line).append('\n')));
        return text.toString();
    }

    private static List<String> begun(HealthFigure figure) {
        List<String> lines = new ArrayList<>();
        lines.add("# HELP " + figure.family() + ' ' + figure.help());
        lines.add("# TYPE " + figure.family() + ' ' + (figure.counter() ? "counter" : "gauge"));
        return lines;
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
