"""Identification: from calls alone to the facts about a rotation."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ropespec.conformance.identify import classes, contract, state
from ropespec.conformance.identify.blocks import (
    APART,
    NEAR,
    SHORT,
    Phases,
    block_form,
    growth,
    phases,
)
from ropespec.conformance.identify.calling import Calling, find_calling
from ropespec.conformance.identify.digits import (
    Angles,
    angle_grid,
    entry_grid,
    nearest_position,
    rounded,
    single_angles,
    table_steps,
)
from ropespec.conformance.identify.facts import (
    Block,
    Fact,
    Identification,
    Name,
    Pairing,
    Source,
)
from ropespec.conformance.identify.gradient import find_gradient
from ropespec.conformance.identify.ladder import USUAL, Ladder, Rung, fit
from ropespec.conformance.identify.model import Model
from ropespec.conformance.identify.operator import (
    Blocks,
    Channels,
    Reader,
    read_blocks,
    read_channels,
)
from ropespec.conformance.identify.others import find_others
from ropespec.conformance.identify.paths import find_paths
from ropespec.conformance.identify.probe import Lost, Probe
from ropespec.conformance.identify.ranges import negative_positions, read_far
from ropespec.conformance.identify.sentences import sentence
from ropespec.conformance.identify.sources import Sources, find_sources
from ropespec.conformance.profile import Profile, as_options
from ropespec.conformance.subject.session import Session

__all__ = ["identify"]

_UNSTEADY = (Source.OTHER, Source.TAKEN, Source.LEFT, Source.STALE)
_STRAIGHT = (Pairing.INTERLEAVED, Pairing.HALF)


@dataclass(slots=True)
class _Notes:
    """Facts as they are found."""

    facts: dict[Name, Fact] = field(default_factory=dict)

    def add(self, name: Name, value: Any, certainty: float = 1.0) -> None:  # noqa: ANN401  # as Fact
        self.facts[name] = Fact(name, value, certainty, sentence(name, value, self.values()))

    def tell(self, name: Name, value: Any, certainty: float = 1.0) -> None:  # noqa: ANN401  # as Fact
        """Add what was found out; nothing if that is None."""
        if value is not None:
            self.add(name, value, certainty)

    def values(self) -> dict[Name, Any]:
        return {name: fact.value for name, fact in self.facts.items()}


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
        Facts, each with how sure it is. A subject that crashes or hangs yields those found before.
    """
    began = time.perf_counter()
    notes = _Notes()
    calls = 0
    with np.errstate(all="ignore"):
        try:
            if "apply_rotary" in session.offers:
                calls = _rotation(session, notes, try_axes=try_axes)
            others = find_others(session)
            if others:
                notes.add(Name.OTHERS, others)
        except Lost as lost:
            notes.add(Name.ANSWER, lost.answer)
    order = list(Name)
    facts = tuple(sorted(notes.facts.values(), key=lambda fact: order.index(fact.name)))
    profile = session.profile
    return Identification(
        session.target,
        facts,
        calls,
        time.perf_counter() - began,
        profile.array,
        _stated(profile),
    )


_FOUND = ("array", "axes", "shared_positions", "base", "rotary_dim", "head_dims")


def _stated(profile: Profile) -> str:
    """Return the options for what is claimed and not found out."""
    claims = {name: value for name, value in profile.as_dict().items() if name not in _FOUND}
    return " ".join(as_options(claims, Profile(layouts=(False,)).as_dict()))


def _rotation(session: Session, notes: _Notes, *, try_axes: bool) -> int:
    calling = find_calling(session, try_axes=try_axes)
    probe = calling.probe
    if calling.answer != "values":
        _no_values(calling, notes)
        return probe.calls
    notes.add(Name.ANSWER, "values")
    notes.add(Name.AXES, probe.manner.axes, 0.99 if calling.sure else 0.8)
    notes.add(Name.AXES_TRIED, calling.tried)
    shared = probe.manner.shared or probe.manner.axes == "shd"
    notes.add(Name.POSITIONS, "(S,)" if shared else "(B, S)", 0.95)
    only = calling.other_dim == calling.head_dim
    notes.add(Name.HEAD_DIM, calling.head_dim, 0.6 if only else 0.99)
    try:
        _structure(calling, notes)
    finally:
        notes.add(Name.WRITES, tuple(sorted(probe.written)))
        if session.profile.framework.has_places:
            notes.add(Name.ALIAS, probe.aliased)
    return probe.calls


def _no_values(calling: Calling, notes: _Notes) -> None:
    seen = calling.seen
    if calling.answer == "raises":
        notes.add(Name.ANSWER, f"raises {seen.error}"[:200])
    elif seen.shape:
        notes.add(Name.ANSWER, f"another shape: {seen.shape}")
    else:
        notes.add(Name.ANSWER, f"no array: {seen.dtype}")


def _structure(calling: Calling, notes: _Notes) -> None:
    """Sources of positions, pairs, blocks, frequencies; then all that is told by comparing."""
    probe, dim = calling.probe, calling.head_dim
    if calling.seen.y is not None and not np.isfinite(calling.seen.y).all():
        notes.add(Name.ANSWER, "not a number")
        return
    if drift := state.repeated(probe, dim):
        notes.add(Name.HISTORY, drift, 0.95)
        return  # nothing else can be read off a subject that does not repeat itself
    sources = find_sources(probe, dim)
    if sources is None:
        return
    own = sources.tokens in (Source.OWN, Source.OTHER)
    if own and (uneven := state.baked_length(probe, dim)):
        notes.add(Name.TOKENS, Source.UNEVEN, 0.9)
        notes.add(Name.HISTORY, uneven if uneven == "other" else f"{uneven} of the tokens", 0.8)
        return
    notes.add(Name.ROWS, sources.rows, 0.95)
    notes.add(Name.TOKENS, sources.tokens, 0.95)
    notes.add(Name.HEADS, "alike" if sources.heads_alike else "differ")
    model = None
    if sources.tokens is not Source.HEAD:
        reader = Reader(probe, sources)
        channels = read_channels(reader, dim)
        if channels is not None:
            _note_channels(channels, notes)
            model = _frequencies(calling, reader, channels, notes)
    _comparisons(calling, sources, model, notes)
    if model is not None and notes.values().get(Name.ANGLES) == ("exact", ""):
        _other_dtypes(probe, sources, model, notes)


def _other_dtypes(probe: Probe, sources: Sources, model: Model, notes: _Notes) -> None:
    """Look at the number grids again for x of the other claimed dtypes."""
    for dtype in probe.session.profile.dtypes:
        if dtype == probe.dtype:
            continue
        typed = replace(probe, dtype=dtype)
        reader = Reader(typed, sources)
        near = read_blocks(reader, model.channels, NEAR)
        if near is None or not np.isfinite(near.matrix).all():
            continue
        angles = angle_grid(near, model.speed, model.offset)
        if angles.kind == "exact" and dtype == "float64":
            angles = single_angles(near, model.speed, model.offset)
        limit = probe.session.profile.max_position
        if angles.kind == "exact":
            far = read_far(reader, model.channels, model.speed, model.offset, limit)
            if far is not None and far.policy == "rounded":
                angles = Angles("positions", far.detail)
        if angles.kind != "exact":
            notes.add(Name.ANGLES, (angles.kind, angles.dtype, dtype), 0.9)
            return


def _note_channels(channels: Channels, notes: _Notes) -> None:
    pairing = channels.pairing
    if channels.permuted == "de-interleaved":
        pairing = Pairing.DEINTERLEAVED
    elif channels.permuted:
        pairing = Pairing.PERMUTED
    count = len(channels.inputs)
    notes.add(Name.PAIRING, pairing, 0.99 if count > 1 or pairing is Pairing.NONE else 0.5)
    if channels.diagonal:
        notes.add(Name.BLOCK, channels.diagonal, 0.95)
    if pairing is Pairing.CROSSING_HEADS:
        return
    notes.add(Name.ROTARY_DIM, channels.rotary_dim)
    end = channels.start + channels.rotary_dim
    all_turn = channels.rotary_dim == channels.head_dim
    where = "all" if all_turn else "first" if channels.start == 0 else "middle"
    if not all_turn and channels.start > 0 and end == channels.head_dim:
        where = "last"
    notes.add(Name.ROTATED_END, where)
    notes.add(Name.TAIL, channels.tail)


def _frequencies(
    calling: Calling, reader: Reader, channels: Channels, notes: _Notes
) -> Model | None:
    """Read the ladder, and what depends on knowing it."""
    if not len(channels.inputs):
        return None
    near = read_blocks(reader, channels, NEAR) or read_blocks(reader, channels, SHORT)
    if near is None or not np.isfinite(near.matrix).all():
        return None
    form, _ = block_form(near)
    notes.add(Name.BLOCK, form, 0.95)
    if form not in (Block.ROTATION, Block.PARTLY) or _no_angles(near, notes):
        return None
    measured = [(near, channels), *_at_other_width(calling, reader, channels, notes)]
    near, ladder = _ladder(measured, calling.probe.session.profile.base)
    turned = phases(near)
    _note_ladder(ladder, turned, _gain(near), notes)
    if form is Block.PARTLY or _first_width(reader, ladder, measured, notes):
        return None
    sign = np.sign(turned.speed) if ladder.mixed else -1.0 if ladder.clockwise else 1.0
    speed = turned.speed if ladder.exact is None else sign * ladder.exact
    angles = Angles("exact")
    if ladder.exact is not None and np.isfinite(turned.offset):
        angles = angle_grid(near, speed, turned.offset)
    held = turned.speed if angles.kind == "exponents" else speed
    if angles.kind == "frequencies":
        held = sign * rounded(np.abs(speed), angles.dtype)
    model = Model(channels, held, turned.offset, float(np.median(near.gain)))
    if np.isfinite(turned.offset) and turned.linear:
        used = (calling.head_dim, calling.other_dim)
        _note_digits(reader, model, near, angles, ladder, used, notes)
    elif angles.kind == "angles":
        notes.add(Name.ANGLES, ("angles", angles.dtype), 0.95)
    return model


def _no_angles(near: Blocks, notes: _Notes) -> bool:
    """Whether cosines and sines are such that no angle can be read off them, and say why."""
    if _gain(near) == APART:
        notes.add(Name.GAIN, APART, 0.9)
    elif steps := table_steps(near):
        notes.add(Name.TABLE, steps, 0.9)
    else:
        return False
    return True


_Measured = list[tuple[Blocks, Channels]]


def _first_width(reader: Reader, ladder: Ladder, measured: _Measured, notes: _Notes) -> bool:
    """Whether frequencies may be kept from the first head_dim; then nothing else is to be read."""
    channels = measured[0][1]
    if len(measured) < 2 or ladder.exponent != f"2i/{channels.rotary_dim}":
        return False
    kept = state.follows_first_width(reader, measured[1][1])
    if kept is not False:
        notes.add(Name.HISTORY, "first width", 0.9 if kept else 0.5)
    return kept is not False


def _ladder(measured: _Measured, base: float) -> tuple[Blocks, Ladder]:
    """Fit the frequencies; return the blocks, too, as far as they follow them."""
    near, ladder = measured[0][0], fit(_rungs(measured), base)
    if ladder.exact is None and not phases(near).linear:
        # A position that is held in a few bits goes wrong at 128 already.
        shorter = [(blocks.up_to(64), of) for blocks, of in measured]
        again = fit(_rungs(shorter), base)
        if again.exact is not None:
            return shorter[0][0], again
    return near, ladder


def _rungs(measured: _Measured) -> list[Rung]:
    return [Rung(phases(b).speed, of.rotary_dim, of.head_dim) for b, of in measured]


def _at_other_width(
    calling: Calling, reader: Reader, channels: Channels, notes: _Notes
) -> _Measured:
    """Measure at another head_dim: it tells what rotary_dim and the exponent follow."""
    turning, dim = channels.rotary_dim, channels.head_dim
    rule = "all" if turning == dim else "fixed"
    found: _Measured = []
    if calling.other_dim != dim:
        other = read_channels(reader, calling.other_dim)
        blocks = None
        if other is not None and len(other.inputs):
            blocks = read_blocks(reader, other, NEAR) or read_blocks(reader, other, SHORT)
        if blocks is not None and _short(blocks):
            notes.add(Name.HISTORY, "other width", 0.8)
        elif other is not None and blocks is not None and np.isfinite(blocks.matrix).all():
            found = [(blocks, other)]
            if rule == "fixed" and other.rotary_dim * dim == turning * calling.other_dim:
                rule = "share"
    if channels.pairing is not Pairing.CROSSING_HEADS:
        notes.add(Name.ROTARY_RULE, rule, 0.95 if found else 0.6)
    return found


def _short(blocks: Blocks) -> bool:
    """Whether a table at this head_dim ends before position 128, though it does not at another."""
    if phases(blocks).linear or blocks.positions[-1] != 128:
        return False
    speed = phases(blocks.up_to(16)).speed
    place, off = nearest_position(blocks.angle[-1], speed, np.arange(129))
    return off < 0.01 and place < 128


def _note_ladder(ladder: Ladder, turned: Phases, gain: float | str, notes: _Notes) -> None:
    way = "clockwise" if ladder.clockwise else "counter-clockwise"
    notes.add(Name.DIRECTION, "both ways" if ladder.mixed else way, 0.99)
    if np.isfinite(ladder.base):
        notes.add(Name.BASE, ladder.base, ladder.certainty)
    notes.add(Name.EXPONENT, ladder.exponent, ladder.certainty)
    notes.add(Name.SCHEME, ladder.scheme, ladder.certainty)
    notes.add(Name.FREQUENCIES, tuple(float(w) for w in np.abs(turned.speed)), 0.95)
    notes.add(Name.POSITION_SCALE, ladder.scale, ladder.certainty)
    if np.isfinite(turned.offset):
        notes.add(Name.POSITION_OFFSET, turned.offset, 0.95)
    notes.add(Name.GAIN, gain, 0.95 if isinstance(gain, float) else 0.6)


def _gain(near: Blocks) -> float | str:
    """Return the factor on all lengths, or how it varies."""
    gain = near.gain[:, np.isfinite(near.gain).all(axis=0)]
    typical = float(np.median(gain))
    level = bool(np.abs(gain - typical).max() < 0.02 * abs(typical))
    return round(typical, 4) if level else growth(near)


def _note_digits(
    reader: Reader,
    model: Model,
    near: Blocks,
    angles: Angles,
    ladder: Ladder,
    used: tuple[int, ...],
    notes: _Notes,
) -> None:
    """Number grids, then far and negative positions, then what is left behind."""
    probe = reader.probe
    table = entry_grid(near)
    notes.add(Name.TABLE, table or "float32 or better", 0.9)
    notes.tell(Name.ARITHMETIC, classes.arithmetic(probe, model.channels.head_dim), 0.9)
    steady = reader.sources.tokens not in _UNSTEADY
    if steady and not table:
        left = state.after_other_dtype(probe, reader, model.channels, near, used)
        if left:
            notes.add(Name.HISTORY, left, 0.9)
    own = reader.sources.tokens in (Source.OWN, Source.ONE)
    claimed = probe.session.profile
    limit = claimed.max_position
    far = None
    if own and ladder.exact is not None and angles.kind != "angles":
        if claimed.negative_positions:
            found = negative_positions(reader, model.channels, model.speed, model.offset)
            notes.tell(Name.NEGATIVE, found, 0.95)
        far = read_far(reader, model.channels, model.speed, model.offset, limit)
        grid = (angles.kind, angles.dtype)
        if far is not None and far.policy == "rounded":
            both = angles.kind == "frequencies"
            grid = ("positions and frequencies" if both else "positions", far.detail)
        notes.add(Name.ANGLES, grid, 0.95)
        if far is not None:
            notes.add(Name.LARGEST, (far.policy, far.limit), 0.9)
    elif ladder.exact is not None:
        notes.add(Name.ANGLES, (angles.kind, angles.dtype), 0.95)
    if own and Name.HISTORY not in notes.facts:
        notes.tell(Name.HISTORY, state.after_far(probe, reader, model.channels, near), 0.9)
    channels = model.channels
    straight = channels.pairing in _STRAIGHT and channels.start == 0 and not channels.permuted
    usual = ladder.exponent == USUAL and ladder.scale == 1.0 and not ladder.turned
    if straight and usual and own and model.offset == 0 and np.isfinite(ladder.base):
        sound = far is not None and far.policy in ("right", "fast")
        reach = min(far.limit if far is not None and sound else 200, limit)
        found_classes = classes.precision_classes(probe, model, ladder.base, reach)
        notes.tell(Name.PRECISION, found_classes or None, 0.9)


def _comparisons(calling: Calling, sources: Sources, model: Model | None, notes: _Notes) -> None:
    """What is told by comparing calls with calls."""
    probe, dim = calling.probe, calling.head_dim
    claimed = probe.session.profile
    notes.add(Name.RESULT_DTYPE, contract.result_dtypes(probe, dim))
    notes.tell(Name.LINEAR, contract.linearity(probe, dim), 0.95)
    if claimed.strided:
        notes.tell(Name.STRIDES, contract.strides(probe, dim))
    notes.tell(Name.REACH, contract.reach(probe, dim))
    notes.add(
        Name.PATHS,
        tuple(
            (path.name, path.which, path.what) for path in find_paths(probe, dim, sources, model)
        ),
        0.95,
    )
    notes.tell(Name.CONTAINMENT, contract.containment(probe, dim, model))
    if claimed.empty:
        notes.tell(Name.EMPTY, contract.empty(probe, dim))
    notes.add(Name.FLAGS, contract.ignored_keywords(probe, dim))
    notes.tell(Name.LAYOUTS, contract.layouts(probe, dim, model))
    if model is not None and notes.values().get(Name.POSITION_SCALE) == 2.0:
        twice = classes.stored_twice(probe, model)
        if twice is not None:
            notes.add(Name.STORES, "two" if twice else "one", 0.8)
    if claimed.gradients:
        notes.tell(Name.GRADIENT, find_gradient(probe, dim, model), 0.95)
