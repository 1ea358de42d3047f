"""What a model configuration of transformers claims of a rotary embedding.

`rope_parameters`, and the older `rope_scaling` and `rope_theta` beside it, are read alike; a
configuration of several models is read in its `text_config`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ropespec.spec.errors import ArgumentError, ConfigError
from ropespec.spec.scaling import Scaling, check_scaled_dim, words

__all__ = ["Claimed", "layer_types", "read"]

_PARAMETERS = ("rope_parameters", "rope_scaling")
_USUAL_BASE = 10000.0
_RENAMED = {"su": "longrope", "mrope": "default"}
_BESIDE = ("rope_theta", "partial_rotary_factor", "original_max_position_embeddings")
_OF_TOKENS = ("mrope_section", "mrope_interleaved")
"""Which position number a pair follows."""

_ORIGINAL = "original_max_position_embeddings"


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a configuration says of the rotation of one type of layer.

    Attributes
    ----------
    base : float
        The base.
    scaling : Scaling or None
        How its frequencies are scaled.
    head_dim : int
        The size of a head.
    rotary_dim : int or None
        How many of its components rotate; None for all.
    sections : tuple of int
        `mrope_section`: how many pairs follow each of several position numbers. Empty where there
        is one.
    in_turn : bool
        `mrope_interleaved`: whether they follow them in turn.
    """

    base: float
    scaling: Scaling | None
    head_dim: int
    rotary_dim: int | None
    sections: tuple[int, ...] = ()
    in_turn: bool = False

    @property
    def dim(self) -> int:
        """How many components rotate."""
        return self.head_dim if self.rotary_dim is None else self.rotary_dim


def read(
    config: Mapping[str, Any], layer_type: str | None = None, *, length: int | None = None
) -> Claimed:
    """Read a configuration as a claim.

    Parameters
    ----------
    config : mapping
        What `config.json` holds.
    layer_type : str, optional
        Of which layers, such as `sliding_attention`; needed where they differ.
    length : int, optional
        The length of a sequence, for a scheme that depends on it; the original one by default.

    Raises
    ------
    ConfigError
        If something is missing, contradicts something else, or is not known; one line.
    """
    config = _of_text(config)
    told = _parameters(config, layer_type)
    for key in _BESIDE:
        if layer_type is None or key not in told:  # beside those of a layer it is that of others
            _agree(config, told, key)
    base = _number(told, "rope_theta", _USUAL_BASE)
    if not base > 1:
        raise ConfigError(f"rope_theta must be above 1; got {base:g}")
    head_dim, share = _head_dim(config, layer_type), _number(told, "partial_rotary_factor", 1.0)
    sections = _sections(told)
    name = _name(told)
    rotating = head_dim if name == "proportional" else int(head_dim * share)
    if rotating < 2 or rotating % 2 or rotating > head_dim:
        must = f"leave an even number of the {head_dim} components of a head"
        raise ConfigError(f"partial_rotary_factor must {must}; got {share:g}")
    if sections and sum(sections) != rotating // 2:
        raise ConfigError(
            f"mrope_section must sum to the {rotating // 2} pairs that rotate; got {list(sections)}"
        )
    scheme = None if name == "default" else _scheme(config, told, name, length, rotating)
    if name == "default":
        _known(told, ())
        if length is not None:
            raise ConfigError(f"frequencies that are not scaled depend on no length; got {length}")
    rotary_dim = None if rotating == head_dim else rotating
    return Claimed(base, scheme, head_dim, rotary_dim, sections, _in_turn(told, sections))


def _name(told: Mapping[str, Any]) -> str:
    name = told.get("rope_type") or told.get("type") or "default"
    if {told.get("rope_type"), told.get("type")} - {name, None, *_RENAMED}:
        raise ConfigError(f"rope_type says {told['rope_type']!r} and type says {told['type']!r}")
    name = _RENAMED.get(name, name)
    if name not in {"default", *words.SCHEMES}:
        raise ConfigError(f"rope_type {name!r} is not known{words.near(name, words.SCHEMES)}")
    return name


def layer_types(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the types of layers that have parameters of their own; none where all have one."""
    config = _of_text(config)
    found: object = next((config[key] for key in _PARAMETERS if config.get(key)), {})
    if config.get("rope_local_base_freq") is not None:
        return "full_attention", "sliding_attention"
    if not isinstance(found, Mapping):
        return ()
    return tuple(key for key, one in found.items() if isinstance(one, Mapping))


def _of_text(config: object) -> Mapping[str, Any]:
    if not isinstance(config, Mapping):
        raise ConfigError("a configuration must be a JSON object")
    inner = config.get("text_config")
    return inner if isinstance(inner, Mapping) else config


def _parameters(config: Mapping[str, Any], layer_type: str | None) -> dict[str, Any]:
    """Return the parameters of one type of layer."""
    given = [key for key in _PARAMETERS if config.get(key) is not None]
    if len(given) == 2 and config[given[0]] != config[given[1]]:
        raise ConfigError("rope_parameters and rope_scaling contradict each other")
    if not given and "rope_theta" not in config:
        known = (*_PARAMETERS, "rope_theta")
        other = "".join(
            f", but {key!r}{words.near(key, known)}" for key in config if key.startswith("rope_")
        )
        raise ConfigError(f"it says neither rope_parameters nor rope_theta{other}")
    found = config[given[0]] if given else {}
    if not isinstance(found, Mapping):
        raise ConfigError(f"{given[0]} must be an object; got {found!r}")
    types = layer_types(config)
    if layer_type is None and types:
        raise ConfigError(f"layers differ: say of which type, {' or '.join(types)}")
    if layer_type is not None and layer_type not in types:
        raise ConfigError(
            f"no layer type {layer_type!r} has parameters of its own"
            + (words.near(layer_type, types) if types else "; all layers have the same")
        )
    local = config.get("rope_local_base_freq")
    if local is not None:
        return {"rope_theta": local} if layer_type == "sliding_attention" else dict(found)
    return dict(found[layer_type] if layer_type is not None else found)


def _agree(config: Mapping[str, Any], told: dict[str, Any], key: str) -> None:
    """Take what stands beside the parameters into them; it must not say otherwise."""
    beside = config.get(key)
    if beside is None:
        return
    if key in told and told[key] is not None and told[key] != beside:
        raise ConfigError(f"{key} is {beside!r}, and {told[key]!r} in the parameters")
    told.setdefault(key, beside)


def _head_dim(config: Mapping[str, Any], layer_type: str | None) -> int:
    of_layer = ("global_head_dim",) if layer_type == "full_attention" else ()
    for key in ("qk_rope_head_dim", *of_layer, "head_dim"):
        if config.get(key) is not None:
            return _whole(config, key)
    missing = [key for key in ("hidden_size", "num_attention_heads") if config.get(key) is None]
    if missing:
        raise ConfigError(f"no head_dim, and no {missing[0]} that would give it")
    size, heads = _whole(config, "hidden_size"), _whole(config, "num_attention_heads")
    if size % heads:
        raise ConfigError(
            f"hidden_size must be a multiple of num_attention_heads; got {size}, {heads}"
        )
    return size // heads


def _whole(config: Mapping[str, Any], key: str) -> int:
    value = config[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{key} must be an integer of at least 1; got {value!r}")
    return value


def _number(told: Mapping[str, Any], key: str, usual: float) -> float:
    value = told.get(key)
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{key} must be a number; got {value!r}")
    return float(value)


def _sections(told: Mapping[str, Any]) -> tuple[int, ...]:
    found = told.get("mrope_section") or ()
    if not isinstance(found, list | tuple) or not all(type(one) is int for one in found):
        raise ConfigError(f"mrope_section must be a list of integers; got {found!r}")
    return tuple(found)


def _in_turn(told: Mapping[str, Any], sections: tuple[int, ...]) -> bool:
    found = told.get("mrope_interleaved") or False
    if not isinstance(found, bool):
        raise ConfigError(f"mrope_interleaved must be true or false; got {found!r}")
    if found and not sections:
        raise ConfigError("mrope_interleaved is of sections, and there is no mrope_section")
    return found


def _scheme(
    config: Mapping[str, Any], told: Mapping[str, Any], name: str, length: int | None, dim: int
) -> Scaling:
    """Make the scheme, with the numbers that stand elsewhere."""
    _known(told, words.keys(name))
    given = {key: told[key] for key in words.keys(name) if told.get(key) is not None}
    original, longest = given.get(_ORIGINAL), config.get("max_position_embeddings")
    if name == "dynamic" and longest is not None:
        if original not in (None, longest):
            raise ConfigError(
                f"dynamic begins at max_position_embeddings = {longest}, and {_ORIGINAL} is "
                f"{original}"
            )
        given[_ORIGINAL] = longest
    if name in ("yarn", "longrope") and "factor" not in given and longest and original:
        given["factor"] = longest / original
    if length is not None:
        if "length" not in words.keys(name):
            raise ConfigError(f"{name} does not depend on a length; got {length}")
        given["length"] = length
    scheme = words.read({"rope_type": name, **given})
    try:
        check_scaled_dim(scheme, dim)
    except ArgumentError as problem:
        raise ConfigError(f"of {name}: {problem}") from None
    return scheme


def _known(told: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Refuse a key that nothing reads: a scaling that is misspelt is dead."""
    known = {"rope_type", "type", *_BESIDE, *_OF_TOKENS, *keys}
    for key in told.keys() - known:
        raise ConfigError(f"nothing reads {key!r}{words.near(key, sorted(known))}")
