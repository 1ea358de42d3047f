"""DTensors over two processes of gloo: shards with global positions are the whole, bit for bit."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

RANKS = 2
SCRIPT = Path(__file__).parent / "torch_sharding_ranks.py"

pytestmark = pytest.mark.skipif(
    not (torch.distributed.is_available() and torch.distributed.is_gloo_available()),
    reason="torch was built without gloo",
)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Start the ranks, wait for all of them, and return what each one printed."""
    meeting = tmp_path_factory.mktemp("gloo") / "meeting"
    ranks = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), str(rank), str(RANKS), str(meeting)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(RANKS)
    ]
    try:
        said = [rank.communicate(timeout=120) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    for rank, (_, trouble) in zip(ranks, said, strict=True):
        assert rank.returncode == 0, trouble
    return [json.loads(out.splitlines()[-1])["held"] for out, _ in said]


def broken(reports, *words):
    """Return the comparisons with one of these words that did not hold, and assert there are some.

    `words` empty stands for all.
    """
    some = [{k: v for k, v in one.items() if not words or k.startswith(words)} for one in reports]
    assert all(some)
    return [(rank, name) for rank, one in enumerate(some) for name, held in one.items() if not held]


@pytest.mark.parametrize("axis", ["batch", "sequence", "heads"])
def test_shards_of_an_axis_are_the_whole_bit_for_bit(reports, axis):
    """Equal and unequal shards, in every form of positions, with the placements of x."""
    assert broken(reports, axis) == []


def test_every_form_and_length_was_compared(reports):
    """Two lengths, two dtypes, two layouts, positions of two shapes in five forms, on each rank."""
    names = [name for name in reports[0] if name.startswith("sequence ")]

    assert len(names) == 2 * 2 * 2 * 2 * 5
    assert [list(one) for one in reports] == [list(reports[0])] * RANKS


def test_the_gradient_of_shards_is_that_of_the_whole(reports):
    """It has the placements of x."""
    assert broken(reports, "gradient") == []


def test_shards_cut_by_hand_take_the_positions_of_their_tokens(reports):
    """Without a DTensor the caller cuts the positions; local ones are right on rank 0 alone."""
    assert broken(reports, "by hand", "local positions") == []


def test_the_other_forms_take_shards_too(reports):
    """Dense, complex, by tables, with a tail, into `out` and in place."""
    names = ("tail", "complex", "dense", "tables", "cut tables", "out", "in place", "x holds")

    assert broken(reports, *names) == []


def test_placements_that_cut_pairs_or_sums_are_gathered(reports):
    """Components and partial sums; an empty shard; a wrong length, refused by its global shape."""
    names = ("components", "in place by", "partial sums", "an empty shard", "wrong length")

    assert broken(reports, *names) == []


def test_a_mesh_of_two_axes_cuts_batch_and_sequence(reports):
    """Positions (B, S) follow both of them."""
    assert broken(reports, "batch and sequence") == []


def test_nothing_else_fails(reports):
    """No comparison is left out of the tests above."""
    assert broken(reports) == []


def test_plain_tensors_load_nothing_of_dtensor():
    """Only who has made a DTensor has loaded its module."""
    code = (
        "import sys, torch; from ropespec.backends.torch import apply_rotary; "
        "apply_rotary(torch.nn.Parameter(torch.ones(1, 1, 2)), [1], interleaved=True); "
        "print('torch.distributed.tensor' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
