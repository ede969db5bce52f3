package io.tokenstair.collector;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the value of an option may be. */
enum OptionKind {
    /** Any text. */
    TEXT("TEXT"),
    /** A whole number from 0. */
    COUNT("N"),
    /** A size: a whole number of bytes, or with KiB, MiB, GiB. */
    BYTES("BYTES"),
    /** A time: a whole number with ms, s, m or h. */
    DURATION("TIME"),
    /** true or false. */
    FLAG("true|false"),
    /** host:port; an IPv6 host in brackets. */
    ADDRESS("HOST:PORT"),
    /** http://host:port or https://host:port. */
    URL("URL"),
    /** Pages: http or https addresses with their path, with commas. */
    PAGES("URL,..."),
    /** Sockets of ZeroMQ, with commas. */
    SOCKETS("tcp://HOST:PORT,..."),
    /** A socket of ZeroMQ to listen at; {@code *} for all of this machine's addresses. */
    LISTENING_SOCKET("tcp://HOST:PORT"),
    /** A file or folder. */
    PATH("PATH"),
    /** Where a secret lies, never the secret itself: env:NAME or file:PATH. */
    SECRET("env:NAME|file:PATH"),
    /** One of a few words. */
    CHOICE("WORD");

    private static final Set<String> ALL_HOSTS = Set.of("*", "0.0.0.0", "::");
    private static final Pattern SIZE = Pattern.compile("(\\d{1,15})\\s?(B|KiB|MiB|GiB)?");
    private static final Pattern TIME = Pattern.compile("(\\d{1,12})\\s?(ms|s|m|h)");
    private static final Pattern HOST_AND_PORT =
            Pattern.compile("(\\[[0-9a-fA-F:.%]{2,60}]|[^\\s:\\[\\]/]{1,253}):(\\d{1,5})");
    private static final Pattern SECRET_PLACE =
            Pattern.compile("env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:[^\\x00]{1,4096}");
    private static final Pattern SOCKET =
            Pattern.compile("(tcp://(\\[[0-9a-fA-F:.%]{2,60}]|[^\\s:\\[\\]/,*]{1,253}):\\d{1,5}|ipc://[^\\s,]{1,100})");
    private static final Map<String, Long> UNIT_BYTES =
            Map.of("B", 1L, "KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30);
    private static final Map<String, Long> UNIT_MILLIS = Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L);

    private final String label;

    OptionKind(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }

    /** What is wrong with a value; null where nothing is. */
    @Nullable
    String problem(String text) {
        return switch (this) {
            case TEXT, CHOICE -> text.isEmpty() ? "empty" : null;
            case SECRET ->
                SECRET_PLACE.matcher(text).matches() ? null : "give env:NAME or file:PATH, not the secret itself";
            case PATH -> text.isEmpty() || text.indexOf('\0') >= 0 ? "no path" : null;
            case COUNT -> text.matches("\\d{1,9}") ? null : "not a whole number from 0 to 999999999";
            case BYTES -> SIZE.matcher(text).matches() ? null : "not a size, such as 65536 or 64KiB";
            case DURATION -> TIME.matcher(text).matches() ? null : "not a time with its unit, such as 500ms, 10s or 5m";
            case FLAG -> text.equals("true") || text.equals("false") ? null : "neither true nor false";
            case ADDRESS -> {
                Matcher address = HOST_AND_PORT.matcher(text);
                yield address.matches() && Integer.parseInt(address.group(2)) <= 65_535
                        ? null
                        : "not an address, such as 127.0.0.1:8100";
            }
            case PAGES ->
                allOf(text, OptionKind::isPage) ? null : "not an address, such as http://127.0.0.1:8000/metrics";
            case SOCKETS -> allOf(text, OptionKind::isSocket) ? null : "not an address, such as tcp://127.0.0.1:5557";
            case LISTENING_SOCKET ->
                isSocket(text.replace("//*:", "//all:")) ? null : "not an address, such as tcp://127.0.0.1:5559";
            case URL -> isUrl(text) ? null : "not an address, such as http://127.0.0.1:8000";
        };
    }

    /** Whether the collector listens at such an address, rather than asking there. */
    boolean listens() {
        return this == ADDRESS || this == LISTENING_SOCKET;
    }

    /**
     * Whether two things that listen get into each other's way: the same port of the same host, or of all hosts. Names of hosts are not
     * looked up, but for localhost. Port 0 is any free one, and never in the way.
     */
    static boolean collide(String oneAddress, String otherAddress) {
        if (oneAddress.startsWith("ipc:") || otherAddress.startsWith("ipc:")) {
            return oneAddress.equals(otherAddress);
        }
        String one = listeningHost(oneAddress);
        String other = listeningHost(otherAddress);
        int port = port(oneAddress);
        return port == port(otherAddress)
                && port != 0
                && (one.equals(other) || ALL_HOSTS.contains(one) || ALL_HOSTS.contains(other));
    }

    private static String listeningHost(String address) {
        String host = host(address.startsWith("tcp://") ? address.substring(6) : address)
                .toLowerCase(Locale.ROOT);
        return host.equals("localhost") ? "127.0.0.1" : host;
    }

    private static boolean allOf(String texts, Predicate<String> right) {
        for (String text : texts.strip().split("\\s*,\\s*", -1)) {
            if (!right.test(text)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isSocket(String text) {
        return SOCKET.matcher(text).matches() && (text.startsWith("ipc:") || port(text) <= 65_535);
    }

    private static boolean isPage(String text) {
        try {
            URI uri = new URI(text);
            return ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
                    && uri.getHost() != null
                    && uri.getRawUserInfo() == null
                    && uri.getRawFragment() == null;
        } catch (URISyntaxException noUrl) {
            return false;
        }
    }

    private static boolean isUrl(String text) {
        try {
            URI uri = new URI(text);
            String path = uri.getRawPath();
            return ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
                    && uri.getHost() != null
                    && uri.getRawUserInfo() == null
                    && uri.getRawQuery() == null
                    && uri.getRawFragment() == null
                    && (path == null || path.isEmpty() || path.equals("/"));
        } catch (URISyntaxException noUrl) {
            return false;
        }
    }

    static long bytes(String text) {
        Matcher size = SIZE.matcher(text);
        if (!size.matches()) {
            throw new IllegalArgumentException("Cannot read a size: " + text);
        }
        String unit = size.group(2);
        return Math.multiplyExact(Long.parseLong(size.group(1)), unit == null ? 1L : UNIT_BYTES.getOrDefault(unit, 1L));
    }

    static Duration duration(String text) {
        Matcher time = TIME.matcher(text);
        if (!time.matches()) {
            throw new IllegalArgumentException("Cannot read a time: " + text);
        }
        return Duration.ofMillis(
                Math.multiplyExact(Long.parseLong(time.group(1)), UNIT_MILLIS.getOrDefault(time.group(2), 1L)));
    }

    static String host(String address) {
        String host = address.substring(0, address.lastIndexOf(':'));
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    static int port(String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }
}
