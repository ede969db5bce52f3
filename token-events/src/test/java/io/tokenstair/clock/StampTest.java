package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StampTest {
    @TempDir
    Path compiled;

    @Test
    void nanosSinceIsTheTimeBetweenTwoReadingsOfOneClock() {
        Stamp<Clock.Engine> first = new Stamp<>("engine-0", 1_000);
        Stamp<Clock.Engine> second = new Stamp<>("engine-0", 4_500);

        assertThat(second.nanosSince(first)).isEqualTo(3_500);
        assertThat(first.nanosSince(second)).isEqualTo(-3_500);
        assertThat(second.isAfter(first)).isTrue();
        assertThat(first.isAfter(first)).isFalse();
    }

    @Test
    void twoClocksOfOneFamilyAreNotCompared() {
        Stamp<Clock.Engine> first = new Stamp<>("engine-0", 1_000);
        Stamp<Clock.Engine> other = new Stamp<>("engine-1", 1_000);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> other.nanosSince(first))
                .withMessage("Cannot compare stamps of different clocks: engine-1 and engine-0");
        assertThatIllegalArgumentException().isThrownBy(() -> other.isAfter(first));
    }

    @Test
    void mixingTwoFamiliesDoesNotCompile() throws Exception {
        assertThat(errors("engine.nanosSince(otherEngine)")).isEmpty();
        assertThat(errors("engine.nanosSince(device)"))
                .isNotEmpty()
                .allMatch(error -> error.contains("Clock.Device") || error.contains("Device"));
        assertThat(errors("device.isAfter(engine) ? 1 : 0")).isNotEmpty();
        assertThat(errors("engine.nanosSince(aligned)")).isNotEmpty();
        assertThat(errors("engine.nanosSince(1234L)")).isNotEmpty();
    }

    private List<String> errors(String expression) throws IOException, URISyntaxException {
        String source = """
                import io.tokenstair.clock.*;
                class Mixed {
                    long mix(Stamp<Clock.Engine> engine, Stamp<Clock.Engine> otherEngine, Stamp<Clock.Device> device,
                            AlignedStamp aligned) {
                        return %s;
                    }
                }
                """.formatted(expression);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(found, Locale.ROOT, null)) {
            files.setLocationFromPaths(
                    StandardLocation.CLASS_PATH, List.of(origin(Stamp.class), origin(NullMarked.class)));
            files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(compiled));
            JavaFileObject file =
                    new SimpleJavaFileObject(URI.create("string:///Mixed.java"), JavaFileObject.Kind.SOURCE) {
                        @Override
                        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                            return source;
                        }
                    };
            compiler.getTask(new StringWriter(), files, found, List.of("-proc:none"), null, List.of(file))
                    .call();
        }
        return found.getDiagnostics().stream()
                .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
                .map(diagnostic -> diagnostic.getMessage(Locale.ROOT))
                .toList();
    }

    private static Path origin(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
