"""What a formula is made of once it is read."""

from dataclasses import dataclass, field

__all__ = [
    "Binary",
    "Call",
    "Dots",
    "Function",
    "Group",
    "Index",
    "Inner",
    "Items",
    "Matrix",
    "Name",
    "Negative",
    "Node",
    "Norm",
    "Number",
    "Postfix",
    "Relation",
    "Repeated",
    "Script",
    "Slice",
]


class Node:
    """Any part of a formula."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A symbol that a binding, a sum or the language gives a value."""

    text: str


@dataclass(frozen=True, slots=True)
class Dots(Node):
    """An ellipsis."""


@dataclass(frozen=True, slots=True)
class Script(Node):
    """`base` with a subscript, a superscript or both; the texts are what bindings are named by."""

    base: Node
    sub: Node | None
    sup: Node | None
    sub_text: str = field(compare=False)
    sup_text: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """Minus something."""

    value: Node


@dataclass(frozen=True, slots=True)
class Postfix(Node):
    """A factorial `!` or a conjugate `*`."""

    mark: str
    value: Node


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Two things and `+`, `-`, `·`, `/`, `⊙`, `mod`, or nothing between them (` `)."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`head(arguments)`: a call where the head is callable, else a product."""

    head: Node
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """`a:b:c` (Python, without b), or `a..b` (with b) where `closed`."""

    parts: tuple[Node | None, ...]
    closed: bool


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`head[entries]` as in Python."""

    head: Node
    entries: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A built-in function; `power` is that of `cos^2 x`."""

    name: str
    arguments: tuple[Node, ...]
    power: Node | None = None


@dataclass(frozen=True, slots=True)
class Repeated(Node):
    """A sum, maximum, minimum or mean of `body` over a variable."""

    name: str
    variable: str
    first: Node | None
    last: Node | None
    body: Node


@dataclass(frozen=True, slots=True)
class Group(Node):
    """Something in round or square brackets."""

    value: Node


@dataclass(frozen=True, slots=True)
class Norm(Node):
    """A modulus, a norm, or with `⌊` a floor."""

    mark: str
    value: Node


@dataclass(frozen=True, slots=True)
class Inner(Node):
    """An inner product in angle brackets."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Items(Node):
    """Several things with commas between; `brackets` tell intervals from vectors and sets."""

    brackets: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Matrix(Node):
    """Rows of cells, None for an empty one."""

    rows: tuple[tuple[Node | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """One statement: members with a relation between each two; `modulus` belongs to `≡`."""

    members: tuple[Node, ...]
    signs: tuple[str, ...]
    modulus: Node | None
    text: str
