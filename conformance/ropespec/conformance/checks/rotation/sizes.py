"""A check of every size that is claimed, for most checks draw a few of them (ROT-6, ROT-7)."""

import dataclasses

from ropespec.conformance.case import Case, Space
from ropespec.conformance.judge.finding import Finding, worst
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []

TOKENS = 3


def _sizes(id_: str, *, interleaved: bool) -> None:
    @check(
        id_,
        "At one head_dim of those claimed the result is another: a kernel or a table of its own "
        "for that size.",
        space=Space(positions=("spread",), min_seq=TOKENS, layouts=(interleaved,)),
        share=0.04,
    )
    def sizes(trial: Trial, case: Case) -> Finding:
        """The rotation is right at every head_dim that is claimed, in one small call each."""
        claimed = trial.profile
        usual = dataclasses.replace(case, batch=1, seq=TOKENS, heads=1)
        usual = usual.stating(rotary_dim=claimed.rotary_dim)
        dims = [dim for dim in claimed.head_dims if dim >= (claimed.rotary_dim or 2)]
        if claimed.compiles and len(set(claimed.layouts)) == 2:  # each size is dear
            dims = dims[interleaved::2] or dims
        cases = [dataclasses.replace(usual, head_dim=dim) for dim in dims]
        found = [dataclasses.replace(trial.rotate_and_judge(one), case=one) for one in cases]
        wrong = [one for one in found if not one.passed]
        few = 2 * len(wrong) < len(found)  # most are wrong by a mistake that spares some
        again = [one.case for one in wrong if few and one.case is not None]
        if not wrong or not few or any(trial.rotate_and_judge(one).passed for one in again):
            return dataclasses.replace(worst(*found), general=True)
        places = ", ".join(str(one.head_dim) for one in again)
        message = f"at head_dim {places} y is not R_m x, and at the other sizes claimed it is"
        return dataclasses.replace(wrong[0], message=message)


_sizes("ROT-6.sizes", interleaved=True)
_sizes("ROT-7.sizes", interleaved=False)
