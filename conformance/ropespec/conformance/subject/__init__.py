"""Subjects: implementations under test, each in a worker process of its own.

The parent's side is `session`; nothing here imports a framework before a worker needs it.
"""

__all__: list[str] = []
