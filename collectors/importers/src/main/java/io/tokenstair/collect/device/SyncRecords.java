package io.tokenstair.collect.device;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What synchronization records say of the calls that waited: the device and the stream, which the calls themselves do not name. Whether
 * a call waited its name says: a question whether an event is over has such a record too. Bounded
 * by {@value #MOST}: later ones are not looked at.
 */
public final class SyncRecords {
    private static final int MOST = 1 << 17;

    /** What was waited for. */
    public record Sync(@Nullable String deviceId, @Nullable String streamId) {}

    private record Key(int process, long correlation) {}

    private final Map<Key, Sync> syncs = new HashMap<>();

    /** Takes a record. */
    public void add(int process, long correlation, @Nullable String deviceId, @Nullable String streamId) {
        if (syncs.size() < MOST) {
            syncs.putIfAbsent(new Key(process, correlation), new Sync(deviceId, streamId));
        }
    }

    /** The record of a call; null where there is none. */
    public @Nullable Sync find(int process, long correlation) {
        return syncs.get(new Key(process, correlation));
    }
}
