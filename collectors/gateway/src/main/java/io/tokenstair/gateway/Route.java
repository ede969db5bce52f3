package io.tokenstair.gateway;

import java.util.regex.Pattern;

/** Which requests generate tokens and are therefore recorded. All others pass all the same, unrecorded. */
final class Route {
    private static final int MAX_CHARACTERS = 256;
    private static final Pattern GENERATES =
            Pattern.compile("(/[^/]{1,64})?/(v1/)?(completions|chat/completions|responses|messages)"
                    + "|/(v1/)?completion|/infill|/generate|/generate_stream|/inference/v1/generate"
                    + "|/v2/models/[^/]{1,128}(/versions/\\d{1,9})?/(generate|generate_stream|infer)");
    private static final Pattern GENERATES_BY_GRPC =
            Pattern.compile("/[\\w.]{1,128}/(ModelStreamInfer|ModelInfer|Generate\\w{0,32})");

    private Route() {}

    /** True for a request that makes an engine generate. */
    static boolean isRecorded(String method, String path, boolean grpc) {
        if (!method.equals("POST") || path.length() > MAX_CHARACTERS) {
            return false;
        }
        return (grpc ? GENERATES_BY_GRPC : GENERATES).matcher(path).matches();
    }
}
