import re
from functools import partial

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import export
from jax.test_util import check_grads

import ropespec.backends.jax as backend
from ropespec import reference
from ropespec.backends.jax import rotation
from ropespec.backends.jax.tables import made_once, spread
from ropespec.backends.jax.turn import turned

LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
DTYPES = pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
SHAPE = (2, 3, 2, 8)
M = np.array([3, -70000, 2**20])


def draw(shape=SHAPE, dtype="float32", seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def bits(array):
    array = np.asarray(array)
    return array.view(f"u{array.dtype.itemsize}")


def same(one, other):
    return one.dtype == other.dtype and np.array_equal(bits(one), bits(other))


def rotated(x, positions=M, **options):
    return backend.apply_rotary(x, positions, **{"interleaved": True, **options})


@LAYOUTS
@DTYPES
@pytest.mark.parametrize("rotary_dim", [2, 6, 8])
def test_tables_and_positions_give_the_same_bits(interleaved, dtype, rotary_dim):
    """ROT-22: `apply_rotary` is `apply_rotary_cos_sin` by the tables of `cos_sin`."""
    x = draw(dtype=dtype)
    by_positions = rotated(x, interleaved=interleaved, rotary_dim=rotary_dim)
    tables = backend.cos_sin(M, rotary_dim)
    by_tables = backend.apply_rotary_cos_sin(x, *tables, interleaved=interleaved)

    assert same(by_tables, by_positions)
    assert same(by_tables[..., rotary_dim:], x[..., rotary_dim:])
    assert not same(
        by_tables, backend.apply_rotary_cos_sin(x, *tables, interleaved=not interleaved)
    ) or (rotary_dim == 2)


@LAYOUTS
@pytest.mark.parametrize("shape", [(3, 4), (1, 3, 4), (2, 3, 4)])
def test_tables_are_taken_as_they_are(interleaved, shape):
    """ROT-22: scaled tables scale, those of float16 are widened, leading axes broadcast."""
    x = draw()
    cos, sin = draw(shape, "float16", 1), 3 * draw(shape, "float16", 2)
    y = backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
    expected = reference.apply_rotary_cos_sin(
        np.asarray(x), np.asarray(cos), np.asarray(sin), interleaved=interleaved
    )

    np.testing.assert_allclose(y, expected, rtol=0, atol=4e-6)
    swapped = backend.apply_rotary_cos_sin(x, sin, cos, interleaved=interleaved)
    assert np.abs(swapped - expected).max() > 0.1


@LAYOUTS
@pytest.mark.parametrize("rotary_dim", [6, 8])
def test_bfloat16_is_the_float32_result_rounded_once(interleaved, rotary_dim):
    """ROT-15: ties to even, infinities and overflow as ml_dtypes rounds them, bit for bit.

    The products by these tables are exact, so that it does not matter whether they are fused;
    what XLA takes for zero, products below the smallest normal number, is left out.
    """
    size = 2**12
    raw = np.random.default_rng(3).integers(0, 2**16, size * 8, dtype=np.uint16)
    x = raw.view(ml_dtypes.bfloat16).reshape(1, size, 1, 8)
    x[np.abs(x) < 2.0**-100] = 0
    tables = tuple(np.float32([[1, 0.5, 0.75, 0.625][: rotary_dim // 2]] * size) for _ in range(2))
    y, wide = (
        np.asarray(
            backend.apply_rotary_cos_sin(
                jnp.asarray(a), *map(jnp.asarray, tables), interleaved=interleaved
            )
        )
        for a in (x, x.astype(np.float32))
    )
    with np.errstate(invalid="ignore", over="ignore"):
        expected = wide.astype(ml_dtypes.bfloat16)
    sound = ~np.isnan(wide)

    assert np.array_equal(np.isnan(y.astype(np.float32)), ~sound)
    assert np.array_equal(bits(y)[sound], bits(expected)[sound])
    truncated = (wide.view(np.uint32) >> 16).astype(np.uint16)
    assert not np.array_equal(bits(y)[sound], truncated[sound])


@LAYOUTS
def test_no_nan_becomes_a_number_when_rounded(interleaved):
    """ROT-16: the NaN with all bits set would wrap to zero if it were rounded like a number."""
    table = np.full((3, 4), 0x7FFFFFFF, dtype=np.uint32).view(np.float32)
    y = backend.apply_rotary_cos_sin(
        draw(dtype="bfloat16"), jnp.asarray(table), jnp.asarray(table), interleaved=interleaved
    )

    assert np.isnan(np.asarray(y, dtype=np.float32)).all()


@LAYOUTS
@DTYPES
@pytest.mark.parametrize("rotary_dim", [4, 8])
def test_the_gradient_is_the_same_loop_with_the_angle_negated(interleaved, dtype, rotary_dim):
    """ROT-20: the VJP is R_-m and the JVP R_m, bit for bit, and reverse mode does not keep x."""
    x, t = draw(dtype=dtype), draw(dtype=dtype, seed=1)
    f = partial(rotated, interleaved=interleaved, rotary_dim=rotary_dim)
    y, back = jax.vjp(f, x)

    assert same(y, f(x))
    assert same(back(t)[0], f(t, -M))
    assert same(jax.jvp(f, (x,), (t,))[1], f(t))
    assert all(leaf.size < x.size for leaf in jax.tree.leaves(back))


@LAYOUTS
def test_derivatives_of_any_order_in_any_mode(interleaved):
    """ROT-20: forward over reverse, reverse over forward and reverse over reverse agree."""
    x, v = draw(), draw(seed=1)

    def loss(a):
        return (rotated(a, interleaved=interleaved) ** 3).sum() / 6

    expected = rotated(
        rotated(x, interleaved=interleaved) * rotated(v, interleaved=interleaved),
        -M,
        interleaved=interleaved,
    )
    over = [
        jax.jvp(jax.grad(loss), (x,), (v,))[1],
        jax.grad(lambda a: jax.jvp(loss, (a,), (v,))[1])(x),
        jax.jit(jax.grad(lambda a: (jax.grad(loss)(a) * v).sum()))(x),
    ]
    for one in over:
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-5)
    transposed = jax.linear_transpose(partial(rotated, interleaved=interleaved), x)
    assert same(transposed(v)[0], rotated(v, -M, interleaved=interleaved))


@LAYOUTS
def test_float64_gradients_are_those_of_differences(interleaved):
    """ROT-20 with x64: first and second derivatives in both modes against finite differences."""
    with jax.enable_x64(True):
        x = jnp.asarray(np.random.default_rng(0).standard_normal(SHAPE))
        f = partial(rotated, interleaved=interleaved, rotary_dim=6)
        check_grads(lambda a: f(jnp.asarray(a)), (x,), order=2, rtol=1e-6, atol=1e-6)


@LAYOUTS
def test_no_gradient_flows_into_tables(interleaved):
    """ROT-20: tables are constants; their gradient is zero, and x's own is not."""
    x, (cos, sin) = draw(), backend.cos_sin(M, 8)

    def total(a, c, s):
        return backend.apply_rotary_cos_sin(a, c, s, interleaved=interleaved).sum()

    of_x, of_cos, of_sin = jax.grad(total, argnums=(0, 1, 2))(x, cos, sin)
    assert not of_cos.any()
    assert not of_sin.any()
    assert of_x.all()


@LAYOUTS
@pytest.mark.parametrize(
    "axes", [(0, 0, 0), (0, None, None), (None, 0, None), (None, None, 0), (1, 1, 2), (3, None, 1)]
)
def test_mapping_over_any_argument(interleaved, axes):
    """ROT-22: vmap over x and tables, at any axis, gives the single results stacked."""
    one = [draw((2, 3, 2, 8)), draw((3, 4), seed=1), draw((2, 3, 4), seed=2)]
    arguments = [
        a if axis is None else jnp.stack([a, 2 * a, a - 1], axis)
        for a, axis in zip(one, axes, strict=True)
    ]

    def f(x, cos, sin):
        cos = jnp.broadcast_to(cos, sin.shape)
        return backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)

    singles = [
        [
            a if axis is None else jnp.take(a, i, axis)
            for a, axis in zip(arguments, axes, strict=True)
        ]
        for i in range(3)
    ]
    close = partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-5)
    close(jax.vmap(f, axes)(*arguments), jnp.stack([f(*single) for single in singles]))
    gradient = jax.grad(lambda x, *tables: (f(x, *tables) ** 2).sum())
    mapped = jax.vmap(gradient, axes)(*arguments)
    close(mapped, jnp.stack([gradient(*single) for single in singles]))


def test_mapping_over_positions_alone():
    """ROT-13: one x at many positions, and every row at its own."""
    x, rows = draw(), jnp.asarray([[0, 1, 2], [5, -3, 2**30]])
    over = jax.vmap(rotated, in_axes=(None, 0))(x, rows)
    own = jax.vmap(rotated)(x, rows)

    close = partial(np.testing.assert_allclose, rtol=0, atol=2e-6)
    close(over, jnp.stack([rotated(x, row) for row in rows]))
    close(own, rotated(x, rows))


@LAYOUTS
@DTYPES
def test_a_donated_x_gives_its_memory_to_the_result(interleaved, dtype):
    """`donate_argnums` is honoured: the result lies where x lay, and x is gone."""
    x = draw((1, 64, 4, 64), dtype)
    where, expected = x.unsafe_buffer_pointer(), rotated(x, np.arange(64), interleaved=interleaved)
    f = jax.jit(partial(rotated, interleaved=interleaved), donate_argnums=0)
    y = f(x, jnp.arange(64))

    assert x.is_deleted()
    assert y.unsafe_buffer_pointer() == where
    assert same(y, expected)


@LAYOUTS
@DTYPES
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_one_loop_over_x_without_cos_and_sin(interleaved, dtype, direction):
    """One fused loop writes the result, and cos and sin are made before it, not once a head."""
    x, m = draw((2, 16, 4, 64), dtype), jnp.arange(16)

    def f(a, p):
        if direction == "forward":
            return rotated(a, p, interleaved=interleaved)
        return jax.vjp(lambda b: rotated(b, p, interleaved=interleaved), a)[1](a)[0]

    text = jax.jit(f).lower(x, m).compile().as_text()
    entry = text[text.index("\nENTRY") :]
    large = re.findall(r"= \w+\[2,16,4,64\]\S* (\w+)\(.*?(?:calls=%?([\w.]+))?(?:,|\n)", entry)
    loops = [
        line for line in entry.splitlines() if re.search(r"= \w+\[2,16,4,64\]\S* fusion\(", line)
    ]
    assert len(loops) == 1, entry
    assert {kind for kind, _ in large} == {"parameter", "fusion"}
    name = re.search(r"calls=%?([\w.-]+)", loops[0]).group(1)
    start = text.index(f"%{name} (")
    body = text[start : text.index("\n}", start)]
    assert "cosine" in text
    assert "cosine" not in body
    assert "sine" not in body
    # All is read in order; by pairs the loop is no vector code, and four times slower.
    read = re.findall(r"= \w+\[[\d,]*?(\d+)\]\S* parameter\(", body)
    assert set(read) <= ({"64"} if interleaved else {"64", "32"})


@pytest.mark.parametrize("backwards", [False, True])
@LAYOUTS
@DTYPES
def test_a_small_x_is_turned_in_one_loop(interleaved, dtype, backwards):
    """No table is written for it: that would take longer to compile, and to start."""
    x, tables = draw((2, 4, 2, 16), dtype), jnp.ones((2, 2, 4, 8))
    text = turned.lower(x, tables, interleaved=interleaved, backwards=backwards).compile().as_text()
    entry = text[text.index("\nENTRY") :]

    assert len(re.findall(r" = \S+ (?!parameter|constant)\w", entry)) == 1, entry


@LAYOUTS
@DTYPES
def test_lengths_may_be_symbols(interleaved, dtype):
    """ROT-24: one exported program serves every batch and length, with the bits of each."""

    def f(a, p):
        return rotated(a, p, interleaved=interleaved)

    whole = export.symbolic_shape("b, s, 4, 64")
    x, m = jax.ShapeDtypeStruct(whole, dtype), jax.ShapeDtypeStruct(whole[1:2], jnp.int32)
    exported = export.export(jax.jit(f))(x, m)
    for rows, tokens in ((1, 5), (3, 40)):
        some, positions = draw((rows, tokens, 4, 64), dtype), jnp.arange(tokens)
        got, want = exported.call(some, positions), jax.jit(f)(some, positions)
        gap = abs(got.astype(jnp.float32) - want.astype(jnp.float32))
        assert gap.max() <= 2e-6 if dtype == "float32" else same(got, want)


@LAYOUTS
def test_a_gradient_outside_jit_runs_the_program_that_rotates(interleaved):
    """Only the rotation back is compiled for it, and that once."""
    x = draw((2, 7, 3, 10))
    turn = partial(rotated, positions=np.arange(7), interleaved=interleaved)
    y, before = turn(x), turned._cache_size()
    for _ in range(2):
        value, back = jax.vjp(turn, x)
        assert same(value, y)
        back(y)
        assert turned._cache_size() == before + 1


@pytest.mark.parametrize("tokens", [1, 5])
def test_new_positions_and_bases_are_the_same_program(tokens):
    """Nothing is compiled again for other positions, another base, or tables of another source."""

    def made():
        return turned._cache_size() + rotation.rotate_at._cache_size()

    def with_tables(positions, base):
        tables = backend.cos_sin(positions, 8, base)
        return backend.apply_rotary_cos_sin(x, *tables, interleaved=True)

    x, m = draw((1, tokens, 5, 8)), np.arange(tokens)
    rotated(x, m)
    with_tables(m, 10000.0)
    before = made()
    for positions, base in ((m + 1, 500.0), (m - 9, 10000.0), (m * 2, 5e5)):
        rotated(x, positions, base=base)
        with_tables(positions, base)
    assert made() == before
    rotated(x, m, interleaved=False)
    assert made() == before + 1


def test_nothing_traced_is_kept():
    """No tracer survives its trace, with positions traced, closed over or eager."""
    x = draw((1, 5, 1, 12))
    with jax.checking_leaks():
        for positions in (np.arange(5), jnp.arange(5)):
            f = partial(rotated, positions=positions, base=123.0)
            closed = jax.jit(jax.grad(lambda a, f=f: f(a).sum()))(x)
            assert np.isfinite(closed).all()
        traced = jax.jit(lambda a, p: rotated(a, p, base=123.0))(x, jnp.arange(5))
    assert same(traced, rotated(x, np.arange(5), base=123.0))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_tables_made_once_keep_every_bit(wide, backwards):
    """NaN payloads, infinities, zeros of both signs and subnormals keep all bits but a sign."""
    kind = np.uint64 if wide else np.uint32
    raw = np.random.default_rng(4).integers(0, 2 ** (64 if wide else 32), (2, 5, 3), dtype=kind)
    raw[:, 0] = [0, 1 << (8 * raw.itemsize - 1), np.iinfo(kind).max]
    with jax.enable_x64(wide):
        tables = jnp.asarray(raw.view(f"f{raw.itemsize}"))
        kept = np.asarray(jax.jit(made_once)(tables))
        twice = np.asarray(jax.jit(partial(spread, backwards=backwards))(tables))

    assert np.array_equal(bits(kept), raw)
    raw = np.repeat(raw, 2, axis=-1)
    raw[1, ..., backwards::2] ^= kind(1 << (8 * raw.itemsize - 1))
    assert np.array_equal(bits(twice), raw)


def test_options_may_be_static_arguments_of_jit():
    """ROT-24: a function itself is compiled, with its numbers and flags static."""
    x, m = draw(), jnp.asarray(M, dtype=jnp.int32)
    static = jax.jit(backend.apply_rotary, static_argnames=("interleaved", "base", "rotary_dim"))
    found = static(x, m, interleaved=False, base=10000.0, rotary_dim=8)

    np.testing.assert_allclose(found, rotated(x, interleaved=False), rtol=0, atol=1e-6)


def test_gradients_through_attention_are_finite():
    """ATT-4: a row that may attend nowhere sends no NaN back."""
    mask = jnp.array([[False] * 3, [True, False, False], [True] * 3])
    options = {"query_positions": M, "key_positions": M, "interleaved": True, "mask": mask}
    gradient = jax.grad(lambda a: backend.attention(a, a, a, **options)[0].sum())(draw())

    assert np.isfinite(np.asarray(gradient)).all()
    assert np.asarray(gradient).any()
