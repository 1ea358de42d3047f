"""The catalogue of mistakes that show in what a subject offers: id, name, sentence with the remedy.

Ids are those of the collection of real defects; mistakes that are not in it have none and are
found by their name.
"""

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["CATALOGUE", "UNLISTED", "Entry"]


class Entry(NamedTuple):
    """A mistake.

    Attributes
    ----------
    id : str
        In the collection; empty if it is not in it.
    name : str
        In a few words.
    sentence : str
        What is done, and the remedy in half a sentence.
    """

    id: str
    name: str
    sentence: str


# An entry is a line with id and name, and a sentence that is indented.
_LISTED = """
L1 wrong pairing
    The other convention's pairs are rotated; pair (2i, 2i+1) where interleaved is claimed, (i,
    i+d/2) where half is.
L2 tables of the other layout
    The table repeats angles in one layout and the rotation pairs in the other;
    repeat_interleave goes with neighbours, tile with halves.
L3 left de-interleaved
    The rotated pairs are concatenated instead of woven; stack them on a last axis and reshape.
K21 power without its divisor
    The length changes as a power of the position; divide the exponent by the scale of the decay.
Z1 odd width cut
    An odd width loses a component without a word; refuse it.
L4 weights not permuted
    The rotation is right but the weights are in the other layout; permute the rows of W_q and
    W_k inside each head.
L6 convention flag ignored
    The flag for the layout has no effect on some call; pass it on to every path.
S1 direction reversed
    Pairs rotate clockwise; the sign of sin, or the transpose of the matrix, is to be flipped.
S2 sum instead of difference
    Queries and keys rotate in opposite directions, so the score depends on m + n; rotate both
    by +position.
P1 positions ignored
    Tokens are counted from 0 whatever positions are given; index the table by the positions.
P2 offset counted twice
    The offset is advanced by the length of the prompt again; advance it by the new tokens only.
P3 offset by one
    Every token is rotated by one position too many; count from 0.
P4 one position for all tokens
    A single position is broadcast over the sequence; take a slice as long as the sequence.
P9 rotated again from the cache
    What has been rotated is kept and rotated again; keep keys as they were before, or rotate
    them once.
P6 positions shared over a ragged batch
    The extreme position of the batch rotates all rows; keep a position per row.
B2 positions not reset
    Positions count on where a new document begins; use the positions given.
B3 positions of the first part for all
    A sequence is cut in parts and each is rotated by the positions of the first; add the offset
    of the part to the index.
B5 positions of one row for all
    The batch index of the table is ignored; index cos and sin by the row as well.
B6 single-token path forgets the batch
    With one token only the first row is rotated; put the batch into the grid of the fast path.
X1 wrong axis
    The head axis is taken for the sequence; read the length from the sequence axis.
X3 rotated before the split into heads
    Heads are rotated as one long vector, or the width is that of the model; split into heads
    first and use head_dim.
X4 axes of the result swapped
    The result has its axes in another order than x; transpose it back.
R1 head_dim instead of rotary_dim
    Exponent or pair distance follow head_dim; both must follow rotary_dim.
R2 rotary_dim ignored
    The whole head rotates; rotate the first rotary_dim components and pass the rest through.
R3 partial factor applied twice
    Only a part of the claimed components rotates; apply the factor once.
R4 rotation discarded
    The part that should be rotated comes back as it was; return the rotated slice.
R6 padded lanes rotate
    The width is rounded up to a power of two and the tail rotates with it; mask the columns.
R9 wrong end rotates, or tail dropped
    The first rotary_dim components must rotate and the others come back as they are.
F1 wrong base
    The base is not the one claimed; pass it on to the frequencies.
F2 reciprocal frequencies
    The exponent is positive, so frequencies grow; use base^(-2i/d).
F3 wrong exponent
    The exponent is not 2i/rotary_dim; mind the index, the step and the denominator.
D1 frequencies in half precision
    inv_freq is rounded to half precision; keep the buffer in float32 when the model is cast.
D2 positions in half precision
    Positions are rounded, so neighbours coincide; build them as integers or float32.
D3 angles or products in half precision
    The angle, or the products, are made in half precision; compute in float32 and cast at the
    end.
D4 table in half precision
    cos and sin are stored in half precision; store float32, or declare the precision.
D5 angles in reduced matrix precision
    The outer product runs in TF32 or under autocast; multiply element by element in float32.
D8 fast sine
    The range of the sine is reduced in float32; use the accurate function, or reduce the angle
    exactly.
D9 sine out of range
    Beyond some angle the sine is no sine any more; reduce the angle first.
D10 result promoted
    The result has more precision than x; cast it back to the dtype of x.
D12 float32 intermediate
    Float64 is asked for but an intermediate stays in float32; compute the frequencies and
    angles in float64.
D13 sine lost
    Only the real part of e^{i m theta} is kept; do not cast complex tables to a real dtype.
C1 stale positions
    The positions of an earlier call are used; put the offset into the key of the cache.
C4 stale dtype
    A table made for a call in half precision serves later calls in float32; put the dtype into
    the key.
E3 length baked in
    Tokens beyond the length of the first call come out otherwise; take the length from x.
I4 table grown for one only
    A table grown for one width or consumer is taken to be grown for all; keep a length for each.
O1 odd width
    An odd width gives one frequency more than there are pairs; refuse it.
O3 limit of the launch grid
    Tokens or rows from 65535 on come out otherwise; put that axis where the grid has no limit.
C5 beyond the table
    Positions past the end of a table are clamped, wrapped or passed through; extend the table
    or raise.
K1 positions scaled
    All frequencies are multiplied by one factor that nobody declared; check the factor and its
    direction.
K2 frequencies kept after a long call
    A long sequence changes the frequencies of later short ones; reset them.
K6 position scale 2
    Positions are doubled; the default scale must be 1.
K12 paths with different frequencies
    Single tokens and sequences are rotated by different frequencies; share one table.
K13 attention factor
    cos and sin carry a factor that nobody declared; apply it only where the scheme asks for it.
K14 attention factor without its ratio
    The factor may be a single mscale; it must be the ratio of the two.
A1 applied twice
    The rotation is applied twice; remove one of the two calls.
A3 never applied
    x comes back as it was; call the rotation on this path.
A4 query written to the key
    The rotated query replaces the key; assign each to its own name.
A6 values rotated
    V is rotated as well; only queries and keys are.
M1 x overwritten
    x is rotated in place; write to a new array.
M2 overwritten operand
    One member is made from the other already overwritten; keep both until both are done.
M3 strides ignored
    A strided x is read as contiguous; use its strides or copy it first.
M6 position index applied twice
    The table is advanced by the position twice; index it once.
G1 backward rotates forward
    The gradient rotates by +m; it must rotate by -m.
G2 constant gradient of the tail
    The gradient of the components that pass through is a constant; pass the cotangent on.
G3 no gradient
    No gradient reaches x; register a backward, or do not detach.
G4 graph kept in the cache
    A second gradient fails; detach what is cached.
I1 frequencies not initialised
    The frequencies are no ladder and do not begin at 1; fill the buffer after loading.
Z2 exponent doubled, sine and cosine unpaired
    The exponent takes an index that is already even; use 2i/d for both members of a pair.
Z3 cosine on its own frequency
    The cosine takes the exponent (2i+1)/d, or the base is 1000; a pair shares one frequency.
Z4 sines and cosines in another order
    Sines and cosines stand in two halves or change places; weave them, sine first.
T1 scaled by the model
    Scores are divided by the root of heads times head_dim; divide by sqrt(head_dim).
T2 not scaled
    Scores are not divided by sqrt(head_dim); do so.
T3 masked after the softmax
    Weights are zeroed after the softmax and do not sum to 1; mask the scores.
T4 masked scores still count
    Masked scores are 0 or a small number, not minus infinity; fill with minus infinity.
T5 mask ignored
    The mask has no effect; assign the masked scores.
T8 rows without a key
    A row that may attend nowhere gives NaN or a mean; it must be zero.
T9 heads merged without transposing
    Heads and tokens are mixed up in the output; transpose before the reshape.
"""

_NOT_LISTED = """
lost minus
    The block is [[c, s], [s, c]]; subtract where the formula subtracts.
some pairs rotated otherwise
    Some pairs are multiplied by another matrix than the rest; check the last block.
frequencies reversed
    The first pair is the slowest; the first must be the fastest.
one scalar theta
    All pairs rotate by the same angle; each has its own frequency.
scaled frequencies
    The frequencies are no single ladder base^(-2i/d).
offset
    A constant is added to every position; rotate by the position itself.
counted from the first position
    Tokens are counted from the first position; use the positions given.
local positions
    A sequence is cut in parts and tokens are counted in each; a token keeps the position it has in
    the whole.
positions not reordered
    Tokens are dealt out in another order and positions are not; reorder both alike.
rotated by the position of another
    Some token is rotated by the position of another token or row; index positions by its own
    row and place.
made of another token
    A token carries components of another one; read each from its own place.
frequencies in another order
    The frequencies are the right ones, though not from the fastest to the slowest.
frequencies of the first width
    The frequencies made for the first head_dim serve every other; keep them by width.
frequencies repeated
    The frequencies begin again after some pairs; compute one for each.
frequencies in equal steps
    The frequencies are equally spaced; space their logarithms.
exponent in half precision
    The exponent is rounded to half precision before the power; compute it in float32 at least.
pairs in another order
    The rotated components come back in other places; leave each in its own.
tail scaled
    The components that do not rotate are multiplied by a factor; return them as they are.
beyond a block
    Tokens, rows or heads from some number on come out otherwise; mind the index of the second
    block.
special width
    At some head_dim the result is otherwise than at the rest; look at the path for it.
scaled by the width of the values
    Scores are divided by the root of the width of v; divide by sqrt(head_dim) of q and k.
heads mapped to other groups
    A query head attends with the keys of another group; head h belongs to group h // (H/G).
odd lengths
    Sequences of an odd length come out otherwise; mind the shard or block that is not full.
negative positions clamped
    Positions below zero are rotated as 0; keep their sign.
sign of positions lost
    Positions below zero are rotated as positive ones; keep their sign.
negative small heads refused
    Small heads raise; serve them, or declare the least head_dim.
positions refused
    Positions below zero raise; accept them or declare that they are not.
negative positions misread
    Positions below zero are rotated by another angle; keep their sign.
negative positions zeroed
    Some position below zero comes back as zero; rotate it, or declare that it is not accepted.
positions in 8 bits
    Positions wrap at 8 bits; hold them in 32 or 64.
positions in 24 bits
    Positions wrap at 24 bits; hold them in 32 or 64.
positions in 16 bits
    Positions wrap at 16 bits; hold them in 32 or 64.
rows not filled
    Single positions come back as zero or as no number; fill every row of the table.
angle depends on other tokens
    A position is rotated otherwise in a row than next to its neighbour; rotate each token by
    its own position.
small heads refused
    Small heads raise; serve them, or declare the least head_dim.
positions refused
    Positions below the claimed limit raise; raise the limit of the table or declare it.
x demoted
    x passes through fewer bits than it has; compute in its own dtype at least.
result demoted
    The result has less precision than x; cast it to the dtype of x.
positions overwritten
    The caller's positions are changed; work on a copy.
result shares memory with x
    Writing to the result changes x; return a new array.
strided x refused
    A strided x raises; use its strides or copy it first.
x normalised
    The result does not grow with x; do not divide by the length.
large components clipped
    Large components saturate; remove the clipping.
not linear
    The result is not linear in x.
NaN spreads
    NaN in one pair reaches others; do not multiply by zero and add.
infinity lost
    NaN or infinity does not stay in its pair, or comes back as a number; neither clip nor replace.
empty input refused
    An axis of length zero raises; return an empty result.
precision claimed
    The angles have fewer bits than the precision claimed; compute them in float64, or claim
    less.
coarse table
    cos or sin come in equal steps; hold the table in floating point, or interpolate.
cos and sin of different angles
    The cosine and the sine of a pair are not of one angle; take both from one row and one
    frequency.
gain varies
    The length of the result depends on pair or position.
other shape
    The result has another shape than x.
no array
    The result is no array; return one like x.
special path
    Calls of one shape or dtype come out otherwise than the rest.
history
    A call changes later ones; keep no state, or key it by all it depends on.
not repeatable
    The same call gives another result the second time; look for state, random numbers or a
    race.
heads rotated differently
    Equal heads come back different; rotate all heads by the position of their token.
not a number
    The result is no number; look for memory that was never written.
tokens left out
    Tokens of one position come out different; rotate every token of the sequence.
cos and sin swapped
    The cosine stands where the sine belongs; return cos first, or give it the real part.
score scaled
    The score is the right one times a number; take the sum over components, no mean.
softmax over another axis
    Weights sum to 1 over queries or heads; take the softmax over the keys.
weights not normalised
    Weights do not sum to 1; divide by their sum.
values normalised
    Values are divided by their length; sum them as they are.
mask inverted
    True in the mask forbids; it must allow.
query or key not rotated
    Only one of query and key is rotated; rotate both.
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
otherwise without a gradient
    Where no gradient is recorded x is overwritten, or rotated otherwise; take one path for
    both.
result overwritten by the next
    The result lies in memory that the next call writes to; return a new array each time.
kept by memory
    A table or a result is kept by where the arguments lie; put what they hold into the key.
strided positions misread
    Positions that are not contiguous are read as if they were; use their strides or copy them.
tables ignored
    The tables given are not used; rotate by them and by nothing else.
tables brought to the unit circle
    Tables that carry a factor lose it; take the entries as they are.
tables of one row for all
    The first row of the tables rotates all rows; index the tables by the row as well.
dtype of the tables
    The result has the dtype of the tables; cast it to that of x.
tables overwritten
    An argument of the rotation by tables is written to, or shared; work on a copy.
tables not checked
    Tables that do not fit x are accepted; compare the shapes.
gradient into the tables
    The caller's tables get a gradient; they are constants.
gradient by tables
    By tables given, the gradient is not the rotation by C and -S.
gradient without a history
    The gradient is right once, and zero or another for whoever differentiates it again; make it
    of operations that are recorded.
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
    In place, the second member is made from the first already rotated; read both before
    writing.
unfit out accepted
    An out of another shape or dtype, or overlapping x in part, gets wrong numbers; refuse it.
written behind autograd
    x is overwritten where autograd does not see it, and a gradient is silently wrong; record it
    or raise.
angle in degrees
    Angles are taken for degrees, or turned into them; cos and sin take radians.
angle in turns
    Angles are taken for whole turns; cos and sin take radians.
base grows with the length
    The base depends on the length of the call; scale it only where a scheme says so.
complex result
    The result is complex; return its real and imaginary parts in their places.
cosine lost
    The product with the cosine is missing; keep both products.
counted from the end
    Tokens are counted from the end of the sequence; use the positions given.
counted from the last position
    Tokens are counted back from the last position; use the positions given.
gaps closed
    Gaps between positions are closed; use the positions given.
heads mixed up
    Heads come back in the places of others; transpose back as there.
mirrored pairs
    A component turns with the one as far from the other end; see the pairing claimed.
one member turns
    One member of each pair comes back as it was; write both.
one position for all calls
    One position is used in every call; use the positions given.
operands confused
    A member of a pair is made of other products than it should; compare the formula.
other result
    What comes back is no array like x; return one.
position 0 for all
    Every token is rotated as at position 0; use the positions given.
position of another source
    The position does not come from the positions given; use them.
positions halved
    Positions are divided by two; use them as they are.
positions in 32 bits
    Positions wrap at 32 bits; keep 64.
positions in steps
    Positions are rounded to steps; use each as it is.
positions in whole steps
    Angles are rounded to whole radians; keep their fractions.
positions of blocks
    Tokens share the index of their block; use the position of each.
positions replaced by their rank
    Positions are replaced by their order; use their values.
positions restart
    Counting begins again where positions jump; use the positions given.
rows mixed up
    Rows come back in the places of others; index the batch alike on both sides.
shape of the first call
    What the first call had no room for comes out otherwise; take sizes from x.
sign of sines lost
    Sines lose their sign; look for an absolute value or a square root.
some pairs do not turn
    Some pairs come back as they were; fill the whole ladder.
some pairs turn backwards
    Some pairs rotate clockwise; look at the sign of their frequencies.
squared tables
    Cosines and sines are multiplied twice; multiply once.
subnormals flushed
    Subnormal numbers become zero; keep them, or say so.
table not reduced
    Series of sine and cosine are used beyond small angles; reduce the angle first.
tail reversed
    The components that do not rotate come back in reverse; pass them as they are.
tail rounded
    The components that do not rotate are rounded; pass them bit for bit.
term lost
    One of the two products of a member is missing; keep both.
tokens reversed
    Tokens come back in reverse; keep their order.
unknown frequencies
    The frequencies are none that is known; everything else is right.
x added
    x is added to its rotation; return the rotation alone.
zeroed
    What should rotate comes back as zero; write every component.
it raises
    It raises instead of answering.
it crashes
    It ends its process.
it hangs
    It does not answer within the deadline.
"""


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Return the heading and the sentence of each entry."""
    heading, lines = "", list[str]()
    for line in (*text.strip().splitlines(), ""):
        if line.startswith(" "):
            lines.append(line.strip())
            continue
        if heading:
            yield heading, " ".join(lines)
        heading, lines = line, []


CATALOGUE = {
    heading.split()[0]: Entry(heading.split()[0], heading.split(maxsplit=1)[1], sentence)
    for heading, sentence in _entries(_LISTED)
}
"""Entries by id."""

UNLISTED = {name: Entry("", name, sentence) for name, sentence in _entries(_NOT_LISTED)}
"""Entries that have no id, by name."""
