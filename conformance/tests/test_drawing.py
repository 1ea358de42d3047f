"""What is drawn: every option of a case, each case once, and as many as were asked for."""

import math

import pytest

from ropespec.conformance.case import Space
from ropespec.conformance.drawing import cases
from ropespec.conformance.judge.finding import held
from ropespec.conformance.judge.values import POSITIONS, VALUES
from ropespec.conformance.profile import Profile
from ropespec.conformance.search import Search

KEYWORDS = frozenset({"interleaved", "base", "rotary_dim"})


def drawn(claims, space, *, most=400):
    """Return the cases that a search judges of a right subject, under claims."""
    seen = []
    search = Search(patience=math.inf)

    def body(case):
        seen.append(case)
        search.outcomes[case] = held()

    profile = Profile(**{"layouts": (False, True), **claims})
    search.run(cases(profile, KEYWORDS, space), body, 0, most)
    return seen


SPACE = Space(values=VALUES, positions=POSITIONS, strided=True)


def test_every_option_of_a_case_is_drawn():
    """What is chosen by bytes is chosen from the whole of each list."""
    dims, dtypes = tuple(range(2, 602, 2)), ("float32", "float16")  # more than a byte tells apart
    found = drawn({"head_dims": dims, "dtypes": dtypes}, SPACE)

    assert {case.positions for case in found} == set(POSITIONS)
    assert {case.values for case in found} == set(VALUES)
    assert {case.dtype for case in found} == set(dtypes)
    assert {case.strided for case in found} == {True, False}
    assert {case.convention.keywords["interleaved"] for case in found} == {True, False}
    assert len({case.convention.keywords["base"] for case in found}) == 4
    assert {case.convention.keywords["rotary_dim"] is None for case in found} == {True, False}
    assert {case.batch for case in found} == {1, 2, 3}
    assert {case.seq for case in found} == {1, 2, 3, 5, 8, 17}
    assert {case.heads for case in found} == {1, 2, 3, 4}
    assert max(case.head_dim for case in found) > 512
    assert len({case.head_dim for case in found}) > 100


def test_positions_start_near_far_and_at_the_end():
    """Each way to choose where they start comes up, and the farthest has room for all tokens."""
    starts = [case.start for case in drawn({"max_position": 10**6}, SPACE)]

    assert min(starts) == 0
    assert sum(start <= 16 for start in starts) > 50
    assert 256 in starts
    assert sum(start > 4096 for start in starts) > 50
    assert max(starts) == 10**6 - 17


@pytest.mark.parametrize("most", [12, 24, 100])
@pytest.mark.parametrize("limit", [1, 16, 300, 2**63 - 1])
def test_as_many_cases_are_judged_as_were_asked_for(most, limit):
    """One that was judged is drawn again, where there are few: another is judged for it."""
    found = drawn({"head_dims": (8,), "max_position": limit}, Space(), most=most)

    assert len(found) == most
    assert len(set(found)) == most


def test_no_more_tokens_are_drawn_than_a_call_may_have():
    """The sequence is shortened first, and then the batch."""
    found = drawn({"max_tokens": 4}, SPACE)

    assert {case.batch * case.seq for case in found} == {1, 2, 3, 4}
