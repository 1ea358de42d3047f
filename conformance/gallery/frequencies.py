"""Hold exact frequencies beside those of transformers, configuration by configuration.

`python frequencies.py`: each is read as `ropespec check --config` reads it, and given to the model
of transformers; their frequencies may differ by what float32 may be off by, their gains by nothing.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.budget import Machine, angle_error
from ropespec.spec.config import Claimed, read
from ropespec.spec.convention import Frequencies

FOLDER = Path(__file__).parent
CONFIGURATIONS = FOLDER / "configurations.json"
TABLE = FOLDER / "frequencies.md"

HEAD = """# Exact frequencies and those of transformers {version}

Written by `frequencies.py`, of {count} configurations: how far the frequencies of a model are from
the exact ones at most, as a part of what float32 may be off by (JDG-2), and its gain.

| configuration | of | layers | length | scheme | pairs | error / allowed | gain |
|---|---|---|---|---|---|---|---|
"""


def theirs(
    one: dict[str, Any], told: dict[str, Any], length: int | None
) -> tuple[NDArray[np.float64], float]:
    """Return the frequencies and the gain of the model of a configuration."""
    module, layer = one["model"], one.get("layer")
    package = importlib.import_module(f"transformers.models.{module}")
    code = importlib.import_module(f"transformers.models.{module}.modeling_{module}")
    prefix = one["prefix"]
    told = {key: value for key, value in told.items() if key != "model_type"}
    config = getattr(package, f"{prefix}Config")(**told.get("text_config", told))
    rotary = f"{prefix}RotaryEmbedding"
    kind = getattr(code, rotary, None) or getattr(code, rotary.replace("Text", ""))
    embedding, before = kind(config), "" if layer is None else f"{layer}_"
    if length is not None:
        places = torch.arange(length)[None]
        embedding(torch.zeros(1), places, *(() if layer is None else (layer,)))
    found = getattr(embedding, f"{before}inv_freq").double().numpy()
    return found, float(getattr(embedding, f"{before}attention_scaling"))


def largest(claimed: Claimed, found: NDArray[np.float64]) -> float:
    """Return the largest difference over what frequencies made in float32 may be off by."""
    of = Frequencies(claimed.base, claimed.scaling)
    theta = oracle.frequencies(claimed.dim, of)
    machine = Machine.of("torch", None, subnormals=True)
    asked: dict[str, Any] = {"arithmetic": "float32", "machine": machine, "of": of}
    allowed = angle_error("float32", np.ones(1), theta, **asked)
    # What stands still has not as many frequencies there, or zeros.
    wide = np.zeros_like(theta)
    wide[: found.size] = found
    off = np.abs(wide - theta)
    return float(np.max(np.where(off > 0, off / np.where(allowed > 0, allowed, 1e-300), 0.0)))


def row(one: dict[str, Any]) -> tuple[str, ...]:
    """Compare one configuration."""
    layer, length = one.get("layer"), one.get("length")
    told = one["config"]
    if isinstance(told, str):
        told = json.loads((FOLDER / "configs" / f"{told}.json").read_text(encoding="utf-8"))
    claimed = read(told, layer, length=length)
    found, gain = theirs(one, told, length)
    ratio = largest(claimed, found)
    own = float(Frequencies(claimed.base, claimed.scaling).gain)
    if not ratio <= 1 or abs(gain - own) > 4 * np.spacing(own):
        raise SystemExit(f"{one['name']}: error / allowed {ratio:.3g}, gain {gain} for {own}")
    scheme = "none" if claimed.scaling is None else claimed.scaling.name
    sizes = str(length or ""), scheme, str(claimed.dim // 2)
    return (one["name"], one["model"], layer or "", *sizes, f"{ratio:.2f}", f"{own:.6g}")


def main() -> None:
    """Compare all of them, and write the table."""
    version = importlib.import_module("transformers").__version__
    rows = [row(one) for one in json.loads(CONFIGURATIONS.read_text(encoding="utf-8"))]
    lines = "".join(f"| {' | '.join(cells)} |\n" for cells in rows)
    TABLE.write_text(HEAD.format(version=version, count=len(rows)) + lines, encoding="utf-8")


if __name__ == "__main__":
    main()
