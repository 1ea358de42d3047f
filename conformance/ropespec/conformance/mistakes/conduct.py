"""What a call does beside its numbers, and where no gradient or transform is right."""

from ropespec.conformance.mistakes.entry import entries

__all__ = ["MISTAKES"]

MISTAKES = entries("""
X4 axes of the result swapped
    The result has its axes in another order than x; transpose it back.
D10 result promoted
    The result has more precision than x; cast it back to the dtype of x.
M1 x overwritten
    x is rotated in place; write to a new array.
M3 strides ignored
    A strided x is read as contiguous; use its strides or copy it first.
offset of a view ignored
    Memory of x is read as if x began where its storage does; add the offset of the view.
G4 graph kept in the cache
    A second gradient fails; detach what is cached.
positions refused
    Positions below the claimed limit raise; raise the limit of the table or declare it.
small heads refused
    Small heads raise; serve them, or declare the least head_dim.
result demoted
    The result has less precision than x; cast it to the dtype of x.
positions overwritten
    The caller's positions are changed; work on a copy.
argument overwritten
    What a function was given is changed for its caller; work on a copy.
result shares memory with x
    Writing to the result changes x; return a new array.
strided x refused
    A strided x raises; use its strides or copy it first.
NaN spreads
    NaN in one pair reaches others; do not multiply by zero and add.
infinity lost
    NaN or infinity does not stay in its pair, or comes back as a number; neither clip nor
    replace.
empty input refused
    An axis of length zero raises; return an empty result.
no array
    The result is no array; return one like x.
gradient
    The gradient is not the rotation of the cotangent by the opposite angle; rotate it by -m.
gradient raises
    Taking the gradient raises.
gradient of one row
    On the way back all rows are rotated by the positions of one; index the tables by the row.
strided cotangent misread
    A cotangent that is not contiguous is read as if it were; use its strides or copy it first.
cotangent overwritten
    The gradient is made in the caller's cotangent; write to a new array.
tables of another call
    The step back takes the tables of the first or the latest call; save them with each call.
positions read again
    The step back reads the caller's positions, which may hold others by then; save them, or the
    tables, for the way back.
otherwise without a gradient
    Where no gradient is recorded x or an earlier result is overwritten, or x is rotated otherwise;
    take one path for both.
kept without a gradient
    A table that is kept is made in inference mode, and cannot be used where a gradient is taken;
    make it when the instance is made, or leave the mode where it is made.
result overwritten by the next
    The result lies in memory that the next call writes to; return a new array each time.
kept by memory
    A table or a result is kept by where the arguments lie; put what they hold into the key.
positions of few bits
    Places are reckoned in the dtype of the positions, which is too small for them; convert the
    positions first.
dimension of few bits
    A dimension is reckoned with in the bits of its type, and without a sign; make it an integer of
    Python's first.
position number left out
    Where some numbers of a token are equal, or stand still, another is not looked at; let each pair
    follow its own number, whatever the others are.
strided positions misread
    Positions that are not contiguous are read as if they were; use their strides or copy them.
gradient without a history
    The gradient is right once, and zero or another for whoever differentiates it again; make it
    of operations that are recorded.
gradient changes what it needs
    A step back writes to the tables or positions that it has kept, and the next through the same
    call reads that; make new arrays.
gradient of zeros
    Vectors of zeros count as padding, and what comes back to them is not rotated; the gradient
    depends on positions alone, so rotate whatever x holds.
tangent wrong
    In forward mode the tangent is not rotated as x is; rotate it by the same positions.
batching rule wrong
    Under vmap the results are not those of the plain calls; map positions and x alike.
other numbers when compiled
    What the compiler has traced is another function; do not branch on being traced, and keep no
    positions.
out not written as asked
    The result is not in out, or not by its strides; write there, everything, and return it.
overwritten operand in place
    In place, something is made of what is rotated already: the second member of the first, or a
    pair again where blocks overlap; read both members, once, before writing.
memory never written
    What comes back was allocated and not filled, as by `empty`; write every component.
unfit out accepted
    An out of another shape or dtype, or overlapping x in part, or itself, gets wrong numbers;
    refuse it.
written behind autograd
    x is overwritten where autograd does not see it, and a gradient is silently wrong; record it
    or raise.
complex result
    The result is complex; return its real and imaginary parts in their places.
other result
    What comes back is no array like x; return one.
subnormals flushed
    Subnormal numbers become zero; keep them, or say so.
it raises
    It raises instead of answering.
it crashes
    It ends its process.
it hangs
    It does not answer within the deadline.
""")
