"""The value of a formula under the bindings of its clause.

Numbers stay Python's own as long as they can; vectors have one axis, rows of a row matrix two.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spec_reading.nodes import (
    Binary,
    Call,
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
from spec_reading.operations import ASSOCIATED, FUNCTIONS, beside, norm, operate, power
from spec_reading.sequences import filled
from spec_reading.tokens import FormulaError
from spec_reading.values import Interval, Open, joined, scalar

__all__ = ["Environment", "evaluate"]

Environment = Mapping[str, Any]
_CONSTANTS: Environment = {"π": math.pi, "e": math.e, "ⅈ": 1j, "∞": math.inf}


def evaluate(node: Node, environment: Environment) -> Any:
    """Compute a formula.

    Raises
    ------
    FormulaError
        If a name is not bound, or something cannot be computed.
    """
    try:
        return _Evaluation({**_CONSTANTS, **environment}, {}).value(node)
    except FormulaError:
        raise
    except Exception as error:  # what a binding raises is a problem of the formula
        raise FormulaError(f"{type(error).__name__}: {error}") from error


class _Evaluation:
    def __init__(self, environment: Environment, local: Mapping[str, Any]) -> None:
        self.environment = environment
        self.local = local

    def within(self, **local: Any) -> "_Evaluation":
        return _Evaluation(self.environment, {**self.local, **local})

    def value(self, node: Node) -> Any:  # noqa: C901, PLR0911, PLR0912
        match node:
            case Number(text):
                return int(text) if text.isdigit() else float(text)
            case Name(text):
                return self.name(text)
            case Group(value):
                return self.value(value)
            case Negative(value):
                return operate("·", -1, self.value(value))
            case Binary(" ", left, right):
                return beside(self.value(left), self.value(right))
            case Binary(operator, left, right):
                return operate(operator, self.value(left), self.value(right))
            case Script():
                return self.script(node)
            case Postfix(mark, value):
                return ASSOCIATED[mark](self.value(value))
            case Call(head, arguments):
                return self.call(self.value(head), arguments)
            case Index(head, entries):
                return scalar(np.asarray(self.value(head))[tuple(map(self.entry, entries))])
            case Function():
                return self.function(node)
            case Repeated():
                return self.repeated(node)
            case Norm(mark, value):
                return norm(mark, self.value(value))
            case Inner(left, right):
                return scalar(np.dot(self.value(left), self.value(right)))
            case Items():
                return self.items(node)
            case Matrix(rows):
                return self.matrix(rows)
        raise FormulaError(f"{type(node).__name__} has no value")

    # --- names

    def name(self, text: str) -> Any:
        for scope in (self.local, self.environment):
            if text in scope:
                return scope[text]
        raise FormulaError(f"{text!r} is not bound")

    def script(self, node: Script) -> Any:
        text, sub, sup = self.base_text(node), node.sub_text, node.sup_text
        if text:
            whole = f"{text}^{sup}_{sub}"
            if node.sup and node.sub and whole in self.environment and self.free(node):
                return self.environment[whole]
            if node.sup and f"{text}^{sup}" in self.environment and self.free(node.sup):
                return self.subscripted(f"{text}^{sup}", self.environment[f"{text}^{sup}"], node)
            head = self.subscripted(text, None, node)
        else:
            head = self.at(self.value(node.base), node.sub) if node.sub else self.value(node.base)
        return head if node.sup is None else self.raised(head, node.sup)

    def base_text(self, node: Script) -> str:
        return node.base.text if isinstance(node.base, Name) else ""

    def free(self, node: Node) -> bool:
        """Say whether nothing in a node is a variable of a sum or of an ellipsis."""
        return not any(_mentions(node, name) for name in self.local)

    def subscripted(self, text: str, value: Any, node: Script) -> Any:
        if node.sub is None:
            return self.name(text) if value is None else value
        if f"{text}_{node.sub_text}" in self.environment and self.free(node.sub):
            return self.environment[f"{text}_{node.sub_text}"]
        if value is None and text not in self.environment:
            raise FormulaError(f"'{text}_{node.sub_text}' is not bound")
        return self.at(self.environment[text] if value is None else value, node.sub)

    def at(self, head: Any, sub: Node) -> Any:
        """Take a value at a subscript: call it, or index it."""
        parts = sub.items if isinstance(sub, Items) else (sub,)
        if callable(head):
            return head(*(_whole(self.value(part)) for part in parts))
        array = np.asarray(head)
        if isinstance(sub, Binary) and sub.operator == " " and array.ndim > 1:
            parts = (sub.left, sub.right)
        if array.ndim < len(parts):
            raise FormulaError(f"a number has no subscript {sub}")
        entries = tuple(map(self.entry, parts))
        ends = [e.stop for e in entries if isinstance(e, slice) and e.stop is not None]
        if any(end > size for end, size in zip(ends, array.shape, strict=False)):
            raise FormulaError(f"a subscript beyond {array.shape}")
        return scalar(array[entries])

    def entry(self, node: Node) -> Any:
        if not isinstance(node, Slice):
            found = _whole(self.value(node))
            if isinstance(found, int) and found < 0:
                raise FormulaError("a subscript below 0")
            return found
        ends = [None if part is None else int(self.value(part)) for part in node.parts]
        return slice(ends[0], (ends[1] or 0) + 1) if node.closed else slice(*ends)

    def raised(self, head: Any, sup: Node) -> Any:
        if isinstance(sup, Name) and sup.text in ASSOCIATED:
            return ASSOCIATED[sup.text](head)
        return power(head, self.value(sup))

    # --- calls and sums

    def call(self, head: Any, arguments: Sequence[Node]) -> Any:
        if callable(head):
            return scalar(head(*map(self.value, arguments)))
        single = len(arguments) == 1
        return beside(head, self.value(arguments[0] if single else Items("()", tuple(arguments))))

    def function(self, node: Function) -> Any:
        items = self.whole(node.arguments)
        if node.name in {"mean", "max", "min", "diag"}:
            found = FUNCTIONS[node.name](*items)
        elif len(items) != 1:
            raise FormulaError(f"{node.name} takes one argument")
        else:
            found = FUNCTIONS[node.name](items[0])
        return scalar(found) if node.power is None else self.raised(scalar(found), node.power)

    def repeated(self, node: Repeated) -> Any:
        if node.first is None or node.last is None:
            domain = self.name(f"{node.variable} ∈")
        else:
            domain = range(int(self.value(node.first)), int(self.value(node.last)) + 1)
        terms = [self.within(**{node.variable: k}).value(node.body) for k in domain]
        if node.name == "Σ":
            return sum(terms[1:], start=terms[0]) if terms else 0
        return FUNCTIONS[node.name](*terms)

    # --- several things

    def expanded(self, items: Sequence[Node]) -> tuple[list[Any], int | None]:
        found, gap = filled(items, self.value)
        return [self.value(node) for node in found], gap

    def whole(self, items: Sequence[Node]) -> list[Any]:
        values, gap = self.expanded(items)
        if gap is not None:
            raise FormulaError("dots that cannot be filled in")
        return values

    def items(self, node: Items) -> Any:
        if len(node.items) > 1 and all(map(_is_row, node.items)):
            return self.matrix([item.items for item in node.items if isinstance(item, Items)])
        values, gap = self.expanded(node.items)
        if node.brackets in {"(]", "[)"}:
            return Interval(values[0], values[1], node.brackets)
        return joined(values) if gap is None else Open(joined(values[:gap]), joined(values[gap:]))

    def matrix(self, rows: Sequence[Sequence[Node | None]]) -> Any:
        if all(len(row) == 1 for row in rows):
            return self.items(Items("()", tuple(row[0] for row in rows if row[0])))
        diagonal = [cell for k, row in enumerate(rows) if k < len(row) and (cell := row[k])]
        empty = sum(cell is None for row in rows for cell in row)
        if empty:
            if len(diagonal) + empty != sum(map(len, rows)):
                raise FormulaError("a matrix has empty cells, and more than its diagonal")
            return FUNCTIONS["diag"](*self.whole(diagonal))
        cells = [self.whole([cell for cell in row if cell]) for row in rows]
        if len(rows) == 1:
            return np.atleast_2d(joined(cells[0]))
        return np.block([[np.atleast_2d(cell) for cell in row] for row in cells])


def _is_row(item: Node) -> bool:
    """Say whether a part of a vector is written as a vector: ((a, b), (c, d)) is a matrix."""
    return isinstance(item, Items) and item.brackets == "()"


def _whole(value: Any) -> Any:
    """Turn a whole number that a division has made a float back into an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _mentions(node: Any, name: str) -> bool:
    if isinstance(node, Name):
        return node.text == name
    if isinstance(node, tuple):
        return any(_mentions(part, name) for part in node)
    slots = getattr(node, "__dataclass_fields__", {})
    return any(_mentions(getattr(node, slot), name) for slot in slots)
