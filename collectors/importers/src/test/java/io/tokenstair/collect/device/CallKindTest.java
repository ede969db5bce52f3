package io.tokenstair.collect.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallKindTest {
    @ParameterizedTest
    @CsvSource({
        "cudaStreamSynchronize, STREAM_SYNC",
        "cudaStreamSynchronize_v3020, STREAM_SYNC",
        "cudaStreamSynchronize_ptsz_v7000, STREAM_SYNC",
        "cuStreamSynchronize_ptsz, STREAM_SYNC",
        "hipDeviceSynchronize, DEVICE_SYNC",
        "cuCtxSynchronize_v2, DEVICE_SYNC",
        "cudaEventSynchronize, EVENT_SYNC",
        "cudaEventQuery, OTHER",
        "hipMemcpyWithStream, COPY",
        "cudaMemcpyAsync_v3020, OTHER",
        "cuMemcpyDtoH_v2, COPY",
        "cuMemAlloc_v2, ALLOC",
        "cudaMallocHost, OTHER",
        "cudaHostAlloc, OTHER",
        "hipMalloc, ALLOC",
        "cudaFree_v3020, FREE",
        "cudaMemPoolTrimTo, TRIM",
        "my_cudaFree, OTHER",
        "_v2, OTHER"
    })
    void aCallIsKnownByItsName(String name, CallKind kind) {
        assertThat(CallKind.of(name)).isEqualTo(kind);
    }

    @ParameterizedTest
    @CsvSource({
        "Stream Sync, STREAM_SYNC",
        "Stream Wait Event, OTHER",
        "Context Sync, DEVICE_SYNC",
        "Event Sync, EVENT_SYNC",
        "Unknown, OTHER"
    })
    void aSynchronizationIsKnownByItsLabel(String label, CallKind kind) {
        assertThat(CallKind.ofSync(label)).isEqualTo(kind);
    }
}
