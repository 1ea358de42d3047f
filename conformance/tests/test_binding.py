"""How x and positions find their parameters: by name where a name tells, else by place."""

import functools

import numpy as np
import pytest

from ropespec.conformance.subject.binding import PLAIN, Binding, binding_of
from ropespec.conformance.subject.frames import FrameError
from ropespec.conformance.subject.loading import KEYWORDS

X, POSITIONS = np.ones(3), np.arange(3)


def plain(x, positions):
    """By place."""
    return x, positions


def short_names(x, p, base=10000.0):
    """By place, whatever they are called."""
    assert base == 5.0
    return x, p


def positions_first(pos, x):
    """By place, in the other order."""
    return x, pos


def keyword_only(x, *, input_pos=None):
    """By place and by keyword."""
    return x, input_pos


def both_keywords(*, position_ids, hidden):
    """By keyword."""
    return hidden, position_ids


def third(x, offset=0, positions=None):
    """By keyword, for another parameter stands between."""
    assert offset == 0
    return x, positions


def optional(positions=None, x=None):
    """By place; none of them is required."""
    return x, positions


def anything(*args):
    """By place."""
    return args


def required_base(x, positions, base):
    """A keyword that is known is given anyway."""
    assert base == 5.0
    return x, positions


class Layer:
    """Called through a wrapper that takes anything."""

    def __call__(self, *args, **kwargs):
        """As Keras does it."""
        return self.call(*args, **kwargs)

    def call(self, inputs, start_index=0, positions=None):
        """By keyword."""
        assert start_index == 0
        return inputs, positions


TOLD = [
    (plain, ["x", "positions"]),
    (short_names, ["x", "positions"]),
    (positions_first, ["positions", "x"]),
    (keyword_only, ["x", "input_pos=positions"]),
    (both_keywords, ["hidden=x", "position_ids=positions"]),
    (third, ["x", "positions=positions"]),
    (optional, ["positions", "x"]),
    (anything, ["x", "positions"]),
    (required_base, ["x", "positions"]),
    (functools.partial(third, offset=0), ["x", "positions=positions"]),
    (Layer(), ["x", "positions=positions"]),
    (np.add, ["x", "positions"]),
]


@pytest.mark.parametrize(("function", "words"), TOLD)
def test_arguments_go_where_the_names_tell(function, words):
    """The call that is written and the call that is made are the same."""
    binding = binding_of(function, KEYWORDS, "f")

    assert binding.fits
    assert binding.words("x", "positions") == words


@pytest.mark.parametrize("function", [one for one, _ in TOLD if one is not np.add])
def test_a_bound_function_is_called_with_x_and_positions(function):
    """Whatever its own order is; keywords go through."""
    binding = binding_of(function, KEYWORDS, "f")
    keywords = {"base": 5.0} if "base" in binding.parameters else {}

    x, positions = binding.bound(function)(X, POSITIONS, **keywords)

    assert x is X
    assert positions is POSITIONS


def test_a_function_that_needs_no_binding_is_left_as_it_is():
    """Nothing stands between it and who calls it."""
    assert binding_of(plain, KEYWORDS, "plain").bound(plain) is plain


@pytest.mark.parametrize(
    ("parameters", "required"),
    [
        ("q, k, cos, sin, position_ids=None", ("q", "k", "cos", "sin")),
        ("xq, xk, freqs_cis", ("xq", "xk", "freqs_cis")),
        ("positions, query, key", ("positions", "query", "key")),
        ("x, cos, sin", ("x", "cos", "sin")),
        ("x, offset=0", ("x",)),
        ("q, k", ("q", "k")),
        ("x, freqs", ("x", "freqs")),
        ("x", ("x",)),
        ("positions", ("positions",)),
        ("x, base=10000.0", ("x",)),
        ("x, positions, *, scale", ("x", "positions", "scale")),
        ("x, base, /, *, positions=None", ("x", "base")),
    ],
)
def test_another_signature_does_not_fit(parameters, required):
    """It is known without a call, and its parameters are told."""
    names = {}
    exec(f"def other({parameters}): return x", names)  # noqa: S102  # our own words
    binding = binding_of(names["other"], KEYWORDS, "other")

    assert not binding.fits
    assert binding.required == required
    assert ", ".join(binding.parameters) == ", ".join(
        one.partition("=")[0] for one in parameters.split(", ") if one not in ("*", "/")
    )


def test_a_binding_travels_as_plain_values():
    """What is written is read again, and nothing at all is the usual one."""
    binding = binding_of(third, KEYWORDS, "third")

    assert Binding.of(binding.as_dict()) == binding
    assert Binding.of(None) is PLAIN


@pytest.mark.parametrize(
    "change", [{"fits": 1}, {"x": None}, {"parameters": "x"}, {"required": [1]}, {"callee": 3}]
)
def test_what_is_no_binding_is_refused(change):
    """A worker may say anything."""
    with pytest.raises(FrameError):
        Binding.of({**PLAIN.as_dict(), **change})
    with pytest.raises(FrameError):
        Binding.of(["x", "positions"])
