"""Who may know whom: between the folders, between the rooms of the suite, and no circles."""

import ast
import graphlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = {
    "spec": (),
    "reference": ("spec",),
    "backends": ("spec",),
    "conformance": ("spec", "reference", "backends"),
    "bench": ("spec", "reference", "backends", "conformance"),
}
FRAMEWORKS = ("torch", "jax", "cupy", "mlx")
DRAWING = re.search(
    r"^```text\n(.*?)^```$",
    (ROOT / "conformance" / "README.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)[1]


def module_of(path):
    """Return the dotted name of a file of the package."""
    parts = path.with_suffix("").parts
    parts = parts[parts.index("ropespec") :]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources():
    """Return the text of every module of the package."""
    files = [file for name in FOLDERS for file in (ROOT / name / "ropespec").rglob("*.py")]
    return {module_of(file): file.read_text(encoding="utf-8") for file in files}


def imports(text):
    """List what a module imports, as `module.name` too; what is for types alone is not known."""
    nodes = [ast.parse(text)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        nodes.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def arrows(texts):
    """Return for every module those of the package that it knows."""
    found = {module: set() for module in texts}
    for module, text in texts.items():
        for name in imports(text):
            known = name if name in texts else name.rpartition(".")[0]
            if known.split(".")[0] == "ropespec" and known != module:
                found[module].add(known)
    return found


def folder_of(module):
    """Return the folder of a module: what is no portion of one belongs to the suite."""
    name = module.split(".")[1] if "." in module else ""
    return name if name in FOLDERS else "conformance"


def strangers(texts):
    """List the imports of what a folder may not know."""
    return [
        f"{module} knows {known}"
        for module, all_known in arrows(texts).items()
        for known in sorted(all_known)
        if folder_of(known) not in (folder_of(module), *FOLDERS[folder_of(module)])
    ]


def circle(texts):
    """Return the modules of a circle, or nothing."""
    try:
        graphlib.TopologicalSorter(arrows(texts)).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def rows(drawing):
    """Return the rooms of every floor from the top; what stands right of a gap is prose."""
    return [re.split(r" {3,}", line)[0].split() for line in drawing.splitlines()]


def room_of(module):
    """Return the room of a module of the suite: a folder, or a file beside the folders."""
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["conformance"] and len(parts) > 2 else None


def climbs(texts, drawing):
    """List the imports between rooms that do not go down the drawing."""
    floor = {room: level for level, rooms in enumerate(rows(drawing)) for room in rooms}
    pairs = {
        (room_of(module), room_of(known))
        for module, all_known in arrows(texts).items()
        for known in all_known
    }
    found = [(a, b) for a, b in sorted(pairs, key=str) if a and b and a != b]
    return [f"{a} knows {b}" for a, b in found if floor.get(a, 99) >= floor.get(b, -1)]


def eager(text):
    """List the frameworks that are loaded with a module."""
    tops = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [name for node in tops for name in imports(ast.unparse(node))]
    return {name.split(".")[0] for name in names} & set(FRAMEWORKS)


def loads(texts):
    """List the modules that load a framework and do not bear its name.

    A contender of the benchmark is loaded when its turn comes, in a process of its own.
    """
    return [
        f"{module} loads {name}"
        for module, text in texts.items()
        for name in sorted(eager(text))
        if not re.search(rf"(^|[._]){name}([._]|$)|^ropespec\.bench\.", module)
    ]


def test_no_folder_knows_one_that_it_may_not():
    """The text knows nobody; a backend that knew the reference would prove nothing."""
    assert strangers(sources()) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("ropespec.spec.clauses", "from ropespec.reference import rotation"),
        ("ropespec.backends.numpy.plain", "def f():\n    import ropespec.reference.rotation"),
        ("ropespec.reference.decay", "from ropespec.conformance.judge import oracle"),
    ],
)
def test_a_stranger_is_seen(module, line):
    """The test above can fail, inside a function too."""
    known = line.partition("ropespec.")[2].split()[0]

    assert strangers({module: line, f"ropespec.{known}": ""})


def test_no_module_leads_back_to_itself():
    """Imports inside functions count as well."""
    assert circle(sources()) == []


def test_a_circle_is_seen():
    """The test above can fail."""
    texts = {
        "ropespec.a": "from ropespec.b import b",
        "ropespec.b": "def b():\n    from ropespec import a",
    }

    assert set(circle(texts)) == set(texts)


def test_rooms_of_the_suite_know_only_what_is_drawn_below_them():
    """The drawing of the README is how it is."""
    assert climbs(sources(), DRAWING) == []


def test_every_room_is_drawn_once():
    """No room is missing, none is drawn that is not there."""
    drawn = [room for rooms in rows(DRAWING) for room in rooms]
    rooms = {room_of(module) for module in sources()} - {None}

    assert sorted(drawn) == sorted(rooms)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("ropespec.conformance.judge.budget", "from ropespec.conformance.profile import Profile"),
        ("ropespec.conformance.new", "from ropespec.conformance.profile import Profile"),
        ("ropespec.conformance.profile", "def f():\n    import ropespec.conformance.report.page"),
    ],
)
def test_a_room_that_knows_one_above_it_is_seen(module, line):
    """The test of the drawing can fail: upwards, from a room that is not drawn, and lazily."""
    texts = {module: line}
    texts |= {f"ropespec.conformance.{name}": "" for name in ("profile", "report.page")} | texts

    assert climbs(texts, DRAWING)


def test_who_loads_a_framework_bears_its_name():
    """Nobody waits for torch who did not ask for it."""
    assert loads(sources()) == []


def test_a_framework_that_is_loaded_elsewhere_is_seen():
    """The test above can fail; what is loaded when it is asked for is no matter."""
    torch = "import torch.nn"

    assert loads({"ropespec.conformance.trial": torch}) == [
        "ropespec.conformance.trial loads torch"
    ]
    assert not loads({"ropespec.conformance.trial": f"def f():\n    {torch}"})
    assert not loads({"ropespec.conformance.zoo.torch_wrong": torch})
