package io.tokenstair.event;

/**
 * The engine's id that a handle stands for in a collector and epoch.
 *
 * @param requestHandle the handle
 * @param engineRequestId the engine's own id, raw
 */
public record HandleAnnounced(int requestHandle, String engineRequestId) {}
