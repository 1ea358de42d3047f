"""Text laid out for a console: wrapped at words, and nothing dropped."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["DOTS", "Grid", "Page", "shortened"]

LEAST = 24
"""Columns that text gets, however narrow the console and however deep it is indented."""

DOTS = " ..."

FOLDED = 24
"""Columns that a cell has at least before it is wrapped."""

BETWEEN = 3
"""Columns between two cells of a table."""


class Page:
    """Lines that are collected, counted, and printed.

    Parameters
    ----------
    console : Console
        Where to; its width is that of the lines.

    Attributes
    ----------
    lines : list of Text
        So far.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self.lines: list[Text] = []

    def add(
        self,
        text: Text | str = "",
        *,
        indent: int = 0,
        hang: int = 0,
        style: str = "",
        most: int | None = None,
    ) -> None:
        """Add a paragraph; see `wrapped`."""
        self.lines += self.wrapped(text, indent=indent, hang=hang, style=style, most=most)

    def wrapped(
        self,
        text: Text | str,
        *,
        indent: int = 0,
        hang: int = 0,
        style: str = "",
        most: int | None = None,
    ) -> list[Text]:
        """Return the lines of a paragraph, wrapped between words.

        Parameters
        ----------
        text : Text or str
            The paragraph; a line break in it stays one.
        indent, hang : int
            Blanks before all lines, and before all but the first.
        style : str
            Of a text that has none.
        most : int or None
            How many lines; what is cut is marked by three dots.
        """
        whole = Text(text, style=style) if isinstance(text, str) else text
        width = max(self._console.width - indent - hang, LEAST)
        found: list[Text] = []
        for part in whole.split("\n", allow_blank=True):
            for line in part.wrap(self._console, width, overflow="fold", tab_size=4):
                line.rstrip()
                line.pad_left(indent + (hang if found else 0))
                found.append(line)
        if most is not None and len(found) > most:
            found = found[:most]
            found[-1].right_crop(max(len(found[-1]) + len(DOTS) - self._console.width, 0))
            found[-1].append(DOTS)
        return found

    def code(self, source: str) -> None:
        """Add lines that are to be copied: at the left margin, and whole."""
        self.lines += [Text(line) for line in source.splitlines()]

    def cut(self, most: int, instead: str) -> None:
        """Leave out what comes after so many lines, and say so in the last of them."""
        if len(self.lines) > most:
            self.lines[most - 1 :] = [Text(shortened(instead, self._console.width), style="dim")]

    def print(self) -> None:
        """Print what was added."""
        for line in self.lines:
            self._console.print(line, soft_wrap=True)


def shortened(text: str, limit: int) -> str:
    """Cut a text at a word, and show by three dots that it goes on."""
    if len(text) <= limit:
        return text
    cut = text[: limit - len(DOTS)]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[limit // 2 :] else cut}{DOTS}"


class Grid:
    """Rows under headings: a table where it fits, and else one paragraph a row.

    Parameters
    ----------
    *names : str
        The headings.
    right : sequence of str
        Those whose column is flushed right.
    folded : sequence of str
        Those whose column may be wrapped.
    """

    def __init__(self, *names: str, right: Sequence[str] = (), folded: Sequence[str] = ()) -> None:
        self._names = names
        self._right = right
        self._folded = folded
        self._rows: list[tuple[Text, ...] | None] = []

    def add(self, *cells: Text | str) -> None:
        """Add a row."""
        self._rows.append(tuple(Text(one) if isinstance(one, str) else one for one in cells))

    def part(self) -> None:
        """Add a line between what comes before and what comes after."""
        self._rows.append(None)

    def print(self, console: Console) -> None:
        """Print the rows."""
        if self._width() <= console.width:
            console.print(self._table())
            return
        page = Page(console)
        for row in self._rows:
            if row is None:
                page.add()
                continue
            text = Text.assemble((row[0].plain, "bold"), "  ")
            for number, (name, cell) in enumerate(zip(self._names[1:], row[1:], strict=True)):
                text.append_text(Text.assemble("; " if number else "", (f"{name} ", "dim"), cell))
            page.add(text, hang=2)
        page.print()

    def _width(self) -> int:
        """Return the columns that the table takes where only what may be wrapped is."""
        widths = [FOLDED if name in self._folded else len(name) for name in self._names]
        for row in self._rows:
            for place, cell in enumerate(row or ()):
                if self._names[place] not in self._folded:
                    widths[place] = max(widths[place], cell.cell_len)
        return sum(widths) + BETWEEN * (len(widths) - 1)

    def _table(self) -> Table:
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for name in self._names:
            folded = name in self._folded
            table.add_column(
                name,
                justify="right" if name in self._right else "left",
                no_wrap=not folded,
                overflow="fold",
                min_width=FOLDED if folded else None,
            )
        for row in self._rows:
            if row is None:
                table.add_section()
            else:
                table.add_row(*row)
        return table
