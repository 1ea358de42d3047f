"""Adapters: each is run beside the function it is written for, and must rotate."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.adapter import Answered, adapter
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.arrays import results
from ropespec.conformance.subject.binding import binding_of
from ropespec.conformance.subject.layout import from_subject, positions_for_subject, to_subject
from ropespec.conformance.subject.loading import KEYWORDS

SUBJECTS = Path(__file__).parent / "subjects"
POSITIONS = np.array([[0, 1, 2, 3, 4], [7, 9, 300, 2, 0]])

NUMPY = """
import numpy as np
from ropespec import reference

def apply(x, positions):
    return reference.apply_rotary(x, positions, interleaved=False), None

def in_place(x, positions):
    x[...] = reference.apply_rotary(x, positions, interleaved=False)

class Rope:
    def apply_rotary(self, x, positions):
        return [reference.apply_rotary(x, positions, interleaved=False)] * 2
"""


@pytest.fixture
def beside(monkeypatch):
    """Return a function that runs an adapter beside the module of its target."""
    monkeypatch.syspath_prepend(str(SUBJECTS))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(source):
        names = {}
        exec(compile(source, "adapter.py", "exec"), names)  # noqa: S102  # what is under test
        return names

    yield run
    for name in ("signatures", "numpy_signatures"):
        sys.modules.pop(name, None)


def found(function, path):
    """Follow dots."""
    for name in path.split("."):
        function = getattr(function, name)
    return function() if isinstance(function, type) else function


def answered(called, binding, profile, x):
    """Return what a call came to, as it is seen in a session."""
    before = np.asarray(x).copy()
    y = results(binding.bound(called)(x, positions_of(profile)))
    shapes = tuple(tuple(getattr(one, "shape", (0,))) for one in y)
    return Answered(before.shape, shapes, bool((np.asarray(x) != before).any()))


def positions_of(profile, rows=POSITIONS):
    """Return positions as a profile wants them."""
    where = positions_for_subject(rows, profile)
    if profile.array == "torch":
        return importlib.import_module("torch").from_numpy(where.copy())
    return where


def array_of(profile, x):
    """Return an array of the framework, in the order of axes of a profile."""
    sent = to_subject(x, profile).copy()
    if profile.array == "torch":
        return importlib.import_module("torch").from_numpy(sent)
    return sent


def rotated(names, x):
    """Call an adapter under its own claims, row by row where it shares positions."""
    profile = Profile.from_mapping({"interleaved": False, **names["PROFILE"]})
    apply = names.get("rotate") or names["apply"]
    rows = [slice(b, b + 1) for b in range(len(x))] if profile.shared_positions else [slice(None)]
    parts = []
    for row in rows:
        y = apply(array_of(profile, x[row]), positions_of(profile, POSITIONS[row]))
        parts.append(from_subject(np.asarray(y), profile))
    return np.concatenate(parts), profile.layouts[0]


# The attribute, and the orders of axes that may be claimed of it.
TORCH = [
    ("Rotary", ("bshd", "bhsd")),
    ("Halved", ("bshd", "bhsd")),
    ("two", ("bshd",)),
    ("in_place", ("bshd",)),
    ("heads_first", ("bshd",)),
]


@pytest.mark.parametrize(
    ("attribute", "axes"), [(name, axes) for name, orders in TORCH for axes in orders]
)
def test_an_adapter_rotates(attribute, axes, beside):
    """Two results, tables, in place, another order."""
    module = importlib.import_module("signatures")
    function = found(module, attribute)
    profile = Profile(layouts=(True, False), array="torch", axes=axes)
    callee = f"{attribute}()" if isinstance(getattr(module, attribute), type) else attribute
    binding = binding_of(function, KEYWORDS, callee)
    x = np.random.default_rng(0).standard_normal((2, 5, 3, 64)).astype(np.float32)
    gave = answered(function, binding, profile, array_of(profile, x))
    target = f"{SUBJECTS}/signatures.py:{attribute}"

    assert binding.fits
    y, interleaved = rotated(beside(adapter(target, binding, profile, gave)), x)

    expected = reference.apply_rotary(x, POSITIONS, interleaved=interleaved)
    assert not interleaved
    np.testing.assert_allclose(y, expected, rtol=0, atol=2e-4)


@pytest.mark.parametrize(
    ("attribute", "callee"),
    [
        ("apply", "apply"),
        ("in_place", "in_place"),
        ("Rope", "Rope().apply_rotary"),
        ("", "in_place"),
    ],
)
def test_an_adapter_speaks_numpy_as_well(attribute, callee, beside, tmp_path):
    """Functions, one that is called `apply`, a class, a module."""
    (tmp_path / "numpy_signatures.py").write_text(NUMPY, encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    try:
        module = importlib.import_module("numpy_signatures")
        function = found(module, attribute or "in_place")
        function = getattr(function, "apply_rotary", function)
        binding = binding_of(function, KEYWORDS, callee)
        profile = Profile(layouts=(True, False))
        x = np.random.default_rng(2).standard_normal((2, 5, 3, 8)).astype(np.float32)
        gave = answered(function, binding, profile, x.copy())
        target = f"{tmp_path}/numpy_signatures.py" + (f":{attribute}" if attribute else "")
        names = beside(adapter(target, binding, profile, gave))
    finally:
        sys.path.remove(str(tmp_path))

    y, interleaved = rotated(names, x)

    assert ("rotate" in names) == (attribute == "apply")
    np.testing.assert_allclose(
        y, reference.apply_rotary(x, POSITIONS, interleaved=interleaved), rtol=0, atol=1e-5
    )


def test_what_no_name_tells_is_left_to_be_filled_in():
    """The adapter is Python all the same, and keeps the claims."""

    def weighted(tensor, amount, weights):
        return tensor, amount, weights

    binding = binding_of(weighted, KEYWORDS, "weighted")
    profile = Profile(layouts=(False,), dtypes=("float64",), head_dims=(8,), base=500.0)
    source = adapter("my_rope:weighted", binding, profile)

    compile(source, "adapter.py", "exec")
    assert "from my_rope import weighted\n" in source
    assert "return weighted(tensor=x, amount=..., weights=...)  # what stands as ..." in source
    assert (
        'PROFILE = {"dtypes": ["float64"], "base": 500.0, "head_dims": [8], "interleaved": False}'
        in source
    )
    assert "import numpy" not in source


def test_the_base_that_is_claimed_is_handed_over():
    """A required parameter that is a base by its name is no gap to be filled in."""

    def apply_rope(inputs, positions, base_frequency, scale):
        return inputs, positions, base_frequency, scale

    binding = binding_of(apply_rope, KEYWORDS, "apply_rope")
    source = adapter("gemma:apply_rope", binding, Profile(layouts=(False,), base=5e5))
    given = "inputs=x, positions=positions, base_frequency=500000.0, scale=..."

    assert f"return apply_rope({given})  # what stands as ..." in source


def test_a_signature_that_cannot_be_read_is_left_to_be_filled_in():
    """The call is open, not one without arguments, which is that of a function of nothing."""
    profile = Profile(layouts=(False,))
    unread = adapter("mlx.core:fast.rope", binding_of(dict, KEYWORDS, "fast.rope"), profile)
    nothing = adapter("my_rope:no", binding_of(lambda: None, KEYWORDS, "no"), profile)

    compile(unread, "adapter.py", "exec")
    assert unread.endswith("return fast.rope(...)  # what stands as ... is yours to fill in")
    assert nothing.endswith("return no()")


def test_a_guess_is_not_claimed():
    """Where nobody says how it pairs, the adapter does not either."""
    profile = Profile(layouts=(True,))
    gave = Answered((2, 5, 3, 8), ((2, 5, 3, 8), (2, 5, 3, 8)), written=False)
    binding = binding_of(lambda x, positions: (x, positions), KEYWORDS, "two")

    assert "PROFILE = {}" in adapter("m:two", binding, profile, gave, pairing_known=False)
    assert 'PROFILE = {"interleaved": True}' in adapter("m:two", binding, profile, gave)
