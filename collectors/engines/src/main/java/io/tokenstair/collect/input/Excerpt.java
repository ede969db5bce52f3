package io.tokenstair.collect.input;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The start of a refused line, fit to be stored: at most {@value #MAX_CHARACTERS} characters, control characters escaped, and
 * nothing that could be prompt, generated text or token ids. Hence an allow-list: only the names of known fields and the values of
 * those known to be harmless are kept, everything else becomes "…". The line need not be valid JSON.
 */
public final class Excerpt {
    /** Longest excerpt. */
    public static final int MAX_CHARACTERS = 200;

    private static final int MAX_INPUT_BYTES = 4096;
    private static final char HIDDEN = '…';

    private static final Set<String> SHOWN = Set.of(
            "type",
            "v",
            "step",
            "req",
            "id",
            "role",
            "outcome",
            "phase",
            "finish",
            "reason",
            "status",
            "policy",
            "scheduler",
            "async",
            "block_size",
            "kv_total_blocks",
            "max_num_batched_tokens",
            "max_num_seqs",
            "mono_ns",
            "wall_ns",
            "sched_start_mono_ns",
            "sched_start_wall_ns",
            "sched_end_mono_ns",
            "sched_end_wall_ns",
            "update_start_mono_ns",
            "update_start_wall_ns",
            "update_end_mono_ns",
            "update_end_wall_ns",
            "running_before",
            "waiting_before",
            "running",
            "waiting",
            "kv_used_before",
            "kv_used",
            "kv_total",
            "reqs",
            "computed",
            "sched",
            "out",
            "emits",
            "cached",
            "preemptions",
            "priority",
            "queued",
            "arrival_wall_ns",
            "queued_mono_ns",
            "queued_wall_ns",
            "max_tokens",
            "preempted",
            "wanted_by",
            "nth",
            "free_blocks",
            "aborted",
            "emitted",
            "n",
            "total",
            "probe_ns",
            "trace_id",
            "parent_span_id",
            "prompt_tokens",
            "send_mono_ns",
            "send_wall_ns",
            "headers_mono_ns",
            "end_mono_ns",
            "close_mono_ns",
            "close_wall_ns",
            "error_type",
            "ev",
            "read",
            "bytes",
            "choice",
            "tok",
            "ntok",
            "completion_tokens",
            "done",
            "recv_mono_ns",
            "recv_wall_ns",
            "api",
            "engine",
            "worker",
            "steal_ticks",
            "kv_usage",
            "prefix_queries",
            "prefix_hits",
            "preempted_queries",
            "preempted_hits",
            "ph",
            "cat",
            "pid",
            "tid",
            "ts",
            "dur",
            "correlation");

    private Excerpt() {}

    /** The excerpt of a JSON line; null when the line shows nothing that may be shown. */
    public static @Nullable String ofJson(byte[] line, int length) {
        String text = new String(line, 0, Math.min(length, MAX_INPUT_BYTES), StandardCharsets.UTF_8);
        int start = 0;
        while (start < text.length() && text.charAt(start) <= ' ') {
            start++;
        }
        if (start == text.length() || text.charAt(start) != '{') {
            return null;
        }
        StringBuilder out = new StringBuilder(MAX_CHARACTERS);
        new Scanner(text, start, out).scan();
        return cut(out);
    }

    /** Text with its control characters and backslashes escaped, at most {@value #MAX_CHARACTERS} characters. */
    public static String escaped(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length() && out.length() <= MAX_CHARACTERS; i++) {
            append(out, text.charAt(i));
        }
        return cut(out);
    }

    private static String cut(StringBuilder out) {
        return out.length() <= MAX_CHARACTERS ? out.toString() : out.substring(0, MAX_CHARACTERS - 1) + HIDDEN;
    }

    private static void append(StringBuilder out, char c) {
        if (c == '\\') {
            out.append("\\\\");
        } else if (c < ' '
                || (c >= 0x7f && c < 0xa0)
                || Character.isSurrogate(c)
                || Character.getType(c) == Character.FORMAT) {
            out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
        } else {
            out.append(c);
        }
    }

    /** Walks the characters of one line: names, then values, which are shown or passed over. */
    private static final class Scanner {
        private final String text;
        private final StringBuilder out;
        private int at;

        Scanner(String text, int at, StringBuilder out) {
            this.text = text;
            this.at = at;
            this.out = out;
        }

        void scan() {
            boolean shown = false;
            while (at < text.length() && out.length() <= MAX_CHARACTERS) {
                char c = text.charAt(at);
                if (c == '"') {
                    int end = literalEnd(at);
                    String literal = text.substring(at + 1, end);
                    at = Math.min(text.length(), end + 1);
                    if (nextIsColon()) {
                        shown = SHOWN.contains(literal);
                        out.append('"')
                                .append(shown ? literal : String.valueOf(HIDDEN))
                                .append('"');
                        if (!shown) {
                            out.append(':').append(HIDDEN);
                            at = text.indexOf(':', at) + 1;
                            passOver();
                        }
                    } else if (shown && afterColon()) {
                        appendLiteral(literal);
                    } else {
                        out.append(HIDDEN);
                    }
                } else if (structural(c) || (shown && plain(c))) {
                    out.append(c);
                    at++;
                } else {
                    if (out.length() == 0 || out.charAt(out.length() - 1) != HIDDEN) {
                        out.append(HIDDEN);
                    }
                    at++;
                }
            }
        }

        /** Text is shown only as the value of a name, never where a broken line has it stray. */
        private boolean afterColon() {
            int i = out.length() - 1;
            while (i >= 0 && out.charAt(i) == ' ') {
                i--;
            }
            return i >= 0 && out.charAt(i) == ':';
        }

        private void appendLiteral(String literal) {
            out.append('"');
            for (int i = 0; i < literal.length() && out.length() <= MAX_CHARACTERS; i++) {
                char c = literal.charAt(i);
                // Escapes of the line stay as they are; only what is raw is escaped.
                if (c == '\\') {
                    out.append(c);
                } else {
                    append(out, c);
                }
            }
            out.append('"');
        }

        private int literalEnd(int quote) {
            int i = quote + 1;
            while (i < text.length() && text.charAt(i) != '"') {
                i += text.charAt(i) == '\\' ? 2 : 1;
            }
            return Math.min(i, text.length());
        }

        private boolean nextIsColon() {
            int i = at;
            while (i < text.length() && text.charAt(i) == ' ') {
                i++;
            }
            return i < text.length() && text.charAt(i) == ':';
        }

        private void passOver() {
            int depth = 0;
            while (at < text.length()) {
                char c = text.charAt(at);
                if (c == '"') {
                    at = Math.min(text.length(), literalEnd(at) + 1);
                    continue;
                }
                if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
                    return;
                }
                if (c == '{' || c == '[') {
                    depth++;
                } else if (c == '}' || c == ']') {
                    depth--;
                }
                at++;
            }
        }

        private static boolean structural(char c) {
            return c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',' || c == ' ';
        }

        private static boolean plain(char c) {
            return (c >= '0' && c <= '9')
                    || c == '-'
                    || c == '+'
                    || c == '.'
                    || c == 'e'
                    || c == 'E'
                    || "truefalsn".indexOf(c) >= 0;
        }
    }
}
