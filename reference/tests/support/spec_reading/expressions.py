"""The grammar of a formula without relations: sums, products, vectors, matrices and functions.

Weakest first: `+` and `-`; `·`, `/`, `⊙` and `mod`; two things side by side; scripts.
So `a/2b` is a/(2b), and a function without brackets takes what stands beside it: `cos mθ_i`.
"""

from spec_reading.cursor import END, Cursor
from spec_reading.nodes import (
    Binary,
    Call,
    Dots,
    Function,
    Group,
    Index,
    Inner,
    Items,
    Matrix,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Postfix,
    Repeated,
    Script,
    Slice,
)
from spec_reading.tokens import CLOSING, FormulaError, Token

__all__ = ["Expressions"]

_REPEATED = frozenset(("max", "min", "mean"))


class Expressions(Cursor):
    """Reads one part of a formula after the other."""

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self.bars = 0  # how many | or ‖ are open: the next one closes

    def sum(self) -> Node:
        """Read terms with `+` and `-` between them."""
        self.take("+")
        value: Node = Negative(self.product()) if self.take("-") else self.product()
        while self.next.text in {"+", "-"}:
            operator = self.next.text
            self.at += 1
            value = Binary(operator, value, self.product())
        return value

    def product(self) -> Node:
        """Read factors with `·`, `/`, `⊙` or `mod` between them."""
        value = self.beside()
        while self.next.text in {"·", "*", "/", "⊙", "mod"} and self.next.kind != "name":
            operator = self.next.text.replace("*", "·")
            self.at += 1
            right = Negative(self.beside()) if self.take("-") else self.beside()
            value = Binary(operator, value, right)
        return value

    def beside(self, *, argument: bool = False) -> Node:
        """Read factors side by side; an argument ends before the next function."""
        value = self.scripted()
        while self.starts_factor() and not (argument and self.starts_function()):
            value = Binary(" ", value, self.scripted())
        return value

    def starts_function(self) -> bool:
        """Say whether a function or a sum stands next."""
        return self.next.kind == "function" or self.next.text == "Σ"

    def starts_factor(self) -> bool:
        """Say whether something that can be multiplied stands next."""
        token = self.next
        if token.text in {"|", "‖"}:
            return self.bars == 0
        if self.before_modulus():
            return False
        return token.kind in {"number", "name", "function"} or token.text in {
            "(", "[", "{", "⦃", "⟨", "⌊", "Σ", "frac", "\\begin{pmatrix}", "\\begin{bmatrix}",
        }  # fmt: skip

    # --- scripts, calls, indices

    def scripted(self) -> Node:
        """Read the smallest thing with its scripts, brackets and marks."""
        value = self.primary()
        while True:
            token = self.next
            if token.text in {"_", "^"}:
                value = self.scripts(value)
            elif token.text == "!":
                self.at += 1
                value = Postfix("!", value)
            elif token.text == "*" and token.glued and self.conjugates():
                self.at += 1
                value = Postfix("*", value)
            elif token.text == "(" and token.glued and _callable(value) and self.starts_factor():
                value = Call(value, self.arguments())
            elif token.text == "[" and token.glued and not isinstance(value, Number):
                self.at += 1
                value = Index(value, self.entries("]"))
            else:
                return value

    def conjugates(self) -> bool:
        """Say whether the `*` that stands next is a conjugate and no product."""
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else END
        return not after.glued or after.kind == "relation" or after.text in {")", "]", ",", "/"}

    def scripts(self, base: Node) -> Node:
        """Read `_a^b` or `^b_a` behind something."""
        found: dict[str, tuple[Node, str]] = {}
        while self.next.text in {"_", "^"} and self.next.text not in found:
            mark, start = self.next.text, self.at + 1
            self.at += 1
            node = self.script(mark)
            found[mark] = node, self.since(start).replace(" ", "").strip("{}")
        sub, sub_text = found.get("_", (None, ""))
        sup, sup_text = found.get("^", (None, ""))
        return Script(base, sub, sup, sub_text, sup_text)

    def script(self, mark: str) -> Node:
        """Read what stands behind `_` or `^`."""
        braced = self.take("{")
        if mark == "^" and self.next.text in {"*", "T", "⊤"} and (not braced or self.ends("}")):
            node: Node = Name("⊤" if self.next.text == "T" else self.next.text)
            self.at += 1
        elif braced:
            entries = self.entries("}", closing=False)
            node = entries[0] if len(entries) == 1 else Items("()", entries)
        elif self.take("-"):
            return Negative(self.primary())
        else:
            return self.primary()
        if braced:
            self.expect("}")
        return node

    def ends(self, text: str) -> bool:
        """Say whether a bracket closes behind the next token."""
        return [token.text for token in self.tokens[self.at + 1 : self.at + 2]] == [text]

    def arguments(self) -> tuple[Node, ...]:
        """Read what stands in brackets behind a function."""
        opening = self.next.text
        self.at += 1
        return self.entries(CLOSING[opening])

    def entries(self, end: str, *, closing: bool = True) -> tuple[Node, ...]:
        """Read things with commas between, up to the end of the bracket."""
        found: list[Node] = []
        bars, self.bars = self.bars, 0
        while self.next.text != end:
            found.append(self.entry())
            if not self.take(",", ";"):
                break
        if closing:
            self.expect(end)
        self.bars = bars
        return tuple(found)

    def entry(self) -> Node:
        """Read one of them, which may be a slice."""
        parts: list[Node | None] = [None if self.next.text in {":", "::"} else self.sum()]
        if self.take(".."):
            return Slice((parts[0], self.sum()), closed=True)
        while self.next.text in {":", "::"}:
            if self.next.text == "::":
                parts.append(None)
            self.at += 1
            stop = self.next.text in {":", ",", "]"}
            parts.append(None if stop else self.sum())
        return Slice(tuple(parts), closed=False) if len(parts) > 1 else parts[0] or Dots()

    # --- the smallest things

    def primary(self) -> Node:  # noqa: C901, PLR0911 - one case for each beginning
        """Read a number, a name, or something in brackets."""
        token = self.next
        self.at += 1
        match token.kind, token.text:
            case "number", text:
                return Number(text)
            case "name", text:
                return Name(text)
            case "function", text:
                return self.function(text)
            case "matrix", _:
                return self.matrix()
            case _, "Σ":
                return self.repeated("Σ")
            case _, "…":
                return Dots()
            case _, "frac":
                return Group(Binary("/", Group(self.primary()), Group(self.primary())))
            case _, ("|" | "‖" | "⌊") as mark:
                return self.norm(mark)
            case _, "⟨":
                left, right = self.entries("⟩")
                return Inner(left, right)
            case _, ("(" | "[" | "{" | "⦃") as opening:
                return self.bracketed(opening)
        self.at -= 1
        raise FormulaError(f"cannot read {self.rest()!r}")

    def bracketed(self, opening: str) -> Node:
        """Read a group, a vector, a set or an interval."""
        bars, self.bars = self.bars, 0
        items = [self.sum()]
        while self.take(","):
            items.append(self.sum())
        self.bars = bars
        closing = self.next.text
        if closing not in ({CLOSING[opening]} | ({")", "]"} if opening in "([" else set())):
            raise FormulaError(f"expected {CLOSING[opening]!r} before {self.rest()!r}")
        self.at += 1
        if len(items) == 1 and opening != "⦃":
            return Group(items[0])
        brackets = "{}" if opening in "{⦃" else opening + closing
        return Items(brackets, tuple(items))

    def norm(self, mark: str) -> Node:
        """Read what stands between bars."""
        bars, self.bars = self.bars, 0 if mark == "⌊" else 1
        value = self.sum()
        self.bars = bars
        self.expect("⌋" if mark == "⌊" else mark)
        return Norm(mark, value)

    def function(self, name: str) -> Node:
        """Read a built-in function and its argument."""
        if name in _REPEATED and self.next.text == "_":
            return self.repeated(name)
        power = None
        if self.take("^"):
            power = self.script("^")
        if self.next.text in {"(", "[", "{"}:
            return Function(name, self.arguments(), power)
        return Function(name, (self.beside(argument=True),), power)

    def repeated(self, name: str) -> Node:
        """Read a sum over a variable, or a maximum, minimum or mean."""
        self.expect("_")
        braced = self.take("{")
        variable, first, last = self.next.text, None, None
        self.at += 1
        if braced:
            if self.take("="):
                first = self.sum()
            self.expect("}")
        if self.take("^"):
            last = self.script("^")
        body = self.product() if name == "Σ" else self.beside(argument=True)
        return Repeated(name, variable, first, last, body)

    def matrix(self) -> Node:
        """Read rows of cells."""
        rows: list[tuple[Node | None, ...]] = []
        while True:
            row: list[Node | None] = []
            while True:
                empty = self.next.text in {"&", "\\\\"} or self.next.kind == "matrix"
                row.append(None if empty and self.next.text[:7] != "\\begin{" else self.sum())
                if not self.take("&"):
                    break
            rows.append(tuple(row))
            if not self.take("\\\\"):
                break
        if self.next.kind != "matrix":
            raise FormulaError(f"cannot read the matrix at {self.rest()!r}")
        self.at += 1
        return Matrix(tuple(rows))


def _callable(value: Node) -> bool:
    """Say whether brackets right behind it may be arguments."""
    return isinstance(value, Name | Script | Call)
