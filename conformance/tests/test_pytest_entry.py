"""How an implementation in a test file is found, named, and looked at."""

import runpy
import sys
import types

import pytest

from ropespec.conformance import ProfileError, conformance_tests
from ropespec.conformance.pytest_entry import offered_by, target_of


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
    file.write_text("def right(x, positions):\n    return x\n", encoding="utf-8")
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


def test_what_an_implementation_offers_is_seen_where_it_can_be():
    """A function is a rotation; a module is looked at; a name or a class is not known yet."""
    backend = types.ModuleType("backend")
    backend.apply_rotary = module_level
    backend.inv_freq = module_level
    backend.something = module_level

    assert offered_by(module_level) == {"apply_rotary"}
    assert offered_by(backend) == {"apply_rotary", "inv_freq"}
    assert offered_by("my_rope:right") is None
    assert offered_by(Holder) is None
