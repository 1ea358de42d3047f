"""Mistakes that are told by where they are made."""

from ropespec.conformance.mistakes.entry import entries

__all__ = ["MISTAKES"]

MISTAKES = entries("""
K21 power without its divisor
    The length changes as a power of the position; divide the exponent by the scale of the decay.
B6 single-token path forgets the batch
    With one token only the first row is rotated; put the batch into the grid of the fast path.
D9 sine out of range
    Beyond some angle the sine is no sine any more; reduce the angle first.
E3 length baked in
    Tokens beyond the length of the first call come out otherwise; take the length from x.
I4 table grown for one only
    A table grown for one width or consumer is taken to be grown for all; keep a length for each.
O3 limit of the launch grid
    Tokens or rows from 65535 on come out otherwise; put that axis where the grid has no limit.
K12 paths with different frequencies
    Single tokens and sequences are rotated by different frequencies; share one table.
K14 attention factor without its ratio
    The factor may be a single mscale; it must be the ratio of the two.
M6 position index applied twice
    The table is advanced by the position twice; index it once.
beyond a block
    Tokens, rows or heads from some number on come out otherwise; mind the index of the second
    block.
pairs left over
    Pairs that are left over from whole blocks come back as they were; finish them one by one.
odd lengths
    Sequences of an odd length come out otherwise; mind the shard or block that is not full.
negative positions zeroed
    Some position below zero comes back as zero; rotate it, or declare that it is not accepted.
position taken for padding
    Tokens at one position come back as they were; a mask tells padding, a position does not.
precision claimed
    The angles have fewer bits than the precision claimed; compute them in float64, or claim less.
gain varies
    The length of the result depends on pair or position.
shape of the first call
    What the first call had no room for comes out otherwise; take sizes from x.
""")
