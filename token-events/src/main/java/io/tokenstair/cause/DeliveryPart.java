package io.tokenstair.cause;

import java.util.Locale;

/** The parts of the time from a token's making to its delivery. They sum exactly to it. */
public enum DeliveryPart {
    /** From the end of the step to the engine's write. */
    OUTPUT,
    /** Inside the gateway. */
    GATEWAY,
    /** Between hosts. */
    NETWORK,
    /** The client did not read. */
    CLIENT,
    /** What is left, never hidden. */
    UNEXPLAINED;

    private static final DeliveryPart[] VALUES = values();

    private final String partName = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** The name people see. */
    public String partName() {
        return partName;
    }

    /** The part of an ordinal, without copying the array of all. */
    public static DeliveryPart ofOrdinal(int ordinal) {
        return VALUES[ordinal];
    }
}
