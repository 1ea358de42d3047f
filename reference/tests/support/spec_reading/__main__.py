"""Print the problems of chapters, or what wrong chapters go unnoticed.

python -m spec_reading frequencies sinusoidal
python -m spec_reading --wrong 30 rotation     # 30 wrong texts of the chapter; 0 for all there are
"""

import sys
from pathlib import Path

from ropespec.spec import CHAPTERS, chapter_text
from spec_reading import problems
from spec_reading.survivors import survivors, tried


def main(words: list[str]) -> int:
    """Run the command; 1 if something is wrong, or goes unnoticed."""
    if words[:1] == ["--wrong"]:
        every = list(tried(words[2:] or CHAPTERS, int(words[1]) or None))
        lines = survivors(every)
        print(*lines, f"{len(lines)} of {len(every)} wrong texts go unnoticed", sep="\n")  # noqa: T201  # it is what the command is for
        return bool(lines)
    found = []
    for argument in words:
        path = Path(argument)  # a chapter, or a file with the text of one
        text = path.read_text(encoding="utf-8") if path.suffix else chapter_text(argument)
        found += problems(path.stem, text)
    print("\n".join(found) or "no problems")  # noqa: T201  # as above
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
