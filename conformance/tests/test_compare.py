"""Comparison of two subjects: identification, change, parting position, logits."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from ropespec.backends import numpy
from ropespec.conformance.builtin import builtin_profile
from ropespec.conformance.compare import compare
from ropespec.conformance.compare.result import Relation
from ropespec.conformance.compare.search import COUNT, part_from, reach, spread
from ropespec.conformance.compare.sides import side_of
from ropespec.conformance.compare.turn import Turn, channel_list, into_a, into_b
from ropespec.conformance.identify import Pairing
from ropespec.conformance.profile import Profile
from ropespec.conformance.report.headline import headline, list_words
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.zoo import zoo
from ropespec.spec.convention import Frequencies

ZOO = "ropespec.conformance.zoo"
HALF = f"{ZOO}.styles:usual_half"
WOVEN = f"{ZOO}.styles:usual_interleaved"
YARN = f"{ZOO}.claimed:scaled_as_yarn"
LAYOUTS = (Pairing.INTERLEAVED, Pairing.HALF, Pairing.DEINTERLEAVED)


BARE = frozenset()
KEPT = {}


@pytest.fixture(scope="session")
def fresh(checks):
    """Return a function that compares two subjects here; diagnoses are made only if asked for."""
    in_process = type(checks.trial({}).session)
    entries = {entry.target: entry for entry in zoo()}

    def side(label, target, claims):
        if target == "numpy":
            own, function, keywords = builtin_profile(target).as_dict(), numpy.apply_rotary, None
        else:
            # Of the claims of an entry only the dtype is told; the rest has to be found out.
            own, function, keywords = {}, entries[target].function, BARE
        guessed = not ({"layouts"} & (set(own) | set(claims)))
        profile = Profile.from_mapping({"layouts": [True]} | own | claims)
        named = {} if keywords is None else {"keywords": keywords}
        session = in_process({"apply_rotary": function}, profile, target=target, **named)
        return side_of(label, session, claims, guessed=guessed)

    def run(a, b, claims_a=None, claims_b=None, seed=0, *, diagnosed=False):
        sides = side("A", a, claims_a or {}), side("B", b, claims_b or {})
        with pytest.MonkeyPatch.context() as patch:
            if not diagnosed:
                patch.setattr(sys.modules[compare.__module__], "diagnose", lambda _: ())
            return compare(*sides, seed)

    return run


@pytest.fixture
def compared(fresh):
    """Return the same function; what several tests look at is compared once."""

    def run(*words, **how):
        asked = repr((words, how))
        if asked not in KEPT:
            KEPT[asked] = fresh(*words, **how)
        return KEPT[asked]

    return run


def test_layouts_are_found_with_the_permutation(compared):
    """Interleaved weights become half-split ones: even channels first, then odd ones."""
    found = compared(WOVEN, HALF)
    order = found.permutation.order

    assert found.relation is Relation.AFTER_CHANGE
    assert order == (*range(0, 64, 2), *range(1, 64, 2))
    assert found.permutation.result == order
    assert "even channels, then the odd" in found.permutation.words
    assert found.changed.agrees
    assert headline(found) == (
        "not interchangeable: they agree after permuting channels (0, 2, 4, ... 1, 3, 5, ...)"
    )


def test_the_other_way_round_gives_the_inverse_permutation(compared):
    """Half-split weights become interleaved ones by the inverse order."""
    there, back = compared(WOVEN, HALF).permutation, compared(HALF, WOVEN).permutation

    assert [there.order[i] for i in back.order] == list(range(64))
    assert "first and of the second half in turn" in back.words


def test_direction_is_mended_by_swapping_the_members_of_pairs(compared):
    """Turning (x1, x2) clockwise is turning (x2, x1) counter-clockwise."""
    found = compared(f"{ZOO}.layout:clockwise", HALF)

    assert found.change.direction
    assert not found.change.layout
    assert found.permutation.order == (*range(32, 64), *range(32))
    assert found.permutation.words == "the two members of each pair swapped"
    assert found.changed.agrees


@pytest.mark.parametrize(("a", "b", "offset"), [("x", "half", 1), ("half", "x", -1)])
def test_an_offset_of_positions_is_found(a, b, offset, compared):
    """A side that counts from 1 agrees once the other is given positions one further."""
    targets = {"x": f"{ZOO}.position:positions_from_1", "half": HALF}
    found = compared(targets[a], targets[b])

    assert found.change.offset == offset
    assert found.permutation is None
    assert found.changed.agrees
    assert headline(found).endswith(f"they agree after adding {offset} to the positions of B")


def test_another_base_is_found(compared):
    """Without a keyword for it, the errors under both bases are compared."""
    found = compared(f"{ZOO}.styles:exp_log_frequencies", HALF)

    assert found.change.base == (500000.0, 10000.0)
    assert found.changed.agrees
    assert found.changed.by_dtype[0].worst.joint > 0
    assert headline(found).endswith("agree after giving B the base 500000 instead of 10000")


def test_several_changes_at_once_are_named_together(compared):
    """Layout and base differ; the permutation comes first."""
    found = compared(f"{ZOO}.styles:exp_log_frequencies", WOVEN)

    assert "permuting channels (0, 32, 1, 33, ...) and giving B the base" in headline(found)


def test_a_backend_is_given_the_base_that_differs_by_keyword(compared):
    """A base given to each side alone is a difference, and the keyword mends it exactly."""
    found = compared("numpy", "numpy", {"base": 500.0, "dtypes": ["float32"]}, {"base": 10000.0})

    assert found.change.base == (500.0, 10000.0)
    assert found.changed.by_dtype[0].worst.joint == 0.0


def test_a_side_with_keywords_follows_the_other(compared):
    """A backend takes the layout and the base that are claimed of the other side."""
    claims = {"base": 500000.0, "layouts": [False], "precision": "float32-angles"}
    own = {"precision": "float32-angles"}
    found = compared("numpy", f"{ZOO}.styles:exp_log_frequencies", own, claims)

    assert found.interchangeable


def test_precision_shows_as_the_position_from_which_they_part(compared):
    """float32 angles against exact ones: within both budgets, yet apart from some position on."""
    found = compared("numpy", HALF)
    (one,) = found.direct.by_dtype

    assert found.relation is Relation.PART
    assert [held.name for held in one.held] == ["float64-angles", "float32-angles"]
    assert one.worst.joint <= 1 < one.worst.strict
    assert 1 < one.parting.position < 1000
    assert one.parting.agree_to == one.parting.position - 1
    position = one.parting.position
    assert headline(found) == (
        f"not interchangeable: they part from position {position} on in float32: "
        "B has float32 angles"
    )
    assert one.bands[0].absolute < one.bands[-1].absolute
    assert 0 < found.direct.logits[0].ratio <= 1


def test_a_coarser_table_shows_from_the_first_position(compared):
    """A class that does not depend on the position is named all the same."""
    target = f"{ZOO}.styles:table_in_dtype_of_x"
    found = compared(target, "numpy", {"dtypes": ["bfloat16"]})

    assert found.relation is Relation.PART
    assert headline(found).endswith("on in bfloat16: A has a bfloat16 table")


TWO_DTYPES = {"dtypes": ["float32", "bfloat16"]}
TABLE = f"{ZOO}.styles:table_in_dtype_of_x"


def test_a_side_that_is_less_precise_in_one_dtype_is_interchangeable_in_the_other(compared):
    """The first line says both, and the option that accepts it; which it does."""
    found = compared(TABLE, HALF, TWO_DTYPES, TWO_DTYPES)
    _, coarse = found.direct.by_dtype
    accepted = {"dtypes": ["bfloat16"], "precision": "bf16-table"}

    assert found.relation is Relation.PART
    assert headline(found) == (
        "not interchangeable: they agree in float32, but in bfloat16 A is less precise "
        "(bf16-table), "
        f"up to {coarse.worst.ulp:.3g} ulp away; "
        "to accept that: --dtype bfloat16 --precision bf16-table"
    )
    assert compared(TABLE, HALF, accepted, accepted).interchangeable
    turned = headline(compared(HALF, TABLE, TWO_DTYPES, TWO_DTYPES))
    assert "in bfloat16 B is less precise (bf16-table)" in turned


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ((HALF, f"{ZOO}.styles:bhsd_order", None, {"axes": "bhsd"}), True),
        ((WOVEN, HALF), False),
        (("numpy", HALF), False),
        ((TABLE, HALF, TWO_DTYPES, TWO_DTYPES), False),
        ((f"{ZOO}.position:row_0_for_all", HALF), False),
    ],
)
def test_the_first_line_says_what_the_exit_status_says(words, same, compared):
    """It begins with "interchangeable" where the status is 0, and nowhere else."""
    found = compared(*words)

    assert found.interchangeable == same
    assert headline(found).startswith("interchangeable" if same else "not interchangeable: ")


@pytest.mark.parametrize("kind", ["beyond both budgets", "in no class", "stops"])
def test_what_no_option_accepts_is_not_called_less_precise(kind, compared):
    """Beyond both budgets, in no class of precision, or where a side stops answering."""
    found = compared(TABLE, HALF, TWO_DTYPES, TWO_DTYPES)
    fine, coarse = found.direct.by_dtype
    assumed = replace(coarse.held[0], source="assumed")
    changed = {
        "beyond both budgets": {"worst": replace(coarse.worst, joint=1.5)},
        "in no class": {"held": (assumed, coarse.held[1])},
        "stops": {"parting": replace(coarse.parting, problem="A raises IndexError")},
    }
    outcome = replace(found.direct, by_dtype=(fine, replace(coarse, **changed[kind])))

    assert headline(replace(found, direct=outcome)).startswith("not interchangeable: they part ")


def test_the_number_of_turning_components_is_mended_by_keyword(compared):
    """B is given the rotary_dim of A where it takes one."""
    shared = {"dtypes": ["float32"], "head_dims": [32]}
    found = compared("numpy", "numpy", shared | {"rotary_dim": 8}, shared | {"rotary_dim": 16})

    assert headline(found).endswith("they agree after giving B the rotary_dim 8")


def test_a_claimed_precision_is_what_both_are_held_to(compared):
    """Where both sides claim float32 angles, that is the budget, and they are interchangeable."""
    claims = {"precision": "float32-angles"}

    assert compared("numpy", HALF, claims, claims).interchangeable


def test_layout_and_precision_are_both_told(compared):
    """After the permutation they still part."""
    found = compared(WOVEN, "numpy", None, {"layouts": [False]})

    assert found.relation is Relation.AFTER_CHANGE
    assert not found.changed.agrees
    assert ", but they part from position " in headline(found)
    assert headline(found).endswith("in float32: A has float32 angles")


@pytest.mark.parametrize(
    ("target", "position", "word"),
    [
        (f"{ZOO}.position:table_of_2048", 2048, "C5"),
        (f"{ZOO}.position:unsigned_16", 32768, "16 bits"),
        (f"{ZOO}.precision:positions_bfloat16", 257, "D2"),
    ],
)
def test_the_position_is_found_exactly(target, position, word, compared):
    """Where a table ends or integers run out, the search says so to one position."""
    found = compared(target, HALF, diagnosed=True)
    (one,) = found.direct.by_dtype

    assert one.parting.position == position
    assert f"part from position {position} on in float32: A: " in headline(found)
    assert word in headline(found)


def test_positions_below_zero_are_searched_too(compared):
    """A side that clamps them agrees everywhere else."""
    found = compared(HALF, f"{ZOO}.position:clamped_at_zero", diagnosed=True)

    assert found.direct.by_dtype[0].parting.negative
    assert "at positions from -1 down in float32: B: negative positions clamped" in headline(found)


@pytest.mark.parametrize(
    ("target", "word"),
    [
        (f"{ZOO}.position:row_0_for_all", "B5"),
        (f"{ZOO}.position:first_row_only_at_one_token", "B6"),
        (f"{ZOO}.position:ignored_positions", "P1"),
    ],
)
def test_what_no_change_mends_is_told_by_its_name(target, word, compared):
    """Rows, single tokens and ignored positions differ whatever is changed."""
    found = compared(target, HALF, diagnosed=True)

    assert found.relation is Relation.DIFFER
    assert headline(found).startswith("not interchangeable: they differ")
    assert f"A: {word}" in headline(found)


def test_rotated_vectors_in_another_order_leave_the_weights_alone(compared):
    """A side that leaves pairs de-interleaved takes the same weights."""
    found = compared(f"{ZOO}.layout:left_deinterleaved", WOVEN)

    assert found.permutation.order == tuple(range(64))
    assert found.permutation.result[:4] == (0, 32, 1, 33)
    assert "after reordering rotated vectors (0, 32, 1, 33, ...)" in headline(found)
    assert found.changed.agrees


@pytest.mark.parametrize("axes", ["bhsd", "sbhd", "shd"])
def test_orders_of_axes_do_not_matter(axes, compared):
    """Each side is called in its own order."""
    found = compared(HALF, f"{ZOO}.styles:{axes}_order", None, {"axes": axes})

    assert found.interchangeable
    assert found.direct.by_dtype[0].worst.joint == 0.0


def test_the_same_seed_gives_the_same_result(compared, fresh):
    """Another seed draws other cases."""
    again = fresh("numpy", HALF)

    assert again.direct == compared("numpy", HALF).direct
    assert again.direct != fresh("numpy", HALF, seed=2).direct


def test_partial_rotation_is_no_change_of_layout(compared):
    """Different numbers of turning components are told, not mended."""
    claims = {"head_dims": [24], "layouts": [False]}
    found = compared(f"{ZOO}.styles:partial_rotary", HALF, claims | {"rotary_dim": 8}, claims)

    assert found.relation is Relation.DIFFER
    assert "the first 8 components are rotated" in headline(found)


def test_sides_without_common_terms_are_unusable(compared):
    """No dtype in common is one line."""
    with pytest.raises(TargetUnusable, match="no dtype in common: numpy takes float64"):
        compared("numpy", HALF, {"dtypes": ["float64"]})


def test_a_pairing_that_cannot_be_found_has_to_be_said(compared):
    """A function that turns nothing in pairs needs its layout claimed."""
    with pytest.raises(TargetUnusable, match="give --b-interleaved or --b-half"):
        compared(HALF, f"{ZOO}.layout:lost_sine")


@pytest.mark.parametrize("clockwise", [False, True])
@pytest.mark.parametrize("a", LAYOUTS)
@pytest.mark.parametrize("b", LAYOUTS)
def test_the_permutation_carries_one_convention_into_the_other(a, b, clockwise):
    """R_A x = P^-1 R_B P x, for the exact rotations of both conventions."""
    first, second = Turn(a, fixed=6), Turn(b, clockwise=clockwise, fixed=6)
    x = np.random.default_rng(0).standard_normal((1, 3, 2, 10))
    positions = np.array([[0, 3, 1001]])
    before, after = channel_list(first, second, 10)
    through = into_a(second.of(into_b(x, before), positions).y, after)

    np.testing.assert_array_equal(through, first.of(x, positions).y)
    assert sorted(before) == sorted(after) == list(range(10))
    assert before[6:] == (6, 7, 8, 9)


def test_the_exact_turn_is_the_specified_one(right):
    """A side's convention agrees with the reference, and fails with another base."""
    x = np.random.default_rng(1).standard_normal((2, 3, 2, 8))
    positions = np.array([[0, 1, 2], [5, 60, 700]])
    expected = right.apply_rotary(x, positions, interleaved=True, base=500.0, rotary_dim=4)
    share = Turn(Pairing.INTERLEAVED, frequencies=Frequencies(500.0), fixed=4)

    np.testing.assert_allclose(share.of(x, positions).y, expected, rtol=0, atol=1e-12)
    other = Turn(Pairing.INTERLEAVED, frequencies=Frequencies(501.0), fixed=4).of(x, positions).y
    assert np.abs(other - expected).max() > 1e-3


@pytest.mark.parametrize("position", [0, 1, 95, 97, 2048, 77777, 131071])
def test_the_search_finds_a_planted_position(position):
    """Log-spaced positions first, then those in between."""
    limit = 131071

    def ratios_at(positions):
        assert positions.shape == (COUNT,)
        return np.where(positions >= position, 2.0, 0.5)

    first = spread(limit, 0)
    found = part_from(ratios_at, first, ratios_at(first))

    assert (found.position, found.share) == (position, 1.0)
    assert found.agree_to == position - 1


def test_the_search_finds_nothing_where_nothing_parts():
    """All ratios at most 1."""
    first = spread(1000, 0)

    assert part_from(lambda _: None, first, np.ones(COUNT)) is None
    assert {0, 1000} <= set(first)
    assert first.max() == 1000


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_few_positions_are_repeated(limit):
    """A call always has as many positions, none above the limit."""
    positions = spread(limit, 3)

    assert positions.shape == (COUNT,)
    assert set(positions) == set(range(limit + 1))


@pytest.mark.parametrize("last", [-1, 0, 1, 2047, 99998])
def test_reach_is_the_last_position_that_is_answered(last):
    """Bisection, down to none at all."""
    assert reach(lambda position: position <= last, 99999) == last


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ((0, 2, 4, 6, 8, 1, 3, 5, 7, 9), "(0, 2, 4, ... 1, 3, 5, ...)"),
        ((0, 5, 1, 6, 2, 7, 3, 8, 4, 9), "(0, 5, 1, 6, ...)"),
        ((0, 2, 4, 6, 1, 3, 5, 7), "(0, 2, 4, 6, 1, 3, 5, 7)"),
        ((*range(10), 11, 10), "(0, 1, 2, ... 11, 10)"),
        ((2, 3, 0, 1), "(2, 3, 0, 1)"),
        ((1, 0), "(1, 0)"),
    ],
)
def test_long_lists_of_channels_are_shortened(order, words):
    """Only the beginning of each run is printed."""
    assert list_words(order) == words


def test_two_schemes_are_told_by_both_names(fresh):
    """In the first line, with their numbers; and what has none is said to have none."""
    found = fresh(YARN, HALF)
    words = "scaling yarn (factor 16, original max position 4096, "

    assert not found.interchangeable
    assert found.change is None
    assert headline(found).startswith(f"not interchangeable: A has {words}")
    assert ", B has no scaling: they" in headline(found)
    assert f"base 10000, {words}" in found.a.convention


def test_one_scheme_is_told_of_neither(fresh):
    """What both do is no difference."""
    assert fresh(YARN, YARN).interchangeable
