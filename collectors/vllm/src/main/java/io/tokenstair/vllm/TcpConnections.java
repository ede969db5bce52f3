package io.tokenstair.vllm;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The open TCP connections of a process, as {@code ss} of iproute2 tells them. */
final class TcpConnections {
    private static final int MAX_LINES = 65_536;
    private static final Pattern ROUND_TRIP = Pattern.compile(" rtt:(\\d{1,9})(?:\\.(\\d{1,3}))?\\d*/");
    private static final Pattern SENT_AGAIN = Pattern.compile(" retrans:\\d{1,9}/(\\d{1,12})");

    private TcpConnections() {}

    /**
     * Sums over connections.
     *
     * @param retransmitCount segments sent again so far
     * @param roundTripNanos largest smoothed round trip; absent without a measured one
     */
    record Sum(long retransmitCount, @Nullable Long roundTripNanos) {
        Sum plus(String line) {
            Matcher again = SENT_AGAIN.matcher(line);
            Matcher roundTrip = ROUND_TRIP.matcher(line);
            long count = retransmitCount + (again.find() ? Long.parseLong(again.group(1)) : 0);
            if (!roundTrip.find()) {
                return new Sum(count, roundTripNanos);
            }
            String fraction = roundTrip.group(2) == null ? "" : roundTrip.group(2);
            long nanos = Long.parseLong(roundTrip.group(1)) * 1_000_000L
                    + Long.parseLong((fraction + "000").substring(0, 3)) * 1_000L;
            return new Sum(count, roundTripNanos == null ? nanos : Math.max(roundTripNanos, nanos));
        }
    }

    /** Those of a process; absent where {@code ss} is missing or fails. */
    static @Nullable Sum of(long pid) {
        Process ss;
        try {
            ss = new ProcessBuilder("ss", "-tinpHO", "state", "established")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException missing) {
            return null;
        }
        try (BufferedReader lines = ss.inputReader()) {
            Sum sum = new Sum(0, null);
            String mark = "pid=" + pid + ",";
            String line = lines.readLine();
            for (int i = 0; line != null && i < MAX_LINES; i++, line = lines.readLine()) {
                if (line.contains(mark)) {
                    sum = sum.plus(line);
                }
            }
            return ss.waitFor() == 0 ? sum : null;
        } catch (IOException unreadable) {
            return null;
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            return null;
        } finally {
            ss.destroy();
        }
    }
}
