"""The artefact on disk: the files of a Hugging Face model folder plus their checksums."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

MODEL_DIR = Path(__file__).parent / "model"
CHECKSUMS = "SHA256SUMS"
MAX_BYTES = 4 * 1024 * 1024


def new_model(vocabulary_size: int, eos_id: int, padding_id: int) -> "Qwen2ForCausalLM":
    """Return an untrained model in float32; seed torch first."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        vocab_size=vocabulary_size,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=eos_id,
        pad_token_id=padding_id,
        tie_word_embeddings=True,
    )
    return Qwen2ForCausalLM(config)


def save(model: "Qwen2ForCausalLM", tokenizer: "PreTrainedTokenizerFast", folder: Path) -> None:
    """Write a bfloat16 copy of the model, its tokenizer and the checksums; `model` itself stays as it is."""
    import torch
    from transformers import GenerationConfig, Qwen2ForCausalLM

    rounded = Qwen2ForCausalLM(model.config)
    rounded.load_state_dict(model.state_dict())
    rounded.to(torch.bfloat16)
    rounded.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    rounded.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for path in folder.iterdir():
        path.chmod(0o644)
    (folder / CHECKSUMS).write_text(checksums(folder))


def load(folder: Path) -> tuple["Qwen2ForCausalLM", "PreTrainedTokenizerFast"]:
    """Read a checkpoint for evaluation or further training: float32 arithmetic on the stored weights."""
    import torch
    from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

    model = Qwen2ForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    for how_it_was_loaded in ("is_local", "local_files_only"):
        tokenizer.init_kwargs.pop(how_it_was_loaded, None)
    return model, tokenizer


def checksums(folder: Path) -> str:
    """Return one `sha256  name` line per file, in the format of `sha256sum`."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != CHECKSUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
