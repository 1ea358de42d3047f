"""Whether a program speaks the protocol, before anything is asked of its numbers."""

from collections.abc import Iterator

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.foreign.program import Program, ProgramError

__all__ = ["smoke"]

_LARGE = 2**21
"""Elements; more than any pipe holds, so that who writes before all is read hangs."""


def smoke(command: str, seconds: float) -> Iterator[str]:
    """Try what every program must do, and yield a line for each thing that it did.

    Parameters
    ----------
    command : str
        The program and its arguments.
    seconds : float
        How long a reply may take.

    Raises
    ------
    ProgramError
        At the first thing that it did not.
    """
    program = Program(command, seconds)
    try:
        takes = f"takes {', '.join(program.keywords)}" if program.keywords else "takes no keyword"
        yield f"describe: {program.name}, {takes}, claims {program.PROFILE or 'nothing'}"
        for x in _patterns(program.PROFILE.get("dtypes")):
            _echoed(program, x)
            yield f"echo: {x.size} patterns of {x.dtype.name}, NaN among them"
        _echoed(program, np.zeros((1, 0, 2, 4), np.float32))
        yield "echo: an array without elements"
        _echoed(program, np.arange(_LARGE, dtype=np.float32).reshape(1, -1, 8, 64))
        yield f"echo: {_LARGE} elements"
        yield f"an unknown call is refused: {_refused(program)}"
        _echoed(program, np.ones((1, 1, 1, 2), np.float32))
        yield "echo after an error"
    finally:
        program.close()


def _patterns(dtypes: object) -> Iterator[NDArray[np.generic]]:
    """Every pattern of 16 bits, and for wider numbers those at the ends of each exponent."""
    wanted = dtypes if isinstance(dtypes, list) else ["float32", "bfloat16", "float16"]
    every = np.arange(2**16, dtype=np.uint16).reshape(1, -1, 4, 64)
    ends = np.concatenate([every, every ^ np.uint16(0xFFFF)], -1)
    for name in wanted:
        if name in ("bfloat16", "float16"):
            yield every.view(ml_dtypes.bfloat16 if name == "bfloat16" else np.float16)
        elif name in ("float32", "float64"):
            yield ends.view(name)


def _echoed(program: Program, x: NDArray[np.generic]) -> None:
    y = program.echo(x)
    if (y.dtype, y.shape) != (x.dtype, x.shape):
        said = f"{y.dtype.name} of shape {y.shape}, and not {x.dtype.name} of shape {x.shape}"
        raise ProgramError(f"an echo came back as {said}")
    if y.tobytes() != x.tobytes():
        raise ProgramError(f"an echo of {x.dtype.name} came back with other bits")


def _refused(program: Program) -> str:
    try:
        program.ask("no such call")
    except ProgramError as refusal:
        return str(refusal)
    raise ProgramError("it answered a call that there is not; it must reply with an error")
