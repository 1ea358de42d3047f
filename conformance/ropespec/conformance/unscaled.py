"""What is asked of a rotation by unscaled frequencies alone.

Where frequencies are scaled, values are judged by the scaled ones (SCAL-1, SCAL-12), and so is a
printed formula that takes a frequency; what a gain multiplies is divided by it. What is left out is
a formula that the documents print with base^(-2i/d), or a law that has no room for a gain.
"""

from decimal import Decimal

from ropespec.spec.convention import Scheme

__all__ = ["LENGTHS", "PRINTED", "reason_to_skip"]

PRINTED = frozenset(
    f"{clause}.forms"
    for clause in (
        *("ROT-9", "REL-1", "REL-9", "DEC-1", "DEC-2", "DEC-3"),
        *("AXES-6", "AXES-7", "AXES-8", "AXES-9"),
    )
) | {
    *("DER-5.all-pairs", "ERR-1.inv-freq", "ERR-1.cos-sin", "ERR-1.rotation-matrix"),
    *("ERR-1.project-query", "ERR-1.project-key", "ERR-1.relative-score", "ERR-1.attention"),
    *("ERR-1.decay-bound", "ERR-1.precompute-freqs-cis", "ERR-1.rope"),
    "PUB-7.bare",
}
"""Checks beside printed formulas all of which make their frequencies themselves."""

LENGTHS = frozenset(
    {
        *("FREQ-8.twice", "CPLX-2.conjugate", "ROT-11.norm"),
        *("ROT-12.inverse", "ROT-13.composition", "PROJ-5.tokens", "REL-2.real-part"),
        *("REL-3.inner-product", "REL-4.groups", "REL-5.key-turned", "REL-7.swap"),
        *("REL-8.equal", "DER-1.blocks", "DER-2.equations", "DER-3.modulus"),
        *("DER-4.progression", "DEC-1.abel", "DEC-2.cosines"),
    }
)
"""Checks of laws that a rotation keeps because it keeps lengths."""


def reason_to_skip(id_: str, scheme: Scheme) -> str | None:
    """Return why a check does not run where frequencies are scaled so, or None if it does."""
    if id_ in PRINTED:
        return "its formulas are printed with base^(-2i/d), and other frequencies are claimed"
    if id_ in LENGTHS and scheme.gain != Decimal(1):
        return f"a gain of {float(scheme.gain):.6g} claimed, which changes lengths"
    return None
