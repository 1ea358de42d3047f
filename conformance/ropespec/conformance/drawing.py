"""How cases are drawn: the strategies of Hypothesis, apart from the values that they draw."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from ropespec.conformance.case import Case, Space, pool
from ropespec.conformance.judge.values import BELOW_ZERO, POSITIONS, VALUES
from ropespec.conformance.profile import Profile
from ropespec.spec.scaling import has_frequencies

__all__ = ["cases"]

# Where integers or tables of the usual sizes stop being exact or big enough.
_EDGES = (255, 256, 257, 511, 2047, 2048, 2049, 4095, 4096, 65535, 2**24 - 1, 2**24 + 1, 2**31 - 40)

_LONGEST = 17  # the longest sequence that is drawn
_NARROW = 16


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
    limit = min(profile.max_position, space.max_position or profile.max_position)
    dtypes = [one for one in profile.dtypes if space.dtypes is None or one in space.dtypes]
    layouts = [one for one in profile.layouts if space.layouts is None or one in space.layouts]
    parts: _Choice = (None,)
    compiles = profile.compiles
    if "rotary_dim" in keywords and space.partial:
        parts = st.sampled_from((0, 2)) if compiles else st.integers(0, 3)
    elif "rotary_dim" in keywords and not compiles:  # every new width
        parts = st.one_of(st.none(), st.integers(0, 3))
    # Built once: Hypothesis takes longer to make a strategy than to draw from it.
    return _drawn(
        profile,
        limit,
        shapes=_shapes(profile, space, whole_pool=whole_pool),
        other_shapes=_shapes(profile, space, whole_pool=False, largest=True),
        parts=parts,
        starts=_starts(max(limit - _LONGEST, 0)),
        kinds=_one_of(_patterns(profile, space)),
        layouts=_one_of(layouts),
        bases=_one_of(_bases(profile, keywords, often=space.usual_base)),
        dtypes=st.sampled_from(dtypes),
        values=_one_of(_values(profile, space)),
        strided=st.booleans() if space.strided and profile.strided else (False,),
        seeds=st.integers(0, 99),
        numbers=st.booleans() if space.numbers and profile.numbers else (False,),
    )


_Choice = st.SearchStrategy[Any] | tuple[Any]
"""A strategy, or the one value that there is, which takes no time to draw."""


@st.composite
def _drawn(
    draw: st.DrawFn,
    /,
    profile: Profile,
    limit: int,
    dtypes: st.SearchStrategy[str],
    shapes: st.SearchStrategy[tuple[int, int, int, int]],
    other_shapes: st.SearchStrategy[tuple[int, int, int, int]],
    **of: _Choice,
) -> Case:
    dtype = draw(dtypes)
    batch, seq, heads, head_dim = draw(shapes if dtype == profile.dtypes[0] else other_shapes)
    one = {name: what[0] if isinstance(what, tuple) else draw(what) for name, what in of.items()}
    some = _parts(head_dim)
    by, scheme = profile.rotation, profile.scaling
    if scheme is not None:
        some = [dim for dim in some if has_frequencies(scheme, dim)] or [by.dim(head_dim)]
    part = one["parts"]
    by = by if one["numbers"] else by.text
    by = by if part is None else by.stating(rotary_dim=some[part % len(some)])
    return Case(
        batch=batch,
        seq=seq,
        heads=heads,
        head_dim=head_dim,
        start=one["starts"],
        positions=one["kinds"],
        convention=by.stating(interleaved=one["layouts"], base=one["bases"]),
        dtype=dtype,
        limit=limit,
        values=one["values"],
        strided=one["strided"],
        seed=one["seeds"],
    )


def _one_of(values: Sequence[Any]) -> _Choice:
    return st.sampled_from(values) if len(values) > 1 else (values[0],)


def _shapes(
    profile: Profile, space: Space, *, whole_pool: bool, largest: bool = False
) -> st.SearchStrategy[tuple[int, int, int, int]]:
    smallest = max(space.min_dim, (profile.rotary_dim or 0) + 2 * space.partial)
    dims = [dim for dim in profile.head_dims if dim >= smallest] or [max(profile.head_dims)]
    dims = [dim for dim in dims if dim <= (space.max_dim or dim)] or dims[:1]
    one_row = profile.axes == "shd"
    least = (1 if one_row else space.min_batch, space.min_seq, space.min_heads)
    most = profile.max_tokens
    if profile.compiles:
        shapes = pool(profile.head_dims, one_row=one_row)
        fits = [
            shape
            for shape in shapes
            if shape[3] in dims
            and all(n >= m for n, m in zip(shape, least, strict=False))
            and (most is None or shape[0] * shape[1] <= most)
        ]
        if fits:
            # Few elements cannot tell one precision class of a narrow dtype from another.
            one = fits[-1:] if largest else fits[:2][-1:]
            return st.sampled_from(fits if whole_pool else one)
        dim = shapes[1][3]
        rows, tokens, heads = map(max, shapes[1], least)
        if most is not None:
            rows, tokens = _fewer(rows, tokens, least, most)
        return st.just((rows, tokens, heads, dim if dim in dims else dims[-1]))
    choices = ((1,) if one_row else (1, 2, 3), (1, 2, 3, 5, 8, _LONGEST), (1, 2, 3, 4))
    sizes = [
        [size for size in some if size >= m] or [m] for some, m in zip(choices, least, strict=True)
    ]
    # The widest head has the most pairs, and in a narrow one a single pair shows in a sum: they are
    # drawn twice as often as any other.
    often = [*dims, *(dim for dim in dims if dim <= _NARROW), max(dims)]
    drawn = st.tuples(*(st.sampled_from(some) for some in (*sizes, often)))
    if most is None:
        return drawn
    return drawn.map(lambda shape: (*_fewer(shape[0], shape[1], least, most), *shape[2:]))


def _fewer(batch: int, seq: int, least: tuple[int, ...], most: int) -> tuple[int, int]:
    """Shorten the sequence, then the batch, until there are not more tokens than that."""
    seq = max(min(seq, most // batch), least[1])
    return max(min(batch, most // seq), least[0]), seq


def _parts(head_dim: int) -> list[int]:
    """Sizes of the rotated part: half, a quarter, all but two, two; never all of it."""
    parts = [head_dim // 2, head_dim // 4, head_dim - 2, 2]
    return [part for part in parts if part >= 2 and part % 2 == 0 and part < head_dim] or [head_dim]


def _starts(limit: int) -> st.SearchStrategy[int]:
    edges = [edge for edge in _EDGES if edge <= limit]
    options = [st.integers(0, min(16, limit)), st.integers(0, min(4096, limit))]
    if edges:
        options.append(st.sampled_from(edges))
    options.append(st.integers(0, limit))
    return st.one_of(options)


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
