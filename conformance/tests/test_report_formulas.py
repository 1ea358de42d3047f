r"""Formulas in plain text: what a reader sees who does not know LaTeX."""

import re

import pytest

from ropespec.conformance.report.boxes import columns
from ropespec.conformance.report.formulas import WIDTH, formula_text, without_latex
from ropespec.spec import CHAPTERS, chapter_text

BLOCKS = [
    (chapter, block)
    for chapter in CHAPTERS
    for block in re.findall(
        r"^```math\n(.*?)^```$", chapter_text(chapter), re.MULTILINE | re.DOTALL
    )
]


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\theta_i = \mathrm{base}^{-2i/d}", "θᵢ = base^(-2i/d)"),
        (r"z = a + \mathrm{i}b = |z|\, e^{\mathrm{i} \arg z}", "z = a + ⅈb = |z| e^(ⅈ arg z)"),
        (r"y_{2i+1}", "y₂ᵢ₊₁"),
        (r"q^\top R_{n-m} k", "qᵀRₙ₋ₘk"),
        (r"R_m^{-1} = R_{-m}", "Rₘ⁻¹ = R₋ₘ"),
        (r"(z w)^* = z^* w^*", "(zw)* = z* w*"),
        (r"f(x, m) - g(-x)", "f(x, m) - g(-x)"),
        (r"\frac{a + b}{2c}", "(a + b)/(2c)"),
        (r"\frac{2i}{d}", "2i/d"),
        (r"\frac{1}{2} \eta^2", "(1/2)η²"),
        (r"\frac{\theta^2}{2!}", "θ²/2!"),
        (r"\sqrt{a^2 + b^2}", "√(a² + b²)"),
        (r"\sqrt{D}", "√D"),
        (r"\sum_{i=0}^{d/2-1} x_i", "Σ[i=0 .. d/2 - 1] xᵢ"),
        (r"\sum_k \frac{x^k}{k!}", "Σ[k](x^k/k!)"),
        (r"\cos m\theta \sin n\theta", "cos mθ sin nθ"),
        (r"\cos((m-n)\theta)", "cos((m - n)θ)"),
        (r"m\cos\theta", "m cos θ"),
        (r"\sin\frac{m}{n}", "sin(m/n)"),
        (r"\langle f(q, m), \bar y \rangle", "⟨f(q, m), y\u0304⟩"),
        (r"\lVert x \rVert \le 1, \quad x \in \{0, 1\}", "‖x‖ ≤ 1,    x ∈ {0, 1}"),
        (r"\delta_{\mathrm{angle}} \sigma", "δ_angle σ"),
        (r"R_f(q, m)", "R_f(q, m)"),
        (r"e^{\mathrm{i}\Theta_f(q)}", "e^(ⅈΘ_f(q))"),
        (r"\phi \equiv \theta \pmod{2\pi}", "φ ≡ θ  (mod 2π)"),
        (r"\left\lfloor \frac{h}{H / G} \right\rfloor", "⌊h/(H/G)⌋"),
        (r"\begin{pmatrix} a & b \end{pmatrix}", "(a  b)"),
        (r"x \unknown y", "xunknowny"),
        ("", ""),
    ],
)
def test_a_construct_of_latex_becomes_text(latex, text):
    """What is above, below, beside or in brackets stays to be told apart."""
    assert formula_text(latex) == text


def test_a_matrix_becomes_rows_level_with_what_is_beside_it():
    """Cells are centred, and one that is missing is blank."""
    latex = r"M = \begin{pmatrix} \cos a & -\sin a \\ \sin a & \cos a \end{pmatrix} x + 1"
    wide = r"f = \begin{pmatrix} R_m & \\ & I \end{pmatrix}"

    assert formula_text(latex) == "M = ⎛ cos a  -sin a ⎞x + 1\n    ⎝ sin a  cos a  ⎠"
    assert formula_text(wide) == "f = ⎛ Rₘ    ⎞\n    ⎝     I ⎠"


def test_the_rows_of_an_aligned_formula_stand_below_each_other():
    """The sign of relation is in one column."""
    latex = "\\begin{aligned}\nabc &= 1 \\\\\n&= 2\n\\end{aligned}"

    assert formula_text(latex) == "abc = 1\n    = 2"


def test_a_long_formula_goes_on_below():
    """Between formulas first, then before a relation or a sum."""
    first, second = "aaa = bbb + ccc", "ddd = eee + fff"
    both = rf"{first}, \quad {second}"

    assert formula_text(both, width=40) == f"{first},    {second}"
    assert formula_text(both, width=20) == f"{first},\n{second}"
    assert formula_text(first, width=12) == "aaa = bbb\n     + ccc"


@pytest.mark.parametrize(("chapter", "latex"), BLOCKS)
def test_every_formula_of_the_chapters_is_readable(chapter, latex):
    """No command, no environment and no brace of LaTeX is left, and no line is too wide."""
    text = formula_text(latex)

    assert "\\" not in text, chapter
    assert not re.search(r"[\^_]\{", text)
    assert "&" not in text
    assert max(map(columns, text.splitlines())) <= WIDTH + 14  # a bracket that cannot be broken
    letters = re.sub(r"\\(begin|end)\{\w+\}|\\[a-zA-Z]+|[^0-9a-zA-Z]", "", latex)
    assert len(re.sub(r"\W", "", text)) >= 0.5 * len(letters)


def test_blocks_of_math_are_indented_and_all_else_stays():
    """Markdown shows an indented block as it is."""
    text = "one\n\n```math\nx_0 \\\\\nx_1\n```\n\n```python\n>>> 1\n```\n"

    assert without_latex(text) == "one\n\n    x₀\n    x₁\n\n```python\n>>> 1\n```\n"
