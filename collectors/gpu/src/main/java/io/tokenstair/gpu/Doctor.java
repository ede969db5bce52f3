package io.tokenstair.gpu;

import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** Looks at the machine: what is there, what is not, and what to do about it. */
public final class Doctor {

    private static final long GIBIBYTE = 1L << 30;
    private static final long WANTED_MEMORY_BYTES = 4 * GIBIBYTE;
    private static final long WANTED_DISK_BYTES = 3 * GIBIBYTE;
    private static final int WANTED_CORES = 2;
    private static final int WANTED_JAVA = 17;
    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)(?:\\.(\\d+))?");
    private static final List<String> BROWSERS =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");

    /** Python's own words on whether it can make an environment, in one line. */
    private static final String PYTHON_QUESTION = "import sys, importlib.util as u;"
            + "print('%d.%d.%d' % sys.version_info[:3], 'venv' if u.find_spec('venv') and u.find_spec('ensurepip') else 'bare')";

    private final Path folder;
    private final GpuState gpu;

    /**
     * A doctor for one machine.
     *
     * @param folder where archives will lie: its disk is looked at
     * @param gpu what the driver answered
     */
    public Doctor(Path folder, GpuState gpu) {
        this.folder = folder;
        this.gpu = gpu;
    }

    /** Every check, in the order they are printed. */
    public List<Check> checks() {
        return List.of(java(), maven(), python(), cores(), memory(), disk(), gpuCheck(gpu), browser(), docker());
    }

    private static Check java() {
        String found = System.getProperty("java.version") + " (" + System.getProperty("java.vendor") + ")";
        if (Runtime.version().feature() < WANTED_JAVA) {
            return Check.missing("Java", found, "install a JDK 17 or newer (Debian, Ubuntu: openjdk-17-jdk)");
        }
        if (ToolProvider.getSystemJavaCompiler() == null) {
            return Check.missing("Java", found + ", without its compiler", "install the JDK (Debian: openjdk-17-jdk)");
        }
        return Check.ok("Java", found);
    }

    private static Check maven() {
        String advice = "install Maven 3.8.7 or newer (Debian, Ubuntu: maven)";
        if (!(CommandProbe.of(List.of("mvn", "--version")).run() instanceof CommandProbe.Ended ended)
                || ended.exitCode() != 0) {
            return Check.missing("Maven", "not found", advice);
        }
        Matcher version = VERSION.matcher(ended.output());
        if (!version.find()) {
            return Check.missing("Maven", "no version told", advice);
        }
        return atLeast(version, 3, 8, 7)
                ? Check.ok("Maven", version.group())
                : Check.missing("Maven", version.group(), advice);
    }

    private static Check python() {
        String advice = "install Python 3.11 or newer with venv (Debian, Ubuntu: python3-venv): the notebooks need it";
        if (!(CommandProbe.of(List.of("python3", "-c", PYTHON_QUESTION)).run() instanceof CommandProbe.Ended ended)
                || ended.exitCode() != 0) {
            return Check.missing("Python 3", "not found", advice);
        }
        Matcher version = VERSION.matcher(ended.output());
        if (!version.find()) {
            return Check.missing("Python 3", "no version told", advice);
        }
        if (!atLeast(version, 3, 11, 0)) {
            return Check.missing("Python 3", version.group(), advice);
        }
        return ended.output().contains("venv")
                ? Check.ok("Python 3", version.group())
                : Check.missing("Python 3", version.group() + ", without venv", advice);
    }

    private static boolean atLeast(Matcher version, int major, int minor, int patch) {
        int[] wanted = {major, minor, patch};
        for (int i = 0; i < wanted.length; i++) {
            String group = Objects.requireNonNullElse(version.group(i + 1), "0");
            int difference = Integer.compare(Integer.parseInt(group), wanted[i]);
            if (difference != 0) {
                return difference > 0;
            }
        }
        return true;
    }

    private static Check cores() {
        int cores = Runtime.getRuntime().availableProcessors();
        return cores >= WANTED_CORES
                ? Check.ok("Cores", Integer.toString(cores))
                : Check.missing("Cores", Integer.toString(cores), "expect a slow demo: 2 or more are better");
    }

    private static Check memory() {
        if (!(ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system)) {
            return Check.optional("Memory", "this Java does not tell", null);
        }
        String found = gibibytes(system.getTotalMemorySize());
        return system.getTotalMemorySize() >= WANTED_MEMORY_BYTES
                ? Check.ok("Memory", found)
                : Check.missing("Memory", found, "4 GiB or more are needed for the build and the demo");
    }

    private Check disk() {
        try {
            long free = Files.getFileStore(folder).getUsableSpace();
            String found = gibibytes(free) + " free";
            return free >= WANTED_DISK_BYTES
                    ? Check.ok("Disk", found)
                    : Check.missing("Disk", found, "3 GiB or more are needed for libraries, build and archive");
        } catch (IOException e) {
            return Check.missing("Disk", "cannot be read: " + e.getMessage(), "check the folder " + folder);
        }
    }

    static Check gpuCheck(GpuState gpu) {
        if (gpu instanceof GpuState.Present present) {
            StringBuilder found = new StringBuilder();
            for (GpuState.Device device : present.devices()) {
                found.append(found.length() == 0 ? "" : "; ")
                        .append(device.name())
                        .append(", ")
                        .append(gibibytes(device.memoryBytes()))
                        .append(", compute ")
                        .append(device.computeCapability());
            }
            return Check.ok("GPU", found + " (" + inWords(present.driver()) + ")");
        }
        if (gpu instanceof GpuState.NoDevice noDevice) {
            return Check.optional(
                    "GPU",
                    "a driver (" + inWords(noDevice.driver()) + ") that sees no device",
                    "if the machine has one: check nvidia-smi, and CUDA_VISIBLE_DEVICES or the container's devices");
        }
        if (gpu instanceof GpuState.Unusable unusable) {
            return Check.optional(
                    "GPU",
                    "unusable: " + unusable.why(),
                    "check nvidia-smi; after a driver update the machine must start anew");
        }
        return Check.optional("GPU", "no CUDA driver", "nothing to do: recorded runs need none");
    }

    private static String inWords(GpuState.Driver driver) {
        return driver.kernelModuleVersion() == null
                ? "CUDA " + driver.cudaVersion()
                : "driver " + driver.kernelModuleVersion() + ", CUDA " + driver.cudaVersion();
    }

    private static Check browser() {
        for (String name : BROWSERS) {
            if (onPath(name).isPresent()) {
                return Check.ok("Browser", name);
            }
        }
        return Check.optional(
                "Browser",
                "no Chromium found",
                "to look at the page here: any browser; for the page's tests: install chromium, or they fetch their own");
    }

    private static Optional<Path> onPath(String program) {
        String path = Objects.requireNonNullElse(System.getenv("PATH"), "");
        return Stream.of(path.split(File.pathSeparator, -1))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static Check docker() {
        return Check.ok("Docker", "not needed");
    }

    private static String gibibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f GiB", bytes / (double) GIBIBYTE);
    }
}
