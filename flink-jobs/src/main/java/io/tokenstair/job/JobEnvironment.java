package io.tokenstair.job;

import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The environment every job runs in: no Kryo, no generated uids, object reuse (records are not changed after they were sent), a fixed
 * highest parallelism so that keys keep their place.
 */
public final class JobEnvironment {
    /** Highest parallelism of keyed state; never changed, or savepoints are lost. */
    public static final int MAX_PARALLELISM = 720;

    private JobEnvironment() {}

    /** The settings that hold wherever the job runs. */
    public static Configuration settings(RuntimeExecutionMode mode) {
        Configuration settings = new Configuration();
        settings.set(ExecutionOptions.RUNTIME_MODE, mode);
        settings.set(PipelineOptions.GENERIC_TYPES, false);
        settings.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
        settings.set(PipelineOptions.OBJECT_REUSE, true);
        settings.set(PipelineOptions.MAX_PARALLELISM, MAX_PARALLELISM);
        // A block of many requests' inputs goes to one subtask: none may lie in a checkpoint that another parallelism
        // restores.
        settings.set(CheckpointingOptions.ENABLE_UNALIGNED, false);
        return settings;
    }

    /** An environment inside this process. A failed job fails at once, so that its user sees why. */
    public static StreamExecutionEnvironment local(RuntimeExecutionMode mode, int parallelism) {
        return local(mode, parallelism, new Configuration());
    }

    /** The same, with further settings of the cluster. */
    public static StreamExecutionEnvironment local(
            RuntimeExecutionMode mode, int parallelism, Configuration ofTheCluster) {
        Configuration settings = settings(mode);
        settings.addAll(ofTheCluster);
        settings.set(CoreOptions.DEFAULT_PARALLELISM, parallelism);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(256));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(256));
        settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(128));
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(parallelism, settings);
        environment.setParallelism(parallelism);
        return environment;
    }
}
