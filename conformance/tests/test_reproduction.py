"""Scripts: each is run, as a person would run it, and its last line is read."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.draft import Draft
from ropespec.conformance.evidence.literal import array_source
from ropespec.conformance.evidence.script import (
    Setting,
    call_script,
    gradient_script,
    into_script,
    property_script,
    raising_script,
    rotation_script,
    score_script,
)
from ropespec.conformance.profile import Profile
from ropespec.conformance.report import proof
from ropespec.conformance.subject.asked import Asked
from ropespec.conformance.subject.binding import Binding
from ropespec.conformance.subject.reply import Reply

SUBJECT = '''
"""A half-split rotation whose sign can be wrong."""
import numpy as np


def rotate(x, positions, sign):
    half = x.shape[-1] // 2
    angle = positions[..., None, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), sign * np.sin(angle)
    a, b = x[..., :half].astype(float), x[..., half:].astype(float)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def right(x, positions):
    return rotate(x, positions, 1.0)


def wrong(x, positions):
    return rotate(x, positions, -1.0)


def heads_first(x, positions):
    return right(x.swapaxes(1, 2), positions).swapaxes(1, 2)


def shared(x, positions):
    assert positions.ndim == 1
    return right(x, positions)


def sequence_heads(x, positions):
    assert x.ndim == 3
    return right(x[None], positions[None])[0]


def sequence_first(x, positions):
    return right(x.swapaxes(0, 1), positions).swapaxes(0, 1)


def strided_only(x, positions):
    """Right for contiguous arrays; reads others as if they were."""
    base = x if x.base is None else x.base
    if not x.flags.c_contiguous:
        x = base.ravel()[: x.size].reshape(x.shape)
    return right(x, positions)


def by_keyword(pos, *, x):
    return wrong(x, pos)


def counting(x, positions, calls=[]):
    calls.append(1)
    return rotate(x, positions, -1.0 if len(calls) > 1 else 1.0)


def overwrites(x, positions):
    y = right(x, positions)
    x += 1
    return y


def shares(x, positions):
    x[...] = right(x, positions)
    return x


def twice(x, positions):
    return right(x, positions), right(x, positions)


def wide(x, positions):
    return right(x.astype(float), positions)


def flat(x, positions):
    return right(x, positions).ravel()


def raises(x, positions):
    raise ZeroDivisionError("no")


def prints(x, positions):
    print("y (0,) expected 1.0 got 2.0")
    return right(x, positions)


def leaves_out(x, positions, out=None):
    return right(x, positions)


def half_out(x, positions, out):
    out[..., :1] = right(x, positions)[..., :1]
    return out


class Offers:
    class Inner:
        @staticmethod
        def apply_rotary(x, positions, *, interleaved):
            assert interleaved is False
            return right(x, positions)

    def apply_rotary(self, x, positions, *, rotary_dim):
        assert rotary_dim is None
        return right(x, positions)

    def inv_freq(self, dim, base=10000.0):
        return np.full(dim // 2, base)
'''
X = np.arange(1, 13, dtype=np.float32).reshape(1, 3, 1, 4) / 8
POSITIONS = np.array([[0, 5, 300]])
STATED = {"interleaved": False, "base": 10000.0, "rotary_dim": None}


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the subjects."""
    (tmp_path / "my_rope.py").write_text(SUBJECT, encoding="utf-8")
    return tmp_path


def setting(target, **claims):
    """Return where a subject is, and how it is called."""
    return Setting(target, Profile(layouts=(False,), **claims))


def asked(x=X, positions=POSITIONS, **changes):
    """Return a rotation that was asked for."""
    return Asked("rotate", "apply_rotary", (x, positions), stated=STATED, **changes)


def last_line(script, folder):
    """Run a script that must end well, and return the last line it prints."""
    status, printed, errors = proof.run(script, folder, 120.0)
    assert (status, errors) == (0, "")
    return printed.splitlines()[-1]


def numbers(script, folder):
    """Return what was expected and what was got."""
    words = last_line(script, folder).split()
    return float(words[-3]), float(words[-1])


@pytest.mark.parametrize("target", ["my_rope.py:wrong", "my_rope:wrong"])
def test_a_script_shows_the_difference(folder, target):
    """Expected and got differ by the sign that the subject gets wrong."""
    script = rotation_script(setting(target), asked(), (0, 1, 0, 0))
    expected, got = numbers(script, folder)
    a, b = X[0, 1, 0, [0, 2]].astype(float)

    assert len(script.splitlines()) < 25
    assert expected == pytest.approx(a * np.cos(5) - b * np.sin(5))
    assert got == pytest.approx(a * np.cos(5) + b * np.sin(5))


@pytest.mark.parametrize(
    ("target", "claims"),
    [
        ("my_rope.py:right", {}),
        ("my_rope:right", {}),
        ("my_rope.py:Offers", {}),
        ("my_rope:Offers", {}),
        ("my_rope.py:Offers.Inner", {"keywords": {"interleaved": False}}),
        ("my_rope:Offers.Inner.apply_rotary", {"keywords": {"interleaved": False}}),
        ("my_rope.py:heads_first", {"axes": "bhsd"}),
        ("my_rope.py:sequence_first", {"axes": "sbhd"}),
        ("my_rope.py:sequence_heads", {"axes": "shd"}),
        ("my_rope.py:shared", {"shared_positions": True}),
        ("ropespec.backends.numpy", {"keywords": {"interleaved": False}}),
        ("numpy", {"keywords": {"interleaved": False}}),
    ],
)
def test_a_script_shows_no_difference_of_a_right_one(folder, target, claims):
    """Whatever its axes and its place: a right implementation is shown to be right."""
    keywords = claims.pop("keywords", {"rotary_dim": None} if "Offers" in target else {})
    script = rotation_script(setting(target, **claims), asked(keywords=keywords), (0, 1, 0, 0))
    expected, got = numbers(script, folder)

    assert got == pytest.approx(expected, rel=1e-6)


def test_a_file_named_like_a_module_is_run_by_its_path(folder):
    """A file `torch.py` must not stand in for torch."""
    (folder / "torch.py").write_text(SUBJECT, encoding="utf-8")
    script = rotation_script(setting("torch.py:right"), asked(), (0, 1, 0, 0))
    expected, got = numbers(script, folder)

    assert "runpy.run_path('torch.py')" in script
    assert got == pytest.approx(expected, rel=1e-6)


def test_a_module_that_only_this_process_finds_is_found_by_its_folder(folder, monkeypatch):
    """Where pytest has put a folder on the path, the script does so too."""
    (folder / "src").mkdir()
    (folder / "src" / "hidden_rope.py").write_text(SUBJECT, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder / "src"))
    script = rotation_script(setting("hidden_rope:right"), asked(), (0, 1, 0, 0))
    expected, got = numbers(script, folder)

    assert got == pytest.approx(expected, rel=1e-6)


def test_a_script_hands_over_the_view(folder):
    """What is wrong for a strided x alone is shown with a strided x, and not without."""
    one = setting("my_rope.py:strided_only")
    plain = numbers(rotation_script(one, asked(), (0, 1, 0, 1)), folder)
    strided = numbers(rotation_script(one, asked(strided=True), (0, 1, 0, 1)), folder)

    assert plain[1] == pytest.approx(plain[0], rel=1e-6)
    assert strided[1] != pytest.approx(strided[0], rel=1e-6)


def test_a_script_hands_over_strided_positions(folder):
    """Positions, too, are a view with gaps where the case had it so."""
    script = rotation_script(
        setting("my_rope.py:right"), asked(strided_positions=True, strided=True), (0, 1, 0, 1)
    )
    expected, got = numbers(script, folder)

    assert script.count("[..., ::2]") == 2
    assert got == pytest.approx(expected, rel=1e-6)


def test_a_script_makes_the_calls_that_came_before(folder):
    """What an earlier call leaves behind shows only after it."""
    one = setting("my_rope.py:counting")
    alone = numbers(rotation_script(one, asked(), (0, 1, 0, 0)), folder)
    after = numbers(rotation_script(one, asked(), (0, 1, 0, 0), before=[asked()]), folder)

    assert alone[1] == pytest.approx(alone[0], rel=1e-6)
    assert after[1] != pytest.approx(after[0], rel=1e-6)


def test_a_score_is_computed_from_two_rotations(folder):
    """The inner product of two rotated vectors, by the formula and by the subject."""
    other = asked(X[..., ::-1].copy(), POSITIONS + 3)
    script = score_script(setting("my_rope.py:wrong"), asked(), other, (0, 1, 0))
    expected, got = numbers(script, folder)
    theta = 10000.0 ** (-np.arange(2) / 2)
    q, k = (x[0, 1, 0, :2] + 1j * x[0, 1, 0, 2:] for x in (X.astype(float), X[..., ::-1]))

    assert "score (0, 1, 0)" in last_line(script, folder)
    assert expected == pytest.approx(np.real(q * np.conj(k) * np.exp(-3j * theta)).sum())
    assert got == pytest.approx(np.real(q * np.conj(k) * np.exp(3j * theta)).sum(), rel=1e-5)


def test_a_score_is_computed_as_the_subject_is_called(folder):
    """Both rotations take positions first, and x by its keyword."""
    own = replace(setting("my_rope.py:by_keyword"), binding=Binding(x="x"))
    other = asked(X[..., ::-1].copy(), POSITIONS + 3)
    script = score_script(own, asked(), other, (0, 1, 0))
    plain = score_script(setting("my_rope.py:wrong"), asked(), other, (0, 1, 0))

    assert "apply_rotary(m.copy(), x=q.copy())" in script
    assert numbers(script, folder) == numbers(plain, folder)


@pytest.mark.parametrize("array", ["torch", "jax"])
def test_a_gradient_is_taken_by_the_framework(capsys, array):
    """The gradient of the backend is the rotation of the cotangent by the opposite angle."""
    pytest.importorskip(array)
    one = asked(keywords={"interleaved": False}, extra=(X[:, ::-1].copy(),))
    script = gradient_script(setting(array, array=array), one, (0, 1, 0, 0))
    exec(script, {})  # noqa: S102  # our own source; a framework takes seconds to import again
    words = capsys.readouterr().out.splitlines()[-1].split()

    assert words[0] == "gradient"
    assert float(words[-1]) == pytest.approx(float(words[-3]), rel=1e-5)


def test_a_gradient_of_the_subjects_own_is_called(folder):
    """Where it offers the step back itself, that function is called, with the cotangent."""
    source = SUBJECT + "\n\ndef apply_rotary_vjp(c, positions):\n    return right(c, -positions)\n"
    (folder / "own_rope.py").write_text(source, encoding="utf-8")
    one = asked(extra=(X[:, ::-1].copy(),))
    script = gradient_script(setting("own_rope.py"), one, (0, 1, 0, 0), own="apply_rotary_vjp")
    expected, got = numbers(script, folder)

    assert got == pytest.approx(expected, rel=1e-6)


def reply(*values):
    """Return what a call brought."""
    names = tuple(value.dtype.name for value in values)
    yes = (True,) * len(values)
    return Reply(values, names, yes, ("",) * len(values), names, (), (False,) * len(values), 0.0)


def test_out_is_handed_over_and_looked_at(folder):
    """What the call left of `out` untouched is not a number."""
    one = Asked("into", "apply_rotary", (X, POSITIONS), kind="strided")
    script = into_script(setting("my_rope.py:half_out"), one, (0, 1, 0, 3), 0.5)

    assert "[..., ::2]" in script
    assert last_line(script, folder) == "out (0, 1, 0, 3) expected 0.5 got nan"


def test_another_array_than_out_is_seen(folder):
    """What is returned must be `out` itself."""
    one = Asked("into", "apply_rotary", (X, POSITIONS), kind="new")
    script = into_script(setting("my_rope.py:leaves_out"), one)

    assert last_line(script, folder) == "result: expected out got another array"


def test_an_element_of_any_function_is_shown(folder):
    """Arguments of any other function are passed as they are, and one number is looked at."""
    one = Asked("call", "inv_freq", (4,), {"base": 500.0}, reply=reply(np.ones(2)))
    script = call_script(setting("my_rope:Offers"), one, 0, (1,), "", 0.25)

    assert last_line(script, folder) == "inv_freq (1,) expected 0.25 got 500.0"


def test_one_of_several_results_is_shown_and_a_part_of_a_number(folder):
    """Tuples are taken apart, and so are complex numbers."""
    arrays = (X, X, X)
    keywords = {
        "query_positions": POSITIONS,
        "key_positions": POSITIONS,
        "interleaved": True,
        "mask": np.tri(3, dtype=bool),
    }
    one = Asked("call", "attention", arrays, keywords, reply=reply(X, X))
    script = call_script(setting("numpy"), one, 1, (0, 0, 0, 0), "", 0.5)
    two = Asked("call", "to_complex", (X,), reply=reply(X))
    other = call_script(setting("numpy"), two, 0, (0, 0, 0, 1), ".imag", 0.0)

    assert last_line(script, folder) == "attention (0, 0, 0, 0) expected 0.5 got 1.0"
    assert last_line(other, folder) == "to_complex (0, 0, 0, 1) expected 0.0 got 0.5"


@pytest.mark.parametrize(
    ("name", "about", "line"),
    [
        ("overwrites", "written", "x after the call: expected as before got changed"),
        ("right", "written", "x after the call: expected as before got as before"),
        ("shares", "shared", "memory shared with x: expected False got True"),
        ("twice", "results", "results: expected 1 got 2"),
        ("wide", "dtype", "dtype: expected float32 got float64"),
        ("flat", "shape", "shape: expected (1, 3, 1, 4) got (12,)"),
        ("twice", "type", "type: expected ndarray got tuple"),
        ("right", "accepted", "this call: expected an error got ndarray"),
        ("right", "reused", "memory shared with the result before: expected False got False"),
    ],
)
def test_what_is_no_number_is_looked_at(folder, name, about, line):
    """Memory, dtype, shape, type, and that nothing was raised."""
    script = property_script(setting(f"my_rope.py:{name}"), asked(), about)

    assert last_line(script, folder) == line


def test_a_call_that_raises_raises_again(folder):
    """The script ends in the exception of the subject."""
    script = raising_script(setting("my_rope.py:raises"), asked())
    status, _, errors = proof.run(script, folder, 60.0)

    assert status == 1
    assert errors.splitlines()[-1] == "ZeroDivisionError: no"
    assert Draft(script, raises="ZeroDivisionError").shown_by(status, "", errors)
    assert not Draft(script, raises="ValueError").shown_by(status, "", errors)


@pytest.mark.parametrize("array", ["torch", "jax"])
def test_a_script_converts_to_the_framework(capsys, array):
    """bfloat16 and a framework: what the backend returns is within one rounding."""
    pytest.importorskip(array)
    one = asked(X.astype(ml_dtypes.bfloat16), keywords={"interleaved": False}, strided=True)
    claims = {"array": array, "dtypes": ("bfloat16",)}
    script = rotation_script(setting(array, **claims), one, (0, 1, 0, 0))
    # In this process: importing a framework once more takes seconds.
    exec(script, {})  # noqa: S102  # our own source
    words = capsys.readouterr().out.splitlines()[-1].split()

    assert "bfloat16" in script
    assert float(words[-1]) == pytest.approx(float(words[-3]), rel=2.0**-8)


def test_a_script_knows_bfloat16_of_numpy(folder):
    """A NumPy subject gets ml_dtypes.bfloat16."""
    one = asked(X.astype(ml_dtypes.bfloat16))
    expected, got = numbers(rotation_script(setting("my_rope.py:right"), one, (0, 1, 0, 0)), folder)

    assert got == pytest.approx(expected, rel=2.0**-8)


def test_a_script_is_exact_at_huge_positions(folder):
    """At 2^31 the angles of the script itself are good to float32."""
    one = asked(positions=np.array([[2**31 - 3, 2**31 - 2, 2**31 - 1]]), keywords={**STATED})
    expected, got = numbers(rotation_script(setting("numpy"), one, (0, 2, 0, 1)), folder)

    assert got == pytest.approx(expected, abs=1e-6)


def test_positions_of_an_empty_batch_can_be_shared(folder):
    """No row is left to take them from, and the script makes some."""
    one = asked(X[:0], POSITIONS[:0])
    script = raising_script(setting("my_rope.py:shared", shared_positions=True), one)

    assert proof.run(script, folder, 60.0)[::2] == (0, "")


LONG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.5, np.nan], [-np.inf, -0.0]], np.float16),
        np.array([True, False]),
        np.array([1 + 2j, complex(np.nan, -0.0)], np.complex64),
        np.array(3),
        np.zeros((2, 0, 3), np.float32),
        np.tile(np.arange(-4, 96), (2, 1)),
        LONG.integers(0, 2**40, (3, 40)),
        np.full((3, 40), 2048),
        np.full((5, 30), 0.1, np.float32),
        np.full((5, 30), -0.0, np.float32),
        np.eye(16)[3].repeat(8).reshape(8, 16),
        LONG.standard_normal((4, 32)).astype(np.float32),
        np.array([0.1, 1e-40, 3.0000002], np.float32),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_the_source_of_an_array_gives_the_same_bits(array):
    """Every bit survives: signed zeros, NaN, subnormals."""
    names = {"np": np}
    exec("\n".join(array_source("a", array)), names)  # noqa: S102  # our own source

    assert names["a"].dtype == array.dtype
    assert names["a"].shape == array.shape
    np.testing.assert_array_equal(names["a"], array)
    if array.dtype.kind == "f":
        assert (np.signbit(names["a"]) == np.signbit(array)).all()


def test_an_array_too_long_to_print_says_so():
    """Random values of its shape take its place, and the script admits it."""
    lines = array_source("x", LONG.standard_normal((3, 17, 4, 128)))

    assert "too long to print" in lines[0]
    assert sum(map(len, lines)) < 300
