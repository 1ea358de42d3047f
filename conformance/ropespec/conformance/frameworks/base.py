"""What is known of a framework before it is imported, and the interface in which it is said."""

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["CARD", "INT32_MAX", "TRANSFORMS", "Array", "Framework", "Library", "Words", "in_order"]

Array = Any
"""An array of any framework, or whatever a subject returned in its place."""

INT32_MAX = 2**31 - 1

TRANSFORMS: Mapping[str, str] = MappingProxyType(
    {
        "jvp": "f(x), and its derivative along `extra[0]`",
        "second": "the gradients of <u, J^T c> with respect to c and x; c, u are `extra`",
        "vmap": "f mapped over `axes`",
        "compiled": "f(x) and J^T c under the compiler, c = `extra[0]`; f(x) alone where there is "
        "no gradient, or no c. What was compiled is used again for other values of the same shapes",
        "constants": "the gradients of <c, f> with respect to all but x, zeros where there is none",
        "two_calls": "the gradient of <c, f(x, m)> + <d, f(x, n)>; c, d, n are `extra`. Both calls "
        "come before the first step back, as in a model of two layers",
        "taken_again": "the gradients of <c, f> and of <d, f>, by two steps back through one call; "
        "c, d are `extra`",
        "positions_reused": "the gradient of <c, f(x, m)>, where n is written into the positions "
        "before the step back; c, n are `extra`. No numbers where the framework refuses",
        "unrecorded": "f(x) where no gradient is recorded",
        "into": "the gradients of <c, f> with respect to what x was made from, written in place: "
        "by a product with 1, then by an operation whose gradient needs x again",
    }
)
"""What a framework can do to a function, and what comes back."""


class Library(NamedTuple):
    """The mathematical library of a framework on a device; see `judge.budget.Machine`."""

    power: float = 4.0
    trigonometry: float = 3.0
    flushes: bool = False


# CUDA's powf is within 4 and sincosf within 2 units in the last place (CUDA C Programming Guide,
# mathematical functions).
CARD = Library(power=11.0, trigonometry=4.0, flushes=True)
"""That of a graphics card."""


@dataclass(frozen=True, slots=True)
class Words:
    """How source and styles say what an adapter needs.

    Attributes
    ----------
    name, imported : str
        The usual name of the framework, and the line that imports it.
    cat, cast, copy, permute : str
        How it joins arrays, casts, copies, and reorders axes.
    """

    name: str
    imported: str
    cat: str = "concatenate"
    cast: str = "astype"
    copy: str = "copy()"
    permute: str = "transpose"

    @property
    def module(self) -> str:
        """The module that has its functions."""
        return self.imported.split()[1]


class Framework(ABC):
    """What is known of a framework; what is not said otherwise is as in NumPy.

    Attributes
    ----------
    name : str
        The value of `--array`, and the package.
    title : str
        Its name in a sentence.
    rank : int
        Its place in lists; what comes first is taken where nobody says.
    kinds : tuple of str
        The classes of its arrays there.
    extra : str
        The extra of ropespec to install; empty where it is always there.
    is_backend : bool
        Whether ropespec brings a backend written in it.
    on_host : bool
        Whether its arrays are those of the host where no device is named.
    compiles : bool
        Whether it pays for every new shape, so that few are used.
    has_strides : bool
        Whether an array may be a view that is not contiguous.
    steps_back : bool
        Whether a view may go backwards through memory, or be locked.
    has_places : bool
        Whether it says where in memory an array lies.
    is_writable : bool
        Whether what an array holds can be changed.
    has_float64 : bool
        Whether float64 arrays are what it makes of float64 arrays of NumPy.
    transforms : tuple of str
        Those of `TRANSFORMS` that it has.
    has_gradients : bool
        Whether it differentiates functions.
    unrecorded : str
        The context in which it records no gradient.
    library : Library
        The constants of its mathematical library on the host.
    words : Words
        What an adapter is written with.
    shown : str
        The name of the class of an array, as Python prints it.
    overlap : str
        An expression for whether two arrays share memory.
    """

    name: str
    title: str
    rank: int
    kinds: tuple[str, ...]
    words: Words
    extra = ""
    is_backend = False
    on_host = False
    compiles = False
    has_strides = True
    steps_back = False
    has_places = True
    is_writable = True
    has_float64 = True
    transforms: tuple[str, ...] = ()
    has_gradients = False
    unrecorded = ""
    library = Library()
    shown = "ndarray"
    overlap = "np.shares_memory({}, {})"

    @property
    def module(self) -> str:
        """The module that has its arrays."""
        return self.name

    @property
    def not_installed(self) -> str:
        """The line that says what to install."""
        return f"{self.name} is not installed: pip install 'ropespec[{self.extra}]'"

    def unavailable(self) -> str | None:
        """Return why it cannot run here, or None if it can."""
        return None if importlib.util.find_spec(self.name) else self.not_installed

    def library_on(self, device: str | None) -> Library:
        """Return the constants of its mathematical library on a device."""
        return CARD if (device or "").startswith(("cuda", "gpu")) else self.library

    def imports(self, *, half: bool, wide: bool, device: str | None) -> list[str]:
        """Write the imports of a script beside that of NumPy, and what follows them.

        Parameters
        ----------
        half, wide : bool
            Whether it hands over arrays in bfloat16, and in float64 or complex128.
        device : str or None
            Where its arrays live.
        """
        del half, wide, device
        return [self.words.imported]

    def environment(self, folder: str) -> Mapping[str, str]:
        """Return variables with which a worker finds what others before it have compiled.

        Parameters
        ----------
        folder : str
            A folder of the user that stays, for this framework alone.
        """
        del folder
        return {}

    @abstractmethod
    def converted(self, source: str, array: Array, device: str | None) -> str:
        """Write the conversion of a NumPy array, whose expression is given, to one of its own.

        bfloat16 is held as float32 in the script.
        """

    def as_float64(self, source: str) -> str:
        """Write the conversion of one of its arrays to float64 in NumPy."""
        return f"{self.host(source)}.astype(np.float64)"

    def host(self, source: str) -> str:
        """Write the conversion of one of its arrays to NumPy."""
        return f"np.asarray({source})"

    def gradient(self, call: Callable[[str], str], x: str, c: str) -> list[str]:
        """Write the lines that make y the gradient of <c, f(x)>.

        Parameters
        ----------
        call : callable
            Writes the call of the function on an x.
        x, c : str
            Expressions for x and the cotangent.
        """
        del call, x, c
        raise ValueError(f"{self.title} has no gradients")


def in_order(source: str) -> str:
    """Write that an array of NumPy lies in memory in the order of its axes."""
    reordered = ".transpose" in source or ".swapaxes" in source
    return f"np.ascontiguousarray({source})" if reordered else source
