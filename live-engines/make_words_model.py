"""Writes what a server needs of a model that it only pretends to run: make_words_model.py FOLDER. 6000 words, no weights, no packages."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
(folder / "config.json").write_text(json.dumps({
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 6000, "hidden_size": 64, "intermediate_size": 128,
    "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2}, indent=1))
special = ["<unk>", "<s>", "</s>"]
(folder / "tokenizer.json").write_text(json.dumps({
    "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None, "decoder": None,
    "added_tokens": [{"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                      "special": True} for i, token in enumerate(special)],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordLevel", "unk_token": "<unk>",
              "vocab": {token: i for i, token in enumerate(special + [f"w{i}" for i in range(5997)])}}}))
(folder / "tokenizer_config.json").write_text(json.dumps({
    "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
    "chat_template": "{% for message in messages %}{{ message['content'] }} {% endfor %}"}, indent=1))
