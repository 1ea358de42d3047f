"""What rotary position embedding (RoPE) is, exactly, and whether yours is right."""

from importlib.metadata import version

__version__ = version("ropespec")
