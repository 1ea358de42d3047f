"""Functions of MLX: arrays as a worker makes them, verdicts, and scripts that show a failure."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ropespec.conformance.cli.check import check_command
from ropespec.conformance.profile import Profile
from ropespec.conformance.report import proof
from ropespec.conformance.subject.errors import NotPossible, TargetUnusable
from ropespec.conformance.subject.frameworks import framework_named, framework_of
from ropespec.conformance.subject.into import place
from ropespec.conformance.subject.session import NotDifferentiable, Session, load
from ropespec.spec.errors import dtype_name

mx = pytest.importorskip("mlx.core", reason="MLX is not installed", exc_type=ImportError)
ml_dtypes = pytest.importorskip("ml_dtypes")

SUBJECTS = Path(__file__).parent / "subjects"
X = np.random.default_rng(0).standard_normal((2, 3, 4, 8)).astype(np.float32)
POSITIONS = np.array([[1, 7, 0], [9, 2, 30]])


def session(name, **claims):
    """Start a worker for a function of the subjects."""
    profile = Profile(layouts=(False,), array="mlx", **claims)
    return Session(load(f"{SUBJECTS}/mlx_half.py:{name}"), profile)


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "int32", "int64", "bool"]
)
def test_arguments_keep_dtype_and_values(dtype, strided):
    """Positions stay int64, and float64 stays what it is on the CPU."""
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    sent = np.random.default_rng(0).integers(-9, 9, X.shape).astype(kind)
    made = framework_named("mlx", "cpu").argument(sent, view="gaps" if strided else "")

    assert framework_of(made.array) == "mlx"
    assert dtype_name(made.array.dtype) == dtype
    assert made.read(made.array).dtype == sent.dtype
    assert np.array_equal(made.read(made.array), sent)
    assert not made.written()


def test_writing_is_noticed():
    """An element that is assigned is another value of the same array."""
    made = framework_named("mlx", None).argument(X)
    made.array[0, 1, 2, 3] = 5.0

    assert made.written()


def test_memory_that_is_shared_cannot_be_made():
    """A view has no memory in common with its buffer, so that a call of such memory is skipped."""
    made = framework_named("mlx", None)
    for kind in ("shifted", "folded"):
        with pytest.raises(NotPossible, match="MLX arrays share no memory"):
            place(made, made.argument(X), X, kind)


def test_a_device_that_is_not_there():
    """The two that there may be are named."""
    with pytest.raises(TargetUnusable, match="mlx cannot use device 'tpu' here: its devices are"):
        framework_named("mlx", "tpu")


def test_what_leaves_mlx_is_not_differentiable():
    """The gradient of a result in NumPy is refused, and said to be."""
    with session("as_numpy") as subject:
        with pytest.raises(NotDifferentiable, match="the result is no MLX array but ndarray"):
            subject.rotate_vjp(X, POSITIONS, X)
        assert subject.rotate(X, POSITIONS).reply.is_array == (False,)


def test_memory_that_is_filled_anew_is_read_anew():
    """An array that is assigned to between two calls counts as it is by then."""
    with session("apply") as subject:
        again = subject.rotate_refilled((X, POSITIONS), (X[::-1].copy(), POSITIONS[::-1].copy()))
        assert np.array_equal(again.y, subject.rotate(X[::-1], POSITIONS[::-1]).y)


def check(name, *arguments, folder):
    """Run the command; return the status and the document."""
    file = folder / "verdict.json"
    target = f"{SUBJECTS}/mlx_half.py:{name}"
    done = CliRunner().invoke(
        check_command, [target, "--json", str(file), *arguments], standalone_mode=False
    )
    return done.return_value, json.loads(file.read_text(encoding="utf-8"))


ONLY = [
    word for one in ("ROT-1", "ROT-7", "ROT-17", "ROT-19", "ROT-20") for word in ("--only", one)
]


@pytest.mark.parametrize("device", [[], ["--device", "cpu", "--dtype", "float16"]])
def test_a_right_one_conforms(tmp_path, device):
    """Its numbers are right, gradients and strided views among them, in every dtype it claims."""
    status, found = check("apply", *ONLY, *device, folder=tmp_path)

    assert (status, found["numbers"], found["contract"]) == (0, "right", "kept")
    passed = {one["id"] for one in found["checks"] if one["status"] == "pass"}
    assert {"ROT-17.unwritten", "ROT-19.strides", "ROT-19.refilled", "ROT-20.gradient"} <= passed
    assert found["environment"]["mlx"] == mx.__version__


def shown(found, folder):
    """Run the scripts of a document; return what each expected and what it got."""
    for one in found["checks"]:
        if one["counterexample"] and (script := one["counterexample"]["script"]):
            status, out, errors = proof.run(script, folder, 60.0)
            *_, expected, _, got = out.splitlines()[-1].split()
            assert (status, errors) == (0, "")
            yield one["id"], (float(expected), float(got))


def test_a_wrong_one_is_named_and_scripts_show_it(tmp_path):
    """Each script runs with MLX alone, and ends in what was expected and what was got."""
    status, found = check("backwards", *ONLY, folder=tmp_path)
    expected, got = dict(shown(found, tmp_path))["ROT-1.direction"]

    assert (status, found["numbers"]) == (1, "wrong")
    assert found["diagnosis"][0]["id"] == "S1"
    assert abs(expected - got) > 0.1


def test_a_wrong_gradient_is_shown_by_a_script(tmp_path):
    """The numbers are right, and the step back is shown to rotate the wrong way."""
    status, found = check("wrong_gradient", "--only", "ROT-20.gradient", folder=tmp_path)
    expected, got = dict(shown(found, tmp_path))["ROT-20.gradient"]

    assert (status, found["contract"]) == (1, "broken")
    assert abs(expected - got) > 0.01


def test_a_script_hands_over_half_precision_on_a_device(tmp_path):
    """bfloat16 is bfloat16 there as well, on the device that is claimed."""
    options = ["--only", "ROT-1.direction", "--dtype", "bfloat16", "--device", "cpu"]
    _, found = check("backwards", *options, folder=tmp_path)
    script = next(
        one["counterexample"]["script"] for one in found["checks"] if one["counterexample"]
    )

    assert "dtype=mx.bfloat16" in script
    assert "mx.set_default_device(mx.cpu)" in script
    assert proof.run(script, tmp_path, 60.0)[0] == 0


def test_what_overwrites_x_is_shown_to(tmp_path):
    """An assignment to x is seen, and the script looks at x after the call."""
    _, found = check("in_place", "--only", "ROT-17.unwritten", folder=tmp_path)
    (one,) = found["checks"]

    assert one["message"] == "x was overwritten by the call"
    out = proof.run(one["counterexample"]["script"], tmp_path, 60.0)[1]
    assert out.splitlines()[-1] == "x after the call: expected as before got changed"
