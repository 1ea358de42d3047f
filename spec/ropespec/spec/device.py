"""The check of `device` where arrays lie in the memory of the host (API-2)."""

from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["check_host_device"]


def check_host_device(device: object) -> None:
    """Require None or "cpu", the one device that NumPy has.

    Parameters
    ----------
    device : object
        What the caller passed.

    Raises
    ------
    ArgumentTypeError
        If it is neither None nor a string.
    ArgumentValueError
        If it is another string.
    """
    must = 'None or "cpu", the only device of NumPy'
    if device is not None and not isinstance(device, str):
        raise ArgumentTypeError("device", must, device)
    if device not in (None, "cpu"):
        raise ArgumentValueError("device", must, device)
