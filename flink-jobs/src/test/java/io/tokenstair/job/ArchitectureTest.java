package io.tokenstair.job;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.tokenstair.job.request.RequestBlocks;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.step.AnalyseSteps;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which package may know which. The road of an event is the order: collect, log, decode, archive, align, analyse, match, look. */
class ArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            // In a whole build the fixtures that modules share come as a jar of test classes.
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("io.tokenstair");

    /** The packages of token-events. */
    private static final String[] EVENTS = {
        "io.tokenstair.event..",
        "io.tokenstair.log..",
        "io.tokenstair.clock..",
        "io.tokenstair.cause..",
        "io.tokenstair.milestone.."
    };

    private static final String[] COLLECTORS = {
        "io.tokenstair.collect..", "io.tokenstair.gpu..", "io.tokenstair.simulate..", "io.tokenstair.gateway.."
    };

    @Test
    void classesOfEveryModuleAreSeen() {
        Set<String> packages = new TreeSet<>();
        CLASSES.forEach(found -> packages.add(found.getPackageName().split("\\.")[2]));

        assertThat(packages)
                .contains(
                        "event",
                        "log",
                        "clock",
                        "cause",
                        "milestone",
                        "collect",
                        "gpu",
                        "simulate",
                        "rule",
                        "archive",
                        "job",
                        "look");
    }

    @Test
    void eventsKnowNothingElse() {
        classes()
                .that()
                .resideInAnyPackage(EVENTS)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(concat(
                        EVENTS, "java..", "com.google.protobuf..", "org.jspecify.annotations..", "org.apache.kafka..")))
                .because("they are what every other module shares: whoever reads them should need nothing else")
                .check(CLASSES);
    }

    @Test
    void onePlaceOfTheEventsKnowsKafka() {
        noClasses()
                .that()
                .resideInAnyPackage(EVENTS)
                .and()
                .haveNameNotMatching(".*\\.KafkaPlace.*")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.kafka..")
                .because("whoever writes to a folder needs no broker's library")
                .check(CLASSES);
    }

    @Test
    void collectorsKnowEventsOnly() {
        for (String collector : COLLECTORS) {
            noClasses()
                    .that()
                    .resideInAPackage(collector)
                    .should()
                    .dependOnClassesThat(resideInAnyPackage(
                                    "org.apache.flink..",
                                    "org.apache.parquet..",
                                    "io.tokenstair.rule..",
                                    "io.tokenstair.archive..",
                                    "io.tokenstair.job..",
                                    "io.tokenstair.look..")
                            .or(resideInAnyPackage(COLLECTORS)
                                    .and(describe(
                                            "of another collector",
                                            found -> !found.getPackageName().startsWith(collector.replace("..", ""))))))
                    .because("a collector runs beside an engine or on a small box, and hands over through the log")
                    .check(CLASSES);
        }
    }

    @Test
    void rulesAndArchiveKnowNeitherEachOtherNorWhatUsesThem() {
        noClasses()
                .that()
                .resideInAPackage("io.tokenstair.rule..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.tokenstair.archive..", "io.tokenstair.job..", "io.tokenstair.look..", COLLECTORS[0])
                .because("a rule can be linted and tested without a job")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("io.tokenstair.archive..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.tokenstair.rule..", "io.tokenstair.job..", "io.tokenstair.look..")
                .because("an archive can be read without the job that wrote it")
                .check(CLASSES);
    }

    @Test
    void thePageReadsTheArchiveOnly() {
        noClasses()
                .that()
                .resideInAPackage("io.tokenstair.look..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.tokenstair.job..", "io.tokenstair.collect..")
                .because("it must show what any other reader of the public tables could show")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("io.tokenstair.look..")
                .and()
                .resideOutsideOfPackage("io.tokenstair.look.rule..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.tokenstair.rule..", "io.tokenstair.look.rule..")
                .because("only the commands about rules read rules; the rest shows what the archive says")
                .check(CLASSES);
    }

    @Test
    void jobsHearOfCollectorsThroughTheLogOnly() {
        noClasses()
                .that()
                .resideInAPackage("io.tokenstair.job..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.tokenstair.collect..",
                        "io.tokenstair.gpu..",
                        "io.tokenstair.simulate..",
                        "io.tokenstair.look..")
                .because("the hand-over between processes is the log in its wire form, never a class of the producer")
                .check(CLASSES);
    }

    @Test
    void onlyJobsKnowFlink() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.tokenstair.job..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.flink..")
                .because("everything else must be usable, and testable, without a cluster")
                .check(CLASSES);
    }

    @Test
    void onlyTheArchiveKnowsParquet() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.tokenstair.archive..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.parquet..")
                .because("tables are written and read in one place, so that files and their field ids agree")
                .check(CLASSES);
    }

    @Test
    void oneClassKnowsJcuda() {
        Set<String> users = new TreeSet<>();
        CLASSES.forEach(found -> found.getDirectDependenciesFromSelf().stream()
                .filter(dependency ->
                        dependency.getTargetClass().getPackageName().startsWith("jcuda"))
                .forEach(dependency -> users.add(topLevel(found))));

        assertThat(users)
                .as("the driver is loaded in one place, so that a machine without one runs everything else")
                .hasSize(1);
    }

    private static String topLevel(JavaClass found) {
        return found.getName().replaceAll("\\$.*", "");
    }

    @Test
    void packagesKnowEachOtherOneWayOnly() {
        slices().matching("io.tokenstair.(**)")
                .should()
                .beFreeOfCycles()
                .ignoreDependency(
                        describe(
                                "the operator of engines",
                                found -> topLevel(found).equals(AnalyseSteps.class.getName())),
                        describe(
                                "what requests hear, and the blocks it comes in",
                                found -> topLevel(found).equals(RequestInput.class.getName())
                                        || topLevel(found).equals(RequestBlocks.class.getName())))
                .because(
                        "a package can be read alone only if what it needs does not need it back. The operator of engines"
                                + " says what requests hear: the exchange between the two is in its signature")
                .check(CLASSES);
    }

    @Test
    void aNameSaysWhatAClassDoes() {
        noClasses()
                .should()
                .haveNameMatching(".*[.$]([A-Z]\\w*)?(Util|Utils|Helper|Helpers|Manager)")
                .because(
                        "such a name fits everything, and everything ends up there: put the method on the type it serves")
                .check(CLASSES);
        noClasses()
                .should()
                .resideInAnyPackage("..util..", "..common..", "..helper..", "..impl..", "..misc..")
                .because("such a package fits everything, and everything ends up there")
                .check(CLASSES);
    }

    @Test
    void timeIsReadThroughAClock() {
        Map<String, Set<String>> readings = Map.of(
                "java.lang.System", Set.of("currentTimeMillis", "nanoTime"),
                "java.time.Instant", Set.of("now"));
        noClasses()
                .that()
                .resideOutsideOfPackage("..clock..")
                .should()
                .accessTargetWhere(describe(
                        "reads a clock of the machine",
                        (JavaAccess<?> access) -> readings.getOrDefault(
                                        access.getTargetOwner().getName(), Set.of())
                                .contains(access.getTarget().getName())))
                .because(
                        "what reads the machine's time says something else at each run: a replay could not agree with it")
                .check(CLASSES);
    }

    @Test
    void theTruthOfASimulationIsKnownToNobody() throws IOException {
        noClasses()
                .that()
                .resideOutsideOfPackages("io.tokenstair.simulate..", "io.tokenstair.bench..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.tokenstair.simulate..")
                .because("an analysis that can see the truth cannot be measured against it")
                .check(CLASSES);
        Path root = Path.of("..").toAbsolutePath().normalize();
        Pattern named = Pattern.compile("\"[^\"\\n]*\\btruth\\b[^\"\\n]*\"");
        List<String> readers = new ArrayList<>();
        for (Path module : modules(root)) {
            String name = root.relativize(module).toString();
            Path sources = module.resolve("src/main");
            if (name.equals("collectors/engine-simulator") || name.equals("bench") || !Files.isDirectory(sources)) {
                continue;
            }
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path file :
                        (Iterable<Path>) files.filter(path -> path.toString().endsWith(".java"))::iterator) {
                    if (named.matcher(Files.readString(file)).find()) {
                        readers.add(root.relativize(file).toString());
                    }
                }
            }
        }
        assertThat(readers).as("sources that name the folder of the truth").isEmpty();
    }

    private static List<Path> modules(Path root) throws IOException {
        Matcher module = Pattern.compile("<module>([^<]+)</module>").matcher(Files.readString(root.resolve("pom.xml")));
        List<Path> modules = new ArrayList<>();
        while (module.find()) {
            modules.add(root.resolve(module.group(1)));
        }
        return modules;
    }

    // ---- numbers of events

    private static final List<String> UNITS = List.of(
            "Nanos",
            "Millis",
            "Bytes",
            "Tokens",
            "Count",
            "Index",
            "Sequence",
            "Id",
            "Rank",
            "Handle",
            "Hertz",
            "Milliwatts",
            "Millicelsius");

    /** Numbers of events that have no unit, and why. */
    private static final Map<String, String> UNITLESS = Map.of(
            "priority", "an order, not an amount",
            "version", "an order, not an amount",
            "httpStatus", "a code",
            "driverCode", "a code",
            "collectorEpoch", "tells starts apart and is never counted with",
            "parentBlockHash", "a hash",
            "sampledValue", "its unit is in the metric's own name",
            "lineNumber", "what editors call it",
            "byteOffset", "what editors call it");

    @Test
    void numbersOfEventsNameTheirUnit() {
        classes()
                .that()
                .resideInAPackage("io.tokenstair.event")
                .and()
                .areRecords()
                .should(nameTheUnitOfTheirNumbers())
                .because("a number whose unit is in a comment is soon added to one of another unit")
                .check(CLASSES);
    }

    private static ArchCondition<JavaClass> nameTheUnitOfTheirNumbers() {
        Pattern unit = Pattern.compile("(?i).*(" + String.join("|", UNITS) + ")");
        return new ArchCondition<>("name the unit of their numbers") {
            @Override
            public void check(JavaClass found, ConditionEvents events) {
                for (RecordComponent component : found.reflect().getRecordComponents()) {
                    boolean number = component.getType() == int.class
                            || component.getType() == long.class
                            || component.getType() == double.class
                            || Number.class.isAssignableFrom(component.getType());
                    if (number
                            && !unit.matcher(component.getName()).matches()
                            && !UNITLESS.containsKey(component.getName())) {
                        events.add(SimpleConditionEvent.violated(
                                found, found.getSimpleName() + "." + component.getName() + " names no unit"));
                    }
                }
            }
        };
    }

    private static String[] concat(String[] some, String... more) {
        String[] all = Arrays.copyOf(some, some.length + more.length);
        System.arraycopy(more, 0, all, some.length, more.length);
        return all;
    }
}
