"""Functions that rotate on the way: each choice at one stage is run beside them."""

import ml_dtypes
import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.diagnosis.functions import functions
from ropespec.conformance.profile import Profile

WOVEN = Profile.from_mapping({"interleaved": True})


def inv_freq(dim, base=10000.0):
    """Take the middle of each step."""
    return base ** (-(np.arange(0, dim, 2) + 1) / dim)


def cos_sin(positions, dim, base=10000.0):
    """Begin with the last frequency."""
    angle = np.asarray(positions)[..., None] * np.roll(reference.inv_freq(dim, base), 1)
    return np.cos(angle), np.sin(angle)


def cos_sin_of_blocks(positions, dim, base=10000.0):
    """Divide positions towards zero, and take the remainder by their bits."""
    p = np.asarray(positions)
    return reference.cos_sin(np.trunc(p / 64).astype(np.int64) * 64 + (p & 63), dim, base)


def project_query(x, positions, weight, *, interleaved, base=10000.0):
    """Count tokens."""
    del positions
    counted = np.broadcast_to(np.arange(x.shape[1]), x.shape[:2])
    return reference.project_query(x, counted, weight, interleaved=interleaved, base=base)


def relative_score(q, k, offset, *, interleaved, base=10000.0):
    """Take half of the offset."""
    return reference.relative_score(
        q, k, np.asarray(offset) // 2, interleaved=interleaved, base=base
    )


def rotation_matrix(positions, dim, *, interleaved, base=10000.0):
    """Turn the slower half the other way."""
    out = reference.rotation_matrix(positions, dim, interleaved=interleaved, base=base)
    slow = 2 * (dim // 4)
    out[..., slow:, :] = np.swapaxes(out, -1, -2)[..., slow:, :]
    return out


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (inv_freq, "wrong exponent"),
        (cos_sin, "frequencies in another order"),
        (project_query, "positions ignored"),
        (relative_score, "positions halved"),
        (rotation_matrix, "some pairs rotate backwards"),
    ],
)
def test_a_choice_is_told_by_the_function_that_makes_it(function, told, named):
    """None of these is in a list of forms: the choices are those of the rotation."""
    name = function.__name__

    assert [found[1:] for found in named(**{name: function})] == [(told, name)]


@pytest.mark.parametrize(
    ("turns", "factors", "told"),
    [
        ((1, -1), (1, 1), ["direction reversed"]),
        ((-1, 1), (1, 1), ["direction reversed"]),
        ((1, 1), (1.5, 1.5), ["attention factor"]),
        ((1, 1), (1, 1.5), []),
    ],
)
def test_a_mistake_in_the_second_result_is_no_factor_of_the_first(turns, factors, told, named):
    """What is right times 1 has no gain; what is done to q or to k alone is told of that."""

    def apply_rotary_emb(xq, xk, freqs_cis):
        tables = [freqs_cis if turn > 0 else np.conj(freqs_cis) for turn in turns]
        both = [reference.apply_rotary_emb(xq, xk, table) for table in tables]
        return both[0][0] * factors[0], both[1][1] * factors[1]

    found = [name for _, name, _ in named(apply_rotary_emb=apply_rotary_emb)]

    assert found == told


def test_signs_are_asked_for_where_they_are_claimed(checks):
    """What is wrong below zero alone is told of a table of cosines too."""
    session = type(checks.trial({}).session)({"cos_sin": cos_sin_of_blocks}, WOVEN)
    (one,) = functions(session, frozenset({"FREQ-9.value"}))

    assert (one.name, one.where) == ("negative positions split", "cos_sin")


def test_partners_by_the_width_of_the_head_are_told(checks):
    """Tables of fewer pairs than the head has: i goes with i + r/2, and not with i + D/2."""

    def apply_rotary_cos_sin(x, cos, sin, *, interleaved):
        del interleaved
        n, step, y = cos.shape[-1], x.shape[-1] // 2, x.copy()
        a, b, c, s = x[..., :n], x[..., step : step + n], cos[..., None, :], sin[..., None, :]
        y[..., :n], y[..., step : step + n] = a * c - b * s, b * c + a * s
        return y

    in_process = type(checks.trial({}).session)
    half = Profile.from_mapping({"interleaved": False})
    given = in_process({"apply_rotary_cos_sin": apply_rotary_cos_sin}, half)
    (one,) = functions(given, frozenset({"ROT-22.value"}))

    assert (one.name, one.where) == ("head_dim instead of rotary_dim", "apply_rotary_cos_sin")


def test_what_no_choice_makes_has_no_name(named):
    """Sines that change with the square of the position are in no list, and are no factor."""

    def shaken(positions, dim, base=10000.0):
        c, s = reference.cos_sin(positions, dim, base)
        return c, s + 0.1 * np.sin(0.37 * np.asarray(positions)[..., None] ** 2)

    assert [name for _, name, _ in named(cos_sin=shaken)] == ["unknown"]


def sines_of_cosines(positions, dim, base=10000.0):
    """Take sines from cosines, with the sign of each half turn."""
    angle = np.asarray(positions)[..., None] * reference.inv_freq(dim, base)
    c = np.cos(angle).astype(np.float32)
    s = np.sqrt(np.maximum(np.float32(1) - c * c, np.float32(0)))
    return c, np.where(np.floor(angle / np.pi) % 2 == 1, -s, s)


def project_one_token(x, positions, weight, *, interleaved, base=10000.0):
    """Take the first position of all for calls of one token."""
    positions = np.broadcast_to(positions, x.shape[:2])
    at = np.full_like(positions, positions[0, 0]) if x.shape[1] == 1 else positions
    return backend.project_query(x, at, weight, interleaved=interleaved, base=base)


def angle_of_one_more(positions, inv_freq):
    """Begin at position 1, from position 100 on."""
    p = np.asarray(positions)
    return reference.angles(p + (p >= 100), inv_freq)


def rows_in_bfloat16(dim, end, theta=10000.0):
    """Count as the weights are."""
    p = np.arange(end).astype(ml_dtypes.bfloat16).astype(np.float64)
    return np.exp(1j * p[:, None] * reference.inv_freq(dim, theta))


def bound_of_real_parts(offsets, dim, base=10000.0):
    """Leave the sines out."""
    sums = np.cumsum(np.cos(np.asarray(offsets)[..., None] * reference.inv_freq(dim, base)), -1)
    return np.abs(sums).mean(-1)


def not_beyond_a_block(x, cos, sin, *, interleaved):
    """Rotate 128 tokens."""
    y = reference.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved).astype(x.dtype)
    y[:, 128:] = x[:, 128:]
    return y


def heads_of_even_tokens(xq, xk, freqs_cis):
    """Reverse the heads of every second token of the query."""
    q, k = reference.apply_rotary_emb(xq, xk, freqs_cis)
    q[:, ::2] = q[:, ::2, ::-1].copy()
    return q, k


def angles_within_one_turn(positions, inv_freq):
    """Take off whole turns."""
    return np.mod(reference.angles(positions, inv_freq), 2 * np.pi)


def first_of_all_heads(x, positions, weight, *, interleaved, base=10000.0, rotary_dim=None):
    """Rotate the components of all heads as one vector."""
    y = reference.project_value(x, weight)
    flat = y.reshape(*y.shape[:2], 1, -1)
    how = {"interleaved": interleaved, "base": base, "rotary_dim": rotary_dim}
    return reference.apply_rotary(flat, positions, **how).reshape(y.shape).astype(x.dtype)


def square_weights_transposed(x, weight):
    """Take a weight by its other axis where it is as wide as the head."""
    square = weight.shape[-1] == weight.shape[-2]
    return reference.project_value(x, weight.swapaxes(-1, -2) if square else weight)


def product_with_i(x):
    """Multiply by 0 + 1i, of which the 0 spoils what is infinite."""
    with np.errstate(invalid="ignore"):
        return x[..., 0::2] + 1j * x[..., 1::2]


def dense_with_a_tail(x, positions, *, interleaved, base=10000.0, rotary_dim=None):
    """Multiply all components by a matrix, the tail by ones and zeros."""
    full = np.zeros((*np.shape(positions), x.shape[-1], x.shape[-1]))
    full[:] = np.eye(x.shape[-1])
    r = rotary_dim or x.shape[-1]
    full[..., :r, :r] = reference.rotation_matrix(positions, r, interleaved=interleaved, base=base)
    with np.errstate(invalid="ignore"):
        return np.einsum("bsde,bshe->bshd", full, x.astype(np.float64)).astype(x.dtype)


def even_offsets(q, k, offset, *, interleaved, base=10000.0):
    """Share an offset out to both sides, in whole numbers."""
    half = np.asarray(offset) // 2
    return reference.relative_score(q, k, 2 * half, interleaved=interleaved, base=base)


def clipped_offsets(q, k, offset, *, interleaved, base=10000.0):
    """Bring offsets to the longest that is known."""
    near = np.clip(offset, -16384, 16384)
    return reference.relative_score(q, k, near, interleaved=interleaved, base=base)


def no_embedding_of_minus_one(positions, dim, base=10000.0):
    """Take the position -1 for padding."""
    made = reference.sinusoidal_embedding(positions, dim, base)
    return np.where(np.asarray(positions)[..., None] == -1, 0.0, made)


def rope_from_the_end(q, k):
    """Give the query the positions of the last keys."""
    past = max(k.shape[2] - q.shape[2], 0)
    longer = np.concatenate([q[:, :, :1].repeat(past, axis=2), q], axis=2)
    return reference.RoPE(longer, k)[0][:, :, past:], reference.RoPE(q, k)[1]


@pytest.mark.parametrize(
    ("name", "function", "told"),
    [
        ("angles", angles_within_one_turn, ("angles reduced", "angles")),
        ("project_value", square_weights_transposed, ("weight transposed", "project_value")),
        ("to_complex", product_with_i, ("NaN spreads", "to_complex")),
        ("relative_score", even_offsets, ("positions in steps", "relative_score")),
        ("relative_score", clipped_offsets, ("beyond the table", "relative_score")),
        (
            "sinusoidal_embedding",
            no_embedding_of_minus_one,
            ("position taken for padding", "sinusoidal_embedding: positions -1"),
        ),
        ("RoPE", rope_from_the_end, ("query counted from the end", "RoPE")),
        (
            "project_query",
            first_of_all_heads,
            ("rotated before the split into heads", "project_query"),
        ),
        (
            "angles",
            angle_of_one_more,
            ("beyond the table", "angles: positions from 100 on"),
        ),
        (
            "precompute_freqs_cis",
            rows_in_bfloat16,
            ("positions in half precision", "precompute_freqs_cis"),
        ),
        ("decay_bound", bound_of_real_parts, ("bound of other sums", "decay_bound")),
        (
            "apply_rotary_cos_sin",
            not_beyond_a_block,
            ("beyond a block", "apply_rotary_cos_sin: tokens from 128 on"),
        ),
        (
            "apply_rotary_emb",
            heads_of_even_tokens,
            ("heads mixed up", "apply_rotary_emb: tokens at even places"),
        ),
        ("cos_sin", sines_of_cosines, ("root for a sine", "cos_sin")),
        (
            "project_query",
            project_one_token,
            ("positions of one row for all", "project_query: calls with 1 token"),
        ),
    ],
)
def test_a_function_is_examined_as_what_it_rotates(name, function, told, named):
    """Small errors of a table, and what is wrong in some calls alone, are told as of a rotation."""
    assert [found[1:] for found in named(**{name: function})] == [told]


def test_a_matrix_spreads_what_is_no_number(named):
    """Zero times infinity is none."""
    found = {name: where for _, name, where in named(apply_rotary_dense=dense_with_a_tail)}

    assert found["NaN spreads"] == "apply_rotary_dense: x with NaN"


def test_a_claimed_part_of_the_head_is_no_width_of_these_calls(checks):
    """Functions without `rotary_dim` are asked for heads narrower than what is claimed to turn."""
    wide = Profile.from_mapping({"interleaved": True, "rotary_dim": 32})
    session = type(checks.trial({}).session)({"inv_freq": inv_freq}, wide)

    found = [one.id for one in functions(session, frozenset({"FREQ-2.value"}))]

    assert found == ["F3"]
