"""The tables of the chapter `contract` say what the backends do (API-1, API-2, API-3, ROT-24)."""

import functools
import importlib
import importlib.util
import inspect
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from ropespec.spec import chapter_text
from ropespec.spec.api import RopeAPI
from ropespec.spec.errors import ArgumentTypeError
from spec_reading.results import calls, dtypes_of, expected, host_array
from spec_reading.sections import sections

HOST = importlib.util.spec_from_file_location("cupy_host", Path(__file__).with_name("cupy_host.py"))
cupy_host = importlib.util.module_from_spec(HOST)
HOST.loader.exec_module(cupy_host)

WIDE = ("float64", "complex128")
POSITIONS = [3, -5]


def table(clause):
    """Rows of the table of a clause."""
    (rows,) = next(
        s.tables for s in sections("contract", chapter_text("contract")) if s.key == clause
    )
    return rows


def backend(name):
    return importlib.import_module(f"ropespec.backends.{name}")


def tensor(values, dtype):
    return torch.from_numpy(values).to(getattr(torch, dtype))


def device_array(values, dtype):
    return jnp.asarray(values, dtype=dtype)


def wrong_dtypes(cells, module, make, *, among=lambda _: True):
    """List the calls whose results have other dtypes than their cell says."""
    found = []
    for call in calls():
        if among(call):
            shown = dtypes_of(call, module, make)
            if shown != expected(cells[call.function], call, len(shown)):
                found.append((call.function, call.dtypes, shown))
    return found


def column(head):
    return {row["function"].strip("`"): row[head] for row in table("API-1")}


EVERYWHERE = "reference, NumPy, torch, CuPy"


@pytest.mark.parametrize(("name", "make"), [("numpy", host_array), ("torch", tensor)])
def test_dtypes_of_numpy_and_torch(name, make):
    """API-1: every function, called with every dtype, gives what the table says."""
    assert not wrong_dtypes(column(EVERYWHERE), backend(name), make)


def is_kernel(call):
    return call.function in {"apply_rotary", "apply_rotary_cos_sin"}


def on_host(values, dtype):
    return cupy_host.host_array(host_array(values, dtype))


def test_dtypes_of_cupy(monkeypatch):
    """API-1: the kernels, built for the host, and the rest of the text over NumPy arrays."""
    with monkeypatch.context() as context:
        cupy_host.run_on_host(context)
        assert not wrong_dtypes(column(EVERYWHERE), backend("cupy"), on_host, among=is_kernel)
    cupy_host.run_over_numpy(monkeypatch)
    others = {"among": lambda call: not is_kernel(call)}
    assert not wrong_dtypes(column(EVERYWHERE), backend("cupy"), host_array, **others)


def traced(function):
    """Trace a call without compiling it, which shows the dtypes."""

    def call(**arguments):
        arrays = {name: v for name, v in arguments.items() if isinstance(v, jax.Array)}
        others = {name: v for name, v in arguments.items() if name not in arrays}
        return jax.eval_shape(functools.partial(function, **others), **arrays)

    return call


def test_dtypes_of_jax():
    """API-1: JAX has no float64 unless x64 is switched on, and with x64 all is as in NumPy."""
    module = backend("jax")
    shown = SimpleNamespace(**{name: traced(getattr(module, name)) for name in module.__all__})
    narrow = {"among": lambda call: not set(WIDE) & set(call.dtypes)}
    assert not wrong_dtypes(column("JAX"), shown, device_array, **narrow)
    with jax.enable_x64(True):
        assert not wrong_dtypes(column("JAX with x64"), shown, device_array)


def test_a_backend_of_other_dtypes_is_found():
    """A float32 table, and a half-precision result that was promoted, differ from the table."""
    right = backend("numpy")
    wrong = SimpleNamespace(**{name: getattr(right, name) for name in right.__all__})
    wrong.inv_freq = lambda dim: right.inv_freq(dim).astype(np.float32)
    wrong.apply_rotary = lambda x, positions, **options: right.apply_rotary(
        x.astype(np.float32), positions, **options
    )
    found = {name for name, _, _ in wrong_dtypes(column(EVERYWHERE), wrong, host_array)}

    assert found == {"inv_freq", "apply_rotary"}


def test_functions_that_take_a_device_take_no_array():
    """API-2: `device` belongs to the functions of numbers alone, and to no other."""
    arrays = {"positions", "offsets"}
    with_device = {
        name
        for name in dir(RopeAPI)
        if not name.startswith("_")
        and "device" in inspect.signature(getattr(RopeAPI, name)).parameters
    }
    of_numbers = {
        call.function for call in calls() if not call.arrays and not arrays & set(call.others)
    }
    text = next(s.text for s in sections("contract", chapter_text("contract")) if s.key == "API-2")

    assert with_device == of_numbers
    assert all(f"`{name}`" in text for name in with_device)


REFUSED_DEVICES = {"numpy": 1.5, "torch": 1.5, "jax": "cpu", "cupy": 1.5}


@pytest.mark.parametrize("name", REFUSED_DEVICES)
def test_what_a_device_may_be_is_said_by_the_error(name):
    """API-2: `device` takes what the table says, in the words in which all else is refused."""
    (row,) = (
        row for row in table("API-2") if name in row["implementation"].lower().split(", ")[-1]
    )
    with pytest.raises(ArgumentTypeError) as error:
        backend(name).inv_freq(4, device=REFUSED_DEVICES[name])
    must = row["`device` is None or"]
    assert str(error.value).startswith(f"device must be None or {must}; got ")


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_numbers_alone_lie_on_the_default_device(name):
    """API-2: without `device` the result lies where the expression of the table says."""
    (row,) = (row for row in table("API-2") if row["implementation"].lower() == name)
    said = named(row["default device"].strip("`").removesuffix("()"))
    made = backend(name).inv_freq(4)
    if name == "torch":
        assert made.device == said()
    else:
        assert made.devices() == {said or jax.devices()[0]}


def offers(row, name):
    """Say whether a backend offers what a row is about."""
    module, what = backend(name), row["optional"]
    if what.startswith("`out`"):
        return all(
            "out" in inspect.signature(getattr(module, function)).parameters
            for function in ("apply_rotary", "apply_rotary_cos_sin")
        )
    if what.startswith("`apply_rotary_vjp"):
        function = getattr(module, "apply_rotary_vjp", None)
        return function is not None and _bare_signature(function) == what.strip("`")
    return name in ("torch", "jax") and bool(np.allclose(gradient(name), right_gradient()))


def _bare_signature(function):
    found = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name != "out"]
    return f"{function.__name__}{found.replace(parameters=bare, return_annotation=found.empty)}"


def drawn(seed):
    return np.random.default_rng(seed).standard_normal((2, 1, 4)).astype(np.float32)


def right_gradient():
    back = [-m for m in POSITIONS]
    return backend("numpy").apply_rotary(drawn(1), back, interleaved=True)


def gradient(name):
    """Pull a cotangent back through the framework."""
    rotate = functools.partial(backend(name).apply_rotary, positions=POSITIONS, interleaved=True)
    if name == "jax":
        return jax.vjp(rotate, jnp.asarray(drawn(0)))[1](jnp.asarray(drawn(1)))[0]
    x = torch.from_numpy(drawn(0)).requires_grad_()
    return torch.autograd.grad(rotate(x), x, torch.from_numpy(drawn(1)))[0]


@pytest.mark.parametrize("name", ["NumPy", "torch", "JAX", "CuPy"])
def test_options_are_offered_by_whom_the_table_says(name):
    """API-3: `out`, `apply_rotary_vjp` and gradients, yes or no."""
    for row in table("API-3"):
        assert row[name] == ("yes" if offers(row, name.lower()) else "no"), row["optional"]


def named(path):
    """Return what a dotted name stands for."""
    module, *parts = path.split(".")
    return functools.reduce(getattr, parts, importlib.import_module(module))


def transformed(kind, transform, rotate, make):
    """Return what a transform gives, and what the plain calls give."""
    x, other = (make(drawn(seed)) for seed in (0, 1))
    if kind == "forward mode":
        value, tangent = transform(rotate, (x,), (other,))
        return (value, tangent), (rotate(x), rotate(other))
    if kind == "vmap":
        rows = make(np.stack([drawn(0), drawn(1)]))
        return tuple(transform(rotate)(rows)), (rotate(x), rotate(other))
    compiled = (
        transform(rotate, backend="eager") if transform is torch.compile else transform(rotate)
    )
    return (compiled(x), compiled(other)), (rotate(x), rotate(other))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("framework", ["torch", "JAX"])
@pytest.mark.parametrize("row", table("ROT-24"), ids=lambda row: row["transform"].replace(" ", "-"))
def test_transforms_that_the_table_names_give_what_plain_calls_give(framework, row):
    """ROT-24: every transform of the table exists, and gives values that plain calls give."""
    name = framework.lower()
    rotate = functools.partial(backend(name).apply_rotary, positions=POSITIONS, interleaved=True)
    make = torch.from_numpy if name == "torch" else jnp.asarray
    transform = named(row[framework].strip("`"))
    assert transform.__name__ == row[framework].strip("`").rpartition(".")[2]

    found, plain = transformed(row["transform"], transform, rotate, make)
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
