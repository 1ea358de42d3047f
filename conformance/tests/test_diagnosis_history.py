"""What is kept of earlier calls is told by what it is kept for."""

import pytest

from ropespec.conformance.runner import Plan, run
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.zoo import zoo

KEPT = {one.name: one for one in zoo()}


@pytest.mark.parametrize(
    ("name", "called", "what", "where"),
    [
        ("one_entry_by_ends", "stale positions", "with these ends since another", "every call"),
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
    assert where in one.where
