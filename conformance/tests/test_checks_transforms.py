"""Checks of gradients, transforms, tables and memory given, where the zoo says nothing."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.precision import EXPLICIT_TABLES
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import Status
from ropespec.conformance.runner import Plan, run, run_check, select
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.trial import Trial
from ropespec.spec.convention import Pairing

SUBJECTS = Path(__file__).parent / "subjects"
DTYPES = {name: np.dtype(name) for name in ("float16", "float32", "float64")} | {
    "bfloat16": np.dtype(ml_dtypes.bfloat16)
}


def statuses(target, *only):
    """Run some checks on a subject; return status and message of each."""
    loaded = load(f"{SUBJECTS}/{target}")
    profile = Profile.from_mapping(loaded.profile_mapping)
    plan = Plan(only=only)
    with Session(loaded, profile) as session:
        trial = Trial(session)
        results = [run_check(item, trial, plan) for item in select(plan)]
    return {result.id: (result.status, result.message) for result in results}


@pytest.mark.parametrize(
    ("target", "array", "refused", "passed"),
    [
        (
            "torch_refusing.py:reads_positions",
            "torch",
            ["ROT-24.vmap"],
            ["ROT-20.second", "ROT-24.jvp", "ROT-24.compiled", "ROT-20.gradient"],
        ),
        (
            "torch_refusing.py:once",
            "torch",
            ["ROT-24.vmap", "ROT-24.jvp", "ROT-20.second"],
            ["ROT-24.compiled", "ROT-20.gradient"],
        ),
        (
            "jax_refusing.py:reads_positions",
            "jax",
            ["ROT-24.vmap", "ROT-24.compiled"],
            ["ROT-24.jvp", "ROT-20.second", "ROT-20.gradient"],
        ),
    ],
)
def test_a_refusal_is_skipped_with_its_words_and_fails_nothing(target, array, refused, passed):
    """What a right subject cannot do is no failure, and the report says why it was not checked."""
    pytest.importorskip(array)
    found = statuses(target, *refused, *passed)

    assert {id_ for id_, (status, _) in found.items() if status is Status.PASS} == set(passed)
    for id_ in refused:
        status, message = found[id_]
        assert status is Status.SKIP
        assert message.startswith(f"{array} {id_.rpartition('.')[2]} raises ")


def test_what_a_trace_leaves_behind_is_an_error():
    """The plain call after compiling raises, and is not taken for a refusal."""
    pytest.importorskip("jax")
    found = statuses("jax_refusing.py:keeps_what_was_traced", "ROT-24.compiled")

    assert found["ROT-24.compiled"][0] is Status.ERROR
    assert "UnexpectedTracerError" in found["ROT-24.compiled"][1]


@pytest.mark.parametrize("table", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [True, False])
def test_the_budget_of_given_tables_holds_and_is_tight(interleaved, dtype, table):
    """float32 arithmetic in any contraction stays within it, and sometimes needs a quarter of it.

    The tables are off the unit circle, so that nothing may rely on cos^2 + sin^2 = 1.
    """
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 64, 4, 16)).astype(DTYPES[dtype])
    angle, gain = rng.uniform(-4, 4, (4, 64, 6)), rng.uniform(0.1, 3.0, (4, 64, 6))
    cos, sin = ((gain * f(angle)).astype(DTYPES[table]) for f in (np.cos, np.sin))
    working = np.float64 if dtype == "float64" else np.float32
    # Entries that the arithmetic cannot hold would be rounded before anything else.
    cos, sin = (part.astype(working).astype(part.dtype) for part in (cos, sin))
    exact = Rotation.by_tables(x, cos, sin, Pairing.of(interleaved))
    c, s = (part.astype(working)[..., None, :] for part in (cos, sin))
    turning = x[..., :12].astype(working)
    pair = np.s_[..., 0::2], np.s_[..., 1::2]
    if not interleaved:
        pair = np.s_[..., :6], np.s_[..., 6:12]
    a, b = turning[pair[0]], turning[pair[1]]
    y = x.copy()
    y[..., :12][pair[0]], y[..., :12][pair[1]] = a * c - b * s, b * c + a * s
    ratios = exact.ratios(y, EXPLICIT_TABLES, Machine())

    assert ratios.max() <= 1.0
    assert dtype == "float64" or ratios.max() >= 0.25  # the judge itself has float64
    if dtype == "float64":
        literal = reference.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
        assert exact.ratios(literal, EXPLICIT_TABLES, Machine()).max() <= 1.0


@pytest.mark.parametrize("name", ["numpy", "torch", "jax"])
def test_the_backends_refuse_no_transform_that_they_have(name):
    """What a backend skips of these clauses it skips because its framework has no such thing."""
    if name != "numpy":
        pytest.importorskip(name)
    from ropespec.conformance.builtin import builtin_profile  # noqa: PLC0415  # beside its use

    with Session(load(name), builtin_profile(name)) as session:
        verdict = run(session, Plan(only=("ROT-20.second", "ROT-22", "ROT-23", "ROT-24")))
    reasons = {r.id: r.message for r in verdict.checks if r.status is Status.SKIP}

    assert verdict.conforms, [r for r in verdict.checks if not r.status.conforms]
    assert not [text for text in reasons.values() if "raises" in text], reasons
