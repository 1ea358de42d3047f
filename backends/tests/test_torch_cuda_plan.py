"""How the work of a launch on CUDA is cut: sizes alone, which need neither GPU nor Triton."""

import pytest
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


class Kernel:
    """A kernel of Triton's, and what it compiled: tells what each was asked."""

    def __init__(self, seen, name="search", compiled=None):
        self.seen, self.name, self.compiled = seen, name, compiled

    def __getitem__(self, grid):
        def call(*arguments, **constants):
            self.seen.append((self.name, grid, arguments, constants))
            return self.compiled

        return call


def rotate(kernel, x, out, m=None, *, inverse=False):
    """Launch a kernel that makes cos and sin."""
    m, turns = torch.arange(8) if m is None else m, torch.ones(32, dtype=torch.int64)
    flags = {"interleaved": True, "inverse": inverse}
    launch._launch(kernel, x, out, (m,), (turns,), 32, **flags)


def test_a_call_like_the_last_makes_no_plan():
    """A plan is kept, so that a call like the last costs a look-up."""
    seen, x = [], torch.ones(2, 8, 4, 64)
    plan.plan.cache_clear()
    for _ in range(2):
        rotate(Kernel(seen), x, x)
    (*_, first, constants), (*_, second, again) = seen

    assert plan.plan.cache_info().misses == 1
    assert (first[4:], constants) == (second[4:], again)


@pytest.mark.parametrize("new", [True, False], ids=["3.4 and later", "before"])
def test_a_call_like_the_last_starts_what_was_compiled(monkeypatch, new):
    """What Triton compiled is started with addresses and all numbers and constants in their order.

    An older Triton, whose launchers take no constants, is asked each time.
    """
    monkeypatch.setattr(launch, "_starts_again", lambda: new)
    plan.plan.cache_clear()
    seen = []
    kernel = Kernel(seen, compiled=Kernel(seen, "start"))
    x, out = torch.ones(2, 8, 4, 64), torch.empty(2, 8, 4, 64)
    for _ in range(2):
        rotate(kernel, x, out)
    (_, grid, searched, constants), (name, again, started, _) = seen

    assert name == ("start" if new else "search")
    assert again == grid
    if new:
        names = list(constants)[: -len(launch.OPTIONS)]
        assert started[:2] == (x.data_ptr(), out.data_ptr())
        assert started[4:] == (*searched[4:], *(constants[name] for name in names))


def test_what_makes_a_kernel_of_its_own_is_asked_for_anew(monkeypatch):
    """Another dtype, direction or alignment is not started with the kernel of the last call."""
    monkeypatch.setattr(launch, "_starts_again", lambda: True)
    plan.plan.cache_clear()
    seen = []
    kernel = Kernel(seen, compiled=Kernel(seen, "start"))
    x, memory = torch.ones(2, 8, 4, 64), torch.ones(2 * 8 * 4 * 64 + 4)
    shifted = memory[1:-3].view(x.shape)
    for one in (x, shifted, x.view(torch.int32)):
        rotate(kernel, one, one)
    rotate(kernel, x, x, inverse=True)
    rotate(kernel, x, x, m=torch.arange(8, dtype=torch.int32))

    assert [name for name, *_ in seen] == ["search"] * 5


def test_unmerged_batches_are_launched_one_by_one():
    """Where x has batch axes that are no single one, each index of the first is a launch."""
    seen, x = [], torch.ones(3, 2, 8, 4, 64).transpose(0, 1)
    out = torch.empty_like(x)
    rotate(Kernel(seen), x, out)
    memory = [tuple(one.data_ptr() for one in arguments[:2]) for *_, arguments, _ in seen]

    assert memory == [(x[i].data_ptr(), out[i].data_ptr()) for i in range(2)]
