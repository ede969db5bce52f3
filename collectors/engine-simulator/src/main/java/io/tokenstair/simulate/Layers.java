package io.tokenstair.simulate;

import java.util.Locale;

/** Which evidence a simulated run leaves. */
public enum Layers {
    /** Everything. */
    ALL,
    /** Steps, waits, flags, KV blocks and chunks; no record of kernels, synchronisation, memory, devices or hosts. */
    BASIC;

    /** The name on the command line. */
    public String layersName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
