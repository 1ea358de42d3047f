"""The report on a subject identified: one sentence, what differs, the line to run, the facts."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ropespec.conformance.identify import Identification
from ropespec.conformance.identify.facts import Block, Fact, Name, Pairing, Source
from ropespec.conformance.report.answers import kept_lines
from ropespec.conformance.report.page import Page
from ropespec.conformance.report.summary import diagnosis_lines
from ropespec.conformance.results import Diagnosis

__all__ = ["headline", "print_identification", "print_kept"]

LIKELY = 0.85
"""Facts below this certainty are said to be likely, and no more."""

_PAIRINGS = {
    Pairing.INTERLEAVED: "interleaved (GPT-J/Meta)",
    Pairing.DEINTERLEAVED: "interleaved pairs that come back as halves",
    Pairing.HALF: "half-split (NeoX/Llama)",
    Pairing.HALF_OF_HEAD: "half-split over all of the head, though fewer components are rotated",
    Pairing.PERMUTED: "pairs that come back in other places",
}
_LOST = {"crash": "crashes", "timeout": "does not answer in time"}
_GROUPS: Mapping[str, tuple[Name, ...]] = {
    "What is rotated": (
        *(Name.PAIRING, Name.LAYOUTS, Name.BLOCK, Name.DIRECTION, Name.ROTARY_DIM),
        *(Name.ROTATED_END, Name.TAIL, Name.ROTARY_RULE),
    ),
    "By which angles": (
        *(Name.BASE, Name.EXPONENT, Name.SCHEME, Name.FREQUENCIES, Name.POSITION_SCALE),
        *(Name.POSITION_OFFSET, Name.GAIN),
    ),
    "By whose position": (
        *(Name.ROWS, Name.TOKENS, Name.HEADS, Name.REACH, Name.PATHS, Name.NEGATIVE),
        *(Name.LARGEST, Name.HISTORY),
    ),
    "How precisely": (
        *(Name.PRECISION, Name.ANGLES, Name.TABLE, Name.ARITHMETIC, Name.RESULT_DTYPE),
        *(Name.STORES, Name.LINEAR, Name.CONTAINMENT),
    ),
    "How it is called": (
        *(Name.ANSWER, Name.AXES, Name.AXES_TRIED, Name.POSITIONS, Name.HEAD_DIM),
        *(Name.WRITES, Name.ALIAS, Name.STRIDES, Name.EMPTY, Name.GRADIENT, Name.FLAGS),
    ),
    "Its other functions": (Name.OTHERS,),
}


def headline(found: Identification) -> str:
    """Say in one sentence which convention a subject follows, or what could not be found.

    Returns
    -------
    str
        Such as `half-split (NeoX/Llama), base 10000, all of head_dim, positions as given,
        float32-angles`.
    """
    if found.is_nothing:
        answer = str(found.value(Name.ANSWER))
        what = answer if answer.startswith("raises") else f"answers with {answer}"
        return f"nothing could be found out: it {_LOST.get(answer, what)}"
    pairing = found.value(Name.PAIRING)
    if pairing not in _PAIRINGS:
        fact = found.fact(Name.PAIRING) or found.fact(Name.TOKENS) or found.fact(Name.HISTORY)
        why = f": {_lowered(fact.sentence)}" if fact is not None else ""
        return f"no convention that is known{why}".rstrip(".")
    form = found.fact(Name.BLOCK)
    parts = [_pairing(found)]
    if form is not None and form.value is not Block.ROTATION:
        parts.append(f"but no rotation: {_lowered(form.sentence)}".rstrip("."))
    if found.value(Name.DIRECTION) in ("clockwise", "both ways"):
        parts.append(str(found.value(Name.DIRECTION)))
    parts += [_base(found), _width(found), _position(found), _precision(found)]
    return ", ".join(parts)


def _pairing(found: Identification) -> str:
    """Say how it pairs, with both values of its keyword where it has one."""
    if both := found.value(Name.LAYOUTS):
        on, off = (_PAIRINGS[one] for one in both)
        return f"{on} with interleaved=True and {off} with interleaved=False"
    return _PAIRINGS[found.value(Name.PAIRING)]


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _base(found: Identification) -> str:
    base, scheme = found.value(Name.BASE), found.value(Name.SCHEME)
    if scheme not in (None, "unscaled"):
        return f"frequencies scaled: {scheme}"
    exponent = found.value(Name.EXPONENT)
    if base is None:
        return "base not found"
    usual = exponent in (None, "2i/rotary_dim")
    return f"base {base:.10g}" + ("" if usual else f" to the exponent {exponent}")


def _width(found: Identification) -> str:
    rule, width = found.value(Name.ROTARY_RULE), found.value(Name.ROTARY_DIM)
    if rule is None or width is None:
        return "how many components are rotated was not found"
    if rule == "all":
        return "all of head_dim"
    end = found.value(Name.ROTATED_END)
    part = f"the {end} {width} components"
    if rule == "share" and (dim := found.value(Name.HEAD_DIM)):
        return f"{part} of {dim}, and the same share of others"
    return part


def _position(found: Identification) -> str:
    tokens = found.fact(Name.TOKENS)
    rows = found.fact(Name.ROWS)
    for fact in (tokens, rows):
        if fact is not None and fact.value not in (Source.OWN, Source.SHARED):
            return _lowered(fact.sentence).rstrip(".")
    scale, offset = found.value(Name.POSITION_SCALE), found.value(Name.POSITION_OFFSET)
    words = [f"times {scale:g}"] if scale not in (None, 1.0) else []
    words += [f"plus {offset:g}"] if offset else []
    if tokens is None:
        return "whose positions was not found"
    return f"positions {' '.join(words)}" if words else "positions as given"


def _precision(found: Identification) -> str:
    classes = dict(found.value(Name.PRECISION) or ())
    if not classes:
        return "precision not found"
    one = set(classes.values())
    if len(one) == 1:
        (name,) = one
        return "no precision class" if name == "none" else str(name)
    *others, last = (f"{name} for {dtype}" for dtype, name in classes.items())
    return f"{', '.join(others)} and {last}" if others else last


def print_identification(
    console: Console, found: Identification, mistakes: Sequence[Diagnosis]
) -> None:
    """Print everything a reader needs to know about what was found.

    Parameters
    ----------
    console : Console
        Where to; colours and width are its own affair.
    found : Identification
        The facts.
    mistakes : sequence of Diagnosis
        What differs from the specification.
    """
    page = Page(console)
    page.add(Text(f"{found.target}: {headline(found)}", style="bold"), hang=2)
    for text in diagnosis_lines(mistakes):
        page.add(text, hang=2)
    if line := found.command():
        page.add()
        page.add("To check it under these conventions:")
        page.add(line, indent=2, hang=2, style="bold")
    page.print()
    if not found.is_nothing:
        _facts(console, found.facts)


def print_kept(console: Console, lacks: Sequence[str], stragglers: Mapping[str, int]) -> None:
    """Print what the subject was not kept from, and what it left running, if anything.

    Parameters
    ----------
    console : Console
        Where to.
    lacks, stragglers
        As in `kept_lines`.
    """
    page = Page(console)
    for line in kept_lines(lacks, stragglers):
        page.add(line, hang=2, style="dim")
    page.print()


def _facts(console: Console, facts: Sequence[Fact]) -> None:
    """Print the facts, those of one kind together."""
    known = {fact.name: fact for fact in facts}
    for title, names in _GROUPS.items():
        told = [known[name] for name in names if name in known]
        if not told:
            continue
        page = Page(console)
        page.add()
        page.add(title, style="bold")
        for fact in told:
            unsure = "likely: " if fact.certainty < LIKELY else ""
            page.add(f"{unsure}{fact.sentence}", indent=2, hang=2)
        page.print()
