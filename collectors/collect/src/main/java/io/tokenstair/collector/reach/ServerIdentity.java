package io.tokenstair.collector.reach;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who answers at an address of HTTP. Asks only for what changes nothing: the list of models, versions, properties. Never
 * {@code /metrics}: TensorRT-LLM's is emptied by reading it.
 */
final class ServerIdentity {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_MODELS = 100;

    private ServerIdentity() {}

    /** The server; null where none of the questions was answered in HTTP. */
    static @Nullable FoundServer of(HttpPeer peer, URI base) {
        List<HttpPeer.@Nullable Answer> answers =
                peer.all(base, List.of("/v1/models", "/version", "/v2", "/props", "/info", "/api/version"));
        HttpPeer.Answer first = null;
        for (HttpPeer.Answer answer : answers) {
            first = first == null || (answer != null && first.status() >= 400 && answer.status() < 400)
                    ? answer
                    : first;
        }
        if (first == null) {
            return null;
        }
        JsonNode models = json(answers.get(0));
        JsonNode version = json(answers.get(1));
        JsonNode triton = json(answers.get(2));
        JsonNode props = json(answers.get(3));
        JsonNode info = json(answers.get(4));
        JsonNode ollama = json(answers.get(5));
        List<String> names = names(models);
        Engine owner = owner(models);
        int status = first.status();
        if ("triton".equals(text(triton, "name"))) {
            return new FoundServer(base, Engine.TRITON, text(triton, "version"), names, status);
        }
        if (owner == Engine.LLAMA_CPP || first.server().equals("llama.cpp") || text(props, "build_info") != null) {
            return new FoundServer(base, Engine.LLAMA_CPP, text(props, "build_info"), names, status);
        }
        if (owner == Engine.SGLANG) {
            return new FoundServer(base, Engine.SGLANG, sglangVersion(peer, base), names, status);
        }
        if (owner == Engine.DYNAMO) {
            return new FoundServer(base, Engine.DYNAMO, null, names, status);
        }
        if (text(info, "docker_label") != null || text(info, "model_device_type") != null) {
            return new FoundServer(base, Engine.TGI, text(info, "version"), names, status);
        }
        if (text(version, "version") != null && (owner == Engine.VLLM || owner == Engine.TRTLLM)) {
            return new FoundServer(base, owner, text(version, "version"), names, status);
        }
        if (text(ollama, "version") != null) {
            return new FoundServer(base, Engine.OLLAMA, text(ollama, "version"), names, status);
        }
        return new FoundServer(base, owner == null ? Engine.OTHER : owner, text(version, "version"), names, status);
    }

    private static @Nullable String sglangVersion(HttpPeer peer, URI base) {
        for (HttpPeer.Answer answer : peer.all(base, List.of("/server_info", "/get_server_info"))) {
            String version = text(json(answer), "version");
            if (version != null) {
                return version;
            }
        }
        return null;
    }

    private static @Nullable JsonNode json(HttpPeer.@Nullable Answer answer) {
        if (answer == null || answer.status() != 200) {
            return null;
        }
        try {
            return JSON.readTree(answer.body());
        } catch (IOException noJson) {
            return null;
        }
    }

    private static @Nullable String text(@Nullable JsonNode node, String name) {
        JsonNode value = node == null ? null : node.get(name);
        return value == null || !value.isTextual() || value.asText().isBlank() ? null : value.asText();
    }

    private static @Nullable Engine owner(@Nullable JsonNode models) {
        if (models != null) {
            for (JsonNode model : models.path("data")) {
                Engine owner = Engine.ofModelOwner(model.path("owned_by").asText());
                if (owner != null) {
                    return owner;
                }
            }
        }
        return null;
    }

    private static List<String> names(@Nullable JsonNode models) {
        List<String> names = new ArrayList<>();
        if (models != null) {
            for (JsonNode model : models.path("data")) {
                String id = text(model, "id");
                if (id != null && names.size() < MOST_MODELS) {
                    names.add(id);
                }
            }
        }
        return names;
    }
}
