package io.tokenstair.collector.reach;

import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A server of HTTP, as far as it says who it is.
 *
 * @param base its address
 * @param engine which engine it seems to be
 * @param version its version as it says; absent where it does not
 * @param models names of the models it serves, at most a few
 * @param status of the answer that said most, an HTTP status
 */
public record FoundServer(URI base, Engine engine, @Nullable String version, List<String> models, int status) {
    private static final int MOST_CHARACTERS = 60;

    /** It in words. */
    public String inWords() {
        StringBuilder text = new StringBuilder(engine.title());
        if (version != null) {
            text.append(' ').append(shown(version));
        }
        if (!models.isEmpty()) {
            text.append(", model ").append(shown(models.get(0)));
            if (models.size() > 1) {
                text.append(" and ").append(models.size() - 1).append(" more");
            }
        }
        if (engine == Engine.OTHER) {
            text.append(" (HTTP ").append(status).append(')');
        }
        return text.toString();
    }

    /** A text of a server as it may be shown: no control characters, not too long. */
    static String shown(String text) {
        StringBuilder clean = new StringBuilder();
        text.codePoints()
                .limit(MOST_CHARACTERS)
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? '?' : c)
                .forEach(clean::appendCodePoint);
        return text.codePointCount(0, text.length()) > MOST_CHARACTERS ? clean + "..." : clean.toString();
    }
}
