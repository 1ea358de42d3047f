"""How many components rotate, which of them, and as pairs of which width."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.chain import Pairs, claimed_pairs, ladder
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.members import Member, Product, made_of, members_claimed
from ropespec.conformance.mistakes.pairing import claimed_layout, split

__all__ = ["MISTAKES", "WIDTHS", "as_wide"]

MISTAKES = entries("""
R1 head_dim instead of rotary_dim
    Exponent or pair distance follow head_dim; both must follow rotary_dim.
R2 rotary_dim ignored
    The whole head rotates; rotate the first rotary_dim components and pass the rest through.
R3 partial factor applied twice
    Only a part of the claimed components rotates; apply the factor once.
R6 padded lanes rotate
    The width is rounded up to a power of two and the tail rotates with it; mask the columns.
tail changed
    What is to come back as it is does not; mask lanes beyond rotary_dim, where they are stored too.
R9 wrong end rotates, or tail dropped
    The rotary_dim components at the end that is claimed rotate, and stay there; the others come
    back as they are.
halves of a padded head
    The width is rounded up to a power of two and halved; halve the width itself.
another rotary_dim
    Another number of components rotates; compare rotary_dim and head_dim with those of the model.
heads in pieces
    A wide head is cut in pieces that are rotated each by itself; rotate it as a whole.
""")


def _half_of_head(g: Given) -> Pairs:
    n, half = g.turning // 2, g.x.shape[-1] // 2
    return split(np.arange(n), half + np.arange(n))


def _last(g: Given) -> Pairs:
    return claimed_layout(g, g.turning // 2, g.x.shape[-1] - g.turning)


def _first_for_last(g: Given) -> Pairs:
    """Return pairs of the first components where the last are claimed, which stand first here."""
    moved = (g.turning + np.stack(claimed_layout(g, g.turning // 2))) % g.x.shape[-1]
    return Pairs(*moved)


def _whole(g: Given) -> Pairs:
    return claimed_layout(g, g.x.shape[-1] // 2)


def _as_wide(make: Callable[[Given], int]) -> dict[str, object]:
    """Return the stages for another number of components that rotate."""

    def pairs(g: Given) -> Pairs:
        return claimed_layout(g, min(make(g), g.x.shape[-1]) // 2)

    def theta(g: Given) -> Array:
        r = min(make(g), g.x.shape[-1])
        return np.asarray(g.base ** (-np.arange(0, r, 2) / r))

    return {"pairing": pairs, "frequency": theta}


def _rotated_half_of_head(g: Given) -> list[Member]:
    """Make what rotates of halves of the head: rotate_half comes before the cut to rotary_dim."""
    d, n = g.x.shape[-1], g.turning // 2
    made = members_claimed(g, claimed_pairs(g))
    for j in range(g.turning):
        other, sign = (j + d // 2, -1.0) if j < d // 2 else (j - d // 2, 1.0)
        made[j] = Product(j, "cos", j % n, 1.0), Product(other, "sin", j % n, sign)
    return made


def _in_pieces(width: int, *, anew: bool) -> Choice:
    """Return the pairs of pieces of `width` components, by frequencies that go on or begin anew.

    Where they begin anew they are those of a rotation of `width` components, and nothing is left.
    """

    def pieces(g: Given) -> list[tuple[int, int]]:
        whole = anew and g.turning % width
        last = max(g.turning, 1)  # what does not rotate at all is one piece
        starts = range(0, last, g.turning if whole else width)
        return [(start, min(start + starts.step, g.turning)) for start in starts]

    def pairs(g: Given) -> Pairs:
        each = [claimed_layout(g, (stop - start) // 2, start) for start, stop in pieces(g)]
        return Pairs(*(np.concatenate(members) for members in zip(*each, strict=True)))

    def theta(g: Given) -> Array:
        count = len(pieces(g))
        own = g.turning // count
        one = ladder(g) if count == 1 else g.base ** (-np.arange(0, own, 2) / own)
        return np.tile(one, count)

    what = f"a head of more than {width} components is rotated in pieces of {width}"
    if anew:
        return Choice(_PIECES, "pairing", what, {"pairing": pairs, "frequency": theta}, 2.0)
    return Choice(_PIECES, "pairing", f"{what}, by its own frequencies", {"pairing": pairs}, 2.0)


_PIECES = "heads in pieces"


def _power_of_two(g: Given) -> int:
    return 1 << max(g.turning - 1, 1).bit_length()


def _padded(g: Given) -> Array:
    r = min(_power_of_two(g), g.x.shape[-1])
    return np.asarray(g.base ** (-np.arange(0, r, 2) / g.turning))


def _padded_whole(g: Given) -> Array:
    return np.asarray(g.base ** (-np.arange(0, max(_power_of_two(g), g.turning), 2) / g.turning))


def _beside(g: Given) -> Pairs:
    """Return the claimed pairs, and pairs of the same kind among the lanes that pad them."""
    own, extra = claimed_pairs(g), (min(_power_of_two(g), g.x.shape[-1]) - g.turning) // 2
    more = claimed_layout(g, extra, g.turning)
    first, second = (
        np.concatenate(both) for both in ((own.first, more.first), (own.second, more.second))
    )
    return Pairs(first, second, first, second)


def _lanes(*, masked: bool) -> dict[str, object]:
    """Return the stages of halves of the next power of two, of which the second is cut off.

    If it is masked, as many lanes rotate as there are pairs, and the others are kept.
    """

    def members(g: Given) -> list[Member]:
        made = members_claimed(g, claimed_pairs(g))
        half, d = _power_of_two(g) // 2, g.x.shape[-1]
        if 2 * half == g.turning or g.interleaved or g.turning != d:
            return made
        made = [(Product(j, "one", 0, 1.0),) for j in range(d)]
        for i in range(d // 2 if masked else half):
            to = i + half
            kept, seen = Product(i, "cos", i, 1.0), Product(i, "sin", i, 1.0)
            made[i] = (kept, Product(to, "sin", i, -1.0)) if to < d else (kept,)
            if to < d:
                made[to] = Product(to, "cos", i, 1.0), seen
        return made

    return made_of(members, _padded_whole)


WIDTHS: tuple[Choice, ...] = (
    Choice("R1", "pairing", "the partner is half of head_dim away", {"pairing": _half_of_head}),
    Choice(
        "R1",
        "product",
        "halves of the head are exchanged before it is cut to rotary_dim",
        made_of(lambda g: None if g.interleaved else _rotated_half_of_head(g)),
        2.0,
    ),
    *(_in_pieces(width, anew=True) for width in (32, 64, 128)),
    *(_in_pieces(width, anew=False) for width in (8, 16, 32, 64, 128)),
    Choice("R9", "pairing", "the last components rotate", {"pairing": _last}),
    Choice(
        "R9",
        "pairing",
        "the first components rotate, where the last are to",
        {"pairing": _first_for_last},
        1.1,
    ),
    Choice(
        "R2",
        "pairing",
        "the whole head rotates",
        _as_wide(lambda g: g.x.shape[-1]),
        shown=(Shown.by("rotary_dim_ignored", "ROT-14.tail", rotary_dim=8, head_dims=(16, 32)),),
    ),
    Choice(
        "R2",
        "pairing",
        "the whole head rotates by frequencies of rotary_dim",
        {
            "pairing": _whole,
            "frequency": lambda g: np.asarray(
                g.base ** (-2 * np.arange(g.x.shape[-1] // 2) / g.turning)
            ),
        },
    ),
    Choice(
        "R3",
        "pairing",
        "half of what should rotate does",
        _as_wide(lambda g: max(g.turning // 4 * 2, 2)),
        shown=(Shown.by("factor_twice", "FREQ-2.read-off", rotary_dim=8, head_dims=(16, 32)),),
    ),
    Choice(
        "R3",
        "pairing",
        "half of what should rotate does, by the frequencies of all",
        {
            "pairing": lambda g: claimed_layout(g, g.turning // 4),
            "frequency": lambda g: ladder(g)[: g.turning // 4],
        },
    ),
    Choice(
        "R3",
        "pairing",
        "rotary_dim over head_dim is applied twice",
        _as_wide(lambda g: max(g.turning * g.turning // g.x.shape[-1] // 2 * 2, 2)),
    ),
    Choice(
        "R6",
        "pairing",
        "the width is rounded up to a power of two and rotates",
        _as_wide(_power_of_two),
    ),
    Choice(
        "R6",
        "pairing",
        "lanes up to the next power of two rotate as well, and the partner is as far",
        {
            "pairing": lambda g: claimed_layout(g, min(_power_of_two(g), g.x.shape[-1]) // 2),
            "frequency": _padded,
        },
    ),
    Choice(
        "R6",
        "pairing",
        "the components up to the next power of two rotate among themselves as well",
        {"pairing": _beside, "frequency": _padded},
    ),
    Choice(
        "halves of a padded head",
        "product",
        "halves are those of the next power of two, and what has no partner is multiplied by cos",
        _lanes(masked=False),
        2.0,
    ),
    Choice(
        "halves of a padded head",
        "product",
        "the partner is half of the next power of two away, and 0 beyond the head",
        _lanes(masked=True),
        2.0,
    ),
    Choice(
        "R1",
        "pairing and frequency",
        "the partner is half of head_dim away and the exponent follows head_dim",
        {
            "pairing": _half_of_head,
            "frequency": lambda g: np.asarray(
                g.base ** (-np.arange(0, g.turning, 2) / g.x.shape[-1])
            ),
        },
    ),
)
"""What else rotates."""


def as_wide(rotary_dim: int) -> Choice:
    """Return the rotation of another number of components, by frequencies of its own.

    Parameters
    ----------
    rotary_dim : int
        How many rotate, or all of a head that is no wider.
    """
    what = f"{rotary_dim} components rotate"
    return Choice("another rotary_dim", "pairing", what, _as_wide(lambda _: rotary_dim), 2.0)
