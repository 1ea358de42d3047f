"""The specification as data: inputs, rotated values, and intervals, for those without Python."""
