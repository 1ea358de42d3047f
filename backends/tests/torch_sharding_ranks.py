"""One of several processes of a gloo group: `torch_sharding_ranks.py RANK RANKS FILE`.

Every rank makes the same whole input, rotates it whole and in shards, and writes one line of
JSON: which comparisons held. A rank that raises ends with a traceback and status 1.
"""

import json
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

from ropespec.backends.torch import (
    apply_rotary,
    apply_rotary_complex,
    apply_rotary_cos_sin,
    apply_rotary_dense,
    cos_sin,
)

AXES = {"batch": 0, "sequence": 1, "heads": 2}
held = {}


def same(got, want, placements):
    """Whether a DTensor has these placements and, put together, every bit of the whole result."""
    return (
        isinstance(got, DTensor)
        and tuple(got.placements) == tuple(placements)
        and got.shape == want.shape
        and torch.equal(got.full_tensor(), want)
    )


def forms_of(positions, mesh):
    """Positions in every form a caller may have them in."""
    whole = [Replicate()] * mesh.ndim
    return {
        "tensor": positions,
        "numpy": positions.numpy(),
        "list": positions.tolist(),
        "replicated": distribute_tensor(positions, mesh, whole),
        "sharded": distribute_tensor(positions, mesh, [Shard(positions.ndim - 1), *whole[1:]]),
    }


def along_each_axis(mesh, length):
    """Check each axis, layout, dtype and form of the positions."""
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.randn(3, length, 4, 8).to(dtype)
        rows = {"(S,)": torch.arange(length) + 5, "(B, S)": torch.randint(-99, 99, (3, length))}
        for shape, positions in rows.items():
            for interleaved in (True, False):
                want = apply_rotary(x, positions, interleaved=interleaved)
                for axis, dim in AXES.items():
                    cut = distribute_tensor(x, mesh, [Shard(dim)])
                    for form, given in forms_of(positions, mesh).items():
                        y = apply_rotary(cut, given, interleaved=interleaved)
                        name = f"{axis} {length} {dtype} {shape} {interleaved} {form}"
                        held[name] = same(y, want, [Shard(dim)])


def gradients(mesh, length):
    """Check that the gradient is that of the whole, in the placements of x."""
    x, seed = torch.randn(2, 3, length, 4, 8)
    positions = torch.arange(length)
    whole = x.clone().requires_grad_()
    apply_rotary(whole, positions, interleaved=False).backward(seed)
    for axis, dim in AXES.items():
        cut = distribute_tensor(x, mesh, [Shard(dim)]).requires_grad_()
        y = apply_rotary(cut, positions, interleaved=False)
        y.backward(distribute_tensor(seed, mesh, [Shard(dim)]))
        held[f"gradient {axis} {length}"] = same(cut.grad, whole.grad, [Shard(dim)])


def by_hand(rank, ranks, length):
    """Check shards without any DTensor: the caller cuts x and the positions himself."""
    x, positions = torch.randn(3, length, 4, 8), torch.arange(length)
    want = apply_rotary(x, positions, interleaved=True)
    mine = x.tensor_split(ranks, dim=1)[rank]
    start = sum(part.shape[1] for part in x.tensor_split(ranks, dim=1)[:rank])
    where = torch.arange(start, start + mine.shape[1])
    y = apply_rotary(mine, where, interleaved=True)
    held["by hand"] = torch.equal(y, want[:, start : start + mine.shape[1]])
    local = apply_rotary(mine, torch.arange(mine.shape[1]), interleaved=True)
    right = torch.equal(local, want[:, start : start + mine.shape[1]])
    held["local positions are seen to be wrong"] = right == (rank == 0)


def other_functions(mesh):
    """Check the other forms of the rotation, tables, a tail, and an `out`."""
    x, positions = torch.randn(2, 17, 4, 8), torch.arange(17)
    cut = distribute_tensor(x, mesh, [Shard(1)])
    want = apply_rotary(x, positions, interleaved=False, base=500.0, rotary_dim=4)
    y = apply_rotary(cut, positions, interleaved=False, base=500.0, rotary_dim=4)
    held["tail"] = same(y, want, [Shard(1)])
    want = apply_rotary_complex(x, positions)
    held["complex"] = same(apply_rotary_complex(cut, positions), want, [Shard(1)])
    want = apply_rotary_dense(x, positions, interleaved=True)
    held["dense"] = same(apply_rotary_dense(cut, positions, interleaved=True), want, [Shard(1)])
    cos, sin = (part.float() for part in cos_sin(positions, 8))
    want = apply_rotary_cos_sin(x, cos, sin, interleaved=True)
    held["tables"] = same(apply_rotary_cos_sin(cut, cos, sin, interleaved=True), want, [Shard(1)])
    cos, sin = (distribute_tensor(part, mesh, [Shard(0)]) for part in (cos, sin))
    held["cut tables"] = same(
        apply_rotary_cos_sin(cut, cos, sin, interleaved=True), want, [Shard(1)]
    )
    out = distribute_tensor(torch.zeros_like(x), mesh, [Shard(1)])
    want = apply_rotary(x, positions, interleaved=True)
    held["out"] = apply_rotary(cut, positions, interleaved=True, out=out) is out
    held["out holds the result"] = same(out, want, [Shard(1)])
    held["in place"] = apply_rotary(cut, positions, interleaved=True, out=cut) is cut
    held["x holds the result"] = same(cut, want, [Shard(1)])


def other_placements(mesh):
    """Check what leaves no whole pair on a device, empty shards, and what is refused."""
    x, positions = torch.randn(2, 3, 4, 8), torch.arange(3)
    want = apply_rotary(x, positions, interleaved=False)
    cut = distribute_tensor(x, mesh, [Shard(3)])
    y = apply_rotary(cut, positions, interleaved=False)
    held["components"] = same(y, want, [Shard(3)])
    held["in place by components"] = same(
        apply_rotary(cut, positions, interleaved=False, out=cut), want, [Shard(3)]
    )
    part = DTensor.from_local(x / 2, mesh, [Partial()], run_check=False)
    held["partial sums"] = same(
        apply_rotary(part, positions, interleaved=False), want, [Replicate()]
    )
    one = distribute_tensor(x[:, :1], mesh, [Shard(1)])
    want = apply_rotary(x[:, :1], [7], interleaved=False)
    held["an empty shard"] = same(apply_rotary(one, [7], interleaved=False), want, [Shard(1)])
    try:
        apply_rotary(distribute_tensor(x, mesh, [Shard(1)]), [0, 1], interleaved=False)
    except ValueError as error:  # on every rank, with the global shape
        held["wrong length"] = "positions must be of shape (3,)" in str(error)


def in_two_directions(ranks):
    """Check a mesh with an axis for the batch and one for the sequence."""
    mesh = init_device_mesh("cpu", (1, ranks), mesh_dim_names=("data", "context"))
    x, positions = torch.randn(3, 17, 4, 8), torch.randint(0, 999, (3, 17))
    want = apply_rotary(x, positions, interleaved=True)
    cut = distribute_tensor(x, mesh, [Shard(0), Shard(1)])
    for form, given in forms_of(positions, mesh).items():
        y = apply_rotary(cut, given, interleaved=True)
        held[f"batch and sequence, {form}"] = same(y, want, [Shard(0), Shard(1)])


def main(rank, ranks, file):
    """Join the group, compare, and print."""
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=ranks)
    torch.manual_seed(0)
    mesh = init_device_mesh("cpu", (ranks,))
    for length in (16, 17):
        along_each_axis(mesh, length)
        gradients(mesh, length)
    by_hand(rank, ranks, 17)
    other_functions(mesh)
    other_placements(mesh)
    in_two_directions(ranks)
    sys.stdout.write(json.dumps({"rank": rank, "held": held}) + "\n")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    # Threads of gloo outlive their group, and one that lets go of a tensor while the interpreter
    # ends aborts the process (pytorch/pytorch#179291). Everything is said: leave without that end.
    sys.stdout.flush()
    os._exit(0)
