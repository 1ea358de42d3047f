"""A rule writes its formulas as code spans that state something, and nothing else of them."""

import re

from ropespec.spec.clauses import parse
from spec_reading.sections import SPAN, states

__all__ = ["check"]

_BARE = re.compile(r"[\^_=<>≤≥≠≈∈≡↦⊙⟨⟩√Σ²³·|]|[Α-ωⅈ]\w|\w[Α-ωⅈ]")
_OPERATOR = re.compile(r"\^|·|⊙|/|\+| - |(?<=[\w)])\*(?=[\w(])")


def check(chapter: str, text: str) -> list[str]:
    """List what a rule writes of a formula outside code spans, and spans that state nothing."""
    found = []
    for clause in parse(chapter, text):
        if not clause.rule:
            found.append(f"{clause.id}: no rule")
        bare = SPAN.sub(" ", clause.rule)
        found += [f"{clause.id}: {m[0]!r} outside a code span" for m in _BARE.finditer(bare)]
        found += [
            f"{clause.id}: `{span}` states nothing"
            for span in SPAN.findall(clause.rule)
            if _OPERATOR.search(span) and not states(span) and not _is_python(span)
        ]
    return found


def _is_python(span: str) -> bool:
    return bool(re.search(r"\w=[\w\"'(\[{.-]|==|<=|>=|!=|\bself\b|\*\*|@", span))
