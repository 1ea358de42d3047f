"""Functions beside the rotation, asked for what shows it: schemes, one q and k, no mask."""

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.diagnosis.functions import functions
from ropespec.conformance.profile import Profile
from ropespec.spec.scaling import Linear


def divided_where_fast(dim, base=10000.0, *, scaling):
    """Know the scheme of Llama 3 alone, and blend the other way."""
    theta = reference.inv_freq(dim, base)
    right = reference.inv_freq_scaled(dim, base, scaling=scaling)
    low = scaling.low_freq_factor
    turns = theta * scaling.original_length / (2 * np.pi)
    within = (turns > low) & (turns < scaling.high_freq_factor)
    return np.where(within, theta + theta / scaling.factor - right, right)


def times_the_factor(x, positions, *, interleaved, scaling, base=10000.0):
    """Multiply positions by the factor of a linear scheme; leave the others right."""
    if isinstance(scaling, Linear):
        place = np.asarray(positions) * int(scaling.factor)
        return reference.apply_rotary(x, place, interleaved=interleaved, base=base)
    return reference.apply_rotary_scaled(
        x, positions, interleaved=interleaved, base=base, scaling=scaling
    )


@pytest.mark.parametrize(
    ("function", "wrong", "name", "where"),
    [
        ("inv_freq_scaled", divided_where_fast, "inverted ramp", "of llama3"),
        ("apply_rotary_scaled", times_the_factor, "positions scaled", "of linear"),
    ],
)
def test_a_function_of_schemes_is_examined_under_one_that_it_has_wrong(
    function, wrong, name, where, checks
):
    """Those that it raises for, or has right, tell nothing."""
    profile = Profile.from_mapping({"interleaved": True})
    session = type(checks.trial({}).session)({function: wrong}, profile)
    found = functions(session, frozenset({"SCAL-1.rotation", "SCAL-10.value"}))

    assert [(one.name, one.where) for one in found] == [(name, f"{function} {where}")]


def score_of_distances(q, k, offset, *, interleaved, base=10000.0):
    """Lose the sign of offsets where one q and one k serve all of them."""
    offset = np.abs(offset) if q.ndim == 1 else offset
    return reference.relative_score(q, k, offset, interleaved=interleaved, base=base)


def test_scores_of_one_q_and_k_are_asked_for(checks):
    """Where those of many are right."""
    profile = Profile.from_mapping({"interleaved": True})
    session = type(checks.trial({}).session)({"relative_score": score_of_distances}, profile)
    found = functions(session, frozenset({"REL-5.one-vector"}))

    assert [(one.name, one.where) for one in found] == [
        ("sign of positions lost", "relative_score of one q and k")
    ]


def padded_to(block):
    """Return attention that fills keys up with zeros, masked only where there is a mask."""

    def attention(q, k, v, *, query_positions, key_positions, mask=None, **how):
        pad = [(0, 0), (0, -k.shape[1] % block), (0, 0), (0, 0)]
        q = reference.apply_rotary(q, query_positions, **how)
        k = np.pad(reference.apply_rotary(k, key_positions, **how), pad)
        s = np.einsum("bshd,bthd->bhst", q, k) / np.sqrt(q.shape[-1])
        if mask is not None:
            s = np.where(np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [pad[1]]), s, -np.inf)
        powers = np.exp(s - s.max(axis=-1, keepdims=True))
        weights = (powers / powers.sum(axis=-1, keepdims=True))[..., : v.shape[1]]
        return np.einsum("bhst,bthd->bshd", weights, v).astype(q.dtype), weights.astype(q.dtype)

    return attention


@pytest.mark.parametrize("block", [4, 8, 16])
def test_attention_is_asked_without_a_mask(checks, block):
    """Right with one, its padded keys are seen without, where they are no whole blocks."""
    profile = Profile.from_mapping({"interleaved": True})
    session = type(checks.trial({}).session)({"attention": padded_to(block)}, profile)
    found = functions(session, frozenset({"ATT-1.value"}))

    assert [(one.name, one.where) for one in found] == [
        ("padding has weights", "softmax without a mask")
    ]
