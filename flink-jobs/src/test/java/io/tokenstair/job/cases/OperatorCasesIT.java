package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.log.FolderLogWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every report of {@link OperatorCases}, all through one run of the job. */
class OperatorCasesIT {
    @TempDir
    static Path folder;

    private static CaseResults results = new CaseResults("", List.of(), List.of(), List.of());

    static List<OperatorCases.Case> cases() {
        return OperatorCases.all();
    }

    @BeforeAll
    static void runTheJobOverAllCases() throws Exception {
        List<LoggedEvent> events = new ArrayList<>();
        for (OperatorCases.Case each : cases()) {
            events.addAll(each.script().events);
        }
        events.sort(Comparator.comparing(LoggedEvent::header, EventHeader.ORDER));
        Path log = folder.resolve("log");
        try (FolderLogWriter writer = new FolderLogWriter(log, 0)) {
            for (LoggedEvent event : events) {
                writer.append(EventCodec.encode(event));
            }
        }
        results = CaseResults.ofLog(log, folder.resolve("results"));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theCauseIsFoundAndNoneThatMustNotBe(OperatorCases.Case each) {
        each.answer().accept(results.of(each.name()));
    }

    @Test
    void anIdOfAMegabyteIsRefusedWithAShortReason() throws Exception {
        CaseScript script = new CaseScript("c40b").received("client", "x".repeat(1 << 20), 0);
        byte[] written = EventCodec.encode(script.events.get(0));
        assertThatThrownBy(() -> EventCodec.decode(written)).message().hasSizeLessThan(1_000);
    }

    @Test
    void rulesMatchOnTheCasesThatNameTheirCause() throws Exception {
        RuleTable.check(cases().stream().map(OperatorCases.Case::name).toList(), results);
    }

    @Test
    void thePartsOfEveryGapSumToIt() {
        results.sums();
    }

    @Test
    void whatIsSaidOfAnyCaseIsToldInChineseToo() {
        results.toldInChinese();
    }
}
