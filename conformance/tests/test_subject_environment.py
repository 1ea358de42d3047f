"""Tests of the environment variables of a worker."""

import pytest

from ropespec.conformance.subject.environment import environment


@pytest.mark.parametrize(("theirs", "found"), [(None, "passive"), ("active", "active")])
def test_threads_do_not_spin_unless_that_is_asked_for(theirs, found, monkeypatch):
    """The variable of OpenMP is set where the user has not set it."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if theirs is not None:
        monkeypatch.setenv("OMP_WAIT_POLICY", theirs)

    assert environment()["OMP_WAIT_POLICY"] == found
