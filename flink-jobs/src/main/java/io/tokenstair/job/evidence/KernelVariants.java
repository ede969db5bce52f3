package io.tokenstair.job.evidence;

import io.tokenstair.job.window.SortedWindow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which kernels of a class an engine usually runs at a shape, and whether a step ran others instead. A shape is what lets a healthy engine
 * choose another kernel: the padded batch, and whether prompts are computed. Bounded by {@value #SHAPES} shapes of a class, each with
 * {@value #NAMES} kernels; what exceeds that is not looked at.
 */
public class KernelVariants {
    static final int SHAPES = 64;
    static final int NAMES = 16;

    /** Steps of a shape after which it is known what it usually runs. */
    static final int KNOWN = 8;

    /** Steps over which it is forgotten what used to be usual. */
    private static final int MEMORY = 256;

    /** All of the steps, as a share. */
    private static final int ALL = 1 << 16;

    /** A kernel of a shape. */
    public static class Variant {
        public String name = "";
        /** Share of the shape's steps that ran it, fading, in 2^-16. */
        public int share;
        /** What it takes in a step. */
        public SortedWindow nanos = new SortedWindow(32);
        /** Resident tokens of those steps. */
        public SortedWindow resident = new SortedWindow(32);

        /** For Flink's serializer. */
        public Variant() {}
    }

    /** What one class of kernels does at one shape. */
    public static class Shape {
        public int steps;
        public List<Variant> variants = new ArrayList<>();

        /** For Flink's serializer. */
        public Shape() {}
    }

    /** A kernel as it ran in a step. */
    record Ran(String name, long nanos, String eventId) {}

    /** Other kernels than usual ran, and took longer: which, instead of which, and by how much. */
    record Change(String name, String usualName, long longerNanos, String eventId) {}

    public Map<String, Shape> shapes = new HashMap<>();

    /** For Flink's serializer. */
    public KernelVariants() {}

    /**
     * Whether a step ran other kernels of a class than its shape usually does; null when it did not, they took no longer, or what is usual
     * is not known. What it ran becomes part of what is usual.
     *
     * @param shape class and shape
     * @param ran the kernels of that class, by name
     * @param grows whether their time grows with the resident tokens
     */
    @Nullable
    Change step(String shape, List<Ran> ran, boolean grows, long residentTokens) {
        Shape of = shapes.get(shape);
        if (of == null) {
            if (shapes.size() == SHAPES || ran.isEmpty()) {
                return null;
            }
            of = new Shape();
            shapes.put(shape, of);
        }
        Change change = of.steps < KNOWN ? null : change(of, ran, grows, residentTokens);
        learn(of, ran, residentTokens);
        return change;
    }

    private static @Nullable Change change(Shape of, List<Ran> ran, boolean grows, long residentTokens) {
        long goneNanos = 0;
        long usualNanos = 0;
        long mostGone = -1;
        String gone = "";
        for (Variant variant : of.variants) {
            if (!isUsual(variant) || variant.nanos.size() == 0) {
                continue;
            }
            long usual = variant.nanos.median();
            if (grows) {
                // Lenient: as if all of it grew with the context.
                usual = StrictMath.round(
                        usual * StrictMath.max(1, (double) residentTokens / Math.max(1, variant.resident.median())));
            }
            usualNanos += usual;
            if (find(ran, variant.name) == null) {
                goneNanos += usual;
                if (usual > mostGone) {
                    mostGone = usual;
                    gone = variant.name;
                }
            }
        }
        long newNanos = 0;
        Ran longest = null;
        for (Ran each : ran) {
            Variant known = find(of, each.name);
            if (known == null || !isUsual(known)) {
                newNanos += each.nanos;
                longest = longest == null || each.nanos > longest.nanos ? each : longest;
            }
        }
        // Most of what the class does, not a helper beside it.
        boolean replaced = goneNanos > 0 && 2 * goneNanos >= usualNanos;
        return longest != null && replaced && newNanos > KernelRecords.LONGER * goneNanos
                ? new Change(longest.name, gone, newNanos - goneNanos, longest.eventId)
                : null;
    }

    /** In most of the steps: kernels that take turns are none of them usual. */
    private static boolean isUsual(Variant variant) {
        return 4L * variant.share > 3L * ALL;
    }

    private static void learn(Shape of, List<Ran> ran, long residentTokens) {
        int weight = Math.min(of.steps, MEMORY - 1) + 1;
        for (Variant variant : of.variants) {
            int now = find(ran, variant.name) == null ? 0 : ALL;
            variant.share += (now - variant.share) / weight;
        }
        for (Ran each : ran) {
            Variant variant = find(of, each.name);
            if (variant == null) {
                variant = new Variant();
                variant.name = each.name;
                variant.share = ALL / weight;
                if (of.variants.size() == NAMES) {
                    of.variants.remove(rarest(of));
                }
                of.variants.add(variant);
            }
            variant.nanos.add(each.nanos);
            variant.resident.add(residentTokens);
        }
        of.steps = weight;
    }

    private static int rarest(Shape of) {
        int rarest = 0;
        for (int i = 1; i < of.variants.size(); i++) {
            if (of.variants.get(i).share < of.variants.get(rarest).share) {
                rarest = i;
            }
        }
        return rarest;
    }

    private static @Nullable Ran find(List<Ran> ran, String name) {
        for (Ran each : ran) {
            if (each.name.equals(name)) {
                return each;
            }
        }
        return null;
    }

    private static @Nullable Variant find(Shape of, String name) {
        for (Variant variant : of.variants) {
            if (variant.name.equals(name)) {
                return variant;
            }
        }
        return null;
    }
}
