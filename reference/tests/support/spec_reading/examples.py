"""The examples of a chapter are run, in one namespace and in their order."""

import doctest
import re

__all__ = ["check", "python_blocks", "run"]

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PROMPT = re.compile(r"^\s*>>> ", re.MULTILINE)


def check(chapter: str, text: str) -> list[str]:
    """List the first example that does not print what is shown, and examples that are not run."""
    results, report = run(text, f"{chapter}.md")
    found = [" ".join(report.split())] if results.failed else []
    if len(_PROMPT.findall(text)) != len(_PROMPT.findall(python_blocks(text))):
        found.append("an example stands outside the blocks that are run")
    return found


def python_blocks(text: str) -> str:
    """Keep the examples and blank out all prose, so that line numbers stay those of the file."""
    kept, end = [], 0
    for block in _BLOCK.finditer(text):
        kept.append("\n" * text.count("\n", end, block.start(1)) + block[1] + "\n")
        end = block.end()
    return "".join(kept)


def run(text: str, name: str) -> tuple[doctest.TestResults, str]:
    """Run all examples up to the first that fails; the report is empty if none does."""
    test = doctest.DocTestParser().get_doctest(python_blocks(text), {}, name, name, 0)
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.FAIL_FAST).run(test, out=report.append)
    return results, "".join(report)
