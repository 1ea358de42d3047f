"""A wrong line in the reference is seen: the checks of its clauses then fail on a right subject.

Each function that a clause lists, and each private helper of it, is changed in one place: a sign,
an index, a constant, a cosine for a sine, two operands exchanged, a keyword not passed on.
The tests try a sample; all faults, or those of some functions, are tried by
`python conformance/tests/test_reference_faults.py [FUNCTION ...]`.
"""

import ast
import contextlib
import copy
import importlib
import importlib.util
import inspect
import random
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, settings

from ropespec.backends import numpy as backend
from ropespec.conformance import search
from ropespec.conformance.builtin import builtin_profile
from ropespec.spec import FUNCTIONS, clauses

PER_FUNCTION = 4
CLAIMS = builtin_profile("numpy").as_dict()

NOT_RIGHT = "errata"
"""Modules of forms that are wrong as printed: no right subject has them, and ERR-1 holds them."""

_SOUND: dict[str, bool] = {}
"""Whether a check conforms while no fault is planted."""

EXCUSED = Path(__file__).with_name("reference_faults.txt")
"""What changes no number that a subject could show: ids under the reason for it, `# ...`."""


@dataclass(frozen=True)
class Fault:
    """One function of the reference with one wrong line: the body and the defaults it then has."""

    function: str
    line: str
    code: CodeType
    defaults: tuple[Any, Any]

    @property
    def id(self) -> str:
        """Function and wrong line."""
        return f"{self.function} | {self.line}"


@cache
def excused() -> dict[str, str]:
    """Return the faults that show nowhere, with the reason."""
    found, reason = {}, ""
    for line in EXCUSED.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            found[line] = reason
    return found


@contextlib.contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """Put the wrong code into the function itself, which all who imported it then call."""
    function = _found(fault.function)
    before = function.__code__, function.__defaults__, function.__kwdefaults__
    function.__code__ = fault.code
    function.__defaults__, function.__kwdefaults__ = fault.defaults
    try:
        yield
    finally:
        function.__code__, function.__defaults__, function.__kwdefaults__ = before


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"ropespec.reference.{name}")


def _found(name: str) -> FunctionType:
    module, *path = name.split(".")
    found: Any = _module(module)
    for part in path:
        found = getattr(found, part)
    return found


@cache
def _tree(module: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a module, and the methods of its classes as `Class.method`."""
    tree = ast.parse(inspect.getsource(_module(module)))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            methods = (item for item in node.body if isinstance(item, ast.FunctionDef))
            found |= {f"{node.name}.{item.name}": item for item in methods}
    return found


@cache
def listed() -> dict[str, tuple[str, ...]]:
    """Return the functions that clauses list, and their private helpers, with these clauses."""
    found: dict[str, dict[str, None]] = {}
    for clause in clauses().values():
        for name in clause.functions:
            module, _, function = name.partition(".")
            if module == NOT_RIGHT:
                continue
            for one in _with_helpers(module, function):
                found.setdefault(f"{module}.{one}", {})[clause.id] = None
    return {name: tuple(ids) for name, ids in found.items()}


def _with_helpers(module: str, function: str) -> Iterator[str]:
    """Yield a function, or the methods of a class, and the private ones that they call."""
    tree = _tree(module)
    names = [one for one in tree if one == function or one.startswith(f"{function}.")]
    seen: dict[str, None] = {}
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen[name] = None
        called = {node.id for node in ast.walk(tree[name]) if isinstance(node, ast.Name)}
        names += [one for one in tree if one.startswith("_") and one in called]
    yield from seen


Change = Callable[[Any], Any]
"""Returns what stands for a node of the tree; the node may be changed in place."""

_PAIRS = (
    *(("cos", "sin"), ("c", "s"), ("cm", "sm"), ("cn", "sn"), ("q", "k"), ("m", "n")),
    *(("left", "right"), ("first", "second"), ("q1", "q2"), ("k1", "k2"), ("x1", "x2")),
    *(("f_q", "f_k"), ("R_m", "R_n"), ("real", "imag"), ("cos_pos", "sin_pos")),
)
_OTHER = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])} | {
    "max": "min",
    "mean": "sum",
    "zeros": "ones",
    "ones": "zeros",
    "duplicate_interleaved": "duplicate_half",
    "duplicate_half": "duplicate_interleaved",
}
_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_MAKES_ROOM = {"errstate", "empty", "empty_like", "broadcast_shapes", "result_type"}
"""Calls that say what is warned of, how large a result is, and what it is stored in."""

_UNORDERED = {"product", "inner_product", "_read"}
"""Functions whose first two arguments may be exchanged."""

_KEPT = {"dtype", "strict"}
"""Keywords that make sure of what is so anyway."""

_UNWRAPPED = {"abs", "wrap", "conj", "conjugate", "sqrt", "cumsum", "diff", "argument"}


def _changes(node: ast.AST, names: frozenset[str]) -> Iterator[Change]:
    """Yield the ways to make a node wrong; `names` are the variables of its function."""
    yield from _of_operators(node)
    yield from _of_constants(node)
    yield from _of_names(node, names)
    match node:
        case ast.IfExp():
            yield _branches
        case ast.Subscript(ctx=ast.Load()):
            yield lambda found: found.value
        case ast.Call():
            yield from _of_calls(node)
        case ast.Return(value=ast.Tuple(elts=[_, _])):
            yield _returned


def _of_operators(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.BinOp(op=operator):
            if type(operator) in _OPERATORS:
                yield _set("op", _OPERATORS[type(operator)]())
            if isinstance(operator, ast.Sub | ast.Div | ast.Pow | ast.MatMult):
                yield _exchanged
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield lambda found: found.operand
        case ast.Compare(ops=[operator]):
            yield _set("ops", [_OPERATORS[type(operator)]()])
        case ast.BoolOp(op=operator):
            yield _set("op", _OPERATORS[type(operator)]())


def _of_constants(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Constant(value=bool() as value):
            yield _set("value", not value)
        case ast.Constant(value=int() as value):
            yield _set("value", value + 1)
        case ast.Constant(value=float() as value):
            yield _set("value", 1.5 * value or 1.0)
        case ast.Constant(value=complex() as value):
            yield _set("value", -value)


def _of_names(node: ast.AST, names: frozenset[str]) -> Iterator[Change]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if _OTHER.get(name) in names:
            yield _set("id", _OTHER[name])
        case ast.Attribute(attr="T"):
            yield lambda found: found.value
        case ast.Attribute(attr=name) if name in _OTHER:
            yield _set("attr", _OTHER[name])


def _set(name: str, value: Any) -> Change:
    return lambda node: setattr(node, name, value) or node


def _exchanged(node: ast.BinOp) -> ast.BinOp:
    node.left, node.right = node.right, node.left
    return node


def _branches(node: ast.IfExp) -> ast.IfExp:
    node.body, node.orelse = node.orelse, node.body
    return node


def _returned(node: Any) -> Any:
    node.value.elts.reverse()
    return node


def _of_calls(node: ast.Call) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _UNWRAPPED:
        yield lambda call: call.args[0] if call.args else call.func.value
    same = len(node.args) >= 2 and ast.unparse(node.args[0]) == ast.unparse(node.args[1])
    if len(node.args) >= 2 and not same and name not in _UNORDERED:
        yield _arguments
    for index, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg not in _KEPT:
            yield _without(index)


def _arguments(call: ast.Call) -> ast.Call:
    call.args[:2] = call.args[1::-1]
    return call


def _without(index: int) -> Change:
    def change(call: ast.Call) -> ast.Call:
        del call.keywords[index]
        return call

    return change


def _untouched(function: ast.FunctionDef) -> set[int]:
    """Return the nodes that decide what is refused, warned of, written or called, and no number."""
    parts: list[ast.AST] = []
    for node in ast.walk(function):
        match node:
            case ast.FunctionDef(args=given):
                annotated = [*given.posonlyargs, *given.args, *given.kwonlyargs]
                parts += [
                    *annotated,
                    *node.decorator_list,
                    *([node.returns] if node.returns else ()),
                ]
            case ast.AnnAssign(annotation=annotation):
                parts.append(annotation)
            case ast.Call(func=ast.Name(id="_read"), args=args):
                parts += args  # what it returns stands in its keywords and its offset
            case _ if _decides_no_number(node):
                parts.append(node)
    return {id(item) for part in parts for item in ast.walk(part)}


def _decides_no_number(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Expr() | ast.ExceptHandler():
            return True
        case ast.If(body=[ast.Raise() | ast.Expr()]) | ast.For(body=[ast.Expr()]):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name.lstrip("_").startswith("check_")
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _MAKES_ROOM
        case ast.Attribute(attr=name):
            return name == "dtype"
        case ast.keyword(arg=name):
            return name in _KEPT
    return False


def faults(name: str) -> list[Fault]:
    """Return every wrong version of a function."""
    module, _, path = name.partition(".")
    original = _tree(module)[path]
    untouched = _untouched(original)
    own = {node.id for node in ast.walk(original) if isinstance(node, ast.Name)}
    own |= {item.arg for item in ast.walk(original) if isinstance(item, ast.arg)}
    made = []
    for index, node in enumerate(ast.walk(original)):
        if id(node) in untouched:
            continue
        for number in range(sum(1 for _ in _changes(node, frozenset(own)))):
            wrong = copy.deepcopy(original)
            target = list(ast.walk(wrong))[index]
            change = list(_changes(target, frozenset(own)))[number]
            made.append(_compiled(name, wrong, target, change))
    return [fault for fault in made if fault is not None]


def _compiled(name: str, wrong: ast.FunctionDef, target: ast.AST, change: Change) -> Fault | None:
    said = _statement(wrong, target)
    new = change(target)
    if new is not target:
        for parent in ast.walk(wrong):
            for field, value in ast.iter_fields(parent):
                if value is target:
                    setattr(parent, field, new)
                elif isinstance(value, list) and any(item is target for item in value):
                    value[:] = [new if item is target else item for item in value]
    wrong.decorator_list = []
    ast.fix_missing_locations(wrong)
    module = name.partition(".")[0]
    space: dict[str, Any] = {}
    tree = ast.Module(body=[wrong], type_ignores=[])
    try:
        exec(compile(tree, f"<{name}>", "exec"), vars(_module(module)), space)  # noqa: S102
    except (SyntaxError, TypeError):
        return None
    made = space[wrong.name]
    defaults = made.__defaults__, made.__kwdefaults__
    return Fault(name, _words(said), made.__code__, defaults)


def _statement(function: ast.FunctionDef, target: ast.AST) -> ast.AST:
    """Return the innermost statement that holds a node; the function itself for its defaults."""
    holding: ast.AST = function
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and any(item is target for item in ast.walk(node)):
            holding = node
    return holding


def _words(statement: ast.AST) -> str:
    """Return a statement in one line; of one that holds others, its head."""
    text = ast.unparse(statement)
    if isinstance(statement, ast.FunctionDef | ast.For | ast.If | ast.With):
        text = (
            text.partition(":\n")[0]
            if not isinstance(statement, ast.FunctionDef)
            else (f"def {statement.name}({ast.unparse(statement.args)})")
        )
    return " ".join(text.split())


def _quick(examples: int) -> settings:
    """Return settings that look for a failure and not for the smallest one."""
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
        verbosity=Verbosity.quiet,
    )


def _ordered(known: Any, ids: tuple[str, ...]) -> list[str]:
    """Return the checks of clauses, those that hold the reference itself first."""
    found = [name for name, item in known.items() if item.clause in ids]
    telling = ("forms", "reference", "middle", "groups", "conventions", "moved")
    return sorted(found, key=lambda name: not any(word in name for word in telling))


def seen(checks: Any, fault: Fault) -> str:
    """Return the first check that fails while a fault is planted; empty if all of them pass."""
    with planted(fault):
        for name in _ordered(checks.known, listed()[fault.function]):
            found = checks.run(name, backend, **CLAIMS)
            if not found.status.conforms:
                break
        else:
            return ""
    assert _conforms(checks, name), f"{name} fails without a fault"
    return name


def _conforms(checks: Any, name: str) -> bool:
    """Run a check of the reference as it is, once."""
    if name not in _SOUND:
        _SOUND[name] = checks.run(name, backend, **CLAIMS).status.conforms
    return _SOUND[name]


@pytest.fixture
def quick(monkeypatch):
    """Let a check stop at its first failure."""
    monkeypatch.setattr(search, "_settings", _quick)


def _sample(name: str) -> list[Fault]:
    """Choose some faults of a function, always the same ones."""
    possible = [fault for fault in faults(name) if fault.id not in excused()]
    chosen = random.Random(zlib.crc32(name.encode()))  # noqa: S311  # no secret
    return chosen.sample(possible, min(PER_FUNCTION, len(possible)))


@pytest.mark.parametrize("name", listed())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("quick")
def test_a_wrong_line_in_the_reference_is_seen(checks, name):
    """Some check of the clauses that list a function fails once it computes something else."""
    for fault in _sample(name):
        assert seen(checks, fault), fault.id


def test_every_function_of_the_interface_is_compared_with_the_reference(checks):
    """Each of them has a check that calls it, names P-47 and is called after the reference."""
    for names in FUNCTIONS.values():
        for function in names:
            compared = [
                item.id
                for item in checks.known.values()
                if item.needs[:1] == (function,) or function in item.needs
                if "P-47" in item.names and "reference" in item.id
            ]
            assert compared, function


def test_what_is_excused_can_still_be_planted():
    """Each excuse belongs to a fault that is there, and says why it shows nowhere."""
    possible = {fault.id for name in listed() for fault in faults(name)}

    assert set(excused()) - possible == set()
    assert all(excused().values())


def _main(prefixes: list[str]) -> int:
    """Try all faults, print those that nothing sees, and return how many they are."""
    path = Path(__file__).with_name("conftest.py")
    spec = importlib.util.spec_from_file_location("conftest", path)
    assert spec is not None
    assert spec.loader is not None
    conftest = sys.modules["conftest"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conftest)
    checks = conftest.Checks()
    search._settings = _quick
    tried, missed = 0, []
    for name in listed():
        if prefixes and not name.startswith(tuple(prefixes)):
            continue
        for fault in faults(name):
            if fault.id in excused():
                continue
            tried += 1
            if not seen(checks, fault):
                missed.append(fault.id)
                sys.stdout.write(f"{fault.id}\n")
                sys.stdout.flush()
    counted = f"{tried - len(missed)} of {tried} faults are seen"
    sys.stdout.write(f"{counted}; {len(excused())} more show nowhere\n")
    return len(missed)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    sys.exit(bool(_main(sys.argv[1:])))
