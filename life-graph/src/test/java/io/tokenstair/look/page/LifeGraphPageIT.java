package io.tokenstair.look.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.WaitForSelectorState;
import io.tokenstair.look.SampleArchive;
import io.tokenstair.look.archive.ResultArchive;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LifeGraphPageIT {
    private static final Path SCREENSHOTS = Path.of("target", "screenshots");

    @TempDir
    static Path directory;

    private static Playwright playwright;
    private static Browser browser;
    private static ResultArchive archive;
    private static PageServer server;

    private final List<String> complaints = new ArrayList<>();
    private BrowserContext context;
    private Page page;

    @BeforeAll
    static void start() {
        SampleArchive.write(directory);
        archive = ResultArchive.open(directory);
        server = PageServer.start(archive, 0);
        playwright = BrowserOnThisMachine.playwright();
        browser = BrowserOnThisMachine.start(playwright);
    }

    @AfterAll
    static void stop() {
        if (playwright != null) {
            playwright.close();
        }
        server.close();
        archive.close();
    }

    @BeforeEach
    void openTab() {
        tab(ColorScheme.LIGHT);
    }

    private void tab(ColorScheme scheme) {
        context = browser.newContext(
                new Browser.NewContextOptions().setViewportSize(1440, 1000).setColorScheme(scheme));
        page = context.newPage();
        page.onConsoleMessage(message -> {
            if (message.type().equals("error") || message.type().equals("warning")) {
                complaints.add(message.text());
            }
        });
        page.onPageError(complaints::add);
    }

    @AfterEach
    void closeTab() {
        context.close();
    }

    @Test
    void aTokensPartsSumToItsGapWhereverTheSliderStands() {
        open("#request=chat-2&seq=0&token=96");
        assertPartsSumToTheGap(96);
        screenshot("token");

        Locator slider = page.locator("#strip-slider");
        slider.focus();
        page.keyboard().press("ArrowRight");
        assertPartsSumToTheGap(97);
        page.keyboard().press("Home");
        assertPartsSumToTheGap(0);
        slider.fill("186");
        assertPartsSumToTheGap(186);
        assertThat(slider.getAttribute("aria-valuetext")).contains("token 186", "UNRESOLVED_STALL");
        page.keyboard().press("p");
        assertPartsSumToTheGap(96);
        assertThat(page.url()).endsWith("#request=chat-2&seq=0&token=96");
        assertThat(complaints).isEmpty();
    }

    @Test
    void aClickOnTheStripShowsThatToken() {
        open("#request=chat-1&seq=0&token=0&from=100&to=200");
        Locator strip = page.locator("#strip");
        // A hundred bars share the plot between its left and right margin.
        double room = strip.boundingBox().width - 60;
        strip.click(new Locator.ClickOptions().setPosition(52 + room * 50.5 / 100, 200));

        assertPartsSumToTheGap(150);
        assertThat(page.locator("#token .cause").textContent()).isEqualTo("HOST_PAUSE");
        assertThat(page.locator("#gap-parts tr[data-part=host-pause]").getAttribute("data-nanos"))
                .isEqualTo("2412000000");
        assertThat(complaints).isEmpty();
    }

    @Test
    void theWorstRequestIsShownFirstAndTheListLeadsToOthers() {
        open("");
        assertThat(page.locator("#sequence-name").textContent()).isEqualTo("chat-2");
        assertPartsSumToTheGap(96);

        page.locator("#token .token-head a").click();
        page.locator("#sequence-name")
                .filter(new Locator.FilterOptions().setHasText("chat-1"))
                .waitFor();
        assertPartsSumToTheGap(190);

        page.locator("#search").fill("cmpl-share");
        page.locator("#requests li")
                .filter(new Locator.FilterOptions().setHasText("share-5"))
                .waitFor();
        page.locator("#requests li:has-text('chat-1')")
                .waitFor(new Locator.WaitForOptions().setState(WaitForSelectorState.DETACHED));
        page.locator("#requests a").first().click();
        assertPartsSumToTheGap(0);
        assertThat(page.locator(".token-head").first().textContent()).contains("kv-miss");

        page.locator("#tab-findings").click();
        assertThat(page.locator("#findings li"))
                .satisfies(list -> assertThat(list.count()).isEqualTo(4));
        screenshot("findings");
        page.locator("#findings a").first().click();
        assertPartsSumToTheGap(96);
        assertThat(complaints).isEmpty();
    }

    @Test
    void aHostileIdIsTextAndRunsNothing() {
        open("");
        page.locator("#requests a")
                .filter(new Locator.FilterOptions().setHasText("<script>"))
                .click();
        page.locator("#sequence-name")
                .filter(new Locator.FilterOptions().setHasText("<script>alert(1)"))
                .waitFor();

        assertThat(page.locator("#sequence-name").textContent()).contains("\\u001b[31m\\u202e");
        assertThat(page.locator("main script").count()).isZero();
        assertPartsSumToTheGap(0);
        assertThat(complaints).isEmpty();
    }

    @Test
    void missingLayersAndMissingTokensAreSaid() {
        open("#request=proxy-7&seq=0&token=11");
        page.locator("#token[data-token='11']").waitFor();
        assertThat(page.locator("#token").textContent()).contains("a stamp is missing", "steps, kv-events");
        screenshot("missing-layer");

        page.navigate(server.url() + "#request=refused-1");
        page.locator("#token:has-text('without an output token')").waitFor();
        page.navigate(server.url() + "#request=nobody");
        page.locator("#message:has-text('Cannot find request: nobody')").waitFor();
    }

    @Test
    void darkIsLegibleToo() {
        context.close();
        tab(ColorScheme.DARK);
        open("#request=chat-1&seq=0&token=150&from=60&to=200");
        assertPartsSumToTheGap(150);
        page.locator("#scale").click();
        assertThat(page.locator("#scale").getAttribute("aria-pressed")).isEqualTo("false");
        screenshot("dark-linear");
        assertThat(complaints).isEmpty();
    }

    /**
     * Draws the picture of the README: of the sample, or of the archive, place and file that the properties {@code picture.archive},
     * {@code picture.place} (an address such as {@code #request=a&seq=0&token=7}) and {@code picture.file} name.
     */
    @Test
    void drawsAPictureOfAnArchive() {
        Path shown = Path.of(System.getProperty("picture.archive", directory.toString()));
        Path picture = Path.of(System.getProperty(
                "picture.file", SCREENSHOTS.resolve("life-graph.png").toString()));
        try (ResultArchive pictured = ResultArchive.open(shown);
                PageServer own = PageServer.start(pictured, 0)) {
            page.navigate(own.url() + System.getProperty("picture.place", ""));
            page.locator("html[data-ready=true] #token[data-token]").waitFor();
            page.screenshot(new Page.ScreenshotOptions().setPath(picture));
            context.close();
        }
        assertThat(picture).isNotEmptyFile();
    }

    private void open(String place) {
        page.navigate(server.url() + place);
        page.locator("html[data-ready=true]").waitFor();
    }

    private void assertPartsSumToTheGap(int token) {
        page.locator("#token[data-token='" + token + "']").waitFor();
        long gap = nanos(page.locator(".number-gap"));
        long sum = page.locator("#gap-parts tbody tr").all().stream()
                .mapToLong(LifeGraphPageIT::nanos)
                .sum();

        assertThat(sum).isEqualTo(gap).isEqualTo(nanos(page.locator("#gap-parts tfoot tr")));
    }

    private static long nanos(Locator locator) {
        return Long.parseLong(locator.getAttribute("data-nanos"));
    }

    private void screenshot(String name) {
        page.screenshot(new Page.ScreenshotOptions().setPath(SCREENSHOTS.resolve(name + ".png")));
    }
}
