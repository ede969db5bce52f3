package io.tokenstair.look.rule;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * What a command about rules did.
 *
 * @param exitCode its exit code
 * @param out what it printed
 * @param err what it complained
 */
record RulesRun(int exitCode, String out, String err) {
    /** Runs a command in this process, with a locale that can show glyphs and no terminal. */
    static RulesRun of(Object... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        String[] words = new String[arguments.length];
        for (int i = 0; i < words.length; i++) {
            words[i] = arguments[i].toString();
        }
        int exitCode = RulesMain.run(words, out, err, Map.of("LANG", "C.UTF-8"));
        return new RulesRun(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    List<String> lines() {
        return out.lines().toList();
    }
}
