package io.tokenstair.collect.engine.llamacpp;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.live.HttpPoller;
import io.tokenstair.collect.live.Source;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What {@code GET /slots} of llama.cpp's server answers: which task a slot works on and how far it is, under the engine's own names. A slot
 * that rests has no samples but its number among {@code llamacpp:slots}. Of the settings of a request nothing is taken. In recent builds
 * {@code n_prompt_tokens} grows with the answer: it is what lies in the slot.
 */
public final class LlamaCppSlots implements HttpPoller.Answers {
    private static final List<String> COUNTS =
            List.of("n_ctx", "n_prompt_tokens", "n_prompt_tokens_processed", "n_prompt_tokens_cache");
    private static final List<String> TOKEN_COUNTS = List.of("n_decoded", "n_remain");

    private final String engine;
    private final Source source;
    private int slotCount = -1;

    /**
     * Slots of which nothing was heard.
     *
     * @param engine what the engine is called
     * @param source counts and tells
     */
    public LlamaCppSlots(String engine, Source source) {
        this.engine = engine;
        this.source = source;
    }

    @Override
    public void answered(byte[] body, long beforeNanos, long afterNanos) {
        try {
            List<Fields> all = Fields.parseArray(body, body.length);
            List<MetricSampled> samples = samples(all);
            int slots = all.size();
            if (slots != slotCount && slots > 0) {
                slotCount = slots;
                source.tell(
                        afterNanos,
                        new EngineConfigured(
                                engine, 0, "llama.cpp", null, null, slots, null, null, null, null, null, null));
            }
            samples.forEach(sample -> source.tell(afterNanos, sample));
            source.taken();
        } catch (RejectedRecordException refused) {
            source.rejected(refused.reason());
        }
    }

    /** The samples of an answer: the number of slots, the number of those that work, then what each of these says. */
    List<MetricSampled> samples(List<Fields> slots) throws RejectedRecordException {
        List<MetricSampled> samples = new ArrayList<>();
        int working = 0;
        for (Fields slot : slots) {
            Integer id = slot.optionalCount("id");
            if (id == null) {
                throw slot.refuse("id", "missing");
            }
            if (!Boolean.TRUE.equals(slot.optionalBoolean("is_processing"))) {
                continue;
            }
            working++;
            Integer task = slot.optionalInt("id_task");
            String labels = labels(id, task);
            for (String name : COUNTS) {
                add(samples, name, labels, slot.optionalCount(name));
            }
            Fields next = nextToken(slot);
            if (next != null) {
                for (String name : TOKEN_COUNTS) {
                    // What remains is -1 where there is no limit: nothing is said then.
                    Integer count = next.optionalInt(name);
                    add(samples, name, labels, count == null || count < 0 ? null : count);
                }
            }
        }
        samples.add(0, sample("slots", LabelText.of("engine", engine), slots.size()));
        samples.add(1, sample("slots_processing", LabelText.of("engine", engine), working));
        return samples;
    }

    /** An object in older builds, a list of one in newer ones. */
    private static @Nullable Fields nextToken(Fields slot) throws RejectedRecordException {
        JsonNode next = slot.raw("next_token");
        if (next == null) {
            return null;
        }
        if (next.isArray()) {
            List<Fields> all = slot.optionalObjects("next_token");
            return all.isEmpty() ? null : all.get(0);
        }
        return slot.optionalObject("next_token");
    }

    private String labels(int slot, @Nullable Integer task) {
        Map<String, @Nullable String> labels = new HashMap<>();
        labels.put("engine", engine);
        labels.put("slot", String.valueOf(slot));
        labels.put("task", task == null || task < 0 ? null : String.valueOf(task));
        return LabelText.of(labels);
    }

    private void add(List<MetricSampled> samples, String name, String labels, @Nullable Integer value) {
        if (value != null) {
            samples.add(sample("slot_" + name, labels, value));
        }
    }

    private MetricSampled sample(String name, String labels, int value) {
        return new MetricSampled(source.label(), "llamacpp:" + name, labels, value);
    }

    @Override
    public void failed(String reason, long beforeNanos) {
        source.rejected(reason);
    }
}
