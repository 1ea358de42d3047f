"""What is asked of a card, step by step."""

import itertools
import sys
from dataclasses import dataclass, field

from ropespec.bench.speed.ladder import LADDER
from ropespec.bench.speed.subjects import ENTRIES

__all__ = ["FRAMEWORKS", "Step", "steps"]

FRAMEWORKS = ("torch", "jax", "cupy")

DTYPES = ("bfloat16", "float32", "float16")

_PEERS = [entry.name for entry in ENTRIES if entry.kind == "peer" and entry.backend == "torch"]

LADDERS = {
    "eager": ("torch", ["ropespec torch", "ropespec torch tables", "ropespec cupy*", *_PEERS]),
    "compiled": ("torch", [f"{name} compiled" for name in ("ropespec torch", *_PEERS)]),
    "jax": ("jax", ["ropespec jax*", "naive jax*"]),
}
"""Who takes turns in one process each, and the package without which there is none of them."""

QUICK_CHECK = ("--only", "ROT-7")
QUICK_LADDER = (
    "--size", "1x16x2x64", "--rounds", "1", "--repetitions", "2",
    "--into", "new", "--pass", "forward",
)  # fmt: skip  # an option and its value in pairs

SIZES = tuple(option for shape in LADDER for option in ("--size", "x".join(map(str, shape))))
"""The ladder alone: what stands beside it takes more than a step may."""

PASSED, UNFINISHED = 0, 4
"""Exit status of `ropespec check`, whose deadline may cut it short; all others know the first."""


@dataclass(frozen=True, slots=True)
class Step:
    """One process, which writes what it finds to a file.

    Attributes
    ----------
    name : str
        Names the file.
    command : tuple of str
        The process; the file's name is appended. What it finds is no empty list, and has some rows
        if it has any.
    needs : str
        The package without which it cannot run.
    settings : dict of str to str
        Variables of its environment.
    """

    name: str
    command: tuple[str, ...]
    needs: str
    settings: dict[str, str] = field(default_factory=dict)


def steps(device: str, *, quick: bool, seconds: int) -> list[Step]:
    """Return all steps in their order, the short ones first.

    Parameters
    ----------
    device : str
        `cuda`, or `cpu`, which takes the card's place.
    quick : bool
        A few cases of each.
    seconds : int
        How long each may take: a check says what it left out.
    """
    probes = [("versions", "torch"), ("bits", "torch"), ("bits", "jax"), ("bits", "cupy")]
    probes += [("graphs", "torch"), ("streams", "torch"), ("streams", "cupy")]
    names = FRAMEWORKS if device == "cuda" else FRAMEWORKS[:2]  # CuPy has no other device
    found = [
        _step(f"{probe}-{name}", name, device, "ropespec.bench.card.probe", probe, name, device)
        for probe, name in probes
        if name in names
    ]
    for name in names:
        deadline = ("--deadline", str(seconds - 30))
        some = QUICK_CHECK if quick else deadline
        found.append(_step(f"suite-{name}", name, device, "ropespec", "check", name, *some))
    for (group, (needs, names)), dtype in itertools.product(
        LADDERS.items(), DTYPES[:1] if quick else DTYPES
    ):
        only = [option for name in names for option in ("--only", name)]
        some = (*only, "--dtype", dtype, "--device", device)
        climbed = QUICK_LADDER if quick else SIZES
        step = f"ladder-{group}-{dtype}"
        found.append(_step(step, needs, device, "ropespec.bench.speed", *some, *climbed))
    return found


def _step(step: str, name: str, device: str, module: str, *arguments: str) -> Step:
    settings = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    if name == "jax":  # which would otherwise take a CPU where it finds no card, without a word
        settings["JAX_PLATFORMS"] = device
    if module == "ropespec" and name == "torch":
        compiled = ("--compiled",) if device == "cuda" else ()  # by Triton, for every shape
        arguments = (*arguments, "--device", device, *compiled)
    return Step(step, (sys.executable, "-m", module, *arguments, "--json"), name, settings)
