import importlib
import inspect
import re

import numpy as np
import pytest

from ropespec.spec.api import FUNCTIONS, RopeAPI
from ropespec.spec.axes import Mixed, Sections
from ropespec.spec.errors import ArgumentError
from ropespec.spec.scaling import Linear, LongRope, NtkAware

NAMES = tuple(name for names in FUNCTIONS.values() for name in names)
IMPLEMENTATIONS = (
    "ropespec.reference",
    "ropespec.backends.numpy",
    "ropespec.backends.torch",
    "ropespec.backends.jax",
    "ropespec.backends.cupy",
)
BACKENDS = IMPLEMENTATIONS[1:]
# An array of JAX is never written to, and the reference is only read.
WRITES_INTO_OUT = tuple(f"ropespec.backends.{name}" for name in ("numpy", "torch", "cupy"))
every_implementation = pytest.mark.parametrize("implementation", IMPLEMENTATIONS)


def shape_of_signature(function, *, bound):
    """Names, kinds and defaults of the parameters; a method of the protocol is not bound yet."""
    parameters = list(inspect.signature(function).parameters.values())[0 if bound else 1 :]
    return [(p.name, p.kind, p.default) for p in parameters]


def to_framework(implementation):
    """Return how a NumPy array becomes an array of the implementation's framework."""
    kind = implementation.rpartition(".")[2]
    if kind == "torch":
        return importlib.import_module("torch").from_numpy
    if kind == "jax":
        return importlib.import_module("jax.numpy").asarray
    if kind == "cupy":
        return _cupy_array
    return lambda array: array


def _cupy_array(array):
    """Wrap host memory: arguments are refused before anything would run."""
    cupy = importlib.import_module("cupy")
    memory = cupy.cuda.UnownedMemory(array.ctypes.data, max(array.nbytes, 1), array, 0)
    pointer = cupy.cuda.MemoryPointer(memory, 0)
    return cupy.ndarray(array.shape, array.dtype, pointer, strides=array.strides)


def framework_name(implementation):
    """Return what the implementation calls its arrays in messages."""
    kind = implementation.rpartition(".")[2]
    names = {"torch": "torch.Tensor", "jax": "jax.Array", "cupy": "cupy.ndarray"}
    return names.get(kind, "numpy.ndarray")


def device_words(implementation):
    """Return what the implementation takes for a device, as messages say it."""
    words = {
        "torch": "what torch.device takes",
        "jax": "a jax.Device",
        "cupy": "an int of at least 0 or a cupy.cuda.Device",
    }
    return words.get(implementation.rpartition(".")[2], '"cpu", the only device of NumPy')


@every_implementation
def test_signatures_are_those_of_the_protocol(implementation):
    """The parameters are those of `RopeAPI`, in order, kind and default, and `out` after them."""
    module = importlib.import_module(implementation)
    for name in NAMES:
        found = shape_of_signature(getattr(module, name), bound=True)
        if implementation in WRITES_INTO_OUT and name in ("apply_rotary", "apply_rotary_cos_sin"):
            assert found.pop() == ("out", inspect.Parameter.KEYWORD_ONLY, None), name
        assert found == shape_of_signature(getattr(RopeAPI, name), bound=False), name


def test_the_protocol_lists_the_functions():
    """`FUNCTIONS` and `RopeAPI` name the same functions."""
    assert set(NAMES) == {name for name in dir(RopeAPI) if not name.startswith("_")}
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("backend", BACKENDS)
def test_backends_export_exactly_the_api(backend):
    """`__all__` of a backend is the API, sorted; the reference has it among more."""
    module = importlib.import_module(backend)

    assert list(module.__all__) == sorted(NAMES)
    assert set(NAMES) <= set(dir(importlib.import_module("ropespec.reference")))


def results_section(module, name, section="Returns"):
    """Return what a docstring says of the results, its own or that of the function it refers to."""
    text = inspect.getdoc(getattr(module, name))
    _, found, rest = text.partition(f"{section}\n{'-' * len(section)}\n")
    if not found:
        (other,) = re.findall(r"result and errors as in `(\w+)`", text)
        return results_section(module, other)
    return re.split(r"\n\w+\n---", rest)[0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_docstrings_say_the_dtype_of_every_result(backend):
    """A number of bits, or the dtype of an argument; what a function raises says neither."""
    module, dtype = importlib.import_module(backend), r"(float|complex)(32|64|128)\b|\bdtype\b"
    for name in NAMES:
        assert re.search(dtype, results_section(module, name)), name
    assert not re.search(dtype, results_section(module, "inv_freq", "Raises"))


def f32(*shape):
    return np.ones(shape, np.float32)


# Dtypes that JAX keeps without x64; arrays of int64 and uint64 are positions on the host.
X, M, T = f32(2, 3, 1, 4), [0, 1, 2], f32(3, 2)
ON = {"interleaved": True}
AXES = {"axes": Sections((1, 1))}
BY = {"scaling": Linear(2.0)}
CALL = {"query_positions": [0, 1], "key_positions": [0, 1], "interleaved": True}
QK = f32(2, 2, 4)
REFUSED = [
    ("inv_freq", (3,), {}),
    ("inv_freq", (0,), {}),
    ("inv_freq", (4.0,), {}),
    ("inv_freq", (True,), {}),
    ("inv_freq", (4, 1.0), {}),
    ("inv_freq", (4, float("nan")), {}),
    ("inv_freq", (4, "big"), {}),
    ("inv_freq", (4,), {"device": 1.5}),
    ("inv_freq", (4,), {"device": True}),
    ("inv_freq", (3,), {"device": 1.5}),
    ("angles", (M, [1.0]), {}),
    ("angles", (M, f32(2, 2)), {}),
    ("angles", ([0.5], f32(2)), {}),
    ("cos_sin", ([0.0], 4), {}),
    ("cos_sin", ([[1], [1, 2]], 4), {}),
    ("cos_sin", ([2**64], 4), {}),
    ("cos_sin", ([2**63], 4), {}),
    ("cos_sin", ([True], 4), {}),
    ("cos_sin", ("0", 4), {}),
    ("cos_sin", (None, 3), {}),
    ("cos_sin", (np.array([1.5], np.float32), 4), {}),
    ("cos_sin", (np.array([1], np.uint64), 4), {}),
    ("cos_sin", (M, 5), {}),
    ("sinusoidal_embedding", (M, 7), {}),
    ("sinusoidal_embedding", (M, 8, 0.5), {}),
    ("to_complex", ([1.0, 2.0],), {}),
    ("to_complex", (f32(3),), {}),
    ("to_complex", (f32(2, 0),), {}),
    ("to_complex", (np.ones(4, np.int32),), {}),
    ("from_complex", (f32(4),), {}),
    ("from_complex", (np.ones((), np.complex64),), {}),
    ("rotation_matrix", (M, 4), {"interleaved": 1}),
    ("rotation_matrix", (M, 3), {"interleaved": "yes"}),
    ("rotation_matrix", ("m", 3), {"interleaved": True}),
    ("apply_rotary", ([1.0], M), ON),
    ("apply_rotary", (np.ones((2, 3, 1, 4), np.int32), M), ON),
    ("apply_rotary", (np.ones((3, 1, 4), np.complex64), M), ON),
    ("apply_rotary", (f32(3, 4), M), ON),
    ("apply_rotary", (X, [0.0, 1.0, 2.0]), ON),
    ("apply_rotary", (X, [0, 1]), ON),
    ("apply_rotary", (X, [0]), ON),
    ("apply_rotary", (X, 0), ON),
    ("apply_rotary", (X, np.zeros((3, 3), np.int64)), ON),
    ("apply_rotary", (X, np.zeros((1, 2, 3), np.int64)), ON),
    ("apply_rotary", (X, M), {"interleaved": 0}),
    ("apply_rotary", (X, M), {"interleaved": None}),
    ("apply_rotary", (X, M), {**ON, "base": 1}),
    ("apply_rotary", (X, M), {**ON, "base": float("inf")}),
    ("apply_rotary", (X, M), {**ON, "base": 10**400}),
    ("apply_rotary", (X, M), {**ON, "rotary_dim": 3}),
    ("apply_rotary", (X, M), {**ON, "rotary_dim": 6}),
    ("apply_rotary", (X, M), {**ON, "rotary_dim": 0}),
    ("apply_rotary", (X, M), {**ON, "rotary_dim": 2.0}),
    ("apply_rotary", (f32(3, 1, 5), M), ON),
    ("apply_rotary", (f32(3, 1, 0), M), ON),
    ("apply_rotary", (X, "m"), {"interleaved": 1, "base": 1, "rotary_dim": 3}),
    ("apply_rotary", (X, [0]), {"interleaved": True, "base": 1, "rotary_dim": 3}),
    ("apply_rotary_dense", (X, M), {"interleaved": 0}),
    ("apply_rotary_dense", (X, [0]), ON),
    ("inv_freq_scaled", (3,), BY),
    ("inv_freq_scaled", (4, 1.0), BY),
    ("inv_freq_scaled", (4,), {"scaling": "linear"}),
    ("inv_freq_scaled", (4,), {"scaling": None}),
    ("inv_freq_scaled", (2,), {"scaling": NtkAware(2.0)}),
    ("inv_freq_scaled", (4,), {**BY, "device": 1.5}),
    ("cos_sin_scaled", ([0.0], 4), BY),
    ("cos_sin_scaled", (M, 5), BY),
    ("cos_sin_scaled", (M, 4), {"scaling": {"rope_type": "linear"}}),
    ("cos_sin_scaled", (M, 6), {"scaling": LongRope((1.0,) * 2, (1.0,) * 3, 1.0, 9, 1)}),
    ("apply_rotary_scaled", (X, [0, 1]), {**ON, **BY}),
    ("apply_rotary_scaled", (X, M), {"interleaved": 1, **BY}),
    ("apply_rotary_scaled", (X, M), {**ON, "scaling": 2.0}),
    ("apply_rotary_scaled", (X, M), {**ON, **BY, "rotary_dim": 3}),
    ("apply_rotary_scaled", (X, M), {**ON, "scaling": NtkAware(2.0), "rotary_dim": 2}),
    ("cos_sin_axes", ([M, M], 4), {"axes": [1, 1]}),
    ("cos_sin_axes", (M, 4), AXES),
    ("cos_sin_axes", ([M], 4), AXES),
    ("cos_sin_axes", ([M, M], 6), AXES),
    ("cos_sin_axes", ([M, M], 4), {**AXES, "scaling": "linear"}),
    ("cos_sin_axes", ([M, M], 4), {"axes": Mixed(((1.0, 1.0),) * 2), **BY}),
    ("apply_rotary_axes", (X, M), {**ON, **AXES}),
    ("apply_rotary_axes", (X, [[0, 1], [0, 1]]), {**ON, **AXES}),
    ("apply_rotary_axes", (X, [M, M]), {"interleaved": 1, **AXES}),
    ("apply_rotary_axes", (X, [M, M]), {**ON, "axes": None}),
    ("apply_rotary_axes", (X, [M, M]), {**ON, **AXES, "rotary_dim": 2}),
    ("apply_rotary_cos_sin", ([1.0], T, T), ON),
    ("apply_rotary_cos_sin", (f32(3, 4), T, T), ON),
    ("apply_rotary_cos_sin", (X, [[1.0]], T), ON),
    ("apply_rotary_cos_sin", (X, T, None), ON),
    ("apply_rotary_cos_sin", (X, np.ones((3, 2), np.int32), T), ON),
    ("apply_rotary_cos_sin", (X, T, np.ones((3, 2), np.float16)), ON),
    ("apply_rotary_cos_sin", (X, T, f32(3, 1)), ON),
    ("apply_rotary_cos_sin", (X, f32(2), f32(2)), ON),
    ("apply_rotary_cos_sin", (X, f32(1, 2), f32(1, 2)), ON),
    ("apply_rotary_cos_sin", (X, f32(3, 3), f32(3, 3)), ON),
    ("apply_rotary_cos_sin", (X, f32(3, 0), f32(3, 0)), ON),
    ("apply_rotary_cos_sin", (X, f32(3, 3, 2), f32(3, 3, 2)), ON),
    ("apply_rotary_cos_sin", (X, f32(1, 2, 3, 2), f32(1, 2, 3, 2)), ON),
    ("apply_rotary_cos_sin", (X, T, T), {"interleaved": 1}),
    ("apply_rotary_complex", (X, M), {"rotary_dim": 5}),
    ("apply_rotary_complex", (X, [[0], [1]]), {}),
    ("interleaved_to_half", (f32(5),), {}),
    ("half_to_interleaved", (f32(2, 0),), {}),
    ("half_to_interleaved", (7,), {}),
    ("project_query", (f32(3, 5), M, f32(1, 4, 6)), ON),
    ("project_query", (f32(3, 5), M, np.ones((1, 4, 5), np.float16)), ON),
    ("project_query", (f32(3, 5), M, f32(1, 3, 5)), ON),
    ("project_query", (f32(3, 5), [0], f32(1, 4, 5)), ON),
    ("project_query", (f32(5), M, f32(1, 4, 5)), ON),
    ("project_query", (f32(3, 5), M, f32(1, 4, 5)), {**ON, "rotary_dim": 3}),
    ("project_query", (f32(3, 5), M, f32(1, 4, 5)), {**ON, "rotary_dim": 6}),
    ("project_query", (f32(3, 5), M, f32(1, 4, 5)), {**ON, "rotary_dim": 2.0}),
    ("project_query", (f32(3, 5), [0], f32(1, 4, 5)), {**ON, "rotary_dim": 0, "base": 1}),
    ("project_query", (f32(3, 5), M, f32(4, 5)), {**ON, "rotary_dim": 3}),
    ("project_key", (f32(3, 5), M, f32(4, 5)), ON),
    ("project_key", (f32(3, 5), [0.0], [1.0]), {"interleaved": 1}),
    ("project_key", (f32(3, 5), [0], f32(1, 3, 5)), {**ON, "rotary_dim": 4}),
    ("project_value", (f32(3, 5), f32(4, 5)), {}),
    ("project_value", (f32(3, 5), np.ones((1, 4, 5), np.float16)), {}),
    ("relative_score", (QK, f32(2, 4), [0]), ON),
    ("relative_score", (QK, np.ones((2, 2, 4), np.float16), [0]), ON),
    ("relative_score", (QK, QK, [0, 1, 2]), ON),
    ("relative_score", (QK, QK, 0.5), ON),
    ("relative_score", (f32(2, 3), f32(2, 3), 1), ON),
    ("relative_score", (QK, QK, 1), {**ON, "rotary_dim": 1}),
    ("relative_score", (QK, QK, 1), {**ON, "rotary_dim": 6}),
    ("relative_score", (QK, QK, 1), {**ON, "rotary_dim": "2"}),
    ("relative_score", (QK, f32(2, 4), [0, 1, 2]), {**ON, "rotary_dim": 3}),
    ("attention", (f32(2, 4, 4), f32(2, 3, 4), f32(2, 3, 4)), CALL),
    ("attention", (f32(2, 4, 4), f32(2, 2, 4), f32(2, 1, 4)), CALL),
    ("attention", (f32(2, 4, 4), f32(2, 2, 6), f32(2, 2, 4)), CALL),
    ("attention", (f32(2, 4, 3), f32(2, 2, 3), f32(2, 2, 4)), CALL),
    ("attention", (QK, QK, np.ones((2, 2, 4), np.float16)), CALL),
    ("attention", (QK, QK, QK), {**CALL, "mask": f32(2, 2, 2)}),
    ("attention", (QK, QK, QK), {**CALL, "mask": np.ones((3, 2), bool)}),
    ("attention", (QK, QK, QK), {**CALL, "mask": [[True]]}),
    ("attention", (QK, QK, QK), {**CALL, "query_positions": [0]}),
    ("attention", (QK, QK, QK), {**CALL, "key_positions": [0.0, 1.0]}),
    ("attention", (QK, QK, QK), {**CALL, "rotary_dim": 3}),
    ("attention", (QK, QK, QK), {**CALL, "rotary_dim": 6}),
    ("attention", (QK, QK, QK), {**CALL, "rotary_dim": True}),
    ("attention", (QK, QK, QK), {**CALL, "rotary_dim": 0, "query_positions": [0]}),
    ("decay_bound", ([0.5], 4), {}),
    ("decay_bound", ([1], 3), {}),
    ("sinusoidal_position_embedding", (-1, 1, 1, 4, None), {}),
    ("sinusoidal_position_embedding", (1, 1.0, 1, 4, None), {}),
    ("sinusoidal_position_embedding", (1, 1, 1, 3, None), {}),
    ("sinusoidal_position_embedding", (1, 1, 1, 3, 1.5), {}),
    ("sinusoidal_position_embedding", (1, 1, 1, 4, [0]), {}),
    ("RoPE", (f32(1, 2, 3, 4), f32(2, 2, 3, 4)), {}),
    ("RoPE", (f32(2, 3, 4), f32(1, 2, 3, 4)), {}),
    ("RoPE", (f32(1, 2, 3, 3), f32(1, 2, 3, 3)), {}),
    ("RoPE", (f32(1, 2, 3, 4), 0), {}),
    ("precompute_freqs_cis", (3, 2), {}),
    ("precompute_freqs_cis", (4, -2), {}),
    ("precompute_freqs_cis", (4, 2, 1.0), {}),
    ("precompute_freqs_cis", (4, 2, 1.0), {"device": 1.5}),
    ("precompute_freqs_cis", (4, 2), {"device": {}}),
    ("reshape_for_broadcast", (np.ones((3, 2), np.complex64), f32(1, 3, 1, 2)), {}),
    ("reshape_for_broadcast", (np.ones((2, 2), np.complex64), np.ones((1, 3, 1, 2), "c8")), {}),
    ("reshape_for_broadcast", (np.ones((3, 2), np.complex64), np.ones((3, 2), "c8")), {}),
    ("apply_rotary_emb", (X, X, np.ones((2, 2), np.complex64)), {}),
    ("apply_rotary_emb", (X, f32(2, 4, 1, 4), np.ones((3, 2), np.complex64)), {}),
    ("apply_rotary_emb", (X, X, f32(3, 2)), {}),
    ("apply_rotary_emb", (f32(3, 1, 4), X, np.ones((3, 2), np.complex64)), {}),
]


def refusal(implementation, name, arguments, keywords):
    """Type and words of the refusal, made neutral where they name the framework's own types."""
    convert = to_framework(implementation)

    def converted(value):
        """Leave NumPy's integers as positions on the host; the rest is for the framework."""
        if not isinstance(value, np.ndarray) or value.dtype in (np.int64, np.uint64):
            return value
        return convert(value)

    function = getattr(importlib.import_module(implementation), name)
    with pytest.raises(ArgumentError) as caught:
        function(
            *(converted(value) for value in arguments),
            **{key: converted(value) for key, value in keywords.items()},
        )
    error = caught.value
    words = str(error).replace(framework_name(implementation), "ARRAY")
    words = words.replace(device_words(implementation), "DEVICE")
    return type(error).__name__, error.argument, words


@pytest.mark.parametrize("case", range(len(REFUSED)), ids=lambda i: f"{i}-{REFUSED[i][0]}")
@pytest.mark.parametrize("backend", BACKENDS)
def test_refusals_read_the_same(backend, case):
    """What the reference refuses each backend refuses, with the same type and the same words."""
    assert refusal(backend, *REFUSED[case]) == refusal("ropespec.reference", *REFUSED[case])


def test_refusals_cover_every_function():
    """The list of refused calls names every function of the API."""
    assert {name for name, _, _ in REFUSED} == set(NAMES)
