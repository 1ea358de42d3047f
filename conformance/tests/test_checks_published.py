import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.results import Status

ALL = ["float32", "float64", "float16", "bfloat16"]
PE = "sinusoidal_position_embedding"
EMB = "apply_rotary_emb"
CIS = "precompute_freqs_cis"


def in_halves(b, h, length, dim):
    """All sines before all cosines; it takes four arguments."""
    y = reference.sinusoidal_position_embedding(b, h, length, dim, None)
    return np.concatenate([y[..., 0::2], y[..., 1::2]], axis=-1)


def without_heads(b, h, length, dim, device):
    """Put the axis of the heads last but one; it takes all five."""
    return reference.sinusoidal_position_embedding(b, h, length, dim, device).swapaxes(1, 2)


def embedding_in_halves(positions, dim, base=10000.0):
    """All sines before all cosines."""
    y = reference.sinusoidal_embedding(positions, dim, base)
    return np.concatenate([y[..., 0::2], y[..., 1::2]], axis=-1)


def swapped_cis(dim, end, theta=10000.0):
    """Take sin + i cos."""
    z = reference.precompute_freqs_cis(dim, end, theta)
    return z.imag + 1j * z.real


def squared_cis(dim, end, theta=10000.0):
    """Let the angle grow with the square of the position."""
    m = np.arange(end)
    return reference.precompute_freqs_cis(dim, end * end + 1, theta)[m * m]


def conjugate_cis(dim, end, theta=10000.0):
    """Clockwise."""
    return reference.precompute_freqs_cis(dim, end, theta).conj()


def along_heads(freqs_cis, x):
    """(1, 1, S, c)."""
    del x
    return freqs_cis[None, None]


def unconcerned(freqs_cis, x):
    """Whatever comes is given four axes."""
    del x
    return freqs_cis.reshape(1, freqs_cis.shape[-2], 1, freqs_cis.shape[-1])


def other_cos_sin(positions, dim, base=10000.0):
    """Frequencies of base + 1."""
    return reference.cos_sin(positions, dim, base + 1)


def over_heads(q, k):
    """Heads are taken for positions."""
    sides = (reference.RoPE(x.swapaxes(1, 2), x.swapaxes(1, 2))[0] for x in (q, k))
    first, second = (x.swapaxes(1, 2) for x in sides)
    return first, second


def half_split(q, k):
    """Pairs (i, i + d/2)."""

    def turn(x):
        rows = x.swapaxes(1, 2)
        y = reference.apply_rotary(rows, np.arange(x.shape[2]), interleaved=False)
        return y.swapaxes(1, 2)

    return turn(q), turn(k)


def conjugated(xq, xk, freqs_cis):
    """Clockwise."""
    return reference.apply_rotary_emb(xq, xk, freqs_cis.conj())


def late(x, positions, **conventions):
    """Positions start at 1."""
    return reference.apply_rotary(x, positions + 1, **conventions)


def every_entry_twice(dim, base=10000.0):
    """List frequencies as document 004 prints them."""
    return np.repeat(reference.inv_freq(dim, base), 2)


def of_16_bits(batch_size, nums_head, max_len, output_dim, device=None):
    """Begin again at 2^16."""
    del device
    table = reference.sinusoidal_embedding(np.arange(max_len) % 2**16, output_dim)
    return np.broadcast_to(table, (batch_size, nums_head, *table.shape))


def cis_of_float16(dim, end, theta=10000.0):
    """Count in float16, exactly as far as 2048."""
    positions = np.minimum(np.arange(end), 65504).astype(np.float16).astype(np.float64)
    return np.exp(1j * positions[:, None] * reference.inv_freq(dim, theta))


KILLS = (
    ("PUB-1.value", PE, in_halves, "differs"),
    ("PUB-1.value", PE, without_heads, "shape"),
    ("PUB-1.long", PE, of_16_bits, "differs"),
    ("PUB-1.same", PE, in_halves, "positions 0..L-1"),
    ("PUB-1.reference", PE, in_halves, "the reference"),
    ("PUB-2.value", "RoPE", over_heads, "positions 0..L-1"),
    ("PUB-2.value", "RoPE", half_split, "positions 0..L-1"),
    ("PUB-2.reference", "RoPE", half_split, "literal reference"),
    ("PUB-2.forms", "RoPE", half_split, "q2 * sin_pos"),
    ("PUB-3.value", CIS, swapped_cis, "e^{i m theta_i}"),
    ("PUB-3.long", CIS, cis_of_float16, "e^{i m theta_i}"),
    ("PUB-3.group", CIS, squared_cis, "freqs_cis[a+b]"),
    ("PUB-3.reference", CIS, conjugate_cis, "literal reference"),
    ("PUB-4.value", "reshape_for_broadcast", along_heads, "shape"),
    ("PUB-4.reference", "reshape_for_broadcast", along_heads, "shape"),
    ("PUB-5.value", EMB, conjugated, "multiplied by freqs_cis"),
    ("PUB-5.reference", EMB, conjugated, "literal reference"),
    ("PUB-5.rope", EMB, conjugated, "is not RoPE(q, k)"),
    ("PUB-6.cache", "cos_sin", other_cos_sin, "is not R_m x"),
    ("PUB-6.forms", "cos_sin", other_cos_sin, "cos_sin gives twice"),
    ("PUB-7.frequencies", "inv_freq", every_entry_twice, "shape (512,)"),
    ("PUB-7.table", PE, in_halves, "first eight"),
    ("PUB-7.embedding", "sinusoidal_embedding", embedding_in_halves, "first eight"),
    ("PUB-7.rotated", "RoPE", half_split, "of the example"),
    ("PUB-7.bare", "apply_rotary", late, "of the example"),
)


@pytest.mark.parametrize("module", [reference, backend], ids=["reference", "numpy"])
def test_right_implementations_pass(checks, module):
    """Both right implementations pass every check of the chapter, in every dtype."""
    for name in checks.ids("PUB"):
        found = checks.run(name, module, dtypes=ALL, precision="float64-angles", refusals=True)

        assert found.status is Status.PASS, (name, found.message)


def test_rounding_after_every_step_passes(checks, narrow):
    """Half precision arithmetic and complex64 are right where nothing better is claimed."""
    for name in checks.ids("PUB"):
        found = checks.run(name, narrow, dtypes=ALL[2:])

        assert found.status in (Status.PASS, Status.SKIP), (name, found.message)


@pytest.mark.parametrize("name", ["PUB-1.value", "PUB-2.value", "PUB-3.value", "PUB-5.value"])
def test_the_bounds_are_not_loose(checks, name):
    """A right result comes near its bound."""
    assert 0.1 < checks.run(name, backend, dtypes=ALL, precision="float64-angles").worst <= 1.0


@pytest.mark.parametrize(("name", "function", "wrong", "message"), KILLS)
def test_a_wrong_implementation_fails(checks, name, function, wrong, message):
    """Each check fails on the mistake it is there for, with words that say what is wrong."""
    found = checks.kills(name, function, wrong)

    assert found.status is Status.FAIL
    assert message in found.message
    assert found.counterexample.inputs["function"] in (function, "apply_rotary")


def test_a_table_that_does_not_fit_is_not_accepted(checks):
    """Where refusals are promised, a table of another length must be refused."""
    found = checks.kills("PUB-4.refused", "reshape_for_broadcast", unconcerned, refusals=True)

    assert found.status is Status.FAIL
    assert "is accepted" in found.message


def test_a_refusal_with_other_words_is_not_enough(checks):
    """The error has to name the argument."""

    def other_words(freqs_cis, x):
        raise ValueError(f"cannot reshape {freqs_cis.shape} for {x.shape}")

    found = checks.kills("PUB-4.refused", "reshape_for_broadcast", other_words, refusals=True)

    assert found.status is Status.FAIL
    assert "raises ValueError" in found.message


def test_every_check_of_the_chapter_kills(checks):
    """No check is idle."""
    others = {"PUB-4.refused", "PUB-5.dtypes"}
    assert set(checks.ids("PUB")) - others == {name for name, *_ in KILLS}


def test_each_of_two_results_keeps_its_dtype(checks):
    """Two dtypes are claimed, or there is nothing to ask."""

    def as_the_query(xq, xk, freqs_cis):
        turned, key = backend.apply_rotary_emb(xq, xk, freqs_cis)
        return turned, key.astype(xq.dtype)

    found = checks.kills("PUB-5.dtypes", EMB, as_the_query, dtypes=["float32", "float16"])
    assert found.status is Status.FAIL
    assert "must return dtype float" in found.message
    assert checks.run("PUB-5.dtypes", backend).message == "one dtype claimed"


@pytest.mark.parametrize("claims", [{"base": 500000.0}, {"head_dim": [16]}])
def test_examples_are_not_asked_of_what_they_are_not_for(checks, claims):
    """The numbers of the document are for base 10000 and d = 8: otherwise a skip with a reason."""
    found = checks.trial({"apply_rotary": reference.apply_rotary}, **claims)
    found.session.keywords = frozenset({"interleaved"})

    assert "not claimed" in checks.known["PUB-7.bare"].reason_to_skip(found)
