"""`python -m ropespec`, and what the command `ropespec` runs."""

import sys

__all__ = ["main"]

INTERRUPTED = 130


def main() -> int:
    """Run the command, and end on Ctrl-C with one line from the first moment on."""
    try:
        # Click, rich and the rest take a moment, in which somebody may change their mind.
        from ropespec.conformance.cli import main as command  # noqa: PLC0415  # see above

        return command()
    except KeyboardInterrupt:
        sys.stderr.write("ropespec: interrupted\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
