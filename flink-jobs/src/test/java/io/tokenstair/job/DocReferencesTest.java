package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every class, path and page that the documents name exists. A code span is taken for a class when it is written in camel case and
 * begins with a capital; for a path when it has a slash and no blank and begins with the name of something at the root of the
 * repository.
 */
class DocReferencesTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern CODE_BLOCK = Pattern.compile("(?ms)^```.*?^```$");
    private static final Pattern CODE_SPAN = Pattern.compile("`([^`\\n]+)`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]+)(?:#[^)]*)?\\)");
    private static final Pattern CLASS = Pattern.compile("(?:[a-z]+\\.)*((?:[A-Z][a-z0-9]+){2,}(?:\\.[A-Z]\\w+)?)");
    private static final Pattern PYTHON_CLASS = Pattern.compile("(?m)^ *class (\\w+)");
    private static final Pattern PATH = Pattern.compile("(?:\\./)?([\\w.-]+(?:/[\\w.*=<>-]+)*/?)");
    private static final Set<String> SKIPPED_FOLDERS = Set.of(".git", "target", ".venv", ".tokenstair", ".idea");

    /** Classes of libraries that the documents speak of. */
    private static final Set<String> FOREIGN_CLASSES =
            Set.of("KeyedProcessFunction", "EventTimeSessionWindows", "GlobalWindows");

    @Test
    void everyClassThatIsNamedExists() throws IOException {
        Set<String> classes = new HashSet<>();
        for (Path source : files(".java")) {
            classes.add(String.valueOf(source.getFileName()).replace(".java", ""));
        }
        for (Path source : files(".py")) {
            Matcher named = PYTHON_CLASS.matcher(Files.readString(source));
            while (named.find()) {
                classes.add(named.group(1));
            }
        }
        List<String> unknown = new ArrayList<>();
        for (Path document : documents()) {
            Matcher span = CODE_SPAN.matcher(textWithoutBlocks(document));
            while (span.find()) {
                Matcher name = CLASS.matcher(span.group(1));
                if (name.matches()) {
                    String outermost = name.group(1).replaceFirst("\\..*", "");
                    if (!classes.contains(outermost) && !FOREIGN_CLASSES.contains(outermost)) {
                        unknown.add(ROOT.relativize(document) + ": " + span.group(1));
                    }
                }
            }
        }
        assertThat(unknown).as("classes named in documents").isEmpty();
    }

    @Test
    void everyPathThatIsNamedExists() throws IOException {
        Set<String> atRoot = namesAtRoot();
        List<String> unknown = new ArrayList<>();
        for (Path document : documents()) {
            Matcher span = CODE_SPAN.matcher(textWithoutBlocks(document));
            while (span.find()) {
                Matcher path = PATH.matcher(span.group(1));
                if (path.matches()
                        && path.group(1).contains("/")
                        && !path.group(1).matches(".*[*=<>].*")) {
                    String first = path.group(1).replaceFirst("/.*", "");
                    if (atRoot.contains(first) && !Files.exists(ROOT.resolve(path.group(1)))) {
                        unknown.add(ROOT.relativize(document) + ": " + span.group(1));
                    }
                }
            }
        }
        assertThat(unknown).as("paths named in documents").isEmpty();
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path document : documents()) {
            Matcher link = LINK.matcher(textWithoutBlocks(document));
            while (link.find()) {
                String target = link.group(1);
                if (!target.contains("://") && !Files.exists(document.resolveSibling(target))) {
                    broken.add(ROOT.relativize(document) + ": " + target);
                }
            }
        }
        assertThat(broken).as("links of documents").isEmpty();
    }

    @Test
    void everyCommandOfTheReadmeIsOneTheLauncherHas() throws IOException {
        String launcher = Files.readString(ROOT.resolve("tokenstair"));
        Matcher command =
                Pattern.compile("\\./tokenstair ([a-z]+)").matcher(Files.readString(ROOT.resolve("README.md")));
        Set<String> unknown = new HashSet<>();
        while (command.find()) {
            // Its usage has one command a line, indented by two.
            if (!launcher.contains("\n  " + command.group(1) + " ")) {
                unknown.add(command.group(1));
            }
        }
        assertThat(unknown).as("commands named in README.md").isEmpty();
    }

    @Test
    void everyDocumentThatASourceNamesExists() throws IOException {
        Pattern document = Pattern.compile("\\bdocs/[\\w/-]+\\.md\\b");
        List<String> unknown = new ArrayList<>();
        for (Path source : files(".java")) {
            Matcher name = document.matcher(Files.readString(source));
            while (name.find()) {
                if (!Files.exists(ROOT.resolve(name.group()))) {
                    unknown.add(ROOT.relativize(source) + ": " + name.group());
                }
            }
        }
        assertThat(unknown).as("documents named in sources").isEmpty();
    }

    @Test
    void everyLibraryHasItsReason() throws IOException {
        String reasons = Files.readString(ROOT.resolve("docs").resolve("dependencies.md"));
        Pattern dependency =
                Pattern.compile("<dependency>\\s*<groupId>([^<]+)</groupId>\\s*<artifactId>([^<]+)</artifactId>");
        Set<String> unexplained = new TreeSet<>();
        for (Path pom : files("pom.xml")) {
            Matcher library = dependency.matcher(
                    Files.readString(pom).replaceAll("(?s)<dependencyManagement>.*?</dependencyManagement>", ""));
            while (library.find()) {
                if (!library.group(1).equals("io.tokenstair") && !reasons.contains("`" + library.group(2) + "`")) {
                    unexplained.add(library.group(2));
                }
            }
        }
        assertThat(unexplained)
                .as("libraries without a line in docs/dependencies.md")
                .isEmpty();
    }

    private static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>();
        for (String name : List.of("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")) {
            documents.add(ROOT.resolve(name));
        }
        try (Stream<Path> found = Files.walk(ROOT.resolve("docs"))) {
            found.filter(file -> file.toString().endsWith(".md")).forEach(documents::add);
        }
        return documents;
    }

    private static String textWithoutBlocks(Path document) throws IOException {
        return CODE_BLOCK.matcher(Files.readString(document)).replaceAll("");
    }

    private static Set<String> namesAtRoot() throws IOException {
        Set<String> names = new HashSet<>();
        try (Stream<Path> files = Files.list(ROOT)) {
            files.map(file -> ROOT.relativize(file).toString())
                    .filter(name -> !SKIPPED_FOLDERS.contains(name))
                    .forEach(names::add);
        }
        return names;
    }

    /** Files of the source tree whose name ends so. */
    private static List<Path> files(String ending) throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                boolean skipped =
                        !folder.equals(ROOT) && SKIPPED_FOLDERS.contains(String.valueOf(folder.getFileName()));
                return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (String.valueOf(file.getFileName()).endsWith(ending)) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }
}
