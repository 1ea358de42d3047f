import errno
import os
import re
import shutil
from pathlib import Path

import pytest

from ropespec.conformance.frameworks import BUILTIN, FRAMEWORKS
from ropespec.conformance.subject.session import load
from ropespec.conformance.subject.target import Target, TargetUnusable, parse

SUBJECTS = Path(__file__).parent / "subjects"
OTHERS = "a program is named as command:PROGRAM, a library as c-abi:LIBRARY:SIGNATURE"
FORMS = "a target is numpy, torch, jax, cupy, package.module:attribute or path/to/file.py:attribute"


def offered(loaded):
    """Return the names and keywords that a target offers."""
    return {name: set(offer.keywords) for name, offer in loaded.offers.items()}


def look(target, folder=SUBJECTS):
    """Load a target and return what was found."""
    with load(target, 20.0, folder=folder) as loaded:
        return loaded


def message(target, folder=SUBJECTS, timeout=20.0):
    """Return the line with which a target is refused."""
    with pytest.raises(TargetUnusable) as caught:
        load(target, timeout, folder=folder).close()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", BUILTIN)
def test_a_framework_name_is_a_backend(name):
    """numpy, torch, jax and cupy stand for the backends of this project."""
    target = parse(name, SUBJECTS)

    assert target == Target(name, f"ropespec.backends.{name}", "", "")
    assert target.is_builtin
    assert target.place == name


@pytest.mark.parametrize(
    ("text", "module", "file", "attribute", "place"),
    [
        ("pkg.mod:f", "pkg.mod", "", "f", "pkg.mod"),
        ("pkg.mod", "pkg.mod", "", "", "pkg.mod"),
        ("pkg:a.b.c", "pkg", "", "a.b.c", "pkg"),
        ("numpy.linalg:norm", "numpy.linalg", "", "norm", "numpy.linalg"),
        ("raises.py:apply", "", "raises.py", "apply", "raises.py"),
        ("./raises.py", "", "raises.py", "", "./raises.py"),
        ("../subjects/raises.py:a.b", "", "raises.py", "a.b", "../subjects/raises.py"),
    ],
)
def test_forms_of_a_target(text, module, file, attribute, place):
    """Modules and files, with and without a dotted attribute."""
    target = parse(text, SUBJECTS)

    path = str(SUBJECTS / file) if file else ""
    assert target == Target(text, module, path, attribute)
    assert target.place == place
    assert not target.is_builtin


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", f"'' is neither a module nor a Python file; {FORMS}"),
        ("two words", f"'two words' is neither a module nor a Python file; {FORMS}"),
        ("raises.py:", f"'raises.py:': no attribute; {FORMS}"),
        ("raises.py:a-b", f"'raises.py:a-b': 'a-b' after the colon is not a Python name; {FORMS}"),
        ("rises.py:apply", "no such file: rises.py; did you mean 'raises.py'?"),
        ("./nowhere/x.py:apply", "no such file: ./nowhere/x.py"),
        (
            "./a.cu:f",
            f"./a.cu is not a Python file: its name does not end in .py; {OTHERS}",
        ),
        ("../subjects:f", f"'../subjects:f' names a folder; {FORMS}"),
    ],
)
def test_what_is_no_target(text, line):
    """Each wrong form gives one line, without starting a process."""
    with pytest.raises(TargetUnusable, match=f"^{re.escape(line)}$"):
        parse(text, SUBJECTS)


def test_files_that_are_none(tmp_path):
    """A loop of links, a pipe, a link to nowhere and too long a name give one line each."""
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "lost.py").symlink_to("nowhere.py")
    os.mkfifo(tmp_path / "fifo.py")
    for name, line in [
        ("loop.py", r"loop\.py cannot be opened: (Too many levels|Symlink loop).*"),
        ("lost.py", r"no such file: lost\.py is a link to nowhere\.py"),
        ("fifo.py", r"fifo\.py is not a regular file"),
        ("a" * 300 + ".py", r"a+\.py cannot be opened: File name too long"),
        ("nul\0.py", r"nul\x00\.py cannot be opened: .*null.*"),
    ]:
        with pytest.raises(TargetUnusable, match=f"^{line}$") as caught:
            parse(f"{name}:f" if "\0" not in name else name, tmp_path)
        assert "\n" not in str(caught.value)


def test_a_link_has_the_name_of_a_python_file(tmp_path):
    """What it leads to may be called anything."""
    (tmp_path / "implementation").write_text("def apply(x, positions): pass\n")
    (tmp_path / "mine.py").symlink_to("implementation")

    assert offered(look("mine.py:apply", tmp_path)) == {"apply_rotary": set()}


def test_a_folder_one_may_not_enter(tmp_path, monkeypatch):
    """What the system refuses to look at is told in its words."""

    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "stat", refused)
    with pytest.raises(TargetUnusable, match=r"^mine\.py cannot be opened: Permission denied$"):
        parse("mine.py:f", tmp_path)


@pytest.mark.parametrize(
    ("claims", "line"),
    [
        ("{'base': 10**400}", "PROFILE of mine.py holds `base`, an integer of 1329 bits"),
        ("{'base': 10**5000}", "PROFILE of mine.py holds `base`, an integer of 16610 bits"),
        ("{'head_dims': range(2, 10**12, 2)}", "holds `head_dims` of type list and size 4097"),
        ("{'array': 'n' * 10**7}", "holds `array` of type str and size 10000000 where a text"),
        ("{'n' * 10**7: 1}", "holds `a claim` of type str and size 10000000 where a text belongs"),
        ("{str(n): n for n in range(10**6)}", "PROFILE of mine.py makes 1000000 claims"),
        ("{'dtypes': [[[[['float32']]]]]}", "holds `dtypes` of type list and size 1 where a small"),
    ],
)
def test_claims_of_any_size(tmp_path, claims, line):
    """A PROFILE that no claim needs is refused in one line."""
    (tmp_path / "mine.py").write_text(f"PROFILE = {claims}\ndef f(x, positions): pass\n")

    assert line in message("mine.py:f", tmp_path)


def test_a_file_that_shadows_a_framework(tmp_path):
    """A file of that name is told where an import fails for it."""
    (tmp_path / "torch.py").write_text("def apply(x, positions): pass\n")
    (tmp_path / "mine.py").write_text("import torch\ntorch.tensor(1)\n")

    assert message("mine.py:f", tmp_path) == (
        "mine.py raised AttributeError: module 'torch' has no attribute 'tensor' while it was "
        f"imported (mine.py:2); {tmp_path}/torch.py shadows the package torch: rename it"
    )


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("nump", "no module named 'nump'; did you mean 'numpy'?"),
        ("numpy.nowhere:f", "no module named 'numpy.nowhere'"),
        ("nowhere.mod:f", "no module named 'nowhere'"),
        ("raises.py:aply", "raises.py has no attribute 'aply'; did you mean 'apply'?"),
        (
            "offers.py:Holder.rotary",
            "Holder has no attribute 'rotary'; did you mean 'apply_rotary'?",
        ),
        (
            "offers.py:LIMIT",
            "offers.py:LIMIT is not callable and offers no function of the API: 3.5 (float)",
        ),
        (
            "raises.py",
            (
                "raises.py offers no function of the API, and no style binds one; "
                "name one: raises.py:apply"
            ),
        ),
        (
            "broken_import.py",
            (
                "broken_import.py raised RuntimeError: the tables are missing "
                "while it was imported (broken_import.py:3)"
            ),
        ),
        (
            "needs_missing.py:f",
            (
                "needs_missing.py needs the module 'no_such_module_anywhere', "
                "which is not installed (needs_missing.py:4)"
            ),
        ),
        (
            "relative.py:apply",
            "relative.py uses relative imports: name it as a module, package.relative:apply",
        ),
        (
            "offers.py:Needy",
            (
                "offers.py:Needy is a class that cannot be called without arguments "
                "(TypeError: Needy.__init__() missing 1 required positional argument: 'dim'); "
                "name a function, or an instance of it"
            ),
        ),
        ("offers.py:Claims", "PROFILE of offers.py must be a mapping of claims; got 'half' (str)"),
        (
            "aborts_import.py:f",
            (
                "aborts_import.py cannot be imported: its process died of SIGABRT "
                "while it was imported; its last words: Fatal Python error: Aborted"
            ),
        ),
    ],
)
def test_what_cannot_be_loaded(target, line):
    """Each way in which a target is unusable has its own line."""
    assert message(target) == line


def test_an_import_that_hangs():
    """An import that never ends is given up."""
    expected = (
        "hangs_import.py cannot be imported: no answer within 0.6 s while it was imported; "
        "its process was killed"
    )
    assert message("hangs_import.py:f", timeout=0.6) == expected


def test_a_file_that_is_no_python(tmp_path):
    """A syntax error is told with its line."""
    (tmp_path / "odd.py").write_text("x = 1\ndef f(:\n")

    assert message("odd.py:f", tmp_path) == (
        "odd.py cannot be compiled: SyntaxError: invalid syntax (odd.py:2)"
    )


@pytest.mark.parametrize("name", [name for name, room in FRAMEWORKS.items() if room.extra])
def test_a_framework_that_is_not_installed(tmp_path, name):
    """The line says what to install, for a target that imports the framework."""
    # A module of that name in the current folder stands for one that is not there.
    line = f"raise ModuleNotFoundError('not there', name={name!r})"
    (tmp_path / f"{name}.py").write_text(line)
    (tmp_path / "mine.py").write_text(f"import {name}\n")
    extra = FRAMEWORKS[name].extra

    assert message("mine.py:f", tmp_path) == (
        f"{name} is not installed: pip install 'ropespec[{extra}]'"
    )


@pytest.mark.parametrize(
    ("target", "functions", "profile"),
    [
        (
            "half_numpy.py:apply",
            {"apply_rotary": set()},
            {"interleaved": False, "array": "numpy", "dtypes": ["float32", "float64"]},
        ),
        (
            "offers",
            {
                "inv_freq": {"base"},
                "cos_sin": {"interleaved", "base", "rotary_dim"},
                "apply_rotary": {"interleaved", "base", "rotary_dim"},
                "apply_rotary_vjp": {"base"},
                "attention": set(),
            },
            {"interleaved": True},
        ),
        ("offers:bare", {"apply_rotary": {"base"}}, {"interleaved": True}),
        ("offers.py:anything", {"apply_rotary": set()}, {"interleaved": True}),
        ("offers.py:partly", {"apply_rotary": {"base"}}, {"interleaved": True}),
        (
            "offers.py:holder",
            {"apply_rotary": {"rotary_dim"}},
            {"interleaved": False, "dtypes": ["float32"], "head_dims": [2, 4]},
        ),
        (
            "offers.py:Holder",
            {"apply_rotary": {"rotary_dim"}},
            {"interleaved": False, "dtypes": ["float32"], "head_dims": [2, 4]},
        ),
        (
            "offers.py:Holder.Inner",
            {"apply_rotary": set()},
            {"interleaved": False, "dtypes": ["float32"], "head_dims": [2, 4]},
        ),
        ("raises.py:apply", {"apply_rotary": set()}, None),
    ],
)
def test_what_targets_offer(target, functions, profile):
    """Functions, modules, objects, classes and their claims are found."""
    loaded = look(target)

    assert offered(loaded) == functions
    assert loaded.profile_mapping == profile
    assert loaded.target == target
    assert not loaded.is_builtin


def test_the_current_folder_is_importable_and_left_clean(tmp_path):
    """Modules beside a file are found, from another folder too, and no bytecode is written."""
    (tmp_path / "deep").mkdir()
    shutil.copy(SUBJECTS / "half_numpy.py", tmp_path / "deep" / "half_numpy.py")
    (tmp_path / "deep" / "mine.py").write_text("from half_numpy import apply\n")
    loaded = look("deep/mine.py:apply", tmp_path)

    assert offered(loaded) == {"apply_rotary": set()}
    assert loaded.profile_mapping is None
    assert list(tmp_path.rglob("__pycache__")) == []


def test_a_changed_file_is_read_again(tmp_path):
    """A file that changes without changing size or second is not taken from a cache."""
    file = tmp_path / "mine.py"
    for base in (2, 3):
        file.write_text(f"PROFILE = {{'base': {base}}}\ndef f(x, positions): pass\n")
        assert look("mine.py:f", tmp_path).profile_mapping == {"base": base}


def test_a_file_named_like_a_library(tmp_path):
    """A file whose name is taken by a loaded module is still the file."""
    (tmp_path / "json.py").write_text("def apply(x, positions, base=1.0): pass\n")

    assert offered(look("json.py:apply", tmp_path)) == {"apply_rotary": {"base"}}


LAYER = """
class Layer:
    {more}
    def inv_freq(self, head_dim):
        return [1.0] * head_dim
    def __call__(self, {names}):
        return 2 * x
layer = Layer()
class Table:
    def inv_freq(self, dim):
        return [1.0] * dim
"""


@pytest.mark.parametrize(
    ("target", "more", "names", "offers"),
    [
        ("layer", "", "x, positions", {"apply_rotary"}),
        ("Layer", "", "x, positions", {"apply_rotary"}),
        ("layer", "", "x, cos, sin", {"apply_rotary"}),
        ("layer", "", "fish", {"inv_freq"}),
        ("Table", "", "x, positions", {"inv_freq"}),
        ("layer", "def apply_rotary(self, x, positions): return x", "x, positions",
         {"apply_rotary", "inv_freq"}),
    ],
)  # fmt: skip
def test_methods_of_what_is_called_itself_are_its_own_affair(tmp_path, target, more, names, offers):
    """A helper `inv_freq` of a rotation is no part of the API, but beside `apply_rotary` it is."""
    (tmp_path / "mine.py").write_text(LAYER.format(more=more, names=names))

    assert look(f"mine.py:{target}", tmp_path).offers.keys() == offers


@pytest.mark.parametrize(
    ("style", "line"),
    [
        ("fish", "no style is called 'fish'; there are "),
        (3, "PROFILE of mine.py: style must be a name; got 3 (int)"),
    ],
)
def test_a_profile_that_names_no_style_is_refused(tmp_path, style, line):
    """The style may stand beside the claims, and must be one."""
    code = f"PROFILE = {{'style': {style!r}}}\ndef apply(x, positions): return x\n"
    (tmp_path / "mine.py").write_text(code)

    assert line in message("mine.py:apply", tmp_path)


def test_a_profile_names_its_style(tmp_path):
    """It is no claim, and binds as the option does."""
    code = "PROFILE = {'style': 'te', 'interleaved': True}\ndef apply(x, freqs): return x\n"
    (tmp_path / "mine.py").write_text(code)
    loaded = look("mine.py:apply", tmp_path)

    assert loaded.style is not None
    assert loaded.style.name == "te"
    assert loaded.profile_mapping == {"interleaved": True}
