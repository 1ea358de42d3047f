"""Raises while it is imported."""

raise RuntimeError("the tables\nare missing")
