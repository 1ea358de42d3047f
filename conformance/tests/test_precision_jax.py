"""Every dtype is asked for enough to measure its class, also where each new shape is compiled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")

SUBJECT = Path(__file__).parent / "subjects" / "jax_half.py"
DTYPES = ("float32", "bfloat16", "float16")


def test_angles_of_float32_show_in_every_dtype():
    """A rotation whose angles are float32 is not called better where results are narrow."""
    claimed = [word for dtype in DTYPES for word in ("--dtype", dtype)]
    words = ["check", f"{SUBJECT}:apply", *claimed, "--only", "JDG-3", "--json", "-"]
    done = subprocess.run(
        [sys.executable, "-m", "ropespec", *words], check=True, capture_output=True
    )

    assert json.loads(done.stdout)["precision_by_dtype"] == dict.fromkeys(DTYPES, "float32-angles")
