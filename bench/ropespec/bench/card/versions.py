"""What a framework says of the device."""

from typing import Any

__all__ = ["rows"]


def rows(framework: str, device: str) -> list[dict[str, Any]]:
    """Return the device as torch sees it, and what the backends say they can do with it."""
    import torch  # noqa: PLC0415  # not for those who ask nothing

    from ropespec.backends.torch.cuda import status  # noqa: PLC0415  # as above

    found = status()
    row: dict[str, Any] = {
        "framework": framework,
        "cuda": torch.version.cuda,
        "status": found.reason,
        "right": found.available or device == "cpu",
    }
    if device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        row |= {
            "name": properties.name,
            "capability": f"{properties.major}.{properties.minor}",
            "processors": properties.multi_processor_count,
            "bytes": properties.total_memory,
        }
    return [row]
