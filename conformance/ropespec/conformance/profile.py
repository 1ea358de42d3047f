"""What an implementation claims: the conventions and limits under which it is judged.

What is not claimed is skipped, and the report says so.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.spec.arguments import FLOAT_DTYPES
from ropespec.spec.errors import describe

__all__ = ["ARRAYS", "AXES", "Profile", "ProfileError"]

ARRAYS = ("numpy", "torch", "jax", "cupy")
AXES = ("bshd", "bhsd", "sbhd", "shd")
HEAD_DIMS = (2, 4, 6, 8, 16, 20, 32, 40, 64, 80, 100, 128, 256)
MOST_HEAD_DIM = 4096
"""A limit of this suite, which looks at matrices of head_dim by head_dim."""
INT64_LIMIT = 2**63 - 1


class ProfileError(Exception):
    """A profile that says something impossible; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The claims of an implementation under test.

    Attributes
    ----------
    layouts : tuple of bool
        The values of `interleaved` it implements: `(True,)`, `(False,)` or both.
    array : str
        The framework its arrays belong to: one of `ARRAYS`.
    axes : str
        Order of the axes of x: one of `AXES` (batch, sequence, heads, head_dim).
    dtypes : tuple of str
        dtypes of x.
    base : float
        The base of the frequencies.
    rotary_dim : int or None
        How many leading components turn; None for all of them.
    head_dims : tuple of int
        Head dimensions it accepts.
    precision : str or None
        The precision class it claims; None to have the class measured.
    max_position : int
        The largest absolute position.
    negative_positions : bool
        Whether positions below zero are accepted.
    shared_positions : bool
        Whether positions are one vector (S,) for the whole batch instead of (B, S).
    device : str or None
        Where its arrays live, in the framework's own words; None for the default.
    refusals : bool
        Whether it promises the errors of clause ROT-21.
    """

    layouts: tuple[bool, ...]
    array: str = "numpy"
    axes: str = "bshd"
    dtypes: tuple[str, ...] = ("float32",)
    base: float = 10000.0
    rotary_dim: int | None = None
    head_dims: tuple[int, ...] = HEAD_DIMS
    precision: str | None = None
    max_position: int = 2**17 - 1
    negative_positions: bool = True
    shared_positions: bool = False
    device: str | None = None
    refusals: bool = False

    def __post_init__(self) -> None:
        """Refuse claims that contradict the specification or each other."""
        if not self.layouts or not all(isinstance(item, bool) for item in self.layouts):
            raise ProfileError("layouts must name at least one of interleaved and half")
        _require_choice("array", self.array, ARRAYS)
        _require_choice("axes", self.axes, AXES)
        _require_integers("head-dim", self.head_dims)
        if (most := max(self.head_dims)) > MOST_HEAD_DIM:
            raise ProfileError(f"head-dim must be at most {MOST_HEAD_DIM} here; got {most}")
        for dtype in self.dtypes:
            _require_choice("dtype", dtype, FLOAT_DTYPES)
        if not self.dtypes:
            raise ProfileError("dtype must be given at least once")
        object.__setattr__(self, "base", _finite_base(self.base))
        if self.rotary_dim is not None:
            _require_rotary_dim(self.rotary_dim, self.head_dims)
        if self.precision is not None:
            _require_choice("precision", self.precision, tuple(PRECISIONS))
        _require_position(self.max_position)
        for name in ("negative_positions", "shared_positions", "refusals"):
            _require_flag(name, getattr(self, name))
        if not isinstance(self.device, (str, type(None))):
            raise ProfileError(f"device must be a text; got {describe(self.device)}")

    @classmethod
    def from_mapping(cls, claims: Mapping[str, Any]) -> "Profile":
        """Build a profile from a `PROFILE` mapping or from keywords.

        Parameters
        ----------
        claims : mapping
            The attributes by name. `interleaved` (True or False) stands for `layouts`, and single
            values are accepted for `dtypes` and `head_dims`. `head_dim` and `dtype` are accepted
            as names too.

        Raises
        ------
        ProfileError
            For an unknown name or an impossible value.
        """
        values = {name.replace("-", "_"): value for name, value in claims.items()}
        renamed = {"dtype": "dtypes", "head_dim": "head_dims", "interleaved": "layouts"}
        for old, new in renamed.items():
            if old in values:
                values[new] = values.pop(old)
        known = {item.name for item in dataclasses.fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ProfileError(
                f"unknown claim {', '.join(unknown)}; known are {', '.join(sorted(known))}"
            )
        if "layouts" not in values:
            raise ProfileError(
                "the pairing is not known: say interleaved=True for pairs (2i, 2i+1) or "
                "interleaved=False for half-split pairs (i, i+d/2); "
                "`ropespec identify TARGET` finds out"
            )
        for name in ("layouts", "dtypes", "head_dims"):
            if name in values:
                value = values[name]
                values[name] = tuple(value) if isinstance(value, (list, tuple)) else (value,)
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Return the claims as plain JSON values."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in dataclasses.asdict(self).items()
        }


def _finite_base(base: object) -> float:
    if isinstance(base, bool) or not isinstance(base, (int, float)):
        raise ProfileError(f"base must be a number above 1; got {describe(base)}")
    try:
        found = float(base)
    except OverflowError:
        found = float("inf")
    if not 1.0 < found < float("inf"):
        raise ProfileError(f"base must be a finite number above 1; got {found}")
    return found


def _require_position(position: object) -> None:
    if isinstance(position, bool) or not isinstance(position, int):
        raise ProfileError(f"max-position must be an integer; got {describe(position)}")
    if not 1 <= position <= INT64_LIMIT:
        raise ProfileError(f"max-position must be in 1..2^63-1; got {position}")


def _require_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ProfileError(f"{name} must be True or False; got {describe(value)}")


def _require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ProfileError(f"{name} must be one of {', '.join(choices)}; got {describe(value)}")


def _require_rotary_dim(rotary_dim: int, head_dims: tuple[int, ...]) -> None:
    _require_integers("rotary-dim", (rotary_dim,))
    if not any(head_dim >= rotary_dim for head_dim in head_dims):
        given = ", ".join(map(str, head_dims))
        raise ProfileError(
            f"rotary-dim must be at most head-dim; got {rotary_dim} for head-dim {given}"
        )


def _require_integers(name: str, values: tuple[int, ...]) -> None:
    if not values:
        raise ProfileError(f"{name} must be given at least once")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or value < 2 or value % 2:
            raise ProfileError(
                f"{name} must be an even integer of at least 2; got {describe(value)}"
            )
