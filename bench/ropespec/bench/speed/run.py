"""Letting the contenders take turns, case by case, and gathering their rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ropespec.bench.speed.case import Case, Row
from ropespec.bench.speed.ladder import Plan
from ropespec.bench.speed.process import Contender, EndedError
from ropespec.bench.speed.subjects import Entry

__all__ = ["Absent", "Found", "run"]

MAX_CRASHES = 3
"""After so many a contender is given up."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Absent:
    """A contender that was not measured, or not to the end.

    Attributes
    ----------
    subject : str
        Its name.
    reason : str
        Why.
    """

    subject: str
    reason: str


@dataclass(slots=True)
class Found:
    """What came out.

    Attributes
    ----------
    rows : list of Row
        Measured and failed cases.
    absent : list of Absent
        Contenders that could not be measured.
    gpu : str
        The name of the GPU that something ran on, or nothing.
    left : int
        Cases that were left when the run was interrupted; 0 for a whole one.
    """

    rows: list[Row] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    gpu: str = ""
    left: int = 0


def run(entries: Sequence[Entry], plan: Plan, progress: Progress) -> Found:
    """Measure all contenders in all cases.

    Every contender lives in a process of its own. In every case they take turns, `plan.rounds`
    times, so that what slows the machine for a while slows all of them.

    Parameters
    ----------
    entries : sequence of Entry
        The contenders.
    plan : Plan
        What to measure.
    progress : callable
        Told in a line what begins.

    Returns
    -------
    Found
        All rows; a contender that failed has its reason in them, or is absent. After an
        interruption, those of the cases until then.
    """
    found = Found()
    lanes: list[_Lane] = []
    try:
        for entry in entries:
            lanes.append(_Lane(entry, plan, found))
            lanes[-1].start()
        for lane in lanes:
            progress(f"loading {lane.entry.name}")
            lane.greet()
        _all(plan, lanes, found, progress)
    finally:
        for lane in lanes:
            lane.end()
    return found


def _all(plan: Plan, lanes: Sequence["_Lane"], found: Found, progress: Progress) -> None:
    cases = plan.cases()
    for index, case in enumerate(cases, start=1):
        where = f"[{index}/{len(cases)}]"
        try:
            if case.shape == cases[0].shape:
                progress(f"{where} {case.words}")
            _one(case, lanes, plan, f"{where} {case}", progress)
        except KeyboardInterrupt:
            found.left = len(cases) - index + 1
            return


def _one(case: Case, lanes: Sequence["_Lane"], plan: Plan, where: str, progress: Progress) -> None:
    taking = [lane for lane in lanes if lane.takes(case)]
    rows: dict[str, Row] = {}
    for again in range(plan.rounds):
        for lane in taking:
            name = lane.entry.name
            if again and rows[name].seconds is None:
                continue
            progress(f"{where}: {name}")
            row = lane.measure(case, with_error=not again)
            rows[name] = rows[name].merged(row) if again else row
    for lane in taking:
        lane.found.rows.append(rows[lane.entry.name])


class _Lane:
    """One contender over the whole run: its process, started anew where it crashed."""

    def __init__(self, entry: Entry, plan: Plan, found: Found) -> None:
        self.entry, self.found = entry, found
        self._plan = plan
        self._process: Contender | None = None
        self._crashes = 0

    def start(self) -> None:
        """Start the process, or say why there cannot be one."""
        missing = self.entry.missing()
        if missing is not None:
            self._absent(f"not installed: {missing}")
        else:
            self._process = Contender(self.entry.name, self._plan.device, self._plan.timeout)

    def greet(self) -> None:
        """Wait for the process, and end it if it has nothing to offer."""
        if self._process is None:
            return
        try:
            self._process.greet()
        except EndedError as ended:
            self._process = None
            self._absent(str(ended))
            return
        hello = self._process.hello
        if "absent" in hello:
            self.end()
            self._absent(hello["absent"])
        else:
            self.found.gpu = hello["device_name"] or self.found.gpu

    def takes(self, case: Case) -> bool:
        """Whether it is measured in a case."""
        if self._process is None:
            return False
        return self._plan.wants(self.entry, case) and self._process.offers(case)

    def measure(self, case: Case, *, with_error: bool) -> Row:
        """Return the row of a case, that of a failure if the process ends."""
        if self._process is None:
            return Row(self.entry.name, *case, reason=f"given up after {MAX_CRASHES} crashes")
        device = self._process.hello["device"]
        plan = self._plan
        try:
            answer = self._process.measure(
                case, repetitions=plan.repetitions, limit=plan.limit, with_error=with_error
            )
        except EndedError as ended:
            self._crashed()
            return Row(self.entry.name, *case, device=device, reason=str(ended))
        return Row.from_json(answer)

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _crashed(self) -> None:
        self.end()
        self._crashes += 1
        if self._crashes < MAX_CRASHES:
            self.start()
            self.greet()
        else:
            self._absent(f"given up after {MAX_CRASHES} crashes")

    def _absent(self, reason: str) -> None:
        self.found.absent.append(Absent(self.entry.name, reason))
