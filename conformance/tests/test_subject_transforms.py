"""Transforms and given memory as the worker makes them."""

from pathlib import Path

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.frameworks import framework_named
from ropespec.conformance.subject.into import KINDS, place
from ropespec.conformance.subject.session import NotPossible, Session, SubjectError, load
from ropespec.conformance.subject.views import GAPS

SUBJECTS = Path(__file__).parent / "subjects"
X = np.random.default_rng(0).standard_normal((2, 3, 4, 8)).astype(np.float32)
C = np.random.default_rng(1).standard_normal((2, 3, 4, 8)).astype(np.float32)
U = np.random.default_rng(2).standard_normal((2, 3, 4, 8)).astype(np.float32)
POSITIONS = np.array([[1, 7, 0], [9, 2, 30]])
FRAMEWORKS = ("torch", "jax", "mlx")


def turned(x, positions):
    """Turn half-split, literally."""
    return reference.apply_rotary(x, positions, interleaved=False)


def session(target, array):
    """Start a worker for a file of the subjects."""
    pytest.importorskip(array)
    return Session(load(f"{SUBJECTS}/{target}"), Profile(layouts=(False,), array=array))


@pytest.fixture(params=FRAMEWORKS)
def subject(request):
    """A right rotation in the framework."""
    with session(f"{request.param}_half.py:api", request.param) as found:
        yield found


def test_forward_mode_gives_value_and_tangent(subject):
    """jvp is (f(x), f(t))."""
    y, tangent = subject.transform("jvp", "apply_rotary", [X, POSITIONS], [U]).values

    assert np.allclose(y, turned(X, POSITIONS), atol=1e-5)
    assert np.allclose(tangent, turned(U, POSITIONS), atol=1e-5)


def test_the_second_derivative_turns_forward_and_does_not_depend_on_x(subject):
    """With respect to the cotangent it is f(u), with respect to x zero."""
    by_c, by_x = subject.transform("second", "apply_rotary", [X, POSITIONS], [C, U]).values

    assert np.allclose(by_c, turned(U, POSITIONS), atol=1e-5)
    assert not by_x.any()


def test_vmap_maps_what_it_is_told_to(subject):
    """Both arguments, one of them, and x along another axis than the first."""
    xs, places = np.stack([X, U]), np.stack([POSITIONS, POSITIONS + 3])
    for axes, given, expected in (
        ((0, 0), (xs, places), [turned(X, places[0]), turned(U, places[1])]),
        ((0, None), (xs, POSITIONS), [turned(X, POSITIONS), turned(U, POSITIONS)]),
        ((None, 0), (X, places), [turned(X, places[0]), turned(X, places[1])]),
        ((1, None), (np.stack([X, U], 1), POSITIONS), [turned(v, POSITIONS) for v in (X, U)]),
    ):
        (got,) = subject.transform("vmap", "apply_rotary", list(given), axes=axes).values

        assert np.allclose(got, np.stack(expected), atol=1e-5)


def test_what_was_compiled_is_used_again_and_has_a_gradient(subject):
    """Value and gradient, at other positions too."""
    for where in (POSITIONS, POSITIONS + 5):
        y, back = subject.transform("compiled", "apply_rotary", [X, where], [C]).values

        assert np.allclose(y, turned(X, where), atol=1e-5)
        assert np.allclose(back, turned(C, -where), atol=1e-5)


def test_every_shape_is_traced():
    """What torch would only call, for it has traced the function often enough, is traced too."""
    with session("torch_half.py:told_apart", "torch") as found:
        for heads in range(1, 11):
            x, c = X[:, :, :1].repeat(heads, 2), C[:, :, :1].repeat(heads, 2)
            y, back = found.transform("compiled", "apply_rotary", [x, POSITIONS], [c]).values

            assert np.array_equal(y, 2 * x), heads
            assert np.array_equal(back, 2 * c), heads


def test_numpy_has_no_transforms():
    """To ask for one is answered in a line."""
    with session("half_numpy.py:apply", "numpy") as found:
        with pytest.raises(NotPossible, match="^numpy has no transforms$"):
            found.transform("jvp", "apply_rotary", [X, POSITIONS], [U])
        assert np.allclose(found.rotate(X, POSITIONS).y, turned(X, POSITIONS), atol=1e-5)


@pytest.mark.parametrize(
    ("target", "array", "transform", "words"),
    [
        ("torch_refusing.py:reads_positions", "torch", "vmap", "torch vmap raises RuntimeError: "),
        ("torch_refusing.py:once", "torch", "second", "trying to differentiate twice"),
        ("torch_refusing.py:once", "torch", "jvp", "torch jvp raises RuntimeError: "),
        ("torch_refusing.py:leaves_torch", "torch", "second", "autograd finds no way"),
        ("jax_refusing.py:reads_positions", "jax", "compiled", "TracerBoolConversionError"),
        ("jax_refusing.py:reads_positions", "jax", "vmap", "TracerBoolConversionError"),
    ],
)
def test_a_refusal_is_told_apart_from_a_number(target, array, transform, words):
    """What is raised under a transform is said; the plain call goes on."""
    extra = {"second": [C, U], "vmap": []}.get(transform, [U])
    axes = (None, 0) if transform == "vmap" else ()
    where = np.stack([POSITIONS] * 2) if transform == "vmap" else POSITIONS
    with session(target, array) as found:
        with pytest.raises(NotPossible, match=words):
            found.transform(transform, "apply_rotary", [X, where], extra, axes=axes)
        assert np.allclose(found.rotate(X, POSITIONS).y, turned(X, POSITIONS), atol=1e-5)


def test_what_is_kept_from_a_trace_shows_in_the_plain_call():
    """A traced value that a later call uses raises there, and that is no refusal."""
    with session("jax_refusing.py:keeps_what_was_traced", "jax") as found:
        found.rotate(X, POSITIONS)
        found.transform("compiled", "apply_rotary", [X, POSITIONS], [C])
        with pytest.raises(SubjectError, match="UnexpectedTracerError") as caught:
            found.rotate(X, POSITIONS)

    assert not isinstance(caught.value, NotPossible)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_every_kind_of_memory(name, kind):
    """Where out lies, and what it shares with x; nothing is written while it is made."""
    framework = framework_named(name, None)
    made = framework.argument(X, GAPS if kind == "self" else "")
    found = place(framework, made, X, kind)
    x, out = (np.asarray(item) for item in (found.x, found.out))

    assert x.shape == out.shape == X.shape
    assert np.array_equal(x, X)
    assert np.shares_memory(x, out) == (kind in ("self", "shifted"))
    assert out.flags.c_contiguous == (kind in ("new", "shifted"))
    assert (0 in out.strides) == (kind == "folded")
    assert not found.outside()
    if kind == "strided":
        found.watched.backing[0, 0, 0, 1] = 1.0
        assert found.outside()


def test_memory_of_a_kind_that_is_not_known():
    """The name is told, and so are the names there are."""
    framework = framework_named("numpy", None)
    with pytest.raises(ValueError, match="kind must be one of new, strided, self"):
        place(framework, framework.argument(X), X, "elsewhere")


def test_a_result_in_out_is_told_apart_from_another_one():
    """`is_out` holds for the array that was given, and for no copy of it."""
    folder = "ropespec.conformance.zoo.into"
    for name, is_out in (("writes_into_out", True), ("ignores_out", False)):
        with Session(load(f"{folder}:{name}"), Profile(layouts=(False,))) as found:
            assert "out" in found.offers["apply_rotary"].keywords
            for kind in ("new", "strided", "self"):
                reply = found.into("apply_rotary", [X, POSITIONS], kind, strided=kind == "self")

                assert np.allclose(reply.values[0], turned(X, POSITIONS), atol=1e-5)
                assert (reply.is_out, reply.outside) == (is_out, False)
                assert reply.written[0] == (is_out and kind == "self")


def test_compiling_leaves_nothing_in_the_folder_for_temporary_files(tmp_path, monkeypatch):
    """The compiler's folder, which torch makes for code that is never generated, is not left."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    with session("torch_half.py:api", "torch") as subject:
        for _ in range(2):
            y, _ = subject.transform("compiled", "apply_rotary", [X, POSITIONS], [C]).values
            assert np.allclose(y, turned(X, POSITIONS), atol=1e-5)

    assert list(tmp_path.iterdir()) == []
