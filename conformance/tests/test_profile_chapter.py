"""The chapters say what the suite has: the claims of a profile, and what it calls a break."""

import dataclasses

import pytest

from ropespec.conformance.checks.judging import JUMP
from ropespec.conformance.profile import Profile, ProfileError
from ropespec.spec import clauses

ROWS = {
    cells[0].strip("`"): cells[1:]
    for line in clauses()["CON-10"].text.splitlines()
    if line.startswith("| `")
    for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
}
IN_WORDS = {
    "head_dims": "those of common models",
    "scaling": "none",
    "sections": "none",
    "frequencies": "none",
    "rotary_dim": "all",
    "precision": "it is measured",
    "device": "the default of the framework",
    "max_tokens": "any number",
}
NONE_SAID = {
    "scaling",
    "sections",
    "frequencies",
    "rotary_dim",
    "precision",
    "device",
    "max_tokens",
}


def test_the_table_has_every_claim():
    """What can be claimed is what the specification lets a profile claim."""
    assert set(ROWS) == {field.name for field in dataclasses.fields(Profile)}


def test_the_layout_has_no_default():
    """A profile that does not say the layout is refused."""
    assert ROWS["layouts"][1] == "it MUST be said"
    with pytest.raises(ProfileError, match="the pairing is not known"):
        Profile.from_mapping({})


@pytest.mark.parametrize("claim", sorted(set(ROWS) - {"layouts"}))
def test_the_default_is_the_one_that_is_written(claim):
    """Of what is not said, the profile takes what the table says."""
    written, found = ROWS[claim][1], getattr(Profile((True,)), claim)

    if claim in IN_WORDS:
        assert written == IN_WORDS[claim]
        assert (found is None) == (claim in NONE_SAID)
    elif isinstance(found, bool):
        assert written == ("yes" if found else "no")
    elif isinstance(found, tuple):
        assert written.split(", ") == list(found)
    else:
        assert type(found)(written) == found


def test_the_text_says_what_a_break_is():
    """The number of the check is that of the clause."""
    assert f"more than {JUMP} times the largest of those below" in clauses()["JDG-3"].text
