"""The rows of real packages, which are not installed here: the files agree with each other."""

import json
from pathlib import Path

from ropespec.conformance.cli.gallery import _LISTS
from ropespec.conformance.gallery.listed import read
from ropespec.conformance.gallery.table import page, summary

ROOT = Path(__file__).parents[2]
GALLERY = read(_LISTS)
ROWS = json.loads((_LISTS / "verdicts.json").read_text(encoding="utf-8"))


def test_the_page_is_what_the_rows_say():
    """Nothing in it was written by hand, and it is said in the README of the project."""
    folder = _LISTS
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert (folder / "verdicts.md").read_text(encoding="utf-8") == page(GALLERY, ROWS)
    assert summary(GALLERY, ROWS) in readme


def test_a_row_is_of_its_implementation():
    """In the order of the lists, of the version and of what they say; what deviates is known."""
    assert list(ROWS) == [one.name for one in GALLERY.implementations if one.name in ROWS]
    for one in GALLERY.implementations:
        if one.name in ROWS:
            row = ROWS[one.name]
            assert (row["package"], row["version"]) == (one.package, one.version)
            assert row["status"] in {"conforms", "deviates as known", "not run"}, one.name


def test_every_refusal_was_reproduced():
    """By every script that was printed, where nothing of ours is."""
    refused = [row for row in ROWS.values() if row["status"] == "deviates as known"]

    assert refused
    assert all(row["shown"] == row["scripts"] > 0 for row in refused)


def test_files_that_the_list_names_are_there():
    """What is bound, under which configuration, and what is said of it."""
    folder = _LISTS
    for one in GALLERY.implementations:
        links = [deviation.link for deviation in one.deviations]
        names = [word.partition(":")[0] for word in one.words if "/" in word]
        for name in names + [link for link in links if "://" not in link]:
            assert (folder / name).is_file(), f"{one.name}: {name}"


def test_enough_is_listed():
    """Forty implementations of twenty packages were run."""
    run = [row for row in ROWS.values() if row["status"] != "not run"]

    assert len(run) >= 40
    assert len({row["package"] for row in run}) >= 20
