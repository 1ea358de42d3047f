"""Rotations over eight virtual devices, in a process of its own: writes one line of JSON.

XLA_FLAGS has to say `--xla_force_host_platform_device_count=8` before JAX is loaded.
"""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from ropespec.backends.jax import apply_rotary, apply_rotary_cos_sin, cos_sin

SHAPE = (8, 16, 8, 8)
POSITIONS = np.arange(16, dtype=np.int32) + 1000
ROWS = np.random.default_rng(1).integers(-999, 999, SHAPE[:2]).astype(np.int32)
COLLECTIVES = ("all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter")
KINDS = {"auto": AxisType.Auto, "explicit": AxisType.Explicit}
CUTS = {  # how x is cut, and positions (S,) and (B, S) with it
    "batch": (P("a"), P(), P("a")),
    "sequence": (P(None, "a"), P("a"), P(None, "a")),
    "heads": (P(None, None, "a"), P(), P()),
}
GRID = {
    "batch and sequence": (P("a", "b"), P("b"), P("a", "b")),
    "sequence and heads": (P(None, "a", "b"), P("a"), P(None, "a")),
    "sequence twice": (P(None, ("a", "b")), P(("a", "b")), P(None, ("a", "b"))),
}
held = {}


def meshes(kind):
    """A row of eight devices and a grid of two by four, each with its cuts."""
    axes = KINDS[kind]
    return (
        (jax.make_mesh((8,), ("a",), axis_types=(axes,)), CUTS),
        (jax.make_mesh((2, 4), ("a", "b"), axis_types=(axes, axes)), GRID),
    )


def programs(interleaved):
    """Return the rotation and its pull-back, each to be compiled."""

    def forward(x, positions):
        return apply_rotary(x, positions, interleaved=interleaved)

    def backward(x, positions, cotangent):
        pull = jax.vjp(lambda x: forward(x, positions), x)[1]
        return pull(cotangent)[0]

    return jax.jit(forward), jax.jit(backward)


def same(got, want, sharding):
    """Whether an array is cut like this and holds the whole result.

    XLA decides for every shape whether a product and the sum after it are rounded once or twice:
    in float32 the bits may differ by that, one rounding of the product.
    """
    if not got.sharding.is_equivalent_to(sharding, got.ndim) or got.dtype != want.dtype:
        return False
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != np.float32:
        return np.array_equal(got, want)
    return not apart(got, want).any()


def apart(got, want):
    """Mark the components of float32 that differ by more than one rounding of the product."""
    length = np.linalg.norm(want.astype(np.float64), axis=-1, keepdims=True)
    return np.abs(got.astype(np.float64) - want) > 2.0**-23 * length


def collectives(compiled):
    """Return the operations of a compiled program by which devices talk to each other."""
    text = compiled.as_text()
    return [name for name in COLLECTIVES if name in text]


def under_jit(kind, *, interleaved, dtype):
    """Check each cut: bits, placement, and that nothing is communicated."""
    whole, seed = (jax.random.normal(jax.random.key(n), SHAPE, dtype) for n in (0, 1))
    forward, backward = programs(interleaved)
    for mesh, cuts in meshes(kind):
        for name, (of_x, of_s, of_bs) in cuts.items():
            sharding = NamedSharding(mesh, of_x)
            x, g = jax.device_put((whole, seed), sharding)
            for label, where, spec in (
                ("(S,) everywhere", POSITIONS, P()),
                ("(S,) cut", POSITIONS, of_s),
                ("(B, S) cut", ROWS, of_bs),
            ):
                p = jax.device_put(where, NamedSharding(mesh, spec))
                key = f"{name}, {kind}, {interleaved}, {jnp.dtype(dtype)}, {label}"
                want = forward(whole, jnp.asarray(where))
                compiled = forward.lower(x, p).compile()
                held[f"jit: {key}"] = same(compiled(x, p), want, sharding)
                held[f"alone: {key}"] = not collectives(compiled)
                want = backward(whole, jnp.asarray(where), seed)
                compiled = backward.lower(x, p, g).compile()
                held[f"gradient: {key}"] = same(compiled(x, p, g), want, sharding)
                held[f"gradient alone: {key}"] = not collectives(compiled)


def without_jit():
    """Check arrays that are cut and positions of NumPy, called as they are."""
    whole = jax.random.normal(jax.random.key(0), SHAPE)
    for kind in KINDS:
        for mesh, cuts in meshes(kind):
            for name, (of_x, _, _) in cuts.items():
                sharding = NamedSharding(mesh, of_x)
                x = jax.device_put(whole, sharding)
                y = apply_rotary(x, POSITIONS, interleaved=False)
                want = apply_rotary(whole, POSITIONS, interleaved=False)
                held[f"eager: {name}, {kind}"] = same(y, want, sharding)


def under_shard_map(kind, *, interleaved):
    """Check that a device which is given its positions needs nothing else.

    The inputs are cut before: under explicit axes `shard_map` takes no others.
    """
    whole = jax.random.normal(jax.random.key(0), SHAPE)
    forward, _ = programs(interleaved)
    for mesh, cuts in meshes(kind):
        for name, (of_x, of_s, of_bs) in cuts.items():
            for label, where, spec in (("(S,)", POSITIONS, of_s), ("(B, S)", ROWS, of_bs)):
                sharding = NamedSharding(mesh, of_x)
                x = jax.device_put(whole, sharding)
                p = jax.device_put(where, NamedSharding(mesh, spec))
                mapped = jax.jit(
                    jax.shard_map(forward, mesh=mesh, in_specs=(of_x, spec), out_specs=of_x)
                )
                compiled = mapped.lower(x, p).compile()
                want = forward(whole, jnp.asarray(where))
                key = f"shard_map: {name}, {kind}, {interleaved}, {label}"
                held[key] = same(compiled(x, p), want, sharding) and not collectives(compiled)


def tables():
    """Check tables that are cut with x, forward."""
    whole = jax.random.normal(jax.random.key(0), SHAPE)
    cos, sin = cos_sin(POSITIONS, SHAPE[-1])
    turn = jax.jit(lambda x, c, s: apply_rotary_cos_sin(x, c, s, interleaved=False))
    for kind in KINDS:
        for mesh, cuts in meshes(kind):
            for name, (of_x, of_s, _) in cuts.items():
                sharding = NamedSharding(mesh, of_x)
                x = jax.device_put(whole, sharding)
                c, s = jax.device_put((cos, sin), NamedSharding(mesh, of_s))
                compiled = turn.lower(x, c, s).compile()
                good = same(compiled(x, c, s), turn(whole, cos, sin), sharding)
                held[f"tables: {name}, {kind}"] = good and not collectives(compiled)


def padded():
    """Check 17 tokens over 8 devices: JAX takes no uneven cut, so they are padded to 24."""
    whole = jax.random.normal(jax.random.key(2), (2, 17, 3, 8))
    forward, _ = programs(interleaved=True)
    mesh = meshes("auto")[0][0]
    x = jnp.pad(whole, ((0, 0), (0, 7), (0, 0), (0, 0)))
    p = np.pad(np.arange(17, dtype=np.int32), (0, 7))
    x = jax.device_put(x, NamedSharding(mesh, P(None, "a")))
    y = forward(x, jax.device_put(p, NamedSharding(mesh, P("a"))))
    want = forward(whole, jnp.arange(17))
    held["padded"] = np.array_equal(np.asarray(y)[:, :17], np.asarray(want))


def mistakes():
    """Check that what is looked for can be seen: local positions, and communication."""
    whole = jax.random.normal(jax.random.key(0), SHAPE)
    forward, _ = programs(interleaved=True)
    mesh = meshes("auto")[0][0]
    cut = P(None, "a")
    x = jax.device_put(whole, NamedSharding(mesh, cut))

    def local(x):
        return forward(x, jnp.arange(x.shape[1]))

    y = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=cut, out_specs=cut))(x)
    want = forward(whole, jnp.arange(16))
    off = np.any(apart(np.asarray(y), np.asarray(want)), axis=(0, 2, 3))
    held["mistake: local positions are right in the first shard alone"] = off.tolist() == (
        [False] * 2 + [True] * 14
    )
    neighbours = jax.jit(lambda x: x - jnp.roll(x, 1, axis=1)).lower(x).compile()
    centred = jax.jit(lambda x: x - x.mean(axis=1, keepdims=True)).lower(x).compile()
    held["mistake: a neighbour is asked for"] = bool(collectives(neighbours))
    held["mistake: a mean is taken"] = bool(collectives(centred))


if __name__ == "__main__":
    held["eight devices"] = len(jax.devices()) == 8
    under_jit("auto", interleaved=True, dtype=jnp.float32)
    under_jit("explicit", interleaved=False, dtype=jnp.bfloat16)
    under_shard_map("auto", interleaved=False)
    under_shard_map("explicit", interleaved=True)
    without_jit()
    tables()
    padded()
    mistakes()
    sys.stdout.write(json.dumps(held) + "\n")
