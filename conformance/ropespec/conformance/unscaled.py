"""What is asked of a rotation by unscaled frequencies alone.

Where frequencies are scaled, values are judged by the scaled ones (SCAL-1, SCAL-12). What is left
out is a formula that the documents print with base^(-2i/d), or a law that has no room for a gain.
"""

from decimal import Decimal

from ropespec.spec.convention import Scheme

__all__ = ["LENGTHS", "PRINTED", "reason_to_skip"]

PRINTED = frozenset(
    f"{clause}.forms"
    for clause in (
        *("FREQ-8", "CPLX-1", "CPLX-4", "CPLX-5", "ROT-1", "ROT-2", "ROT-3", "ROT-4"),
        *("ROT-6", "ROT-7", "ROT-9", "ROT-12", "ROT-13"),
        *("REL-1", "REL-2", "REL-5", "REL-6", "REL-9"),
        *("DER-1", "DER-2", "DER-4", "DER-5", "DEC-1", "DEC-2", "DEC-3"),
        *("AXES-6", "AXES-7", "AXES-8", "AXES-9"),
    )
) | {
    *("CPLX-6.halves", "PROJ-4.folded", "REL-4.groups", "REL-5.middle", "DER-5.all-pairs"),
    *(f"WGT-{number}.moved" for number in range(1, 10)),
}
"""Checks beside a printed formula that makes its frequencies itself."""

LENGTHS = frozenset(
    {
        *("FREQ-8.twice", "CPLX-2.conjugate", "ROT-11.norm"),
        *("ROT-12.inverse", "ROT-13.composition", "PROJ-5.tokens", "REL-2.real-part"),
        *("REL-3.forms", "REL-3.inner-product", "REL-4.groups", "REL-5.key-turned", "REL-7.swap"),
        *("REL-8.forms", "REL-8.equal", "DER-1.blocks", "DER-2.equations", "DER-3.modulus"),
        *("DER-3.forms", "DER-4.progression", "DEC-1.abel", "DEC-2.cosines"),
    }
)
"""Checks of laws that a rotation keeps because it keeps lengths."""


def reason_to_skip(id_: str, scheme: Scheme) -> str | None:
    """Return why a check does not run where frequencies are scaled so, or None if it does."""
    if id_ in PRINTED:
        return "frequencies claimed that are scaled, and these are not"
    if id_ in LENGTHS and scheme.gain != Decimal(1):
        return f"a gain of {float(scheme.gain):.6g} claimed, which changes lengths"
    return None
