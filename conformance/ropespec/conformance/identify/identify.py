"""Identification: measured, proposed, and run beside the subject on fresh calls."""

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ropespec.conformance.diagnosis.ask import Lost
from ropespec.conformance.identify.angles import Rung, read_rung
from ropespec.conformance.identify.calling import Calling, find_calling
from ropespec.conformance.identify.classes import precision_classes
from ropespec.conformance.identify.contract import contract
from ropespec.conformance.identify.facts import Fact, Identification, Name, Pairing
from ropespec.conformance.identify.followed import anew, numbered, read_numbers
from ropespec.conformance.identify.found import Explained, Found, confirmed, forms, proposals
from ropespec.conformance.identify.operator import MODES, Channels, read_channels
from ropespec.conformance.identify.probe import Probe
from ropespec.conformance.identify.ranges import largest, limit_of, negative
from ropespec.conformance.identify.sentences import SEVERAL, sentence
from ropespec.conformance.mistakes.numbers import measured
from ropespec.conformance.profile import Profile, as_options
from ropespec.conformance.scaled import said
from ropespec.conformance.subject.session import Session
from ropespec.spec.convention import Frequencies
from ropespec.spec.convention import Pairing as Claimed
from ropespec.spec.scaling import Proportional, words

__all__ = ["identify"]


@dataclass(slots=True)
class _Notes:
    """Facts as they are found, and the convention."""

    facts: dict[Name, Fact] = field(default_factory=dict)
    found: Found | None = None
    explained: Explained | None = None
    calls: int = 0

    def tell(self, name: Name, value: Any) -> None:  # noqa: ANN401  # as Fact
        """Add what was found out; nothing if that is None."""
        if value is not None:
            self.facts[name] = Fact(name, value, sentence(name, value))


def identify(session: Session, *, try_axes: bool = False) -> Identification:
    """Find out what a subject does from its inputs and outputs alone.

    Parameters
    ----------
    session : Session
        The subject. It is called as its profile says; its layout and base are what is found out.
    try_axes : bool
        Whether it is called in other orders of axes and forms of positions, too.

    Returns
    -------
    Identification
        Facts, and the convention with what it explains of fresh calls. A subject that crashes or
        hangs yields those found before.
    """
    began = time.perf_counter()
    notes = _Notes()
    with np.errstate(all="ignore"):
        try:
            if "apply_rotary" in session.offers:
                _rotation(session, notes, try_axes=try_axes)
        except Lost as lost:
            notes.tell(Name.ANSWER, lost.answer)
    return Identification(
        session.target,
        tuple(notes.facts[name] for name in Name if name in notes.facts),
        notes.calls,
        time.perf_counter() - began,
        session.profile.array,
        _stated(session.profile, notes.found),
        notes.found,
        notes.explained,
    )


_FOUND = ("array", "axes", "shared_positions", "base", "scaling", "rotary_dim", "head_dims")
_NUMBERED = ("sections", "sections_in_turn", "axial", "frequencies")


def _stated(profile: Profile, found: Found | None) -> str:
    """Return the options for what is claimed and not found out."""
    numbers = _NUMBERED if found is not None and found.by.axes else ()
    names = {*_FOUND, *numbers}
    claims = {name: value for name, value in profile.as_dict().items() if name not in names}
    return " ".join(as_options(claims, Profile(layouts=(False,)).as_dict()))


def _rotation(session: Session, notes: _Notes, *, try_axes: bool) -> None:
    calling = find_calling(session, try_axes=try_axes)
    probe = calling.probe
    if not calling.answers:
        notes.tell(Name.ANSWER, _no_values(calling))
        return
    notes.tell(Name.ANSWER, "values")
    notes.tell(Name.AXES, probe.manner.axes)
    notes.tell(Name.AXES_TRIED, calling.tried)
    notes.tell(Name.POSITIONS, "(S,)" if probe.manner.one_row else "(B, S)")
    notes.tell(Name.HEAD_DIM, calling.head_dims)
    try:
        _structure(calling, notes)
        sure = notes.found if notes.explained is not None and notes.explained.is_whole else None
        for name, value in contract(probe, calling.head_dims[0], sure):
            notes.tell(name, value)
    finally:
        notes.calls = probe.asker.calls
        notes.tell(Name.WRITES, tuple(sorted(probe.written)))
        if session.profile.framework.has_places:
            notes.tell(Name.ALIAS, probe.aliased)


def _no_values(calling: Calling) -> str:
    if calling.seen is None:
        return "nothing that can be asked for"
    said_, detail = calling.seen.fault, calling.seen.detail
    return f"raises {detail}"[:200] if said_ == "raises" else f"{said_}: {detail[-60:]}"


def _structure(calling: Calling, notes: _Notes) -> None:
    """Read pairs and frequencies, propose conventions that have them, and try these."""
    probe, dims = calling.probe, calling.head_dims
    read, rungs = _read(probe, dims)
    if not read:
        return
    pairings = list(forms(read, Claimed.of(probe.profile.layouts[0])))
    _note_channels(read, pairings, notes)
    if read[0].crosses or not read[0].is_paired or not len(read[0].inputs):
        return
    notes.tell(Name.ROTATION, bool(rungs))
    if rungs:
        _note_rungs(rungs, notes)
        pairings, likely = _numbered(probe, read[0], rungs, pairings, notes)
        _try(probe, proposals(pairings, rungs, probe.profile, read, likely), notes)


def _numbered(
    probe: Probe,
    channels: Channels,
    rungs: Sequence[Rung],
    pairings: list[Found],
    notes: _Notes,
) -> tuple[list[Found], list[Frequencies]]:
    """Read which numbers pairs follow; return the pairings with it, and frequencies of its own."""
    found, claimed = read_numbers(probe, channels, MODES[0]), probe.profile.convention
    if found is None:
        return pairings, []
    followed = found.followed
    notes.tell(Name.NUMBERS, SEVERAL if followed is None else measured(followed)[1])
    if followed is None:
        return [replace(one, by=replace(one.by, axes=claimed.axes)) for one in pairings], []
    own = [numbered(one, followed, claimed.axes) for one in pairings]
    return own, list(anew(rungs, followed, claimed.frequencies))


def _read(probe: Probe, dims: Sequence[int]) -> tuple[list[Channels], list[Rung]]:
    """Read pairs and frequencies at each head_dim, in the way that makes angles linear."""
    first: tuple[list[Channels], list[Rung]] = [], []
    for mode in MODES:
        read = [one for dim in dims if (one := read_channels(probe, dim, mode)) is not None]
        if read and read[0].crosses:
            return read, []
        if not read or not read[0].is_paired or not len(read[0].inputs):
            first = first if first[0] else (read, [])
            continue
        measured = [read_rung(probe, channels, mode) for channels in read]
        rungs = [one for one in measured if one is not None]
        if rungs and all(one.is_linear and np.isfinite(one.offset) for one in rungs):
            return read[: len(rungs)], rungs
        first = first if first[1] or not len(read[0].inputs) else (read, rungs)
    return first


_OTHERWISE = {"R1": Pairing.HALF_OF_HEAD, "L3": Pairing.DEINTERLEAVED}


def _note_channels(read: Sequence[Channels], pairings: Sequence[Found], notes: _Notes) -> None:
    channels = read[0]
    if channels.crosses:
        notes.tell(Name.PAIRING, Pairing.CROSSING_HEADS)
        return
    known = pairings[0] if pairings and channels.is_paired else None
    notes.tell(Name.PAIRING, _pairing(known) if channels.inputs.size else Pairing.NONE)
    turning, dim, start = channels.rotary_dim, channels.head_dim, channels.start
    notes.tell(Name.ROTARY_DIM, turning)
    notes.tell(Name.TAIL, channels.tail)
    ends = {0: "first", dim - turning: "last"}
    notes.tell(Name.ROTATED_END, "all" if turning == dim else ends.get(start, "middle"))
    counts = [one.rotary_dim for one in read]
    same = "fixed" if len(set(counts)) == 1 else "share"
    rule = "all" if turning == dim else "alone" if len(read) == 1 else same
    notes.tell(Name.ROTARY_RULE, rule)


def _pairing(form: Found | None) -> Pairing:
    """Name the pairing of a form; None is none that is known."""
    moved = [one.key for one in form.beside if one.stage == "pairing"] if form else ["other"]
    if form is not None and moved in ([], ["R9"]):
        return Pairing.INTERLEAVED if form.by.pairing is Claimed.INTERLEAVED else Pairing.HALF
    return _OTHERWISE.get(moved[0], Pairing.OTHER)


def _note_rungs(rungs: Sequence[Rung], notes: _Notes) -> None:
    first = rungs[0]
    senses = {bool(one) for one in (first.speed[np.abs(first.speed) > 1e-9] < 0)}
    way = "clockwise" if first.clockwise else "counter-clockwise"
    notes.tell(Name.DIRECTION, "both ways" if len(senses) > 1 else way)
    notes.tell(Name.FREQUENCIES, tuple(float(one) for one in np.abs(first.speed)))
    if np.isfinite(first.offset):
        notes.tell(Name.POSITION_OFFSET, first.offset)
    level = np.isfinite(first.gain)
    gain = round(first.gain, 4) if level else None
    notes.facts[Name.GAIN] = Fact(Name.GAIN, gain, sentence(Name.GAIN, gain))


def _try(probe: Probe, tried: Iterator[Found], notes: _Notes) -> None:
    """Find how far positions go under the first proposal, and confirm one within that."""
    first = next(tried, None)
    if first is None:
        return
    dim = notes.facts[Name.HEAD_DIM].value[0]
    profile, chain = probe.profile, first.chain
    far = largest(probe, dim, chain)
    notes.tell(Name.LARGEST, far)
    if (limit := limit_of(far)) is not None:
        profile = replace(profile, max_position=min(profile.max_position, max(limit, 1)))
    if profile.negative_positions:
        below = negative(probe, dim, chain)
        notes.tell(Name.NEGATIVE, below)
        profile = replace(profile, negative_positions=below in ("right", None))
    found, explained = confirmed(itertools.chain([first], tried), probe.asker, profile)
    notes.found, notes.explained = found, explained
    if found is not None and not found.beside:
        classes = precision_classes(probe, found.by.text, dim, profile.max_position)
        notes.tell(Name.PRECISION, classes or None)
    if found is not None and explained is not None:
        _note_found(found, explained, notes)


def _note_found(found: Found, explained: Explained, notes: _Notes) -> None:
    scheme = found.scheme
    notes.tell(Name.CONFIRMED, str(explained))
    notes.tell(Name.PAIRING, _pairing(found))
    if found.rates is None:
        notes.tell(Name.BASE, found.by.frequencies.base)
        notes.tell(Name.SCHEME, "unscaled" if scheme is None else said(words.say(scheme)))
    else:
        notes.tell(Name.EXPONENT, "given")
    if found.axial:
        notes.tell(Name.EXPONENT, "axial")
    if isinstance(scheme, Proportional):
        notes.tell(Name.ROTARY_RULE, "still")
    if found.beside and explained.is_whole:
        notes.tell(Name.BESIDE, tuple(one.what for one in found.beside))
