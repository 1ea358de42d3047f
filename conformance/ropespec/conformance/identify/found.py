"""The convention that was found, as something that runs, and what it explains of fresh calls."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.confirm import fresh_calls
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.identify.angles import Rung
from ropespec.conformance.identify.ladders import choices, is_near, ladders, searched
from ropespec.conformance.identify.numbers import rounder
from ropespec.conformance.identify.operator import Channels
from ropespec.conformance.mistakes.chain import RIGHT, Chain, claimed_pairs
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Given
from ropespec.conformance.mistakes.pairing import PAIRINGS
from ropespec.conformance.mistakes.place import combined
from ropespec.conformance.mistakes.product import PRODUCTS
from ropespec.conformance.mistakes.table import gained
from ropespec.conformance.mistakes.widths import WIDTHS
from ropespec.conformance.profile import Profile
from ropespec.spec.axes import Anew, Told
from ropespec.spec.convention import Convention, Frequencies, Pairing
from ropespec.spec.scaling import LongRope, Scaling, Yarn, check_scaling, has_frequencies

__all__ = ["Explained", "Found", "confirmed", "forms", "proposals"]

_HALVES = Convention(Pairing.HALF)
_CLOCKWISE = next(one for one in PRODUCTS if one.key == "S1")
_MOST = 12  # proposals that are tried
_GAINED = 1e-4  # by how much more lengths have to change than float32 changes them


@dataclass(frozen=True, slots=True)
class Explained:
    """What a convention makes of fresh calls.

    Attributes
    ----------
    elements, of : int
        Components that it explains, of all that came.
    calls, silent : int
        Calls that gave numbers, and those that gave none.
    """

    elements: int
    of: int
    calls: int
    silent: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether it explains everything."""
        return self.calls > 0 and self.elements == self.of and not self.silent

    def __str__(self) -> str:
        said = f"explains {self.elements:,} of {self.of:,} components of {self.calls} fresh calls"
        return f"{said}; {self.silent} more gave no numbers" if self.silent else said


@dataclass(frozen=True, slots=True)
class Found:
    """A convention, and what beside it is done that no convention says.

    Attributes
    ----------
    by : Convention
        Pairing, frequencies, and how many components rotate at the head_dim measured.
    beside : tuple of Choice
        What is done otherwise at some stage, found as well.
    share : Fraction or None
        How many components rotate at another head_dim, if that is a share of it.
    fixed : int or None
        The head_dim, if all this is known of that one alone.
    """

    by: Convention
    beside: tuple[Choice, ...] = ()
    share: Fraction | None = None
    fixed: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it can be claimed: nothing is done beside the convention."""
        return not self.beside

    @property
    def scheme(self) -> Scaling | None:
        """How frequencies are scaled; where they begin anew, those of each section."""
        scheme = self.by.frequencies.scheme
        scheme = scheme.scheme if isinstance(scheme, Anew) else scheme
        return None if scheme is None or isinstance(scheme, Told) else check_scaling(scheme)

    @property
    def rates(self) -> tuple[tuple[float, ...], ...] | None:
        """At which rates pairs follow several numbers at once; None where they do not."""
        scheme = self.by.frequencies.scheme
        return scheme.frequencies if isinstance(scheme, Told) else None

    @property
    def axial(self) -> bool:
        """Whether the frequencies begin anew with each section."""
        return isinstance(self.by.frequencies.scheme, Anew)

    @property
    def chain(self) -> Chain:
        """What it computes, whatever the keywords of a call say."""
        chain = replace(RIGHT, call=self._call)
        for choice in self.beside:
            chain = choice.chain(chain)
        return chain

    def _call(self, given: Given) -> Given:
        width, by = given.x.shape[-1], self.by
        dim = by.rotary_dim if self.share is None else int(width * self.share)
        asked = by if given.axes else by.text
        return replace(given, convention=replace(asked, rotary_dim=dim))

    def profile(self, claimed: Profile) -> Profile:
        """Return the claims under which it can be tried: sizes that it is known of."""
        if self.fixed is not None:
            return replace(claimed, head_dims=(self.fixed,))
        scheme, least = self.scheme, self.by.rotary_dim or 2
        dims = [one for one in claimed.head_dims if one >= least]
        if scheme is not None:
            dims = [one for one in dims if has_frequencies(scheme, self.by.dim(one))]
        return replace(claimed, head_dims=tuple(dims) or claimed.head_dims)


def forms(read: Sequence[Channels], claimed: Pairing) -> Iterator[Found]:
    """Return the pairings that pair and write what was read, without frequencies.

    Parameters
    ----------
    read : sequence of Channels
        At one or two head dimensions.
    claimed : Pairing
        Tried first: a single pair belongs to both.
    """
    first = read[0]
    fixed = None if first.rotary_dim == first.head_dim else first.rotary_dim
    share = None
    if fixed is not None and len({one.rotary_dim for one in read}) > 1:
        share = Fraction(first.rotary_dim, first.head_dim)
    partial = first.head_dim if fixed is not None else None
    moved = [one for one in (*PAIRINGS, *WIDTHS) if set(one.change) == {"pairing"}]
    for choice in (None, *moved):
        for pairing in (claimed, *(one for one in Pairing if one is not claimed)):
            beside = () if choice is None else (choice,)
            found = Found(Convention(pairing, rotary_dim=fixed), beside, share, partial)
            if all(_pairs(found.chain, one) for one in read):
                yield found


def _pairs(chain: Chain, read: Channels) -> bool:
    """Whether a chain pairs the components that were read to turn together."""
    given = Given(np.zeros((1, 1, 1, read.head_dim)), np.zeros((1, 1), np.int64), _HALVES)
    taken = chain.call(given)
    pairs = chain.pairing(taken) if taken.turning <= read.head_dim else claimed_pairs(given)
    if len(pairs.first) != len(read.inputs):
        return False
    made = np.stack([*np.sort(pairs[:2], axis=0), *np.sort(pairs[2:], axis=0)])
    made = made[:, np.argsort(made[0])]
    return np.array_equal(made, np.concatenate([read.inputs, read.outputs], axis=1).T)


def proposals(
    pairings: Sequence[Found],
    rungs: Sequence[Rung],
    claimed: Profile,
    whole: Sequence[Channels],
    likely: Iterable[Frequencies] = (),
) -> Iterator[Found]:
    """Return conventions that have what was measured, likely ones first.

    Parameters
    ----------
    pairings : sequence of Found
        As `forms` returns them.
    rungs : sequence of Rung
        Frequencies at one or two head dimensions.
    claimed : Profile
        The claims; its base and its scheme are tried first.
    whole : sequence of Channels
        What turns there, for what rotates a part of a head by frequencies of all of it.
    likely : iterable of Frequencies
        What else was found to be the ones measured.
    """
    own = Frequencies(claimed.base, claimed.scheme)
    turned = _turned(rungs[0])
    if isinstance(own.scheme, Told) and all(is_near(own, rung) for rung in rungs):
        yield from (replace(one, by=replace(one.by, frequencies=own)) for one in pairings)
    for form in pairings:
        if form.is_plain:
            yield from _scaled(form, ladders(rungs, own), rungs, turned)
            yield from _scaled(form, iter(likely), rungs, turned)
    yield from _of_whole(rungs, own, whole, turned)
    for form in pairings:
        if form.is_plain:
            yield from _beside(form, rungs, claimed.base, turned)
            yield from _scaled(form, searched(rungs, claimed.base), rungs, turned)
    for form in pairings:
        if not form.is_plain:
            yield from _scaled(form, ladders(rungs, own), rungs, turned)
            yield from _beside(form, rungs, claimed.base, turned)


def _turned(rung: Rung) -> tuple[Choice, ...]:
    """Return what is done to angles beside their frequencies: another sense, an offset."""
    found = [_CLOCKWISE] if rung.clockwise else []
    if rung.offset:
        found.append(combined((("own", 1.0),), rung.offset))
    return tuple(found)


def _scaled(
    form: Found,
    frequencies: Iterator[Frequencies],
    rungs: Sequence[Rung],
    turned: tuple[Choice, ...],
) -> Iterator[Found]:
    """Put frequencies into a form, with the gain that was measured."""
    gain = rungs[0].gain
    for plain in frequencies:
        of, beside = plain, (*form.beside, *turned)
        if np.isfinite(gain) and abs(gain / float(of.gain) - 1) > max(_GAINED, rungs[0].spread):
            if isinstance(of.scheme, Yarn | LongRope):
                factor = next(rounder(gain, 2e-6, 8))
                of = replace(of, scheme=replace(of.scheme, attention_factor=factor))
            else:
                beside = (*beside, gained(next(rounder(gain / float(of.gain), 2e-5, 6))))
        fixed = rungs[0].head_dim if isinstance(of.scheme, LongRope) else form.fixed
        yield replace(form, by=replace(form.by, frequencies=of), beside=beside, fixed=fixed)


def _of_whole(
    rungs: Sequence[Rung], own: Frequencies, read: Sequence[Channels], turned: tuple[Choice, ...]
) -> Iterator[Found]:
    """Return forms of the whole head in which slow pairs stand still."""
    padded, kept = list[Rung](), list[Channels]()
    for rung, channels in zip(rungs, read, strict=True):
        speed = np.zeros(rung.head_dim // 2)
        speed[: len(rung.speed)] = rung.speed
        padded.append(replace(rung, speed=speed, rotary_dim=rung.head_dim))
        kept.append(channels)
    if padded[0].speed.all():
        return
    for pairing in Pairing:
        form = Found(Convention(pairing))
        if all(_begins(form.chain, one) for one in kept):
            yield from _scaled(form, ladders(padded, own), padded, turned)


def _begins(chain: Chain, read: Channels) -> bool:
    """Whether the pairs that were read are the first of those of a chain."""
    given = Given(np.zeros((1, 1, 1, read.head_dim)), np.zeros((1, 1), np.int64), _HALVES)
    pairs = np.stack(chain.pairing(chain.call(given)))[:, : len(read.inputs)]
    return np.array_equal(pairs, np.concatenate([read.inputs, read.outputs], axis=1).T)


def _beside(
    form: Found, rungs: Sequence[Rung], base: float, turned: tuple[Choice, ...]
) -> Iterator[Found]:
    """Return a form with ladders that nobody can claim."""
    of = Frequencies(base)
    for choice in choices(rungs, base):
        yield replace(
            form, by=replace(form.by, frequencies=of), beside=(*form.beside, *turned, choice)
        )


def confirmed(
    tried: Iterator[Found], asker: Asker, claimed: Profile
) -> tuple[Found | None, Explained | None]:
    """Run proposals beside the subject on fresh calls, those refuted by earlier ones left out.

    Returns
    -------
    tuple
        The first that explains everything, or else the first; and what it explains.
    """
    first: tuple[Found, Explained] | None = None
    seen = list[Seen]()
    for number, found in enumerate(tried):
        if number == _MOST:
            break
        if any(Seen(one.answer, found.chain).off.any() for one in seen):
            continue
        explained = _explained(found, asker, claimed, 5000 + 89 * number, seen)
        if explained.is_whole:
            return found, explained
        first = first or (found, explained)
    return first or (None, None)


def _explained(
    found: Found, asker: Asker, claimed: Profile, seed: int, seen: list[Seen]
) -> Explained:
    """Run one beside fresh calls, in which float arithmetic may make frequencies by recurrence."""
    silent, fresh = 0, list[Seen]()
    profile = replace(found.profile(claimed), layouts=claimed.layouts[:1])
    calls = fresh_calls(Maker(profile), seed)
    for given in (calls[0], *calls, calls[-1]):  # some remember what was asked before
        answer = asker.ask(given)
        if answer is not None and answer.y is not None and answer.fault in ("", "dtype"):
            fresh.append(Seen(answer, found.chain))
        else:
            silent += answer is not None
    seen += fresh
    recurrent = replace(found.chain, recurrent=True)
    off = min(
        sum(int(one.off.sum()) for one in tried)
        for tried in (fresh, [Seen(one.answer, recurrent) for one in fresh])
    )
    of = sum(one.y.size for one in fresh)
    return Explained(of - off, of, len(fresh), silent)
