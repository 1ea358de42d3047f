"""Which claims fit what failed: each is tried before it is proposed."""

from ropespec.conformance.remedy.remedied import remedied

__all__ = ["remedied"]
