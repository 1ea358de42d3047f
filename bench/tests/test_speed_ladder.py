import itertools

import pytest

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.ladder import LADDER, Plan, sizes
from ropespec.bench.speed.options import selected
from ropespec.bench.speed.subjects import ENTRIES, compiled, find

PEERS = {entry.name for entry in ENTRIES if entry.kind == "peer"}


def test_the_full_ladder_is_the_whole_product():
    """Six lengths, two batches, two numbers of heads, three head_dims, and all ways of each."""
    steps = set(sizes(full=True))
    product = itertools.product((1, 8), (1, 16, 128, 512, 2048, 8192), (8, 32), (64, 128, 256))

    assert steps == set(product)
    assert len(Plan(full=True).cases()) == len(steps) * 3 * 2 * 2 * 3


def test_a_usual_run_takes_every_step_of_the_ladder_in_every_way():
    """No dtype, layout, pass or kind of memory is without all six lengths."""
    cases = set(Plan().cases())

    for parts in itertools.product(
        ("float32", "bfloat16", "float16"),
        (True, False),
        ("forward", "both"),
        ("new", "out", "self"),
        [(1, length, 32, 128) for length in (1, 16, 128, 512, 2048, 8192)],
    ):
        assert Case(*parts) in cases


def test_a_usual_run_steps_aside_forward_into_new_memory_alone():
    """Every other batch, number of heads and head_dim appears, and nowhere else."""
    aside = [case for case in Plan().cases() if case.shape not in LADDER]

    assert {(case.direction, case.into) for case in aside} == {("forward", "new")}
    assert {case.shape[0] for case in aside} == {1, 8}
    assert {case.shape[2] for case in aside} == {8, 32}
    assert {case.shape[3] for case in aside} == {64, 128, 256}


def test_the_sizes_are_innermost():
    """What is compiled for one group of cases is kept while its sizes are climbed."""
    groups = [case.group for case in Plan().cases()]

    assert len(list(itertools.groupby(groups))) == len(set(groups))


def test_cases_are_filtered():
    """Dtype, layout, pass, memory and tokens leave what they name."""
    plan = Plan(
        dtypes=("float16",), layouts=(False,), directions=("both",), intos=("out",), tokens=(16,)
    )

    assert plan.cases() == [Case("float16", False, "both", "out", (1, 16, 32, 128))]


def test_a_size_that_is_asked_for_is_measured_in_every_way():
    """It is not cut down as the steps beside the ladder are."""
    cases = Plan(dtypes=("float32",), shapes=((2, 3, 4, 6),)).cases()

    assert len(cases) == 2 * 2 * 3


@pytest.mark.parametrize(
    ("name", "direction", "into", "usual"),
    [
        ("ropespec torch", "both", "self", True),
        ("ropespec torch tables", "forward", "out", True),
        ("ropespec torch tables", "both", "new", False),
        ("ropespec torch compiled", "forward", "new", True),
        ("ropespec torch compiled", "forward", "self", False),
    ],
)
def test_variants_do_with_less(name, direction, into, usual):
    """What has tables or is compiled is measured forward, unless all is asked for."""
    case = Case("float32", True, direction, into, LADDER[0])

    assert Plan().wants(find(name), case) is usual
    assert Plan(full=True).wants(find(name), case)


def names(*only, full=False):
    return [entry.name for entry in selected(only, full=full)]


def test_contenders_are_chosen_by_name():
    """A star stands for anything; a compiled peer comes when it is named or all is asked for."""
    assert names("*numpy*") == ["ropespec numpy", "ropespec numpy tables", "naive numpy"]
    assert names("mlx", "torchtune compiled") == ["mlx", "torchtune compiled"]
    assert set(names()) >= PEERS | {"ropespec torch compiled", "ropespec jax eager"}
    assert "transformers llama compiled" not in names()
    assert "transformers llama compiled" in names(full=True)
    assert "keras-hub compiled" not in names(full=True)


@pytest.mark.parametrize("entry", [one for one in ENTRIES if one.kind == "product"], ids=str)
def test_what_is_no_rotation_is_a_product(entry):
    """It is in every run beside the rotations, and its error is of no interest."""
    assert entry.name in names()
    assert not entry.load("cpu").rotates


def test_names_are_unique_and_found():
    """Every contender is found by its name, a compiled peer too."""
    every = [entry.name for entry in ENTRIES]

    assert len(set(every)) == len(every)
    assert find("torchtune compiled") == compiled(find("torchtune"))
    assert find("torchtune compiled").is_compiled
    assert find("ropespec jax tables").has_tables
