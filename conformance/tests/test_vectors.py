"""The released vectors: the same bytes again, rounded once, and judged in other languages."""

import json
import shutil
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from safetensors.numpy import load_file

from ropespec.backends import numpy as backend
from ropespec.conformance.cli import command
from ropespec.conformance.cli.status import UNUSABLE
from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.conformance.vectors import chosen, exact, release
from ropespec.conformance.vectors.tensors import tensors
from ropespec.spec.clauses import find
from ropespec.spec.convention import Convention, Frequencies, Pairing

FOLDER = Path(__file__).parents[1] / "vectors"
RELEASED = FOLDER / str(release.RELEASE)
MANIFEST = json.loads((RELEASED / release.MANIFEST).read_text())
ENTRIES = {entry["file"]: entry for entry in MANIFEST["vectors"]}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the folder that the command writes, and what it prints."""
    folder = tmp_path_factory.mktemp("vectors") / "new" / "folder"
    done = CliRunner().invoke(command, ["vectors", "-o", str(folder)])
    assert done.exit_code == 0, done.output
    return folder, done.stdout


def test_a_released_set_never_changes(written):
    """The command writes the bytes that are in the repository, every one."""
    folder, said = written
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        path.name for path in RELEASED.iterdir()
    )
    for path in folder.iterdir():
        assert path.read_bytes() == (RELEASED / path.name).read_bytes(), path.name
    assert said.startswith(f"{release.COUNT} vectors in ")


def test_the_manifest_is_valid_and_whole():
    """It lists every file with its digest, and clauses and precision classes that there are."""
    Draft202012Validator.check_schema(release.vectors_schema())
    Draft202012Validator(release.vectors_schema()).validate(MANIFEST)
    assert release.vectors_schema()["$id"] == release.VECTORS_SCHEMA
    assert {*ENTRIES} == {path.name for path in RELEASED.glob("*.safetensors")}
    for entry in ENTRIES.values():
        assert all(find(one) for one in entry["clauses"])
        assert {*entry["classes"]} <= {*PRECISIONS}


@pytest.mark.parametrize("vector", chosen.VECTORS, ids=lambda one: one.name)
def test_values_are_rounded_once_and_lie_in_every_interval(vector):
    """float32 is nearer to the exact value than both neighbours; a better class is narrower."""
    made = tensors(vector, "float32")
    by, dim = vector.convention, vector.dim
    with localcontext(prec=60), mpmath.workdps(60):
        theta = [mpmath.mpf(str(one)) for one in by.frequencies.theta(dim)]
        gain = mpmath.mpf(str(by.frequencies.gain))
        for i in (0, dim // 4, dim // 2 - 1):
            first, second = int(made["first"][i]), int(made["second"][i])
            for row, told in enumerate(made["positions"]):
                m = int(told[made["axis"][i]] if vector.sections else told)
                a, b = (mpmath.mpf(float(made["x"][0, row, 1, j])) for j in (first, second))
                true = gain * (a * mpmath.sin(m * theta[i]) + b * mpmath.cos(m * theta[i]))
                got = made["y"][0, row, 1, second]
                beside = [np.nextafter(got, got.dtype.type(side * np.inf)) for side in (-1, 1)]
                off = abs(mpmath.mpf(float(got)) - true)
                assert all(off <= abs(mpmath.mpf(float(one)) - true) for one in beside)
    narrow = made["high.float64-angles"] - made["low.float64-angles"]
    for name in ENTRIES[f"{vector.name}-float32.safetensors"]["classes"]:
        low, high = made[f"low.{name}"], made[f"high.{name}"]
        assert np.all((low <= made["y"]) & (made["y"] <= high))
        assert np.all(high - low >= narrow)


def test_the_intervals_are_those_of_the_judge():
    """The NumPy backend lies in the narrowest, one step beyond an end does not, nor float32."""
    entry = "half-float32.safetensors"
    held = load_file(RELEASED / entry)
    low, high = held["low.float64-angles"], held["high.float64-angles"]
    rotated = backend.apply_rotary(held["x"], held["positions"], interleaved=False)
    assert np.all((low <= rotated) & (rotated <= high))
    angle = held["positions"][:, None].astype(np.float32) * held["theta"].astype(np.float32)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = held["x"][..., :32], held["x"][..., 32:]
    rough = np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)
    assert not np.all((low <= rough) & (rough <= high))
    assert np.all((held["low.float32-angles"] <= rough) & (rough <= held["high.float32-angles"]))


def test_positions_next_to_quarter_turns():
    """A convergent comes closer to a multiple of pi/2 than any position below it."""
    theta = Decimal(1)
    found = exact.next_to_quarter_turns(theta, 1000)
    assert found == [1, 2, 3, 11, 344, 355]  # 355 is nearly 113 pi
    assert exact.next_to_quarter_turns(Decimal(10) ** -30, 2**31) == []


def test_what_digits_do_not_decide_is_refused(monkeypatch):
    """A value next to the middle of two numbers needs more digits than there are."""
    by = Convention(Pairing.HALF, Frequencies(10000.0))
    x = np.array([1 + 2.0**-24, 2.0**-300]).reshape(1, 1, 1, 2)
    exact.rotated(x, np.zeros((1, 1), np.int64), by, ["float32"])  # a tie, and exact
    monkeypatch.setattr(exact, "_CLOSE", mpmath.mpf(1))
    with pytest.raises(ArithmeticError, match="digits do not decide how"):
        exact.rotated(x * 0.7, np.ones((1, 1), np.int64), by, ["float32"])


def test_the_numbers_of_x_use_every_bit():
    """They are those of SplitMix64, whose first number is published, and differ in every bit."""
    first = float(Fraction(0xE220A8397B1DCDAF >> 11, 2**51) - 2)
    x = chosen.values((1000,), "float32")
    assert x[0] == np.float32(first)
    assert np.bitwise_or.reduce(x.view(np.uint32) & 0xFFFFFF) == 0xFFFFFF


def test_metadata_repeats_the_manifest():
    """A file that is alone says what it is."""
    for name in ("yarn-bfloat16.safetensors", "half-sections-float16.safetensors"):
        data = (RELEASED / name).read_bytes()
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        told = json.loads(header["__metadata__"]["ropespec"])
        assert told == {
            key: value for key, value in ENTRIES[name].items() if key not in ("file", "sha256")
        }
        assert {"x", "y", "positions"} <= {*header}


def judges(folder):
    """Yield what starts the programs of other languages, right and with a sign turned round."""
    right, wrong = "a * s + b * c", "a * s - b * c"
    compiler, node = shutil.which("cc"), shutil.which("node")
    for wanted in (right, wrong):
        if compiler:
            source = folder / f"judge{wanted == right}.c"
            source.write_text((FOLDER / "judge.c").read_text().replace(right, wanted))
            program = str(source.with_suffix(""))
            flags = ["-Wall", "-Wextra", "-Werror", str(source), "-lm", "-o", program]
            subprocess.run([compiler, *flags], check=True)
            yield [program], wanted == right
        if node:
            source = folder / f"judge{wanted == right}.js"
            source.write_text((FOLDER / "judge.js").read_text().replace(right, wanted))
            yield [node, str(source)], wanted == right


def test_programs_in_other_languages_judge_by_them(tmp_path):
    """A rotation in C and one in JavaScript are inside everywhere; with a wrong sign, nowhere."""
    started = list(judges(tmp_path))
    if not started:
        pytest.skip("neither a C compiler nor Node.js")
    for words, is_right in started:
        for name, entry in ENTRIES.items():
            for precision in entry["classes"][:1]:
                told = [*words, str(RELEASED / name), precision]
                done = subprocess.run(told, capture_output=True, text=True, check=False)
                assert (done.returncode == 0) == is_right, (name, done.stdout, done.stderr)


@pytest.mark.parametrize("name", ["full", "file"])
def test_a_folder_that_cannot_be_written_is_refused(tmp_path, name):
    """What holds something is left alone, and a file is no folder."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("kept")
    (tmp_path / "file").write_text("kept")
    done = CliRunner().invoke(command, ["vectors", "-o", str(tmp_path / name)])
    assert done.exit_code == UNUSABLE
    assert {"full": "must be a folder that is empty", "file": "cannot be written to"}[name] in str(
        done.output
    )
    assert (tmp_path / "full" / "mine").read_text() == "kept"


def test_what_is_not_installed_is_said(tmp_path, monkeypatch):
    """Without the extra the command names it."""
    for name in ("vectors.release", "foreign.container"):
        monkeypatch.delitem(sys.modules, f"ropespec.conformance.{name}")
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    done = CliRunner().invoke(command, ["vectors", "-o", str(tmp_path / "new")])
    assert done.exit_code == UNUSABLE
    assert not (tmp_path / "new").exists()
    assert "pip install 'ropespec[vectors]'" in done.output
