package io.tokenstair.gpu;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * One line of {@code doctor}.
 *
 * @param name what was looked for
 * @param status whether it is there
 * @param found what was found, in words
 * @param advice what to do; absent where there is nothing to do
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Check(
        String name, Status status, String found, @Nullable String advice) {

    /** Whether what was looked for is there. */
    public enum Status {
        /** There, and good enough. */
        @JsonProperty("ok")
        OK,
        /** Not there, or too little, and something does not work without it. */
        @JsonProperty("missing")
        MISSING,
        /** Not there, and everything works without it. */
        @JsonProperty("optional")
        OPTIONAL
    }

    /** It is there, and good enough. */
    public static Check ok(String name, String found) {
        return new Check(name, Status.OK, found, null);
    }

    /** Something does not work without it. */
    public static Check missing(String name, String found, String advice) {
        return new Check(name, Status.MISSING, found, advice);
    }

    /** Everything works without it. */
    public static Check optional(String name, String found, @Nullable String advice) {
        return new Check(name, Status.OPTIONAL, found, advice);
    }
}
