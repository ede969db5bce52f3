package io.tokenstair.collect.bench;

import java.util.Arrays;
import java.util.Locale;

/**
 * Which chunks of each answer of a run hold no token although the client counts them: a chat answer may begin with one that says who
 * speaks, and some servers end with one that says why. Such a chunk is sent with the token beside it, so the gap between the two is far
 * shorter than a step.
 *
 * @param first whether the first one does
 * @param last whether the last one does
 */
record EmptyChunks(boolean first, boolean last) {
    static final EmptyChunks NONE = new EmptyChunks(false, false);

    /** How many times a usual gap is as long as one in which no step ran. */
    private static final int FAR_SHORTER = 8;

    /** How many there are in an answer. */
    int count() {
        return (first ? 1 : 0) + (last ? 1 : 0);
    }

    /** Reads them off a run's lists: as most answers have more chunks than tokens, and where the gap without a step lies. */
    static EmptyChunks of(BenchObject object, BenchObject.Column outputs, int answers) {
        int one = 0;
        int two = 0;
        for (int i = 0; i < answers; i++) {
            int gaps = object.gaps(i).length;
            double surplus = gaps + 1 - outputs.at(i);
            one += gaps > 0 && surplus == 1 ? 1 : 0;
            two += gaps > 1 && surplus == 2 ? 1 : 0;
        }
        boolean chat = isChat(object);
        if (one == 0 && two == 0) {
            return NONE;
        }
        int surplus = two > one ? 2 : 1;
        double[] firsts = new double[surplus == 2 ? two : one];
        double[] lasts = new double[firsts.length];
        double[] usual = new double[firsts.length];
        int size = 0;
        for (int i = 0; i < answers; i++) {
            double[] gaps = object.gaps(i);
            if (gaps.length >= surplus && gaps.length + 1 - outputs.at(i) == surplus) {
                firsts[size] = gaps[0];
                lasts[size] = gaps[gaps.length - 1];
                usual[size++] = median(gaps);
            }
        }
        double step = median(usual);
        boolean firstIsNoStep = median(firsts) * FAR_SHORTER < step;
        boolean lastIsNoStep = median(lasts) * FAR_SHORTER < step;
        if (surplus == 2) {
            return chat && lastIsNoStep ? new EmptyChunks(true, true) : NONE;
        }
        if (lastIsNoStep && !firstIsNoStep) {
            return new EmptyChunks(false, true);
        }
        return chat ? new EmptyChunks(true, false) : NONE;
    }

    private static boolean isChat(BenchObject object) {
        String backend = object.text("backend");
        String endpoint = object.text("endpoint_type");
        return (backend != null && backend.toLowerCase(Locale.ROOT).contains("chat"))
                || (endpoint != null && endpoint.toLowerCase(Locale.ROOT).contains("chat"));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
