"""What shows a failure: the input, the element that is off, and a script that was run."""

import numpy as np
import pytest

from ropespec.conformance.evidence.counterexample import LOST, OTHERWISE, PASSES
from ropespec.conformance.opening import open_subject
from ropespec.conformance.registry import all_checks
from ropespec.conformance.report.proof import Proof
from ropespec.conformance.runner import Plan, run_check
from ropespec.conformance.trial import Trial

SUBJECTS = """
import os

import numpy as np


def rotate(x, positions, sign=1.0):
    half = x.shape[-1] // 2
    angle = positions[..., None, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), sign * np.sin(angle)
    a, b = x[..., :half].astype(float), x[..., half:].astype(float)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def clockwise(x, positions):
    return rotate(x, positions, -1.0)


def beyond(x, positions):
    y = rotate(x, positions)
    if len(x) > 1:
        y[:, 65535:] = x[:, 65535:]
    return y


def flat(x, positions):
    if x.flags.c_contiguous:
        return rotate(x, positions)
    whole = x if x.base is None else x.base
    return rotate(whole.ravel()[: x.size].reshape(x.shape), positions)


def not_empty(x, positions):
    if not x.size:
        raise ValueError("nothing to rotate")
    return rotate(x, positions)


def over(x, positions):
    y = rotate(x, positions)
    x += 1
    return y


seen = []


def third(x, positions):
    seen.append(1)
    return rotate(x, positions, -1.0 if len(seen) > 2 else 1.0)


def aborts(x, positions):
    os.abort()


def table(x, positions):
    y = rotate(x, positions)
    y[..., 1] += 0.5
    return y


def positions_first(positions, x):
    return clockwise(x, positions)


def first_number(x, positions):
    return rotate(x, positions[0])


def last_ones(x, positions):
    return np.concatenate([x[..., :-4], clockwise(x[..., -4:], positions)], -1)


def come_apart(x, positions):
    return clockwise(np.concatenate([x[..., ::2], x[..., 1::2]], -1), positions)


def by_keyword(x, offset=0, *, input_pos=None):
    return clockwise(x, input_pos)


def both_by_keyword(*, x, pos):
    if not x.size:
        raise ValueError("nothing to rotate")
    return over(x, pos)
"""
TORCH = """
import torch


def rotate(x, positions):
    half = x.shape[-1] // 2
    inv = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = positions[..., None, None] * inv
    a, b = x[..., :half], x[..., half:]
    y = torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)
    return y.to(x.dtype)


class Forward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, positions):
        ctx.save_for_backward(positions)
        return rotate(x, positions)

    @staticmethod
    def backward(ctx, gradient):
        return rotate(gradient, *ctx.saved_tensors), None


def forward(x, positions):
    return Forward.apply(x, positions)


class Module(torch.nn.Module):
    def forward(self, x, *, input_pos=None):
        return Forward.apply(x, input_pos)
"""


@pytest.fixture
def found(tmp_path, monkeypatch):
    """Return a function that gives the first failure of one check, its scripts run."""
    (tmp_path / "mine.py").write_text(SUBJECTS, encoding="utf-8")
    (tmp_path / "turns.py").write_text(TORCH, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    checks = {check.id: check for check in all_checks()}

    def find(target, check, **claims):
        with open_subject(target, {"layouts": [False], **claims}, 30.0) as session:
            result = run_check(checks[check], Trial(session), Plan())
        return Proof(tmp_path, whole=120.0).of_result(result)

    return find


@pytest.mark.parametrize(
    "check", ["REL-2.real-part", "REL-3.inner-product", "DER-2.equations", "DEC-2.cosines"]
)
def test_a_failure_of_a_score_or_a_law_has_a_script_that_shows_it(found, check):
    """q alone at position 0 shows nothing: the script rotates both, or the one that is off."""
    result = found("mine.py:table", check)
    example = result.counterexample

    assert example.script, example.no_script
    if example.where.startswith("score"):
        assert list(example.inputs)[:5] == ["function", "q", "m", "k", "n"]
        assert 'print("score"' in example.script
    else:
        assert example.script.startswith(f"# one of the rotations behind {example.where}")


def test_the_worst_element_is_one_of_the_x_that_is_shown(found):
    """A check that looks at a part counts from its start; the report counts in x."""
    result = found("mine.py:beyond", "ROT-19.many")
    example = result.counterexample
    place = tuple(int(word) for word in example.where[2:-1].split(","))
    shape = tuple(example.case[name] for name in ("batch", "seq", "heads", "head_dim"))

    assert shape == (3, 65537, 1, 2)
    assert place[1] in (65535, 65536)
    assert f"at = {place}" in example.script
    # Two tokens of each row, and what came back is off unless a component happens to agree.
    assert 0 < example.off <= 2 * 3 * 2
    assert example.of == np.prod(shape)


def test_how_many_elements_are_off_is_counted(found):
    """One component of each vector is wrong, and no other."""
    example = found("mine.py:table", "ROT-10.identity").counterexample

    assert example.of == np.prod([example.case[n] for n in ("batch", "seq", "heads", "head_dim")])
    assert example.off * example.case["head_dim"] == example.of
    assert example.where.endswith(", 1]")


def test_a_view_is_handed_over_as_one(found):
    """What is wrong for a strided x alone has a script with a strided x, and says so."""
    example = found("mine.py:flat", "ROT-19.strides").counterexample

    assert "[..., ::2]" in example.script
    assert example.case["strided"] is True


def test_an_empty_x_that_raises_is_shown_as_it_is(found):
    """Shape and values of the report are those of the x that raises."""
    example = found("mine.py:not_empty", "ROT-18.empty").counterexample
    shape = tuple(example.case[name] for name in ("batch", "seq", "heads", "head_dim"))

    assert 0 in shape
    assert example.inputs["x"] == f"an array of shape {shape} and dtype float32"
    assert "np.zeros(" in example.script


def test_what_is_overwritten_is_looked_at_after_the_call(found):
    """No number is expected here, and yet a script shows it."""
    example = found("mine.py:over", "ROT-17.unwritten").counterexample

    assert example.script.splitlines()[-1].startswith('print("x after the call: expected as before')


def test_what_depends_on_the_calls_before_has_no_script_of_its_own(found):
    """It would show what is right, and the reason is said."""
    example = found("mine.py:third", "ROT-7.value").counterexample

    assert example.script == ""
    assert "before" in example.no_script or example.no_script in (PASSES, OTHERWISE)


def test_what_ends_its_process_is_not_run_again(found):
    """Nobody is asked to run it, and the input is there all the same."""
    result = found("mine.py:aborts", "ROT-10.identity")
    example = result.counterexample

    assert (example.script, example.no_script) == ("", LOST)
    assert "positions" in example.inputs


def test_a_gradient_is_shown_by_a_gradient(found):
    """The cotangent is in the report, and the script takes the step back."""
    pytest.importorskip("torch")
    example = found("turns.py:forward", "ROT-20.gradient", array="torch").counterexample

    assert example.where.startswith("gradient[")
    assert "cotangent" in example.inputs
    assert ".backward(" in example.script


@pytest.mark.parametrize(
    ("target", "check", "call"),
    [
        ("positions_first", "ROT-1.direction", "apply_rotary(positions.copy(), x.copy())"),
        ("by_keyword", "ROT-1.direction", "apply_rotary(x.copy(), input_pos=positions.copy())"),
        ("by_keyword", "REL-3.inner-product", "apply_rotary(x.copy(), input_pos=positions.copy())"),
        ("both_by_keyword", "ROT-17.unwritten", "apply_rotary(x=given, pos=positions.copy())"),
        ("both_by_keyword", "ROT-18.empty", "apply_rotary(x=x.copy(), pos="),
    ],
)
def test_a_script_calls_as_the_checks_did(target, check, call, found):
    """Where positions come first, or by a keyword, they do so in the script."""
    example = found(f"mine.py:{target}", check).counterexample

    assert call in example.script


@pytest.mark.parametrize(
    ("target", "claims", "lines"),
    [
        (
            "first_number",
            {"sections": [2, 3, 3]},
            (
                "angle = positions[..., None, [0, 0, 1, 1, 1, 2, 2, 2]] * theta",
                "positions_by_number = np.moveaxis(positions, -1, 0)",
            ),
        ),
        (
            "last_ones",
            {"rotary_dim": 4, "trailing": True, "head_dims": [16]},
            ("apply_rotary(x[..., np.r_[4:16, 0:4]]", "[..., np.argsort(np.r_[4:16, 0:4])]"),
        ),
        (
            "come_apart",
            {"layouts": [True], "pairs_apart": True, "head_dims": [8]},
            ("apply_rotary(x.copy()", "[..., np.argsort(np.r_[0:8:2, 1:8:2, 8:8])]"),
        ),
    ],
)
def test_a_script_hands_over_what_is_in_another_order(target, claims, lines, found):
    """Position numbers and components are in the order that is claimed, and back in ours."""
    check = "ROT-6.value" if "pairs_apart" in claims else "ROT-7.value"
    example = found(f"mine.py:{target}", check, **claims).counterexample

    assert example.script, example.no_script
    assert all(line in example.script for line in lines)


def test_a_gradient_is_taken_of_the_call_that_was_made(found):
    """A module that takes positions by keyword gets them so."""
    pytest.importorskip("torch")
    example = found("turns.py:Module", "ROT-20.gradient", array="torch").counterexample

    assert "apply_rotary(leaf, input_pos=torch.from_numpy(positions).clone()).backward(" in (
        example.script
    )


def test_a_transform_is_too_much_for_a_script(found):
    """The report says which one it takes."""
    pytest.importorskip("torch")
    example = found("turns.py:forward", "ROT-20.second", array="torch").counterexample

    assert (example.script, example.no_script) == ("", "it takes `second` of torch")
