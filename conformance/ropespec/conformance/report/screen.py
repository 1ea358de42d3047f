"""A console that shows what a subject said, and never obeys it."""

import errno
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

__all__ = ["Screen", "shown"]

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
# C1 controls, marks that turn the direction of writing round, and halves of pairs of UTF-16
_OTHERS = (
    *range(0x80, 0xA0),
    *(0x061C, 0x200E, 0x200F),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),
)
_TABLE = _PICTURES | {0x7F: 0x2421} | dict.fromkeys(_OTHERS, 0xFFFD)


def shown(text: str) -> str:
    """Replace each character that a terminal would obey by one that it shows.

    Parameters
    ----------
    text : str
        Words that may be a subject's own.

    Returns
    -------
    str
        Of the same length: pictures of control characters, and U+FFFD for the others.
    """
    return text.translate(_TABLE)


class Screen(Console):
    """A console of rich whose text has no control characters but its own styles."""

    def render(
        self,
        renderable: Any,  # noqa: ANN401  # the signature of rich
        options: ConsoleOptions | None = None,
    ) -> Iterable[Segment]:
        """Render, with every character of the text shown."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else shown(segment.text)
            yield Segment(text, segment.style, segment.control)

    def on_broken_pipe(self) -> None:
        """Let the caller see that nobody reads any more; rich would end the process."""
        raise BrokenPipeError(errno.EPIPE, "nobody reads")
