"""Mistakes as programs: the chain of a rotation, and what somebody put in place of a stage."""
