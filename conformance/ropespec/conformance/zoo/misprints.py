"""An implementation by the letter of the documents where they are wrong."""

from ropespec.conformance.zoo.entry import wrong
from ropespec.reference.errata import PRINTED

__all__ = ["AsPrinted"]


@wrong(
    "",
    "Every function is copied from a place where a document prints it wrong.",
    *(
        "ERR-1.printed" if name == "apply_rotary" else f"ERR-1.{name.lower().replace('_', '-')}"
        for name in PRINTED
    ),
    layouts=(True, False),
    dtypes=("float64",),
    refusals=True,
)
class AsPrinted:
    """One printed form a function."""

    inv_freq = staticmethod(PRINTED["inv_freq"]["E-26"])
    angles = staticmethod(PRINTED["angles"]["E-10"])
    cos_sin = staticmethod(PRINTED["cos_sin"]["E-07"])
    sinusoidal_embedding = staticmethod(PRINTED["sinusoidal_embedding"]["E-55"])
    to_complex = staticmethod(PRINTED["to_complex"]["E-70"])
    rotation_matrix = staticmethod(PRINTED["rotation_matrix"]["E-19"])
    apply_rotary_dense = staticmethod(PRINTED["apply_rotary_dense"]["E-17"])
    apply_rotary = staticmethod(PRINTED["apply_rotary"]["E-09"])
    apply_rotary_cos_sin = staticmethod(PRINTED["apply_rotary_cos_sin"]["E-66"])
    apply_rotary_complex = staticmethod(PRINTED["apply_rotary_complex"]["E-02"])
    project_query = staticmethod(PRINTED["project_query"]["E-14"])
    project_key = staticmethod(PRINTED["project_key"]["E-24"])
    relative_score = staticmethod(PRINTED["relative_score"]["E-68"])
    attention = staticmethod(PRINTED["attention"]["E-59"])
    decay_bound = staticmethod(PRINTED["decay_bound"]["E-45"])
    sinusoidal_position_embedding = staticmethod(PRINTED["sinusoidal_position_embedding"]["E-55"])
    RoPE = staticmethod(PRINTED["RoPE"]["E-60"])
    precompute_freqs_cis = staticmethod(PRINTED["precompute_freqs_cis"]["E-07"])
    reshape_for_broadcast = staticmethod(PRINTED["reshape_for_broadcast"]["E-61"])
    apply_rotary_emb = staticmethod(PRINTED["apply_rotary_emb"]["E-62"])
