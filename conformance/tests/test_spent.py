"""Tests of what is said of where the time goes."""

import dataclasses
from types import SimpleNamespace

import pytest

from ropespec.conformance.builtin import builtin_profile
from ropespec.conformance.runner import Plan, run
from ropespec.conformance.spent import Spent
from ropespec.conformance.subject.session import Session


def test_seconds_of_the_subject_are_no_talking():
    """An answer says how many of the seconds were its own; the rest of the exchange is talking."""
    spent = Spent(talking=1.0)

    spent.asking(lambda: SimpleNamespace(seconds=-1000.0))

    assert spent.calling == -1000.0
    assert spent.talking > 1000.0


def test_a_call_that_raises_is_talking():
    """Nobody knows how much of it was the subject's."""
    spent = Spent()

    with pytest.raises(ValueError, match="no"):
        spent.asking(lambda: (_ for _ in ()).throw(ValueError("no")))

    assert spent.calling == 0.0
    assert spent.talking > 0.0


def test_a_verdict_says_where_its_seconds_went():
    """All four are counted, none of them twice."""
    with Session("numpy", builtin_profile("numpy")) as session:
        session.spent.drawing = 1e6  # what was before is no part of it
        verdict = run(session, Plan(only=("ROT-6.sizes",)))

    assert set(verdict.spent) == {field.name for field in dataclasses.fields(Spent)}
    assert min(verdict.spent.values()) > 0.0
    assert sum(verdict.spent.values()) < verdict.duration
