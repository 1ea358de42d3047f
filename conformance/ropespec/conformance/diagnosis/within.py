"""Functions that rotate on the way: what they rotate is made a rotation, and examined as one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from ropespec.conformance.diagnosis.ask import Answer, Asker, Lost
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.calls_within import (
    OF_SCHEMES,
    OF_TABLES,
    ROTATING,
    projected,
)
from ropespec.conformance.diagnosis.conduct import special
from ropespec.conformance.diagnosis.others import answered
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.diagnosis.where import EVERYWHERE
from ropespec.conformance.diagnosis.wording import examined, in_words
from ropespec.conformance.mistakes.chain import RIGHT
from ropespec.conformance.mistakes.given import Given
from ropespec.conformance.profile import Profile, ProfileError
from ropespec.conformance.results import Diagnosis
from ropespec.conformance.subject.session import Session
from ropespec.spec.scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    NtkAware,
    NtkByParts,
    PaperDynamicNtk,
    Proportional,
    Scaling,
    Yarn,
)

__all__ = ["WITHIN", "within"]

_WIDEST = 512
"""Components of all heads of a token: so wide are the weights that pass them on."""

_SCHEMES: tuple[Scaling, ...] = (
    *(Linear(4.0), NtkAware(4.0), DynamicNtk(4.0, 64, 256), PaperDynamicNtk(64, 256)),
    *(NtkByParts(8.0, 4096), Yarn(8.0, 4096), Llama3(8.0, 1.0, 4.0, 8192), Proportional(0.5)),
)
"""Schemes that are tried of them after the one that is claimed."""

_CALLS = ROTATING | OF_TABLES | OF_SCHEMES

WITHIN = ("apply_rotary_dense", "apply_rotary_complex", *_CALLS)
"""Functions that are a rotation, or have one in them."""


def within(session: Session, function: str) -> Iterator[Diagnosis]:
    """Name what a function does in place of the rotation in it.

    Parameters
    ----------
    session : Session
        The subject.
    function : str
        Of the API; nothing is named of one that is none of `WITHIN`.
    """
    claimed = _of_whole_heads(session, function) if function in WITHIN else None
    if claimed is None:
        return
    if function in OF_SCHEMES:
        claimed = _first_wrong(session, function, claimed)
        if claimed is None:
            return
        session = session.under(claimed, session.timeout)
    asker = _asker(session, function)
    maker = Maker(claimed, session.offers[function].keywords)
    outcome, right = examined(asker, maker, RIGHT, ())
    told = list(in_words(asker, outcome, right))
    if not told and function not in OF_TABLES:
        told += special(asker, maker, right, sound=True)
    called = function
    if function in OF_SCHEMES and claimed.scaling is not None:
        called = f"{function} of {claimed.scaling.name}"
    for one in told:
        where = called if one.where == str(EVERYWHERE) else f"{called}: {one.where}"
        if _CALLS.get(function) is projected and one.name == "changed by earlier calls":
            yield fact("weights of another call", "", where, one.evidence)
        else:
            yield replace(one, where=where)


def _asker(session: Session, function: str) -> Asker:
    return (_Within if function in _CALLS else Asker)(session, function=function)


def _first_wrong(session: Session, function: str, claimed: Profile) -> Profile | None:
    """Return the claims with the first scheme of which a few calls are wrong; None if none is."""
    told = [] if session.profile.scaling is None else [session.profile.scaling]
    for scheme in (*told, *_SCHEMES):
        try:
            profile = replace(claimed, scaling=scheme)
        except ProfileError:  # no size has frequencies of it
            continue
        asker = _asker(session.under(profile, session.timeout), function)
        maker = Maker(profile, session.offers[function].keywords)
        for given in islice(maker.battery(), _FEW):
            answer = asker.ask(given)
            if answer is not None and answer.y is not None and Seen(answer, RIGHT).is_wrong:
                return profile
    return None


_FEW = 24
"""Calls of a battery that show whether a scheme is wrong."""


@dataclass(slots=True)
class _Within(Asker):
    """Makes a rotation of a function that has one in it."""

    def ask(self, given: Given) -> Answer | None:
        """Call the function; None for what it is not asked."""
        if given.axes or given.strided or given.strided_positions or not _fits(given):
            return None
        self.calls += 1
        if self.anew:
            self.fresh()
        given = replace(given, past=tuple(self.past))
        shared = self.session.profile.shared_positions
        call = _CALLS[self.function](given, given.positions[0] if shared else given.positions)
        if call is None:
            return None
        try:
            keywords = given.convention.keywords
            if self.function in OF_SCHEMES:
                keywords["scaling"] = given.scaling
            got = answered(self.session, self.function, call.arrays, keywords)
            y = call.read(*got)
        except Lost as lost:
            self.past.clear()
            return Answer(given, None, lost.answer, str(lost))
        except (TypeError, ValueError, IndexError):  # other results than are asked for
            return Answer(given, None, "shape")
        self.past.append(given.alone())
        fits = y.shape == given.shape
        return Answer(given, y if fits else None, "" if fits else "shape")


def _fits(given: Given) -> bool:
    _, _, heads, dim = given.shape
    return given.x.size > 0 and heads * dim <= _WIDEST


def _of_whole_heads(session: Session, function: str) -> Profile | None:
    """Return what is claimed of the rotation in a function; None where that is another."""
    profile, taken = session.profile, session.offers[function].keywords
    if function in OF_SCHEMES:
        profile = replace(profile, scaling=None)
    if profile.scheme is not None or profile.numbers or profile.trailing or profile.pairs_apart:
        return None
    layouts = profile.layouts if "interleaved" in taken else profile.layouts[:1]
    of_neighbours = function in ("apply_rotary_complex", "apply_rotary_emb")
    return replace(profile, layouts=(True,) if of_neighbours else layouts)
