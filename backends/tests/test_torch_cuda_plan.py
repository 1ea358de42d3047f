"""How the work of a launch on CUDA is cut: sizes alone, which need neither GPU nor Triton."""

import torch

from ropespec.backends.torch.cuda import launch, plan


def planned(x, rotary_dim, *, interleaved=True, angles=None, tables=False, in_place=False):
    """Return the plan for `x` into memory like it."""
    rows = (*x.shape[-3:-2], rotary_dim // 2) if tables else x.shape[-3:-2]
    angles = torch.empty(rows, device="meta") if angles is None else angles
    return plan.plan(
        plan.Shapes(
            x.shape, x.stride(), x.stride(), x.element_size(), angles.shape, angles.stride(),
            tables, rotary_dim // 2, interleaved, in_place,
        )
    )  # fmt: skip  # in the order of the fields


def test_geometry_of_a_prefill():
    """Bfloat16 at D = 128: 16 bytes a thread, and one token and one group of pairs a thread."""
    x = torch.empty(4, 2048, 32, 128, dtype=torch.bfloat16, device="meta")
    whole = planned(x, 128).constants
    halves = planned(x, 128, interleaved=False).constants

    assert (whole["TOKENS"], whole["HEADS"], whole["UNIT"]) == (8, 4, 16)
    assert (halves["TOKENS"], halves["HEADS"], halves["UNIT"]) == (16, 2, 16)
    assert not whole["WIDE"]
    assert planned(torch.empty(2**31, 1, 1, 2, device="meta"), 2).constants["WIDE"]


def test_unit_of_odd_strides():
    """An odd stride allows no wide access; that of a single index is never taken."""
    odd = torch.empty(2, 3, 5, 33, device="meta")[..., :32]
    alone = torch.empty(33 * 64, device="meta").as_strided((1, 4, 2, 32), (7, 64, 32, 1))

    assert planned(odd, 6).constants["UNIT"] == 1
    assert planned(alone, 32).constants["UNIT"] == 16


def test_unit_of_tables():
    """Rows of tables are known to be aligned as far as their length lets them."""
    x = torch.empty(2, 8, 4, 64, device="meta")
    for rotary_dim, unit in ((64, 16), (48, 8), (2, 1)):
        assert planned(x, rotary_dim, tables=True).constants["A_UNIT"] == unit


def test_batches_that_are_one_axis():
    """Leading axes are read as one, that of broadcast positions too; others are not."""
    x = torch.empty(2, 3, 8, 4, 64, device="meta")
    turned = x.transpose(0, 1)
    each = torch.empty(2, 3, 8, device="meta")
    first = torch.empty(2, 1, 8, device="meta")

    assert planned(x, 64).numbers[:2] == (48, 8)
    assert planned(x, 64, angles=each) is not None
    assert planned(x, 64, angles=first) is None
    assert planned(turned, 64) is None
    assert planned(x.transpose(0, 1)[:1], 64) is not None


def test_a_tail_in_place_is_not_copied():
    """Components behind the pairs are copied, unless they are in place already."""
    x = torch.empty(2, 8, 4, 64, device="meta")

    assert planned(x, 48).constants["TAIL"] == 16
    assert planned(x, 48, in_place=True).constants["TAIL"] == 0


def test_a_call_like_the_last_makes_no_plan():
    """A plan is kept, so that a call like the last costs a look-up."""
    calls = []

    class Kernel:
        def __getitem__(self, grid):
            return lambda *arguments, **constants: calls.append((grid, arguments[4:], constants))

    x, m, turns = torch.ones(2, 8, 4, 64), torch.arange(8), torch.ones(32, dtype=torch.int64)
    plan.plan.cache_clear()
    for _ in range(2):
        launch._launch(Kernel(), x, x, (m,), (turns,), 32, interleaved=True, inverse=False)

    assert plan.plan.cache_info().misses == 1
    assert calls[0] == calls[1]


def test_unmerged_batches_are_launched_one_by_one():
    """Where x has batch axes that are no single one, each index of the first is a launch."""
    seen = []

    class Kernel:
        def __getitem__(self, _grid):
            return lambda x, out, *_rest, **_constants: seen.append((x.data_ptr(), out.data_ptr()))

    x = torch.ones(3, 2, 8, 4, 64).transpose(0, 1)
    out, turns = torch.empty_like(x), torch.ones(32, dtype=torch.int64)
    launch._launch(
        Kernel(), x, out, (torch.arange(8),), (turns,), 32, interleaved=True, inverse=False
    )

    assert seen == [(x[i].data_ptr(), out[i].data_ptr()) for i in range(2)]
