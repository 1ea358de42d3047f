"""What a chapter alone has to hold: `OWN`, functions of its whole text in its module."""

import importlib

__all__ = ["check"]


def check(chapter: str, text: str) -> list[str]:
    """List what the functions of the chapter's module find in its text."""
    module = importlib.import_module(f"spec_reading.chapter_{chapter}")
    return [line for function in getattr(module, "OWN", ()) for line in function(text)]
