import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.results import Status

ALL = ["float32", "float64", "float16", "bfloat16"]


def attending(
    *,
    scale=np.sqrt,
    head=lambda h, share, _: h // share,
    fill=-np.inf,
    after=False,
    empty=0.0,
    axis=-1,
    gain=1.0,
    value=lambda v, _: v,
    where=lambda positions: positions,
    late=0,
    frequencies=lambda rotary_dim, _: rotary_dim,
):
    """Return attention in which one thing can be made wrong."""

    def attention(
        q,
        k,
        v,
        *,
        query_positions,
        key_positions,
        interleaved,
        base=10000.0,
        rotary_dim=None,
        mask=None,
    ):
        dtype, heads, groups = q.dtype, q.shape[2], k.shape[2]
        wide = (x.astype(np.float64) for x in (q, k, v))
        q, k, v = wide
        turn = {"interleaved": interleaved, "base": base, "rotary_dim": frequencies(rotary_dim, q)}
        q = reference.apply_rotary(q, where(query_positions), **turn)
        k = reference.apply_rotary(k, where(key_positions) + late, **turn)
        v = value(v, key_positions)
        chosen = [head(h, heads // groups, groups) for h in range(heads)]
        k, v = k[:, :, chosen], v[:, :, chosen]
        scores = np.einsum("bshd,bthd->bhst", q, k) / scale(q.shape[-1])
        keep = np.broadcast_to(True if mask is None else mask, scores.shape)
        if not after:
            scores = np.where(keep, scores, fill)
        top = np.max(scores, axis=axis, keepdims=True, initial=-1e9)
        powers = np.exp(scores - top)
        total = powers.sum(axis=axis, keepdims=True)
        weights = gain * powers / np.where(total == 0, 1.0, total)
        if after:
            weights = weights * keep
        nowhere = ~keep.any(axis=-1, keepdims=True)
        weights = np.where(nowhere, empty, weights)
        output = np.einsum("bhst,bthe->bshe", weights, v)
        return output.astype(dtype), weights.astype(dtype)

    return attention


def turned(v, positions):
    """Turn V like K, its last component left out if there is an odd number."""
    even = v[..., : v.shape[-1] // 2 * 2]
    if even.shape[-1] == 0:
        return v
    y = reference.apply_rotary(even, positions, interleaved=True)
    return np.concatenate([y, v[..., even.shape[-1] :]], axis=-1)


def saturated(*arguments, **keywords):
    """Pass the output through tanh."""
    output, weights = attending()(*arguments, **keywords)
    return np.tanh(output), weights


def refusing(q, k, v, **keywords):
    """No keys divide by zero."""
    if k.shape[1] == 0:
        shape = (q.shape[0], q.shape[2], q.shape[1], 0)
        return np.full((*q.shape[:3], v.shape[3]), np.nan, q.dtype), np.zeros(shape, q.dtype)
    return attending()(q, k, v, **keywords)


def squared(x, positions, **conventions):
    """Turn by the angle of m (m + 1) / 2."""
    return reference.apply_rotary(x, positions * (positions + 1) // 2, **conventions)


NAME = "attention"
KILLS = (
    ("ATT-1.value", NAME, attending(scale=lambda dim: dim), "softmax(QK^T / sqrt(D)) V"),
    ("ATT-1.value", NAME, attending(axis=-2), "softmax(QK^T / sqrt(D)) V"),
    ("ATT-1.rows", NAME, attending(gain=1.01), "do not sum to 1"),
    ("ATT-1.rows", NAME, attending(gain=-1.0), "negative"),
    ("ATT-1.plain", NAME, attending(late=1), "plain attention"),
    ("ATT-1.value", NAME, attending(frequencies=lambda *_: None), "softmax(QK^T / sqrt(D)) V"),
    ("ATT-1.reference", NAME, attending(scale=lambda _: 1.0), "literal reference"),
    ("ATT-2.value", NAME, attending(after=True), "the keys it leaves"),
    ("ATT-2.value", NAME, attending(fill=-1e-9), "the keys it leaves"),
    ("ATT-2.forms", NAME, attending(fill=-1e-9), "document 004"),
    ("ATT-2.forms", NAME, attending(late=1), "document 004"),
    ("ATT-2.zero", NAME, attending(fill=-5.0), "masked key"),
    ("ATT-3.constant", NAME, attending(value=turned), "values of all keys are equal"),
    ("ATT-3.linear", NAME, saturated, "V1 + V2"),
    ("ATT-3.shift", NAME, attending(value=turned), "shifting all positions"),
    ("ATT-3.shift", NAME, attending(where=lambda m: m * m), "shifting all positions"),
    ("ATT-3.weights", "apply_rotary", squared, "when all move by"),
    ("ATT-4.groups", NAME, attending(head=lambda h, _, groups: h % groups), "h // (H/G)"),
    ("ATT-4.nowhere", NAME, attending(empty=np.nan), "may attend nowhere"),
    ("ATT-4.nowhere", NAME, attending(empty=0.25), "may attend nowhere"),
    ("ATT-4.reference", NAME, attending(head=lambda h, _, groups: h % groups), "literal reference"),
    ("ATT-4.no-keys", NAME, refusing, "must be zero"),
    ("ATT-5.order", NAME, attending(where=lambda m: 0 * m), "no order is seen"),
    ("ATT-5.order", NAME, attending(where=lambda m: m * m), "at their new places"),
    ("ATT-5.order", NAME, attending(late=1), "another order of"),
)


@pytest.mark.parametrize("module", [reference, backend], ids=["reference", "numpy"])
def test_right_implementations_pass(checks, module):
    """Both right implementations pass every check of the chapter, in every dtype."""
    for name in checks.ids("ATT"):
        found = checks.run(name, module, dtypes=ALL, precision="float64-angles")

        assert found.status is Status.PASS, (name, found.message)


def test_rounding_after_every_step_passes(checks, narrow):
    """Half precision arithmetic is right where nothing better is claimed."""
    for name in checks.ids("ATT"):
        found = checks.run(name, narrow, dtypes=ALL[2:])

        assert found.status is Status.PASS, (name, found.message)


def test_the_bounds_are_not_loose(checks):
    """A right result comes within an order of magnitude or two of its bound, in each dtype."""
    for dtype in ALL:
        for name in ("ATT-1.value", "ATT-1.rows", "ATT-2.value", "ATT-4.groups"):
            found = checks.run(name, backend, dtypes=[dtype], precision="float64-angles")

            assert 0.003 < found.worst <= 1.0, (name, dtype)


@pytest.mark.parametrize(("name", "function", "wrong", "message"), KILLS)
def test_a_wrong_implementation_fails(checks, name, function, wrong, message):
    """Each check fails on the mistake it is there for, with words that say what is wrong."""
    found = checks.kills(name, function, wrong)

    assert found.status is Status.FAIL
    assert message in found.message
    assert found.counterexample.inputs["function"] == function


def test_every_check_of_the_chapter_kills(checks):
    """No check is idle."""
    assert set(checks.ids("ATT")) == {name for name, *_ in KILLS}


def test_the_wrong_ones_are_right_otherwise(checks):
    """Attention with nothing made wrong passes what the wrong ones fail."""
    for name in checks.ids("ATT"):
        found = checks.kills(name, NAME, attending())

        assert found.status is Status.PASS, (name, found.message)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda output, _: output, "must return 2 arrays"),
        (lambda output, weights: (output, weights.astype(np.float64)), "dtype float32"),
        (lambda output, weights: (output, weights.swapaxes(1, 2)), "weights has shape"),
    ],
)
def test_what_has_another_form_fails(checks, wrong, message):
    """One result, another dtype or another order of axes fail with words."""

    def changed(*arguments, **keywords):
        return wrong(*reference.attention(*arguments, **keywords))

    found = checks.kills("ATT-1.value", NAME, changed)

    assert found.status is Status.FAIL
    assert message in found.message
