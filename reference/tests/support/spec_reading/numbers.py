"""Every number of the prose is printed by an example, or stands in what is computed, nearby."""

import re

from spec_reading.formulas import evaluated
from spec_reading.modules import load
from spec_reading.sections import SPAN, sections, states
from spec_reading.tables import recomputed

__all__ = ["check", "values"]

_POWER = r"\d+(?:\.\d+)?(?:\^|\*\*)\{?\(?-?\d+\)?\}?"
_NUMBER = re.compile(
    rf"(?<![\w.^])(?P<sign>(?<![\w)\]}}])[-+])?(?P<size>{_POWER}|\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d\d+)"
    r"(?![\w]|\.\d)"
)
_NAMES = re.compile(
    r"\b[A-Z]+-\d+(?:\.\w+)?(?: (?:to|and) \d+)?\b|\bL\d+(?:[-–]\d+)?|arXiv[: ]\d+\.\d+|\b00[0-4]\b"
    r"|§ ?[\d.]+|\beqs?\. \(\d+\)(?: (?:to|and) \(\d+\))*|\b(?:8|16|32|64|128)[- ]bits?\b"
    r"|\b\d+x\d+\b|https?://\S+"
)


def check(chapter: str, text: str) -> list[str]:
    """List the numbers in the prose of a section that nothing in the section computes."""
    module, formulas = load(chapter), evaluated(chapter, text)
    found = []
    for section in sections(chapter, text):
        stated = formulas[section.key]
        prose = _without(section.prose, stated)
        known = values(section.examples, *stated, *recomputed(section, module))
        for number in module.numbers.get(section.key, ()):
            known |= values(number)
        found += [
            f"{section.key}: {m[0]} is computed nowhere in the section"
            for m in _NUMBER.finditer(_NAMES.sub(" ", prose))
            if _value(m) not in known
        ]
    return found


def values(*texts: str) -> set[float]:
    """Give all numbers that texts contain."""
    return {_value(m) for text in texts for m in _NUMBER.finditer(_NAMES.sub(" ", text))}


def _without(prose: str, stated: list[str]) -> str:
    """Drop the spans that are computed, and calls with keywords; keep what the others hold."""
    calls = re.compile(r"\w=\S")

    def kept(span: re.Match[str]) -> str:
        called = not states(span[1]) and calls.search(span[1])
        return " " if span[1] in stated or called else span[1]

    return SPAN.sub(kept, prose)


def _value(match: re.Match[str]) -> float:
    base, mark, exponent = re.sub(r"[{}()]", "", match["size"]).replace("**", "^").partition("^")
    size = float(base) ** float(exponent) if mark else float(base)
    return -size if match["sign"] == "-" else size
