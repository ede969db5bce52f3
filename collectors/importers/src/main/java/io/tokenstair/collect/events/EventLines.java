package io.tokenstair.collect.events;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.Finish;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.spelling.NearestName;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Makes events of JSON lines whose names are those of docs/event-catalog.md; the form is described in docs/import-events.md. Holds what
 * earlier lines set: defaults, the next sequence number of each collector, and the handles of request names.
 */
final class EventLines {
    private static final Set<String> HEADER =
            Set.of("collectorId", "collectorEpoch", "sequence", "clockId", "clockNanos", "coarseEpochMillis");
    private static final String EPOCH_AT_ZERO = "epochMillisAtClockZero";
    private static final Map<String, Class<?>> KINDS = kinds();

    private final Map<String, JsonNode> defaults = new LinkedHashMap<>();
    private final Map<String, Long> nextSequence = new HashMap<>();
    private final Map<String, Map<String, Integer>> handles = new HashMap<>();

    private static Map<String, Class<?>> kinds() {
        Map<String, Class<?>> kinds = new TreeMap<>();
        Class<?>[] types = Event.class.getPermittedSubclasses();
        for (EventKind kind : EventKind.values()) {
            for (Class<?> type : types) {
                if (type.getSimpleName().equals(kind.catalogName())) {
                    kinds.put(kind.catalogName(), type);
                    kinds.put(kind.wireName(), type);
                }
            }
        }
        return kinds;
    }

    /** The event of a line; null for a line that only sets defaults. Changes nothing that later lines see when it refuses. */
    @Nullable
    LoggedEvent event(Fields line) throws RejectedRecordException {
        if (line.has("defaults")) {
            setDefaults(line);
            return null;
        }
        String kind = line.text("kind");
        Class<?> type = KINDS.get(kind);
        if (type == null) {
            throw new RejectedRecordException("unknown kind " + Fields.bounded(kind, "kind") + nearest(kind, names())
                    + "; kinds are those of the event catalogue");
        }
        Values values = new Values(line, defaults);
        refuseUnknown(line, type);
        String collectorId = values.text("collectorId", "events");
        long collectorEpoch = values.number("collectorEpoch", 1L);
        String space = collectorId + "/" + collectorEpoch;
        Map<String, Integer> known = handles.getOrDefault(space, Map.of());
        Handles spaceHandles = new Handles(known);

        Event event = make(type, values, spaceHandles);
        Long clockNanos = values.optionalNumber("clockNanos");
        if (clockNanos == null) {
            clockNanos = stampOf(event, values);
        }
        Long coarseEpochMillis = values.optionalNumber("coarseEpochMillis");
        Long epochAtZero = values.optionalNumber(EPOCH_AT_ZERO);
        boolean dated = line.names().contains("coarseEpochMillis");
        if (!dated && coarseEpochMillis == null && epochAtZero != null && clockNanos != null) {
            coarseEpochMillis = epochAtZero + Math.floorDiv(clockNanos, 1_000_000L);
        }
        Long stated = values.optionalNumber("sequence");
        long sequence = stated == null ? nextSequence.getOrDefault(space, 0L) : stated;
        LoggedEvent logged;
        try {
            logged = new LoggedEvent(
                    new EventHeader(
                            collectorId,
                            collectorEpoch,
                            sequence,
                            values.text("clockId", "clock"),
                            clockNanos,
                            coarseEpochMillis),
                    event);
            // What cannot travel is refused here, with its place.
            EventCodec.decode(EventCodec.encode(logged));
        } catch (IllegalArgumentException | io.tokenstair.event.wire.WireException e) {
            throw new RejectedRecordException(String.valueOf(e.getMessage()));
        }
        nextSequence.merge(space, sequence + 1, Math::max);
        if (!spaceHandles.added.isEmpty()) {
            Map<String, Integer> kept = handles.computeIfAbsent(space, unused -> new HashMap<>());
            kept.putAll(spaceHandles.added);
        }
        return logged;
    }

    private void setDefaults(Fields line) throws RejectedRecordException {
        Fields given = line.optionalObject("defaults");
        if (given == null) {
            throw line.refuse("defaults", "must be an object");
        }
        Set<String> known = new TreeSet<>(HEADER);
        known.add(EPOCH_AT_ZERO);
        for (Class<?> type : KINDS.values()) {
            for (RecordComponent component : type.getRecordComponents()) {
                known.add(component.getName());
            }
        }
        for (String name : given.names()) {
            if (!known.contains(name)) {
                throw new RejectedRecordException(
                        "unknown field " + Fields.bounded(name, "name") + " in defaults" + nearest(name, known));
            }
        }
        for (String name : given.names()) {
            JsonNode value = given.raw(name);
            if (value == null || value.isNull()) {
                defaults.remove(name);
            } else {
                defaults.put(name, value);
            }
        }
    }

    private static Set<String> names() {
        return KINDS.keySet();
    }

    private static void refuseUnknown(Fields line, Class<?> type) throws RejectedRecordException {
        Set<String> known = new TreeSet<>(HEADER);
        known.add("kind");
        known.add(EPOCH_AT_ZERO);
        for (RecordComponent component : type.getRecordComponents()) {
            known.add(component.getName());
        }
        for (String name : line.names()) {
            if (!known.contains(name)) {
                throw new RejectedRecordException("unknown field " + Fields.bounded(name, "name") + " of "
                        + type.getSimpleName() + nearest(name, known));
            }
        }
    }

    /** The name that a wrong one may have meant, as the end of a message. */
    static String nearest(String name, Set<String> known) {
        String nearest = NearestName.of(name, known);
        return nearest == null ? "" : "; did you mean " + nearest + "?";
    }

    /** Where the header has no stamp of its own, the stamp that the catalogue says it is. */
    private static @Nullable Long stampOf(Event event, Values values) throws RejectedRecordException {
        if (event instanceof StepCompleted step) {
            return step.updateEndNanos();
        }
        if (event instanceof ChunkDelivered delivered && !delivered.chunks().isEmpty()) {
            return delivered.chunks().get(0).arrivedNanos();
        }
        if (event.kind() == EventKind.KERNEL_RAN) {
            return values.optionalNumber("startNanos");
        }
        if (event.kind() == EventKind.CLOCK_SAMPLED) {
            return values.optionalNumber("beforeNanos");
        }
        Long end = values.has("endNanos") ? values.optionalNumber("endNanos") : null;
        return end != null || !values.has("startNanos") ? end : values.optionalNumber("startNanos");
    }

    private static Event make(Class<?> type, Values values, Handles handles) throws RejectedRecordException {
        RecordComponent[] components = type.getRecordComponents();
        @Nullable Object[] arguments = new @Nullable Object[components.length];
        Class<?>[] types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            arguments[i] = value(type, components[i], values, handles);
        }
        if (type == StepCompleted.class) {
            List<HandleAnnounced> announcements = new ArrayList<>();
            for (int i = 0; i < components.length; i++) {
                if (components[i].getName().equals("announcements")) {
                    for (Fields announced : values.objects("announcements")) {
                        HandleAnnounced pair = new HandleAnnounced(
                                announced.count("requestHandle"), announced.text("engineRequestId"));
                        handles.announce(pair.engineRequestId(), pair.requestHandle());
                        announcements.add(pair);
                    }
                }
            }
            SequenceRows rows = rows(values, handles);
            handles.added.forEach((name, handle) -> {
                HandleAnnounced pair = new HandleAnnounced(handle, name);
                if (!announcements.contains(pair)) {
                    announcements.add(pair);
                }
            });
            for (int i = 0; i < components.length; i++) {
                if (components[i].getName().equals("announcements")) {
                    arguments[i] = announcements;
                } else if (components[i].getName().equals("rows")) {
                    arguments[i] = rows;
                }
            }
        }
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(types);
            return (Event) constructor.newInstance(arguments);
        } catch (InvocationTargetException e) {
            throw new RejectedRecordException(type.getSimpleName() + ": "
                    + (e.getCause() == null ? e : e.getCause().getMessage()));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Cannot make " + type, e);
        }
    }

    private static @Nullable Object value(Class<?> kind, RecordComponent component, Values values, Handles handles)
            throws RejectedRecordException {
        String name = component.getName();
        Class<?> type = component.getType();
        if (name.equals("announcements") || name.equals("rows")) {
            return null;
        }
        if (name.equals("chunks")) {
            return chunks(values);
        }
        if (type == List.class) {
            return component.getGenericType().getTypeName().contains("Long") ? values.longs(name) : values.texts(name);
        }
        if (!values.has(name)) {
            if (name.equals("requestHandle") && values.has("engineRequestId")) {
                return handles.of(values.text("engineRequestId", ""));
            }
            if (component.getAnnotatedType().isAnnotationPresent(Nullable.class)) {
                return null;
            }
            if (name.equals("dpRank") || name.equals("eventIndex")) {
                return 0;
            }
            if (type == boolean.class) {
                return false;
            }
            throw new RejectedRecordException(kind.getSimpleName() + " needs the field " + name);
        }
        if (name.equals("requestHandle") && values.has("engineRequestId")) {
            handles.announce(values.text("engineRequestId", ""), (int) values.number(name, 0L));
        }
        if (type == String.class) {
            return values.text(name, "");
        }
        if (type == boolean.class || type == Boolean.class) {
            return values.flag(name);
        }
        if (type == double.class) {
            return values.real(name);
        }
        long number = values.number(name, 0L);
        if (type == int.class || type == Integer.class) {
            if (number != (int) number) {
                throw new RejectedRecordException("field " + name + ": " + number + " is out of range");
            }
            return (int) number;
        }
        return number;
    }

    private static SequenceRows rows(Values values, Handles handles) throws RejectedRecordException {
        List<SequenceRow> rows = new ArrayList<>();
        for (Fields row : values.objects("rows")) {
            Set<String> known = new TreeSet<>();
            for (RecordComponent component : SequenceRow.class.getRecordComponents()) {
                known.add(component.getName());
            }
            known.add("engineRequestId");
            for (String name : row.names()) {
                if (!known.contains(name)) {
                    throw new RejectedRecordException(
                            "unknown field " + Fields.bounded(name, "name") + " of a row" + nearest(name, known));
                }
            }
            String request = row.optionalId("engineRequestId");
            Integer stated = row.optionalInt("requestHandle");
            if (request == null && stated == null) {
                throw new RejectedRecordException("a row needs the field engineRequestId, or requestHandle");
            }
            if (request != null && stated != null) {
                handles.announce(request, stated);
            }
            int handle = stated != null ? stated : handles.of(String.valueOf(request));
            String phase = row.optionalText("phase");
            Integer tokens = row.optionalCount("tokenCount");
            Integer scheduled = row.optionalCount("scheduledTokens");
            boolean decode = phase == null || phase.equals("decode");
            Values rowValues = new Values(row, Map.of());
            try {
                rows.add(new SequenceRow(
                        handle,
                        row.optionalCount("firstTokenIndex"),
                        tokens == null ? (decode ? 1 : 0) : tokens,
                        row.count("contextTokens"),
                        scheduled == null ? Math.max(1, tokens == null ? 1 : tokens) : scheduled,
                        phase == null ? Phase.DECODE : phase(phase),
                        row.optionalCount("cachedTokens"),
                        row.optionalCount("preemptionCount"),
                        rowValues.optionalNumber("waitNanos")));
            } catch (IllegalArgumentException e) {
                throw new RejectedRecordException("a row: " + e.getMessage());
            }
        }
        try {
            return SequenceRows.of(rows);
        } catch (IllegalArgumentException e) {
            throw new RejectedRecordException("a row: " + e.getMessage());
        }
    }

    private static Phase phase(String name) throws RejectedRecordException {
        Set<String> known = new TreeSet<>();
        for (Phase phase : Phase.values()) {
            if (phase.name().toLowerCase(Locale.ROOT).equals(name)) {
                return phase;
            }
            known.add(phase.name().toLowerCase(Locale.ROOT));
        }
        throw new RejectedRecordException("field phase: must be one of " + String.join(", ", known));
    }

    private static List<Chunk> chunks(Values values) throws RejectedRecordException {
        List<Chunk> chunks = new ArrayList<>();
        Set<String> known = new TreeSet<>();
        for (RecordComponent component : Chunk.class.getRecordComponents()) {
            known.add(component.getName());
        }
        for (Fields chunk : values.objects("chunks")) {
            for (String name : chunk.names()) {
                if (!known.contains(name)) {
                    throw new RejectedRecordException(
                            "unknown field " + Fields.bounded(name, "name") + " of a chunk" + nearest(name, known));
                }
            }
            Values chunkValues = new Values(chunk, Map.of());
            Long arrived = chunkValues.optionalNumber("arrivedNanos");
            if (arrived == null) {
                throw new RejectedRecordException("a chunk needs the field arrivedNanos");
            }
            Integer sequenceIndex = chunk.optionalCount("sequenceIndex");
            Integer sizeBytes = chunk.optionalCount("sizeBytes");
            Integer tokens = chunk.optionalCount("tokenCount");
            try {
                chunks.add(new Chunk(
                        sequenceIndex == null ? 0 : sequenceIndex,
                        chunk.count("chunkIndex"),
                        chunk.optionalCount("firstTokenIndex"),
                        tokens == null ? (chunk.has("firstTokenIndex") ? 1 : 0) : tokens,
                        sizeBytes == null ? 0 : sizeBytes,
                        arrived,
                        finish(chunk.optionalText("finish")),
                        chunkValues.optionalNumber("writeStartNanos"),
                        chunkValues.optionalNumber("writeEndNanos")));
            } catch (IllegalArgumentException e) {
                throw new RejectedRecordException("a chunk: " + e.getMessage());
            }
        }
        return chunks;
    }

    private static Finish finish(@Nullable String name) throws RejectedRecordException {
        if (name == null) {
            return Finish.NONE;
        }
        Set<String> known = new TreeSet<>();
        for (Finish finish : Finish.values()) {
            if (finish.name().toLowerCase(Locale.ROOT).equals(name)) {
                return finish;
            }
            known.add(finish.name().toLowerCase(Locale.ROOT));
        }
        throw new RejectedRecordException("field finish: must be one of " + String.join(", ", known));
    }

    /** The handles of a collector's request names: those of earlier lines, and those this line adds. */
    private static final class Handles {
        private final Map<String, Integer> known;
        private final Map<String, Integer> added = new LinkedHashMap<>();

        Handles(Map<String, Integer> known) {
            this.known = known;
        }

        int of(String name) {
            Integer handle = known.get(name);
            if (handle == null) {
                handle = added.get(name);
            }
            if (handle == null) {
                handle = 1;
                while (known.containsValue(handle) || added.containsValue(handle)) {
                    handle++;
                }
                added.put(name, handle);
            }
            return handle;
        }

        void announce(String name, int handle) {
            Integer before = known.get(name);
            if (before == null || before != handle) {
                added.put(name, handle);
            }
        }
    }
}
