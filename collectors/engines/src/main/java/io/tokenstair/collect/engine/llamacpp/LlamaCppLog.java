package io.tokenstair.collect.engine.llamacpp;

import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.live.EventsOut;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.foreign.LlamaCppNames;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The log of llama.cpp's server with stamps, line by line. Stamps count from the start of the process; {@code t_last} of a slot that is
 * taken up again is CLOCK_MONOTONIC at its last release, and joins the two. A task has no id of its client's: it is joined by the work it did
 * ({@link LlamaCppNames}). State: at most {@value #MAX_TASKS} tasks under way.
 */
public final class LlamaCppLog {
    private static final int MAX_TASKS = 1 << 16;
    private static final long NANOS_PER_MICRO = 1_000L;
    private static final long CLOCK_BOUND_NANOS = 1_000_000L;
    /** An earlier stamp than this before the last is another process. */
    private static final long RESTART_NANOS = 1_000_000_000L;

    private static final Pattern STAMPED = Pattern.compile("(\\d{1,9})\\.(\\d{2})\\.(\\d{3})\\.(\\d{3}) ([A-Z]) (.*)");
    private static final Pattern SLOT =
            Pattern.compile("slot +([\\w() :]+?): id +(\\d{1,9}) \\| task (-?\\d{1,18}) \\| (.*)");
    private static final Pattern SERVER = Pattern.compile("srv +([\\w() ]+?): (.*)");
    private static final Pattern LAST_USED = Pattern.compile(".*\\bt_last = (-?\\d{1,18})\\b.*");
    private static final Pattern TIMING =
            Pattern.compile(" *(prompt eval|eval|total) time = +([\\d.]{1,20}) ms / +(\\d{1,12}) tokens.*");
    private static final Pattern DRAFTS =
            Pattern.compile(" *draft acceptance.*\\( *(\\d{1,12}) accepted */ *(\\d{1,12}) generated\\).*");
    private static final Pattern RELEASED =
            Pattern.compile("stop processing: n_tokens = (\\d{1,12}), truncated = ([01]).*");
    private static final Pattern SHIFTED = Pattern.compile(
            "slot context shift, n_keep = (\\d{1,12}), n_left = (\\d{1,12}), n_discard = (\\d{1,12}).*");
    private static final Pattern FAILED = Pattern.compile("task id = (\\d{1,18}), error: (.*)");
    private static final Pattern TOO_LONG =
            Pattern.compile("request \\((\\d{1,12}) tokens\\) exceeds the available context size.*");
    private static final Pattern SLOTS = Pattern.compile("initializing,(?: slots,)? n_slots = (\\d{1,9}).*");

    private final String source;
    private final String engine;
    private final String monotonicClockId;
    private final EventsOut events;
    private final Map<Long, Task> open = new LinkedHashMap<>();
    private final Map<Integer, Long> releasedBySlot = new HashMap<>();
    private String clockId;
    private long lastNanos;
    private int starts = 1;
    private int handles;
    private long stamped;
    private long tasks;

    /**
     * A log that has not been read yet.
     *
     * @param source what it is called, at most 160 bytes: in the ids of its tasks, and the name of its clock
     * @param engine what the engine is called
     * @param monotonicClockId the clock that {@code t_last} was read from
     * @param events takes what it says
     */
    public LlamaCppLog(String source, String engine, String monotonicClockId, EventsOut events) {
        this.source = source;
        this.engine = engine;
        this.monotonicClockId = monotonicClockId;
        this.events = events;
        this.clockId = source + "/start";
    }

    /** Takes a line; every byte of it a character, for the log may hold any. One without a stamp says nothing. */
    public void accept(String line) throws RejectedRecordException, IOException {
        Matcher stamp = STAMPED.matcher(line);
        if (!stamp.matches()) {
            return;
        }
        long seconds = Long.parseLong(stamp.group(2));
        if (seconds > 59) {
            throw new RejectedRecordException("no stamp: " + seconds + " seconds in a minute");
        }
        long micros = (Long.parseLong(stamp.group(1)) * 60 + seconds) * 1_000_000L
                + Long.parseLong(stamp.group(3)) * 1_000L
                + Long.parseLong(stamp.group(4));
        long nanos = micros * NANOS_PER_MICRO;
        if (nanos < lastNanos - RESTART_NANOS) {
            restart();
        }
        stamped++;
        lastNanos = Math.max(lastNanos, nanos);
        String text = stamp.group(6);
        Matcher slot = SLOT.matcher(text);
        if (slot.matches()) {
            slot(slot.group(1).strip(), slot.group(2), slot.group(3), slot.group(4), nanos);
            return;
        }
        Matcher server = SERVER.matcher(text);
        if (server.matches()) {
            server(server.group(1).strip(), server.group(2), stamp.group(5), nanos);
        }
    }

    private void slot(String who, String slotNumber, String taskNumber, String what, long nanos)
            throws RejectedRecordException, IOException {
        int slot = Integer.parseInt(slotNumber);
        long task = Long.parseLong(taskNumber);
        Matcher used = LAST_USED.matcher(what);
        if (who.startsWith("get_availab") && used.matches()) {
            joinClock(slot, Long.parseLong(used.group(1)), nanos);
        } else if (who.startsWith("launch_slot")) {
            launched(task, nanos);
        } else if (who.equals("print_timing")) {
            timing(task, what, nanos);
        } else if (who.equals("release")) {
            released(slot, task, what, nanos);
        } else {
            Matcher shift = SHIFTED.matcher(what);
            if (shift.matches()) {
                sample(task, "llamacpp:context_shift_discarded_tokens", Long.parseLong(shift.group(3)), nanos);
            }
        }
    }

    private void joinClock(int slot, long lastUsedMicros, long nanos) throws IOException {
        Long released = releasedBySlot.get(slot);
        if (lastUsedMicros <= 0 || released == null || lastUsedMicros > Long.MAX_VALUE / 4 / NANOS_PER_MICRO) {
            return;
        }
        add(
                nanos,
                new ClockSampled(
                        clockId,
                        monotonicClockId,
                        released,
                        lastUsedMicros * NANOS_PER_MICRO,
                        released,
                        CLOCK_BOUND_NANOS,
                        engine));
    }

    private void launched(long task, long nanos) throws RejectedRecordException {
        if (task < 0 || open.containsKey(task)) {
            throw new RejectedRecordException("task " + task + " was launched before, or is none");
        }
        if (open.size() >= MAX_TASKS) {
            throw new RejectedRecordException("more than " + MAX_TASKS + " tasks under way at once");
        }
        String id = (starts == 1 ? "task-" : "task-" + starts + "-") + task;
        open.put(task, new Task(source + "#" + id, handles++, nanos));
        tasks++;
    }

    private void timing(long taskNumber, String what, long nanos) throws RejectedRecordException, IOException {
        Task task = open.get(taskNumber);
        Matcher timing = TIMING.matcher(what);
        if (timing.matches()) {
            double millis = millis(timing.group(2));
            long tokens = Long.parseLong(timing.group(3));
            switch (timing.group(1)) {
                case "prompt eval" -> {
                    sample(taskNumber, "llamacpp:request_prompt_seconds", millis / 1e3, nanos);
                    sample(taskNumber, "llamacpp:request_prompt_computed_tokens", tokens, nanos);
                    if (task != null) {
                        task.promptTokens = tokens;
                        task.promptMillis = millis;
                        task.aliases.add(LlamaCppNames.prompt(tokens, millis));
                    }
                }
                case "eval" -> {
                    sample(taskNumber, "llamacpp:request_predicted_seconds", millis / 1e3, nanos);
                    if (task != null) {
                        task.outputTokens = tokens;
                        if (task.promptTokens != null) {
                            task.aliases.add(LlamaCppNames.work(task.promptTokens, task.promptMillis, tokens, millis));
                        }
                    }
                }
                default -> {
                    // The sum of the two.
                }
            }
            return;
        }
        Matcher drafts = DRAFTS.matcher(what);
        if (drafts.matches()) {
            sample(taskNumber, "llamacpp:request_draft_accepted_tokens", Long.parseLong(drafts.group(1)), nanos);
            sample(taskNumber, "llamacpp:request_draft_tokens", Long.parseLong(drafts.group(2)), nanos);
        }
    }

    private static double millis(String text) throws RejectedRecordException {
        if (!text.matches("\\d+(\\.\\d+)?")) {
            throw new RejectedRecordException("no time where one belongs");
        }
        return Double.parseDouble(text);
    }

    private void released(int slot, long taskNumber, String what, long nanos) throws IOException {
        Matcher release = RELEASED.matcher(what);
        if (!release.matches()) {
            return;
        }
        releasedBySlot.put(slot, nanos);
        Task task = open.remove(taskNumber);
        if (release.group(2).equals("1")) {
            sample(taskNumber, "llamacpp:request_truncated", 1, nanos);
        }
        if (task == null) {
            return;
        }
        if (task.failed && task.promptTokens == null && task.aliases.isEmpty()) {
            task.aliases.add(LlamaCppNames.broken(Long.parseLong(release.group(1))));
        }
        finished(task, nanos);
    }

    private void finished(Task task, @Nullable Long nanos) throws IOException {
        long launched = task.launchedNanos;
        add(launched, new RequestQueued(engine, 0, task.handle, task.id, null, null, null, null));
        for (String alias : task.aliases) {
            add(launched, new IdAliased(task.id, alias, LlamaCppNames.ORIGIN));
        }
        if (nanos != null) {
            add(
                    nanos,
                    new RequestFinished(
                            engine, 0, task.id, task.failed ? "error" : "unknown", task.outputTokens, null));
        }
    }

    private void server(String who, String what, String level, long nanos) throws IOException {
        Matcher failed = FAILED.matcher(what);
        if (who.equals("send_error") && failed.matches()) {
            Task task = open.get(Long.parseLong(failed.group(1)));
            Matcher tooLong = TOO_LONG.matcher(failed.group(2));
            if (task != null) {
                task.failed = true;
                if (tooLong.matches()) {
                    task.aliases.add(LlamaCppNames.refused(Long.parseLong(tooLong.group(1))));
                }
            }
        } else if (who.equals("decode") && level.equals("E") && what.startsWith("Context size has been exceeded")) {
            // One for all the requests that it ends.
            sample(null, "llamacpp:context_full", 1, nanos);
        } else if (who.equals("load_model")) {
            Matcher slots = SLOTS.matcher(what);
            if (slots.matches()) {
                add(
                        nanos,
                        new EngineConfigured(
                                engine,
                                0,
                                "llama.cpp",
                                null,
                                null,
                                Integer.valueOf(slots.group(1)),
                                null,
                                null,
                                null,
                                null,
                                null,
                                null));
            }
        }
    }

    private void sample(@Nullable Long task, String name, double value, long nanos) throws IOException {
        Map<String, @Nullable String> labels = new HashMap<>();
        labels.put("engine", engine);
        if (task != null) {
            Task known = open.get(task);
            labels.put("request_id", known == null ? "task-" + task : known.id);
        }
        add(nanos, new MetricSampled(source, name, LabelText.of(labels), value));
    }

    private void add(long nanos, Event event) throws IOException {
        // The order of the lines is the order of occurrence; a task is told when it has ended.
        events.add(clockId, (long) starts << 48 | Math.min(nanos / 1_000, (1L << 48) - 1), nanos, null, event);
    }

    /** The process was started anew: its stamps and tasks begin again. */
    public void restart() throws IOException {
        end();
        starts++;
        lastNanos = 0;
        clockId = source + "/start-" + starts;
    }

    /** Lines with a stamp so far. */
    public long stampedCount() {
        return stamped;
    }

    /** Tasks so far. */
    public long taskCount() {
        return tasks;
    }

    /** Joins the clock of the log to another: its newest line was written then, or up to so much before or after. */
    public void wasRead(String otherClockId, long otherNanos, long boundNanos) throws IOException {
        if (stamped > 0) {
            add(
                    lastNanos,
                    new ClockSampled(clockId, otherClockId, lastNanos, otherNanos, lastNanos, boundNanos, engine));
        }
    }

    /** Tells the tasks that are under way: nothing more is known of them. */
    public void end() throws IOException {
        for (Task task : open.values()) {
            finished(task, null);
        }
        open.clear();
        releasedBySlot.clear();
    }

    /** A task that a slot works on. */
    private static final class Task {
        private final String id;
        private final int handle;
        private final long launchedNanos;
        private final List<String> aliases = new ArrayList<>();
        private @Nullable Long promptTokens;
        private double promptMillis;
        private @Nullable Long outputTokens;
        private boolean failed;

        Task(String id, int handle, long launchedNanos) {
            this.id = id;
            this.handle = handle;
            this.launchedNanos = launchedNanos;
        }
    }
}
