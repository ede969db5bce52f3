package io.tokenstair.collect.live;

import java.util.Arrays;

/** Cuts what is read of a file into lines: each counts when its end has been written; one longer than may be is passed over and told. */
final class LineCutter implements FileFollower.Cutter {
    private static final int LARGE_BYTES = 1 << 20;

    private final int mostLineBytes;
    private final FileFollower.Lines lines;
    private byte[] line = new byte[1_024];
    private int length;
    private boolean tooLong;

    /** Lines of at most so many bytes, which go there. */
    LineCutter(int mostLineBytes, FileFollower.Lines lines) {
        this.mostLineBytes = mostLineBytes;
        this.lines = lines;
    }

    @Override
    public void take(byte[] bytes, int count) {
        for (int i = 0; i < count; i++) {
            byte next = bytes[i];
            if (next == '\n') {
                endOfLine();
            } else if (!tooLong) {
                if (length == mostLineBytes) {
                    tooLong = true;
                    length = 0;
                    lines.lost("a line longer than " + mostLineBytes + " bytes");
                } else {
                    if (length == line.length) {
                        line = Arrays.copyOf(line, Math.min(mostLineBytes, 2 * length));
                    }
                    line[length++] = next;
                }
            }
        }
    }

    private void endOfLine() {
        int end = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
        if (!tooLong && end > 0) {
            lines.line(line, end);
        }
        length = 0;
        tooLong = false;
        if (line.length > LARGE_BYTES) {
            line = new byte[1_024];
        }
    }

    @Override
    public void passedOver(byte last) {
        tooLong = last != '\n';
    }

    @Override
    public void ended() {
        if (length > 0) {
            endOfLine();
        }
    }

    @Override
    public void begunAnew(String reason) {
        if (length > 0 && !reason.isEmpty()) {
            lines.lost(reason);
        }
        length = 0;
        tooLong = false;
        lines.restarted();
    }

    @Override
    public void lost(String reason) {
        lines.lost(reason);
    }

    @Override
    public void letGo() {
        // Half a line is no line.
    }
}
