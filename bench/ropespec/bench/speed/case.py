"""What is measured: one case, and the result of measuring it."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = ["POSITION", "Case", "Direction", "Into", "Row", "Shape"]

Direction = Literal["forward", "both"]
Into = Literal["new", "out", "self"]
Shape = tuple[int, int, int, int]

POSITION = 2**20
"""Where the error is taken."""


class Case(NamedTuple):
    """One operation on one kind of tensor.

    Attributes
    ----------
    dtype : str
        Of x and of the result.
    interleaved : bool
        The layout of the pairs.
    direction : str
        `forward`, or `both`: the rotation, then the gradient of x from that of the result.
    into : str
        `new` memory, a given `out`, or x it`self`.
    shape : tuple of int
        (B, S, H, D).
    """

    dtype: str
    interleaved: bool
    direction: Direction
    into: Into
    shape: Shape

    @property
    def group(self) -> "Case":
        """The same at no size: what one line of a picture shows."""
        return self._replace(shape=(0, 0, 0, 0))

    @property
    def elements(self) -> int:
        """How many numbers x has."""
        batch, length, heads, head_dim = self.shape
        return batch * length * heads * head_dim

    def __str__(self) -> str:
        """Read as `1x512x32x128 float32 interleaved forward into new`."""
        size = "x".join(map(str, self.shape))
        return f"{size} {self.words}"

    @property
    def words(self) -> str:
        """All but the size in words."""
        return f"{self.dtype} {self.layout} {self.direction} into {self.into}"

    @property
    def layout(self) -> str:
        """The layout in words."""
        return "interleaved" if self.interleaved else "half-split"


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one contender in one case, or why nothing was.

    Attributes
    ----------
    subject : str
        Its name.
    dtype, interleaved, direction, into, shape
        The case.
    device : str
        `cpu` or `cuda`.
    seconds, copy_seconds : float or None
        For one tensor and one pass, the least of all repetitions; of the contender and of the
        copy that was made between its repetitions.
    error : float or None
        Largest absolute error near position 2^20, for normally distributed x of variance 1.
    copy : str
        What served as the copy.
    repetitions : int
        How many the least times are of.
    reason : str or None
        Why there is no measurement.
    """

    subject: str
    dtype: str
    interleaved: bool
    direction: Direction
    into: Into
    shape: Shape
    device: str = "cpu"
    seconds: float | None = None
    copy_seconds: float | None = None
    error: float | None = None
    copy: str = ""
    repetitions: int = 0
    reason: str | None = None

    @property
    def case(self) -> Case:
        """The case."""
        return Case(self.dtype, self.interleaved, self.direction, self.into, self.shape)

    @property
    def copies(self) -> float | None:
        """The time in copies of the same tensor."""
        if self.seconds is None or self.copy_seconds is None:
            return None
        return self.seconds / self.copy_seconds

    def merged(self, other: "Row") -> "Row":
        """Return the least of two measurements of one case; a failure stays one."""
        if self.seconds is None or other.seconds is None:
            return self if self.seconds is None else other
        assert self.copy_seconds is not None
        assert other.copy_seconds is not None
        return dataclasses.replace(
            self,
            seconds=min(self.seconds, other.seconds),
            copy_seconds=min(self.copy_seconds, other.copy_seconds),
            repetitions=self.repetitions + other.repetitions,
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as the JSON object that the schema describes."""
        return dataclasses.asdict(self) | {"shape": list(self.shape), "copies": self.copies}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Row":
        """Undo `to_json`."""
        fields = {name: one for name, one in value.items() if name != "copies"}
        return cls(**(fields | {"shape": tuple(value["shape"])}))
