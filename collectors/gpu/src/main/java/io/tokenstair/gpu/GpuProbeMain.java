package io.tokenstair.gpu;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;

/** The process {@link GpuProbe} starts: prints what the driver answered, as one line of JSON. */
final class GpuProbeMain {

    private GpuProbeMain() {}

    /** Prints one line of JSON, the {@link GpuState}. */
    public static void main(String[] arguments) throws IOException {
        String answer = new ObjectMapper().writerFor(GpuState.class).writeValueAsString(CudaDriver.detect());
        System.out.println(GpuProbe.ANSWER_PREFIX + answer);
    }
}
