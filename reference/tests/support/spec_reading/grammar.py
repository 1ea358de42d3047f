"""The grammar of what a formula states: relations, one after the other, and chains of them."""

from collections.abc import Iterable

from spec_reading.cursor import END
from spec_reading.expressions import Expressions
from spec_reading.nodes import Dots, Items, Node, Relation
from spec_reading.tokens import FormulaError, tokenise

__all__ = ["parse"]

_PARTING = frozenset((",", ";", "\\\\", ".", ":"))


def parse(text: str, names: Iterable[str]) -> list[Relation]:
    """Read the statements of a formula; `names` are those that it may use.

    Raises
    ------
    FormulaError
        If anything in it is not understood, or it states nothing.
    """
    return _Statements(tokenise(text, names)).statements()


class _Statements(Expressions):
    def statements(self) -> list[Relation]:
        found: list[Relation] = []
        while self.next is not END:
            if self.parts():
                self.at += 1
                continue
            found.append(self.relation())
            if not (self.next is END or self.parts()):
                raise FormulaError(f"cannot read on at {self.rest()!r}")
        if not found:
            raise FormulaError("states nothing")
        return found

    def parts(self) -> bool:
        """Say whether the next token parts two statements."""
        return self.next.kind == "word" or self.next.text in _PARTING

    def relation(self) -> Relation:
        start = self.at
        members, signs = [self.sum()], []
        while self.next.kind == "relation":
            signs.append(self.next.text)
            self.at += 1
            member = self.sum()
            members.append(self.attempt_list(member))
            if members[-1] is not member and signs[-1] == "=":
                signs[-1] = "∈"  # `i = 0, 1, ..., 9` says what i runs over
        if not signs:
            raise FormulaError(f"states nothing: {self.since(start)!r}")
        modulus = None
        if self.before_modulus():
            self.at += 2
            modulus = self.sum()
            self.expect(")")
        return Relation(tuple(members), tuple(signs), modulus, self.since(start))

    def attempt_list(self, first: Node) -> Node:
        """Take `first, ..., last` where commas and an ellipsis follow, else `first` alone."""
        start, items = self.at, [first]
        while self.take(","):
            if self.next.kind in {"end", "word"} or self.next.text == ";":
                break
            items.append(self.sum())
            if isinstance(items[-2], Dots):
                return Items("{}", tuple(items))
        self.at = start
        return first
