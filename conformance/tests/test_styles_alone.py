"""Styles of libraries that need not be installed: what they have of them stands in for them."""

import sys
import types
from types import SimpleNamespace

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.frameworks import FRAMEWORKS
from ropespec.conformance.profile import Profile
from ropespec.conformance.styles.arrays import Space
from ropespec.conformance.styles.base import Setting
from ropespec.conformance.styles.choice import EAGER, NoStyleError, bound
from ropespec.conformance.styles.known.flax import STYLE as FLAX
from ropespec.conformance.styles.model import Model
from ropespec.conformance.styles.runs import MANY, by_runs, runs_of
from ropespec.conformance.styles.signature import Callee

POSITIONS = np.array([[3, 4, 5, 9, 1], [0, 1, 2, 3, 4]])
HERE = sys.modules[__name__]


def half(x, positions, base=10000.0):
    """Rotate halves of (B, S, H, D)."""
    return reference.apply_rotary(x, positions, interleaved=False, base=base).astype(x.dtype)


class Layer:
    """As a layer of Keras: called through a wrapper that takes anything, and casts x."""

    def __init__(self, max_wavelength=10000, dtype="float64", **kwargs):
        self.base, self.dtype = max_wavelength, dtype
        assert not kwargs

    def __call__(self, *args, **kwargs):
        """Hand on."""
        return self.call(*args, **kwargs)

    def call(self, inputs, start_index=0, positions=None):
        """Rotate."""
        assert start_index == 0
        return half(inputs.astype(self.dtype), positions, self.base)


class LayerAhead(Layer):
    """Is one ahead."""

    def call(self, inputs, start_index=0, positions=None):
        """Rotate by the next position."""
        return super().call(inputs, start_index, positions + 1)


class Linen:
    """As a module of linen: applied to variables, and not called."""

    def __init__(self, base=10000.0, parent=None):
        self.base = base
        assert parent is None

    def __call__(self, x, positions):
        """Rotate."""
        return half(x, positions, self.base)

    def apply(self, variables, x, positions):
        """Call it with variables."""
        assert variables == {}
        return self(x, positions)


class LinenBack(Linen):
    """Turns the other way."""

    def __call__(self, x, positions):
        """Rotate."""
        return half(x, -positions, self.base)


class Nnx:
    """As a module of nnx, made of sizes."""

    def __init__(self, head_dim, theta=10000.0):
        self.head_dim, self.theta = head_dim, theta

    def __call__(self, x, positions):
        """Rotate."""
        assert x.shape[-1] == self.head_dim
        return half(x, positions, self.theta)


class Session:
    """As ONNX Runtime runs a model of the operator RotaryEmbedding."""

    swapped = False

    def __init__(self, file):
        assert file.endswith(".onnx")

    def get_inputs(self):
        """Say what it takes."""
        shapes = {"X": ["b", 3, "s", 8], "cos_cache": ["p", 4], "sin_cache": ["p", 4]}
        kinds = dict.fromkeys(shapes, "tensor(float)") | {"position_ids": "tensor(int64)"}
        shapes["position_ids"] = ["b", "s"]
        return [SimpleNamespace(name=n, type=kinds[n], shape=shapes[n]) for n in shapes]

    def run(self, outputs, given):
        """Rotate (B, H, S, D)."""
        assert outputs is None
        assert given["position_ids"].dtype == np.int64
        rows = (given[name][given["position_ids"]][:, None] for name in ("cos_cache", "sin_cache"))
        cos, sin = reversed([*rows]) if self.swapped else rows
        a, b = np.split(given["X"], 2, -1)
        return [np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)]


class Swapped(Session):
    """Takes the tables in the other order."""

    swapped = True


@pytest.fixture
def libraries(monkeypatch):
    """Have the classes above come from the libraries."""
    for kind, home in ((Layer, "keras.fake"), (Linen, "flax.fake"), (Nnx, "flax.fake")):
        monkeypatch.setattr(kind, "__module__", home)
    keras = types.ModuleType("keras")
    keras.backend = SimpleNamespace(backend=lambda: "numpy")
    monkeypatch.setitem(sys.modules, "keras", keras)


def rotated(by, x, positions, **claims):
    """Rotate x (B, S, H, D) as a style does; return the result in this order too."""
    given = {"layouts": [False], **by.binds.claims, "array": "numpy", **claims}
    profile = Profile.from_mapping(given)
    rotate = by.binds.rotation(Setting(profile, Space(FRAMEWORKS["numpy"])))
    if profile.axes == "bhsd":
        return rotate(x.transpose(0, 2, 1, 3), positions).transpose(0, 2, 1, 3)
    return rotate(x, positions)


BY_CLASS = [
    (Layer, "keras", True),
    (LayerAhead, "keras", False),
    (Linen, "flax", True),
    (LinenBack, "flax", False),
    (Nnx, "flax", True),
]


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(("kind", "style", "right"), BY_CLASS)
def test_layers_and_modules(kind, style, right):
    """A right one rotates, under another base and in the dtype of x; a wrong one does not."""
    x = np.random.default_rng(0).standard_normal((2, 5, 3, 8)).astype(np.float32)
    by = bound(Callee.of(kind, kind.__name__, HERE), EAGER)
    y = rotated(by, x, POSITIONS, base=500.0)

    assert by.style == style
    assert y.dtype == x.dtype
    assert np.allclose(y, half(x, POSITIONS, 500.0), atol=1e-5) == right


@pytest.mark.parametrize(("session", "right"), [(Session, True), (Swapped, False)])
def test_a_model_file(session, right, monkeypatch):
    """Its inputs are told by their names, and the tables are of all positions."""
    runtime = types.ModuleType("onnxruntime")
    runtime.InferenceSession = session
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    x = np.random.default_rng(0).standard_normal((2, 5, 3, 8)).astype(np.float32)
    by = bound(Callee(Model("rope.onnx"), "rope.onnx", {}), "onnx")
    y = rotated(by, x, POSITIONS.astype(np.int32))

    assert by.binds.claims["dtypes"] == ["float32"]
    assert by.binds.claims["head_dims"] == [8]
    assert np.allclose(y, half(x, POSITIONS), atol=1e-5) == right


@pytest.mark.parametrize(("sign", "right"), [(1, True), (-1, False)])
def test_fast_rope(sign, right):
    """A function of MLX without a signature is told by where it comes from."""

    def rope(a, dims, *, traditional, base, scale, offset):
        assert (dims, scale) == (8, 1.0)
        where = sign * (offset + np.arange(a.shape[2]))[None]
        y = reference.apply_rotary(
            a.transpose(0, 2, 1, 3), where, interleaved=traditional, base=base
        )
        return y.transpose(0, 2, 1, 3)

    rope.__module__ = "mlx.fake"
    x = np.random.default_rng(0).standard_normal((2, 5, 3, 8)).astype(np.float32)
    by = bound(Callee(rope, "fast.rope", {}), EAGER)
    y = rotated(by, x, POSITIONS, layouts=[False])

    assert by.style == "mlx"
    assert np.allclose(y, half(x, POSITIONS), atol=1e-5) == right


def test_a_style_of_another_library_does_not_fit():
    """A class of nobody's is no module of Flax."""
    callee = Callee.of(Nnx, "Nnx", HERE)

    assert bound(callee, EAGER) is None
    assert FLAX.lacks(callee) == "it is no module of Flax"
    with pytest.raises(NoStyleError, match="no parameter takes offset"):
        bound(callee, "offset")


def test_positions_are_taken_apart_where_they_do_not_count_on():
    """Rows that are alike are one; a fall and a jump end a run, in whatever integers they come."""
    found = runs_of(POSITIONS.astype(np.uint8))
    alike = runs_of(np.array([[7, 8, 9]] * 4))

    assert [[(run.start, run.size) for run in row] for row in found] == [
        [(3, 3), (9, 1), (1, 1)],
        [(0, 5)],
    ]
    assert [[(run.start, run.size, run.rows) for run in row] for row in alike] == [
        [(7, 3, slice(None))]
    ]


@pytest.mark.parametrize("axes", ["bshd", "bhsd", "sbhd"])
def test_many_runs_are_the_rows_of_few_calls(axes):
    """Of hundreds of runs those of one start and size are one call, and each token has its own."""
    calls = []
    there = ["bshd".index(one) for one in axes]
    back = [axes.index(one) for one in "bshd"]

    def part(piece, start):
        piece = piece.transpose(back)
        calls.append(piece.shape[0])
        where = np.arange(start, start + piece.shape[1])[None]
        return half(piece, where).transpose(there)

    x = np.random.default_rng(0).standard_normal((4, 100, 2, 8)).astype(np.float32)
    positions = np.random.default_rng(0).integers(0, 20, (4, 100))
    y = by_runs(part, x.transpose(there), positions, axes, Space(FRAMEWORKS["numpy"]))

    assert sum(calls) > 2 * MANY
    assert len(calls) < sum(calls) / 2
    np.testing.assert_allclose(y.transpose(back), half(x, positions), rtol=0, atol=1e-6)
