"""The adapter to write for a rotation that is not called as f(x, positions)."""

from ropespec.conformance.adapter.answered import Answered
from ropespec.conformance.adapter.written import adapter

__all__ = ["Answered", "adapter"]
