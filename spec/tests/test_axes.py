"""Which pair follows which position number, against the code of the models."""

from decimal import Context, localcontext

import numpy as np
import pytest

from ropespec.spec.arguments import ArrayFacts
from ropespec.spec.axes import Axial, Mixed, Sections, Woven, check_axes, check_rows
from ropespec.spec.convention import Frequencies
from ropespec.spec.errors import ArgumentError, ArgumentTypeError, ArgumentValueError
from ropespec.spec.scaling import Linear, Yarn


def rows(axes, dim, frequencies=Frequencies(100.0)):  # noqa: B008  # frozen
    """Return the frequencies as float64."""
    with localcontext(Context(prec=60)):
        found = axes.rows(frequencies, dim)
    return np.array([[float(theta) for theta in row] for row in found])


@pytest.mark.parametrize("sections", [(16, 24, 24), (1, 0, 3), (4,)])
def test_sections_are_cut_as_transformers_cuts_them(sections):
    """Qwen2-VL: the table of number k where chunk k of the pairs is."""
    tables = [np.full(sum(sections), k) for k in range(len(sections))]
    chunks = [np.split(table, np.cumsum(sections)[:-1])[k] for k, table in enumerate(tables)]

    assert Sections(sections).followed() == tuple(np.concatenate(chunks).tolist())


@pytest.mark.parametrize("sections", [(24, 20, 20), (4, 2, 2), (11, 11, 10), (8, 0, 0), (3, 3)])
def test_woven_pairs_are_those_of_transformers(sections):
    """Qwen3-VL: number 0 first, then every n-th pair from a on is overwritten."""
    count = len(sections)
    freqs = np.zeros(sum(sections), dtype=int)
    for dim, offset in enumerate(range(1, count), start=1):
        length = sections[dim] * count
        freqs[slice(offset, length, count)] = dim

    assert Woven(sections).followed() == tuple(freqs.tolist())
    assert tuple(np.bincount(freqs, minlength=count)) == sections


def test_each_pair_has_its_frequency_where_it_follows():
    """Sections and woven pairs have the frequencies of the whole, scaled ones too."""
    theta = 100.0 ** (-np.arange(8) / 8)
    for axes in (Sections((2, 3, 3)), Woven((4, 2, 2))):
        expected = np.array([np.where(np.equal(axes.followed(), a), theta, 0) for a in range(3)])
        np.testing.assert_allclose(rows(axes, 16), expected, rtol=1e-15)
        scaled = rows(axes, 16, Frequencies(100.0, Linear(4.0)))
        np.testing.assert_allclose(scaled, expected / 4, rtol=1e-15)


def test_axial_frequencies_begin_anew():
    """As in rope-vit: 1 / base^(arange(0, d, 4) / d) for x, and again for y."""
    d = 16
    once = 1 / 100.0 ** (np.arange(0, d, 4) / d)
    expected = np.zeros((2, 8))
    expected[0, :4] = expected[1, 4:] = once

    np.testing.assert_allclose(rows(Axial((4, 4)), d), expected, rtol=1e-15)
    assert rows(Axial((0, 3, 5)), d).shape == (3, 8)


def test_mixed_frequencies_are_exactly_those_given():
    """Of either sign, and 0."""
    given = ((0.5, -0.1, 0.0), (1.5, 2.0, -3.0))
    np.testing.assert_array_equal(rows(Mixed(given), 6), given)
    assert hash(Mixed(given)) == hash(Mixed(given))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: Sections([1, 2]),
            ArgumentTypeError,
            "sections must be a tuple of numbers of pairs; got [1, 2] (list)",
        ),
        (lambda: Sections((1, -1)), ArgumentValueError, "sections[1] must be an integer of at"),
        (lambda: Axial((0, 0)), ArgumentValueError, "sections must be a tuple of numbers of pairs"),
        (
            lambda: Woven((2, 4, 2)),
            ArgumentValueError,
            "sections[1] must be at most 3 of 8 pairs, every 3th from 1 on; got 4 (int)",
        ),
        (lambda: Mixed([[1.0]]), ArgumentTypeError, "frequencies must be a tuple of tuples"),
        (lambda: Mixed(((1.0,), ())), ArgumentValueError, "frequencies must be a tuple of tuples"),
        (lambda: Mixed(((np.nan,),)), ArgumentValueError, "frequencies[0][0] must be a finite"),
        (lambda: rows(Sections((2, 3)), 16), ArgumentValueError, "axes must be of 8 pairs in all"),
        (lambda: rows(Mixed(((1.0,),)), 4), ArgumentValueError, "axes must be of 2 pairs in all"),
        (
            lambda: rows(Mixed(((1.0,),)), 2, Frequencies(9.0, Yarn(2.0, 9))),
            ArgumentValueError,
            "scaling must be None with frequencies given; got Yarn(",
        ),
        (
            lambda: check_axes([16, 24, 24]),
            ArgumentTypeError,
            "axes must be a value of ropespec.spec.axes, such as Sections((16, 24, 24)); got ",
        ),
        (
            lambda: check_rows(ArrayFacts((5, 2), "int64"), Sections((1, 1, 1))),
            ArgumentValueError,
            "positions must be of shape (3, ...), a row for each position number; got an array",
        ),
        (lambda: check_rows(ArrayFacts((), "int64"), Sections((1,))), ArgumentError, "positions"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(make, error, words):
    """An error names the argument, what it is and what it must be."""
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value).startswith(words)
