"""Rules about the shape of the operator: answer, sources of positions, pairs, blocks, width."""

from collections.abc import Iterator

from ropespec.conformance.identify.facts import Block, Diagnosis, Name, Pairing, Source
from ropespec.conformance.identify.view import Rule, View, named

__all__ = ["FINAL", "RULES", "Rule", "proportional"]


def answer(view: View) -> Iterator[Diagnosis]:
    """No result to look at."""
    said = view.value(Name.ANSWER)
    if said in (None, "values") or (said == "timeout" and not view.found.is_nothing):
        return  # a single call may take too long, and nothing hangs
    words = {"timeout": "it hangs", "crash": "it crashes", "not a number": "not a number"}
    if said in words:
        yield named(words[said], 0.9)
    elif said.startswith("another shape"):
        yield named("other shape", 0.8, said)
    elif said.startswith("no array"):
        yield named("no array", 0.8, said)
    else:
        yield named("it raises", 0.8, said)


def axis(view: View) -> Iterator[Diagnosis]:
    """The head index in place of the position."""
    if view.value(Name.TOKENS) is Source.HEAD:
        yield named("X1", 0.95)


def nothing(view: View) -> Iterator[Diagnosis]:
    """No rotation at all."""
    if view.value(Name.PAIRING) is not Pairing.NONE or view.value(Name.BLOCK) is not None:
        return
    if view.value(Name.TAIL) == "zeroed":
        yield named("R9", 0.7, "everything is zero")
    elif view.claimed.rotary_dim is None:
        yield named("A3", 0.75)
        yield named("R4", 0.15)
    else:
        yield named("R4", 0.5)
        yield named("A3", 0.5)


_TOKENS = {
    Source.COUNTED: ("P1", 0.95),
    Source.ONE: ("P4", 0.95),
    Source.STALE: ("C1", 0.95),
    Source.FROM_FIRST: ("counted from the first position", 0.8),
    Source.FIRST_PART: ("B3", 0.95),
    Source.LOCAL: ("local positions", 0.95),
    Source.MOVED: ("positions not reordered", 0.9),
    Source.LEFT: ("tokens left out", 0.8),
    Source.TAKEN: ("rotated by the position of another", 0.9),
}


def sources(view: View) -> Iterator[Diagnosis]:
    """Positions taken from elsewhere."""
    tokens, rows = view.value(Name.TOKENS), view.value(Name.ROWS)
    if tokens in _TOKENS:
        yield named(*_TOKENS[tokens])
    plain = tokens is Source.OWN and view.value(Name.PAIRING) is not Pairing.CROSSING_HEADS
    if plain and view.value(Name.HEADS) == "differ":
        yield named("heads rotated differently", 0.7)
    if rows is Source.ROW:
        yield named("B5", 0.95)
    elif rows is Source.LARGEST:
        yield named("P6", 0.95)


def pairing(view: View) -> Iterator[Diagnosis]:
    """Components that do not belong together."""
    found = view.value(Name.PAIRING)
    ignored = dict(view.value(Name.FLAGS) or ())
    if "interleaved" in ignored:
        yield named("L6", 0.95, f"calls: {ignored['interleaved']}")
        return
    match found:
        case Pairing.CROSSING_HEADS:
            yield named("X3", 0.95)
        case Pairing.PERMUTED:
            yield named("pairs in another order", 0.9)
        case Pairing.DEINTERLEAVED:
            yield named("L3", 0.95)
        case Pairing.HALF_OF_HEAD if view.claimed.rotary_dim is not None:
            yield named("R1", 0.9, "the distance within a pair is head_dim/2")
        case Pairing.INTERLEAVED | Pairing.HALF:
            asked = Pairing.INTERLEAVED if view.claimed.layouts[0] else Pairing.HALF
            if found is not asked and view.value(Name.ROTARY_DIM) != 2:
                yield named("L1", 0.95, f"found {found}, claimed {asked}")
        case _:
            pass


def block(view: View) -> Iterator[Diagnosis]:
    """A 2x2 matrix that is no rotation."""
    match view.value(Name.BLOCK):
        case Block.LOST_SINE:
            yield named("D13", 0.9)
        case Block.LOST_MINUS:
            yield named("lost minus", 0.9)
        case Block.OVERWRITTEN:
            yield named("M2", 0.95)
        case Block.EXCHANGED:
            yield named("pairs in another order", 0.9, "its members change places")
        case Block.UNEQUAL:
            yield named("L2", 0.9)
        case Block.PARTLY:
            yield named("some pairs rotated otherwise", 0.8)
        case _:
            pass
    if view.value(Name.DIRECTION) == "clockwise":
        yield named("S1", 0.95)
    elif view.value(Name.DIRECTION) == "both ways":
        yield named("S1", 0.8, "of some pairs")


def width(view: View) -> Iterator[Diagnosis]:
    """How many components turn, and where."""
    turning, dim = view.value(Name.ROTARY_DIM), view.value(Name.HEAD_DIM)
    unread = view.value(Name.PAIRING) in (Pairing.NONE, Pairing.OTHER, Pairing.PERMUTED)
    asked = view.claimed.rotary_dim
    if view.value(Name.PAIRING) is Pairing.OTHER and asked is not None:
        if turning == 1 << (asked - 1).bit_length() != asked:
            yield named("R6", 0.85, f"{turning} of {dim} are rotated, {asked} claimed")
        return
    if turning is None or unread or proportional(view):
        return
    claimed = view.claimed.rotary_dim or dim
    taken = any(name == "rotary_dim" for name, _ in view.value(Name.FLAGS) or ())
    if taken and turning == dim:
        yield named("R2", 0.9)
        return
    if view.value(Name.TAIL) == "zeroed":
        yield named("R9", 0.9, "the tail is zero")
    if view.value(Name.TAIL) == "scaled":
        yield named("tail scaled", 0.9)
    if view.value(Name.ROTATED_END) in ("last", "middle"):
        yield named("R9", 0.9, f"the {view.value(Name.ROTATED_END)} components are rotated")
    if turning == claimed:
        return
    if view.value(Name.PAIRING) is Pairing.HALF_OF_HEAD and turning <= claimed:
        return
    detail = f"{turning} of {dim} are rotated, {claimed} claimed"
    yield from _amount(turning, claimed, dim, detail)


def _amount(turning: int, claimed: int, dim: int, detail: str) -> Iterator[Diagnosis]:
    """Too few or too many components."""
    padded = 1 << (claimed - 1).bit_length()
    if turning < claimed:
        yield named("R3", 0.9 if turning * 2 == claimed else 0.7, detail)
    elif turning == padded == dim:
        yield named("R2", 0.5, detail)
        yield named("R6", 0.5, detail)
    elif turning == padded:
        yield named("R6", 0.9, detail)
    else:
        yield named("R2", 0.95 if turning == dim else 0.5, detail)


def proportional(view: View) -> bool:
    """Whether some pairs of a whole head stand still, as if their frequency were zero."""
    if view.claimed.rotary_dim is not None:
        return False
    still = view.value(Name.PAIRING) is Pairing.HALF_OF_HEAD
    return still or view.value(Name.EXPONENT) == "2i/head_dim"


FINAL: tuple[Rule, ...] = (answer, axis, nothing)
RULES: tuple[Rule, ...] = (sources, pairing, block, width)
