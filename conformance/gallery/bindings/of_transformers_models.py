"""transformers: rotations as the models of `configs` have them, one attribute for each."""

import functools
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

CONFIGS = Path(__file__).parents[1] / "configs"
Rotation = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def made(name: str, module: str, prefix: str, layer: str = "", length: int = 0) -> Rotation:
    """Return the rotation of a model: of one type of layer, in a sequence of a length."""

    @functools.cache
    @torch.inference_mode(False)  # a model is made before it is called, in whatever mode
    def model() -> tuple[torch.nn.Module, Callable[..., Any]]:
        told = json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))
        told.pop("model_type")
        told = told.get("text_config", told)
        package = importlib.import_module(f"transformers.models.{module}")
        code = importlib.import_module(f"transformers.models.{module}.modeling_{module}")
        config = getattr(package, f"{prefix}Config")(**told)
        kind = getattr(code, f"{prefix}RotaryEmbedding", None) or getattr(
            code, f"{prefix.removesuffix('Text')}RotaryEmbedding"
        )
        woven = getattr(config, "rope_interleave", False)
        name_of_it = f"apply_rotary_pos_emb{'_interleave' * woven}"
        return kind(config), getattr(code, name_of_it)

    def rotate(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Rotate x as q is."""
        embedding, apply = model()
        asked, seq = positions, positions.shape[-1]
        if length:  # as in a batch in which another sequence is so long
            last = torch.full_like(positions[:, :1], length - 1)
            if last.numel():
                asked = torch.cat([positions, last], dim=1)
        cos, sin = embedding(x, asked, layer) if layer else embedding(x, asked)
        cos, sin = cos[:, :seq], sin[:, :seq]
        if module == "gemma4":
            turned: torch.Tensor = apply(x, cos, sin, unsqueeze_dim=1)
        else:
            turned, _ = apply(x, x, cos, sin)
        return turned

    return rotate


llama31 = made("llama31", "llama", "Llama")
qwen25_yarn = made("qwen25_yarn", "qwen2", "Qwen2")
deepseek_v3 = made("deepseek_v3", "deepseek_v3", "DeepseekV3")
phi3_longrope = made("phi3_longrope", "phi3", "Phi3")
phi3_longrope_above = made("phi3_longrope", "phi3", "Phi3", length=5000)
deepseek_v3_without = made("deepseek_v3_without", "deepseek_v3", "DeepseekV3")
qwen2_vl = made("qwen2_vl", "qwen2_vl", "Qwen2VLText")
qwen3_vl = made("qwen3_vl", "qwen3_vl", "Qwen3VLText")
llama_linear = made("llama_linear", "llama", "Llama")
llama_dynamic = made("llama_dynamic", "llama", "Llama")
llama_dynamic_above = made("llama_dynamic", "llama", "Llama", length=5000)
gemma3_full = made("gemma3", "gemma3", "Gemma3Text", "full_attention")
gemma3_sliding = made("gemma3", "gemma3", "Gemma3Text", "sliding_attention")
gemma4_full = made("gemma4", "gemma4", "Gemma4Text", "full_attention")
gemma4_sliding = made("gemma4", "gemma4", "Gemma4Text", "sliding_attention")
