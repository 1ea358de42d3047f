import json
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from jsonschema import Draft202012Validator

from ropespec.conformance.cli import main
from ropespec.conformance.opening import merged_profile
from ropespec.conformance.profile import Profile
from ropespec.conformance.report.document import schema
from ropespec.conformance.results import CheckResult, Status, Verdict
from ropespec.conformance.subject.errors import TargetUnusable

SUBJECT = """
import numpy as np

PROFILE = {"interleaved": False, "head_dim": 8, "max_position": 4095}


def rotate(x, positions, sign):
    half = x.shape[-1] // 2
    angle = positions[..., None, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), sign * np.sin(angle)
    a, b = x[..., :half].astype(float), x[..., half:].astype(float)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def right(x, positions):
    return rotate(x, positions, 1.0)


def wrong(x, positions):
    return rotate(x, positions, -1.0)


answer = 42
"""
FRAMEWORKS = "import sys; loaded = {'torch', 'jax', 'cupy'} & set(sys.modules); assert not loaded"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a current directory with a subject in it, with and without a PROFILE."""
    (tmp_path / "my_rope.py").write_text(SUBJECT, encoding="utf-8")
    bare = SUBJECT.replace("PROFILE =", "UNUSED =")
    (tmp_path / "bare_rope.py").write_text(bare, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *words):
    """Run `ropespec check` and return status, output and errors."""
    status = main(["check", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


class FakeRun:
    """Stands for opening a subject and running the checks; keeps what it was asked for."""

    def __init__(self, monkeypatch):
        self.asked = []
        self.status = Status.PASS
        self.raises = None
        self.skipped = ()
        monkeypatch.setattr("ropespec.conformance.opening.open_subject", self.open)
        monkeypatch.setattr("ropespec.conformance.runner.run", self.run)
        monkeypatch.setattr("ropespec.conformance.cli.jobs.cores", lambda: 1)
        monkeypatch.setattr("ropespec.conformance.remedy.remedied", lambda _, verdict, __: verdict)

    @contextmanager
    def open(self, target, claims, timeout):
        """Yield the target instead of a session."""
        self.asked.append((target, claims, timeout))
        yield target

    def run(self, target, plan, on_result, beside):
        """Return one result of the status that was set."""
        if self.raises is not None:
            raise self.raises
        self.plan, self.beside = plan, beside
        status = Status.SKIP if target in self.skipped else self.status
        result = CheckResult("ROT-10.identity", "ROT-10", "Title", "Sentence.", status, 3)
        on_result(result, 0, 1)
        profile = Profile(layouts=(True,)).as_dict()
        return Verdict(target, profile, plan.seed, {"float32": "float64-angles"}, (result,))


@pytest.fixture
def fake(monkeypatch):
    """Return a run without a subject."""
    return FakeRun(monkeypatch)


@pytest.mark.usefixtures("folder")
def test_a_right_implementation_conforms(capsys):
    """Exit status 0; what it claims comes from the PROFILE beside it."""
    status, out, err = said(capsys, "my_rope.py:right", "--only", "ROT-10")

    assert status == 0
    assert err == "ropespec: loading my_rope.py:right ...\n"
    line = "my_rope.py:right conforms (checked only: ROT-10): numbers right, contract not judged; "
    assert " ".join(out.split()).startswith(f"{line}1 clause checked in ")
    assert "checked as half-split (i, i+d/2), numpy bshd float32, base 10000" in out
    assert "head_dim 8, positions -4095..4095, seed 0 " in " ".join(out.split())


def test_a_wrong_implementation_does_not(folder, capsys):
    """Exit status 1; what to do is in the report, and with --verbose a script that shows it."""
    file = folder / "verdict.json"
    words = ("bare_rope.py:wrong", "--half", "--only", "ROT-7")
    status, out, _ = said(capsys, *words, "--json", str(file))
    _, verbose, _ = said(capsys, *words, "--verbose")
    content = json.loads(file.read_text(encoding="utf-8"))
    Draft202012Validator(schema()).validate(content)
    failed = [check for check in content["checks"] if check["status"] == "fail"]

    assert status == 1
    line = "bare_rope.py:wrong does not conform (checked only: ROT-7): numbers wrong: 1 of 1"
    assert out.startswith(line)
    assert "Diagnosis: S1 " in out
    assert "What to do:" in out
    assert "import numpy as np" not in out
    assert len(out.splitlines()) <= 40
    assert verbose.splitlines()[-2].startswith(line)
    assert "this script shows it:\n\nimport sys\nimport numpy as np\n" in verbose
    assert content["conforms"] is False
    assert content["only"] == ["ROT-7"]
    assert failed
    for check in failed:
        assert check["worst"] == "inf" or check["worst"] > 1
        assert check["counterexample"]["script"]
        assert check["counterexample"]["no_script"] == ""


@pytest.mark.usefixtures("folder")
def test_options_reach_the_profile(fake, capsys):
    """Every option of the contract arrives under its name."""
    status, _, _ = said(
        capsys,
        *("my_rope.py:right", "--half", "--array", "torch", "--axes", "bhsd", "--dtype", "float32"),
        *("--dtype", "bfloat16", "--base", "500000", "--rotary-dim", "4", "--head-dim", "8"),
        *("--head-dim", "16", "--precision", "float32-angles", "--max-position", "99"),
        *("--no-negative-positions", "--shared-positions", "--device", "cpu"),
        *("--seed", "5", "--full", "--only", "rot-10", "--timeout", "3"),
    )
    ((target, claims, timeout),) = fake.asked

    assert status == 0
    assert (target, timeout) == ("my_rope.py:right", 3.0)
    assert claims == {
        "layouts": [False],
        "array": "torch",
        "axes": "bhsd",
        "dtypes": ["float32", "bfloat16"],
        "base": 500000.0,
        "rotary_dim": 4,
        "head_dims": [8, 16],
        "precision": "float32-angles",
        "max_position": 99,
        "negative_positions": False,
        "shared_positions": True,
        "device": "cpu",
    }
    assert (fake.plan.seed, fake.plan.full, fake.plan.only) == (5, True, ("rot-10",))


@pytest.mark.usefixtures("folder")
def test_what_is_not_given_is_not_claimed(fake, capsys):
    """Defaults are left to the target and to the profile."""
    said(capsys, "my_rope.py:right")

    assert fake.asked == [("my_rope.py:right", {}, 30.0)]


def test_options_win_over_the_profile_of_the_target():
    """Both spellings of a claim are one claim."""
    own = {"interleaved": True, "head_dim": 8, "base": 500.0}

    profile = merged_profile("t", own, {"layouts": [False], "head_dims": [16]})

    assert profile == Profile(layouts=(False,), head_dims=(16,), base=500.0)


def test_a_built_in_backend_keeps_its_framework():
    """A backend of torch is not checked with NumPy arrays."""
    own = Profile(layouts=(True, False), array="torch").as_dict()

    assert merged_profile("torch", own, {"array": "torch", "dtypes": ["float64"]}).array == "torch"
    with pytest.raises(TargetUnusable, match="array of the built-in torch is torch, always"):
        merged_profile("torch", own, {"array": "numpy"})


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["no_such.py:f", "--half"], "no such file: no_such.py"),
        (
            ["my_rope.py:rihgt", "--half"],
            "my_rope.py has no attribute 'rihgt'; did you mean 'right'?",
        ),
        (["my_rope.py:answer"], "my_rope.py:answer is not callable and offers no function"),
        (["no_such_module:f", "--half"], "no module named 'no_such_module'"),
        (["bare_rope.py:right"], "bare_rope.py:right does not say how it pairs components"),
        (
            ["my_rope.py:right", "--rotary-dim", "16"],
            "my_rope.py:right: rotary-dim must be at most",
        ),
        (["my_rope.py:right", "--base", "1"], "my_rope.py:right: base must be a finite number"),
        (["my_rope.py:right", "--interleaved", "--half"], "my_rope.py:right takes no keyword"),
        (["my_rope.py:right", "--rotary-dim", "3"], "Invalid value for '--rotary-dim': must be an"),
        (
            ["my_rope.py:right", "--head-dim", "0"],
            "Invalid value for '--head-dim': must be an even",
        ),
        (["my_rope.py:right", "--dtype", "float8"], "Invalid value for '--dtype': 'float8' is not"),
        (["my_rope.py:right", "--precision", "best"], "Invalid value for '--precision': 'best' is"),
        (["my_rope.py:right", "--timeout", "0"], "Invalid value for '--timeout': must be a"),
        (["my_rope.py:right", "--only", "ROT-99"], "--only: no check is called 'ROT-99'"),
        (["my_rope.py:right", "--json", "no/such/folder.json"], "--json: cannot write no/such/"),
        (["my_rope.py:right", "--json", "."], "--json: cannot write .: "),
        (["my_rope.py:right", "--nonsense"], "No such option"),
        (["numpy", "--array", "torch"], "array of the built-in numpy is numpy, always"),
    ],
)
def test_bad_use_is_one_clear_line(capsys, words, line):
    """Exit status 2, nothing on standard output, no traceback."""
    status, out, err = said(capsys, *words)
    lines = [text for text in err.splitlines() if not text.startswith("ropespec: loading ")]

    assert (status, out) == (2, "")
    assert len(lines) == 1
    assert lines[0].startswith(f"ropespec: {line}")


@pytest.mark.usefixtures("folder")
def test_the_missing_pairing_comes_with_a_way_to_find_out(capsys):
    """Both options are explained where one of them is missing."""
    _, _, err = said(capsys, "bare_rope.py:right")

    assert "--interleaved for pairs (2i, 2i+1) or --half for pairs (i, i+d/2)" in err
    assert "`ropespec identify` finds out which" in err


def test_a_framework_that_is_not_installed_is_named(capsys, monkeypatch):
    """The target says what to install."""
    monkeypatch.setattr("ropespec.conformance.opening.availability", lambda name: f"no {name}")
    status, out, err = said(capsys, "jax")

    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == "ropespec: jax cannot run here: no jax"


def test_without_a_target_all_that_can_run_are_checked(fake, capsys, monkeypatch, tmp_path):
    """Of the others it is said why not, and one document holds all verdicts."""
    reasons = {"torch": "torch is not installed", "cupy": "no GPU"}
    monkeypatch.setattr("ropespec.conformance.builtin.availability", reasons.get)
    file = tmp_path / "all.json"
    status, out, err = said(capsys, "--dtype", "float32", "--json", str(file))
    content = json.loads(file.read_text(encoding="utf-8"))
    Draft202012Validator(schema()).validate(content)

    assert status == 0
    assert [target for target, _, _ in fake.asked] == ["numpy", "jax"]
    assert fake.asked[0][1] == {"dtypes": ["float32"]}
    assert err == "ropespec: loading numpy ...\nropespec: loading jax ...\n"
    assert out.endswith("torch was not run: torch is not installed\ncupy was not run: no GPU\n")
    assert [one["subject"] for one in content["verdicts"]] == ["numpy", "jax"]
    assert content["not_run"] == reasons


@pytest.mark.parametrize("status", [Status.FAIL, Status.ERROR, Status.CRASH, Status.TIMEOUT])
def test_one_that_does_not_conform_is_enough(fake, capsys, monkeypatch, status):
    """Exit status 1 without a target as with one; whatever the reason."""
    monkeypatch.setattr("ropespec.conformance.builtin.availability", lambda _: None)
    fake.status = status

    assert said(capsys)[0] == 1
    assert said(capsys, "numpy")[0] == 1


def test_nothing_checked_is_no_verdict(fake, capsys, tmp_path):
    """If everything was skipped, it neither conforms nor does not: status 2, and the reason."""
    fake.status = Status.SKIP
    file = tmp_path / "verdict.json"
    status, out, _ = said(capsys, "numpy", "--json", str(file))
    content = json.loads(file.read_text())

    assert status == 2
    why = "1 check skipped: no reason was given (ROT-10)"
    assert out.splitlines()[0] == f"numpy: nothing was checked: {why}"
    assert (content["conforms"], content["numbers"], content["contract"]) == (
        False,
        "not judged",
        "not judged",
    )


def test_what_cannot_be_checked_of_one_backend_is_no_fault_of_another(fake, capsys, monkeypatch):
    """Without a target the backends of which something was asked decide."""
    monkeypatch.setattr("ropespec.conformance.builtin.availability", lambda _: None)
    fake.skipped = ("numpy",)
    status, out, _ = said(capsys)

    assert status == 0
    assert out.startswith("numpy: nothing was checked: ")
    assert "torch conforms: " in out


@pytest.mark.parametrize("on_top", [None, AssertionError()])
def test_an_interruption_is_one_line(fake, capsys, on_top):
    """Ctrl-C: exit status 130, no traceback, nothing that looks like a verdict."""
    fake.raises = on_top or KeyboardInterrupt()
    if on_top is not None:
        on_top.__context__ = KeyboardInterrupt()
    status, out, err = said(capsys, "numpy")

    assert (status, out) == (130, "")
    assert err == "ropespec: loading numpy ...\nropespec: interrupted\n"


def test_a_mistake_of_ours_is_no_interruption(fake, capsys):
    """Any other exception is shown as it is, for the report of a bug."""
    fake.raises = AssertionError("ours")

    with pytest.raises(AssertionError, match="ours"):
        said(capsys, "numpy")


def test_a_file_that_was_there_is_kept_until_there_is_a_verdict(fake, capsys, tmp_path):
    """Trying whether a file can be written neither empties it nor leaves a new one behind."""
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("old", encoding="utf-8")
    fake.raises = KeyboardInterrupt()
    said(capsys, "numpy", "--json", str(old))
    said(capsys, "numpy", "--json", str(new))

    assert old.read_text(encoding="utf-8") == "old"
    assert not new.exists()


def test_help_has_an_example_and_every_option(capsys):
    """`--help` shows how to call, in lines of their own."""
    status, out, _ = said(capsys, "--help")

    assert status == 0
    assert "\n  ropespec check my_rope.py:apply --half\n" in out
    for option in ("--interleaved", "--half", "--axes", "--shared-positions", "--timeout S"):
        assert option in out


def test_the_bare_command_teaches(capsys):
    """Without a word, or with --version, the command answers and succeeds."""
    assert main([]) == 0
    assert "ropespec check my_rope.py:apply --half" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("ropespec ")
    assert main(["no-such"]) == 2
    assert capsys.readouterr().err == "ropespec: No such command 'no-such'.\n"


def fresh(code, folder):
    """Run code in a fresh interpreter that finds fake frameworks in a folder."""
    for name in ("torch", "jax", "cupy"):
        (folder / f"{name}.py").write_text("", encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("words", [["--help"], ["check", "--help"], ["spec", "ROT-6"]])
def test_the_command_loads_no_framework(tmp_path, words):
    """torch, JAX and CuPy belong to the worker of a subject alone."""
    code = f"from ropespec.conformance.cli import main; assert main({words}) == 0; {FRAMEWORKS}"

    assert fresh(code, tmp_path).returncode == 0


def test_the_package_loads_no_framework(tmp_path):
    """Neither does the package, nor the entry for pytest."""
    code = f"import ropespec.conformance, ropespec.conformance.pytest_entry; {FRAMEWORKS}"

    assert fresh(code, tmp_path).returncode == 0


def test_a_loaded_framework_would_be_noticed(tmp_path):
    """The tests above can fail."""
    done = fresh(f"import ropespec.conformance, jax; {FRAMEWORKS}", tmp_path)

    assert done.returncode == 1
    assert "AssertionError" in done.stderr


def test_the_first_line_comes_before_anything_slow_is_loaded(tmp_path):
    """When it is printed, Hypothesis is not loaded and no worker is started."""
    code = (
        "import sys\n"
        "from ropespec.conformance.report.progress import Progress\n"
        "def enter(self):\n"
        "    assert 'hypothesis' not in sys.modules\n"
        "    assert 'ropespec.conformance.subject.process' not in sys.modules\n"
        "    raise SystemExit(7)\n"
        "Progress.__enter__ = enter\n"
        "from ropespec.conformance.cli import main\n"
        "main(['check', 'numpy'])\n"
    )
    done = fresh(code, tmp_path)

    assert done.stderr == ""
    assert done.returncode == 7


def test_the_second_process_starts_before_anything_slow_is_loaded(tmp_path):
    """Each loads it for itself, at the same time."""
    code = (
        "import subprocess, sys\n"
        "def start(*_, **__):\n"
        "    assert 'hypothesis' not in sys.modules\n"
        "    raise SystemExit(7)\n"
        "subprocess.Popen = start\n"
        "from ropespec.conformance.cli import main\n"
        "main(['check', 'numpy', '--jobs', '2'])\n"
    )
    done = fresh(code, tmp_path)

    assert "Error" not in done.stderr
    assert done.returncode == 7
