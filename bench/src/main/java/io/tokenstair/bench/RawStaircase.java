package io.tokenstair.bench;

import io.tokenstair.job.source.RawRecord;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.EventComparator;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.util.Collector;

/**
 * The context staircase as somebody writes it who has flink-cep and a stream of tokens: the context passes a power of two, and two
 * steps come that are each slower than the one before by more than 15 %. It begins at few tokens, which is the cheap way to write it; it has no
 * model of what a step should take, no evidence and no culprit.
 */
final class RawStaircase {
    private static final int SMALLEST_CONTEXT = 1024;

    private RawStaircase() {}

    /** Its matches over records of a fleet; tokens are counted into one accumulator, matches into the other. */
    static SingleOutputStreamOperator<Long> over(DataStream<RawRecord> records, String tokens, String matches) {
        Pattern<TokenRecord, TokenRecord> pattern = Pattern.<TokenRecord>begin(
                        "expanded", AfterMatchSkipStrategy.skipPastLastEvent())
                .where(new ContextPassedPowerOfTwo())
                .followedBy("rise")
                .where(new SlowerThan("expanded"))
                .followedBy("second rise")
                .where(new SlowerThan("rise"))
                .within(Duration.ofSeconds(60));
        DataStream<TokenRecord> exploded = records.flatMap(new ExplodeSteps())
                .returns(TypeInformation.of(TokenRecord.class))
                .name("explode-steps")
                .uid("explode-steps")
                .filter(new CountAndPass<>(tokens))
                .name("count-tokens")
                .uid("count-tokens");
        return CEP.pattern(exploded.keyBy(TokenRecord::key, Types.LONG), pattern, new ByStep())
                .inEventTime()
                .process(new EndOfMatch(), Types.LONG)
                .name("raw-staircase")
                .uid("raw-staircase")
                .filter(new CountAndDrop<>("matches-of-raw-tokens", match -> true, matches));
    }

    private static final class ContextPassedPowerOfTwo extends SimpleCondition<TokenRecord> {
        private static final long serialVersionUID = 1L;

        @Override
        public boolean filter(TokenRecord token) {
            return token.contextTokens >= SMALLEST_CONTEXT && Integer.bitCount(token.contextTokens) == 1;
        }
    }

    private static final class SlowerThan extends IterativeCondition<TokenRecord> {
        private static final long serialVersionUID = 1L;

        private final String stage;

        SlowerThan(String stage) {
            this.stage = stage;
        }

        @Override
        public boolean filter(TokenRecord token, Context<TokenRecord> context) throws Exception {
            TokenRecord before = context.getEventsForPattern(stage).iterator().next();
            return 100 * (token.endNanos - token.beginNanos) > 115 * (before.endNanos - before.beginNanos);
        }
    }

    private static final class ByStep implements EventComparator<TokenRecord> {
        private static final long serialVersionUID = 1L;

        @Override
        public int compare(TokenRecord left, TokenRecord right) {
            return Long.compare(left.stepId, right.stepId);
        }
    }

    private static final class EndOfMatch extends PatternProcessFunction<TokenRecord, Long> {
        private static final long serialVersionUID = 1L;

        @Override
        public void processMatch(Map<String, List<TokenRecord>> match, Context context, Collector<Long> ends) {
            ends.collect(Objects.requireNonNull(match.get("second rise")).get(0).endNanos);
        }
    }
}
