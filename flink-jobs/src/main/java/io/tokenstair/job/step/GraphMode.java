package io.tokenstair.job.step;

import org.jspecify.annotations.Nullable;

/** How the engine launched the kernels of a step, from the most launches to the fewest. A key of the step time model. */
public enum GraphMode {
    /** The engine does not say. */
    NOT_REPORTED(null),
    /** Every kernel launched by itself. */
    EAGER("eager"),
    /** Captured graphs with attention launched in between. */
    PIECEWISE("piecewise"),
    /** One captured graph. */
    FULL("full"),
    /** A mode with a name of its own. */
    OTHER("other");

    private static final GraphMode[] VALUES = values();

    /** How many there are. */
    public static final int COUNT = VALUES.length;

    private final @Nullable String modeName;

    GraphMode(@Nullable String modeName) {
        this.modeName = modeName;
    }

    /** The mode of a step record. */
    public static GraphMode of(@Nullable String name) {
        if (name == null) {
            return NOT_REPORTED;
        }
        return switch (name) {
            case "eager" -> EAGER;
            case "piecewise" -> PIECEWISE;
            case "full" -> FULL;
            default -> OTHER;
        };
    }

    /** The mode with an ordinal. */
    static GraphMode ofOrdinal(int ordinal) {
        return VALUES[ordinal];
    }

    /** Its name in tables; null where it is not known. */
    public @Nullable String modeName() {
        return modeName;
    }

    /** True where a batch is padded to a captured size. */
    boolean pads() {
        return this == PIECEWISE || this == FULL;
    }

    /** True for a mode that needs more launches than the other one; false where either is not known. */
    boolean fallsBackFrom(GraphMode usual) {
        return this != NOT_REPORTED && this != OTHER && usual != OTHER && compareTo(usual) < 0;
    }
}
