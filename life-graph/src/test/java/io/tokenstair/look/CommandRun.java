package io.tokenstair.look;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * What a command did.
 *
 * @param exitCode its exit code
 * @param out what it printed
 * @param err what it complained
 */
public record CommandRun(int exitCode, String out, String err) {
    /** Runs a command in this process, with a locale that can show glyphs and no terminal. */
    public static CommandRun of(String... arguments) {
        return with(Map.of("LANG", "C.UTF-8"), arguments);
    }

    public static CommandRun with(Map<String, String> environment, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = LookMain.run(arguments, out, err, environment);
        return new CommandRun(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    public List<String> lines() {
        return out.lines().toList();
    }
}
