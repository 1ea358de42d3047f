"""Calls of every function on three virtual devices, in a process of its own: one line of JSON.

XLA_FLAGS has to say `--xla_force_host_platform_device_count=3` before JAX is loaded.
"""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np

import ropespec.backends.jax as backend
from ropespec.spec.axes import Sections
from ropespec.spec.scaling import Linear

DEFAULT, HERE, THERE = jax.devices()
SCALING, AXES = Linear(2.0), Sections((2, 2))
FROM_NUMBERS = {
    "inv_freq": lambda device: backend.inv_freq(8, device=device),
    "inv_freq_scaled": (lambda device: backend.inv_freq_scaled(8, scaling=SCALING, device=device)),
    "precompute_freqs_cis": lambda device: backend.precompute_freqs_cis(8, 3, device=device),
    "sinusoidal_position_embedding": (
        lambda device: backend.sinusoidal_position_embedding(2, 1, 3, 8, device)
    ),
}
FROM_LISTS = {
    "cos_sin": lambda m: backend.cos_sin(m, 8),
    "sinusoidal_embedding": lambda m: backend.sinusoidal_embedding(m, 8),
    "rotation_matrix": lambda m: backend.rotation_matrix(m, 8, interleaved=False),
    "decay_bound": lambda m: backend.decay_bound(m, 8),
    "cos_sin_scaled": lambda m: backend.cos_sin_scaled(m, 8, scaling=SCALING),
    "cos_sin_axes": lambda m: backend.cos_sin_axes([m, m], 8, axes=AXES),
}
ASKED = {
    "rotation_matrix": {"interleaved": True},
    "cos_sin_scaled": {"scaling": SCALING},
    "cos_sin_axes": {"axes": AXES},
}
held = {}


def calls(device, other):
    """List calls of every function that takes arrays: what is rotated here, by how much there."""

    def ones(*shape, dtype=jnp.float32, at=device):
        return jax.device_put(np.ones(shape, dtype), at)

    x, q = ones(2, 3, 4, 8), ones(2, 4, 3, 8)
    m = jax.device_put(np.array([4, -2, 9], np.int32), other)
    own = jax.device_put(m, device)
    places = {"cos_sin_axes": jnp.stack([own, own])}
    cos, freqs = ones(3, 4, at=other), ones(3, 4, dtype=jnp.complex64, at=other)
    tokens, weight = ones(2, 3, 5), ones(4, 8, 5)
    k, v, mask = ones(2, 3, 2, 8), ones(2, 3, 2, 6), ones(3, 3, dtype=np.bool_)
    whole, part = {"interleaved": True}, {"interleaved": False, "rotary_dim": 4}
    return [
        ("angles", (own, ones(4, at=other)), {}),
        *((name, (places.get(name, own), 8), ASKED.get(name, {})) for name in FROM_LISTS),
        ("apply_rotary_scaled", (x, m), {**part, "scaling": SCALING}),
        ("apply_rotary_axes", (x, jnp.stack([m, m])), {**whole, "axes": AXES}),
        ("to_complex", (x,), {}),
        ("from_complex", (ones(3, 4, dtype=jnp.complex64),), {}),
        ("interleaved_to_half", (x,), {}),
        ("half_to_interleaved", (x,), {}),
        ("apply_rotary", (x, m), whole),
        ("apply_rotary", (x, m), part),
        ("apply_rotary", (x[:, :1], m[:1]), whole),  # one token takes a way of its own
        ("apply_rotary_dense", (x, m), part),
        ("apply_rotary_complex", (x, m), {"rotary_dim": 4}),
        ("apply_rotary_cos_sin", (x, cos, cos), whole),
        *((name, (tokens, m, weight), part) for name in ("project_query", "project_key")),
        ("project_value", (tokens, weight), {}),
        ("relative_score", (x[0], x[1], m[:, None]), part),
        ("attention", (x, k, v), {**part, "query_positions": m, "key_positions": m, "mask": mask}),
        ("RoPE", (q, q[:, :2]), {}),
        (
            "reshape_for_broadcast",
            (jax.device_put(freqs, device), ones(2, 3, 4, 4, dtype="c8")),
            {},
        ),
        ("apply_rotary_emb", (x, k, freqs), {}),
    ]


def results(call):
    """Call the backend."""
    name, arguments, keywords = call
    return jax.tree.leaves(getattr(backend, name)(*arguments, **keywords))


def listed(call):
    """Replace the positions of a call by lists."""

    def one(value):
        positions = isinstance(value, jax.Array) and value.dtype == jnp.int32
        return value.tolist() if positions else value

    return call[0], [one(a) for a in call[1]], {key: one(a) for key, a in call[2].items()}


def lies(found, device):
    """Say whether all arrays lie on this device alone."""
    return all(one.devices() == {device} for one in found)


def of_arrays():
    """Check that results lie where the first array does, with the numbers of the plain call."""
    for number, name in enumerate(call[0] for call in calls(HERE, HERE)):
        plain = results(calls(DEFAULT, DEFAULT)[number])
        for label, other in (("there too", HERE), ("elsewhere", THERE)):
            found = results(calls(HERE, other)[number])
            same = all(np.array_equal(a, b) for a, b in zip(found, plain, strict=True))
            held[f"arrays: {number} {name}, {label}"] = lies(found, HERE) and same
        if name not in FROM_LISTS:
            found = results(listed(calls(HERE, HERE)[number]))
            held[f"lists: {number} {name}"] = lies(found, HERE)


def of_numbers():
    """Check `device`, and the default device without it."""
    for name, make in FROM_NUMBERS.items():
        with jax.default_device(THERE):
            good = lies([make(None)], THERE) and lies([make(HERE)], HERE)
        held[f"numbers: {name}"] = good and lies([make(None)], DEFAULT)
    for name, make in FROM_LISTS.items():
        with jax.default_device(THERE):
            held[f"numbers: {name} of a list"] = lies(jax.tree.leaves(make([4, -2])), THERE)


def uncommitted():
    """Check that arrays which are committed to no device are taken where others are."""
    for name, arguments, keywords in calls(HERE, None):
        found = results((name, arguments, keywords))
        held[f"uncommitted: {name} {len(held)}"] = lies(found, HERE)


def mistakes():
    """Check that JAX refuses what nobody brings together, so that the checks above can fail."""
    x, m = jax.device_put(np.ones((3, 1, 4)), HERE), jax.device_put(np.ones(3, np.int32), THERE)
    for name, mixed in (
        ("a product", lambda: x[:, 0, 0] * m),
        (
            "q and k",
            lambda: backend.relative_score(x, jax.device_put(x, THERE), 1, interleaved=True),
        ),
    ):
        try:
            mixed()
        except ValueError as error:
            held[f"mistake: {name}"] = "incompatible devices" in str(error)
        else:
            held[f"mistake: {name}"] = False


if __name__ == "__main__":
    of_arrays()
    of_numbers()
    uncommitted()
    mistakes()
    names = {call[0] for call in calls(HERE, HERE)} | set(FROM_NUMBERS)
    held["every function"] = names == set(backend.__all__)
    sys.stdout.write(json.dumps(held) + "\n")
