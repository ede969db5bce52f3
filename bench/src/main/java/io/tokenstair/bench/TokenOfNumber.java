package io.tokenstair.bench;

import org.apache.flink.connector.datagen.source.GeneratorFunction;

/** Turns numbers into tokens of a fleet's size: each reader has all sequences of its engines in turn, step after step. */
public final class TokenOfNumber implements GeneratorFunction<Long, TokenRecord> {
    private static final long serialVersionUID = 1L;

    private static final long STEP_NANOS = 22_000_000;
    private static final long START_NANOS = 1_780_000_000_000_000_000L;
    private static final int TOKENS_PER_REQUEST = 384;

    /** Tokens of the fleet given to {@link ReadFleet#prepare}. */
    public TokenOfNumber() {}

    @Override
    public TokenRecord map(Long number) {
        FleetSize size = ReadFleet.fleet().size();
        long tokensPerReader = (size.exactTokens() + size.partitions() - 1) / size.partitions();
        int sequencesPerReader = size.engines() * size.sequencesPerStep() / size.partitions();
        int reader = (int) (number / tokensPerReader);
        long place = number % tokensPerReader;
        int sequence = (int) (place % sequencesPerReader);
        long step = place / sequencesPerReader;
        TokenRecord token = new TokenRecord();
        token.engine = sequence / size.sequencesPerStep() * size.partitions() + reader;
        token.tokenIndex = (int) (step % TOKENS_PER_REQUEST);
        token.requestHandle =
                (int) (step / TOKENS_PER_REQUEST) * size.sequencesPerStep() + sequence % size.sequencesPerStep();
        token.contextTokens = 1000 + token.tokenIndex;
        token.batchSequences = size.sequencesPerStep();
        token.stepId = step;
        token.beginNanos = START_NANOS + step * STEP_NANOS;
        token.endNanos = token.beginNanos + STEP_NANOS;
        return token;
    }
}
