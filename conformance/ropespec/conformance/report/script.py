"""Short scripts that show a failure again with NumPy and the subject alone."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ropespec.conformance.profile import ARRAYS, Profile
from ropespec.conformance.report.literal import array_source, holds_bfloat16

__all__ = ["reproduction", "reproduction_call"]

# The axes of x that make up the subject's order out of (batch, sequence, heads, head_dim), and
# those that lead back.
ORDERS = {
    "bhsd": (".transpose(0, 2, 1, 3)", ".transpose(0, 2, 1, 3)"),
    "bshd": ("", ""),
    "sbhd": (".transpose(1, 0, 2, 3)", ".transpose(1, 0, 2, 3)"),
    "shd": ("[0]", "[None]"),
}
INT32_MAX = 2**31 - 1
# Up to here float64 angles are exact to 1e-9, far below what any failure is about.
FLOAT64_POSITION = 2**20


def reproduction(  # keyword-only, the arguments of the rotation among them
    *,
    target: str,
    profile: Profile,
    x: np.ndarray[Any, Any],
    positions: np.ndarray[Any, Any],
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
    function: str = "apply_rotary",
    accepts: Collection[str] | None = None,
) -> str:
    """Write a script that rotates x by the formula and by the subject, and prints both.

    Parameters
    ----------
    target : str
        The subject, as given to `ropespec check`.
    profile : Profile
        Its claims: framework, axes, device.
    x : ndarray
        Input of shape (batch, sequence, heads, head_dim), whatever the axes of the subject.
    positions : ndarray of int
        Shape (batch, sequence) or (sequence,).
    interleaved, base, rotary_dim
        The rotation that is expected.
    function : str
        The function of the API that is called.
    accepts : collection of str or None
        Which of these three keywords the function takes; None to let the script find out.

    Returns
    -------
    str
        Python source of fewer than 25 lines.
    """
    dim = x.shape[-1] if rotary_dim is None else rotary_dim
    keywords = {"interleaved": interleaved, "base": base, "rotary_dim": rotary_dim}
    to_subject, back = ORDERS[profile.axes]
    passed = "positions"
    if positions.ndim > 1 and (profile.shared_positions or profile.axes == "shd"):
        passed = "positions[0]"
    x_passed = _converted(f"x{to_subject}{'.copy()' if to_subject else ''}", x, profile)
    arguments = f"{x_passed}, {_converted(passed, positions, profile)}"
    setting, passing = _keywords(function, keywords, keywords if target in ARRAYS else accepts)
    lines = [
        *_imports(target, profile, (x,), inspects=accepts is None and target not in ARRAYS),
        *_subject(target, function),
        *array_source("x", x),
        *array_source("positions", positions),
        *_expected(dim, positions, interleaved=interleaved, base=base),
        *setting,
        f"y = {function}({arguments}{passing})",
        f"got = {_back('y', profile)}{back}",
        *_comparison(x),
    ]
    return "\n".join(lines) + "\n"


def reproduction_call(
    *,
    target: str,
    profile: Profile,
    function: str,
    arrays: Sequence[Any],
    keywords: Mapping[str, Any],
) -> str:
    """Write a script that calls a function of the subject and prints what it returns.

    Parameters
    ----------
    target, profile
        As in `reproduction`.
    function : str
        The function of the API.
    arrays : sequence
        The positional arguments as the subject gets them: arrays or plain numbers.
    keywords : mapping
        The keyword arguments: plain values or arrays.

    Returns
    -------
    str
        Python source.
    """
    names = [f"argument_{index + 1}" for index in range(len(arrays))]
    given = dict(zip(names, arrays, strict=True)) | dict(keywords)
    held = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    source = {
        name: _converted(name, value, profile) if name in held else repr(value)
        for name, value in given.items()
    }
    passed = [source[name] for name in names] + [f"{name}={source[name]}" for name in keywords]
    lines = [
        *_imports(target, profile, tuple(held.values()), inspects=False),
        *_subject(target, function),
        *(line for name, value in held.items() for line in array_source(name, value)),
        f"result = {function}({', '.join(passed)})",
        "for item in result if isinstance(result, (tuple, list)) else (result,):",
        '    print(type(item).__name__, getattr(item, "dtype", ""), getattr(item, "shape", ""))',
        "    print(item)",
    ]
    return "\n".join(lines) + "\n"


def _imports(
    target: str, profile: Profile, arrays: Sequence[np.ndarray[Any, Any]], *, inspects: bool
) -> list[str]:
    used = ["inspect"] if inspects else []
    if target not in ARRAYS:
        used += ["runpy", "sys"] if _path(target)[0].endswith(".py") else ["sys"]
    lines = [f"import {', '.join(used)}"] if used else []
    lines.append("import numpy as np")
    if profile.array in ("numpy", "cupy") and any(map(holds_bfloat16, arrays)):
        lines.append("import ml_dtypes")
    lines += {
        "numpy": [],
        "cupy": ["import cupy as cp"],
        "torch": ["import torch"],
        "jax": ["import jax, jax.numpy as jnp"],
    }[profile.array]
    if profile.array == "jax" and any(_needs_x64(array) for array in arrays):
        lines.append('jax.config.update("jax_enable_x64", True)')
    return lines


def _needs_x64(array: np.ndarray[Any, Any]) -> bool:
    return array.dtype.name in ("float64", "complex128")


def _path(target: str) -> tuple[str, str]:
    place, colon, attribute = target.rpartition(":")
    if not colon or target.endswith(".py"):
        return target, ""
    return place, attribute


def _subject(target: str, function: str) -> list[str]:
    if target in ARRAYS:
        return [f"from ropespec.backends.{target} import {function}"]
    place, attribute = _path(target)
    lines = ['sys.path.insert(0, ".")']
    first, _, rest = attribute.partition(".")
    tail = f".{rest}" if rest else ""
    if place.endswith(".py"):
        if not attribute:
            return [*lines, f"{function} = runpy.run_path({place!r})[{function!r}]"]
        lines.append(f"subject = runpy.run_path({place!r})[{first!r}]{tail}")
    elif not attribute:
        return [*lines, f"from {place} import {function}"]
    else:
        lines.append(f"from {place} import {first} as subject")
        if tail:
            lines.append(f"subject = subject{tail}")
    lines.append("subject = subject() if isinstance(subject, type) else subject")
    fallback = ", subject" if function == "apply_rotary" else ""
    return [*lines, f'{function} = getattr(subject, "{function}"{fallback})']


def _expected(
    dim: int, positions: np.ndarray[Any, Any], *, interleaved: bool, base: float
) -> list[str]:
    wide = positions.size > 0 and max(-int(positions.min()), int(positions.max())) > (
        FLOAT64_POSITION
    )
    base_source, dim_source = f"{float(base)!r}", f"{dim}"
    if wide:  # float64 would lose digits of the angle
        base_source, dim_source = f"np.longdouble({base_source})", f"np.longdouble({dim})"
    if interleaved:
        pair = f"np.s_[..., 0:{dim}:2], np.s_[..., 1:{dim}:2]"
    else:
        pair = f"np.s_[..., :{dim // 2}], np.s_[..., {dim // 2}:{dim}]"
    return [
        f"theta = {base_source} ** (-np.arange(0, {dim}, 2) / {dim_source})",
        "angle = positions[..., None, None] * theta",
        f"first, second = {pair}",
        "expected = x.astype(np.float64)",
        "a, b = expected[first].copy(), expected[second].copy()",
        "expected[first] = a * np.cos(angle) - b * np.sin(angle)",
        "expected[second] = a * np.sin(angle) + b * np.cos(angle)",
    ]


def _keywords(
    function: str, keywords: Mapping[str, Any], accepts: Collection[str] | None
) -> tuple[list[str], str]:
    """Write the lines that choose the keywords, and how the call passes them."""
    if accepts is not None:
        taken = {name: value for name, value in keywords.items() if name in accepts}
        return [], "".join(f", {name}={value!r}" for name, value in taken.items())
    known = f"inspect.signature({function}).parameters"
    return [
        f"keywords = {dict(keywords)!r}",
        f"keywords = {{name: keywords[name] for name in keywords if name in {known}}}",
    ], ", **keywords"


def _converted(source: str, array: np.ndarray[Any, Any], profile: Profile) -> str:
    """Write the conversion of a NumPy array to one of the subject."""
    half = holds_bfloat16(array)
    on = profile.device
    match profile.array:
        case "torch":
            moved = f".to({on!r})" if on else ""
            return f"torch.from_numpy({source}){'.to(torch.bfloat16)' if half else ''}{moved}"
        case "jax":
            if array.dtype.kind in "iu" and array.size and abs(array).max() > INT32_MAX:
                return source
            return f"jnp.asarray({source}{', dtype=jnp.bfloat16' if half else ''})"
        case "cupy":
            return f"cp.asarray({source}{'.astype(ml_dtypes.bfloat16)' if half else ''})"
        case _:
            return f"{source}.astype(ml_dtypes.bfloat16)" if half else f"{source}.copy()"


def _back(source: str, profile: Profile) -> str:
    """Write the conversion of a result of the subject to a float64 array of NumPy."""
    match profile.array:
        case "torch":
            return f"{source}.detach().cpu().to(torch.float64).numpy()"
        case "cupy":
            return f"cp.asnumpy({source}).astype(np.float64)"
        case _:
            return f"np.asarray({source}).astype(np.float64)"


def _comparison(x: np.ndarray[Any, Any]) -> list[str]:
    lines = ['print("shape", got.shape, "expected", expected.shape, "dtype", y.dtype)']
    if x.size == 0:
        return lines
    if x.size <= 16:
        lines.append('print("expected", expected.ravel(), "\\ngot     ", got.ravel())')
    same = "got == expected"
    if not np.isfinite(x.astype(np.float64)).all():
        same = f"({same}) | (np.isnan(got) & np.isnan(expected))"
    error = f"np.where({same}, 0.0, np.abs(got - expected))"
    return [
        *lines,
        f"worst = np.unravel_index(np.argmax({error}), x.shape)",
        'print("worst", worst, "expected", expected[worst], "got", got[worst])',
    ]
