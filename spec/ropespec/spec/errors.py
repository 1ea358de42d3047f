"""The errors that every implementation of the API raises, and the one place that words them.

A call is refused in this order: an argument has the wrong type (`ArgumentTypeError`), a wrong
value or shape (`ArgumentValueError`), or two arguments do not fit each other (the latter again).
"""

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "ConfigError",
    "describe",
    "dtype_name",
]


class ArgumentError(Exception):
    """An argument the specification does not allow.

    Parameters
    ----------
    name : str
        The argument as the signature spells it.
    must : str
        What it must be, as the end of the sentence "`name` must be ...".
    value : object
        What was passed.

    Attributes
    ----------
    argument : str
        The name of the argument.
    """

    def __init__(self, name: str, must: str, value: object) -> None:
        super().__init__(f"{name} must be {must}; got {describe(value)}")
        self.argument = name


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of a type or dtype the specification does not allow."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right type with a value or shape the specification does not allow."""


class ConfigError(ValueError):
    """A model configuration that says something impossible, or not enough; one line."""


def describe(value: object) -> str:
    """Describe `value` for an error message: its value and its type.

    Arrays are described by shape and dtype alone, so that all frameworks read the same.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    str
        For example `7 (int)` or `an array of shape (3, 4) and dtype float32`.
    """
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"an array of shape {tuple(shape)} and dtype {dtype_name(dtype)}"
    text = repr(value)
    if len(text) > 60:
        text = text[:57] + "..."
    return f"{text} ({type(value).__name__})"


def dtype_name(dtype: object) -> str:
    """Return the bare name of a dtype of any framework, such as `float32`."""
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]
