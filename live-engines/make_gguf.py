"""Writes a tiny llama.cpp model of random weights: make_gguf.py FILE. Its text means nothing."""
import sys

import gguf
import numpy

LAYERS, WIDTH, HEADS, INNER, VOCABULARY, CONTEXT = 4, 256, 4, 512, 2048, 4096
random = numpy.random.default_rng(7)
writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_name("tiny")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(WIDTH)
writer.add_block_count(LAYERS)
writer.add_feed_forward_length(INNER)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_rope_freq_base(10000.0)
writer.add_vocab_size(VOCABULARY)

# Control tokens, then ASCII as byte tokens, then words: whatever is generated is valid UTF-8.
words = ["\u2581"] + [f"\u2581w{i}" for i in range(VOCABULARY - 3 - 128 - 1)]
writer.add_tokenizer_model("llama")
writer.add_token_list(["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(128)] + words)
writer.add_token_scores([0.0] * (3 + 128) + [-float(i) for i in range(len(words))])
writer.add_token_types([gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
                       + [gguf.TokenType.BYTE] * 128 + [gguf.TokenType.NORMAL] * len(words))
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_add_bos_token(True)


def weights(name, *shape):
    writer.add_tensor(name, random.normal(0, 0.02, shape).astype(numpy.float32))


weights("token_embd.weight", VOCABULARY, WIDTH)
weights("output.weight", VOCABULARY, WIDTH)
writer.add_tensor("output_norm.weight", numpy.ones(WIDTH, numpy.float32))
for layer in range(LAYERS):
    for norm in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.{layer}.{norm}.weight", numpy.ones(WIDTH, numpy.float32))
    for square in ("attn_q", "attn_k", "attn_v", "attn_output"):
        weights(f"blk.{layer}.{square}.weight", WIDTH, WIDTH)
    weights(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
    weights(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
    weights(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
