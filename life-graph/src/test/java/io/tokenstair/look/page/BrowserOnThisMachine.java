package io.tokenstair.look.page;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.CLI;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.PlaywrightException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A Chromium to test with: one of the system, else one that Playwright fetches, else the package of the distribution. Prints what it
 * does, and says in one line what to install where none of that works.
 */
final class BrowserOnThisMachine {
    private static final List<String> NAMES =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome");
    private static final List<String> FOLDERS = List.of(
            "/usr/bin",
            "/usr/local/bin",
            "/snap/bin",
            "/opt/google/chrome",
            "/Applications/Google Chrome.app/Contents/MacOS");
    private static final List<String> ARGUMENTS = List.of(
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync");
    private static final int INSTALL_MINUTES = 4;

    private BrowserOnThisMachine() {}

    /** Playwright without its own look for browsers to fetch. */
    static Playwright playwright() {
        return Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    }

    /** Starts a browser, getting one first where there is none. */
    static Browser start(Playwright playwright) {
        Optional<Path> installed = installed();
        if (installed.isPresent()) {
            return launch(playwright, installed);
        }
        System.out.println("No Chromium on this machine (CHROME is not set either). Fetching one with Playwright ...");
        if (run(javaCommand("install", "chromium"))) {
            try {
                return launch(playwright, Optional.empty());
            } catch (PlaywrightException missingLibraries) {
                System.out.println("Playwright's Chromium does not start here: "
                        + missingLibraries.getMessage().lines().findFirst().orElse(""));
            }
        }
        if (Files.exists(Path.of("/etc/debian_version")) && "root".equals(System.getProperty("user.name"))) {
            System.out.println("Installing the distribution's package: apt-get install -y chromium ...");
            run(List.of("apt-get", "update", "-q"));
            run(List.of("apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"));
            installed = installed();
            if (installed.isPresent()) {
                return launch(playwright, installed);
            }
        }
        throw new AssertionError("The page was not tested: install Chromium (Debian: apt-get install -y chromium)"
                + " or set CHROME to the path of a Chromium or Chrome.");
    }

    private static Browser launch(Playwright playwright, Optional<Path> executable) {
        BrowserType.LaunchOptions options =
                new BrowserType.LaunchOptions().setChromiumSandbox(false).setArgs(ARGUMENTS);
        executable.ifPresent(options::setExecutablePath);
        return playwright.chromium().launch(options);
    }

    private static Optional<Path> installed() {
        return Stream.concat(
                        Stream.ofNullable(System.getenv("CHROME")).filter(path -> !path.isBlank()),
                        FOLDERS.stream()
                                .flatMap(folder -> Stream.concat(NAMES.stream(), Stream.of("Google Chrome"))
                                        .map(name -> folder + "/" + name)))
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static List<String> javaCommand(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                CLI.class.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static boolean run(List<String> command) {
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD);
            builder.environment().put("DEBIAN_FRONTEND", "noninteractive");
            Process process = builder.start();
            if (!process.waitFor(INSTALL_MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                return false;
            }
            return process.exitValue() == 0;
        } catch (IOException absent) {
            return false;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
