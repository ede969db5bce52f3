package io.tokenstair.job.evidence;

import io.tokenstair.event.KernelRan;
import io.tokenstair.job.window.SortedWindow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Kernel records of an engine that wait for their step, and what each kernel usually takes. A kernel is its name, grid, shared memory
 * and graph: the same kernel at the same shape; of a shape that is new it is taken from the kernel's other grids. Bounded by {@value #WAITING} waiting records and {@value #KERNELS} kernels; what
 * exceeds that is not looked at, and counted.
 */
public class KernelRecords {
    static final int WAITING = 65_536;
    static final int KERNELS = 512;
    static final int USUAL = 128;

    /** Steps with a kernel after which it is known what it usually takes. */
    static final int KNOWN = 8;

    /** A kernel within this factor of its usual time is as fast as ever. */
    static final double LONGER = 1.1;

    /** The same where its usual time is not known, only that of smaller and larger grids. */
    static final double LONGER_BETWEEN = 1.2;

    /** What is longer becomes usual when it lasted so many times as long as what was usual, */
    static final int BELIEVED_TIMES = 4;

    /** and this many steps in any case. */
    static final int BELIEVED_STEPS = 4_096;

    private static final int BEYOND_GRIDS = 2;
    private static final int EVICTED = 128;

    /** Kernels that scale alike lie within this share of their common factor. */
    static final double ALIKE = 0.15;

    /** The share of kernel time that must scale alike. */
    static final double ALIKE_SHARE = 0.8;

    /** A clock lower by less than this factor slows nothing. */
    static final double LOWER_CLOCK = 1.05;

    /** Classes whose variants are compared; what else runs changes with every version of an engine. */
    private static final List<String> VARIANT_CLASSES = List.of("attention", "gemm");

    private static final long ABSENT = Long.MIN_VALUE;

    /** One kernel at one shape. */
    public static class Kernel {
        public String name = "";
        /** gemm, attention, collective, copy or other. */
        public String kernelClass = "";
        /** Nanoseconds of one launch, a value per step. */
        public SortedWindow usualNanos = new SortedWindow(USUAL);
        /** Resident tokens of those steps: attention takes longer with them. */
        public SortedWindow usualResident = new SortedWindow(USUAL);
        /** Name, grid, shared memory and graph; the first and third of them are its family. */
        public String key = "";

        public String family = "";
        /** Blocks launched; -1 where that is not recorded. */
        public long grid = -1;
        /** Steps that it was learnt from, at most as many as matter, and those in a row that were longer. */
        public int learntSteps;

        public int longerRun;
        /** When it last ran, by {@link KernelRecords#steps}. */
        public long lastStep;

        /** For Flink's serializer. */
        public Kernel() {}
    }

    public Map<String, Integer> numberOf = new HashMap<>();
    public List<Kernel> kernels = new ArrayList<>();
    public List<String> deviceIds = new ArrayList<>();
    public List<String> clockIds = new ArrayList<>();
    public List<String> origins = new ArrayList<>();

    // Waiting records, in columns.
    public int[] kernel = new int[0];
    public int[] device = new int[0];
    public int[] clock = new int[0];
    public int[] origin = new int[0];
    public int[] launches = new int[0];
    public long[] stepId = new long[0];
    public long[] startNanos = new long[0];
    public long[] durationNanos = new long[0];
    /** From launch to start; absent where no launch is recorded, or one after the start. */
    public long[] launchWaitNanos = new long[0];

    public long[] sequence = new long[0];
    public int count;

    public SortedWindow idleWindow = new SortedWindow(400);
    /** The longest wait from launch to start, a value per step that has one. */
    public SortedWindow launchWaitWindow = new SortedWindow(400);

    public KernelVariants variants = new KernelVariants();
    public long droppedRecords;
    /** Steps that had kernels. */
    public long steps;
    /** Places in {@link #kernels} that hold none. */
    public List<Integer> free = new ArrayList<>();

    /** For Flink's serializer. */
    public KernelRecords() {}

    /** The class of a kernel by its name, where its record does not say. */
    static String classOf(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (containsAny(lower, "nccl", "allreduce", "all_reduce", "allgather", "all_gather", "reducescatter", "rccl")) {
            return "collective";
        }
        if (containsAny(lower, "flash", "attn", "attention", "mla_")) {
            return "attention";
        }
        if (containsAny(lower, "gemm", "cutlass", "matmul", "gemv", "cublas")) {
            return "gemm";
        }
        return containsAny(lower, "memcpy", "memset") ? "copy" : "other";
    }

    private static boolean containsAny(String text, String... words) {
        for (String word : words) {
            if (text.contains(word)) {
                return true;
            }
        }
        return false;
    }

    /** Takes a record. */
    void accept(KernelRan ran, String clockId, String originOfEvent, long sequenceOfEvent) {
        int number = number(ran);
        int deviceNumber = index(deviceIds, ran.deviceId() == null ? "" : ran.deviceId());
        int clockNumber = index(clockIds, clockId);
        int originNumber = index(origins, originOfEvent);
        if (number < 0 || deviceNumber < 0 || clockNumber < 0 || originNumber < 0 || count == WAITING) {
            droppedRecords++;
            return;
        }
        if (count == kernel.length) {
            grow(Math.max(64, 2 * count));
        } else if (launchWaitNanos.length < kernel.length) {
            // State of a build that did not have them.
            launchWaitNanos = Arrays.copyOf(launchWaitNanos, kernel.length);
            Arrays.fill(launchWaitNanos, 0, count, ABSENT);
        }
        kernel[count] = number;
        device[count] = deviceNumber;
        clock[count] = clockNumber;
        origin[count] = originNumber;
        launches[count] = ran.launchCount() == null ? 1 : Math.max(1, ran.launchCount());
        stepId[count] = ran.stepId() == null ? ABSENT : ran.stepId();
        startNanos[count] = ran.startNanos();
        durationNanos[count] = ran.durationNanos();
        launchWaitNanos[count] = launchWait(ran);
        sequence[count] = sequenceOfEvent;
        count++;
    }

    private static long launchWait(KernelRan ran) {
        Long launched = ran.launchNanos();
        return launched == null || launched > ran.startNanos() ? ABSENT : ran.startNanos() - launched;
    }

    private int number(KernelRan ran) {
        String key = ran.kernelName()
                + '\u001f'
                + ran.gridCount()
                + '\u001f'
                + ran.sharedMemoryBytes()
                + '\u001f'
                + ran.graphId();
        Integer known = numberOf.get(key);
        if (known != null) {
            return known;
        }
        if (kernels.size() == KERNELS && free.isEmpty()) {
            evict();
            if (free.isEmpty()) {
                return -1;
            }
        }
        Kernel made = new Kernel();
        made.name = ran.kernelName();
        made.key = key;
        made.family = ran.kernelName() + '\u001f' + ran.sharedMemoryBytes();
        made.grid = ran.gridCount() == null ? -1 : ran.gridCount();
        made.lastStep = steps;
        made.kernelClass = ran.kernelClass() == null ? classOf(ran.kernelName()) : ran.kernelClass();
        if (ran.graphId() != null && ran.gridCount() == null && made.kernelClass.equals("other")) {
            // A whole graph in one record, which has no grid of its own: there is attention in it.
            made.kernelClass = "attention";
        }
        int number = kernels.size();
        if (free.isEmpty()) {
            kernels.add(made);
        } else {
            number = free.remove(free.size() - 1);
            kernels.set(number, made);
        }
        numberOf.put(key, number);
        return number;
    }

    /** Forgets the kernels that ran longest ago, a few at once: each size of a prompt may be a grid of its own. */
    private void evict() {
        boolean[] waiting = new boolean[kernels.size()];
        for (int i = 0; i < count; i++) {
            waiting[kernel[i]] = true;
        }
        List<Integer> oldest = new ArrayList<>();
        for (int i = 0; i < kernels.size(); i++) {
            if (!waiting[i]) {
                oldest.add(i);
            }
        }
        oldest.sort(Comparator.<Integer>comparingLong(i -> kernels.get(i).lastStep)
                .thenComparing(Comparator.naturalOrder()));
        for (int number : oldest.subList(0, Math.min(EVICTED, oldest.size()))) {
            numberOf.remove(kernels.get(number).key);
            kernels.set(number, new Kernel());
            free.add(number);
        }
    }

    private static int index(List<String> known, String text) {
        int found = known.indexOf(text);
        if (found < 0 && known.size() < 256) {
            known.add(text);
            return known.size() - 1;
        }
        return found;
    }

    private void grow(int capacity) {
        kernel = Arrays.copyOf(kernel, capacity);
        device = Arrays.copyOf(device, capacity);
        clock = Arrays.copyOf(clock, capacity);
        origin = Arrays.copyOf(origin, capacity);
        launches = Arrays.copyOf(launches, capacity);
        stepId = Arrays.copyOf(stepId, capacity);
        startNanos = Arrays.copyOf(startNanos, capacity);
        durationNanos = Arrays.copyOf(durationNanos, capacity);
        int known = launchWaitNanos.length;
        launchWaitNanos = Arrays.copyOf(launchWaitNanos, capacity);
        Arrays.fill(launchWaitNanos, known, capacity, ABSENT);
        sequence = Arrays.copyOf(sequence, capacity);
    }

    /** Launches of one kernel on one device in a step. */
    private static final class Sum {
        final int kernel;
        long nanos;
        long launches;
        long longestNanos;
        String eventId = "";
        long longestWaitNanos = ABSENT;
        String waitEventId = "";

        Sum(int kernel) {
            this.kernel = kernel;
        }
    }

    /** What a device's kernels took beyond their usual time. */
    private record DeviceSum(String deviceId, long kernelNanos, long thermalNanos, long collectiveNanos, Sum longest) {}

    /**
     * Takes the records of a step out of the waiting ones, adds what they say to its evidence, and learns from them.
     *
     * @param previousNanos where the step's interval begins
     * @param endNanos where it ends
     * @param work what the step computed
     */
    void during(
            long step,
            long previousNanos,
            long endNanos,
            StepWork work,
            DeviceClocks clocks,
            ClockShift.Ways ways,
            Evidence evidence) {
        if (count == 0) {
            return;
        }
        Map<String, Map<Integer, Sum>> byDevice = take(step, previousNanos, endNanos, ways);
        if (byDevice.isEmpty()) {
            return;
        }
        long residentTokens = work.residentTokens();
        launches(byDevice, evidence);
        variants(byDevice, work, evidence);
        Map<String, Boolean> lowered = new HashMap<>();
        DeviceSum worst = null;
        DeviceSum waiting = null;
        long busiest = 0;
        for (Map.Entry<String, Map<Integer, Sum>> entry : byDevice.entrySet()) {
            DeviceClocks.Device sampled = clocks.of(entry.getKey());
            double slowdown = DeviceClocks.slowdown(sampled, endNanos, ways);
            DeviceSum sum = judge(entry.getKey(), entry.getValue(), residentTokens, slowdown);
            lowered.put(entry.getKey(), slowdown >= LOWER_CLOCK);
            evidence.clockKnown &= !Double.isNaN(slowdown) || sum.kernelNanos == 0;
            if (worst == null || sum.kernelNanos + sum.thermalNanos > worst.kernelNanos + worst.thermalNanos) {
                worst = sum;
            }
            if (waiting == null || sum.collectiveNanos > waiting.collectiveNanos) {
                waiting = sum;
            }
            long busy = 0;
            for (Sum each : entry.getValue().values()) {
                busy += each.nanos;
            }
            busiest = Math.max(busiest, busy);
        }
        steps++;
        byDevice.forEach((deviceId, sums) -> learn(sums, residentTokens, lowered.getOrDefault(deviceId, false)));
        if (worst == null || waiting == null) {
            return;
        }
        evidence.add(
                EvidenceKind.KERNEL,
                worst.kernelNanos,
                worst.longest.eventId,
                device(worst.deviceId),
                kernels.get(worst.longest.kernel).name);
        evidence.add(
                EvidenceKind.THERMAL,
                worst.thermalNanos,
                worst.longest.eventId,
                device(worst.deviceId),
                "by its kernels");
        // What another device's slow kernels explain is theirs: the rank that waited for it lost nothing more.
        evidence.add(
                EvidenceKind.COLLECTIVE,
                waiting.collectiveNanos - worst.kernelNanos - worst.thermalNanos,
                waiting.longest.eventId,
                latest(byDevice),
                kernels.get(waiting.longest.kernel).name);
        long idle = endNanos - previousNanos - busiest;
        long usualIdle = idleWindow.size() < KNOWN ? idle : idleWindow.median();
        evidence.add(EvidenceKind.DEVICE_IDLE, idle - usualIdle, worst.longest.eventId, null, "");
        idleWindow.add(idle);
    }

    /** How long the kernel waited that waited longest from its launch to its start, and what that usually is. */
    private void launches(Map<String, Map<Integer, Sum>> byDevice, Evidence evidence) {
        Sum longest = null;
        for (Map<Integer, Sum> sums : byDevice.values()) {
            for (Sum sum : sums.values()) {
                if (sum.longestWaitNanos > (longest == null ? ABSENT : longest.longestWaitNanos)) {
                    longest = sum;
                }
            }
        }
        if (longest == null) {
            return;
        }
        long usual = launchWaitWindow.size() < KNOWN ? -1 : launchWaitWindow.median();
        evidence.launched(longest.longestWaitNanos, usual, longest.waitEventId, kernels.get(longest.kernel).name);
        launchWaitWindow.add(longest.longestWaitNanos);
    }

    /** Looks for kernels that ran instead of the usual ones, on the device where they took longest. */
    private void variants(Map<String, Map<Integer, Sum>> byDevice, StepWork work, Evidence evidence) {
        for (String kernelClass : VARIANT_CLASSES) {
            List<KernelVariants.Ran> longest = List.of();
            long most = -1;
            for (Map<Integer, Sum> sums : byDevice.values()) {
                List<KernelVariants.Ran> ran = ran(sums, kernelClass);
                long nanos = 0;
                for (KernelVariants.Ran each : ran) {
                    nanos += each.nanos();
                }
                if (nanos > most) {
                    most = nanos;
                    longest = ran;
                }
            }
            boolean attention = kernelClass.equals("attention");
            KernelVariants.Change change = variants.step(
                    kernelClass + (attention ? work.attentionShape() : work.productShape()),
                    longest,
                    attention,
                    work.residentTokens());
            if (change != null) {
                evidence.add(
                        EvidenceKind.VARIANT,
                        change.longerNanos(),
                        change.eventId(),
                        change.usualName(),
                        change.name());
            }
        }
    }

    /** The kernels of a class on a device, same names together. */
    private List<KernelVariants.Ran> ran(Map<Integer, Sum> sums, String kernelClass) {
        Map<String, KernelVariants.Ran> byName = new TreeMap<>();
        for (Sum sum : sums.values()) {
            Kernel of = kernels.get(sum.kernel);
            if (of.kernelClass.equals(kernelClass)) {
                KernelVariants.Ran before = byName.get(of.name);
                byName.put(
                        of.name,
                        new KernelVariants.Ran(
                                of.name,
                                sum.nanos + (before == null ? 0 : before.nanos()),
                                before == null ? sum.eventId : before.eventId()));
            }
        }
        return List.copyOf(byName.values());
    }

    private static @Nullable String device(String deviceId) {
        return deviceId.isEmpty() ? null : deviceId;
    }

    private Map<String, Map<Integer, Sum>> take(long step, long previousNanos, long endNanos, ClockShift.Ways ways) {
        ClockShift[] shifts = new ClockShift[clockIds.size()];
        for (int i = 0; i < shifts.length; i++) {
            ClockShift shift = ways.toEngine(clockIds.get(i), endNanos);
            shifts[i] = shift == null ? ClockShift.UNKNOWN : shift;
        }
        Map<String, Map<Integer, Sum>> byDevice = new TreeMap<>();
        int kept = 0;
        for (int i = 0; i < count; i++) {
            ClockShift shift = shifts[clock[i]];
            boolean mine;
            boolean later;
            if (stepId[i] != ABSENT) {
                mine = stepId[i] == step;
                later = stepId[i] > step;
            } else {
                long start = startNanos[i] + shift.addNanos();
                boolean placed = shift != ClockShift.UNKNOWN;
                mine = placed && start >= previousNanos && start < endNanos;
                later = placed && start >= endNanos;
            }
            if (mine) {
                Sum sum = byDevice.computeIfAbsent(deviceIds.get(device[i]), absent -> new TreeMap<>())
                        .computeIfAbsent(kernel[i], Sum::new);
                sum.nanos += durationNanos[i];
                sum.launches += launches[i];
                if (durationNanos[i] > sum.longestNanos || sum.eventId.isEmpty()) {
                    sum.longestNanos = durationNanos[i];
                    sum.eventId = origins.get(origin[i]) + '/' + sequence[i];
                }
                long wait = i < launchWaitNanos.length ? launchWaitNanos[i] : ABSENT;
                if (wait > sum.longestWaitNanos) {
                    sum.longestWaitNanos = wait;
                    sum.waitEventId = origins.get(origin[i]) + '/' + sequence[i];
                }
            } else if (later) {
                keep(i, kept++);
            }
        }
        count = kept;
        return byDevice;
    }

    private void keep(int from, int to) {
        kernel[to] = kernel[from];
        device[to] = device[from];
        clock[to] = clock[from];
        origin[to] = origin[from];
        launches[to] = launches[from];
        stepId[to] = stepId[from];
        startNanos[to] = startNanos[from];
        durationNanos[to] = durationNanos[from];
        if (from < launchWaitNanos.length) {
            launchWaitNanos[to] = launchWaitNanos[from];
        }
        sequence[to] = sequence[from];
    }

    /** What a kernel usually takes; NaN while that is not known. */
    private double usualNanos(Sum sum, long residentTokens) {
        Kernel of = kernels.get(sum.kernel);
        if (of.usualNanos.size() >= KNOWN) {
            return launchNanos(of, residentTokens) * sum.launches;
        }
        return of.grid < 0 ? Double.NaN : between(of, residentTokens) * sum.launches;
    }

    private static double launchNanos(Kernel of, long residentTokens) {
        double usual = of.usualNanos.median();
        if (of.kernelClass.equals("attention")) {
            // Lenient: as if all of it grew with the context.
            usual *= Math.max(1, (double) residentTokens / Math.max(1, of.usualResident.median()));
        }
        return usual;
    }

    /**
     * On the line between the next smaller and the next larger grid of the same kernel, or beyond its two largest grids up to {@value
     * #BEYOND_GRIDS} times as many blocks; NaN where these are not known.
     */
    private double between(Kernel of, long residentTokens) {
        Kernel below = null;
        Kernel beneath = null;
        Kernel above = null;
        for (Kernel other : kernels) {
            if (other.grid < 0 || other.usualNanos.size() < KNOWN || !other.family.equals(of.family)) {
                continue;
            }
            if (other.grid <= of.grid && (below == null || other.grid > below.grid)) {
                beneath = below;
                below = other;
            } else if (below != null && other.grid < below.grid && (beneath == null || other.grid > beneath.grid)) {
                beneath = other;
            }
            if (other.grid >= of.grid && (above == null || other.grid < above.grid)) {
                above = other;
            }
        }
        if (above == null && below != null && beneath != null && of.grid <= BEYOND_GRIDS * below.grid) {
            above = below;
            below = beneath;
        }
        if (below == null || above == null) {
            return Double.NaN;
        }
        double low = launchNanos(below, residentTokens);
        double high = launchNanos(above, residentTokens);
        return above.grid == below.grid
                ? Math.max(low, high)
                : Math.max(low, low + (high - low) * (of.grid - below.grid) / (above.grid - below.grid));
    }

    private double longer(Sum sum) {
        return kernels.get(sum.kernel).usualNanos.size() >= KNOWN ? LONGER : LONGER_BETWEEN;
    }

    private DeviceSum judge(String deviceId, Map<Integer, Sum> sums, long residentTokens, double slowdown) {
        double took = 0;
        double usual = 0;
        double tookSteady = 0;
        double usualSteady = 0;
        int known = 0;
        for (Sum sum : sums.values()) {
            double of = usualNanos(sum, residentTokens);
            if (!Double.isNaN(of) && !isCollective(sum)) {
                took += sum.nanos;
                usual += of;
                known++;
                boolean steady = !kernels.get(sum.kernel).kernelClass.equals("attention");
                tookSteady += steady ? sum.nanos : 0;
                usualSteady += steady ? of : 0;
            }
        }
        // How far attention grows with its context is not known: the others say how much slower all are.
        double factor = usualSteady > 0 ? tookSteady / usualSteady : usual > 0 ? took / usual : 1;
        double alike = 0;
        double lowered = Double.isNaN(slowdown) || slowdown < LOWER_CLOCK ? 1 : slowdown;
        double longer = 0;
        double collective = 0;
        Sum longest = null;
        double mostLonger = -1;
        for (Sum sum : sums.values()) {
            double of = usualNanos(sum, residentTokens);
            if (longest == null) {
                longest = sum;
            }
            if (Double.isNaN(of) || of <= 0) {
                continue;
            }
            double beyond = sum.nanos - of * lowered;
            if (isCollective(sum)) {
                collective += sum.nanos > longer(sum) * of ? sum.nanos - of : 0;
            } else {
                longer += sum.nanos > longer(sum) * of * lowered ? beyond : 0;
                boolean scales = sum.nanos >= (1 - ALIKE) * factor * usualNanos(sum, 0)
                        && sum.nanos <= (1 + ALIKE) * factor * of;
                alike += scales ? of : 0;
            }
            if (sum.nanos - of > mostLonger) {
                mostLonger = sum.nanos - of;
                longest = sum;
            }
        }
        // A clock explains what it explains by itself: at most in proportion, and only where all kernels follow it.
        boolean follows = lowered > 1
                && known >= 2
                && alike >= ALIKE_SHARE * usual
                && factor - 1 >= 0.5 * (lowered - 1)
                && factor >= LOWER_CLOCK;
        // Of what they took, not beyond what is usual: attention may have grown with its context meanwhile.
        double thermal = follows ? took * (1 - 1 / StrictMath.min(factor, lowered)) : 0;
        return new DeviceSum(
                deviceId,
                StrictMath.round(longer),
                StrictMath.round(thermal),
                StrictMath.round(collective),
                java.util.Objects.requireNonNull(longest));
    }

    private boolean isCollective(Sum sum) {
        return kernels.get(sum.kernel).kernelClass.equals("collective");
    }

    /** The device that came last to the collectives: the others waited in them and it did not. Null when that cannot be told. */
    private @Nullable String latest(Map<String, Map<Integer, Sum>> byDevice) {
        if (byDevice.size() < 2) {
            return null;
        }
        String least = null;
        long leastNanos = Long.MAX_VALUE;
        long mostNanos = 0;
        for (Map.Entry<String, Map<Integer, Sum>> entry : byDevice.entrySet()) {
            long nanos = 0;
            for (Sum sum : entry.getValue().values()) {
                nanos += isCollective(sum) ? sum.nanos : 0;
            }
            if (nanos < leastNanos) {
                leastNanos = nanos;
                least = entry.getKey();
            }
            mostNanos = Math.max(mostNanos, nanos);
        }
        return leastNanos < mostNanos / 2 ? least : null;
    }

    /** What is longer than usual is a fault until it has lasted, and what a lowered clock makes of kernels is no usual time of theirs. */
    private void learn(Map<Integer, Sum> sums, long residentTokens, boolean clockLowered) {
        double[] usual = new double[sums.size()];
        int next = 0;
        for (Sum sum : sums.values()) {
            usual[next++] = usualNanos(sum, residentTokens);
        }
        next = 0;
        for (Sum sum : sums.values()) {
            Kernel of = kernels.get(sum.kernel);
            of.lastStep = steps;
            double limit = longer(sum) * usual[next++];
            if (sum.nanos > limit) {
                of.longerRun++;
                if (clockLowered
                        || of.longerRun < Math.min(BELIEVED_STEPS, BELIEVED_TIMES * Math.max(KNOWN, of.learntSteps))) {
                    continue;
                }
                of.usualNanos = new SortedWindow(USUAL);
                of.usualResident = new SortedWindow(USUAL);
                of.learntSteps = 0;
            } else if (clockLowered) {
                continue;
            }
            of.longerRun = Math.max(0, of.longerRun - 2);
            of.learntSteps = Math.min(of.learntSteps + 1, BELIEVED_STEPS);
            of.usualNanos.add(sum.nanos / sum.launches);
            of.usualResident.add(residentTokens);
        }
    }
}
