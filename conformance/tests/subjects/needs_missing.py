# ruff: noqa: F401  # the import of a subject are its own
"""Imports something that is not there."""

import no_such_module_anywhere
