"""Every formula of a chapter is read, computed under its bindings, and must hold."""

from collections.abc import Mapping, Sequence

from spec_reading.grammar import parse
from spec_reading.modules import ChapterModule, load
from spec_reading.relations import disagreements, wrong
from spec_reading.sections import sections
from spec_reading.tokens import FormulaError

__all__ = ["check", "evaluated"]


def check(chapter: str, text: str) -> list[str]:
    """List the formulas that do not hold, cannot be read, or are excused without need."""
    module = load(chapter)
    found: list[str] = []
    seen: set[str] = set()
    for section in sections(chapter, text):
        for number, formula in enumerate(section.formulas, 1):
            name = f"{section.key}#{number}"
            seen |= {name, section.key}
            found += _problems(name, section.key, formula, module)
    named = {*module.bindings, *module.words, *module.wrong}
    found += [f"{name}: no such formula, but the module names it" for name in sorted(named - seen)]
    return found


def evaluated(chapter: str, text: str) -> Mapping[str, list[str]]:
    """Give the formulas that are computed, by section."""
    module = load(chapter)
    return {
        section.key: [
            formula
            for number, formula in enumerate(section.formulas, 1)
            if f"{section.key}#{number}" not in {*module.words, *module.wrong}
        ]
        for section in sections(chapter, text)
    }


def _problems(name: str, key: str, formula: str, module: ChapterModule) -> list[str]:
    if name in module.words:
        return []
    environments = module.environments(key)
    if name in module.wrong:
        return _not_wrong(name, formula, environments)
    found = [line for bound in environments for line in wrong(formula, bound)]
    return [f"{name}: {line}" for line in dict.fromkeys(found)]


def _not_wrong(name: str, formula: str, environments: Sequence[Mapping[str, object]]) -> list[str]:
    """Say so if a formula that is printed wrong on purpose holds, or cannot be computed."""
    try:
        differs = [
            line
            for bound in environments
            for statement in parse(formula, bound)
            for line in disagreements(statement, bound)
        ]
    except FormulaError as error:
        return [f"{name}: {' '.join(formula.split())!r}: {error}"]
    return [] if differs else [f"{name}: holds, though it is listed as wrong"]
