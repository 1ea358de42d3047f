"""Mistakes of attention, projections, tables and embeddings."""

from ropespec.conformance.mistakes.entry import entries

__all__ = ["MISTAKES"]

MISTAKES = entries("""
Z1 odd width cut
    An odd width loses a component without a word; refuse it.
L4 weights not permuted
    The rotation is right but the weights are in the other layout; permute the rows of W_q and W_k
    inside each head.
S2 sum instead of difference
    Queries and keys rotate in opposite directions, so the score depends on m + n; rotate both by
    +position.
O1 odd width
    An odd width gives one frequency more than there are pairs; refuse it.
A4 query written to the key
    The rotated query replaces the key; assign each to its own name.
A6 values rotated
    V is rotated as well; only queries and keys are.
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
largest score of masked keys
    The softmax takes off the largest score of masked keys too, and what is left underflows; mask
    the scores first.
largest score of other queries
    The softmax takes off the largest score of a head, a row or all, and queries whose scores are
    far below it lose their weights; take off the largest score of each query.
T8 rows without a key
    A row that may attend nowhere gives NaN or a mean; it must be zero.
T9 heads merged without transposing
    Heads and tokens are mixed up in the output; transpose before the reshape.
scaled by the width of the values
    Scores are divided by the root of the width of v; divide by sqrt(head_dim) of q and k.
scale without the tail
    The scale is part of the rotation, and the tail of a head passes by it; divide whole scores by
    sqrt(head_dim).
heads mapped to other groups
    A query head attends with the keys of another group; head h belongs to group h // (H/G).
score scaled
    The score is the right one times a number; take the sum over components, no mean.
scores capped
    Scores are held below a cap, which is no part of attention as it is specified; take them as they
    are.
temperature by query
    The scores of a query are multiplied by a number that its position or its row decides; divide
    by sqrt(head_dim) and by nothing else.
softmax over another axis
    Weights sum to 1 over queries or heads; take the softmax over the keys.
padding has weights
    Keys are padded with zeros, whose scores of 0 take a part of the weights; mask the padding.
sum of a running softmax
    A running softmax rescales its sum or the sums of values alone when the largest score rises;
    multiply both by the same.
weights not normalised
    Weights do not sum to 1; divide by their sum.
values normalised
    Values are divided by their length; sum them as they are.
masks of other heads
    Where heads have masks of their own, a head is given that of another; index masks by query
    heads, in the order of q.
kept by content
    What was rotated is kept by what it holds, and not by its positions; put these into the key.
blocks skipped
    Which blocks of keys are looked at is decided by the mask of the first row and head; decide it
    for each.
one key rotates for all
    What rotates of every head of k is taken from the first one; take it from each.
masks of rows
    A mask of three axes, of heads, is taken for one of rows; the axes of a mask are the last ones
    of (rows, heads, queries, keys).
splits not rescaled
    Parts of the keys are summed relative to the largest score of each, and added as they are;
    multiply each by the exponential of its largest score less the largest of all.
mask inverted
    True in the mask forbids; it must allow.
positions of the other side
    Keys are rotated by the positions of the queries, or queries by those of the keys; give each
    its own.
query or key not rotated
    Only one of query and key is rotated; rotate both.
wrong permutation
    Components come out in another order; x[0::2] and x[1::2] are the halves, and the inverse weaves
    them.
bound of other sums
    The bound is not the mean of |S_j| over all partial sums S_j of e^(i m theta); see DEC-2.
tables ignored
    The tables given are not used; rotate by them and by nothing else.
tables brought to the unit circle
    Tables that carry a factor lose it; take the entries as they are.
tables of one row for all
    The first row of the tables rotates all rows; index the tables by the row as well.
weights of another call
    Weights are kept by less than what they hold, by where they lie or their shape; take those that
    are given.
weight transposed
    A weight that is as wide as the head is taken by its other axis; its rows are what comes out.
dtype of the query
    The rotated key has the dtype of the query; cast each to that of its own.
query counted from the end
    Where the keys are more, the query is given the positions of the last of them; count both from
    0.
angles reduced
    The angles are reduced by whole turns, or are no radians; return position times frequency.
dtype of the tables
    The result has the dtype of the tables; cast it to that of x.
tables overwritten
    An argument of the rotation by tables is written to, or shared; work on a copy.
tables not checked
    Tables that do not fit x are accepted; compare the shapes.
gradient into the tables
    The caller's tables get a gradient; they are constants.
gradient of the tables
    The caller's tables get a gradient that is not theirs; sum over the heads, and the rows, that
    share an entry, or give none.
gradient by tables
    By tables given, the gradient is not the rotation by C and -S.
""")
