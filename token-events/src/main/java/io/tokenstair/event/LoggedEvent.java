package io.tokenstair.event;

/**
 * An event with its header, as it is logged and archived.
 *
 * @param header who recorded it and when
 * @param event what happened
 */
public record LoggedEvent(EventHeader header, Event event) {}
