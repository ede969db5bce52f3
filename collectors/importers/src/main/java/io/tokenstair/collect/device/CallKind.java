package io.tokenstair.collect.device;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** What a call of a GPU's runtime or driver does to its caller, by its name. */
public enum CallKind {
    STREAM_SYNC("stream-sync"),
    DEVICE_SYNC("device-sync"),
    EVENT_SYNC("event-sync"),
    /** A copy that returns when it is done. */
    COPY("copy"),
    ALLOC("alloc"),
    FREE("free"),
    TRIM("trim"),
    /** Anything else, launches included. */
    OTHER("");

    /** Versions and stream semantics that exporters add to a name: cudaMalloc_v3020, cuMemAlloc_v2, cudaMemcpy_ptds. */
    private static final Pattern SUFFIX = Pattern.compile("(_v\\d+|_ptsz|_ptds|_spt)+$");

    private static final Map<String, CallKind> BY_NAME = byName();

    private final String word;

    CallKind(String word) {
        this.word = word;
    }

    /** Its word in an event: a kind of stall, or a change of memory. */
    public String word() {
        return word;
    }

    /** True for calls whose caller waits for the device. */
    public boolean isWait() {
        return compareTo(COPY) <= 0;
    }

    /** True for calls that change the device's memory. */
    public boolean isMemory() {
        return this == ALLOC || this == FREE || this == TRIM;
    }

    private static Map<String, CallKind> byName() {
        Map<String, CallKind> names = new TreeMap<>();
        put(names, STREAM_SYNC, "cudaStreamSynchronize cuStreamSynchronize hipStreamSynchronize synchronizeStream");
        put(
                names,
                DEVICE_SYNC,
                "cudaDeviceSynchronize cudaThreadSynchronize cuCtxSynchronize hipDeviceSynchronize hipCtxSynchronize");
        put(names, EVENT_SYNC, "cudaEventSynchronize cuEventSynchronize hipEventSynchronize");
        put(names, COPY, "cudaMemcpy cudaMemcpy2D cudaMemcpy3D cudaMemcpyToSymbol cudaMemcpyFromSymbol");
        put(names, COPY, "cuMemcpy cuMemcpyHtoD cuMemcpyDtoH");
        put(names, COPY, "hipMemcpy hipMemcpyWithStream hipMemcpyHtoD hipMemcpyDtoH hipMemcpy2D");
        put(names, ALLOC, "cudaMalloc cudaMallocAsync cudaMallocFromPoolAsync cudaMallocManaged cudaMallocPitch");
        put(
                names,
                ALLOC,
                "cuMemAlloc cuMemAllocAsync cuMemAllocFromPoolAsync cuMemAllocManaged cuMemAllocPitch cuMemCreate");
        put(
                names,
                ALLOC,
                "hipMalloc hipMallocAsync hipMallocFromPoolAsync hipMallocManaged hipMallocPitch hipMemCreate");
        put(names, ALLOC, "hipExtMallocWithFlags");
        put(
                names,
                FREE,
                "cudaFree cudaFreeAsync cuMemFree cuMemFreeAsync cuMemRelease hipFree hipFreeAsync hipMemRelease");
        put(names, TRIM, "cudaMemPoolTrimTo cuMemPoolTrimTo hipMemPoolTrimTo");
        return names;
    }

    private static void put(Map<String, CallKind> names, CallKind kind, String words) {
        for (String word : words.split(" ")) {
            names.put(word, kind);
        }
    }

    /** The kind of a call; OTHER for a name that is not known. */
    public static CallKind of(String name) {
        CallKind known = BY_NAME.get(name);
        if (known != null) {
            return known;
        }
        int underscore = name.indexOf('_');
        if (underscore < 0) {
            return OTHER;
        }
        return BY_NAME.getOrDefault(SUFFIX.matcher(name).replaceFirst(""), OTHER);
    }

    /** The kind of a synchronization record, as profilers label it; OTHER for one that holds up no caller. */
    public static CallKind ofSync(String label) {
        String lower = label.toLowerCase(Locale.ROOT);
        if (lower.contains("wait")) {
            return OTHER;
        }
        if (lower.startsWith("stream")) {
            return STREAM_SYNC;
        }
        if (lower.startsWith("event")) {
            return EVENT_SYNC;
        }
        return lower.startsWith("context") || lower.startsWith("device") ? DEVICE_SYNC : OTHER;
    }
}
