"""Conformance: whether an implementation of RoPE is the one that the specification describes.

`ropespec check` on the command line and `conformance_tests` in a pytest file do the same work.
Importing this package loads no array framework but NumPy.
"""

from ropespec.conformance.profile import Profile, ProfileError
from ropespec.conformance.pytest_entry import conformance_tests
from ropespec.conformance.results import CheckResult, Counterexample, Status, Verdict

__all__ = [
    "CheckResult",
    "Counterexample",
    "Profile",
    "ProfileError",
    "Status",
    "Verdict",
    "conformance_tests",
]
