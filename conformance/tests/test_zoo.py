"""The zoo: every wrong implementation fails by its checks, every right one passes."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ropespec.conformance import zoo as package
from ropespec.conformance.mistakes.catalogue import CATALOGUE, UNLISTED
from ropespec.conformance.registry import all_checks
from ropespec.conformance.results import Status
from ropespec.conformance.runner import Plan, run, run_check, select
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.trial import Trial
from ropespec.conformance.zoo import Right, Wrong, zoo
from ropespec.conformance.zoo.not_shown import IDS, NOT_SHOWN

WRONG = [entry for entry in zoo() if isinstance(entry, Wrong)]
RIGHT = [entry for entry in zoo() if isinstance(entry, Right)]
LOST = {
    "hangs": Status.TIMEOUT,
    "aborts": Status.CRASH,
    "raises": Status.ERROR,
    "refuses_no_keys": Status.ERROR,
    "graph_in_the_cache": Status.ERROR,
    "detached": Status.ERROR,
}
# The whole suite takes seconds; the others are run on the checks where styles differ. All of them
# are given the whole suite, at many seeds, by `ropespec.bench.alarms`; torch and JAX by the tests
# of the backends, compiled too, which takes a third of the time of one in torch.
WHOLE = ("usual_half", "mixed_rates")
TELLING = (
    *("ROT-6", "ROT-7", "ROT-14", "ROT-16", "ROT-17", "ROT-22", "ROT-23"),
    *("FREQ-2", "JDG-3"),
)
# Where there is more to a derivative than what the framework makes of plain operations.
DERIVED = ("FREQ-6.integers", "ROT-20.gradient", "ROT-24.jvp", "ROT-24.vmap")
OF_ITS_OWN = ("torch_transforms", "torch_claimed", "jax_transforms")
FOLDER = Path(package.__file__).parent


def open_entry(entry, timeout=30.0):
    """Start a worker for an entry; its framework must be installed."""
    if entry.profile.array != "numpy":
        pytest.importorskip(entry.profile.array)
    return Session(load(entry.target), entry.profile, timeout=timeout)


@pytest.mark.parametrize("entry", WRONG, ids=lambda entry: entry.name)
def test_a_wrong_implementation_fails_the_checks_that_are_there_because_of_it(entry):
    """Each check named by the entry ends as a failure, or as the loss of its process."""
    checks = {check.id: check for check in all_checks()}
    with open_entry(entry, timeout=1.0 if entry.name == "hangs" else 30.0) as session:
        trial = Trial(session)
        results = [run_check(checks[id_], trial, Plan()) for id_ in entry.killed_by]

    expected = LOST.get(entry.name, Status.FAIL)
    assert {result.id: result.status for result in results} == dict.fromkeys(
        entry.killed_by, expected
    )


@pytest.mark.parametrize("entry", RIGHT, ids=lambda entry: entry.name)
def test_a_right_implementation_conforms_and_its_precision_is_measured(entry):
    """No check fails, and the class found per dtype is the one it was written in."""
    module = entry.target.split(":")[0].rpartition(".")[2]
    telling = TELLING + (DERIVED if module in OF_ITS_OWN else ())
    plan = Plan() if entry.name in WHOLE else Plan(only=telling)
    with open_entry(entry) as session:
        verdict = run(session, plan)

    assert [r for r in verdict.checks if not r.status.conforms] == []
    assert verdict.conforms
    assert verdict.precision_by_dtype == dict(entry.measured)


@pytest.mark.parametrize("seed", range(1, 5))
def test_other_seeds_raise_no_false_alarm(seed):
    """A right implementation conforms whatever the seed."""
    (entry,) = (entry for entry in RIGHT if entry.name == "float64_angles")
    with open_entry(entry) as session:
        verdict = run(session, Plan(seed=seed, only=TELLING))

    assert [r for r in verdict.checks if not r.status.conforms] == []


@pytest.mark.parametrize("name", ["padded_at_112", "last_pairs_backwards_at_192"])
def test_a_size_of_its_own_is_found_at_every_seed(name):
    """Each size that is claimed is used in every run."""
    checks = {check.id: check for check in all_checks()}
    (entry,) = (entry for entry in WRONG if entry.name == name)
    with open_entry(entry) as session:
        for seed in range(5):
            trial, plan = Trial(session), Plan(seed=seed)
            found = [run_check(checks[id_], trial, plan) for id_ in entry.killed_by]
            assert {result.status for result in found} == {Status.FAIL}
        verdict = run(session, Plan(only=entry.killed_by))

    assert verdict.head_dims == entry.profile.head_dims


def test_every_check_has_something_it_kills():
    """No check is idle: some entry names it."""
    named = {id_ for entry in WRONG for id_ in entry.killed_by}

    assert [check.id for check in all_checks() if check.id not in named] == []


def test_the_checks_that_an_entry_names_exist():
    """A name in `killed_by` is that of a check, and so is each that right ones are run on."""
    known = {check.id for check in all_checks()}

    assert {id_ for entry in WRONG for id_ in entry.killed_by} <= known
    assert select(Plan(only=TELLING + DERIVED))


def test_the_catalogue_is_shown_or_has_a_reason_not_to_be():
    """Every known defect has an entry in the zoo, or a reason, and never both."""
    shown = {entry.catalogue for entry in WRONG if re.fullmatch(r"[A-Z]\d+", entry.catalogue)}

    assert len(IDS) == len(set(IDS)) == 95
    assert shown | set(NOT_SHOWN) == set(IDS)
    assert shown & set(NOT_SHOWN) == set()


@pytest.mark.parametrize("entry", [*WRONG, *RIGHT], ids=lambda entry: entry.name)
def test_every_entry_is_small_and_says_what_it_is(entry):
    """An entry is a few lines with one sentence; its name is an id, or one the diagnosis knows."""
    if entry.function is not None:
        lines = inspect.getsource(entry.function).splitlines()
        assert len(lines) <= (40 if inspect.isclass(entry.function) else 26)
    assert entry.sentence.endswith(".")
    if isinstance(entry, Wrong):
        known = {*CATALOGUE, *(item.name for item in (*CATALOGUE.values(), *UNLISTED.values()))}
        assert entry.catalogue in known | {"", "it crashes", "it hangs", "no array"}
        assert entry.killed_by


@pytest.mark.parametrize(
    "module",
    [
        *("torch_wrong", "torch_right", "torch_transforms", "torch_calls", "torch_claimed"),
        *("jax_subjects", "jax_transforms", "mlx_subjects"),
    ],
)
def test_what_a_worker_imports_is_listed_by_name(module):
    """Each public name of a module that is not imported here is an entry of the zoo."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))
    (names,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    listed = [entry.name for entry in zoo() if entry.target.split(":")[0].endswith(f".{module}")]

    assert sorted(listed) == sorted(names)


def test_listing_the_zoo_loads_no_framework():
    """Only a worker imports torch or JAX."""
    code = (
        "import sys; from ropespec.conformance.zoo import zoo; zoo(); "
        "print(sorted({'torch', 'jax', 'cupy', 'mlx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
