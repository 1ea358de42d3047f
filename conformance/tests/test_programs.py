"""Programs and libraries in other languages, as subjects."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

from ropespec.conformance.cli import command
from ropespec.conformance.cli.status import CONFORMS, FAILS
from ropespec.conformance.foreign import Library, Program, ProgramError, opened
from ropespec.conformance.foreign.container import packed, unpacked
from ropespec.conformance.foreign.smoke import smoke

FOLDER = Path(__file__).parents[1] / "programs"
CHECKS = ("--only", "ROT-6.value", "--only", "ROT-7.value", "--only", "ROT-16")

SERVES = """
import json, sys
from safetensors import deserialize
from ropespec.conformance.foreign.container import packed, unpacked

def read(size):
    return sys.stdin.buffer.read(size)

while head := read(8):
    asked = unpacked(read(int.from_bytes(head, "little")))
    words = {"sequence": asked.words["sequence"]}
    arrays = {}
    if asked.words["call"] == "describe":
        words |= {"protocol": "1", "name": "served"}
    elif asked.words["call"] in ("rotate", "echo"):
        arrays = {"y": asked.arrays["x"]}
    else:
        words["error"] = "no such call"
    WRONG
    content = packed(arrays, words)
    sys.stdout.buffer.write(len(content).to_bytes(8, "little") + content)
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def served(tmp_path):
    """Return a function that writes a program which does something wrong, and its command."""

    def write(wrong="", name="serves.py"):
        file = tmp_path / name
        file.write_text(SERVES.replace("WRONG", wrong))
        return f"{sys.executable} {file}"

    return write


def compiled(folder, *flags, source=FOLDER / "rope.c", name="rope"):
    """Compile C, or skip."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    program = folder / name
    warned = ("-O2", "-Wall", "-Wextra", "-Werror")
    words = [compiler, *warned, *flags, str(source), "-lm", "-o", str(program)]
    subprocess.run(words, check=True)
    return program


def programs(folder, wrong=None):
    """Yield the commands of both programs, with a replacement made in their sources."""
    for name, run in (("rope.c", None), ("rope.js", shutil.which("node"))):
        text = (FOLDER / name).read_text()
        if wrong is not None:
            assert wrong[0] in text
            text = text.replace(*wrong)
        file = folder / name
        file.write_text(text)
        if name == "rope.c" and shutil.which("cc"):
            yield str(compiled(folder, source=file))
        elif run is not None:
            yield f"{run} {file}"


def invoke(*words):
    """Run the command."""
    return CliRunner().invoke(command, list(words), standalone_mode=False)


def test_a_rotation_in_c_and_one_in_javascript_conform(tmp_path):
    """Both layouts and every dtype, exact positions, NaN and infinities."""
    dtypes = [word for one in ("float32", "bfloat16", "float16") for word in ("--dtype", one)]
    for words in programs(tmp_path):
        done = invoke("check", "--command", words, *dtypes, *CHECKS)
        assert done.return_value == CONFORMS, done.output


def test_a_wrong_one_is_refused_and_named(tmp_path):
    """A sign turned round in C or in JavaScript is named as anywhere, and shown by a script."""
    for words in programs(tmp_path, ("a * s + b * c", "b * c - a * s")):
        file = tmp_path / "verdict.json"
        done = invoke("check", "--command", words, *CHECKS, "--json", str(file))
        assert done.return_value == FAILS, done.output
        verdict = json.loads(file.read_text())
        found = [one["counterexample"] for one in verdict["checks"]]
        scripts = [one["script"] for one in found if one and one["script"]]
        assert verdict["subject"] == f"command:{words}"
        assert any("from ropespec.conformance.foreign import opened" in one for one in scripts)


def test_the_protocol_is_tried_alone(tmp_path):
    """--smoke says what was seen, and both programs pass."""
    for words in programs(tmp_path):
        done = invoke("check", "--command", words, "--smoke")
        assert done.return_value == CONFORMS, done.output
        assert done.output.count("ok: ") == 8
        assert "takes interleaved, base, rotary_dim" in done.output


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("words['sequence'] = '9'", "answered request 9 and not 1"),
        ("words['protocol'] = '7'", "speaks protocol 7, and must speak 1"),
        ("words |= {'keywords': 'scale'}", "says it takes scale; known are interleaved, base"),
        ("words |= {'profile': '{'}", "has a profile that is no JSON"),
        ("words |= {'profile': '[]'}", "has a profile that is no object: []"),
        ("import time; time.sleep(60)", "did not answer within 3 s"),
        ("sys.exit(3)", "ended with status 3 before it answered"),
        ("import os; os.kill(os.getpid(), 9)", "died of signal 9 before it answered"),
        ("import os; os.close(1); read(1)", "closed its standard output before it answered"),
        ("sys.stdout.write('debugging ' * 10)", "its standard output is for replies"),
        (
            "sys.stdout.buffer.write(bytes([9]) + bytes(16))",
            "sent no reply: it is not safetensors",
        ),
        (
            "if arrays: arrays['y'] = arrays['y'].astype('f4') * 0",
            "an echo of float32 came back with other bits",
        ),
        ("if arrays: arrays['y'] = arrays['y'].ravel()", "an echo came back as float32 of shape"),
        ("if arrays: arrays['z'] = arrays['y']", "must answer with y alone; got"),
        ("words.pop('error', 0)", "it must reply with an error"),
    ],
)
def test_what_a_program_does_wrong_is_said(served, wrong, said):
    """Each step of the protocol, by a program that takes it wrongly."""
    done = invoke("check", "--command", served(wrong), "--smoke", "--timeout", "3")
    assert type(done.exception).__name__ == "Unusable"
    assert said in str(done.exception)


def test_an_error_is_a_sentence_and_the_program_goes_on(served):
    """What it cannot do is raised, and the next call is answered; an end is followed by a start."""
    program = Program(served("if arrays and arrays['y'].size == 2: sys.exit(1)"))
    with pytest.raises(ProgramError, match=r"^no such call$"):
        program.ask("nothing")
    x = np.array([np.nan, 1.0, -0.0], np.float32).reshape(1, 1, 1, 3)
    assert program(x, np.zeros((1, 1), np.int64)).tobytes() == x.tobytes()
    with pytest.raises(ProgramError, match="ended with status 1 before it answered"):
        program.echo(x[..., :2])
    assert program.echo(x).tobytes() == x.tobytes()
    program.close()
    assert next(smoke(served(), 30.0)).startswith("describe: served, takes no keyword")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("command:/no/such/program", "/no/such/program cannot be started: No such file"),
        ("command: ", "names nothing: command: is followed by what is to be called"),
        ("c-abi:librope.so", "needs a signature: c-abi:LIBRARY:rope"),
        ("c-abi:/no/lib.so:rope(float* x, int* pos)", "cannot open shared object file"),
    ],
)
def test_what_cannot_be_opened_is_one_line(target, said):
    """No traceback comes out of it, whichever command is asked."""
    for words in (("check", target, "--half"), ("identify", target)):
        done = invoke(*words)
        assert type(done.exception).__name__ == "Unusable"
        assert said in str(done.exception)
        assert "\n" not in str(done.exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("numpy", "--command", "x"), "--command stands in place of TARGET and --c-abi"),
        (("--c-abi", "f(int* x)"), "--c-abi is a function in a library: name its file"),
        (("--command", "a 'b", "--smoke"), "cannot be taken apart: No closing quotation"),
        (("--smoke",), "--smoke tries the protocol of a program; name it with --command"),
    ],
)
def test_options_that_do_not_fit(words, said):
    """They are refused before anything is started."""
    done = invoke("check", *words)
    assert said in str(done.exception)


def test_what_is_not_installed_is_said(tmp_path, monkeypatch):
    """Without the extra one line names it."""
    missing = "raise ModuleNotFoundError('none', name='safetensors')"
    (tmp_path / "safetensors.py").write_text(missing)
    monkeypatch.syspath_prepend(tmp_path)
    done = invoke("check", "--command", "true", "--half")
    assert str(done.exception) == (
        "command:true needs safetensors, which is not installed: pip install 'ropespec[programs]'"
    )


def test_the_source_is_never_written_to(tmp_path, monkeypatch):
    """Neither the file of a program nor that of a library takes the verdict."""
    monkeypatch.chdir(tmp_path)
    for words in (("--command", "./mine"), ("./mine", "--c-abi", "f(float* x, int* pos)")):
        (tmp_path / "mine").write_text("kept")
        done = invoke("check", *words, "--half", "--json", "mine")
        assert "--json: mine is the source that is checked" in str(done.exception)
        assert (tmp_path / "mine").read_text() == "kept"


ROPE = """
#include <math.h>
int rope(float *x, const int *pos, int b, int s, int h, int d, double base) {
    for (int row = 0; row < b * s * h; row++)
        for (int i = 0; i < d / 2; i++) {
            float *p = x + (long)row * d + i, *q = p + d / 2;
            double angle = pos[row / h] * pow(base, -2.0 * i / d), c = cos(angle), s = sin(angle);
            double u = *p, v = *q;
            *p = u * c - v * s, *q = u * s + v * c;
        }
    return b > 1000;
}
void keep(double *y, const double *x, const long *pos, int b, int s, int h, int d) {
    (void)pos;
    for (long i = 0; i < (long)b * s * h * d; i++) y[i] = x[i];
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return a shared library with a right rotation, and one that does nothing."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "rope.c").write_text(ROPE)
    return compiled(folder, "-shared", "-fPIC", source=folder / "rope.c", name="librope.so")


RIGHT = "int rope(float *x, const int *pos, int b, int s, int h, int d, double base)"
STILL = "keep(double *y, const double *x, const long *pos, int b, int s, int h, int d);"


def test_a_library_is_called_by_its_signature(library):
    """A right function conforms, and one that leaves x alone does not."""
    done = invoke("check", str(library), "--c-abi", RIGHT, "--half", *CHECKS)
    assert done.return_value == CONFORMS, done.output
    done = invoke("check", str(library), "--c-abi", STILL, "--half", *CHECKS)
    assert done.return_value == FAILS, done.output


def test_what_a_library_is_not_made_for_raises(library):
    """Another dtype, a position that does not fit, and a status that is not 0."""
    rope = opened(f"c-abi:{library}:{RIGHT}")
    assert (rope.PROFILE, rope.keywords) == ({"dtypes": ["float32"]}, ("base",))
    x = np.zeros((1, 1, 1, 2), np.float32)
    with pytest.raises(TypeError, match="rope takes float32; got float64"):
        rope(x.astype(np.float64), np.zeros((1, 1), np.int64), base=10000.0)
    with pytest.raises(OverflowError, match="rope takes positions of int32"):
        rope(x, np.full((1, 1), 2**31), base=10000.0)
    with pytest.raises(RuntimeError, match="rope returned 1"):
        rope(np.zeros((1001, 1, 1, 2), np.float32), np.zeros((1001, 1), np.int64), base=10000.0)


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        ("rope", "the signature must be like rope(float* y"),
        ("rope(float* x)", "rope has no parameter for positions, one of positions, position"),
        ("rope(int* pos)", "rope has no parameter for x, one of x, in, input, src"),
        ("rope(float* x, int* pos, float z)", "what z is cannot be told; known are b, base"),
        ("rope(float x, int* pos)", "x must be a pointer; got 'float x'"),
        ("rope(float* x, int* pos, int* b)", "b must be no pointer; got 'int* b'"),
        ("rope(char* x, int* pos)", "x must be of float, double, _Float16"),
        ("rope(float* x, float* pos)", "pos must be of int, int32_t, long long"),
        ("rope(float* x, float* in, int* pos)", "rope has two parameters for x"),
        ("rope(float* x, int*)", "a parameter must be a type and a name; got 'int*'"),
        ("none(float* x, int* pos)", "has no function none"),
    ],
)
def test_signatures_that_cannot_be_read(library, signature, said):
    """Each is refused with what it must be."""
    with pytest.raises(ValueError, match=re.escape(said)):
        Library(str(library), signature)


def test_a_message_is_read_as_it_was_written():
    """Every dtype, no elements, and words; what is none says so."""
    arrays = {
        "half": np.arange(4).astype(ml_dtypes.bfloat16).reshape(2, 2),
        "none": np.zeros((2, 0), np.float16),
        "numbers": np.array(7, np.int32),
    }
    found = unpacked(packed(arrays, {"call": "rotate"}))
    assert found.words == {"call": "rotate"}
    for name, array in arrays.items():
        assert (found.arrays[name].dtype, found.arrays[name].shape) == (array.dtype, array.shape)
        assert found.arrays[name].tobytes() == array.tobytes()
    with pytest.raises(ValueError, match="it is not safetensors"):
        unpacked(b"rubbish")
    with pytest.raises(ValueError, match="one is of BOOL, and must be of F64"):
        unpacked(packed({"one": np.array([True])}, {}))
