r"""From the text of a formula, plain or LaTeX, to tokens.

Both notations become the same tokens: `\theta_i`, `\theta_{i}` and `θ_i` are one thing, commands
that only space or size are dropped, and runs of letters are cut into the longest known names.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["CLOSING", "FUNCTIONS", "RELATIONS", "FormulaError", "Token", "tokenise"]

RELATIONS = frozenset("=≠<≤>≥≈∈↦≡")
CLOSING = {"(": ")", "[": "]", "{": "}", "⦃": "⦄", "⟨": "⟩", "‖": "‖", "|": "|", "⌊": "⌋"}
FUNCTIONS = frozenset(
    [
        "cos",
        "sin",
        "tan",
        "exp",
        "ln",
        "log",
        "sqrt",
        "Re",
        "Im",
        "arg",
        "max",
        "min",
        "mean",
        "det",
        "diag",
        "floor",
        "abs",
        "round",
        "sign",
        "tr",
    ]
)
_WORDS = frozenset(["for", "and", "or", "if", "where", "with"])
_COMMANDS = dict(
    pair.split("=", 1)
    for pair in [
        "alpha=α",
        "beta=β",
        "gamma=γ",
        "delta=δ",
        "Delta=Δ",
        "epsilon=ε",
        "varepsilon=ε",
        "zeta=ζ",
        "eta=η",
        "theta=θ",
        "Theta=Θ",
        "phi=φ",
        "varphi=φ",
        "pi=π",
        "omega=ω",
        "lambda=λ",
        "sigma=σ",
        "tau=τ",
        "psi=ψ",
        "mu=μ",
        "rho=ρ",
        "sum=Σ",
        "le=≤",
        "leq=≤",
        "ge=≥",
        "geq=≥",
        "ne=≠",
        "neq=≠",
        "approx=≈",
        "equiv=≡",
        "in=∈",
        "mapsto=↦",
        "longmapsto=↦",
        "cdot=·",
        "times=·",
        "odot=⊙",
        "ldots=…",
        "dots=…",
        "cdots=…",
        "vdots=…",
        "ddots=…",
        "langle=⟨",
        "rangle=⟩",
        "lVert=‖",
        "rVert=‖",
        "lvert=|",
        "rvert=|",
        "lfloor=⌊",
        "rfloor=⌋",
        "top=⊤",
        "quad=;",
        "qquad=;",
        "bmod=mod",
        "infty=∞",
        "lbrace=⦃",
        "rbrace=⦄",
        "operatorname=",
        "left=",
        "right=",
        "bigl=",
        "bigr=",
        "Bigl=",
        "Bigr=",
        "big=",
        "Big=",
        "displaystyle=",
    ]
)
_ACCENTS = {"tilde": "\u0303", "bar": "\u0304", "hat": "\u0302", "vec": "\u20d7"}
_BOARD = {"Z": "ℤ", "R": "ℝ", "C": "ℂ", "N": "ℕ"}
_PLAIN = {
    "...": "…", "⋯": "…", "⋮": "…", "⋱": "…", "<=": "≤", ">=": "≥", "!=": "≠", "×": "·",
    "∗": "*", "−": "-", "²": "^{2}", "³": "^{3}", "ᵀ": "^{⊤}", "⁻¹": "^{-1}", "√": " sqrt ",
    "∑": "Σ", r"\{": "⦃", r"\}": "⦄", r"\|": "‖", r"\_": "_", "||": "‖", "{::}": "::",
    r"\,": " ", r"\;": " ", r"\:": " ", r"\!": " ", r"\ ": " ", "~": " ",
}  # fmt: skip
_STYLE = re.compile(r"\\(?:mathrm|mathtt|mathit|mathbf|text|operatorname)\{([^{}]*)\}")
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
    r"|(?P<matrix>\\(?:begin|end)\{[pb]matrix\})|(?P<row>\\\\)|\\(?P<command>[A-Za-z]+)"
    r"|‹(?P<styled>[^›]*)›|(?P<letter>[^\W\d_])|(?P<op>\.\.|::|.)",
    re.DOTALL,
)


class FormulaError(Exception):
    """A formula that cannot be read or evaluated."""


@dataclass(frozen=True, slots=True)
class Token:
    """One symbol of a formula.

    `kind` is `number`, `name`, `function`, `relation`, `word`, `matrix` or `op`; `glued` is True
    where no space stands before it.
    """

    kind: str
    text: str
    glued: bool


def tokenise(text: str, names: Iterable[str]) -> list[Token]:
    """Cut a formula into tokens; `names` are the bound names, the longest of which is taken."""
    known = sorted(
        {part for name in names if " " not in name for part in _parts(name)}, key=len, reverse=True
    )
    return list(_tokens(_prepare(text), known))


def _parts(name: str) -> Iterator[str]:
    """Give the name itself where it is a word, and its base where it carries scripts."""
    if " " in name:
        return  # the domain of a sum
    base, *scripts = re.split(r"[_^]", name)
    if "^" not in name and (not scripts or len(name) > len(base) + 2):
        yield name
    yield base


def _prepare(text: str) -> str:
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"\\begin\{aligned\}(.*?)\\end\{aligned\}", _unalign, text, flags=re.DOTALL)
    text = re.sub(r"\\[td]?frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}", text)
    text = re.sub(r"\\[td]frac", r"\\frac", text)
    text = re.sub(r"\\pmod\s*\{([^{}]*)\}", r"(mod \1)", text)
    text = re.sub(r"\\mathbb\{(\w)\}", lambda m: _BOARD[m[1]], text)
    for command, accent in _ACCENTS.items():
        text = re.sub(rf"\\{command}\s*(?:\{{(\w)\}}|(\w))", rf"\1\2{accent}", text)
    text = _STYLE.sub(lambda m: "ⅈ" if m[1] == "i" else f"‹{m[1].strip()}›", text)
    lines = text.split(r"\\")
    for old, new in _PLAIN.items():
        lines = [line.replace(old, new) for line in lines]
    text = r"\\".join(lines)
    return unicodedata.normalize("NFC", text)


def _unalign(match: re.Match[str]) -> str:
    """Join lines that go on with an operator; part the others."""
    lines = match[1].replace("&", " ").split(r"\\")
    joined = lines[0]
    for line in lines[1:]:
        goes_on = line.lstrip()[:1] in set("+-") | RELATIONS
        joined += (" " if goes_on else r"\quad ") + line
    return joined


def _tokens(text: str, known: list[str]) -> Iterator[Token]:
    position, glued = 0, False
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormulaError(f"cannot read {text[position:]!r}")
        kind, value = match.lastgroup, match[match.lastgroup or 0]
        position = match.end()
        if kind == "letter":
            token = _name(text, match.start(), known, glued=glued)
            position = match.start() + len(token.text)
            yield token
        elif kind == "command":
            yield from _command(value, glued=glued)
        elif kind == "styled":
            yield _word(value.replace(r"\_", "_"), glued=glued)
        elif kind == "row":
            yield Token("op", "\\\\", glued)
        elif kind != "space":
            yield Token("relation" if value in RELATIONS else kind or "", value, glued)
        glued = kind != "space"


def _command(name: str, *, glued: bool) -> Iterator[Token]:
    if name in FUNCTIONS:
        yield Token("function", name, glued)
    elif name == "frac":
        yield Token("op", "frac", glued)
    elif name not in _COMMANDS:
        raise FormulaError(f"unknown command \\{name}")
    elif symbol := _COMMANDS[name]:
        kind = "relation" if symbol in RELATIONS else "name" if _is_letter(symbol) else "op"
        yield Token(kind, symbol, glued)


def _is_letter(symbol: str) -> bool:
    return len(symbol) == 1 and symbol.isalpha() and symbol != "Σ"


def _word(text: str, *, glued: bool) -> Token:
    if text in _WORDS or text.split(" ", maxsplit=1)[0] in _WORDS:
        return Token("word", text, glued)
    return Token(
        "function" if text in FUNCTIONS else "op" if text == "mod" else "name", text, glued
    )


def _name(text: str, start: int, known: list[str], *, glued: bool) -> Token:
    """Take the longest of: a whole word of the grammar, a known name, a function; or one letter."""
    whole = re.compile(r"[A-Za-z]+").match(text, start)
    if whole and (whole[0] in _WORDS or whole[0] == "mod"):
        return _word(whole[0], glued=glued)
    if text[start] == "Σ":
        return Token("op", "Σ", glued)
    found = next((name for name in known if text.startswith(name, start)), "")
    function = next((f for f in FUNCTIONS if text.startswith(f, start)), "")
    if function and len(function) >= len(found):
        return Token("function", function, glued)
    end = start + max(len(found), 1)
    while text[end : end + 1] == "'" or unicodedata.combining(text[end : end + 1] or " "):
        end += 1
    if text[end : end + 1].isdigit() and text[end - 1].isascii():
        raise FormulaError(f"{text[start:].split(maxsplit=1)[0]!r} is not bound")
    return Token("name", text[start:end], glued)
