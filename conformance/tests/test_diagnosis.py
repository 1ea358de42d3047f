"""Functions of their own, keywords, gradients and refusals: each mistake by its name."""

from pathlib import Path

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.case import Case
from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import CheckResult, Counterexample, Status
from ropespec.conformance.runner import Plan, run
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.zoo import zoo
from ropespec.spec.convention import Convention

SUBJECTS = Path(__file__).parent / "subjects"
FAILED = (CheckResult("ROT-7.value", "ROT-7", "title", "sentence", Status.FAIL),)
PASSED = (CheckResult("ROT-7.value", "ROT-7", "title", "sentence", Status.PASS),)


def usual(x, p):
    """Rotate half-split pairs."""
    return np.asarray(reference.apply_rotary(x, p, interleaved=False))


def test_nothing_is_named_when_all_checks_pass(diagnosed):
    """A diagnosis follows failures."""
    profile = Profile.from_mapping({"interleaved": True})

    assert diagnosed(profile, PASSED, apply_rotary=usual) == ()
    assert diagnosed(profile, FAILED, apply_rotary=usual)[0].id == "L1"


def test_a_failure_that_no_call_shows_is_unknown(diagnosed):
    """Which check failed is said, and no name is given."""
    profile = Profile.from_mapping({"interleaved": False})
    (one,) = diagnosed(profile, FAILED, apply_rotary=usual)

    assert (one.id, one.name) == ("", "unknown")
    assert one.sentence.startswith("ROT-7.value fails")


def test_mistakes_that_look_alike_are_told_together(diagnosed):
    """Doubled positions in float32 and one rounding may be a rotation applied twice."""

    def doubled(x, p):
        return usual(x, 2 * np.asarray(p))

    (one,) = diagnosed(Profile.from_mapping({"interleaved": False}), apply_rotary=doubled)

    assert {one.label, *one.equals} >= {"A1 applied twice", "K6 position scale 2"}


@pytest.mark.parametrize("dropped", ["interleaved", "base", "rotary_dim"])
def test_a_keyword_that_is_ignored_is_named(dropped, diagnosed):
    """A function that takes a keyword and drops it has no claim that would show it."""
    fixed = {"interleaved": False, "base": 10000.0, "rotary_dim": None}[dropped]

    def apply_rotary(x, p, *, interleaved, base=10000.0, rotary_dim=None):
        given = {"interleaved": interleaved, "base": base, "rotary_dim": rotary_dim}
        return reference.apply_rotary(x, p, **(given | {dropped: fixed}))

    profile = Profile.from_mapping({"layouts": (True, False)})
    named = diagnosed(profile, apply_rotary=apply_rotary)

    assert named[0].id == {"interleaved": "L6", "base": "F1", "rotary_dim": "R2"}[dropped]


def embedding(order="woven", exponent=1.0, shift=0.0, start=0):
    """Make a sinusoidal embedding with a mistake."""

    def sinusoidal_embedding(positions, dim, base=10000.0):
        p, i = np.asarray(positions)[..., None] + start, np.arange(0, dim, 2)
        s = np.sin(p * base ** (-exponent * i / dim))
        c = np.cos(p * base ** (-exponent * (i + shift) / dim))
        if order == "halves":
            return np.concatenate([s, c], -1)
        return np.stack([s, c], -1).reshape(*p.shape[:-1], dim)

    return sinusoidal_embedding


@pytest.mark.parametrize(
    ("id_", "function"),
    [
        ("Z2", embedding(exponent=2.0, shift=1.0)),
        ("Z3", embedding(shift=1.0)),
        ("Z4", embedding(order="halves")),
        ("P3", embedding(start=1)),
    ],
)
def test_mistakes_of_the_sinusoidal_embedding_are_named(id_, function, diagnosed):
    """Each known wrong embedding is told from the others and from the right one."""
    profile = Profile.from_mapping({"interleaved": True})

    assert [one.id for one in diagnosed(profile, sinusoidal_embedding=function)] == [id_]
    assert diagnosed(profile, sinusoidal_embedding=embedding()) == ()


def attention_with(scale=1.0, masking="before", key=1, value=0, merge=False):
    """Make attention with a mistake."""

    def attention(q, k, v, *, query_positions, key_positions, interleaved, base=10000.0, mask=None):
        known = {"interleaved": interleaved, "base": base}
        turned = reference.apply_rotary(q, query_positions, **known)
        keys = reference.apply_rotary(k, key * key_positions, **known)
        values = reference.apply_rotary(v, value * key_positions, **known)
        scores = np.einsum("bshd,bthd->bhst", turned, keys) * scale / np.sqrt(q.shape[-1])
        keep = np.ones(scores.shape[-2:], bool) if mask is None else mask
        fill = {"before": -np.inf, "small": -1.0, "mean": -1e9}.get(masking)
        scores = scores * keep if masking == "times" else scores
        weights = softmax(scores if fill is None else np.where(keep, scores, fill))
        weights = weights * keep if masking == "after" else weights
        spec = "bhst,bthd->bhsd" if merge else "bhst,bthd->bshd"
        output = np.einsum(spec, weights, values).reshape(q.shape)
        return output.astype(q.dtype), weights.astype(q.dtype)

    return attention


def softmax(scores):
    """Return weights; zeros in a row without a key."""
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total > 0, total, 1.0)


@pytest.mark.parametrize(
    ("id_", "changes"),
    [
        ("T1", {"scale": 2**-0.5}),
        ("T2", {"scale": 4.0}),
        ("T3", {"masking": "after"}),
        ("T4", {"masking": "times"}),
        ("T4", {"masking": "small"}),
        ("T5", {"masking": "ignored"}),
        ("T8", {"masking": "mean"}),
        ("T9", {"merge": True}),
        ("S2", {"key": -1}),
        ("A6", {"value": 1}),
    ],
)
def test_mistakes_of_attention_are_named(id_, changes, diagnosed):
    """Each known wrong attention is told from the others and from the right one."""
    profile = Profile.from_mapping({"interleaved": True})

    assert [one.id for one in diagnosed(profile, attention=attention_with(**changes))] == [id_]
    assert diagnosed(profile, attention=attention_with()) == ()


@pytest.mark.parametrize(
    ("id_", "name", "claims"),
    [
        ("G1", "not_conjugated", {}),
        ("G2", "constant_tail", {"rotary_dim": 16, "head_dims": (64,)}),
        ("G3", "detached", {}),
        (None, "turned", {}),
    ],
)
def test_mistakes_of_gradients_are_named(id_, name, claims):
    """The gradient of torch is compared with the rotation by the opposite angle."""
    pytest.importorskip("torch")
    target = f"{SUBJECTS / 'torch_gradients.py'}:{name}"
    profile = Profile.from_mapping({"interleaved": False, "array": "torch"} | claims)
    with Session(load(target), profile) as session:
        named = diagnose(session)

    assert [one.id for one in named] == ([] if id_ is None else [id_])


def failed_at(id_, status, head_dim=8):
    """Return a failure of a check on an ordinary case."""
    usual = Convention.of(interleaved=False)
    case = Case(2, 5, 2, head_dim, usual, "float32", "ragged", 3, 4096, "normal", False, 0)
    shown = Counterexample(case.as_dict(), {}, "", None, None, None)
    clause = id_.partition(".")[0]
    return CheckResult(id_, clause, "", "", status, counterexample=shown)


def test_the_gradient_of_a_wrong_function_is_no_second_mistake():
    """A gradient that is off as the function is follows from it, and is not named."""
    pytest.importorskip("torch")
    target = f"{SUBJECTS / 'torch_gradients.py'}:another_base"
    profile = Profile.from_mapping({"interleaved": False, "array": "torch"})
    with Session(load(target), profile) as session:
        named = diagnose(session, [failed_at("ROT-20.gradient", Status.FAIL)])

    assert [one.id for one in named] == ["F1"]


@pytest.mark.parametrize("status", [Status.FAIL, Status.ERROR])
@pytest.mark.parametrize("id_", ["ROT-19.refilled", "ROT-17.arguments"])
def test_what_is_not_seen_again_is_no_property(id_, status, diagnosed):
    """That a check failed, or that something was raised, is no name."""
    profile = Profile.from_mapping({"interleaved": False})
    told = diagnosed(profile, [failed_at(id_, status)], apply_rotary=usual)

    assert [one.name for one in told] == ["unknown"]


@pytest.mark.parametrize("name", ["kept_by_memory", "kept_by_address"])
def test_a_property_is_seen_in_the_call_that_is_made_again(name):
    """Memory that is not looked at again: seen on fresh instances, and not in plain calls.

    Tables kept by address are changed by earlier calls as well, which says less.
    """
    entry = next(one for one in zoo() if one.name == name)
    with Session(load(entry.target), entry.profile) as session:
        (one,) = run(session, Plan(only=("ROT-19.refilled",))).diagnosis

    assert one.name == "kept by memory"
    assert one.evidence.startswith("seen in 3 calls, each of a fresh instance")


def test_what_is_written_to_itself_is_no_mistake_of_positions(tmp_path):
    """Rows of x that are one in memory come out wrong because x is written to, and for no more."""
    subject = tmp_path / "in_place.py"
    subject.write_text(
        "from ropespec.reference import apply_rotary\n"
        "def apply(x, positions):\n"
        "    x[...] = apply_rotary(x, positions, interleaved=False)\n"
        "    return x\n"
    )
    claims = Profile.from_mapping({"interleaved": False, "head_dims": (120,)})
    case = Case(
        *(9, 4, 1, 120, claims.convention, "float32", "shuffled", 0, 4096, "normal"),
        strided="still 0",
        seed=0,
    )
    shown = Counterexample(case.as_dict(), {}, "", None, None, None)
    failed = CheckResult("ROT-7.value", "ROT-7", "", "", Status.FAIL, counterexample=shown)
    with Session(load(f"{subject}:apply"), claims) as session:
        told = diagnose(session, [failed])

    assert told[0].id == "M1"
    assert {one.id for one in told} <= {"M1", ""}


def test_a_strided_call_that_is_wrong_when_dense_too_is_not_misread(diagnosed):
    """That what fails is strided is no name, where the same values fail in dense arrays.

    What makes infinities NaN is named by the calls that have some.
    """

    def multiplied_tail(x, positions):
        with np.errstate(invalid="ignore"):
            tail = x[..., 8:] * 1 + x[..., 8:] * 0
        return np.concatenate([usual(x[..., :8], positions), tail], -1).astype(x.dtype)

    claims = Profile.from_mapping({"interleaved": False, "rotary_dim": 8, "head_dims": (16,)})
    case = Case(
        *(2, 5, 2, 16, claims.convention, "float32", "ragged", 3, 4096, "special"),
        strided=True,
        seed=0,
    )
    shown = Counterexample(case.as_dict(), {}, "", None, None, None)
    failed = CheckResult("ROT-14.tail", "ROT-14", "", "", Status.FAIL, counterexample=shown)
    (one,) = diagnosed(claims, [failed], apply_rotary=multiplied_tail)

    assert one.name == "tail computed"
