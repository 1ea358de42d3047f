"""The parser of the errata reads what is written, and refuses what says too little."""

import dataclasses

import numpy as np
import pytest

from ropespec.spec.errata import Numbers, Place, Quotation, errata, read, shown, values

SECTION = """\
### E-04 A sign

MATH, document 000 L15, L17–18 and document 004 L241 (F-119, F-121).

Printed in 000 L17–18:

```text
one
two
```

Right: the other
sign.
More of it.

| data | printed | right |
|---|---|---|
| q = (1, 0), m = 2 | -1 | 1 |

In no function of the API: none has a sign.

"""
WORDING = "### E-05 A word\n\nNOTE, document 000 L1.\n\nNothing to compute: it is a word.\n"


def test_a_section_is_read():
    """Class, places, formulas, quotations, what is right, numbers and reasons."""
    found = read(SECTION + WORDING)

    assert dataclasses.asdict(found["E-04"]) == {
        "id": "E-04",
        "title": "A sign",
        "kind": "MATH",
        "places": tuple(
            dataclasses.asdict(place)
            for place in (Place("000", 15, 15), Place("000", 17, 18), Place("004", 241, 241))
        ),
        "formulas": ("F-119", "F-121"),
        "quotations": (dataclasses.asdict(Quotation(Place("000", 17, 18), "one\ntwo")),),
        "right": "the other sign. More of it.",
        "numbers": (dataclasses.asdict(Numbers("q = (1, 0), m = 2", "-1", "1")),),
        "nothing_to_compute": "",
        "in_no_function": "none has a sign",
    }
    assert found["E-05"].nothing_to_compute == "it is a word"
    assert found["E-05"].formulas == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SECTION.replace("MATH", "WRONG"), "E-04 does not say of what class it is"),
        (WORDING + WORDING, "E-05 stands twice"),
        (WORDING.replace("Nothing", "Something"), "E-05 must have either numbers or a reason"),
        (SECTION + "\nNothing to compute: so.\n", "E-04 must have either numbers or a reason"),
    ],
)
def test_a_section_that_says_too_little_is_refused(text, words):
    """Each refusal names the erratum."""
    with pytest.raises(ValueError, match=words):
        read(text)


def test_values():
    """Numbers, vectors, complex numbers and words; the angle is called theta."""
    assert values("d = 4, θ = 0.5, q = (1, -2), z = 1 - 2ⅈ, w = ⅈ, A = [[1, 2]], dtype = half") == {
        "d": 4,
        "theta": 0.5,
        "q": (1, -2),
        "z": 1 - 2j,
        "w": 1j,
        "A": [[1, 2]],
        "dtype": "half",
    }


@pytest.mark.parametrize("text", ["d = ", "d 4", "d = (1, 2"])
def test_values_that_cannot_be_read(text):
    """A cell that is no list of values is refused with its text."""
    with pytest.raises(ValueError, match="cannot be read as data"):
        values(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.sin(1.0), "0.841471"),
        (-1e-17, "-1e-17"),
        (-0.0, "0"),
        (1e-4, "1e-4"),
        (0.00115478, "0.001155"),
        (-1.1547819846894585e-4, "-1.154782e-4"),
        (-np.inf, "-inf"),
        (7, "7"),
        (True, "True"),
        ("underflow", "underflow"),
        (1 - 2j, "1 - 2ⅈ"),
        (np.array(0.5 + 0j), "0.5 + 0ⅈ"),
        (np.array([1.0, 0.01]), "(1, 0.01)"),
        (np.eye(2), "[[1, 0], [0, 1]]"),
        ((np.array([1]), 2.5), "(1); 2.5"),
    ],
)
def test_shown(value, text):
    """Six decimals without zeros at the end; an exponent below a thousandth."""
    assert shown(value) == text


def test_the_chapter_is_read():
    """The errata of the specification are frozen values, by id."""
    assert errata()["E-04"].kind == "MATH"
    with pytest.raises(TypeError, match="does not support item assignment"):
        errata()["E-04"] = None
