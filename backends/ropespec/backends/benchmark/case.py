"""What is measured: one case, and the result of measuring it."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = [
    "DTYPES",
    "FULL_SIZES",
    "POSITIONS",
    "SIZES",
    "Case",
    "Direction",
    "Into",
    "Row",
    "Shape",
    "cases",
]

Direction = Literal["forward", "backward"]
Into = Literal["new", "out", "self"]
Shape = tuple[int, int, int, int]

DTYPES = ("float32", "bfloat16", "float16")
"""What can be asked for; float16 only when it is."""

SIZES: tuple[Shape, ...] = ((1, 1, 32, 128), (1, 512, 32, 128), (4, 2048, 32, 128))
"""Batch, sequence, heads, head_dim: a decode token, a prompt, a batch of prompts."""

FULL_SIZES: tuple[Shape, ...] = (*SIZES, (4, 8192, 32, 128))

POSITIONS = (2**10, 2**17, 2**20)
"""Where the error is taken."""


class Case(NamedTuple):
    """One operation on one kind of tensor.

    Attributes
    ----------
    dtype : str
        Of x and of the result.
    interleaved : bool
        The layout of the pairs.
    shape : tuple of int
        (B, S, H, D).
    direction : str
        `forward`, or `backward`: the gradient of x from a gradient of the result.
    into : str
        `new` memory, a given `out`, or x it`self`.
    """

    dtype: str
    interleaved: bool
    shape: Shape
    direction: Direction
    into: Into


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one subject in one case, or why nothing was.

    Attributes
    ----------
    subject : str
        Its name.
    dtype, interleaved, shape, direction, into
        The case.
    device : str
        `cpu` or `cuda`.
    seconds, copy_seconds : float or None
        Medians for one tensor, of the subject and of the copy between its repetitions.
    ratio : float or None
        `seconds / copy_seconds`.
    bytes_per_second : float or None
        Twice the bytes of x, read once and written once, over `seconds`.
    error : dict of str to float
        Largest absolute error by position, for normally distributed x of variance 1.
    copy : str
        What served as the copy.
    repetitions : int
        How many the medians are of.
    reason : str or None
        Why there is no measurement.
    """

    subject: str
    dtype: str
    interleaved: bool
    shape: Shape
    direction: Direction
    into: Into
    device: str = "cpu"
    seconds: float | None = None
    copy_seconds: float | None = None
    ratio: float | None = None
    bytes_per_second: float | None = None
    error: dict[str, float] = dataclasses.field(default_factory=dict)
    copy: str = ""
    repetitions: int = 0
    reason: str | None = None

    @property
    def case(self) -> Case:
        """The case."""
        return Case(self.dtype, self.interleaved, self.shape, self.direction, self.into)

    def to_json(self) -> dict[str, Any]:
        """Return it as the JSON object that the schema describes."""
        return dataclasses.asdict(self) | {"shape": list(self.shape)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Row":
        """Undo `to_json`."""
        return cls(**(value | {"shape": tuple(value["shape"])}))


def cases(dtypes: tuple[str, ...], shapes: tuple[Shape, ...]) -> list[Case]:
    """Every case of the given dtypes and shapes, the small ones first."""
    ways: tuple[tuple[Direction, Into], ...] = (
        ("forward", "new"),
        ("forward", "out"),
        ("forward", "self"),
        ("backward", "new"),
        ("backward", "out"),
    )
    return [
        Case(dtype, interleaved, shape, direction, into)
        for shape in shapes
        for dtype in dtypes
        for interleaved in (True, False)
        for direction, into in ways
    ]
