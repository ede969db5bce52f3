package io.tokenstair.clock;

/**
 * The family of a clock, as a type parameter of {@link Stamp}: stamps of two families cannot be mixed, which the compiler checks.
 * Never instantiated.
 */
public sealed interface Clock permits Clock.Engine, Clock.Observer, Clock.Device, Clock.Wall {

    /** The monotonic clock of an engine process. */
    final class Engine implements Clock {
        private Engine() {}
    }

    /** The monotonic clock of a gateway or client. */
    final class Observer implements Clock {
        private Observer() {}
    }

    /** The timer of an accelerator. */
    final class Device implements Clock {
        private Device() {}
    }

    /** The wall clock of a host. May step. */
    final class Wall implements Clock {
        private Wall() {}
    }
}
