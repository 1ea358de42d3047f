"""Checks of long tables of the documents' code (PUB-1, PUB-3)."""

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.published.tables import CIS, PE, against_cis, against_pe, asked
from ropespec.conformance.checks.rotation.walked import usual_alone
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial

__all__: list[str] = []

_ROWS = 70001
"""More than 16 bits count, and no multiple of anything usual."""


def _rows(case: Case) -> int:
    return min(_ROWS, case.limit + 1)


@check(
    "PUB-1.long",
    "Positions have too few digits, so that rows of a long table stand for others.",
    needs=(PE,),
    space=Space(),
)
@walks(usual_alone)
def long_embedding(trial: Trial, case: Case) -> Finding:
    """The rows of a long table are sines and cosines of their own positions."""
    sizes = 1, 1, _rows(case), case.head_dim
    got, problem, call, allowed = asked(trial, PE, sizes)
    return problem or against_pe(got, sizes, allowed, call)


@check(
    "PUB-3.long",
    "Positions have too few digits, so that rows of a long table stand for others.",
    needs=(CIS,),
    space=Space(),
)
@walks(usual_alone)
def long_cis(trial: Trial, case: Case) -> Finding:
    """The rows of a long table are e^{i m theta_i} of their own positions."""
    end = _rows(case)
    got, problem, call, allowed = asked(trial, CIS, (case.head_dim, end, case.frequencies.base))
    return problem or against_cis(got, case, end, allowed, call)
