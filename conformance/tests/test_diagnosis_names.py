"""Mistakes that resemble others get their own name, or both; right ones get none."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.identify import diagnose, identify
from ropespec.conformance.identify.facts import Fact, Identification, Name, Pairing
from ropespec.conformance.identify.ladder import Rung, fit
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import CheckResult, Status
from ropespec.conformance.subject.session import Session, load

SUBJECTS = Path(__file__).parent / "subjects"
CASES = runpy.run_path(str(SUBJECTS / "misnamed.py"))["CASES"]
FAILED = (CheckResult("ROT-7.value", "ROT-7", "title", "sentence", Status.FAIL),)


@pytest.fixture
def names_of(checks):
    """Return a function that names the mistakes of functions of this process."""
    in_process = type(checks.trial({}).session)

    def named(profile, keywords=frozenset(), **functions):
        found = identify(in_process(functions, profile, keywords))
        return [one.name for one in diagnose(found, profile, FAILED)]

    return named


@pytest.mark.parametrize("case", CASES)
def test_only_the_right_names_are_given(case, names_of):
    """Every name given is one of those that fit, and nothing else is said beside them."""
    allowed, claims, function = CASES[case]
    given = names_of(Profile.from_mapping(claims), apply_rotary=function)

    assert given
    assert set(given) <= set(allowed)


def test_a_width_that_is_coarse_from_the_start_is_no_stale_table():
    """A fresh worker tells a table that an earlier dtype left from a path that is always coarse."""
    dtypes = ("float32", "bfloat16", "float16")
    profile = Profile.from_mapping({"interleaved": False, "dtypes": dtypes})
    with Session(load(f"{SUBJECTS / 'coarse_width.py'}:apply"), profile) as session:
        given = diagnose(identify(session), profile, FAILED)

    assert [one.name for one in given] == ["special width"]


def test_frequencies_of_the_first_width_are_told_from_a_fixed_divisor(names_of):
    """In a worker that can be started afresh one name is given, in one process both."""
    profile = Profile.from_mapping({"interleaved": False})
    target = "ropespec.conformance.zoo.state:WidthOfTheFirstCall"
    with Session(load(target), profile) as session:
        given = diagnose(identify(session), profile, FAILED)

    assert [one.name for one in given] == ["frequencies of the first width"]

    def divided_by_64(x, p):
        angle = np.asarray(p)[..., None, None] * 10000.0 ** (-np.arange(0, x.shape[-1], 2) / 64)
        a, b = np.split(x, 2, axis=-1)
        c, s = np.cos(angle), np.sin(angle)
        return np.concatenate([a * c - b * s, b * c + a * s], -1).astype(x.dtype)

    both = names_of(profile, apply_rotary=divided_by_64)
    assert set(both) == {"wrong exponent", "frequencies of the first width"}


@pytest.mark.parametrize(
    ("mistake", "name"),
    [
        ("values", "scaled by the width of the values"),
        ("groups", "heads mapped to other groups"),
        ("turns", "heads mapped to other groups"),
        (None, None),
    ],
)
def test_attention_with_more_heads_of_queries_is_looked_at(mistake, name, names_of):
    """Group and scale show only where there are fewer heads of k, or values of another width."""

    def attention(q, k, v, *, query_positions, key_positions, interleaved, base=10000.0, mask=None):
        heads, groups = q.shape[-2], k.shape[-2]
        h = np.arange(heads)
        index = h // (heads // groups)
        if mistake == "groups":
            index = np.minimum(h // groups, groups - 1)
        elif mistake == "turns":
            index = h % groups
        if mistake == "values":
            q = q * np.float32(np.sqrt(q.shape[-1] / v.shape[-1]))
        return reference.attention(
            q,
            k[..., index, :],
            v[..., index, :],
            query_positions=query_positions,
            key_positions=key_positions,
            interleaved=interleaved,
            base=base,
            mask=mask,
        )

    profile = Profile.from_mapping({"interleaved": True})
    given = names_of(profile, frozenset({"interleaved", "base"}), attention=attention)

    assert given == ["unknown" if name is None else name]


@pytest.mark.parametrize("base", [10010.0, 9995.0, 10000.0])
def test_a_base_is_told_from_one_next_to_it(base):
    """Half a thousandth shows in the slow pairs, though every pair is nearly right."""
    rungs = [Rung(base ** (-2 * np.arange(d // 2) / d), d, d) for d in (64, 32)]

    assert fit(rungs, 10000.0).base == pytest.approx(base, rel=1e-5)


def test_rounded_frequencies_do_not_move_the_base():
    """What rounding takes from each frequency is no other base."""
    rungs = []
    for d in (64, 32):
        exact = (10000.0 ** (-2 * np.arange(d // 2) / d)).astype(np.float32)
        cut = (exact.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        rungs.append(Rung(cut.astype(np.float64), d, d))

    assert fit(rungs, 10000.0).base == 10000.0


def slow(*facts):
    """Return what is found out of a subject that takes too long for one call."""
    told = (Fact(Name.ANSWER, "timeout", 1.0, ""), *facts)
    return Identification("slow.py:f", told, 1, 1.0, "numpy")


def test_it_hangs_only_where_a_check_ran_out_of_time():
    """A call that identification alone made is no finding of a check, and one slow call no hang."""
    profile = Profile((False,))
    late = (*FAILED, CheckResult("ROT-1.angle", "ROT-1", "", "", Status.TIMEOUT))
    pairing = Fact(Name.PAIRING, Pairing.HALF, 1.0, "")

    assert [one.name for one in diagnose(slow(), profile)] == ["it hangs"]
    assert diagnose(slow(pairing), profile) == ()
    assert [one.name for one in diagnose(slow(), profile, FAILED)] == ["unknown"]
    assert [one.name for one in diagnose(slow(), profile, late)] == ["it hangs"]
