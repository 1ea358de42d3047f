"""Diagnosis names the mistake of every wrong implementation of the zoo, and never a wrong one."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.identify import Name, diagnose, identify
from ropespec.conformance.identify.catalogue import CATALOGUE, UNLISTED
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import CheckResult, Status
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.zoo import Wrong, zoo

VARIANTS = runpy.run_path(str(Path(__file__).parent / "subjects" / "mistakes.py"))["VARIANTS"]
WRONG = [entry for entry in zoo() if isinstance(entry, Wrong) and entry.bare]
# What only a worker shows: writes, strides, kinds of results, and the loss of the process.
IN_A_WORKER = ("overwrites_x", "overwrites_positions", "returns_x_at_zero", "strides_ignored")
IN_A_WORKER += ("not_an_array", "hangs", "aborts")
BARE = frozenset()


@pytest.fixture
def found_of(checks):
    """Return a function that identifies functions of this process."""
    in_process = type(checks.trial({}).session)

    def find(profile, keywords=None, **functions):
        known = {} if keywords is None else {"keywords": keywords}
        return identify(in_process(functions, profile, **known))

    return find


@pytest.fixture
def diagnosis_of(found_of):
    """Return a function that diagnoses a bare rotation of this process."""

    def diagnosed(function, profile, *results):
        return diagnose(found_of(profile, BARE, apply_rotary=function), profile, results)

    return diagnosed


def in_a_worker(entry, failures):
    """Identify and diagnose in a worker."""
    timeout = 0.5 if entry.name == "hangs" else 20.0
    with Session(load(entry.target), entry.profile, timeout=timeout) as session:
        return diagnose(identify(session), entry.profile, failures)


@pytest.mark.parametrize("entry", WRONG, ids=lambda entry: entry.name)
def test_a_wrong_implementation_is_named_and_never_by_a_wrong_name(entry, diagnosis_of):
    """Its own name comes first, an id or words; what has no name is given no id."""
    status = {"hangs": Status.TIMEOUT, "aborts": Status.CRASH}.get(entry.name, Status.FAIL)
    failures = tuple(result(status, id_) for id_ in entry.killed_by or ("ROT-7.value",))
    if entry.bare and entry.name not in IN_A_WORKER:
        named = diagnosis_of(entry.function, entry.profile, *failures)
    else:
        named = in_a_worker(entry, failures)

    assert named
    if entry.catalogue:
        assert (named[0].id or named[0].name) == entry.catalogue
    else:
        assert [one.id for one in named] == [""] * len(named)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_of_a_mistake_is_named_too(name, diagnosis_of):
    """The class is recognised, not the example: other half, axis, row, call, dtype or layout."""
    id_, claims, function = VARIANTS[name]
    named = diagnosis_of(function, Profile.from_mapping(claims), result(Status.FAIL))

    assert named[0].id == id_
    assert id_ or [one.id for one in named] == [""] * len(named)


def test_mistakes_that_look_alike_share_their_certainty(diagnosis_of):
    """Doubled positions in float32 and one rounding: three names, none of them sure."""
    _, claims, function = VARIANTS["doubled_positions"]
    named = diagnosis_of(function, Profile.from_mapping(claims))

    assert {one.id for one in named} == {"K6", "M6", "A1"}
    assert sum(one.certainty for one in named) == pytest.approx(1.0)


def result(status, id_="ROT-7.value"):
    """Return a result of a check."""
    return CheckResult(id_, id_.split(".")[0], "title", "sentence", status)


def usual(x, p):
    """Rotate half-split pairs in float32."""
    return np.asarray(reference.apply_rotary(x, p, interleaved=False))


def test_a_failure_that_nothing_explains_is_unknown(found_of):
    """The nearest known operator is said, and no id is given."""
    profile = Profile.from_mapping({"interleaved": False})
    found = found_of(profile, BARE, apply_rotary=usual)
    (one,) = diagnose(found, profile, (result(Status.FAIL),))

    assert (one.id, one.name, one.certainty) == ("", "unknown", 0.0)
    assert one.sentence.startswith("unknown, nearest is the half rotation of base 10000")


def test_nothing_is_named_when_all_checks_pass(found_of):
    """A diagnosis follows failures."""
    profile = Profile.from_mapping({"interleaved": True})
    found = found_of(profile, BARE, apply_rotary=usual)

    assert diagnose(found, profile, (result(Status.PASS),)) == ()
    assert diagnose(found, profile, (result(Status.FAIL),))[0].id == "L1"


def test_unknown_frequencies_are_printed_beside_the_nearest_scheme(found_of):
    """A scaled ladder is no named defect; identification says what it resembles."""

    def llama3(x, p):
        dim = x.shape[-1]
        theta = 500000.0 ** (-np.arange(0, dim, 2) / dim)
        blend = np.clip((8192 * theta / (2 * np.pi) - 1) / 3, 0, 1)
        angle = p[..., None] * ((1 - blend) * theta / 8 + blend * theta)
        c, s = np.cos(angle)[..., None, :], np.sin(angle)[..., None, :]
        a, b = x[..., : dim // 2], x[..., dim // 2 :]
        return np.concatenate([a * c - b * s, b * c + a * s], -1).astype(x.dtype)

    profile = Profile.from_mapping({"interleaved": False})
    found = found_of(profile, BARE, apply_rotary=llama3)
    (one,) = diagnose(found, profile)

    assert found.value(Name.SCHEME) == "llama3, factor 8, length 8192 of base 500000"
    assert one.id == ""
    assert "nearest is llama3" in one.sentence


@pytest.mark.parametrize("dropped", ["interleaved", "base", "rotary_dim"])
def test_a_keyword_that_is_ignored_is_named(dropped, found_of):
    """A function that takes a keyword and drops it has no claim that would show it."""
    fixed = {"interleaved": False, "base": 10000.0, "rotary_dim": None}[dropped]

    def apply_rotary(x, p, *, interleaved, base=10000.0, rotary_dim=None):
        given = {"interleaved": interleaved, "base": base, "rotary_dim": rotary_dim}
        return reference.apply_rotary(x, p, **(given | {dropped: fixed}))

    profile = Profile.from_mapping({"layouts": (True, False)})
    named = diagnose(found_of(profile, apply_rotary=apply_rotary), profile)

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
def test_mistakes_of_the_sinusoidal_embedding_are_named(id_, function, found_of):
    """Each known wrong embedding is told from the others and from the right one."""
    profile = Profile.from_mapping({"interleaved": True})
    found = found_of(profile, sinusoidal_embedding=function)
    sound = found_of(profile, sinusoidal_embedding=embedding())

    assert [one.id for one in diagnose(found, profile)] == [id_]
    assert diagnose(sound, profile) == ()


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
def test_mistakes_of_attention_are_named(id_, changes, found_of):
    """Each known wrong attention is told from the others and from the right one."""
    profile = Profile.from_mapping({"interleaved": True})
    found = found_of(profile, attention=attention_with(**changes))
    sound = found_of(profile, attention=attention_with())

    assert [one.id for one in diagnose(found, profile)] == [id_]
    assert diagnose(sound, profile) == ()


def test_the_catalogue_is_readable():
    """An entry has a name and a sentence with its remedy; ids have the form of one."""
    for key, entry in (CATALOGUE | UNLISTED).items():
        assert entry.sentence.endswith(".")
        assert entry.name
        assert entry.id == (key if re.fullmatch(r"[A-Z]\d+", key) else "")


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
    target = f"{Path(__file__).parent / 'subjects' / 'torch_gradients.py'}:{name}"
    profile = Profile.from_mapping({"interleaved": False, "array": "torch"} | claims)
    with Session(load(target), profile) as session:
        named = diagnose(identify(session), profile)

    assert [one.id for one in named] == ([] if id_ is None else [id_])
