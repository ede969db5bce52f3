package io.tokenstair.look.archive;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.cause.Part;
import java.util.ArrayList;
import java.util.List;

/** The parts of a token's gap and of its delivery that are present, in the order of the closed lists. */
public final class TokenParts {
    private TokenParts() {}

    /**
     * A part.
     *
     * @param name the name people see
     * @param nanos its time; may be negative
     * @param evidence the events that show it; empty where it needs none
     */
    public record NamedPart(String name, long nanos, List<String> evidence) {}

    /** The parts of the gap; empty where the gap is unknown. */
    public static List<NamedPart> ofGap(TokenAnalysis token) {
        List<NamedPart> parts = new ArrayList<>();
        for (Part part : Part.values()) {
            Long nanos = token.partNanos(part);
            if (nanos != null) {
                parts.add(new NamedPart(part.partName(), nanos, evidenceOf(token, part.partName())));
            }
        }
        return parts;
    }

    /** The parts of the delivery; empty where the delivery is unknown. */
    public static List<NamedPart> ofDelivery(TokenAnalysis token) {
        List<NamedPart> parts = new ArrayList<>();
        for (DeliveryPart part : DeliveryPart.values()) {
            Long nanos = token.partNanos(part);
            if (nanos != null) {
                parts.add(new NamedPart(part.partName(), nanos, evidenceOf(token, "delivery-" + part.partName())));
            }
        }
        return parts;
    }

    private static List<String> evidenceOf(TokenAnalysis token, String partName) {
        List<String> alternating = token.evidence();
        List<String> events = new ArrayList<>();
        for (int place = 0; place + 1 < alternating.size(); place += 2) {
            if (alternating.get(place).equals(partName)) {
                events.add(alternating.get(place + 1));
            }
        }
        return events;
    }
}
