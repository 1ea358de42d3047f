"""What reads the chapters tells right formulas from wrong ones, and skips none."""

import numpy as np
import pytest

from ropespec.reference import inv_freq, rotation_matrix
from ropespec.spec import chapter_text
from spec_reading import ASPECTS, fields, formulas, numbers, tables
from spec_reading.grammar import parse
from spec_reading.modules import ChapterModule
from spec_reading.relations import disagreements
from spec_reading.tokens import FormulaError

D, BASE, M, N = 8, 100.0, 5, -2
THETA = inv_freq(D, BASE)
ENVIRONMENT = {
    "d": D, "base": BASE, "m": M, "n": N, "i": 3, "θ": THETA, "x": np.arange(1.0, 9.0) ** 2,
    "q": np.cos(np.arange(8.0)), "k": np.arange(8.0) - 2.5, "I": np.eye(D),
    "R": lambda p: rotation_matrix(p, D, interleaved=True, base=BASE),
    "rotate_half": lambda x: np.stack([-x[1::2], x[0::2]], axis=-1).ravel(),
    "z": 3 - 2j, "w": 0.5 + 1j, "a": 3, "b": -2, "φ": 0.7, "q1": 2.0, "k1": 3.0,
    "f": lambda q, m: q * np.exp(0.3j * m), "N": 12,
    "C": np.diag([1.0, 2.0]), "S": np.diag([3.0, 4.0]),
    "B": np.array([[1.0, 0, -3, 0], [0, 2, 0, -4], [3, 0, 1, 0], [0, 4, 0, 2]]),
    "h": np.array([1.0, -4.0, 2.0, 0.5]), "i ∈": range(4),
}  # fmt: skip

RIGHT_AND_WRONG = [
    ("θ_i = base^(-2i/d)", "θ_i = base^(2i/d)"),
    ("θ_i = base^(-2i/d)", "θ_i = base^(-2(i-1)/d)"),
    ("θ_i = base^(-2i/d)", "θ_i = base^(-i/d)"),
    (r"\theta_{i} = \mathrm{base}^{-2i/d}", r"\theta_{i} = \mathrm{base}^{-2i/(d-2)}"),
    (r"\theta_i = \frac{1}{\mathrm{base}^{2i/d}}", r"\theta_i = \frac{2}{\mathrm{base}^{2i/d}}"),
    ("i ∈ {0, 1, ..., d/2 - 1}", "i ∈ {0, 1, ..., d/2 - 2}"),
    ("i = 0, 1, ..., d/2 - 1", "i = 0, 1, ..., d/2 - 2"),
    ("d ∈ {2, 4, 6, ...}", "d ∈ {3, 5, 7, ...}"),
    ("θ_i ∈ (1/base, 1]", "θ_i ∈ (1/base, 1/32]"),
    ("θ_0 ∈ (1/base, 1]", "θ_0 ∈ (1/base, 1)"),
    ("m ∈ ℤ", "φ ∈ ℤ"),
    ("-2^63 ≤ m < 2^63", "-2^63 ≤ 2^63 < 2^63"),
    ("1 = θ_0 > θ_1 > ... > θ_{d/2-1}", "1 = θ_0 > θ_3 > ... > θ_{d/2-2}"),
    ("cos 3 ≈ -0.989992", "cos 3 ≈ -0.989993"),
    ("cos 3 ≈ -0.989992", "cos 3 ≈ 0.989992"),
    ("cos 3 ≠ -0.989992", "cos 3 ≠ cos 3"),
    ("φ ≡ 0.7 + 4π (mod 2π)", "φ ≡ 0.7 + 3π (mod 2π)"),
    ("⟨R_m q, R_n k⟩ = q^T R_{n-m} k", "⟨R_m q, R_n k⟩ = q^T R_{m-n} k"),
    ("⟨R_m q, R_n k⟩ = q^T R_{n-m} k", "⟨R_m q, R_n k⟩ = k^T R_{n-m} q"),
    ("⟨R_m q, R_n k⟩ = q^T R_m^T R_n k", "⟨R_m q, R_n k⟩ = q^T R_m R_n k"),
    ("R_m^{-1} = R_m^T = R_{-m}", "R_m^{-1} = R_m = R_{-m}"),
    ("R_m^T R_m = I", "R_m R_m = I"),
    (r"\lVert R_m x \rVert = |x|, \quad \det R_m = 1", r"\lVert R_m x \rVert = 2|x|"),
    ("det R_m = 1", "det R_m = -1"),
    ("rotate_half(x) = (-x_1, x_0, -x_3, x_2, ...)", "rotate_half(x) = (x_1, -x_0, -x_3, ...)"),
    (
        "rotate_half(x) = (-x_1, x_0, -x_3, x_2, ..., -x_{d-1}, x_{d-2})",
        "rotate_half(x) = (-x_1, x_0, -x_3, x_2, ..., -x_{d-1}, x_{d-4})",
    ),
    (
        "(x_{d/2}, ..., x_{d-1}, x_0, ..., x_{d/2-1})_0 = x_4",
        "(x_{d/2}, ..., x_{d-1}, x_0, ..., x_{d/2-1})_0 = x_0",
    ),
    ("z z* = |z|^2 = a² + b²", "z z* = |z|^2 = a² - b²"),
    ("(z w)* = z* w*", "(z w)* = z* w"),
    ("z = a + ⅈb", "z = a - ⅈb"),
    ("Re[z w^*] = 3/2 - 2", "Re[z w^*] = 3/2 + 2"),
    ("f(z, m) f^*(w, n) = z w^* e^(0.3ⅈ(m-n))", "f(z, m) f^*(w, n) = z w e^(0.3ⅈ(m-n))"),
    ("sin φ = (e^(ⅈφ) - e^(-ⅈφ))/2ⅈ", "sin φ = (e^(ⅈφ) - e^(-ⅈφ))/2"),
    ("cos mφ cos nφ + sin mφ sin nφ = cos((m-n)φ)", "cos mφ cos nφ - sin mφ sin nφ = cos((m-n)φ)"),
    ("2 sin^2 φ = 1 - cos 2φ", "sin^2 φ = 1 - cos 2φ"),
    ("q1k1 = 6", "q1k1 = 5"),
    (r"\sum_{i=0}^{d/2-1} \theta_i = \frac{1 - 1/\mathrm{base}}{1 - \theta_1}",
     r"\sum_{i=0}^{d/2-2} \theta_i = \frac{1 - 1/\mathrm{base}}{1 - \theta_1}"),
    (r"\sum_{i=0}^{d/2-1} \theta_i = \frac{1 - 1/\mathrm{base}}{1 - \theta_1}",
     r"\sum_{i=1}^{d/2-1} \theta_i = \frac{1 - 1/\mathrm{base}}{1 - \theta_1}"),
    (r"\max_i |h_i| = 4", r"\max_i h_i = 4"),
    ("Σ_{j=0}^{2} h_j = -1", "Σ_{j=0}^{2} |h_j| = -1"),
    ("Σ_i h_i = -1/2", "Σ_i h_0 = -1/2"),
    ("1·2·3 + N/2π = 4! - 18 + N/(2π)", "1·2·3 + N/2π = 4! - 18 + (N/2)π"),
    (r"B = \begin{pmatrix} C & -S \\ S & C \end{pmatrix}",
     r"B = \begin{pmatrix} C & S \\ -S & C \end{pmatrix}"),
    (r"\begin{pmatrix} z & -w \end{pmatrix} \begin{pmatrix} w \\ z \end{pmatrix} = 0",
     r"\begin{pmatrix} z & w \end{pmatrix} \begin{pmatrix} w \\ z \end{pmatrix} = 0"),
    (r"C = \begin{pmatrix} 1 & 0 \\ 0 & 2 \end{pmatrix}",
     r"C = \begin{pmatrix} 2 & 0 \\ 0 & 1 \end{pmatrix}"),
    (r"C = \begin{pmatrix} 1 & \\ & 2 \end{pmatrix}",
     r"C = \begin{pmatrix} 1 & \\ & 1 \end{pmatrix}"),
    (r"S = \operatorname{diag}(3, 4)", r"S = \operatorname{diag}(4, 3)"),
    (r"\operatorname{diag}(\theta_0, \ldots, \theta_{d/2-1}) = \operatorname{diag}(\theta)",
     r"\operatorname{diag}(\theta_0, \ldots, \theta_{d/2-2}) = \operatorname{diag}(\theta)"),
    ("x_{2..4} = (9, 16, 25)", "x_{2..5} = (9, 16, 25)"),
    ("x[0::2] = (1, 9, 25, 49)", "x[1::2] = (1, 9, 25, 49)"),
    ("B_{0,2} = -3", "B_{2,0} = -3"),
    ("⌊7/2⌋ = 3", "⌊7/2⌋ = 4"),
    ("7 mod 4 = 3", "7 mod 3 = 3"),
    ("x ⊙ q = q ⊙ x", "x ⊙ q = x ⊙ x"),
    (r"\begin{aligned} q1 + k1 &= 2 \\ &+ 3 \end{aligned}",
     r"\begin{aligned} q1 + k1 &= 2 \\ &- 3 \end{aligned}"),
]  # fmt: skip


def _disagreements(formula, environment=ENVIRONMENT):
    return [
        line
        for statement in parse(formula, environment)
        for line in disagreements(statement, environment)
    ]


def _holds(formula):
    try:
        return _disagreements(formula) == []
    except FormulaError:  # an index or an end of dots that does not exist
        return False


@pytest.mark.parametrize(("right", "wrong"), RIGHT_AND_WRONG)
def test_right_formulas_hold_and_their_wrong_twins_do_not(right, wrong):
    """A formula holds, and with one sign, index, entry, factor or constant changed it does not."""
    assert _disagreements(right) == []
    assert parse(wrong, ENVIRONMENT)
    assert not _holds(wrong)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("θ_i = basis^(-2i/d)", "'b' is not bound|is not bound"),
        ("θ_i = p", "'p' is not bound"),
        ("q2k1 = 6", "'q2k1' is not bound"),
        ("θ_i", "states nothing"),
        ("θ_i = base^(-2i/d", "expected"),
        ("θ_i = ", "cannot read"),
        (r"\theta_i = \unheard{2}", "unknown command"),
        ("x_9 = 1", "IndexError"),
        ("x_{-1} = 64", "below 0"),
        ("R_m x + z = B x", "shapes|ValueError"),
        ("x = 1 ⊙ ", "cannot read"),
        ("z < 3", "complex"),
        ("φ ≡ 7", "without"),
        ("x ↦ R_m x", "'↦' is not bound"),
        ("h_0 + ... = 1", "Dots has no value"),
        ("1 > ... > θ_1", "dots that cannot be filled in"),
        ("{θ_0, ..., 7} = 3", None),
        ("θ_1 = θ_1", None),
    ],
)
def test_what_cannot_be_computed_is_an_error(formula, message):
    """A formula that is not understood raises, so that it is reported and not passed over."""
    if message is None:
        assert _disagreements(formula)
        return
    with pytest.raises(FormulaError, match=message):
        _disagreements(formula)


def test_a_name_bound_as_a_whole_is_not_taken_inside_a_sum():
    """θ_i of a sum is that of the running i, not the one that was bound for a fixed i."""
    fixed = {"θ_i": 0.5, "i": 1, "d": 4}
    assert _disagreements("θ_i = 0.5", fixed) == []
    with pytest.raises(FormulaError, match="is not bound"):
        _disagreements("Σ_{i=0}^{1} θ_i = 1", fixed)


@pytest.mark.parametrize(
    "formula",
    ["i = 0, 1, ..., d/2 - 2", "i = 1, 2, ..., d/2 - 1", "i = 0, 1, ..., d/2", "i ∈ {0, 2, ...}"],
)
def test_what_an_index_runs_over_is_compared_as_a_whole(formula):
    """Where the binding tells the range, a range that merely holds the index is not enough."""
    inside = {**ENVIRONMENT, "i": 2}
    assert _disagreements("i = 0, 1, ..., d/2 - 1", inside) == []
    assert _disagreements(formula, inside) != []


CHAPTER = """# T

## FREQ-1 One

**Rule.** {rule}

```math
{display}
```

{prose}

{table}

```python
>>> 6.28 / 2
3.14
```

- **Shapes:** {shapes}
- **Sources:** none
"""
RIGHT = {
    "rule": "It is so that `θ_i = base^(-2i/d)` holds.",
    "display": r"\theta_0 = 1",
    "prose": "Some 3.14 radians.",
    "table": "| a | b |\n|---|---|\n| 1 | 12.5 |",
    "shapes": "`d = 8`",
}


@pytest.fixture
def module(monkeypatch):
    """A module of a chapter that has one clause, with a table of one row."""

    def rows_agree(rows):
        return [] if rows == [{"a": "1", "b": "12.5"}] else [f"wrong: {rows}"]

    found = ChapterModule(bindings={"FREQ-1": lambda: ENVIRONMENT}, tables={"FREQ-1": rows_agree})
    for place in (formulas, numbers, tables):
        monkeypatch.setattr(place, "load", lambda _: found)


@pytest.mark.parametrize("aspect", ["formulas", "rules", "numbers", "tables", "examples"])
@pytest.mark.usefixtures("module")
def test_a_right_chapter_has_no_problems(aspect):
    """Nothing is found in a chapter where everything is right."""
    assert ASPECTS[aspect]("t", CHAPTER.format(**RIGHT)) == []


@pytest.mark.parametrize(
    ("aspect", "wrong"),
    [
        ("formulas", {"rule": "It is so that `θ_i = base^(2i/d)` holds."}),
        ("formulas", {"display": r"\theta_0 = 2"}),
        ("formulas", {"display": r"\theta_0 \theta_1"}),
        ("formulas", {"shapes": "`d = 6`"}),
        ("formulas", {"prose": "Here `θ_1 > 1`."}),
        ("rules", {"rule": "It is so that θ_i is small."}),
        ("rules", {"rule": "It is so that mθ is small."}),
        ("rules", {"rule": "It is `base^(2i/d)`, or nearly."}),
        ("rules", {"rule": "It is so that a = b."}),
        ("numbers", {"prose": "Some 3.15 radians."}),
        ("numbers", {"prose": "Some -3.14 radians."}),
        ("numbers", {"prose": "At position 2^31, 3.14 radians."}),
        ("numbers", {"prose": "With 12 heads, in `x[12]`."}),
        ("tables", {"table": "| a | b |\n|---|---|\n| 1 | 12.6 |"}),
        ("tables", {"table": "| a | b |\n|---|---|\n| 1 | 12.5 |\n\nand\n\n| c |\n|---|\n| 1 |"}),
        ("tables", {"table": ""}),
    ],
)
@pytest.mark.usefixtures("module")
def test_a_wrong_chapter_has_a_problem(aspect, wrong):
    """One thing put wrong in the text is found under its aspect."""
    assert ASPECTS[aspect]("t", CHAPTER.format(**{**RIGHT, **wrong}))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"words": {"FREQ-1#9": "why"}}, "no such formula"),
        ({"wrong": {"FREQ-1#1": "printed"}}, "holds, though"),
        ({"wrong": {"FREQ-1#1": "printed"}, "bindings": {}}, "is not bound"),
        ({"bindings": {}}, "is not bound"),
    ],
)
def test_excuses_must_be_needed(monkeypatch, changed, message):
    """What a module excuses must exist, and what it calls wrong must be wrong."""
    parts = {"bindings": {"FREQ-1": lambda: ENVIRONMENT}, **changed}
    monkeypatch.setattr(formulas, "load", lambda _: ChapterModule(**parts))
    assert any(message in line for line in formulas.check("t", CHAPTER.format(**RIGHT)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "L113-114; document 003 § 3 L43",
            "L113-115; document 003 § 3 L43",
            "but documents.md has",
        ),
        ("document 000 § 矩阵分解 L57", "document 000 § 矩阵形式 L57", "is in § 矩阵分解"),
        ("`inv_freq(dim, base=10000.0, *, device=None)`", "`inv_freq(dim)`", "Signature lacks"),
        ("- **Signature:** `angles(positions, inv_freq)`\n", "", "Signature lacks"),
        ("`frequencies.theta_step2`, ", "", "names it, but is not listed"),
        ("`arrays.as_positions`", "`frequencies.cos_sin`", "is listed, but does not name it"),
        ("- **Errata:** E-10", "- **Errata:** E-99", "which the documents do not have"),
        (
            "Document 002 prints the formula",
            "Document 001 prints the formula",
            "E-23 is of document",
        ),
        ("- **Shapes:** (d/2,)", "- **Shape:** (d/2,)", "no field is called Shape"),
    ],
)
def test_a_field_that_says_otherwise_is_found(old, new, message):
    """Fields are held against signatures, docstrings, the list of the documents and each other."""
    text = chapter_text("frequencies")
    assert fields.check("frequencies", text) == []
    assert old in text
    found = fields.check("frequencies", text.replace(old, new, 1))
    assert any(message in line for line in found)


def test_fields_stand_in_their_order():
    """A field before the one that it follows is found."""
    text = chapter_text("frequencies")
    shapes, sources = "- **Shapes:** (..., d/2) to (..., d)\n", "- **Errata:** E-10\n"
    moved = text.replace(shapes, "").replace(sources, sources + shapes)
    assert any("fields stand in the order" in line for line in fields.check("frequencies", moved))
