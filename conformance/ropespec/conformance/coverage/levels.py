"""What a call of a rotation may be like: the dimensions, and the levels that a profile allows."""

from collections.abc import Sequence

from ropespec.conformance.coverage.array import Level, Table
from ropespec.conformance.judge.values import BELOW_ZERO, POSITIONS, UNLIKE, VALUES
from ropespec.conformance.profile import Profile
from ropespec.spec.scaling import has_frequencies

__all__ = [
    "ALL",
    "LONGEST",
    "SHAPES",
    "part_of",
    "rotation_table",
    "views_of_positions",
    "views_of_x",
]

SHAPES = (
    *((1, 1, 1), (2, 3, 2), (3, 8, 4), (3, 1, 1), (3, 1, 5), (1, 2, 3), (2, 5, 1)),
    *((17, 1, 3), (9, 4, 1), (1, 131, 1), (3, 35, 17), (1, 1, 33)),
)
"""Rows, tokens, heads: one, few, and more than a block has, in all pairs."""

LONGEST = max(tokens for _, tokens, _ in SHAPES)

_EDGES = (0, 1, 255, 2047, 4095, 32767, 65535, 2**24 - 1, 2**31 - 40)
"""Where integers or tables of the usual sizes stop being exact or big enough."""

_OF_ROWS = ("ragged", "shuffled", "spread", *UNLIKE)
"""Patterns of positions that differ from row to row."""

ALL = "all"
_PARTS = ("half", "a quarter", "all but two", "two")
"""How much of a head turns: what is claimed, or a part of it."""

_WIDTHS = 5  # steps between sizes of head_dim, which are all walked elsewhere
_THIRD = 3  # the size that a compiler's few shapes have in the middle


def rotation_table(
    profile: Profile,
    keywords: frozenset[str],
    *,
    values: Sequence[str],
    tail: bool = False,
    back: bool = False,
) -> Table:
    """Return the dimensions of a rotation.

    Parameters
    ----------
    profile : Profile
        The claims.
    keywords : frozenset of str
        Which of `base` and `rotary_dim` the function takes.
    values : sequence of str
        Patterns of x.
    tail : bool
        Whether some components must not rotate.
    back : bool
        Whether it is the way back, where the cotangent may be a view of its own.
    """
    least = (profile.rotary_dim or 2) + 2 * tail
    part = "rotary_dim" in keywords
    dimensions: dict[str, Sequence[Level]] = {
        "dtype": profile.dtypes,
        "rows, tokens, heads": [_named(shape) for shape in _shapes(profile)],
        "head_dim": _some([dim for dim in profile.head_dims if dim >= least]),
        "rotated": _parts(profile, tail=tail) if part else (ALL,),
        "base": _bases(profile) if "base" in keywords else (float(profile.base),),
        "positions": _patterns(profile),
        "from": _starts(profile),
        **({"numbers": ("equal", "apart")} if profile.numbers else {}),
        "integers": ("int64", "int32") if profile.max_position < 2**31 else ("int64",),
        "values": _values(profile, values),
        "view of x": views_of_x(profile),
    }
    other, views = ("the cotangent", views_of_x) if back else ("positions", views_of_positions)
    dimensions[f"view of {other}"] = views(profile)
    return Table(tuple((name, tuple(some)) for name, some in dimensions.items()))


def views_of_x(profile: Profile) -> tuple[str, ...]:
    """Return the views that x may be, none first; axes are those of the subject."""
    if not (profile.strided and profile.framework.has_strides):
        return ("",)
    count, heads = len(profile.axes), profile.axes.index("h")
    swaps = [f"swap {i} {j}" for j in range(1, count) for i in range(j)]
    last = count - 1
    gaps = ("gaps", f"step {last}", f"wide {last}", f"wide {heads}", "offset")
    still = (f"still {heads}", "still 0") if profile.framework.has_places else ()
    return ("", *gaps, *swaps, *still, *_of_numpy(profile, (profile.axes.index("s"), last)))


def views_of_positions(profile: Profile) -> tuple[str, ...]:
    """Return the views that positions may be, none first."""
    if not (profile.strided and profile.framework.has_strides):
        return ("",)
    if profile.shared_positions or profile.axes == "shd":
        return ("", "step 0", "offset", "still 0", *_of_numpy(profile, (0,)))
    return ("", "step 1", "wide 1", "swap 0 1", "still 0", "offset", *_of_numpy(profile, (1,)))


def _of_numpy(profile: Profile, axes: Sequence[int]) -> list[str]:
    if not profile.framework.steps_back:
        return []
    return [*(f"back {axis}" for axis in axes), "read-only"]


def part_of(head_dim: int, part: str) -> int:
    """Return how many components turn of a part that is not `ALL`."""
    sizes = {"half": head_dim // 2, "a quarter": head_dim // 4, "all but two": head_dim - 2}
    return max(sizes.get(part, 2) // 2 * 2, 2)


def _parts(profile: Profile, *, tail: bool) -> tuple[str, ...]:
    """Return the parts that have frequencies in every width: some schemes have a list of them."""
    scheme = profile.scaling
    fits = [
        part
        for part in _PARTS
        if scheme is None
        or all(has_frequencies(scheme, part_of(dim, part)) for dim in profile.head_dims)
    ]
    return tuple(fits if tail and fits else [ALL, *fits])


def _named(shape: tuple[int, int, int]) -> str:
    return " x ".join(map(str, shape))


def _shapes(profile: Profile) -> list[tuple[int, int, int]]:
    most = profile.max_tokens
    shapes = [shape for shape in SHAPES if profile.axes != "shd" or shape[0] == 1]
    return [shape for shape in shapes if most is None or shape[0] * shape[1] <= most]


def _some(sizes: Sequence[int]) -> list[int]:
    """Return some of many sizes, from the smallest to the largest."""
    last = len(sizes) - 1
    evenly = (round(step * last / _WIDTHS) for step in range(_WIDTHS + 1))
    return [sizes[place] for place in sorted({*evenly, min(_THIRD, last)})]


def _bases(profile: Profile) -> list[float]:
    return list(dict.fromkeys([float(profile.base), 10000.0, 500000.0, 2.5]))


def _starts(profile: Profile) -> list[int]:
    last = max(profile.max_position - LONGEST, 0)
    return sorted({*(edge for edge in _EDGES if edge <= last), last})


def _patterns(profile: Profile) -> list[str]:
    shared = profile.shared_positions or profile.axes == "shd"
    kept = [kind for kind in (*POSITIONS, *UNLIKE) if not (shared and kind in _OF_ROWS)]
    return [kind for kind in kept if profile.negative_positions or kind not in BELOW_ZERO]


def _values(profile: Profile, wanted: Sequence[str]) -> list[str]:
    values = [kind for kind in VALUES if kind in wanted]
    if profile.precision == "float16-arithmetic" and set(profile.dtypes) != {"float16"}:
        values = [kind for kind in values if kind not in ("heavy", "huge")]  # it overflows
    if not profile.subnormals:
        values = [kind for kind in values if kind != "subnormal"]
    return values
