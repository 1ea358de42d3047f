"""What a worker does with a block; the subject stays loaded between blocks."""

import atexit
import json
import threading
from collections.abc import Mapping
from typing import Any

from ropespec.conformance.certify.block import judged
from ropespec.conformance.certify.found import Found
from ropespec.conformance.certify.plan import Block
from ropespec.conformance.opening import open_subject
from ropespec.conformance.subject.errors import SubjectError
from ropespec.conformance.trial import Trial, Unfit

__all__ = ["certify_block"]

_OPEN: dict[str, Trial] = {}
_TURN = threading.Lock()


def certify_block(target: str, claims: Mapping[str, Any], timeout: float, block: Block) -> Found:
    """Judge a block; a subject that gives no result is asked once more, on a fresh instance.

    Parameters
    ----------
    target, claims, timeout
        As in `open_subject`.
    block : Block
        What is to be judged.

    Raises
    ------
    TargetUnusable
        If the subject cannot be loaded on this machine.
    """
    with _TURN:  # a worker of somebody's cluster may have several threads, a session has one
        trial = _opened(target, claims, timeout)
        try:
            return judged(trial, block)
        except (SubjectError, Unfit):
            trial.session.refresh()
        try:
            return judged(trial, block)
        except (SubjectError, Unfit) as trouble:
            where = f"positions {block.start}..{block.stop - 1}"
            return Found(block.number, 0, 0, None, None, {}, "", f"{where}: {trouble}")


def _opened(target: str, claims: Mapping[str, Any], timeout: float) -> Trial:
    key = json.dumps([target, claims, timeout], sort_keys=True)
    if key not in _OPEN:
        for other in _OPEN.values():
            other.session.close()
        _OPEN.clear()
        _OPEN[key] = Trial(open_subject(target, claims, timeout))
        atexit.register(_OPEN[key].session.close)
    return _OPEN[key]
