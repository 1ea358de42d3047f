"""Pieces of scripts: how a subject is imported, how arrays reach it, and how they come back."""

import os
import sys
import sysconfig
from collections.abc import Collection, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np

from ropespec.conformance.evidence.literal import array_source, holds_bfloat16
from ropespec.conformance.evidence.viewed import viewed
from ropespec.conformance.frameworks import ARRAYS, BUILTIN
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.layout import components
from ropespec.conformance.subject.schemes import Value
from ropespec.conformance.subject.styled import Styled
from ropespec.conformance.subject.target import FOREIGN

__all__ = [
    "Argument",
    "argument",
    "imports",
    "in_our_order",
    "in_subject_order",
    "passed",
    "styled_source",
    "subject_source",
]

# The axes of x that make up the subject's order out of (batch, sequence, heads, head_dim), and
# those that lead back.
_ORDERS = {
    "bhsd": (".transpose(0, 2, 1, 3)", ".transpose(0, 2, 1, 3)"),
    "bshd": ("", ""),
    "sbhd": (".transpose(1, 0, 2, 3)", ".transpose(1, 0, 2, 3)"),
    "shd": ("[0]", "[None]"),
}


def in_subject_order(name: str, width: int, profile: Profile, *, result: bool = False) -> str:
    """Write x, or what is in the order of a result, as the subject takes it."""
    order = _components(width, profile, result=result)
    return f"{name}{order and f'[..., {order}]'}{_ORDERS[profile.axes][0]}"


def in_our_order(name: str, width: int, profile: Profile, *, result: bool = True) -> str:
    """Write a result, or what is in the order of x, with its axes and components in ours."""
    order = _components(width, profile, result=result)
    return f"{name}{_ORDERS[profile.axes][1]}{order and f'[..., np.argsort({order})]'}"


def _components(width: int, profile: Profile, *, result: bool) -> str:
    """Write the order of the components; nothing where it is ours."""
    if not (profile.trailing or (result and profile.pairs_apart)):
        return ""
    parts = components(width, profile, result=result)
    said = (":".join(map(str, (p.start, p.stop, *([p.step] if p.step else [])))) for p in parts)
    return f"np.r_[{', '.join(said)}]"


Argument = tuple[list[str], str]
"""The lines before a call, and the expression that stands in it."""


def imports(target: str, profile: Profile, arrays: Collection[Any]) -> list[str]:
    """Write the imports of a script that hands these arrays to a subject."""
    held = [array for array in arrays if isinstance(array, np.ndarray)]
    ours = target in BUILTIN or target.startswith(FOREIGN)
    lines = [] if ours else [f"import {'runpy, ' if _by_path(target) else ''}sys"]
    half = any(map(holds_bfloat16, held))
    wide = any(one.dtype.name in ("float64", "complex128") for one in held)
    more = profile.framework.imports(half=half, wide=wide, device=profile.device)
    values = sorted({_place(type(one)) for one in arrays if isinstance(one, Value)})
    more += [f"from {place} import {name}" for place, name in values]
    return [*lines, "import numpy as np", *more]


def _place(kind: type) -> tuple[str, str]:
    """Return the module of the specification that has a kind of values, and its name."""
    return ".".join(kind.__module__.split(".")[:3]), kind.__name__


def subject_source(target: str, function: str) -> list[str]:
    """Write the lines that find a function of a subject and give it its name."""
    if target in BUILTIN:
        return [f"from ropespec.backends.{target} import {function}"]
    if target.startswith(FOREIGN):
        foreign = "from ropespec.conformance.foreign import opened"
        return [foreign, f"{function} = opened({target!r})"]
    place, attribute = _parts(target)
    first, _, rest = attribute.partition(".")
    tail = f".{rest}" if rest else ""
    if _by_path(target):
        found = f"runpy.run_path({place!r})"
        if not attribute:
            return [f"{function} = {found}[{function!r}]"]
        lines = [f"subject = {found}[{first!r}]{tail}"]
    else:
        module, folder = _module(place)
        lines = [f"sys.path.insert(0, {folder!r})"]
        if not attribute:
            return [*lines, f"from {module} import {function}"]
        lines.append(f"from {module} import {first} as subject")
        lines += [f"subject = subject{tail}"] if tail else []
    lines.append("subject = subject() if isinstance(subject, type) else subject")
    fallback = ", subject" if function == "apply_rotary" else ""
    return [*lines, f'{function} = getattr(subject, "{function}"{fallback})']


def styled_source(target: str, style: Styled, profile: Profile, function: str) -> list[str]:
    """Write the lines that bind a rotation by a style under the claims of a profile."""
    usual = Profile(layouts=profile.layouts).as_dict() | {"layouts": []}
    claims = {name: one for name, one in profile.as_dict().items() if one != usual[name]}
    named = f", style={style.name!r}" if style.asked else ""
    way = f", way={style.way}" if style.way else ""
    return [
        "from ropespec.conformance.subject.outside import bound",
        f"{function} = bound({target!r}, {claims!r}{named}{way})",
    ]


def _parts(target: str) -> tuple[str, str]:
    place, colon, attribute = target.rpartition(":")
    if not colon or target.endswith(".py"):
        return target, ""
    return place, attribute


def _by_path(target: str) -> bool:
    """Whether a target is a file whose name is that of another module, or of none."""
    if target in BUILTIN or target.startswith(FOREIGN):
        return False
    path = Path(_parts(target)[0])
    known = {*sys.stdlib_module_names, *ARRAYS, "ropespec"}
    return path.suffix == ".py" and (not path.stem.isidentifier() or path.stem in known)


def _module(place: str) -> tuple[str, str]:
    """Return the name under which a place is imported, and the folder it is found in."""
    if place.endswith(".py"):
        return Path(place).stem, str(Path(place).expanduser().parent)
    top = place.partition(".")[0]
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    usual = {*sysconfig.get_paths().values(), *inherited}
    for folder in (".", *(item for item in sys.path if item)):
        spec = PathFinder.find_spec(top, [str(Path(folder).resolve())])
        if spec is not None:  # without an origin it is a namespace, of several folders
            return place, "." if folder in usual or spec.origin is None else folder
    return place, "."


def argument(name: str, array: Any, profile: Profile, *, strided: bool | str = False) -> Argument:  # noqa: ANN401  # an array, or a plain value
    """Write how an argument is made of the NumPy array of this name.

    Parameters
    ----------
    name : str
        An expression for the NumPy array.
    array : object
        The array; of what is none, its value is written.
    profile : Profile
        The framework, and where its arrays live.
    strided : bool or str
        Whether it is handed over as a view that is not contiguous, or as which.
    """
    if not isinstance(array, np.ndarray):
        return [], repr(array)
    converted, device = profile.framework.converted, profile.device
    cut = viewed(name, array, strided) if array.ndim and profile.framework.has_strides else None
    if cut is None:
        return [], converted(name, array, device)
    buffer = f"wide_{name.partition('[')[0].partition('.')[0]}"
    lines = [f"{buffer} = {cut[0]}"]
    if strided is True:
        gap = "1" if array.dtype.kind in "iu" else "np.nan"
        lines = [f"{lines[0]}  # a view of every other one", f"{buffer}[..., 1::2] = {gap}"]
    return lines, f"{converted(buffer, array, device)}{cut[1]}"


def passed(
    arrays: Sequence[Any],
    keywords: Mapping[str, Any],
    profile: Profile,
    *,
    strided: bool | str = False,
) -> tuple[list[str], list[str]]:
    """Write the arguments of a call as they are sent: the lines before it, and one word for each.

    Arrays are named by their place.
    """
    lines: list[str] = []
    words = []
    for number, value in enumerate(arrays, start=1):
        name = f"argument_{number}"
        of_floats = isinstance(value, np.ndarray) and value.dtype.kind not in "iub"
        before, word = argument(name, value, profile, strided=strided and of_floats)
        lines += [*_held(name, value), *before]
        words.append(word)
    for name, value in keywords.items():
        lines += _held(name, value)
        words.append(f"{name}={argument(name, value, profile)[1]}")
    return lines, words


def _held(name: str, value: Any) -> list[str]:  # noqa: ANN401  # as in argument
    return array_source(name, value) if isinstance(value, np.ndarray) else []
