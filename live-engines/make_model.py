"""Writes a tiny model without weights, Llama layout, for --load-format dummy: make_model.py FOLDER. Its text means nothing."""
import json
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
(folder / "config.json").write_text(json.dumps({
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 4096, "hidden_size": 512, "intermediate_size": 1536,
    "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 8, "max_position_embeddings": 16384,
    "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "rope_theta": 10000.0,
    "tie_word_embeddings": False, "torch_dtype": "bfloat16"}, indent=1))
tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
words = (" ".join(f"w{i * j % 9973}" for j in range(200)) for i in range(200))
tokenizer.train_from_iterator(words, trainers.BpeTrainer(
    vocab_size=4096, special_tokens=["<unk>", "<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
missing = 4096 - tokenizer.get_vocab_size()
tokenizer.add_tokens([f"filler{i}" for i in range(missing)])
tokenizer.save(str(folder / "tokenizer.json"))
(folder / "tokenizer_config.json").write_text(json.dumps({
    "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}, indent=1))
