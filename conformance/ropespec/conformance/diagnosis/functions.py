"""Functions of their own: what else is computed instead, run beside the subject on fresh calls."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ropespec.conformance.diagnosis.ask import Lost
from ropespec.conformance.diagnosis.attend import attend
from ropespec.conformance.diagnosis.formulas import ASKED
from ropespec.conformance.diagnosis.others import find_others
from ropespec.conformance.diagnosis.scored import scored
from ropespec.conformance.diagnosis.scores import LARGEST_OF
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.diagnosis.within import WITHIN, within
from ropespec.conformance.registry import all_checks
from ropespec.conformance.results import Diagnosis, Rank
from ropespec.conformance.subject.session import Session

__all__ = ["functions"]

_DRAWS = 4


def functions(session: Session, failed: frozenset[str]) -> Iterator[Diagnosis]:
    """Name the functions that compute a known wrong form in every one of some fresh calls.

    Parameters
    ----------
    session : Session
        The subject.
    failed : frozenset of str
        The checks that failed.
    """
    try:
        draws = [dict(find_others(session, draw)) for draw in range(_DRAWS)]
    except Lost as lost:
        key = "it hangs" if lost.answer == "timeout" else "it crashes"
        yield fact(key, f"{lost}.", "a function beside the rotation", "seen in 1 call")
        return
    for function in _suspects(session, draws, failed):
        word = draws[0].get(function, "")
        if word in _KNOWN and all(draw.get(function) == word for draw in draws[1:]):
            yield from _named(session, function, word, failed)
        elif function == "attention":
            yield from attend(session)
        else:
            found = list(within(session, function))
            if not found and function == "relative_score":
                found = list(scored(session))
            yield from (replace(one, id="" if function in ASKED else one.id) for one in found)


def _suspects(
    session: Session, draws: Sequence[dict[str, str]], failed: frozenset[str]
) -> Iterable[str]:
    """Return the functions that are wrong, and those that a failed check is about."""
    asked = {name for check in all_checks() if check.id in failed for name in check.needs}
    known = ("attention", *WITHIN)
    more = [name for name in known if name in asked and name in session.offers]
    return dict.fromkeys((*(name for draw in draws for name in draw), *more))


def _named(
    session: Session, function: str, word: str, failed: frozenset[str]
) -> Iterator[Diagnosis]:
    evidence = f"reproduces {_DRAWS} of {_DRAWS} fresh calls"
    key, plain = _OTHERS.get(word, ""), False
    if word == "odd width":
        key, clause = _ODD_WIDTH[function]
        if not (session.profile.refusals or any(id_.startswith(clause) for id_ in failed)):
            return
    elif (function, word) in _OWN:
        key = _OWN[function, word]
    elif function in ASKED:
        plain = True  # the catalogue speaks of rotations; a part of one has no id
    if not key:
        return
    told = fact(key, f"{function} is the form called: {word}.", function, evidence)
    yield replace(told, id="" if plain else told.id, rank=Rank.ALONE)


_OTHERS = {
    "base": "F1",
    "growing": "F2",
    "gain": "K13",
    "halves": "L3",
    "rounded angles": "D3",
    "not initialised": "I1",
    "along the heads": "X1",
    "tables of the other layout": "L2",
    "weights not permuted": "L4",
    "exponent": "F3",
    "exponent twice": "F3",
    "denominator": "F3",
    "index from 1": "F3",
    "reversed": "frequencies reversed",
    "opposite": "S1",
    "query opposite": "S1",
    "key opposite": "S1",
    "from 1": "P3",
    "sines then cosines": "Z4",
    "cosines then sines": "Z4",
    "cosine first": "Z4",
    "swapped": "Z4",
    "unpaired, doubled": "Z2",
    "doubled": "Z2",
    "cosine exponent": "Z3",
    "cosine exponent, base 1000": "Z3",
    "base 1000": "Z3",
    "denominator, sines then cosines": "F3",
    "half the exponent": "F3",
    "other pairing": "L1",
    "twice": "A1",
    "plain": "A3",
    "rotated": "A6",
    "weight transposed": "weight transposed",
    "product with i": "NaN spreads",
    "scaled by the model": "T1",
    "not scaled": "T2",
    "mask after softmax": "T3",
    "mask times score": "T4",
    "small fill": "T4",
    "mask ignored": "T5",
    "mask inverted": "mask inverted",
    "heads scrambled": "T9",
    "sum of positions": "S2",
    "opposite sum": "S2",
    "not rotated": "A3",
    "query not rotated": "query or key not rotated",
    "key not rotated": "query or key not rotated",
    "query from the end": "query counted from the end",
    "query for key": "A4",
    "query for key once": "A4",
    "values rotated": "A6",
    "partners by head_dim": "R1",
    "other direction": "wrong permutation",
    "not permuted": "wrong permutation",
    "halves exchanged": "wrong permutation",
    "pairs exchanged": "wrong permutation",
    "real parts": "bound of other sums",
    "imaginary parts": "bound of other sums",
    "absolute value of the mean": "bound of other sums",
    "last sum alone": "bound of other sums",
    "sums without the last": "bound of other sums",
    "sums without the first": "bound of other sums",
    "mean without the last": "bound of other sums",
    "mean without the first": "bound of other sums",
    "squares": "bound of other sums",
    "sums along another axis": "bound of other sums",
    "tables ignored": "tables ignored",
    "from 0 to 2 pi": "angles reduced",
    "from -pi to pi": "angles reduced",
    "in turns": "angles reduced",
    "in degrees": "angles reduced",
    "unit circle": "tables brought to the unit circle",
    "tables of one row": "tables of one row for all",
    "tail dropped": "R9",
    "largest of masked keys": "largest score of masked keys",
    "largest of masked keys: not a number": "largest score of masked keys",
    **{
        f"largest score of {of}{left}": "largest score of other queries"
        for of in LARGEST_OF
        for left in ("", ": not a number")
    },
    "empty row": "T8",
    "empty row: mean": "T8",
    "empty row: not a number": "T8",
}

_ODD_WIDTH = {"inv_freq": ("O1", "FREQ-1."), "sinusoidal_embedding": ("Z1", "SIN-1.even")}
_OWN = {
    ("precompute_freqs_cis", "swapped"): "cos and sin swapped",
    ("relative_score", "gain"): "score scaled",
    ("decay_bound", "gain"): "bound of other sums",
    ("project_query", "opposite"): "S2",
    ("project_key", "opposite"): "S2",
    ("cos_sin", "twice"): "L2",
    ("relative_score", "distance"): "sign of positions lost",
}
_KNOWN = {*_OTHERS, *(word for _, word in _OWN), "odd width"}
