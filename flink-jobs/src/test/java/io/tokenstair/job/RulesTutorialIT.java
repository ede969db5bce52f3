package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.capture.Captures;
import io.tokenstair.look.rule.RulesMain;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tutorial of docs/rules.md, done as it is written: each file, each change, each command and what it prints. */
class RulesTutorialIT {
    private static final Pattern STEP = Pattern.compile(
            "Save this as `([a-z-]+\\.yaml)`:\\n\\n```yaml\\n(.*?)```|Change `([^`]+)` to `([^`]+)`|```console\\n(.*?)```",
            Pattern.DOTALL);

    @TempDir
    Path folder;

    @Test
    void everyStepDoesWhatThePageSays() throws Exception {
        Path demo = Files.createDirectories(folder.resolve(".tokenstair/demo"));
        Captures.log("kv_pressure_preemption", demo.resolve("log"));
        job(List.of("run", "--once", "--from", ".tokenstair/demo/log", "--archive", ".tokenstair/demo/results"));
        String page = Files.readString(Path.of("..", "docs", "rules.md"));
        String tutorial = page.substring(page.indexOf("## Your first rule"), page.indexOf("\n## A rule\n"));
        Path rule = folder.resolve("none");
        int commands = 0;
        Matcher step = STEP.matcher(tutorial);
        while (step.find()) {
            if (step.group(1) != null) {
                rule = Files.writeString(folder.resolve(step.group(1)), step.group(2));
            } else if (step.group(3) != null) {
                String text = Files.readString(rule);
                assertThat(text).contains(step.group(3));
                Files.writeString(rule, text.replace(step.group(3), step.group(4)));
            } else {
                commands += console(step.group(5));
            }
        }
        assertThat(commands).isGreaterThanOrEqualTo(7);
    }

    /** Runs the commands of a block and gives their number. */
    private int console(String block) throws Exception {
        List<String> shown = new ArrayList<>(Arrays.asList(block.split("(?m)^\\$ \\./tokenstair ", -1)));
        assertThat(shown.remove(0)).as("what stands before the first command").isEmpty();
        for (String one : shown) {
            int lineEnd = one.indexOf('\n');
            List<String> words = List.of(one.substring(0, lineEnd).split(" "));
            String printed = words.get(0).equals("rules") ? rules(words.subList(1, words.size())) : job(words);
            assertThat(printed).as(one.substring(0, lineEnd)).isEqualTo(one.substring(lineEnd + 1));
        }
        return shown.size();
    }

    private String rules(List<String> words) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        RulesMain.run(inFolder(words), out, err, Map.of("LANG", "C.UTF-8"));
        return (err.toString(StandardCharsets.UTF_8) + out.toString(StandardCharsets.UTF_8)).replace(folder + "/", "");
    }

    private String job(List<String> words) {
        PrintStream before = System.err;
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            assertThat(JobMain.run(inFolder(words))).as(String.join(" ", words)).isZero();
        } finally {
            System.setErr(before);
        }
        return err.toString(StandardCharsets.UTF_8).replace(folder + "/", "");
    }

    /** Names of files and folders are those of the test's own folder. */
    private String[] inFolder(List<String> words) {
        List<String> placed = new ArrayList<>();
        for (int i = 0; i < words.size(); i++) {
            boolean place = words.get(i).matches("[a-z-]+\\.yaml|\\.tokenstair/.*|[a-z]+-log|DIR")
                    || i > 0 && words.get(i - 1).equals("--archive");
            placed.add(place ? folder.resolve(words.get(i)).toString() : words.get(i));
        }
        return placed.toArray(String[]::new);
    }
}
