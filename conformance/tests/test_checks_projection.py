import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.results import Status

ALL = ["float32", "float64", "float16", "bfloat16"]


def unturned(x, positions, weight, **conventions):
    """Project alone."""
    del positions, conventions
    return reference.project_value(x, weight)


def late(x, positions, weight, **conventions):
    """Positions start at 1."""
    return reference.project_key(x, positions + 1, weight, **conventions)


def other_layout(x, positions, weight, *, interleaved, **conventions):
    """Turn the key in the layout that the query does not have."""
    return reference.project_key(x, positions, weight, interleaved=not interleaved, **conventions)


def all_of_it(x, positions, weight, *, rotary_dim=None, **conventions):
    """Rotate the tail as well."""
    del rotary_dim
    return reference.project_query(x, positions, weight, **conventions)


def frequencies_of_the_head(x, positions, weight, *, interleaved, base=10000.0, rotary_dim=None):
    """Take the frequencies of D for the r components that rotate."""
    head_dim = weight.shape[1]
    r = head_dim if rotary_dim is None else rotary_dim
    y = reference.project_value(x, weight)
    cos, sin = (part[..., : r // 2] for part in reference.cos_sin(positions, head_dim, base))
    return reference.apply_rotary_cos_sin(y, cos, sin, interleaved=interleaved)


def turned_value(x, weight):
    """V is turned by 0, 1, 2, ... like q and k."""
    y = reference.project_value(x, weight)
    even = y[..., : y.shape[-1] // 2 * 2]
    turned = reference.apply_rotary(even, np.arange(x.shape[-2]), interleaved=True)
    return np.concatenate([turned, y[..., even.shape[-1] :]], axis=-1)


def transposed(x, weight):
    """Take x W for W x, where W is square."""
    square = weight.shape[-1] == weight.shape[-2]
    return reference.project_value(x, weight.swapaxes(-1, -2) if square else weight)


def clipped(x, positions, **conventions):
    """Vectors are clipped before they are turned."""
    return reference.apply_rotary(np.clip(x, -1, 1), positions, **conventions)


def counted(x, positions, **conventions):
    """Tokens are turned by their place in the row instead of their position."""
    place = np.broadcast_to(np.arange(x.shape[1]), positions.shape)
    return reference.apply_rotary(x, place, **conventions)


KILLS = (
    ("PROJ-1.query", "project_query", unturned, "project_query differs"),
    ("PROJ-1.query", "project_query", all_of_it, "project_query differs"),
    ("PROJ-1.query", "project_query", frequencies_of_the_head, "project_query differs"),
    ("PROJ-1.key", "project_key", late, "project_key differs"),
    ("PROJ-1.forms", "project_query", unturned, "projected and rotated pair"),
    ("PROJ-1.reference-query", "project_query", unturned, "the query differs"),
    ("PROJ-1.reference-key", "project_key", late, "the key differs"),
    ("PROJ-2.value", "project_value", turned_value, "project_value differs"),
    ("PROJ-2.reference", "project_value", turned_value, "literal reference"),
    ("PROJ-3.components", "project_value", transposed, "row j of weight[h]"),
    ("PROJ-4.folded", "apply_rotary", clipped, "(R_m W) x"),
    ("PROJ-5.tokens", "apply_rotary", counted, "offset of their positions"),
    ("PROJ-5.projected", "project_key", other_layout, "that of their offset"),
)


@pytest.mark.parametrize("module", [reference, backend], ids=["reference", "numpy"])
def test_right_implementations_pass(checks, module):
    """Both right implementations pass every check of the chapter, in every dtype."""
    for name in checks.ids("PROJ"):
        found = checks.run(name, module, dtypes=ALL, precision="float64-angles")

        assert found.status is Status.PASS, (name, found.message)
        assert found.worst > 0.01 or name == "PROJ-3.components", name


def test_rounding_after_every_step_passes(checks, narrow):
    """Half precision arithmetic is right where nothing better is claimed."""
    for name in checks.ids("PROJ"):
        found = checks.run(name, narrow, dtypes=ALL[2:])

        assert found.status is Status.PASS, (name, found.message)


@pytest.mark.parametrize("name", ["PROJ-1.query", "PROJ-5.projected", "PROJ-5.tokens"])
def test_shared_positions_are_passed_as_one_row(checks, name):
    """A subject whose batch shares its positions gets them as (S,)."""

    def one_row(function):
        def called(x, positions, *rest, **conventions):
            assert positions.ndim == 1
            return getattr(reference, function)(x, positions, *rest, **conventions)

        return called

    functions = {item: one_row(item) for item in ("project_query", "project_key", "apply_rotary")}
    found = checks.run(name, functions, shared_positions=True)

    assert found.status is Status.PASS, found.message


@pytest.mark.parametrize(("name", "function", "wrong", "message"), KILLS)
def test_a_wrong_implementation_fails(checks, name, function, wrong, message):
    """Each check fails on the mistake it is there for, with words that say what is wrong."""
    found = checks.kills(name, function, wrong)

    assert found.status is Status.FAIL
    assert message in found.message
    assert found.counterexample.inputs["function"] == function


def test_every_check_of_the_chapter_kills(checks):
    """No check is idle."""
    assert set(checks.ids("PROJ")) == {name for name, *_ in KILLS}
