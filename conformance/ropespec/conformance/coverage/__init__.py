"""The input space: dimensions of a call, their levels, the rows that cover pairs, and the count."""
