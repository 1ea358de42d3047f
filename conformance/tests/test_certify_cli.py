"""The command `ropespec certify`, with workers of Dask on this machine."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from ropespec.conformance.builtin import builtin_profile
from ropespec.conformance.certify import cluster
from ropespec.conformance.cli.certify import certify_command
from ropespec.conformance.cli.status import CONFORMS, FAILS, INTERRUPTED, UNUSABLE
from ropespec.conformance.report.certificate import certificate_schema

VALIDATOR = Draft202012Validator(certificate_schema())

SLOW = """
import time
from pathlib import Path

import numpy as np

PROFILE = {"interleaved": False, "head_dim": 8, "max_tokens": 64, "max_position": 4095}


def apply(x, positions):
    time.sleep(0.05)
    n = x.shape[-1]
    angle = positions[..., None, None] * 10000.0 ** (-np.arange(0, n, 2) / n)
    a, b = np.split(x.astype(np.float64), 2, -1)
    cos, sin = np.cos(angle), np.sin(angle)
    y = np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)
    return y.astype(x.dtype)


def wrong(x, positions):
    return apply(x, np.minimum(positions, 50))
"""


def invoke(*words):
    """Run the command in this process: a click result whose return value is the status."""
    return CliRunner().invoke(certify_command, [*words], standalone_mode=False)


@pytest.fixture
def slow(tmp_path):
    """Return the file of a subject that takes its time."""
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    return file


def started(*words):
    """Start the command as a process in a session of its own, as a terminal would."""
    return subprocess.Popen(
        [sys.executable, "-m", "ropespec", "certify", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_lines(file, count):
    """Wait until a file has so many lines."""
    for _ in range(600):
        if file.exists() and len(file.read_text().splitlines()) >= count:
            return
        time.sleep(0.1)
    pytest.fail(f"{file} never had {count} lines")


def test_a_range_is_proved(slow, tmp_path):
    """A right subject is proved on workers; the certificate is valid, and no setting is left."""
    file = tmp_path / "certificate.json"
    before = dict(os.environ)
    words = ("--positions", "0:100", "--workers", "1", "--json", str(file))
    done = invoke(f"{slow}:apply", *words)
    assert done.return_value == CONFORMS, done.exception
    assert "proved at all positions 0..99: 1,600 components, none off" in " ".join(
        done.output.split()
    )
    certificate = json.loads(file.read_text())
    VALIDATOR.validate(certificate)
    assert certificate["holds"]
    assert [one["components"] for one in certificate["settings"]] == [1600]
    assert dict(os.environ) == before
    assert not file.with_name("certificate.json.progress").exists()


def test_a_range_with_a_mistake_is_not(slow):
    """A wrong subject ends with the status of what fails, and the first position that is off."""
    done = invoke(f"{slow}:wrong", "--positions", "0:100", "--workers", "1")
    assert done.return_value == FAILS
    assert "not proved at positions 0..99" in " ".join(done.output.split())
    assert "first at 51" in " ".join(done.output.split())


def test_a_lost_worker_loses_nothing(slow, tmp_path):
    """A worker that is killed in the middle changes nothing of what is found."""
    file = tmp_path / "certificate.json"
    words = (f"{slow}:apply", "--workers", "2", "--positions", "0:3000", "--json", str(file))
    process = started(*words)
    wait_for_lines(tmp_path / "certificate.json.progress", 3)
    children = psutil.Process(process.pid).children(recursive=True)
    workers = [one for one in children if any("spawn_main" in word for word in one.cmdline())]
    workers[-1].kill()
    _, told = process.communicate(timeout=120)
    assert process.returncode == CONFORMS, told
    assert json.loads(file.read_text())["settings"][0]["components"] == 3000 * 16


def test_an_interrupted_run_goes_on(slow, tmp_path):
    """Ctrl-C is one line and keeps what is done; the same command does the rest."""
    file = tmp_path / "certificate.json"
    words = (f"{slow}:apply", "--workers", "1", "--positions", "0:3000", "--json", str(file))
    process = started(*words)
    kept = tmp_path / "certificate.json.progress"
    wait_for_lines(kept, 3)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, told
    assert "Traceback" not in told
    assert f"what is done is kept in {kept}; the same command goes on from there" in told
    assert not file.exists()
    again = started(*words)
    _, told = again.communicate(timeout=120)
    assert again.returncode == CONFORMS, told
    certificate = json.loads(file.read_text())
    VALIDATOR.validate(certificate)
    assert certificate["blocks_done_before"] >= 2
    assert certificate["settings"][0]["components"] == 3000 * 16


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--positions", "5"), "must be START:STOP with START below STOP, two integers; got '5'"),
        (("--positions", "9:9"), "must be START:STOP with START below STOP"),
        (("--positions", "a:b"), "must be START:STOP with START below STOP"),
        (("--positions", f"0:{2**70}"), "must be within 2^62 of 0"),
        (("--workers", "0"), "0 is not in the range x>=1"),
        (("--workers", "1", "--scheduler", "x"), "leave one out"),
    ],
)
def test_bad_options_are_one_line(slow, words, said):
    """What cannot be is refused before anything is loaded."""
    done = invoke(f"{slow}:apply", *words)
    assert done.exception.exit_code == UNUSABLE
    assert said in done.exception.format_message()


def test_a_scheduler_that_does_not_answer_is_one_line(slow, monkeypatch):
    """An address where nobody listens is a call that cannot be used."""
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    address = "tcp://127.0.0.1:9"
    done = invoke(f"{slow}:apply", "--positions", "0:10", "--scheduler", address)
    assert done.exception.exit_code == UNUSABLE
    assert f"--scheduler: {address} does not answer" in done.exception.format_message()


def test_without_dask_it_says_what_to_install(slow, monkeypatch):
    """Dask is an extra; without it the command is one line with the remedy."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = invoke(f"{slow}:apply", "--positions", "0:10")
    assert done.exception.exit_code == UNUSABLE
    assert "pip install 'ropespec[certify]'" in done.exception.format_message()


@pytest.mark.parametrize("name", ["numpy", "torch", "jax"])
def test_the_certificates_of_the_backends_are_valid_and_whole(name):
    """Each kept certificate is of all positions below 2^17, and holds."""
    file = Path(__file__).parents[1] / "certificates" / f"{name}.json"
    certificate = json.loads(file.read_text())
    VALIDATOR.validate(certificate)
    assert certificate["holds"]
    assert certificate["positions"] == {"start": 0, "stop": 2**17}
    profile = builtin_profile(name)
    made = [(one["dtype"], one["interleaved"]) for one in certificate["settings"]]
    assert made == list(itertools.product(profile.dtypes, profile.layouts))
