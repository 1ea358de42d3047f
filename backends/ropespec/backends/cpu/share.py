"""How threads share a job: each takes the next few tokens, until there are none left.

Who calls begins at the first token and who helps at the last, so that of the same memory, call
after call, each finds its end in its own cache.
What a caller publishes, every thread that is awake may help with; one that comes late finds nothing
left and has done no harm, so nobody waits for a thread to wake up. Compiled like the kernels.
"""

import os
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ropespec.backends.cpu.kernels import allocate, give_up, inline, release

__all__ = ["FUNCTIONS"]

# Places of int64 in the state, those that threads write to in cache lines of their own.
LEFT, DONE, KERNEL, JOB, TOKENS, STEP, OWNER = 0, 16, 32, 33, 34, 35, 36

STATE = 48
"""Numbers of a state."""

PATIENCE = 200
"""Rounds, of half a microsecond or so, for which a thread that has nothing to do stays awake."""

ROUND = 64
"""Looks in a round, before other processes are given way."""

FIRST = 1 << 32
"""What is left, in one number: the first chunk times this, and the one behind the last."""


def _address(builder, arguments):
    pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
    return builder.gep(pointer, [arguments[1]])


@intrinsic
def load(_, state, place):
    """Read what another thread may write."""

    def code(context, builder, signature, arguments):
        return builder.load_atomic(_address(builder, arguments), "acquire", 8)

    return types.int64(types.int64, types.int64), code


@intrinsic
def store(_, state, place, value):
    """Write what another thread may read."""

    def code(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _address(builder, arguments), "release", 8)

    return types.void(types.int64, types.int64, types.int64), code


@intrinsic
def increase(_, state, place):
    """Count one more."""

    def code(context, builder, signature, arguments):
        one = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", _address(builder, arguments), one, "acq_rel")

    return types.int64(types.int64, types.int64), code


@intrinsic
def exchange(_, state, place, old, new):
    """Write `new` if `old` stands there; tell whether it did."""

    def code(context, builder, signature, arguments):
        target = _address(builder, arguments)
        done = builder.cmpxchg(target, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(done, 1)

    return types.boolean(types.int64, types.int64, types.int64, types.int64), code


@intrinsic
def call(_, kernel, job, start, stop):
    """Call a kernel by its address."""

    def code(context, builder, signature, arguments):
        index = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [index] * 3).as_pointer()
        builder.call(builder.inttoptr(arguments[0], kind), arguments[1:])

    return types.void(types.int64, types.int64, types.int64, types.int64), code


@intrinsic
def call_parallel(_, parallel, function, state, threads):
    """Call `GOMP_parallel` by its address."""

    def code(context, builder, signature, arguments):
        index, word = ir.IntType(64), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [index, index, word, word]).as_pointer()
        target = builder.inttoptr(arguments[0], kind)
        threads = builder.trunc(arguments[3], word)
        builder.call(target, [arguments[1], arguments[2], threads, ir.Constant(word, 0)])

    return types.void(types.int64, types.int64, types.int64, types.int64), code


if os.name == "posix":
    give_way = types.ExternalFunction("sched_yield", types.int32())
    this_thread = types.ExternalFunction("pthread_self", types.int64())
else:

    @inline
    def give_way():
        """Stay: there is no portable name for it."""
        return 0

    @inline
    def this_thread():
        """Be one of those that begin at the first token."""
        return 0


@inline
def are_left(left):
    """Whether there are chunks that nobody has taken."""
    return left // FIRST < left % FIRST


@inline
def take(state, late):
    """Take chunks until none is left, from the last on if `late`; return how many there were.

    Who has taken one knows that the job stands until it is done, as its owner waits for it.
    """
    taken = 0
    left = load(state, LEFT)
    while are_left(left):
        if exchange(state, LEFT, left, left - 1 if late else left + FIRST):
            step, tokens = load(state, STEP), load(state, TOKENS)
            start = (left % FIRST - 1 if late else left // FIRST) * step
            call(load(state, KERNEL), load(state, JOB), start, min(start + step, tokens))
            increase(state, DONE)
            taken += 1
        left = load(state, LEFT)
    return taken


@inline
def publish(state, kernel, job, tokens, step):
    """Let other threads begin; return the number of chunks."""
    chunks = (tokens + step - 1) // step
    store(state, KERNEL, kernel)
    store(state, JOB, job)
    store(state, TOKENS, tokens)
    store(state, STEP, step)
    store(state, OWNER, this_thread())
    store(state, DONE, 0)
    store(state, LEFT, chunks)
    return chunks


def help_out(state):
    """Take part in a job."""
    take(state, this_thread() != load(state, OWNER))


def conduct(parallel, helper, threads, kernel, job, tokens, step):
    """Have the threads of OpenMP do a job; `helper` is the address of `help_out`."""
    memory = allocate(8 * (STATE + 16))
    if memory == 0:
        give_up()
    state = (memory + 127) // 128 * 128
    publish(state, kernel, job, tokens, step)
    call_parallel(parallel, helper, state, threads)
    release(memory)


def share(state, kernel, job, tokens, step):
    """Publish a job, take part in it, and return when all of it is done."""
    chunks = publish(state, kernel, job, tokens, step)
    take(state, False)
    looks = 0
    while load(state, DONE) < chunks:
        looks += 1
        if looks % ROUND == 0:
            give_way()


def serve(state):
    """Help with whatever is published; return when nothing has been for a while."""
    idle = 0
    while idle < PATIENCE:
        for _ in range(ROUND):
            if are_left(load(state, LEFT)):
                break
        if take(state, True) > 0:
            idle = 0
        else:
            idle += 1
            give_way()


FUNCTIONS: dict[str, tuple[Any, str]] = {
    "share": (share, "void(int64, int64, int64, int64, int64)"),
    "serve": (serve, "void(int64)"),
    "help_out": (help_out, "void(int64)"),
    "conduct": (conduct, "void(int64, int64, int64, int64, int64, int64, int64)"),
}
"""What is called from outside, and how it is compiled."""
