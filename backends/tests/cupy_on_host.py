"""The CuPy backend over NumPy arrays, its kernels compiled for the host: a subject of the suite."""

import importlib.util
from pathlib import Path

import pytest

from ropespec.backends import cupy as backend

HOST = importlib.util.spec_from_file_location("cupy_host", Path(__file__).with_name("cupy_host.py"))
cupy_host = importlib.util.module_from_spec(HOST)
HOST.loader.exec_module(cupy_host)

FOR_GOOD = pytest.MonkeyPatch()  # the process has no other purpose
KERNELS = ("apply_rotary", "apply_rotary_cos_sin", "apply_rotary_vjp")

PROFILE = {
    "layouts": [True, False],
    "array": "numpy",
    "dtypes": ["float32", "float64", "float16", "bfloat16"],
    "precision": "float64-angles",
    "max_position": 2**31 - 1,
    "refusals": True,
    "constant_tables": True,
}

globals().update({name: getattr(backend, name) for name in backend.__all__})
globals().update({name: cupy_host.over_numpy(FOR_GOOD, getattr(backend, name)) for name in KERNELS})
cupy_host.run_over_numpy(FOR_GOOD)
