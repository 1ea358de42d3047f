"""Classes and functions of a subject that make a rotation or its tables, called by names."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ropespec.conformance.styles.arrays import DType, Result
from ropespec.conformance.styles.base import FINITE, SWITCHES, Setting
from ropespec.conformance.styles.signature import (
    BASES,
    DIMS,
    LENGTHS,
    WIDTHS,
    Callee,
    Parameters,
    is_of,
    is_open,
    required_of,
)
from ropespec.spec.scaling import words

__all__ = ["Maker", "makeable", "maker"]

_SIZES = ("head_dim", "hidden_size", "qk_rope_head_dim")
_ONE_HEAD = {"num_attention_heads": 1, "num_key_value_heads": 1}


@dataclass
class Maker:
    """What makes something for a head_dim, a dtype and a layout, and keeps it.

    Attributes
    ----------
    kind : callable
        The class, or the function.
    parameters : mapping
        Of its call.
    config : callable or None
        The class of the configuration that it takes; None where it takes sizes.
    """

    kind: Callable[..., Any]
    parameters: Parameters
    config: Callable[..., Any] | None = None
    kept: dict[object, Any] = field(default_factory=dict)

    @property
    def switch(self) -> str:
        """The parameter that says how components pair, or nothing."""
        return next((name for name in self.parameters if name in SWITCHES), "")

    @property
    def claims(self) -> dict[str, Any]:
        """What follows from how it is called."""
        finite = any(name in LENGTHS for name in self.parameters)
        both = {"layouts": [True, False]} if self.switch else {}
        return {**(FINITE if finite else {}), **both}

    @property
    def told(self) -> str:
        """How it is called, in the words of Python."""
        if self.config is not None:
            inner = ", ".join(_config_words(self.config))
            return f"{self.kind.__name__}({self.config.__name__}({inner}))"
        return f"{self.kind.__name__}({', '.join(dict.fromkeys(self.given))})"

    @property
    def given(self) -> list[str]:
        """The parameters that are given, but for a configuration."""
        of_class = inspect.isclass(self.kind)
        layer = is_of(self.kind, "keras")  # which takes a dtype whether it says so or not
        return [
            name
            for name in (*self.parameters, *(["dtype"] if layer else []))
            if name in (*DIMS, *BASES, *LENGTHS, *SWITCHES)
            or (name == "dtype" and of_class and self.is_typed)
        ]

    @property
    def is_typed(self) -> bool:
        """Whether it is made for a dtype: where that must be said, and of layers of Keras."""
        return "dtype" in required_of(self.parameters) or is_of(self.kind, "keras")

    @property
    def is_table(self) -> bool:
        """Whether it makes something of a width and a length."""
        return all(set(names) & set(self.given) for names in (DIMS, LENGTHS))

    @property
    def own_length(self) -> int:
        """The length of the table where none is given; 0 where one must be, or none can be."""
        told = [one.default for name, one in self.parameters.items() if name in LENGTHS]
        return next((one for one in told if isinstance(one, int)), 0)

    def made(
        self, setting: Setting, width: int, dtype: DType, *, interleaved: bool, whole: bool = True
    ) -> Result:
        """Return what it makes for these sizes; the same as before where it was asked before.

        It is made for all positions that are claimed, or, if it is not to be whole, for its own
        length.
        """
        own = dtype if "dtype" in self.given else None
        sized = self.config is not None or bool(set(DIMS) & set(self.given))
        key = (sized and width, own, interleaved if self.switch else None, whole)
        if key not in self.kept:
            with setting.space.making():
                made = self._make(setting, width, own, interleaved=interleaved, whole=whole)
            self.kept[key] = made
        return self.kept[key]

    def _make(
        self, setting: Setting, width: int, dtype: DType, *, interleaved: bool, whole: bool
    ) -> Result:
        profile = setting.profile
        if self.config is not None:
            return self.kind(self.config(**_configured(self.config, setting, width)))
        rotary_dim = profile.convention.dim(width)
        given: dict[str, Any] = {}
        for name in self.given:
            if name in DIMS:
                of_head = name in WIDTHS and "rotary_dim" in self.parameters
                given[name] = width if of_head else rotary_dim
            elif name in BASES:
                given[name] = profile.base
            elif name in LENGTHS:
                given |= {name: profile.max_position + 1} if whole else {}
            elif name in SWITCHES:
                given[name] = interleaved == SWITCHES[name]
            else:
                given[name] = str(dtype) if is_of(self.kind, "keras") else dtype
        return self.kind(**given)


def maker(kind: Callable[..., Any], space: Mapping[str, Any]) -> Maker | str:
    """Return what calls a class or function by names, or why it cannot be."""
    try:
        parameters = _signature(kind)
    except (ValueError, TypeError):
        return f"what {kind.__name__} takes is not known"
    found = Maker(kind, parameters)
    known = found.given
    if not [name for name in required_of(parameters) if name not in known]:
        return found
    first = next(iter(parameters.values()))
    if (config := _config(first, space)) is not None and required_of(parameters) == (first.name,):
        return Maker(kind, parameters, config)
    left = [name for name in required_of(parameters) if name not in known]
    return f"what {kind.__name__} takes as {' and '.join(left)} is not known"


def makeable(callee: Callee) -> str:
    """Say why instances of a class cannot be made; nothing of what is no class."""
    found = maker(callee.found, callee.space) if callee.is_class else ""
    return found if isinstance(found, str) else ""


def _signature(kind: Callable[..., Any]) -> Parameters:
    """Return what is given to a class or function; a class may hide it behind its own class."""
    found = inspect.signature(kind).parameters
    if not inspect.isclass(kind) or required_of(found) or not is_open(found):
        return found
    return dict(list(inspect.signature(kind.__init__).parameters.items())[1:])


def _config(first: inspect.Parameter, space: Mapping[str, Any]) -> Callable[..., Any] | None:
    """Return the class of a configuration: the one annotated, or the first beside it with sizes.

    What is annotated may be that of a model of several parts, which has no sizes of its own.
    """
    told = first.annotation
    if isinstance(told, str):
        told = space.get(told.strip("'\""))
    annotated = inspect.isclass(told) and told.__name__.endswith("Config")
    if not annotated and first.name != "config":
        return None
    beside = [one for name, one in space.items() if name.endswith("Config")]
    every = [one for one in ([told] if annotated else []) + beside if inspect.isclass(one)]
    sized = [one for one in every if {*_SIZES} & _names(one)]
    return next(iter(sized or every), None)


def _config_words(config: Callable[..., Any]) -> list[str]:
    names = _names(config)
    size = "head_dim" if "head_dim" in names else "hidden_size"
    base = "rope_parameters" if "rope_parameters" in names else "rope_theta"
    return [f"{size}=...", f"{base}=..."]


def _names(config: Callable[..., Any]) -> set[str]:
    try:
        return set(inspect.signature(config).parameters)
    except (ValueError, TypeError):
        return set()


def _configured(config: Callable[..., Any], setting: Setting, width: int) -> dict[str, Any]:
    """Return the arguments of a configuration that has one head of this size."""
    profile, names = setting.profile, _names(config)
    anything = any(
        one.kind is inspect.Parameter.VAR_KEYWORD
        for one in inspect.signature(config).parameters.values()
    )
    part = profile.convention.dim(width) / width
    scheme = {"rope_type": "default"} if profile.scaling is None else words.say(profile.scaling)
    told: dict[str, Any] = {"rope_theta": profile.base, "partial_rotary_factor": part}
    if profile.sections is not None:
        in_turn = profile.sections_in_turn
        told |= {"mrope_section": [*profile.sections], "mrope_interleaved": in_turn}
    given: dict[str, Any] = dict.fromkeys(_SIZES, width) | _ONE_HEAD
    if "rope_parameters" in names:
        given["rope_parameters"] = {**scheme, **told}
    else:
        given |= told
        given |= {} if profile.scaling is None else {"rope_scaling": scheme}
    return {name: value for name, value in given.items() if anything or name in names}
