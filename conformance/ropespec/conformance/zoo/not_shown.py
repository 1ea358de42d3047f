"""The catalogue of real defects by id, and why some of them have no entry in the zoo."""

__all__ = ["IDS", "NOT_SHOWN"]

IDS = (
    *("L1", "L2", "L3", "L4", "L6", "S1", "S2", "P1", "P2", "P3", "P4", "P6", "P9"),
    *("B1", "B2", "B3", "B5", "B6", "X1", "X3", "X4", "R1", "R2", "R3", "R4", "R6", "R9"),
    *("F1", "F2", "F3", "D1", "D2", "D3", "D4", "D5", "D8", "D9", "D10", "D12", "D13"),
    *("C1", "C4", "C5", "C7", "K1", "K2", "K3", "K6", "K7", "K8", "K10", "K11", "K12", "K13"),
    *("K14", "K18", "K20", "K21", "K22", "A1", "A3", "A4", "A6", "M1", "M2", "M3", "M6", "M8"),
    *("G1", "G2", "G3", "G4", "I1", "I3", "I4", "E1", "E3", "E5", "N1", "N2", "N3", "N4"),
    *("Z1", "Z2", "Z3", "Z4", "T1", "T2", "T3", "T4", "T5", "T8", "T9", "O1", "O3"),
)
"""All ids of the catalogue."""

_SCALING = "needs a declared context scaling, and the specification has none"
_AXES = "needs positions with several axes, and the specification has one"

NOT_SHOWN = {
    "B1": "positions are always given; nothing has to be derived from the padding",
    "C7": "needs frequencies that are learned, and the specification fixes them",
    "K3": _SCALING,
    "K7": _SCALING,
    "K8": _SCALING,
    "K10": _SCALING,
    "K11": _SCALING,
    "K18": _SCALING,
    "K20": _SCALING,
    "K21": "needs the growing and falling gains of xPos, which are no rotation",
    "K22": "needs the growing and falling gains of xPos, which are no rotation",
    "M8": "needs positions with several axes; what it does to positions is overwrites_positions",
    "I3": "needs two devices",
    "E1": "needs a graph optimiser; what it leaves is a flag that is ignored (L6, R2)",
    "E5": "is a defect of expected values, against which the judge has three sources",
    "N1": _AXES,
    "N2": _AXES,
    "N3": _AXES,
    "N4": _AXES,
}
"""Ids without an entry, and the reason."""
