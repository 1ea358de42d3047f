"""The verdicts of real packages, which are not installed here: the files agree with each other."""

import ast
import importlib.util
import json
import re
from pathlib import Path

import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.report.advice import command

FOLDER = Path(__file__).parents[1] / "packages"
SPEC = importlib.util.spec_from_file_location("packages_run", FOLDER / "run.py")
RUN = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(RUN)
ROWS = json.loads((FOLDER / "verdicts.json").read_text(encoding="utf-8"))
NAMES = RUN.names()


def literal_profile(name):
    """Return the PROFILE of a binding without importing it."""
    tree = ast.parse((FOLDER / "bindings" / f"{name}.py").read_text(encoding="utf-8"))
    assigned = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return ast.literal_eval(assigned["PROFILE"])


def test_the_table_is_what_the_json_says():
    """Nothing in the Markdown was written by hand."""
    assert (FOLDER / "verdicts.md").read_text(encoding="utf-8") == RUN.table(ROWS)


def test_every_binding_has_its_row():
    """No binding is without a verdict, and no verdict without a binding."""
    assert sorted(ROWS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_row_is_of_its_binding(name):
    """Package, what is bound, claims and dtypes of a row are those that its file says."""
    profile = Profile.from_mapping(literal_profile(name)).as_dict()
    claims = command("check", "it", profile | {"dtypes": ["float32"]})
    package, bound = RUN.told(name)

    assert (ROWS[name]["package"], ROWS[name]["bound"]) == (package, bound)
    assert f"ropespec check it {ROWS[name]['claims']}" == claims
    assert list(ROWS[name]["precision_by_dtype"]) == profile["dtypes"]


def test_the_versions_are_the_pinned_ones():
    """A row is of the version that the requirements name."""
    text = "".join((FOLDER / one).read_text(encoding="utf-8") for one in RUN.REQUIREMENTS)
    pinned = dict(
        re.findall(r"([\w-]+?)(?:\[\w+\])?(?:==|-)(\d[\w.]*?)(?:\.tar\.gz)?$", text, re.MULTILINE)
    )

    assert {
        row["package"].partition(",")[0].lower(): row["version"] for row in ROWS.values()
    }.items() <= pinned.items()


def test_what_deviates_is_shown_with_its_reason():
    """A cell names the check, its message in one line, and why it is waived."""
    item = {"id": "ROT-18.empty", "status": "fail", "message": "raises |\n  ValueError"}

    assert RUN.deviation(item, {}) == "ROT-18.empty: raises ValueError"
    assert RUN.deviation(item, {"ROT-18": "never"}).endswith("ValueError (waived: never)")


def test_a_package_that_is_missing_is_not_run(tmp_path, monkeypatch):
    """The reason is the last word of the command, and there is no row."""
    (tmp_path / "lost.py").write_text('"""none: nothing."""\n\nimport no_such_package\n')
    monkeypatch.setattr(RUN, "BINDINGS", tmp_path)

    with pytest.raises(RUN.NotRunError, match="no_such_package"):
        RUN.check("lost")
