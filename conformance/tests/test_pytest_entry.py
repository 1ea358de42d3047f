import os
import runpy
import subprocess
import sys
import types

import pytest

from ropespec.conformance import ProfileError, conformance_tests
from ropespec.conformance.pytest_entry import target_of

ROPE = '''
"""A half-split rotation, right and wrong."""
import numpy as np


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
'''
TESTS = """
import os
from functools import partial
from pathlib import Path

import my_rope
import pytest

from ropespec.conformance import conformance_tests

with Path("imports.log").open("a") as log:
    log.write(f"{os.getpid()}\\n")


def own(x, positions):
    return my_rope.right(x, positions)


named = partial(my_rope.rotate, sign=1.0)
claims = {"interleaved": False, "only": ["ROT-7", "ROT-10", "ROT-14"], "head_dim": [4, 8]}

test_right = conformance_tests(my_rope.right, **claims)
test_wrong = conformance_tests(my_rope.wrong, **claims)
test_own = conformance_tests(own, **claims)
test_named = conformance_tests(named, **claims)
test_string = conformance_tests("my_rope:right", **claims)
test_missing = conformance_tests("my_rope:rihgt", **claims)
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder with an implementation and a test file."""
    (tmp_path / "my_rope.py").write_text(ROPE, encoding="utf-8")
    (tmp_path / "test_rope.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def run(folder, *words):
    """Run pytest in a process of its own, as a user would."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rsf", *words]
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_each_check_is_a_test_and_says_what_is_wrong(folder):
    """Right ones pass, wrong ones fail readably, what is not claimed is skipped with its reason."""
    done = run(folder, "-v", "-W", "error")
    lines = done.stdout.splitlines()
    outcome = {
        line.split("::")[1].split()[0]: line.split()[1]
        for line in lines
        if ".py::test_" in line[:20]
    }

    assert done.returncode == 1
    assert done.stderr == ""
    for name in ("right", "own", "named", "string"):
        assert outcome[f"test_{name}[ROT-10.identity]"] == "PASSED"
        assert outcome[f"test_{name}[ROT-7.value]"] == "PASSED"
    assert outcome["test_wrong[ROT-10.identity]"] == "PASSED"
    assert outcome["test_wrong[ROT-7.value]"] == "FAILED"
    assert outcome["test_missing[ROT-10.identity]"] == "FAILED"
    assert {found for name, found in outcome.items() if "ROT-14" in name} == {"SKIPPED", "FAILED"}
    assert "my_rope:wrong does not conform to ROT-7" in lines
    assert any(line.startswith("fail  ROT-7.value  ") for line in lines)
    assert any("worst element: y[" in line for line in lines)
    assert "from my_rope import wrong as subject" in lines
    assert "my_rope has no attribute 'rihgt'; did you mean 'right'?" in lines
    assert any("SKIPPED" in line and "no tail claimed" in line for line in lines)
    assert not any("pytest_function.py" in line and "Error" in line for line in lines)


def test_collecting_starts_nothing(folder):
    """The test file is imported once, by pytest, and no framework and no worker is there."""
    plugin = (
        "import sys\n"
        "from ropespec.conformance.subject.process import WorkerProcess\n"
        "def start(self, folder):\n"
        "    raise AssertionError('started')\n"
        "WorkerProcess.__init__ = start\n"
        "def pytest_sessionfinish():\n"
        "    print('frameworks', sorted({'torch', 'jax', 'cupy'} & set(sys.modules)))\n"
    )
    (folder / "conftest.py").write_text(plugin, encoding="utf-8")
    collected = run(folder, "--collect-only", "-q")
    ran = run(folder, "-q", "-k", "test_right and identity")

    assert collected.returncode == 0
    assert "test_rope.py::test_right[ROT-10.identity]" in collected.stdout
    assert "frameworks []" in collected.stdout
    # The plugin would have noticed a worker.
    assert ran.returncode == 1
    assert "started" in ran.stdout


def test_all_tests_of_one_call_share_a_worker(folder):
    """The test file is imported by pytest and by one worker, however many tests there are."""
    done = run(folder, "-q", "-k", "test_own")
    processes = (folder / "imports.log").read_text(encoding="utf-8").split()

    assert done.returncode == 0
    assert len(processes) == len(set(processes)) == 2


class Holder:
    """A class with an implementation."""

    @staticmethod
    def apply(x, positions):
        """Rotate nothing."""
        del positions
        return x

    def method(self, x):
        """Need an instance."""
        return x


def module_level(x, positions):
    """Rotate nothing."""
    del positions
    return x


nameless = lambda x, positions: x  # noqa: E731, ARG005  # a lambda with a name at the top level


@pytest.mark.parametrize(
    ("apply", "target"),
    [
        ("some.module:attribute", "some.module:attribute"),
        (target_of, "ropespec.conformance.pytest_entry:target_of"),
        (sys.modules["ropespec.conformance"], "ropespec.conformance"),
    ],
)
def test_a_module_is_named_as_it_is_imported(apply, target):
    """By its dotted name where a fresh interpreter finds it; a string is what it is."""
    assert target_of(apply) == target


@pytest.mark.parametrize(
    ("apply", "attribute"),
    [
        (Holder.apply, "Holder.apply"),
        (Holder, "Holder"),
        (module_level, "module_level"),
        (nameless, "nameless"),
    ],
)
def test_an_attribute_of_a_module_is_found(apply, attribute):
    """Whatever has a name at the top level, decorated or not."""
    place, _, found = target_of(apply).rpartition(":")

    assert found == attribute
    assert place in (__file__, __name__)


def test_a_file_loaded_by_path_is_named_by_its_path(tmp_path):
    """A module name that no other process finds is not given."""
    file = tmp_path / "my_rope.py"
    file.write_text(ROPE, encoding="utf-8")
    names = runpy.run_path(str(file), run_name="my_rope")
    caller = names | {"__file__": str(file), "__name__": "my_rope"}

    assert target_of(names["right"], caller) == f"{file}:right"


def test_a_backend_is_found_as_built_in():
    """Its own profile is then known."""
    backend = types.ModuleType("ropespec.backends.numpy")
    backend.__file__ = "somewhere/numpy/__init__.py"

    assert target_of(backend) == "numpy"


def closure():
    """Return a function that nobody else can reach."""

    def inner(x, positions):
        del positions
        return x

    return inner


@pytest.mark.parametrize(
    ("apply", "name"),
    [
        (closure(), "closure.<locals>.inner"),
        (lambda x, positions: x, "<lambda>"),  # noqa: ARG005  # never called
        (Holder().method, "Holder.method"),
        (42, "42"),
    ],
)
def test_what_has_no_name_is_refused_with_advice(apply, name):
    """One clear sentence that says what to do instead."""
    with pytest.raises(TypeError) as caught:
        conformance_tests(apply, interleaved=True)
    text = str(caught.value)

    assert text.startswith(f"{name} cannot be found by name; ")
    assert '"package.module:attribute"' in text


def test_impossible_claims_are_refused_while_collecting():
    """A wrong keyword is no test result."""
    with pytest.raises(ProfileError, match="unknown claim rotary_dims; known are array, axes"):
        conformance_tests(module_level, interleaved=True, rotary_dims=4)
    with pytest.raises(ProfileError, match="dtype must be one of"):
        conformance_tests(module_level, interleaved=True, dtypes=["float8"])


def test_an_unknown_clause_is_refused_while_collecting():
    """So is a clause that does not exist."""
    with pytest.raises(ValueError, match="no check is called 'ROT-99'"):
        conformance_tests(module_level, interleaved=True, only=["ROT-99"])
