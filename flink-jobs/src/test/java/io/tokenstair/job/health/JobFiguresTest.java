package io.tokenstair.job.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Properties;
import org.apache.flink.metrics.CharacterFilter;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.LogicalScopeProvider;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JobFiguresTest {
    private static final String PAGE = "page of this test";

    private final MetricReporter reporter = new JobFigures.Factory().createMetricReporter(new Properties());

    /** A group of the scope {@code taskmanager.job.task.operator}. */
    private static final class Group extends UnregisteredMetricsGroup implements LogicalScopeProvider {
        private final Map<String, String> variables;

        Group(Map<String, String> variables) {
            this.variables = variables;
        }

        @Override
        public Map<String, String> getAllVariables() {
            return variables;
        }

        @Override
        public String getLogicalScope(CharacterFilter filter) {
            return getLogicalScope(filter, '.');
        }

        @Override
        public String getLogicalScope(CharacterFilter filter, char delimiter) {
            return String.join(String.valueOf(delimiter), "taskmanager", "job", "task", "operator");
        }

        @Override
        public MetricGroup getWrappedMetricGroup() {
            return this;
        }
    }

    private static Group of(String subtask) {
        return new Group(Map.of("<operator_name>", "analyse-steps", "<subtask_index>", subtask));
    }

    @BeforeEach
    void open() {
        MetricConfig config = new MetricConfig();
        config.setProperty("page", PAGE);
        reporter.open(config);
    }

    @AfterEach
    void close() {
        reporter.close();
        assertThat(JobFigures.text(PAGE)).isEmpty();
    }

    @Test
    void namesAreThoseOfFlinksReporterAndEachSubtaskHasItsOwn() {
        Gauge<Integer> one = () -> 3;
        Gauge<Long> other = () -> 4L;
        reporter.notifyOfAddedMetric(one, "enginesOpen", of("0"));
        reporter.notifyOfAddedMetric(other, "enginesOpen", of("1"));

        assertThat(JobFigures.text(PAGE)).isEqualTo("""
                # TYPE flink_taskmanager_job_task_operator_enginesOpen gauge
                flink_taskmanager_job_task_operator_enginesOpen{operator_name="analyse-steps",subtask_index="0"} 3
                flink_taskmanager_job_task_operator_enginesOpen{operator_name="analyse-steps",subtask_index="1"} 4
                """);
    }

    @Test
    void whatIsNoNumberOrCannotBeHadNowIsLeftOut() {
        Gauge<String> words = () -> "RUNNING";
        Gauge<Long> failing = () -> {
            throw new IllegalStateException("closed");
        };
        Gauge<Double> unknown = () -> Double.NaN;
        reporter.notifyOfAddedMetric(words, "state", of("0"));
        reporter.notifyOfAddedMetric(failing, "late", of("0"));
        reporter.notifyOfAddedMetric(unknown, "stateBytes", of("0"));

        assertThat(JobFigures.text(PAGE).lines())
                .hasSize(2)
                .element(1)
                .asString()
                .startsWith("flink_taskmanager_job_task_operator_stateBytes{")
                .endsWith("} NaN");
    }

    @Test
    void oneThatWasRemovedIsGoneAndItsSuccessorStays() {
        Counter before = new SimpleCounter();
        Counter after = new SimpleCounter();
        after.inc(7);
        reporter.notifyOfAddedMetric(before, "numRecordsIn", of("0"));
        reporter.notifyOfAddedMetric(after, "numRecordsIn", of("0"));
        reporter.notifyOfRemovedMetric(before, "numRecordsIn", of("0"));

        assertThat(JobFigures.text(PAGE)).contains("} 7\n");

        reporter.notifyOfRemovedMetric(after, "numRecordsIn", of("0"));

        assertThat(JobFigures.text(PAGE)).isEmpty();
    }

    @Test
    void labelsAreEscaped() {
        reporter.notifyOfAddedMetric((Gauge<Integer>) () -> 1, "a.b-c", new Group(Map.of("<job_name>", "a\"b\\c\nd")));

        assertThat(JobFigures.text(PAGE)).contains("operator_a_b_c{job_name=\"a\\\"b\\\\c\\nd\"} 1\n");
    }
}
