"""The code of the documents is run in torch as it is printed, and agrees with `published`.

`printed_code/004_L608.txt` is line 608 of document 004 with its line breaks, its indentation and
its quotes put back; imports that are missing are given by the names the code finds.
"""

import inspect
import math
import os
import typing
from pathlib import Path

import numpy as np
import pytest

from ropespec.reference import published
from ropespec.reference.errata import PRINTED
from ropespec.reference.errata.code import caches, emb_in_float32, positional_encoding
from ropespec.reference.frequencies import div_term, inv_freq
from ropespec.reference.sinusoidal import positional_encoding_table

torch = pytest.importorskip("torch")

BLOCKS = sorted((Path(__file__).parent / "printed_code").glob("*.txt"))
DEFINING = ("004_L096", "004_L532", "004_L608", "004_L657", "004_L673", "004_L677", "004_L681")
U = 2.0**-24  # a unit of float32, which all printed code computes in
RNG = np.random.default_rng(4)


def run(*names, **given):
    """Run blocks one after the other, with the imports that the documents leave out."""
    namespace = {
        "torch": torch,
        "nn": torch.nn,
        "F": torch.nn.functional,
        "math": math,
        "Variable": torch.autograd.Variable,
        "Tuple": typing.Tuple,  # noqa: UP006  # as printed
        "__name__": "printed",
        **given,
    }
    for name in names:
        (path,) = (one for one in BLOCKS if one.stem == name)
        exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), namespace)  # noqa: S102
    return namespace


@pytest.fixture(scope="module")
def printed():
    """Return what the seven defining blocks define."""
    return run(*DEFINING)


def tensor(x, dtype=None):
    """Return a tensor of the numbers of an array."""
    return torch.from_numpy(np.array(x, dtype or np.float32))


def draw(*shape):
    """Draw float32 numbers, so that torch and the reference begin with the same."""
    return RNG.normal(size=shape).astype(np.float32)


def angle_error(positions):
    """Bound the error of float32 angles: a power, a product and a store, each of them relative."""
    return 6 * U * positions + 4 * U


@pytest.mark.parametrize("path", BLOCKS, ids=lambda path: path.stem)
def test_block_is_the_print(path):
    """Without white space and quotes the block is the line of the document (E-63)."""
    if (folder := os.environ.get("ROPESPEC_DOCUMENTS")) is None:
        pytest.skip("ROPESPEC_DOCUMENTS does not name the folder of the five documents")
    document, _, line = path.stem.partition("_L")
    (file,) = Path(folder).glob(f"{document}_*.txt")
    lines = file.read_text(encoding="utf-8").split("\n")

    assert bare(path.read_text(encoding="utf-8")) == bare(lines[int(line) - 1])


def bare(text):
    """Leave out white space, quotes, and what document 000 writes to print code as a formula."""
    return "".join(text.split()).translate(dict.fromkeys(map(ord, "\"'“”$\\")))


@pytest.mark.parametrize(
    "name",
    [
        "PositionalEncoding",
        "sinusoidal_position_embedding",
        "RoPE",
        "attention",
        "precompute_freqs_cis",
        "reshape_for_broadcast",
        "apply_rotary_emb",
    ],
)
def test_parameters_are_the_printed_ones(printed, name):
    """Names, order and defaults are those of the print; what is added is by keyword alone."""
    ours, theirs = (
        {key: one.default for key, one in inspect.signature(f).parameters.items()}
        for f in (getattr(published, name), printed[name])
    )
    added = {
        key
        for key, one in inspect.signature(getattr(published, name)).parameters.items()
        if one.kind is one.KEYWORD_ONLY
    }

    assert [item for item in ours.items() if item[0] not in added] == list(theirs.items())
    assert all(ours[key] is None for key in added)


@pytest.mark.parametrize("dim", [2, 6, 32])
def test_sinusoidal_position_embedding(printed, dim):
    """The table of 50 positions agrees within float32 angles (PUB-1; F-008, F-188)."""
    found = printed["sinusoidal_position_embedding"](2, 3, 50, dim, "cpu").numpy()
    right = published.sinusoidal_position_embedding(2, 3, 50, dim, "cpu")

    assert found.shape == right.shape == (2, 3, 50, dim)
    assert (np.abs(found - right) <= angle_error(np.arange(50)[:, None])).all()


@pytest.mark.parametrize("dim", [2, 6, 32])
def test_rope(printed, dim):
    """RoPE(q, k) agrees within float32 angles and three roundings (PUB-2; F-189, F-190, F-191)."""
    q, k = draw(2, 3, 50, dim), draw(2, 3, 50, dim)
    found = printed["RoPE"](tensor(q), tensor(k))
    right = published.RoPE(q.astype(np.float64), k.astype(np.float64))

    allowed = angle_error(np.arange(50)[:, None]) + 4 * U
    for x, y, z in zip((q, k), found, right, strict=True):
        size = np.abs(x) + np.abs(published.quarter_turn(x))
        assert (np.abs(y.numpy() - z) <= allowed * size).all()


def test_attention(printed):
    """Output and weights agree, with RoPE and without (ATT-2; F-193, F-199; E-58, E-59)."""
    q, k, v = draw(2, 3, 10, 16), draw(2, 3, 10, 16), draw(2, 3, 10, 16)
    wide = [x.astype(np.float64) for x in (q, k, v)]
    for use in (True, False):
        found = printed["attention"](*map(tensor, (q, k, v)), use_RoPE=use)
        right = published.attention(*wide, use_RoPE=use)

        for one, other in zip(found, right, strict=True):
            np.testing.assert_allclose(one.numpy(), other, rtol=0, atol=2e-6)


def test_attention_drops_weights(printed):
    """A dropout is applied to the weights, before they meet the values (F-193)."""
    q, k, v = draw(1, 2, 5, 8), draw(1, 2, 5, 8), draw(1, 2, 5, 8)
    found = printed["attention"](*map(tensor, (q, k, v)), None, lambda w: w * w)
    right = published.attention(*(x.astype(np.float64) for x in (q, k, v)), None, lambda w: w * w)

    for one, other in zip(found, right, strict=True):
        np.testing.assert_allclose(one.numpy(), other, rtol=0, atol=2e-6)


def test_attention_ignores_its_mask(printed):
    """As printed a mask changes nothing, which is the form of E-59; corrected it does."""
    q, k, v = draw(1, 2, 5, 8), draw(1, 2, 5, 8), draw(1, 2, 5, 8)
    mask = np.tril(np.ones((5, 5), np.int64))
    found = printed["attention"](*map(tensor, (q, k, v)), tensor(mask, np.int64))
    at = {"query_positions": range(5), "key_positions": range(5), "interleaved": True}
    output, weights = PRINTED["attention"]["E-59"](
        *(x.astype(np.float64).swapaxes(1, 2) for x in (q, k, v)), **at, mask=mask != 0
    )
    right, _ = published.attention(q, k, v, mask)

    np.testing.assert_allclose(found[0].numpy(), output.swapaxes(1, 2), rtol=0, atol=2e-6)
    np.testing.assert_allclose(found[1].numpy(), weights, rtol=0, atol=2e-6)
    assert np.abs(found[0].numpy() - right).max() > 0.1


def test_demo(capsys):
    """The demo below the function prints the two shapes (PUB-7; F-218)."""
    run("004_L532", "004_L608", "004_L657", __name__="__main__")

    assert capsys.readouterr().out == ("torch.Size([8, 12, 10, 32]) torch.Size([8, 12, 10, 10])\n")


@pytest.mark.parametrize("theta", [10000.0, 500000.0])
def test_precompute_freqs_cis(printed, theta):
    """The table of 50 positions agrees within float32 angles (PUB-3; F-007, F-194, F-200)."""
    found = printed["precompute_freqs_cis"](32, 50, theta).numpy()
    right = published.precompute_freqs_cis(32, 50, theta)

    assert found.shape == right.shape
    assert (np.abs(found - right) <= 2 * angle_error(np.arange(50)[:, None])).all()


def test_reshape_for_broadcast(printed):
    """The same numbers in the same shape (PUB-4; F-195)."""
    table = published.precompute_freqs_cis(8, 5)
    x = np.zeros((2, 5, 3, 4), np.complex128)
    found = printed["reshape_for_broadcast"](torch.from_numpy(table), torch.from_numpy(x))

    np.testing.assert_array_equal(found.numpy(), published.reshape_for_broadcast(table, x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_apply_rotary_emb(printed, dtype):
    """It agrees within float32 for either dtype, called as in the forward pass (F-196, F-197)."""
    xq, xk = RNG.normal(size=(2, 2, 7, 3, 8)).astype(dtype)
    table = published.precompute_freqs_cis(8, 7).astype(np.complex64)
    given = {
        "apply_rotary_emb": printed["apply_rotary_emb"],
        "xq": torch.from_numpy(xq),
        "xk": torch.from_numpy(xk),
        "freqs_cis": torch.from_numpy(table),
    }
    called = run("004_L687", **given)
    right = published.apply_rotary_emb(xq, xk, table)

    for name, x, y in zip(("xq", "xk"), (xq, xk), right, strict=True):
        assert called[name].numpy().dtype == dtype
        np.testing.assert_allclose(called[name].numpy(), y, rtol=0, atol=4 * U * np.abs(x).max())


def test_e62_float32_in_torch_and_in_the_form(printed):
    """The printed code and the form of E-62 lose the same digits of float64; corrected none."""
    x = RNG.normal(size=(1, 7, 2, 8))
    table = published.precompute_freqs_cis(8, 7)
    found, _ = printed["apply_rotary_emb"](
        tensor(x, np.float64), tensor(x, np.float64), torch.from_numpy(table.astype(np.complex64))
    )
    form, _ = emb_in_float32(x, x, table)
    right, _ = published.apply_rotary_emb(x, x, table)

    lost = np.abs(form - right).max()
    assert np.abs(found.numpy() - form).max() <= 3 * U
    assert 1e-8 < lost < 1e-6


@pytest.mark.parametrize("shape", [(2, 7, 8), (2, 7, 3, 2, 8)])
def test_e61_other_ranks_in_torch_and_in_the_form(printed, shape):
    """Three and five axes come out in the wrong shape, in torch as in the form of E-61."""
    x = RNG.normal(size=shape).astype(np.float32)
    table = published.precompute_freqs_cis(8, 7)
    found, _ = printed["apply_rotary_emb"](
        tensor(x), tensor(x), torch.from_numpy(table.astype(np.complex64))
    )
    form, _ = PRINTED["apply_rotary_emb"]["E-61"](x, x, table)

    assert found.shape == form.shape != shape
    np.testing.assert_allclose(found.numpy(), form, rtol=0, atol=16 * U)


def test_e60_one_table_in_torch_and_in_the_form(printed):
    """One key head becomes as many as q has, and another length fails, in torch as in the form."""
    q, k = draw(1, 2, 3, 8), draw(1, 1, 3, 8)
    _, found = printed["RoPE"](tensor(q), tensor(k))
    _, form = PRINTED["RoPE"]["E-60"](q, k)

    assert found.shape == form.shape == (1, 2, 3, 8)
    np.testing.assert_allclose(found.numpy(), form, rtol=0, atol=1e-6)
    with pytest.raises(RuntimeError, match="must match"):
        printed["RoPE"](tensor(q), tensor(draw(1, 2, 5, 8)))


def test_positional_encoding(printed):
    """The table is added, and it is a buffer without a gradient (SIN-3; F-009, F-187)."""
    x = draw(2, 50, 32)
    module = printed["PositionalEncoding"](32, 0.0, max_len=64)
    right = published.PositionalEncoding(32, 0.0, max_len=64)(x.astype(np.float64))

    error = np.abs(module(tensor(x)).detach().numpy() - right)
    assert (error <= angle_error(np.arange(50)[:, None]) + 8 * U).all()
    assert not list(module.parameters())


@pytest.mark.parametrize(("d_model", "length"), [(7, 5), (8, 17)])
def test_e64_limits_in_torch_and_in_the_form(printed, d_model, length):
    """An odd d_model and a sequence beyond max_len fail, in torch as in the form of E-64."""
    with pytest.raises(RuntimeError):
        printed["PositionalEncoding"](d_model, 0.0, 16)(torch.zeros(1, length, d_model))
    with pytest.raises(ValueError, match="broadcast"):
        positional_encoding(np.zeros((1, length, d_model)), 16)


def test_the_lines_of_the_class_alone():
    """`div_term` and the two lines that fill the columns give the table (F-009, F-032)."""
    position = torch.arange(0, 20).unsqueeze(1)
    pe = torch.zeros(20, 8)
    found = run("004_L102", "004_L129", d_model=8, pe=pe, position=position)

    np.testing.assert_allclose(found["div_term"].numpy(), div_term(8), rtol=8 * U)
    error = np.abs(pe.numpy() - positional_encoding_table(20, 8))
    assert (error <= angle_error(np.arange(20)[:, None])).all()


def test_the_steps_of_the_example():
    """`.flatten(start_dim=-2)` gives the q2 of `.reshape(q.shape)`, and q and k2 follow (F-192)."""
    q, k = draw(1, 1, 3, 8), draw(1, 1, 3, 8)
    pos_emb = published.sinusoidal_position_embedding(1, 1, 3, 8, "cpu")
    found = run(
        "004_L622", "004_L632", "004_L644", q=tensor(q), k=tensor(k), pos_emb=tensor(pos_emb)
    )
    sin_pos, cos_pos = published.split_pos_emb(pos_emb.astype(np.float32))
    rotated, _ = published.RoPE(q, k)

    np.testing.assert_array_equal(found["q2"].numpy(), published.quarter_turn(q))
    np.testing.assert_array_equal(found["k2"].numpy(), published.quarter_turn(k))
    np.testing.assert_array_equal(found["sin_pos"].numpy(), sin_pos)
    np.testing.assert_array_equal(found["cos_pos"].numpy(), cos_pos)
    np.testing.assert_allclose(found["q"].numpy(), rotated, rtol=0, atol=1e-6)


def test_f006_line_of_document_000():
    """The line gives the frequencies, and 0.0 for its stray `float()` (F-006; E-12)."""
    theta, stray = run("000_L057", base=10000.0, d=8)["theta"]

    np.testing.assert_allclose(theta.numpy(), inv_freq(8), rtol=8 * U)
    assert stray == 0.0


def test_e11_cache_of_document_000():
    """The three lines fail on the table of angles, and on three axes are the form of E-11."""
    angles = draw(1, 4, 3)
    blocks = ("000_L064", "000_L066", "000_L067")
    found = run(*blocks, xb_theta=tensor(angles))
    form = caches(angles.astype(np.float64))

    for name, right in zip(("cos_cached", "sin_cached"), form, strict=True):
        assert found[name].shape == right.shape == (1, 1, 1, 4, 3)
        np.testing.assert_allclose(found[name].numpy(), right, rtol=0, atol=2 * U)
    with pytest.raises(IndexError, match="too many indices"):
        run(*blocks, xb_theta=tensor(angles[0]))
