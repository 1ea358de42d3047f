"""The input space: tables of levels, rows that cover them, and what a verdict says of it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from ropespec.conformance.builtin import builtin_profile
from ropespec.conformance.coverage.array import PAIRS, TRIPLES, Table, combined
from ropespec.conformance.coverage.attending import MASKS, Place, attention_table, masked
from ropespec.conformance.coverage.large import Block, large_cases
from ropespec.conformance.coverage.left_out import left_out
from ropespec.conformance.coverage.levels import ALL, rotation_table, views_of_positions, views_of_x
from ropespec.conformance.coverage.positions import LAST, blocks, units_of, unsettled
from ropespec.conformance.coverage.rows import inputs, walk_of
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.precision import ladder
from ropespec.conformance.judge.values import VALUES
from ropespec.conformance.profile import Profile
from ropespec.conformance.runner import Plan, run, run_check, select
from ropespec.conformance.subject.frameworks import framework_named
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.subject.views import same_along
from ropespec.conformance.trial import Trial
from ropespec.conformance.zoo import Wrong, zoo
from ropespec.spec.scaling import LongRope, has_frequencies

PROFILE = Profile(layouts=(False,), dtypes=("float32", "bfloat16"), head_dims=(2, 8, 16, 64))
TAKES = frozenset({"base", "rotary_dim"})
SMALL = Table((("a", (1, True)), ("b", (0, 1.0, "1")), ("c", ("x",)), ("d", (1, 2, 3, 4))))


def usual(profile=PROFILE):
    """Return a small case of a profile."""
    table = rotation_table(profile, TAKES, values=("normal",))
    return walk_of(table, profile, interleaved=profile.layouts[0], seed=0).rows[0].case


@pytest.mark.parametrize("strength", [PAIRS, TRIPLES])
def test_rows_hold_every_combination_of_levels(strength):
    """Nothing that can be combined is left out, also of levels that are equal and not the same."""
    rows = SMALL.rows(strength)
    levels = [[(name, place) for place in range(len(some))] for name, some in SMALL.dimensions]
    held = {
        frozenset((name, type(row[name]), row[name]) for name in names)
        for row in rows
        for names in itertools.combinations(dict(SMALL.dimensions), strength)
    }

    wanted = sum(
        len(list(itertools.product(*of))) for of in itertools.combinations(levels, strength)
    )
    assert len(held) == wanted == SMALL.count(strength)


def test_the_first_row_is_the_simplest():
    """A report begins with what is easily read."""
    assert SMALL.rows()[0] == {name: some[0] for name, some in SMALL.dimensions}


def test_a_table_of_less_than_two_free_dimensions_is_walked():
    """There are no pairs, and every level still occurs."""
    table = Table((("a", (1, 2, 3)), ("b", ("only",))))

    assert [row["a"] for row in table.rows()] == [1, 2, 3]
    assert combined(table.rows()) == table.count()


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_the_table_of_a_rotation_is_covered_whole(name):
    """Every pair of levels that a profile allows occurs in some row."""
    profile = builtin_profile(name)
    table = rotation_table(profile, TAKES, values=VALUES)
    walk = walk_of(table, profile, interleaved=True, seed=0)

    assert combined(row.levels for row in walk.rows) == walk.combinations == table.count()
    assert {row.case.strided for row in walk.rows} == set(views_of_x(profile))


def test_rows_of_another_table_leave_no_pair_out():
    """Levels that only the other has are replaced by others, whichever has more of them."""
    less = rotation_table(PROFILE, TAKES, values=("normal", "huge", "special"), tail=True)
    more = rotation_table(PROFILE, TAKES, values=VALUES)

    assert combined(less.rows(like=more)) == less.count()
    assert len(less.rows(like=more)) == len(more.rows())
    assert more.rows(like=less) == more.rows()


@pytest.mark.parametrize("tail", [False, True])
def test_a_scheme_with_one_list_of_frequencies_has_no_parts(tail):
    """What turns is as many components as the list is for, in every row."""
    factors = tuple(1.0 + i for i in range(4))
    scheme = LongRope(factors, factors, factor=2.0, original_length=64, length=1)
    profile = replace(PROFILE, head_dims=(8,), scaling=scheme)
    table = rotation_table(profile, TAKES, values=("normal",), tail=tail)

    assert dict(table.dimensions)["rotated"] == (ALL,)
    walk = walk_of(table, profile, interleaved=False, seed=0)
    assert all(has_frequencies(scheme, row.case.dim) for row in walk.rows)


def test_a_compiler_makes_few_programs_and_what_that_leaves_out_is_counted():
    """Shapes and dtypes are those of the pool, and fewer pairs are covered than there are."""
    profile = builtin_profile("jax")
    table = rotation_table(profile, TAKES, values=VALUES)
    walk = walk_of(table, profile, interleaved=True, seed=0)
    programs = {(row.case.shape, row.case.dtype) for row in walk.rows}
    covered = combined(row.levels for row in walk.rows)

    assert len(programs) == 3 + len(profile.dtypes) - 1
    assert covered < walk.combinations
    assert covered == combined(
        row.levels for row in walk.rows if set(row.levels) == set(dict(table.dimensions))
    )
    assert any("compiled" in line for line in left_out(profile))


@pytest.mark.parametrize(
    ("claims", "dimension", "gone"),
    [
        ({"strided": False}, "view of x", "gaps"),
        ({"negative_positions": False}, "positions", "signs"),
        ({"subnormals": False}, "values", "subnormal"),
        ({"shared_positions": True}, "positions", "ragged"),
        ({"max_tokens": 8}, "rows, tokens, heads", "1 x 131 x 1"),
        ({"max_position": 4095}, "from", 65535),
    ],
)
def test_what_is_not_claimed_is_no_level(claims, dimension, gone):
    """A level of the whole profile is missing where it is not claimed."""
    whole = dict(rotation_table(PROFILE, TAKES, values=VALUES).dimensions)
    less = dict(rotation_table(replace(PROFILE, **claims), TAKES, values=VALUES).dimensions)

    assert gone in whole[dimension]
    assert gone not in less[dimension]


@pytest.mark.parametrize("axes", ["bshd", "bhsd", "sbhd", "shd"])
@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_every_view_holds_what_it_was_made_for(name, axes):
    """The values are those asked for, whatever the strides, and a view is no copy."""
    pytest.importorskip(name)
    profile = replace(PROFILE, array=name, axes=axes)
    framework = framework_named(name, None)
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 6)[-len(axes) :]).astype(np.float32)
    m = np.arange(x.shape[0] * 5).reshape(x.shape[0], 5)
    m = m[0] if axes == "shd" else m
    asked = [(x, view) for view in views_of_x(profile)]
    for values, view in [*asked, *((m, view) for view in views_of_positions(profile))]:
        wanted = same_along(values, view) if view else values
        made = framework.argument(wanted, view)
        assert np.array_equal(framework.read(made.array), wanted), view
        assert not made.written()
        if view:
            assert (
                framework.place(made.array) != framework.place(made.backing) or view == "read-only"
            )


def test_what_a_view_of_stride_0_holds_is_the_same_along_its_axis():
    """x and positions of a case are made so that its views can hold them."""
    case = replace(usual(), batch=3, heads=2, strided="still 2", positions_view="still 0")
    x, positions = inputs(PROFILE, replace(case, positions="ragged"))

    assert np.array_equal(x[:, :, 0], x[:, :, 1])
    assert np.array_equal(positions[0], positions[2])


def test_every_position_up_to_the_limit_is_in_some_block():
    """In each dtype, and below zero in the first."""
    for limit in (3, 40000, LAST, 2**31 - 1):
        profile = replace(PROFILE, max_position=limit)
        seen = {("float32", 1): set(), ("bfloat16", 1): set(), ("float32", -1): set()}
        for case in blocks(profile, usual(profile)):
            positions = case.make_positions()
            assert np.abs(positions).max() <= limit
            seen[case.dtype, -1 if positions.max() < 0 else 1].update(np.abs(positions[0]).tolist())
        whole = set(range(min(limit, LAST) + 1))
        assert all(whole - found <= {0} for found in seen.values())
        assert seen["float32", 1] == seen["bfloat16", 1] == whole


@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_what_settles_an_element_is_within_its_budget(dtype, interleaved):
    """What is compared with leaves terms of the budget out and adds none, in every class."""
    case = replace(usual(), batch=1, seq=512, heads=1, head_dim=16, dtype=dtype)
    case = replace(case, positions="spread", limit=2**31 - 1).stating(interleaved=interleaved)
    units = units_of(case)
    exact = replace(units.exact, dtype=dtype)
    for precision in ladder(dtype):
        allowed = exact.allowed(precision, Machine())
        y = exact.y + 1.0001 * allowed
        wrong = unsettled(y.astype(np.float64), units, precision, Machine())
        assert len(wrong) == case.seq, precision.name


def test_right_unit_pairs_are_settled():
    """A rotation in float32 needs no further look at most tokens."""
    units = units_of(replace(usual(), batch=1, seq=2048, heads=1, head_dim=16, start=100))
    y = units.exact.y.astype(np.float32)

    assert len(unsettled(y, units, ladder("float32")[0], Machine())) == 0


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("shape", [(3, 1000, 5), (1, 700, 300), (1100, 2, 1)])
def test_one_wrong_element_of_a_large_call_is_found(shape, shared):
    """Wherever it lies, and the place that is told is its own."""
    profile = replace(PROFILE, shared_positions=shared)
    rows, tokens, heads = shape
    block = Block.of(replace(usual(), batch=rows, seq=tokens, heads=heads, head_dim=4), profile)
    x, positions = block.whole()
    assert x.shape == (*shape, 4)
    assert positions.shape == shape[:2]
    rng = np.random.default_rng(1)
    for _ in range(8):
        place = tuple(int(rng.integers(n)) for n in x.shape)
        y = x.copy()
        y[place] = np.nan if place[0] % 2 else y[place] + 100
        found, at = block.worst(y, block.x.astype(np.float64))
        (off,) = np.argwhere(found != block.x)
        begin, first = divmod(int(at[tuple(off)]), heads)
        assert divmod(begin + off[1], tokens) == place[:2]
        assert (first + off[2], off[3]) == place[2:]


def test_large_calls_are_large_in_two_sizes_and_keep_to_the_profile():
    """Each pair of rows, tokens and heads is beyond 1024, and elements are beyond 2^24."""
    cases = large_cases(PROFILE, usual(), full=True)
    pairs = itertools.combinations(range(3), 2)

    for one, other in pairs:
        assert any(min(case.shape[one], case.shape[other]) > 1024 for case in cases)
    for dtype in PROFILE.dtypes:
        assert any(np.prod(case.shape) > 2**24 for case in cases if case.dtype == dtype)
    few = large_cases(replace(PROFILE, max_tokens=64), usual())
    assert max(case.batch * case.seq for case in few) == 64


@pytest.mark.parametrize("kind", MASKS)
def test_masks_are_what_they_are_called(kind):
    """The first query, the last one, and how many keys each sees."""
    m = n = np.arange(7)[None]
    mask = masked(kind, "S T", Place((1, 1, 5, 7), m[:, :5] + 1, n, 0))
    seen = None if mask is None else mask.sum(axis=-1).tolist()
    wanted = {
        "none": None,
        "counted from the front": [1, 2, 3, 4, 5],
        "counted from the back": [3, 4, 5, 6, 7],
        "by position": [2, 3, 4, 5, 6],
        "window": [1, 2, 3, 4, 4],
        "packed": [4, 4, 4, 3, 3],
        "padded": [4] * 5,
        "padded in front": [3] * 5,
        "a part for each head": [7] * 5,
        "all": [7] * 5,
        "one key": [1] * 5,
        "no key": [0] * 5,
    }

    assert kind == "random" or seen == wanted[kind]


def test_attention_is_walked_with_every_pair_of_mask_and_length():
    """So is each other pair."""
    table = attention_table(PROFILE)

    assert combined(table.rows()) == table.count()


def test_what_the_mask_of_the_first_row_and_head_excludes_is_seen_by_others():
    """Of every block of up to 128 keys, one mask at least leaves some that another does not."""
    for kind in ("padded", "a part for each head"):
        mask = masked(kind, "B H S T", Place((3, 4, 5, 300), *[np.zeros((3, 5))] * 2, 0))
        blocks = [mask[..., at : at + 128].any(axis=(-2, -1)) for at in (0, 128, 256)]

        assert any(one.any() and not one[0, 0] for one in blocks)


def test_the_verdict_says_what_was_covered():
    """Pairs of levels, positions, what was left out; by check too."""
    with Session(load("numpy"), replace(builtin_profile("numpy"), gradients=False)) as session:
        verdict = run(session, Plan(only=("ROT-9.every", "ROT-14.tail")))
    found = verdict.coverage

    assert found["positions"] == [0, LAST]
    assert found["combinations"] == found["of"] == found["checks"]["ROT-14.tail"]["of"] > 1000
    assert "gradients: not claimed" in found["left_out"]


CORNERS = [
    one
    for one in zoo()
    if isinstance(one, Wrong)
    and one.target.partition(":")[0].endswith((".zoo.corners", ".zoo.few_bits"))
    and ".many" not in one.killed_by[0]
]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("entry", CORNERS, ids=lambda entry: entry.name)
def test_no_seed_decides_what_is_caught(entry, seed):
    """A mistake in a corner of the input space is caught with every seed."""
    checks = select(Plan(only=entry.killed_by))
    with Session(load(entry.target), entry.profile, timeout=30.0) as session:
        trial = Trial(session)
        results = [run_check(check, trial, Plan(seed=seed)) for check in checks]

    assert [one.id for one in results if not one.status.conforms] == list(entry.killed_by)
