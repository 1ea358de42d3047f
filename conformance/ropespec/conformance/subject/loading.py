"""Imports a target and finds out what it offers; runs inside the worker."""

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from importlib.util import module_from_spec, spec_from_loader
from itertools import islice
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ropespec.conformance.frameworks import BUILTIN, FRAMEWORKS
from ropespec.conformance.profile import STYLE
from ropespec.conformance.styles.choice import EAGER, Bound, NoStyleError, bound, searched
from ropespec.conformance.styles.model import SUFFIX, Model
from ropespec.conformance.styles.signature import Callee, parameters_of, required_of
from ropespec.conformance.subject import checked
from ropespec.conformance.subject.binding import PLAIN, Binding, binding_of
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.frames import FrameError
from ropespec.conformance.subject.frameworks import absent, shadowed
from ropespec.conformance.subject.printed import is_printed
from ropespec.conformance.subject.target import Target, did_you_mean
from ropespec.spec.api import FUNCTIONS
from ropespec.spec.errors import describe, dtype_name

__all__ = ["DEVICE", "KEYWORDS", "OUT", "VJP", "Found", "find", "keywords_of"]

KEYWORDS = ("interleaved", "base", "rotary_dim")
"""The keywords a function may or may not take."""

OUT = "out"
"""The keyword of a function that writes into memory it is given (ROT-23)."""

DEVICE = "device"
"""The argument that says where a table shall lie, which document 004 prints."""

VJP = "apply_rotary_vjp"
_ROTATION = "apply_rotary"
_KNOWN = (*KEYWORDS, OUT, DEVICE)
_MOST_CLAIMS = 100
_PRINTED = FUNCTIONS["published"]
_NAMES = (*(name for names in FUNCTIONS.values() for name in names), VJP)


@dataclass(frozen=True, slots=True)
class Found:
    """What a target turned out to be.

    Attributes
    ----------
    functions : dict of str to callable
        What it offers, by API name.
    keywords : mapping of str to list of str
        Which of `KEYWORDS` each of them takes, and `OUT` and `DEVICE` if it names them.
    profile : dict or None
        Its `PROFILE`, as JSON values.
    root : str
        The file or the folder of the package it lies in.
    binding : Binding
        How its `apply_rotary` takes x and positions.
    bound : Bound or None
        What a style makes its `apply_rotary` of, once the claims are known.
    """

    functions: dict[str, Callable[..., Any]]
    keywords: Mapping[str, list[str]]
    profile: dict[str, Any] | None
    root: str
    binding: Binding
    bound: Bound | None = None


def find(target: Target, style: str = "") -> Found:
    """Import a target and look at what it is.

    Parameters
    ----------
    target : Target
        What is named.
    style : str
        The style by which it is bound; empty for f(x, positions), or the first that fits.

    Raises
    ------
    TargetUnusable
        If it cannot be imported, has no such attribute, or offers nothing.
    """
    if target.is_foreign:
        return _foreign(target)
    if target.path.endswith(SUFFIX):
        return _model(target)
    module, root = _import(target)
    holders: list[object] = [module]
    for name in target.attribute.split(".") if target.attribute else ():
        holders.append(_attribute(holders[-1], name, target))
    by_style = _by_style(holders[-1], target, module, style or _told(holders, target))
    if by_style is not None:
        return _styled(by_style, holders[-1], _profile(holders, target), root)
    return _plain_found(holders, target, root)


def _plain_found(holders: list[object], target: Target, root: str) -> Found:
    """Look at what is called as the API says, or as f(x, positions)."""
    found, callee = holders[-1], target.attribute
    if inspect.isclass(found):
        found, callee = _instance(found, target), f"{callee}()"
        holders.append(found)
    functions = _functions(found)
    itself = callable(found) and _is_called(found) and binding_of(found, _KNOWN, "").fits
    if functions and not itself:
        keywords = {name: keywords_of(item, bare=False) for name, item in functions.items()}
        callee = ".".join(filter(None, (callee, _ROTATION)))
    elif callable(found):
        functions = {_ROTATION: found}
        keywords = {_ROTATION: keywords_of(found, bare=True)}
    else:
        raise TargetUnusable(_nothing(found, target))
    binding = PLAIN
    if _ROTATION in functions:
        rotation = functions[_ROTATION]
        binding = binding_of(rotation, _KNOWN, callee)
        functions[_ROTATION] = binding.bound(rotation)
    return Found(functions, keywords, _profile(holders, target), root, binding)


def _by_style(found: object, target: Target, module: ModuleType, style: str) -> Bound | None:
    """Return how a style binds a target; None where it needs none."""
    try:
        if isinstance(found, ModuleType):
            offered = _functions(found).keys() - set(_PRINTED)
            return None if offered and not style else searched(found, style)
        if not callable(found):
            return None
        name = style or (EAGER if _is_plain(found) else "")
        return bound(Callee.of(found, target.attribute, module), name)
    except NoStyleError as problem:
        if not style and _functions(found):
            return None
        raise TargetUnusable(f"{target.text}: {problem}") from None


def _functions(found: object) -> dict[str, Callable[..., Any]]:
    """Return what has the name of a function of the API."""
    return {name: getattr(found, name) for name in _NAMES if _offers(found, name)}


def _is_called(found: object) -> bool:
    """Whether an object is called itself: then its methods are its own affair, but for rotations.

    Many a layer has a method `cos_sin` or `inv_freq` that takes something else.
    """
    kind = found if inspect.isclass(found) else type(found)
    return not _offers(found, _ROTATION) and any("__call__" in vars(one) for one in kind.__mro__)


def _is_plain(found: Callable[..., Any]) -> bool:
    """Whether it is called as f(x, positions), or offers what is, and has not to be made first."""
    if _functions(found) and not _is_called(found):
        return True
    if not binding_of(found, _KNOWN, "").fits:
        return False
    try:
        return not inspect.isclass(found) or not required_of(inspect.signature(found).parameters)
    except (ValueError, TypeError):
        return True


def _styled(by: Bound, found: object, profile: dict[str, Any] | None, root: str) -> Found:
    functions = {} if _is_called(found) else _functions(found)
    keywords = {name: keywords_of(item, bare=False) for name, item in functions.items()}
    functions[_ROTATION] = by.unmade
    keywords[_ROTATION] = [*by.binds.keywords]
    return Found(functions, keywords, profile, root, PLAIN, by)


def _foreign(target: Target) -> Found:
    try:
        from ropespec.conformance.foreign import ProgramError, opened  # noqa: PLC0415  # an extra
    except ModuleNotFoundError as missing:
        must = f"{missing.name}, which is not installed: pip install 'ropespec[programs]'"
        raise TargetUnusable(f"{target.text} needs {must}") from missing
    try:
        function = opened(target.text)
    except (ProgramError, ValueError, OSError) as problem:
        raise TargetUnusable(f"{target.text}: {problem}") from problem
    binding = binding_of(function, _KNOWN, _ROTATION)
    profile = _profile([function], target)
    return Found({_ROTATION: function}, {_ROTATION: [*function.keywords]}, profile, "", binding)


def _model(target: Target) -> Found:
    try:
        model = Model(target.path)
        by = bound(Callee(model, Path(target.path).name, {}), "onnx")
    except ModuleNotFoundError:
        must = "pip install 'ropespec[onnx]'"
        raise TargetUnusable(f"onnxruntime is not installed: {must}") from None
    except NoStyleError as problem:
        raise TargetUnusable(f"{target.text}: {problem}") from None
    except Exception as problem:
        text = " ".join(str(problem).split())[:200]
        raise TargetUnusable(f"{target.text} cannot be run as a model: {text}") from problem
    assert by is not None
    return _styled(by, model, None, "")


def _offers(found: object, name: str) -> bool:
    try:
        one = getattr(found, name, None)
        return callable(one) and is_printed(name, one)
    except Exception:  # noqa: BLE001  # a property of the subject may raise anything
        return False


def _import(target: Target) -> tuple[ModuleType, str]:
    try:
        keep_clean(Path.cwd())
        if target.path:
            keep_clean(Path(target.path).parent)
            return _import_file(Path(target.path)), target.path
        module = importlib.import_module(target.module)
    except ModuleNotFoundError as error:
        raise TargetUnusable(_missing(error, target)) from error
    except BaseException as error:  # importing runs the user's code
        raise TargetUnusable(_raised(error, target)) from error
    top = sys.modules[target.module.partition(".")[0]]
    file = getattr(module, "__file__", None) or ""
    # A namespace package spans several folders; the module's own is then the best answer.
    package = getattr(top, "__file__", None)
    is_package = package and Path(package).stem == "__init__"
    return module, str(Path(package or file).parent) if is_package else file


class _FreshLoader(SourceFileLoader):
    """Compiles the file as it is now and leaves no bytecode beside it."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def keep_clean(folder: Path) -> None:
    """Import what lies below a folder as it is now, and leave no bytecode there.

    What is installed below it, as in an environment of its own, is imported as ever.
    """
    installed = [Path(item) for item in (*sys.path, sys.prefix) if folder in Path(item).parents]

    def finder(item: str) -> FileFinder:
        path = Path(item)
        if not path.is_relative_to(folder) or any(map(path.is_relative_to, installed)):
            raise ImportError(item)
        return FileFinder(
            item, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_FreshLoader, SOURCE_SUFFIXES)
        )

    sys.path_hooks.insert(0, finder)
    sys.path_importer_cache.clear()


def _import_file(path: Path) -> ModuleType:
    known = path.stem in sys.modules or path.stem in sys.stdlib_module_names
    name = f"subject_{path.stem}" if known else path.stem
    if str(path.parent) not in sys.path:
        sys.path.insert(1, str(path.parent))
    spec = spec_from_loader(name, _FreshLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _missing(error: ModuleNotFoundError, target: Target) -> str:
    name = error.name or ""
    if not target.path and (target.module == name or target.module.startswith(f"{name}.")):
        known = list(BUILTIN) if "." not in name else []
        return f"no module named {name!r}{did_you_mean(name, known)}"
    for room in FRAMEWORKS.values():
        if name in (room.name, room.module) and room.extra:
            return absent(room)
    return (
        f"{target.place} needs the module {name!r}, which is not installed{_where(error, target)}"
    )


def _raised(error: BaseException, target: Target) -> str:
    if isinstance(error, ImportError) and "relative import" in str(error) and target.path:
        return (
            f"{target.place} uses relative imports: name it as a module, "
            f"package.{Path(target.path).stem}:{target.attribute or 'attribute'}"
        )
    if isinstance(error, SyntaxError):
        where = f" ({Path(error.filename or target.place).name}:{error.lineno})"
        return f"{target.place} cannot be compiled: {type(error).__name__}: {error.msg}{where}"
    text = " ".join(str(error).split())[:300]
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    said = f"{target.place} raised {what} while it was imported{_where(error, target)}"
    if isinstance(error, (AttributeError, ImportError)):
        for name in FRAMEWORKS:
            files = [item for item in _beside(target, name) if item.is_file()]
            if files and f"'{name}'" in text:
                return f"{said}; {shadowed(name, str(files[0]))}"
    return said


def _beside(target: Target, name: str) -> list[Path]:
    """Return where a file would stand in the way of a package of that name."""
    folders = [Path.cwd(), *([Path(target.path).parent] if target.path else [])]
    return [folder / f"{name}.py" for folder in folders]


def _where(error: BaseException, target: Target) -> str:
    """Return the last place in the subject's own file, or the last one that is not ours."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and not frame.filename.startswith("<frozen")
    ]
    own = [frame for frame in frames if frame.filename == target.path]
    last = (own or frames)[-1:]
    return f" ({Path(last[0].filename).name}:{last[0].lineno})" if last else ""


def _attribute(holder: object, name: str, target: Target) -> object:
    try:
        return getattr(holder, name)
    except AttributeError:
        pass
    place = holder.__name__ if isinstance(holder, (ModuleType, type)) else type(holder).__name__
    if isinstance(holder, ModuleType):
        try:
            return importlib.import_module(f"{holder.__name__}.{name}")
        except ImportError:
            place = target.place
    public = [item for item in dir(holder) if not item.startswith("_")]
    raise TargetUnusable(f"{place} has no attribute {name!r}{did_you_mean(name, public)}")


def _instance(kind: type, target: Target) -> object:
    try:
        return kind()
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        raise TargetUnusable(
            f"{target.text} is a class that cannot be called without arguments "
            f"({type(error).__name__}: {text}); name a function, or an instance of it"
        ) from error


def keywords_of(function: Callable[..., Any], *, bare: bool) -> list[str]:
    """Return which of `KEYWORDS`, `OUT` and `DEVICE` a function takes.

    Parameters
    ----------
    function : callable
        A function of the subject.
    bare : bool
        Whether it is a bare rotation, of which nothing is assumed that its signature does not say.
    """
    parameters = parameters_of(function)
    if parameters is None:
        return [] if bare else list(KEYWORDS)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    takes_any = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values())
    named = [name for name in _KNOWN if name in parameters and parameters[name].kind in kinds]
    if takes_any and not bare:
        return [*KEYWORDS, *(name for name in named if name not in KEYWORDS)]
    return named


def _nothing(found: object, target: Target) -> str:
    if isinstance(found, ModuleType):
        own = [
            name
            for name, item in vars(found).items()
            if inspect.isfunction(item) and not name.startswith("_")
        ]
        hint = f"; name one: {target.place}:{own[0]}" if own else ""
        return f"{target.text} offers no function of the API, and no style binds one{hint}"
    return f"{target.text} is not callable and offers no function of the API: {describe(found)}"


def _profile(holders: list[object], target: Target) -> dict[str, Any] | None:
    for holder in reversed(holders):
        claims = getattr(holder, "PROFILE", None)
        if isinstance(claims, Mapping):
            if len(claims) > _MOST_CLAIMS:
                raise TargetUnusable(f"PROFILE of {target.place} makes {len(claims)} claims")
            try:
                return {
                    str(name): checked.plain(_plain(value), checked.text(str(name), "a claim"))
                    for name, value in claims.items()
                    if name != STYLE
                }
            except FrameError as error:
                raise TargetUnusable(f"PROFILE of {target.place} holds {error}") from None
        if claims is not None:
            raise TargetUnusable(
                f"PROFILE of {target.place} must be a mapping of claims; got {describe(claims)}"
            )
    return None


def _told(holders: list[object], target: Target) -> str:
    """Return the style that a `PROFILE` names beside its claims; empty if none does."""
    for holder in reversed(holders):
        claims = getattr(holder, "PROFILE", None)
        if isinstance(claims, Mapping):
            told = claims.get(STYLE, "")
            if not isinstance(told, str):
                said = f"PROFILE of {target.place}: style must be a name; got {describe(told)}"
                raise TargetUnusable(said)
            return told
    return ""


def _plain(value: Any) -> Any:  # noqa: ANN401  # whatever a user writes into a mapping
    """Return a claim as JSON: dtypes by name, collections as lists, NumPy's numbers as Python's."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, range)):
        return [_plain(item) for item in islice(value, checked.LONGEST + 1)]
    if isinstance(value, Mapping):  # waivers
        return {str(name): _plain(value[name]) for name in islice(value, checked.LONGEST + 1)}
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(item) for item in value), key=str)
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "item"):
        return _plain(value.item())
    text = str(getattr(value, "name", value))
    return dtype_name(value) if text.replace(".", "_").isidentifier() else text
