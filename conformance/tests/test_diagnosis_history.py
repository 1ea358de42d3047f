"""What is kept of earlier calls is told by what it is kept for."""

from dataclasses import replace

import numpy as np
import pytest

from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.before import HISTORY
from ropespec.conformance.diagnosis.feature import dtype_of
from ropespec.conformance.profile import Profile
from ropespec.conformance.runner import Plan, run
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.zoo import zoo

KEPT = {one.name: one for one in zoo()}


@pytest.mark.parametrize(
    ("name", "called", "what", "where"),
    [
        (
            "one_entry_by_largest",
            "stale positions",
            "with this largest position of all since another",
            "every call",
        ),
        ("one_entry_by_ends", "stale positions", "with these ends since another", "every call"),
        (
            "rows_of_the_call_that_adds_them",
            "stale dtype",
            "that added their rows to a table of 256",
            "every call",
        ),
        ("base_taken_out", "wrong base", "10000 but for the first head_dim", "every call"),
        (
            "tables_of_the_same_time",
            "stale positions",
            "of the first call with this number 0 of each token since another",
            "every call",
        ),
        (
            "state_of_the_first_token",
            "stale positions",
            "counted on from the first token of the call before",
            "every call",
        ),
        (
            "doubled_too_late",
            "table a row short",
            "doubled until that fits",
            "every call",
        ),
        (
            "filled_for_one_call",
            "table filled for one call",
            "the rows before follow once more",
            "every call",
        ),
        (
            "torch_padding_of_zeros",
            "gradient of zeros",
            "where vectors of x are zero",
            "what rot-20.gradient asks",
        ),
        (
            "torch_negates_what_it_kept",
            "gradient changes what it needs",
            "a second time through one call",
            "what rot-20.again asks",
        ),
        ("zeros_for_later", "table filled for one call", "cos and sin are 0", "every call"),
        (
            "table_of_an_earlier_trace",
            "table of an earlier trace",
            "a table of 128, doubled, had when the first call of this shape was made",
            "every call",
        ),
        (
            "gain_once_more",
            "multiplied again",
            "made again, a call comes out 1.27726 times as large",
            "calls that are made again",
        ),
        (
            "eight_entries_by_ends",
            "stale positions",
            "with these ends, of 8 such that are kept; all of them go for one more",
            "every call",
        ),
        (
            "in_the_dtype_before",
            "stale dtype",
            "the dtype of the first call with these positions since another",
            "every call",
        ),
        (
            "blocks_of_the_first_dtype",
            "stale dtype",
            "the dtype of the call that first needed their 256 positions",
            "every call",
        ),
        (
            "frequencies_of_the_first_dtype",
            "stale dtype",
            "frequencies have the dtype of the first call of this head_dim",
            "every call",
        ),
        (
            "doubled_once",
            "table grown too little",
            "a table of 1024 rows, doubled once in a call that needs more, one for each head_dim",
            "every call",
        ),
        ("kept_by_sum", "stale positions", "first call with this sum of positions", "every call"),
        (
            "kept_without_base",
            "base of another call",
            "first call with these positions",
            "every call",
        ),
        (
            "kept_without_layout",
            "tables of the other layout",
            "repeats angles in the other layout",
            "positions that came in the other layout first",
        ),
        (
            "narrowed_for_good",
            "stale dtype",
            "frequencies have the dtype of the narrowest call of this head_dim so far",
            "every call",
        ),
        (
            "tail_of_the_first_call",
            "tail of another call",
            "the tail is that of the first call of this shape",
            "every call",
        ),
        (
            "of_one_size_in_one_dtype",
            "stale dtype",
            "whose largest position has as many bits, 4 at least since another",
            "every call",
        ),
        (
            "unscaled_once_grown",
            "scheme lost to growth",
            "unscaled since the first position from 4096",
            "every call",
        ),
        (
            "kept_without_the_length",
            "scheme of another call",
            "after those of a scheme that differs in length",
            "what scal-1.apart asks",
        ),
        (
            "gain_kept_by_factor",
            "scheme of another call",
            "cos and sin are wrong after those of a scheme that differs in",
            "what scal-8.apart asks",
        ),
        (
            "digits_of_the_first_call",
            "bits of the first call",
            "in as many bits as the farthest of the first of this head_dim",
            "every call",
        ),
        (
            "cached_from_its_offset",
            "moved by earlier calls",
            "what is wrong is rotated by another number",
            "calls",
        ),
        (
            "longer_for_the_next_call",
            "table grown a call late",
            "the last of a table of 2048 rows, doubled for the next call",
            "every call",
        ),
        (
            "as_long_as_its_rows",
            "table as long as one number",
            "a table of 32 rows, at least doubled for number 0",
            "every call",
        ),
        (
            "layout_of_the_first_shape",
            "pairs of another call",
            "of the first call of this shape",
            "every call",
        ),
        (
            "doubled_in_the_first_dtype",
            "stale dtype",
            "cos and sin are rounded to float16",
            "of 512 rows at least, was made or",
        ),
    ],
)
def test_the_key_of_a_cache_is_read_off(name, called, what, where):
    """Sequences of calls have each other's ends, sums, bases, layouts and dtypes."""
    entry = KEPT[name]
    with Session(load(entry.target), entry.profile, timeout=30.0) as session:
        (one, *_) = run(session, Plan(only=entry.killed_by)).diagnosis

    assert one.name == called
    assert what in one.sentence.lower()
    assert where in one.where.lower()


def test_the_dtype_of_a_table_is_that_of_the_call_that_made_it_longer():
    """Calls within the table change nothing; other widths have tables of their own."""
    maker = Maker(Profile.from_mapping({"interleaved": False, "dtypes": ["float32", "bfloat16"]}))

    def call(dtype, position, dim=32):
        return maker.given((1, 2, 1), np.full((1, 2), position), 1, dtype=dtype, dim=dim)

    def of_table(rows, *calls):
        return HISTORY[f"dtype of table {rows}"].of(replace(calls[-1], past=calls[:-1])).item()

    single, half_ = dtype_of(call("float32", 0)), dtype_of(call("bfloat16", 0))
    near, far = call("float32", 5), call("bfloat16", 700)
    assert of_table(0, near, far, near) == half_
    assert of_table(1024, near, far, near) == single
    assert of_table(0, call("bfloat16", 9, dim=64), near) == single
