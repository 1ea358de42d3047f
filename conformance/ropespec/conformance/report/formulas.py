r"""Formulas of the chapters as plain text: `\frac{a}{b}` as a/b, a matrix as rows in brackets."""

import re
from collections.abc import Callable, Iterable, Sequence

from ropespec.conformance.report.boxes import Box, beside, columns, matrix

__all__ = ["WIDTH", "formula_text", "without_latex"]

WIDTH = 92
"""Columns of a formula; a longer one goes on below."""

_MATH = re.compile(r"^```math\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\s+|.", re.DOTALL)


def _pairs(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_LETTERS = _pairs("""
    alpha α  beta β  gamma γ  delta δ  epsilon ε  varepsilon ε  zeta ζ  eta η  theta θ  iota ι
    kappa κ  lambda λ  mu μ  nu ν  xi ξ  pi π  rho ρ  sigma σ  tau τ  phi φ  varphi φ  chi χ
    psi ψ  omega ω  Theta Θ  Delta Δ  Sigma Σ  Lambda Λ  Omega Ω  infty ∞  partial ∂  prime ′
    langle ⟨  rangle ⟩  lVert ‖  rVert ‖  lvert |  rvert |  lfloor ⌊  rfloor ⌋  lceil ⌈  rceil ⌉
    top ᵀ  ldots ...  dots ...  cdots ...  vdots ⋮  ddots ⋱  { {  } }  _ _  % %  | ‖  & &  # #
""")
_RELATIONS = _pairs("""
    odot ⊙  cdot ·  times ×  otimes ⊗  pm ±  to →  le ≤  ge ≥  ne ≠  approx ≈  equiv ≡  in ∈
    mapsto ↦  sim ~  ll ≪  gg ≫  mid |
""")
_SILENT = ("left", "right", "bigl", "bigr", "big", "Bigl", "Bigr", "displaystyle", "limits", "!")
_SYMBOLS = {
    **_LETTERS,
    **{name: f" {sign} " for name, sign in _RELATIONS.items()},
    **dict.fromkeys(_SILENT, ""),
    **dict.fromkeys((",", ";", ":", " "), " "),
    **dict.fromkeys(("quad", "qquad"), "   "),
}
_PLAIN = {"=": " = ", "+": " + ", "<": " < ", ">": " > ", "~": " "}
_FUNCTIONS = frozenset(("cos", "sin", "tan", "exp", "ln", "log", "arg", "det", "max", "min"))
_NAMES = frozenset(("mathrm", "mathtt", "operatorname", "text", "mathit", "mathbf"))
_BELOW = dict(
    zip(
        "0123456789+-=()aehijklmnoprstuvxβγρφχ",
        "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ",
        strict=True,
    )
)
_ABOVE = dict(zip("0123456789+-=()ᵀ*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵀ*", strict=True))
_BREAKS = frozenset((" = ", " + ", " - ", " ≈ ", " ≤ ", " ≡ "))
_WORD = 3  # letters from which a script is a word, and stays one
_INDENT = Box.of("    ")


def without_latex(markdown: str, *, width: int = WIDTH) -> str:
    """Return Markdown with each block of `math` as an indented block of plain text."""

    def plain(match: re.Match[str]) -> str:
        lines = formula_text(match[1], width=width).splitlines()
        return "\n".join(f"    {line}".rstrip() for line in lines)

    return _MATH.sub(plain, markdown)


def formula_text(latex: str, *, width: int = WIDTH) -> str:
    """Lay a formula out as plain text.

    Parameters
    ----------
    latex : str
        What stands between the fences of a block.
    width : int
        Columns; what is longer goes on below, before a relation or a plus.

    Returns
    -------
    str
        Lines without the blanks at their ends. A command that is not known keeps its name.
    """
    rows = _Parser(_TOKEN.findall(latex.strip()), width).rows()
    lines = [line for row in rows for box in _broken(row, width) for line in box.lines]
    return "\n".join(line.rstrip() for line in lines)


Row = list[Box]


def _broken(row: Row, width: int) -> list[Box]:
    """Break a row where it gets too wide: between formulas, else before a relation or a sum."""
    found: list[Box] = []
    line: Row = []
    for clause in _split(row, lambda box: box.lines == ("   ",)):
        parts = [clause]
        if beside([*line, *clause]).width > width:
            alone = _without_gap(clause) if line else clause
            found += [beside(line)] if line else []
            line = []
            parts = _split(alone, lambda box: box.lines[0] in _BREAKS and len(box.lines) == 1)
        for part in parts:
            if line and beside([*line, *part]).width > width:
                found.append(beside(line))
                line = [_INDENT]
            line += part
    return [*found, beside(line)]


def _without_gap(row: Row) -> Row:
    return row[1:] if row and not row[0].lines[0].strip() else row


def _split(row: Row, begins: Callable[[Box], bool]) -> list[Row]:
    parts: list[Row] = [[]]
    for box in row:
        if begins(box) and parts[-1]:
            parts.append([])
        parts[-1].append(box)
    return parts


class _Parser:
    """Reads signs from left to right."""

    def __init__(self, signs: Sequence[str], width: int) -> None:
        self._signs = signs
        self._width = width
        self._place = 0

    def rows(self) -> list[Row]:
        """Read all of it, row by row."""
        return [[box for cell in row for box in cell] for row in self._cells("")]

    def _cells(self, environment: str) -> list[list[Row]]:
        """Read rows of cells, up to the end of the environment."""
        rows: list[list[Row]] = [[[]]]
        while (sign := self._next()) is not None:
            if sign == "\\end":
                self._words()
                break
            if sign == "\\\\":
                rows.append([[]])
            elif sign == "&" and environment:
                rows[-1].append([])
            else:
                self._add(rows[-1][-1], sign)
        return [row for row in rows if any(row)]

    def _next(self) -> str | None:
        if self._place >= len(self._signs):
            return None
        self._place += 1
        return self._signs[self._place - 1]

    def _peek(self) -> str:
        return self._signs[self._place] if self._place < len(self._signs) else ""

    def _skip_blanks(self) -> None:
        while self._peek().isspace():
            self._place += 1

    def _add(self, row: Row, sign: str) -> None:
        """Read one thing, or what hangs below or above the last one."""
        if sign in ("^", "_"):
            inner = self._argument()
            base = row.pop() if row else Box.of("")
            row.append(_scripted(base, inner, below=sign == "_"))
        elif sign == "," and self._peek().isspace():
            row.append(Box.of(", "))
        elif sign == "-":
            row.append(Box.of(" - " if _is_left_of_minus(row) else "-"))
        else:
            _append(row, self._one(sign))

    def _one(self, sign: str) -> Box:
        name = sign[1:]
        if sign == "{":
            return beside(self._group())
        if sign[0] != "\\":
            return Box.of("" if sign.isspace() else _PLAIN.get(sign, sign))
        if name in _NAMES:
            words = self._words()
            return Box.of("ⅈ") if (name, words) == ("mathrm", "i") else Box.of(words, _kind(words))
        if name in _FUNCTIONS:
            return Box.of(name, "name")
        structures = {
            "begin": self._environment,
            "frac": self._fraction,
            "sum": self._sum,
            "sqrt": self._root,
            "bar": self._bar,
            "pmod": self._modulo,
        }
        return structures[name]() if name in structures else Box.of(_SYMBOLS.get(name, name))

    def _argument(self) -> Box:
        self._skip_blanks()
        sign = self._next()
        return Box.of("") if sign is None else self._one(sign)

    def _group(self) -> Row:
        row: Row = []
        while (sign := self._next()) not in (None, "}"):
            assert sign is not None
            self._add(row, sign)
        return row

    def _words(self) -> str:
        """Read a group as the words that it is."""
        self._skip_blanks()
        if self._peek() != "{":
            return self._next() or ""
        self._place += 1
        words = ""
        while (sign := self._next()) not in (None, "}"):
            assert sign is not None
            words += sign[1:] if sign[0] == "\\" else sign
        return words

    def _environment(self) -> Box:
        kind = self._words()
        rows = self._cells(kind)
        if kind != "aligned":
            return matrix([[beside(cell) for cell in row] for row in rows])
        first = max(beside(row[0]).width for row in rows)
        lines: list[str] = []
        for row in rows:
            pad = Box.of(" " * (first - beside(row[0]).width))
            whole = [*row[0], pad, *(box for cell in row[1:] for box in cell)]
            lines += [line for box in _broken(whole, self._width) for line in box.lines]
        return Box(tuple(lines))

    def _fraction(self) -> Box:
        above, below = self._argument(), self._argument()
        parts = [_closed(above, factors=True), Box.of("/"), _closed(below, factors=False)]
        return beside(parts)._replace(kind="fraction")

    def _root(self) -> Box:
        return beside([Box.of("√"), _closed(self._argument(), factors=False)])

    def _bar(self) -> Box:
        inner = self._argument()
        return Box.of("".join(f"{letter}\N{COMBINING MACRON}" for letter in inner.lines[0]))

    def _modulo(self) -> Box:
        return beside([Box.of("  (mod "), self._argument(), Box.of(")")])

    def _sum(self) -> Box:
        limits = {"_": "", "^": ""}
        self._skip_blanks()
        while self._peek() in limits:
            sign = self._next() or ""
            limits[sign] = self._argument().lines[0].strip()
            self._skip_blanks()
        first, last = limits["_"].replace(" = ", "="), limits["^"]
        return Box.of(f"Σ[{first} .. {last}]" if last else f"Σ[{first}]", "name")


def _kind(words: str) -> str:
    return "name" if len(words) > 1 else ""


def _append(row: Row, box: Box) -> None:
    """Add a box, with a blank where two names would run into each other."""
    if not box.width:
        return
    last = row[-1] if row else None
    if last is not None and _touches(last, box):
        if last.kind == "fraction":
            row[-1] = _in_brackets(last)
        elif (last.kind, box.kind) == ("name", "fraction"):
            box = _in_brackets(box)
        if _runs_into(last, box):
            row.append(Box.of(" "))
    row.append(box)


def _in_brackets(box: Box) -> Box:
    return beside([Box.of("("), box, Box.of(")")])


def _runs_into(last: Box, box: Box) -> bool:
    """Whether two things would be read as one name, or a power as a longer one."""
    opens = box.lines[box.level][:1] in ("(", "[", "|")
    return ("name" in (last.kind, box.kind) and not opens) or last.kind == "power"


def _touches(last: Box, box: Box) -> bool:
    """Whether two things stand side by side that are multiplied, or a function and its argument."""
    before, after = last.lines[last.level][-1:], box.lines[box.level][:1]
    ends = before.isalnum() or before in "*!)]⟩⌋ᵀ" or before in _SCRIPTS
    return bool(before) and ends and (after.isalnum() or after in "([|⟨⌊√Σⅈ")


_SCRIPTS = frozenset((*_BELOW.values(), *_ABOVE.values(), "\N{COMBINING MACRON}"))


def _is_left_of_minus(row: Iterable[Box]) -> bool:
    """Whether what was read is something to subtract from."""
    text = "".join(box.lines[box.level] for box in row).rstrip()
    return bool(text) and text[-1] not in "=+<>≤≥≈≡,({[∈↦⊙·⟨"


def _closed(box: Box, *, factors: bool) -> Box:
    """Put brackets around a sum, and around a product unless `factors` may stand as they are."""
    words = box.lines[0].strip()
    while (inner := re.sub(r"\([^()]*\)", "", words)) != words:
        words = inner
    is_sum = re.search(r" |/|(?<=.)-", words) is not None
    symbols = re.findall(r"√?[^\W\d_][^\W\d_]*|\d+(?:\.\d+)?", words) if not factors else []
    if len(box.lines) == 1 and not is_sum and len(symbols) < 2:
        return Box.of(box.lines[0].strip())
    return _in_brackets(box)


def _scripted(base: Box, inner: Box, *, below: bool) -> Box:
    """Hang a script below or above: by its own letters where there are all of them."""
    words = inner.lines[0].strip()
    tight = words.replace(" ", "")
    letters = _BELOW if below else _ABOVE
    sign = "_" if below else "^"
    kind, hangs = "", "name" if below else "power"
    if tight.isascii() and tight.isalpha() and len(tight) >= _WORD:
        mark, kind = f"{sign}{tight}", hangs
    elif tight and all(letter in letters for letter in tight):
        mark = "".join(letters[letter] for letter in tight)
        kind = "power" if mark == "*" else ""
    elif len(words) == 1:
        mark, kind = f"{sign}{words}", hangs
    else:
        mark = f"{sign}{words}" if words[0] == "(" else f"{sign}({words})"
    place = len(base.lines) - 1 if below else 0
    lines = list(base.lines)
    lines[place] = lines[place].rstrip() + mark
    width = max(map(columns, lines))
    filled = tuple(line + " " * (width - columns(line)) for line in lines)
    return Box(filled, base.level, kind)
