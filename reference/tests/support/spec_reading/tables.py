"""Every table is computed again, or said to give facts of others, which are kept by a digest."""

import hashlib
import json
from collections.abc import Iterator, Mapping

from spec_reading.modules import ChapterModule, load
from spec_reading.sections import Section, sections

__all__ = ["check", "digest", "recomputed"]


def check(chapter: str, text: str) -> list[str]:
    """List the cells that are wrong, and the tables that nobody computes."""
    module = load(chapter)
    found: list[str] = []
    seen: set[str] = set()
    every = {**module.tables, **module.facts, **module.recorded}
    for section in sections(chapter, text):
        for number, rows in enumerate(section.tables, 1):
            key = _key(section.key, number, every)
            seen.add(key)
            if module.recorded.get(key, digest(rows)) != digest(rows):
                found.append(
                    f"{section.key}: a recorded table changed, its digest is {digest(rows)}"
                )
            if key in module.tables:
                found += [f"{section.key}: {problem}" for problem in module.tables[key](rows)]
            elif key not in module.facts:
                found.append(f"{section.key}: table {number} is neither computed nor a fact")
    named = set(every)
    return found + [
        f"{key}: no such table, but the module names it" for key in sorted(named - seen)
    ]


def digest(rows: list[dict[str, str]]) -> str:
    """Digest what a table says: facts that no code of ours can compute are not changed unseen."""
    said = json.dumps(rows, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def recomputed(section: Section, module: ChapterModule) -> Iterator[str]:
    """Give the cells of the tables of a section that are computed again."""
    for number, rows in enumerate(section.tables, 1):
        if _key(section.key, number, module.tables) in module.tables:
            yield from (cell for row in rows for cell in row.values())


def _key(section: str, number: int, named: Mapping[str, object]) -> str:
    numbered = f"{section}#{number}"
    return section if number == 1 and numbered not in named else numbered
