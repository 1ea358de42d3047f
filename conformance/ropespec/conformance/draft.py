"""A script that may show a failure: its source, and what it must print to be believed."""

import math
from dataclasses import dataclass

__all__ = ["Draft"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A script that has not been run, and what running it must give.

    The last line it prints ends in `expected A got B`.

    Attributes
    ----------
    source : str
        Python source.
    budget : float
        How far apart two numbers A and B must be, at least; two words must differ.
    exact : float or None
        What the number A must be; None if the script may find out for itself.
    raises : str
        The name of the exception that it ends in instead; empty if it must end well.
    """

    source: str
    budget: float = 0.0
    exact: float | None = None
    raises: str = ""

    def shown_by(self, status: int, printed: str, errors: str) -> bool:
        """Whether a run that ended like this showed the difference.

        Parameters
        ----------
        status : int
            The exit status.
        printed, errors : str
            Standard output and standard error.
        """
        if self.raises:
            last = _last(errors).partition(":")[0].rpartition(".")[2]
            return status == 1 and last == self.raises
        _, stated, rest = _last(printed).rpartition(" expected ")
        expected, got_is_there, got = rest.rpartition(" got ")
        return status == 0 and bool(stated and got_is_there) and self._differ(expected, got)

    def _differ(self, expected: str, got: str) -> bool:
        try:
            first, second = float(expected), float(got)
        except ValueError:
            return expected.strip() != got.strip()
        if self.exact is not None and not _near(first, self.exact, self.budget):
            return False
        return not _near(first, second, self.budget)


def _near(first: float, second: float, budget: float) -> bool:
    if math.isfinite(first) and math.isfinite(second):
        return abs(first - second) <= budget
    return first == second or (math.isnan(first) and math.isnan(second))


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
