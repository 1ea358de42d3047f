"""Subjects in another interpreter: `--python`."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from click.testing import CliRunner

from ropespec.conformance.cli import command
from ropespec.conformance.cli.status import CONFORMS, FAILS
from ropespec.conformance.subject.environment import PYTHON

CHECKS = ("--half", "--only", "ROT-7.value")
ROPE = """
import numpy as np
from only_there import SIGN

def apply(x, positions):
    n = x.shape[-1]
    angle = SIGN * positions[..., None, None] * 10000.0 ** (-np.arange(0, n, 2) / n)
    a, b = np.split(x.astype(np.float64), 2, -1)
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate([a * c - b * s, a * s + b * c], -1).astype(x.dtype)
"""


@pytest.fixture
def there(tmp_path, monkeypatch):
    """Return another environment and its packages, where a module is that a subject imports."""
    monkeypatch.setenv(PYTHON, "")  # and taken back at the end
    (tmp_path / "rope.py").write_text(ROPE)
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    places = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", places))
    (packages / "only_there.py").write_text("SIGN = 1.0")
    return str(Path(sysconfig.get_path("scripts", "venv", places)) / "python"), packages


def invoke(*words):
    """Run the command."""
    return CliRunner().invoke(command, ["check", *words], standalone_mode=False)


def test_a_subject_finds_what_is_installed_in_its_interpreter(there, tmp_path):
    """Where it is not, it cannot be imported; nothing of ours is installed there."""
    python, _ = there
    target = f"{tmp_path}/rope.py:apply"
    alone = invoke(target, *CHECKS)
    assert "only_there" in str(alone.exception)
    done = invoke(target, *CHECKS, "--python", python)
    assert done.return_value == CONFORMS, done.output


def test_a_wrong_subject_is_refused_there_and_its_script_runs_there(there, tmp_path):
    """The script that shows a failure needs the same environment, and has it."""
    python, packages = there
    (packages / "only_there.py").write_text("SIGN = -1.0")
    (packages / "more.pth").write_text(sysconfig.get_path("purelib"))  # NumPy, for the script
    done = invoke(f"{tmp_path}/rope.py:apply", *CHECKS, "--python", python, "--verbose")
    assert done.return_value == FAILS, done.output
    assert "this script shows it" in done.output


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/no/such/python", "/no/such/python cannot be run: No such file"),
        ("/bin/echo", f"must be Python {sys.version_info[0]}.{sys.version_info[1]}; /bin/echo is"),
        ("/bin/false", "/bin/false is something else"),
    ],
)
def test_what_is_no_interpreter_of_this_version_is_refused(monkeypatch, path, said):
    """Before anything is loaded."""
    monkeypatch.setenv(PYTHON, "")
    done = invoke("numpy", "--python", path)
    assert said in str(done.exception.message)
