"""The gallery on two packages that are made here: rows, resumption, what is known."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from click.testing import CliRunner

from ropespec.conformance.cli import command
from ropespec.conformance.cli.status import CONFORMS, FAILS, UNDECIDED
from ropespec.conformance.gallery.table import page

ROPE = """
import numpy as np

def apply(x, positions):
    n = x.shape[-1]
    angle = SIGN * positions[..., None, None] * 10000.0 ** (-np.arange(0, n, 2) / n)
    a, b = np.split(x.astype(np.float64), 2, -1)
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate([a * c - b * s, a * s + b * c], -1).astype(x.dtype)
"""
HEAD = 'requires = ["right-rope==1.0", "wrong.rope==2.0", "lost==3.0"]\n'
ENTRY = """
[implementations.{name}]
package = "{package}"
bound = "`apply`"
check = "{module}:apply --half --only ROT-7.value --only ROT-17.dtype"
"""
KNOWN = (
    '[[implementations.{}.deviations]]\nchecks = ["{}"]\nreason = "backwards"\nlink = "why.md"\n'
)


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """Return a folder with an environment in which two packages are."""
    folder = tmp_path_factory.mktemp("environments")
    place = folder / "here"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    bases = {"base": str(place), "platbase": str(place)}
    packages = Path(sysconfig.get_path("purelib", "venv", bases))
    (packages / "more.pth").write_text(sysconfig.get_path("purelib"))  # NumPy, for the scripts
    for name, version, sign in (("right", "1.0", "1"), ("wrong", "2.0", "-1")):
        (packages / f"{name}_rope.py").write_text(f"SIGN = {sign}\n{ROPE}")
        metadata = packages / f"{name}_rope-{version}.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.1\nName: {name}-rope\nVersion: {version}\n")
    return folder


def write(folder, *, wrong="", right=""):
    """Write a list of three implementations, of which one is of a package that is not there."""
    entries = [
        ENTRY.format(name="right", package="right_rope", module="right_rope") + right,
        ENTRY.format(name="wrong", package="wrong-rope", module="wrong_rope") + wrong,
        ENTRY.format(name="lost", package="lost", module="lost"),
    ]
    file = folder / "here.toml"
    file.write_text(HEAD + "".join(entries))
    return file


def invoke(file, *words):
    """Run the command on a list; return what it printed, its status and the rows."""
    done = CliRunner().invoke(
        command, ["gallery", "--lists", str(file.parent), *map(str, words)], standalone_mode=False
    )
    if done.exception:
        raise done.exception
    rows = file.parent / "verdicts.json"
    return done.output, done.return_value, json.loads(rows.read_text()) if rows.exists() else {}


def test_every_implementation_has_a_row(tmp_path, environments):
    """What conforms, what does not and how that is seen elsewhere, and what is not there."""
    file = write(tmp_path)
    printed, status, rows = invoke(file, environments)

    assert status == FAILS
    assert {name: row["status"] for name, row in rows.items()} == {
        "right": "conforms",
        "wrong": "deviates",
        "lost": "not run",
    }
    assert rows["lost"]["why"] == "lost is not installed in here"
    assert rows["wrong"]["unknown"] == ["ROT-7.value"]
    assert rows["wrong"]["shown"] == rows["wrong"]["scripts"] == 1
    assert "from wrong_rope import apply" in rows["wrong"]["script"]
    assert "1 conform, 1 deviate in what is not known, 1 were not run" in printed


def test_what_is_known_to_fail_is_as_the_list_says(tmp_path, environments):
    """Its reason stands in the page, which is what the rows say."""
    file = write(tmp_path, wrong=KNOWN.format("wrong", "numbers"))
    _, status, rows = invoke(file, environments, "--only", "wrong")

    assert status == CONFORMS
    assert rows["wrong"]["status"] == "deviates as known"
    assert rows["wrong"]["known"][0]["failed"] == ["ROT-7.value"]
    assert "backwards ([why](why.md))" in (tmp_path / "verdicts.md").read_text()


def test_what_is_known_to_fail_and_passes_is_an_error(tmp_path, environments):
    """So that a reason that is outdated does not stay."""
    file = write(tmp_path, right=KNOWN.format("right", "ROT-7.value"))
    printed, status, rows = invoke(file, environments, "--only", "right_rope")

    assert status == FAILS
    assert rows["right"]["status"] == "no longer deviates"
    assert "right: no longer deviates" in printed


@pytest.mark.parametrize(
    ("claims", "status", "said"),
    [
        ("--half --base 500000", "conforms", "numbers wrong: wrong base: The base is 10000 "),
        ("--half --base 10000", "deviates", "the claims of another model are not refused"),
    ],
)
def test_the_claims_of_another_model_must_be_refused(claims, status, said, tmp_path, environments):
    """By name; where they hold, what conforms to its own tells nothing."""
    file = write(tmp_path, right=f'refused_under = "{claims}"\n')
    _, _, rows = invoke(file, environments, "--only", "right")

    assert rows["right"]["status"] == status
    assert said in (tmp_path / "verdicts.md").read_text()


def test_rows_that_hold_are_not_made_again(tmp_path, environments):
    """But for what was not run, what is asked for again, and an entry that is another now."""
    file = write(tmp_path)
    invoke(file, environments, "--only", "right")

    assert "right: conforms, " not in invoke(file, environments, "--only", "right")[0]
    assert "right: conforms, " in invoke(file, environments, "--only", "right", "--again")[0]
    file.write_text(file.read_text().replace("--half", "--half --seed 1", 1))
    assert "right: conforms, " in invoke(file, environments, "--only", "right")[0]
    assert "lost: not run: " in invoke(file, environments, "--only", "lost")[0]
    assert "lost: not run: " in invoke(file, environments, "--only", "lost")[0]


def test_the_rows_that_are_there_are_shown_without_a_folder(tmp_path, environments):
    """Nothing is run, and what has no row says so."""
    file = write(tmp_path)
    invoke(file, environments, "--only", "right")
    printed, status, _ = invoke(file)

    assert status == UNDECIDED
    assert "right_rope 1.0: conforms" in printed
    assert "wrong-rope 2.0: no row yet" in printed


def test_another_version_than_that_of_the_list_is_not_run(tmp_path, environments):
    """A row is of what it says."""
    file = write(tmp_path)
    file.write_text(file.read_text().replace("right-rope==1.0", "right-rope==1.1"))
    _, status, rows = invoke(file, environments, "--only", "right")

    assert status == UNDECIDED
    assert rows["right"]["why"] == "right_rope 1.0 is installed, and the list has 1.1"


def test_what_cannot_be_bound_is_a_row_that_says_why(tmp_path, environments):
    """In the words of the check."""
    file = write(tmp_path)
    file.write_text(file.read_text().replace("right_rope:apply", "right_rope:turn"))
    _, status, rows = invoke(file, environments, "--only", "right")

    assert status == UNDECIDED
    assert rows["right"]["status"] == "not run"
    assert "'turn'" in rows["right"]["why"]


def test_no_environment_is_a_row_too(tmp_path):
    """Nobody is told that a package is missing where nothing is."""
    file = write(tmp_path)
    (tmp_path / "empty").mkdir()
    _, status, rows = invoke(file, tmp_path / "empty", "--only", "right")

    assert status == UNDECIDED
    assert rows["right"]["why"] == "there is no environment here: --install"


def test_the_page_needs_no_row():
    """It counts what has none."""
    from ropespec.conformance.gallery.listed import Gallery  # noqa: PLC0415

    assert "0 implementations of 0 packages: none was run." in page(Gallery(Path(), (), ()), {})
