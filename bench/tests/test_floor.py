import platform
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "floor.c"
TARGET = ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512bf16", "-mfma", "-mf16c"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="written for AVX-512")
def test_the_loop_in_c_compiles_without_a_warning(tmp_path):
    """As its first lines say, for the processor that they name; it runs only on such a one."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc here")
    flags = ["-Wall", "-Werror", "-O1", "-ffp-contract=off", "-fopenmp", "-c", *TARGET]
    command = [compiler, *flags, str(SOURCE), "-o", str(tmp_path / "floor.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
