import dataclasses

import pytest

from ropespec.bench.speed.case import Case, Row
from ropespec.bench.speed.targets import outcomes

LARGE = (1, 16, 32, 128)
SMALL = (1, 15, 32, 128)


def row(subject, seconds, copy_seconds=1e-5, *, shape=LARGE, into="out", **other):
    given = {"dtype": "float32", "interleaved": False, "direction": "forward"} | other
    return Row(
        subject,
        shape=shape,
        into=into,
        **given,
        seconds=seconds,
        copy_seconds=copy_seconds,
        error=1e-7,
        copy="torch copy_",
        repetitions=5,
    )


def judged(*rows):
    return {one.target: one for one in outcomes(rows)}


@pytest.mark.parametrize("subject", ["ropespec numpy", "ropespec torch"])
@pytest.mark.parametrize("direction", ["forward", "both"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize(
    ("into", "shape", "target", "limit"),
    [
        ("out", LARGE, "given memory, copies", 1.2e-5),
        ("self", LARGE, "in place, copies", 1e-5),
        ("out", SMALL, "small, over a copy", 2e-5),
        ("self", SMALL, "small, over a copy", 2e-5),
    ],
)
def test_near_a_copy_in_memory_that_is_there(
    subject, direction, dtype, interleaved, into, shape, target, limit
):
    """From 2^16 elements 1.2 copies, 1 in place; below 10 us over one: in every dtype and pass."""
    how = {"direction": direction, "dtype": dtype, "interleaved": interleaved}
    for seconds, met in ((0.99 * limit, True), (1.01 * limit, False)):
        found = outcomes([row(subject, seconds, into=into, shape=shape, **how)])

        assert [(one.target, one.met) for one in found] == [(target, met)]
        assert found[0].against == "torch copy_"


def test_2_to_the_16_elements_are_large():
    """The number of elements decides, not that of tokens."""
    assert LARGE[1] * 32 * 128 == 2**16
    wide = row("ropespec torch", 1.0, shape=(8, 1, 32, 256))
    narrow = row("ropespec torch", 1.0, shape=(8, 1, 32, 248))

    assert list(judged(wide)) == ["given memory, copies"]
    assert list(judged(narrow)) == ["small, over a copy"]


@pytest.mark.parametrize("into", ["new", "out", "self"])
@pytest.mark.parametrize("direction", ["forward", "both"])
@pytest.mark.parametrize(("seconds", "met"), [(1.0, True), (0.9, True), (1.1, False)])
def test_never_slower_than_the_fastest_peer(into, direction, seconds, met):
    """Of all peers in the same case the fastest counts, and only there."""
    how = {"into": into, "direction": direction}
    rows = [
        row("ropespec torch", seconds, **how),
        row("mlx", 1.0, **how),
        row("torchtune", 2.0, **how),
        row("naive jax", 0.01, **how),
        row("transformers llama compiled", 0.01, **how),
        row("x-transformers", 0.01, shape=SMALL, **how),
        row("x-transformers", 0.01, dtype="bfloat16", **how),
        dataclasses.replace(row("torchtune", 0.01, **how), device="cuda"),
    ]
    (found,) = [one for one in outcomes(rows) if "of others" in one.target]

    assert (found.subject, found.against, found.met) == ("ropespec torch", "mlx", met)
    assert found.measured == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("ours", "other", "held"),
    [
        ("ropespec numpy", "naive numpy", True),
        ("ropespec torch compiled", "transformers llama", True),
        ("ropespec torch compiled", "transformers llama compiled", True),
        ("ropespec jax eager", "naive jax positions", True),
        ("ropespec jax eager", "naive jax", False),
        ("ropespec jax tables eager", "naive jax", True),
        ("ropespec jax", "keras-hub", True),
        ("ropespec jax", "torchtune", False),
        ("ropespec torch", "ropespec jax", False),
        ("ropespec torch tables", "mlx", False),
    ],
)
def test_who_is_held_against_whom(ours, other, held):
    """JAX against JAX, compiled against all, and ours never against ours."""
    found = judged(row(ours, 2.0, into="new"), row(other, 1.0, into="new"))

    assert list(found) == (["new memory, of others"] if held else [])


def test_what_was_not_measured_is_not_judged():
    """A failed side gives no verdict."""
    failed = dataclasses.replace(row("mlx", 1.0), seconds=None, copy_seconds=None, reason="no")

    assert list(judged(row("ropespec torch", 1.0), failed)) == ["given memory, copies"]
    assert judged(failed) == {}


def test_a_gpu_has_its_own_bound():
    """0.9 of the speed of a copy in all three frameworks, where x is larger than the cache."""
    large, small = (1, 8192, 32, 128), (1, 4096, 32, 128)

    def on_gpu(subject, copies, shape):
        return dataclasses.replace(
            row(subject, copies * 1e-3, 1e-3, shape=shape, into="new"), device="cuda"
        )

    for subject in ("ropespec torch", "ropespec jax", "ropespec cupy"):
        assert judged(on_gpu(subject, 1.11, large))["GPU, copies"].met
        assert not judged(on_gpu(subject, 1.12, large))["GPU, copies"].met
        assert judged(on_gpu(subject, 9.0, small)) == {}


def test_a_target_is_written_with_its_case():
    """The file says where each verdict was found."""
    (found,) = outcomes([row("ropespec torch", 1.0)])
    value = found.to_json()

    assert Case(value["dtype"], value["interleaved"], value["direction"], value["into"], LARGE) == (
        found.case
    )
    assert value["shape"] == list(LARGE)
    assert value["met"] is False


@pytest.mark.parametrize(
    ("ours", "product"),
    [
        ("ropespec torch", "torch product"),
        ("ropespec torch compiled", "torch product compiled"),
        ("ropespec jax", "jax product"),
        ("ropespec jax eager", "jax product eager"),
        ("ropespec jax tables eager", "jax product eager"),
    ],
)
@pytest.mark.parametrize(("seconds", "below"), [(1.1, True), (0.9, False)])
def test_one_product_of_the_framework_is_beside_each_target(ours, product, seconds, below):
    """A target may ask for less than it takes; the product itself has no target."""
    peer = "naive jax positions" if ours == "ropespec jax eager" else "naive jax"
    peer = peer if "jax" in ours else "mlx"
    rows = [row(name, 2.0, into="new") for name in (ours,)]
    rows += [row(peer, 1.0, into="new"), row(product, seconds, into="new")]
    (found,) = outcomes(rows)

    assert found.product == pytest.approx(seconds)
    assert found.below_product is below
    assert found.to_json()["product"] == found.product


@pytest.mark.parametrize(
    ("into", "shape", "seconds", "takes", "below"),
    [
        ("out", LARGE, 1.3e-5, 1.3, True),
        ("out", LARGE, 1.1e-5, 1.1, False),
        ("self", LARGE, 1.1e-5, 1.1, True),
        ("out", SMALL, 2.1e-5, 1.1e-5, True),
        ("out", SMALL, 1.9e-5, 0.9e-5, False),
    ],
)
def test_a_product_is_in_the_unit_of_its_target(into, shape, seconds, takes, below):
    """Copies, or what it takes beyond one; of another case or framework it is none."""
    ours = row("ropespec torch", 1.0, into=into, shape=shape)
    product = row("torch product", seconds, into=into, shape=shape)
    others = [dataclasses.replace(product, dtype="bfloat16"), row("jax product", 9.0, into=into)]
    (found,) = outcomes([ours, product])
    (without,) = outcomes([ours, *others])

    assert found.product == pytest.approx(takes)
    assert found.below_product is below
    assert without.product is None
    assert not without.below_product
