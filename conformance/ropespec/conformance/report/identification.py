"""The report on a subject identified: one sentence, what differs, the line to run, the facts."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ropespec.conformance.identify import Identification
from ropespec.conformance.identify.facts import Fact, Name, Pairing
from ropespec.conformance.report.answers import kept_lines
from ropespec.conformance.report.page import Page
from ropespec.conformance.report.summary import diagnosis_lines
from ropespec.conformance.results import Diagnosis

__all__ = ["headline", "print_identification", "print_kept"]

_PAIRINGS = {
    Pairing.INTERLEAVED: "interleaved (GPT-J/Meta)",
    Pairing.DEINTERLEAVED: "interleaved pairs that come back as halves",
    Pairing.HALF: "half-split (NeoX/Llama)",
    Pairing.HALF_OF_HEAD: "half-split over all of the head, though fewer components are rotated",
}
_LOST = {"crash": "crashes", "timeout": "does not answer in time"}
_GROUPS: Mapping[str, tuple[Name, ...]] = {
    "What is rotated": (
        *(Name.CONFIRMED, Name.PAIRING, Name.LAYOUTS, Name.ROTATION, Name.DIRECTION),
        *(Name.ROTARY_DIM, Name.ROTATED_END, Name.TAIL, Name.ROTARY_RULE, Name.REACH),
    ),
    "By which angles": (
        *(
            Name.NUMBERS,
            Name.EXPONENT,
            Name.BASE,
            Name.SCHEME,
            Name.BESIDE,
            Name.FREQUENCIES,
            Name.POSITION_OFFSET,
        ),
        *(Name.GAIN, Name.NEGATIVE, Name.LARGEST),
    ),
    "How precisely": (Name.PRECISION, Name.RESULT_DTYPE, Name.LINEAR, Name.CONTAINMENT),
    "How it is called": (
        *(Name.ANSWER, Name.AXES, Name.AXES_TRIED, Name.POSITIONS, Name.HEAD_DIM),
        *(Name.WRITES, Name.ALIAS, Name.STRIDES, Name.EMPTY, Name.GRADIENT, Name.FLAGS),
    ),
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
        fact = found.fact(Name.PAIRING)
        why = f": {_lowered(fact.sentence)}" if fact is not None else ""
        return f"no convention that is known{why}".rstrip(".")
    parts = [_pairing(found)]
    if not found.value(Name.ROTATION):
        parts.append("but the matrix of a pair is no rotation")
    beside = found.value(Name.BESIDE) or ()
    if found.value(Name.DIRECTION) in ("clockwise", "both ways") and not beside:
        parts.append(str(found.value(Name.DIRECTION)))
    parts += [_frequencies(found), *beside, _width(found), *_tried(found)]
    return ", ".join(part for part in parts if part)


def _pairing(found: Identification) -> str:
    """Say how it pairs, with both values of its keyword where it has one."""
    if both := found.value(Name.LAYOUTS):
        on, off = (_PAIRINGS[one] for one in both)
        return f"{on} with interleaved=True and {off} with interleaved=False"
    return _PAIRINGS[found.value(Name.PAIRING)]


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _frequencies(found: Identification) -> str:
    base, scheme = found.value(Name.BASE), found.value(Name.SCHEME)
    if found.value(Name.EXPONENT) == "given":
        return "mixed frequencies as given"
    if base is None:
        return "base not found"
    scaled = [] if scheme == "unscaled" else [scheme]
    numbers = [found.value(Name.NUMBERS)] if found.value(Name.NUMBERS) else []
    numbers += ["axial"] if found.value(Name.EXPONENT) else []
    return ", ".join([f"base {base:.10g}", *scaled, *numbers])


def _width(found: Identification) -> str:
    rule, width = found.value(Name.ROTARY_RULE), found.value(Name.ROTARY_DIM)
    if rule is None or width is None:
        return "how many components are rotated was not found"
    if rule == "all":
        return "all of head_dim"
    end = found.value(Name.ROTATED_END)
    part = f"the {end} {width} components"
    if rule == "share" and (dim := found.value(Name.HEAD_DIM)):
        return f"{part} of {dim[0]}, and the same share of others"
    if rule == "still":
        return f"{part}, the others standing still"
    return part


def _tried(found: Identification) -> list[str]:
    """Say what running it beside the subject came to."""
    classes = dict(found.value(Name.PRECISION) or ())
    said = [_precision(classes)] if classes else []
    if not found.confirmed:
        known = said if set(classes.values()) != {"none"} else []
        return [*known, f"not confirmed: it {found.explained}"] if found.explained else known
    return said if found.value(Name.BESIDE) else ["positions as given", *said]


def _precision(classes: Mapping[str, str]) -> str:
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
            page.add(fact.sentence, indent=2, hang=2)
        page.print()
