package io.tokenstair.collect.live;

import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Unzips a gzip file while it is still being written, member after member, as far as it goes. Memory is the window of the format and one
 * piece of input. What is no gzip, or is damaged, is told once, and the rest of the file passed over.
 */
final class GrowingGzip {
    private static final int HEADER_BYTES = 10;
    private static final int TRAILER_BYTES = 8;
    private static final int EXTRA = 4;
    private static final int NAME = 8;
    private static final int COMMENT = 16;
    private static final int CHECKSUM = 2;

    private enum Part {
        HEADER,
        EXTRA_LENGTH,
        EXTRA_BYTES,
        NAME_TEXT,
        COMMENT_TEXT,
        HEADER_CHECKSUM,
        BODY,
        TRAILER,
        DAMAGED
    }

    private final Inflater inflater = new Inflater(true);
    private byte[] input = new byte[0];
    private int at;
    private int end;
    private Part part = Part.HEADER;
    private int seen;
    private int flags;
    private int extraLength;
    private @Nullable String defect;

    /** Gives the next bytes of the file, when the ones before have been taken; they are kept until then. */
    void give(byte[] bytes, int count) {
        input = Arrays.copyOf(bytes, count);
        at = 0;
        end = count;
    }

    /** Unzipped bytes; 0 where there are none before more is given. */
    int take(byte[] out) {
        while (part != Part.DAMAGED) {
            if (part == Part.BODY) {
                try {
                    if (inflater.needsInput() && at < end) {
                        inflater.setInput(input, at, end - at);
                        at = end;
                    }
                    int count = inflater.inflate(out);
                    if (inflater.finished()) {
                        at = end - inflater.getRemaining();
                        part = Part.TRAILER;
                        seen = 0;
                    } else if (count == 0) {
                        if (inflater.needsDictionary()) {
                            damaged();
                        }
                        return 0;
                    }
                    if (count > 0) {
                        return count;
                    }
                } catch (DataFormatException broken) {
                    damaged();
                }
            } else if (at == end || !step(input[at++] & 0xff)) {
                return 0;
            }
        }
        at = end;
        return 0;
    }

    /** Takes a byte outside of the body; false where the file is damaged. */
    private boolean step(int next) {
        switch (part) {
            case HEADER -> {
                boolean right = seen == 0 ? next == 0x1f : seen == 1 ? next == 0x8b : seen != 2 || next == 8;
                if (!right) {
                    damaged();
                    return false;
                }
                flags = seen == 3 ? next : flags;
                if (++seen == HEADER_BYTES) {
                    after(Part.HEADER);
                }
            }
            case EXTRA_LENGTH -> {
                extraLength |= next << 8 * seen;
                if (++seen == 2) {
                    seen = 0;
                    part = Part.EXTRA_BYTES;
                    if (extraLength == 0) {
                        after(Part.EXTRA_BYTES);
                    }
                }
            }
            case EXTRA_BYTES -> {
                if (++seen == extraLength) {
                    after(Part.EXTRA_BYTES);
                }
            }
            case NAME_TEXT -> {
                if (next == 0) {
                    after(Part.NAME_TEXT);
                }
            }
            case COMMENT_TEXT -> {
                if (next == 0) {
                    after(Part.COMMENT_TEXT);
                }
            }
            case HEADER_CHECKSUM -> {
                if (++seen == 2) {
                    after(Part.HEADER_CHECKSUM);
                }
            }
            case TRAILER -> {
                if (++seen == TRAILER_BYTES) {
                    seen = 0;
                    part = Part.HEADER;
                }
            }
            case BODY, DAMAGED -> {
                return false;
            }
        }
        return true;
    }

    private void after(Part before) {
        seen = 0;
        boolean told = before == Part.HEADER;
        if (told && (flags & EXTRA) != 0) {
            extraLength = 0;
            part = Part.EXTRA_LENGTH;
            return;
        }
        told |= before == Part.EXTRA_BYTES;
        if (told && (flags & NAME) != 0) {
            part = Part.NAME_TEXT;
            return;
        }
        told |= before == Part.NAME_TEXT;
        if (told && (flags & COMMENT) != 0) {
            part = Part.COMMENT_TEXT;
            return;
        }
        told |= before == Part.COMMENT_TEXT;
        if (told && (flags & CHECKSUM) != 0) {
            part = Part.HEADER_CHECKSUM;
            return;
        }
        inflater.reset();
        part = Part.BODY;
    }

    private void damaged() {
        part = Part.DAMAGED;
        defect = "no gzip, or damaged: what follows in this file is passed over";
    }

    /** What is wrong with the file, once; null where nothing is. */
    @Nullable
    String takeDefect() {
        String told = defect;
        defect = null;
        return told;
    }
}
