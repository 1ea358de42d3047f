"""How cases are drawn: the strategies of Hypothesis, apart from the values that they draw."""

import io
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from ropespec.conformance.case import Case, Space, pool
from ropespec.conformance.judge.values import BELOW_ZERO, POSITIONS, VALUES
from ropespec.conformance.profile import Profile
from ropespec.spec.convention import Convention, Keywords
from ropespec.spec.scaling import has_frequencies

__all__ = ["cases"]

# Where integers or tables of the usual sizes stop being exact or big enough.
_EDGES = (255, 256, 257, 511, 2047, 2048, 2049, 4095, 4096, 65535, 2**24 - 1, 2**24 + 1, 2**31 - 40)

_LONGEST = 17  # the longest sequence that is drawn
_NARROW = 16
_SEEDS = range(100)


def cases(
    profile: Profile, keywords: frozenset[str], space: Space, *, whole_pool: bool = True
) -> st.SearchStrategy[Case]:
    """Draw cases that the profile allows.

    Parameters
    ----------
    profile : Profile
        The claims.
    keywords : frozenset of str
        Which of `interleaved`, `base` and `rotary_dim` the function takes; what it does not take
        stays as the profile says.
    space : Space
        What the check wants.
    whole_pool : bool
        Where every new shape is compiled: draw from all shapes of the pool, or from one of them.
    """
    parts: Sequence[int | None] = (None,)
    if "rotary_dim" in keywords and space.partial:
        parts = (0, 2) if profile.compiles else range(4)
    elif "rotary_dim" in keywords and not profile.compiles:  # every new width
        parts = (*[None] * 4, *range(4))
    limit = min(profile.max_position, space.max_position or profile.max_position)
    by = profile.rotation
    options: _Options = {
        "starts": _starts(max(limit - _LONGEST, 0)),
        "dtype": [one for one in profile.dtypes if one in (space.dtypes or profile.dtypes)],
        "part": parts,
        "strided": (False, True) if space.strided and profile.strided else (False,),
        "by": (by.text, by) if space.numbers and profile.numbers else (by.text,),
        "interleaved": [one for one in profile.layouts if one in (space.layouts or (one,))],
        "base": _bases(profile, keywords, often=space.usual_base),
        "values": _values(profile, space),
        "positions": _patterns(profile, space),
    }
    shapes = _shapes(profile, space, whole_pool=whole_pool)
    size = sum(map(_width, (*options.values(), *shapes[0], _SEEDS)))
    # Built once: Hypothesis takes longer to make a strategy than to draw from it.
    digits, number = st.binary(min_size=size, max_size=size), st.integers(0, limit)
    return _drawn(profile, space, limit, digits, number, options, shapes)


_One = TypeVar("_One")
_Options = Mapping[str, Sequence[Any]]
_Shapes = Sequence[Sequence[tuple[int, ...]]]
"""A shape is put together of one of each of these."""


def _width(options: Sequence[Any]) -> int:
    """Return how many bytes choose one of so many: none where there is but one."""
    return -(-(len(options) - 1).bit_length() // 8)


@st.composite
def _drawn(
    draw: st.DrawFn,
    /,
    profile: Profile,
    space: Space,
    limit: int,
    digits: st.SearchStrategy[bytes],
    number: st.SearchStrategy[int],
    options: _Options,
    shapes: tuple[_Shapes, _Shapes],
) -> Case:
    """Draw a number for where positions start, and bytes that choose all else: a draw is dear."""
    left, far = io.BytesIO(draw(digits)), draw(number)

    def one_of(some: Sequence[_One]) -> _One:
        return some[int.from_bytes(left.read(_width(some)), "big") % len(some)]

    one = {name: one_of(some) for name, some in options.items()}
    shape = itertools.chain.from_iterable(map(one_of, shapes[one["dtype"] != profile.dtypes[0]]))
    batch, seq, heads, head_dim = shape
    batch, seq = _fewer(batch, seq, profile, space)
    return Case(
        batch=batch,
        seq=seq,
        heads=heads,
        head_dim=head_dim,
        start=one["starts"][far % len(one["starts"])],
        positions=one["positions"],
        convention=_by(profile, head_dim, one),
        dtype=one["dtype"],
        limit=limit,
        values=one["values"],
        strided=one["strided"],
        seed=one_of(_SEEDS),  # last, where the search for the worst varies bytes: a case each
    )


def _by(profile: Profile, head_dim: int, one: Mapping[str, Any]) -> Convention:
    """Return how a case rotates that has these options."""
    by: Convention = one["by"]
    scheme = profile.scaling
    said = Keywords(interleaved=one["interleaved"], base=one["base"])
    if one["part"] is not None:
        some = _parts(head_dim)
        if scheme is not None:
            some = [dim for dim in some if has_frequencies(scheme, dim)] or [by.dim(head_dim)]
        said["rotary_dim"] = some[one["part"] % len(some)]
    return by.stating(**said)


def _shapes(profile: Profile, space: Space, *, whole_pool: bool) -> tuple[_Shapes, _Shapes]:
    """Return what shapes are made of, for the first claimed dtype and, of one size, for others."""
    smallest = max(space.min_dim, (profile.rotary_dim or 0) + 2 * space.partial)
    dims = [dim for dim in profile.head_dims if dim >= smallest] or [max(profile.head_dims)]
    dims = [dim for dim in dims if dim <= (space.max_dim or dim)] or dims[:1]
    one_row = profile.axes == "shd"
    least = (1 if one_row else space.min_batch, space.min_seq, space.min_heads)
    if profile.compiles:
        shapes = pool(profile.head_dims, one_row=one_row)
        fits: list[tuple[int, ...]] = [
            shape
            for shape in shapes
            if shape[3] in dims
            and all(n >= m for n, m in zip(shape, least, strict=False))
            and shape[:2] == _fewer(*shape[:2], profile, space)
        ]
        dim = shapes[1][3] if shapes[1][3] in dims else dims[-1]
        fits = fits or [(*map(max, shapes[1], least), dim)]
        some = fits if whole_pool else fits[:2][-1:]
        # Few elements cannot tell one precision class of a narrow dtype from another.
        return [some], [fits[-1:] * len(some)]
    choices = ((1,) if one_row else (1, 2, 3), (1, 2, 3, 5, 8, _LONGEST), (1, 2, 3, 4))
    sizes = [
        [size for size in some if size >= m] or [m] for some, m in zip(choices, least, strict=True)
    ]
    # The widest head has the most pairs, and in a narrow one a single pair shows in a sum: they are
    # drawn twice as often as any other.
    often = [*dims, *(dim for dim in dims if dim <= _NARROW), max(dims)]
    apart = [[(size,) for size in some] for some in (*sizes, often)]
    return apart, apart


def _fewer(batch: int, seq: int, profile: Profile, space: Space) -> tuple[int, int]:
    """Shorten the sequence, then the batch, until there are not more tokens than are claimed."""
    most = profile.max_tokens
    if most is None:
        return batch, seq
    seq = max(min(seq, most // batch), space.min_seq)
    return max(min(batch, most // seq), min(batch, space.min_batch)), seq


def _parts(head_dim: int) -> list[int]:
    """Sizes of the rotated part: half, a quarter, all but two, two; never all of it."""
    parts = [head_dim // 2, head_dim // 4, head_dim - 2, 2]
    return [part for part in parts if part >= 2 and part % 2 == 0 and part < head_dim] or [head_dim]


def _starts(last: int) -> list[Sequence[int]]:
    """Return where positions may start: near, among many, at an edge, anywhere."""
    near, many, anywhere = (range(min(most, last) + 1) for most in (16, 4096, last))
    return [near, many, [*(edge for edge in _EDGES if edge < last), last], anywhere]


def _patterns(profile: Profile, space: Space) -> list[str]:
    shared = profile.shared_positions or profile.axes == "shd"
    allowed = [
        kind
        for kind in POSITIONS
        if kind in space.positions
        and not (kind in BELOW_ZERO and not profile.negative_positions)
        and not (shared and kind in ("ragged", "shuffled", "spread"))
    ]
    return allowed or ["arange"]


def _values(profile: Profile, space: Space) -> list[str]:
    values = [kind for kind in VALUES if kind in space.values]
    if profile.precision == "float16-arithmetic" and set(profile.dtypes) != {"float16"}:
        values = [kind for kind in values if kind != "heavy"]  # it overflows, as it may
    if not profile.subnormals:
        values = [kind for kind in values if kind != "subnormal"]
    return values or ["normal"]


def _bases(profile: Profile, keywords: frozenset[str], *, often: bool) -> list[float]:
    if "base" not in keywords:
        return [float(profile.base)]
    usual, others = 10000.0, [500000.0, 1000.0, 2.5]
    drawn = list(dict.fromkeys([float(profile.base), usual, *others]))
    return drawn + [usual] * (len(drawn) - 2) * often
