package io.tokenstair.job.engine;

/**
 * Counts the swings of a series: how often it turns after a move of at least an amplitude. Moves smaller than that are jitter. The
 * amplitude is a share of the level, so the rule is the same for small and large series.
 */
public class Swings {
    public boolean known;
    public double high;
    public double low;
    /** 1 rising, -1 falling, 0 not known yet. */
    public int direction;

    public long turns;
    public double highest;
    public double lowest;

    /** For Flink's serializer. */
    public Swings() {}

    /** Takes the next value; returns true when it shows that the series has turned. */
    boolean accept(double value, double amplitude) {
        if (!known) {
            known = true;
            high = value;
            low = value;
            highest = value;
            lowest = value;
            return false;
        }
        highest = Math.max(highest, value);
        lowest = Math.min(lowest, value);
        high = Math.max(high, value);
        low = Math.min(low, value);
        boolean turned = false;
        if (direction >= 0 && high - value >= amplitude) {
            turned = direction > 0;
            direction = -1;
            low = value;
        } else if (direction <= 0 && value - low >= amplitude) {
            turned = direction < 0;
            direction = 1;
            high = value;
        }
        if (turned) {
            turns++;
            high = value;
            low = value;
        }
        return turned;
    }

    /** Forgets the turns, and goes on from here. */
    void restart() {
        turns = 0;
        known = false;
        direction = 0;
    }
}
