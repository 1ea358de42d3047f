"""Proof over a range: every position, every pair, in blocks that know nothing of each other."""
