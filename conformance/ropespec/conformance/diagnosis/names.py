"""The catalogue's name for a choice and where it is made; ids annotate what was confirmed."""

from collections.abc import Callable

from ropespec.conformance.diagnosis.rests import RESTS
from ropespec.conformance.diagnosis.where import Atom, Where
from ropespec.conformance.mistakes.choice import Choice

__all__ = ["key_of"]

GRID = 65535
"""The most blocks along two of the axes of a launch grid."""

_UNTURNED = ("A3", "R4", "position 0 for all", "zeroed", "not a number")
_LIMITED = ("P3", "offset", "C5", "K1", "K6", "A1", "D2", "S1", "B5", "P4", *_UNTURNED)
_RESTS = {name: name.endswith("pairs") for name in RESTS}
_WIDTHS = {"dim", "power of two", "multiple of 16", *(name for name in _RESTS if _RESTS[name])}

Atoms = dict[str, Atom]


def key_of(choice: Choice, where: Where) -> str:
    """Return the key of a mistake in the catalogue.

    Parameters
    ----------
    choice : Choice
        What is done.
    where : Where
        Where that is.
    """
    atoms = {atom.feature: atom for atom in where.atoms}
    for rule in _RULES if atoms else ():
        if found := rule(choice.key, atoms):
            return found
    return choice.key


def _grid(key: str, atoms: Atoms) -> str:
    del key
    far = any(
        atoms[at].op == ">=" and atoms[at].value >= GRID
        for at in ("token", "row", "place", "tokens", "rows")
        if at in atoms
    )
    return "O3" if far else ""


def _earlier(key: str, atoms: Atoms) -> str:
    del key
    if "token beyond" in atoms:
        return "E3"
    if {"row beyond", "head beyond"} & atoms.keys():
        return "shape of the first call"
    return "C4" if any(name.startswith(("first dtype", "dtype of ")) for name in atoms) else ""


def _one_token(key: str, atoms: Atoms) -> str:
    tokens = atoms.get("tokens")
    if tokens is None or tokens.value != 1 or tokens.op == ">=":
        return ""
    if "row" in atoms and key in _UNTURNED:
        return "B6"
    return {"L1": "L6", "F1": "K12", "F3": "K12", "K1": "K12", "A1": "M6", "K6": "M6"}.get(key, key)


def _by_position(key: str, atoms: Atoms) -> str:
    distance, position = atoms.get("distance"), atoms.get("position")
    if distance is not None and distance.op == ">=" and distance.value > 1:
        return "C5" if key in _LIMITED else key
    if position is None or len(atoms) > 1:
        return ""
    if position.op == ">=" and position.value > 1:
        return "C5" if key in _LIMITED else key
    if position.op == "==":
        return "position taken for padding" if key in _UNTURNED and position.value else ""
    if position.value > 0:
        return ""
    below = dict.fromkeys(("A3", "R4", "position 0 for all"), "negative positions clamped")
    below |= {"S1": "sign of positions lost", "zeroed": "negative positions zeroed"}
    below |= dict.fromkeys(("C5", "offset"), "negative positions from the end of a table")
    return below.get(key, "")


def _layout(key: str, atoms: Atoms) -> str:
    return "L6" if key == "L1" and atoms.keys() & {"dtype", "layout", "strided", "gaps"} else ""


def _width(key: str, atoms: Atoms) -> str:
    if key in ("L6", "F1", "R2") or not atoms.keys() & _WIDTHS:
        return ""
    if key in _UNTURNED and atoms.keys() & _WIDTHS <= _RESTS.keys():
        return "pairs left over"
    if key not in _LIMITED and not atoms.keys() & _WIDTHS - _RESTS.keys():
        return ""
    return "special width"


def _pairs(key: str, atoms: Atoms) -> str:
    return "some pairs do not rotate" if "pair" in atoms and key in ("A3", "R4") else ""


def _block(key: str, atoms: Atoms) -> str:
    if atoms.keys() & _RESTS.keys() and key in _LIMITED:
        return "beyond a block"
    inside = atoms.keys() <= {"token", "row", "head"}
    late = all(atom.op == ">=" and atom.value >= 2 for atom in atoms.values())
    return "beyond a block" if inside and late and key in _LIMITED else ""


_RULES: tuple[Callable[[str, Atoms], str], ...] = (
    _grid,
    _earlier,
    _one_token,
    _by_position,
    _layout,
    _width,
    _pairs,
    _block,
)
