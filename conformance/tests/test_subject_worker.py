import gc
import itertools
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject import arrays, worker
from ropespec.conformance.subject.arrays import Returned
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.frameworks import framework_named, framework_of
from ropespec.conformance.subject.requests import Question
from ropespec.conformance.subject.session import Session
from ropespec.spec.errors import dtype_name

SUBJECTS = Path(__file__).parent / "subjects"
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "int32", "int64", "bool")


def values(dtype, shape=(2, 3, 4, 6)):
    """Return an array of that dtype with different elements."""
    found = np.random.default_rng(0).integers(-9, 9, shape)
    return found.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


@pytest.fixture(autouse=True)
def import_path_as_before(monkeypatch):
    """Undo what loading a subject in this process does to the import path."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "path_hooks", sys.path_hooks.copy())


def same(one, other):
    """Tell whether two arrays agree in dtype, shape and bytes."""
    return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_arguments_keep_their_values(name, dtype, strided):
    """What the subject gets holds the values that were sent, with and without gaps."""
    sent = values(dtype)
    made = framework_named(name, None).argument(sent, view="gaps" if strided else "")

    assert framework_of(made.array) == name
    assert dtype_name(made.array.dtype) == dtype
    assert same(made.read(made.array), sent)
    assert not made.written()


@pytest.mark.parametrize("dtype", DTYPES)
def test_jax_arguments_keep_their_values(dtype):
    """JAX gets 64-bit floats inside x64, and 32-bit integers outside it."""
    sent = values(dtype)
    framework = framework_named("jax", "cpu")
    with framework.scope([sent]):
        made = framework.argument(sent, view="gaps")
        expected = "int32" if dtype == "int64" else dtype

        assert framework_of(made.array) == "jax"
        assert dtype_name(made.array.dtype) == expected
        assert np.array_equal(made.read(made.array), sent)
        assert not made.written()


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
def test_integers_too_wide_for_jax_stay_numpy(value):
    """JAX without x64 would wrap them silently."""
    made = framework_named("jax", None).argument(np.array([value]))

    assert framework_of(made.array) == "numpy"
    assert made.array.tolist() == [value]


@pytest.mark.parametrize("name", ["numpy", "torch"])
@pytest.mark.parametrize(
    "shape", [(6,), (3, 6), (2, 3, 6), (2, 3, 4, 6), (0, 3, 4, 6), (2, 3, 4, 0)]
)
def test_strided_arguments_are_not_contiguous(name, shape):
    """Every second element of the last axis, and the two axes before it swapped in memory."""
    sent = values("float32", shape)
    made = framework_named(name, None).argument(sent, view="gaps")
    view = made.array if name == "numpy" else made.array.numpy()

    assert np.array_equal(view, sent)
    if sent.size:
        assert view.strides[-1] == 8
        assert not view.flags.c_contiguous
    if sent.ndim >= 3 and sent.size:
        assert view.strides[-3] < view.strides[-2]


def test_gaps_are_watched_and_poisoned():
    """Who reads the gaps of a strided view meets NaN, and who writes there is found out."""
    made = framework_named("numpy", None).argument(values("float32"), view="gaps")

    assert np.isnan(made.backing[..., 1::2]).all()
    made.backing[0, 0, 0, 1] = 0.0
    assert made.written()


@pytest.mark.parametrize("name", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int64"])
def test_writing_is_noticed(name, dtype):
    """One changed element is enough, and so is a changed sign of zero."""
    made = framework_named(name, None).argument(np.zeros_like(values(dtype)))
    made.array[1, 2, 3, 5] = 1 if dtype == "int64" else -0.0

    assert made.written()


def test_donating_is_writing():
    """A JAX array whose memory was given away counts as overwritten."""
    made = framework_named("jax", None).argument(values("float32"))
    made.array.delete()

    assert made.written()


@pytest.mark.parametrize(
    ("array", "device", "line"),
    [
        ("numpy", "cuda", "numpy cannot use device 'cuda' here: NumPy arrays live on the cpu"),
        ("torch", "nowhere", "torch cannot use device 'nowhere' here: "),
        ("torch", "cuda:99", "torch cannot use device 'cuda:99' here: "),
        ("jax", "nowhere", "jax cannot use device 'nowhere' here: "),
        ("jax", "cpu:99", "jax cannot use device 'cpu:99' here: "),
    ],
)
def test_devices_that_are_not_there(array, device, line):
    """A device the framework does not have here makes the target unusable."""
    with pytest.raises(TargetUnusable) as caught:
        framework_named(array, device)

    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_a_framework_that_is_not_installed(monkeypatch):
    """The line says what to install."""
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TargetUnusable) as caught:
        framework_named("torch", None)

    assert str(caught.value) == "torch is not installed: pip install 'ropespec[torch]'"


def test_reading_other_floats():
    """Dtypes that NumPy does not have come back by name, with their values as float64."""
    torch = pytest.importorskip("torch")
    for item, name in [
        (torch.tensor([0.125, -2.0]).to(torch.float8_e4m3fn), "float8_e4m3fn"),
        (np.array([0.125, -2.0], ml_dtypes.float8_e5m2), "float8_e5m2"),
        (np.array([0.125, -2.0], np.longdouble), np.dtype(np.longdouble).name),
        (np.array([0.125, -2.0], object), "object"),
    ]:
        found = Returned.of(item)

        assert found.dtype == name
        assert found.value.dtype == np.float64
        assert found.value.tolist() == [0.125, -2.0]


def test_reading_special_tensors():
    """Tensors that need a gradient or are conjugated lazily are read; abstract ones are not."""
    torch = pytest.importorskip("torch")
    plain = torch.tensor([1.0, 0.0])
    assert Returned.of(plain.clone().requires_grad_()).value.tolist() == [1.0, 0.0]
    assert Returned.of(torch.complex(plain, plain).conj()).value.tolist() == [1 - 1j, 0]

    abstract = Returned.of(plain.to("meta"))
    assert abstract.framework == ""
    assert abstract.value.size == 0
    assert "cannot be read" in abstract.description


@pytest.mark.parametrize(
    ("item", "dtype", "elements", "description"),
    [
        (None, "NoneType", [], "None (NoneType)"),
        (0.5, "float", 0.5, "0.5 (float)"),
        ([1.0, 2.0], "list", [1.0, 2.0], "[1.0, 2.0] (list)"),
        ([[1.0], [2.0, 3.0]], "list", [], "[[1.0], [2.0, 3.0]] (list)"),
        ("y", "str", [], "'y' (str)"),
        (10**400, "int", [], None),
        (
            np.array(["a", "b"]),
            "ndarray",
            [],
            "an array of shape (2,) and dtype str32 that cannot be read: ValueError",
        ),
    ],
)
def test_results_that_are_no_arrays(item, dtype, elements, description):
    """Anything else is described, and is no array."""
    found = Returned.of(item)

    assert (found.framework, found.dtype, found.value.tolist()) == ("", dtype, elements)
    if description is not None:
        assert found.description == description


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda y: np.ma.array(y, mask=True), "it is a masked array"),
        (np.ma.array, "it is a masked array"),
        (lambda y: y.astype(">f4"), "its bytes are in foreign order (>f4)"),
        (
            lambda y: np.broadcast_to(y[0], (10**6, 10**6, 10**3)),
            "its 4000000000000000 bytes are too many to look at",
        ),
    ],
)
def test_arrays_that_are_not_like_x(make, reason):
    """What has values of its own kind only is no array like x, and the description says why."""
    found = Returned.of(make(np.ones(2, np.float32)))

    assert (found.framework, found.value.size) == ("", 0)
    assert found.description.endswith(f" ({reason})")


def test_tensors_that_are_not_like_x():
    """A sparse tensor is not made dense, and one of little memory is not made large."""
    torch = pytest.importorskip("torch")
    sparse = Returned.of(torch.ones(2).to_sparse())
    wide = Returned.of(torch.ones(1).expand(10**6, 10**6, 10**3))

    assert (sparse.framework, wide.framework) == ("", "")
    assert sparse.description.endswith(" (it is not dense (torch.sparse_coo))")
    assert wide.description.endswith(" (its 4000000000000000 bytes are too many to look at)")


def test_results_that_defend_themselves():
    """An object whose representation raises is described by its type."""

    class Shy:
        def __repr__(self):
            raise RuntimeError

    assert Returned.of(Shy()).description == "an object of type Shy"


def test_several_results():
    """A tuple or list with arrays in it is several results; anything else is one."""
    one = np.zeros(2)
    assert len(arrays.results((one, 3))) == 2
    assert len(arrays.results([one, one])) == 2
    assert len(arrays.results((1, 2))) == 1
    assert len(arrays.results([one] * 1000)) == 1
    assert len(arrays.results(())) == 1


def test_overlap():
    """Views share memory with their base, also across frameworks; copies do not."""
    torch = pytest.importorskip("torch")
    base = np.zeros((4, 6), np.float32)
    tensor = torch.from_numpy(base)

    def overlap(first, second):
        return arrays.overlap([arrays.memory_of(first)], [arrays.memory_of(second)])

    assert overlap(base[::2], base)
    assert overlap(base[::-1, ::-2], base)
    assert overlap(tensor[1:, ::2], tensor)
    assert overlap(tensor.numpy(), tensor)
    assert overlap(base, tensor)
    assert not overlap(base.copy(), base)
    assert not overlap(base[:2], base[2:])
    assert not overlap(tensor.clone(), tensor)
    assert not overlap(base[:0], base)
    assert not overlap(tensor[:0], tensor)
    assert not overlap(3.0, base)


def load_request(target):
    """Return the header that has a target loaded."""
    return {"do": "load", "target": target, "style": "", "memory_limit": None}


def test_a_request_for_what_is_not_offered():
    """A function the subject does not have is refused without calling anything."""
    here = worker._Worker()
    target = str(SUBJECTS / "half_numpy.py")
    assert "offers" in here.answer(load_request(f"{target}:apply"), [])[0]
    configure = {"do": "configure", "array": "numpy", "device": None}
    assert "environment" in here.answer(configure, [])[0]
    answer, sent = here.answer(*Question("call", "inv_freq", (4,)).packed())

    assert answer == {"failed": "refused", "message": "the subject does not offer inv_freq"}
    assert sent == []


@pytest.mark.parametrize(
    ("says", "found"), [("", (701, 11, 12)), ("gc.set_threshold(9, 8)", (9, 8))]
)
def test_garbage_is_looked_for_as_a_subject_wants_it(says, found, tmp_path):
    """While it is imported that happens seldom, which none of it sees afterwards."""
    usual = gc.get_threshold()
    file = tmp_path / "found.py"
    lines = (
        "import gc",
        says,
        "seen = gc.get_threshold()",
        "def apply(x, positions):",
        "    return x",
        "PROFILE = {'base': float(seen[0])}",
    )
    file.write_text("\n".join(lines), encoding="utf-8")
    try:
        gc.set_threshold(701, 11, 12)
        told = worker._Worker().answer(load_request(f"{file}:apply"), [])[0]
        after = gc.get_threshold()
    finally:
        gc.set_threshold(*usual)

    assert after[: len(found)] == found
    assert told["profile"]["base"] == (9.0 if says else 100000.0)


def test_a_torch_module_is_a_bare_callable():
    """Its keywords are those of `forward`, and a parameter does not stand in the way."""
    here = worker._Worker()
    found = here.answer(load_request(f"{SUBJECTS}/torch_half.py:Module"), [])[0]
    assert found["offers"] == {"apply_rotary": ["base"]}
    assert found["profile"]["dtypes"] == ["float32", "bfloat16"]
    here.answer({"do": "configure", "array": "torch", "device": None}, [])
    sent = values("float32"), np.zeros((2, 3), np.int64)
    header, plain = Question("call", "apply_rotary", sent).packed()
    answer, (got,) = here.answer({**header, "seq": 1}, plain)

    assert answer["results"][0]["is_array"]
    assert same(got, sent[0])


def test_several_results_share_the_room(monkeypatch):
    """What a frame cannot hold is described, not sent."""
    monkeypatch.setattr(worker, "MOST_BYTES", 100)
    here = worker._Worker()
    items = [np.zeros(6), np.zeros(6), np.zeros(7), np.zeros(0)]
    answer, sent = here._report(1, items, [], framework_named("numpy", None))

    assert [row["is_array"] for row in answer["results"]] == [True, True, False, True]
    assert [one.size for one in sent] == [6, 6, 0, 0]


@pytest.mark.parametrize("array", ["numpy", "torch"])
def test_memory_that_is_never_written_shows(array, tmp_path):
    """It holds a pattern, which no arithmetic makes; what is written, NaN too, is no such."""
    (tmp_path / "found.py").write_text(
        f"import {array} as f\n"
        "def empty(x, positions):\n    return f.empty_like(x)\n"
        "def nan(x, positions):\n    return x * float('nan')\n"
        "def rest(x, positions):\n    y = f.empty_like(x)\n    y[..., 2:] = x[..., 2:]\n"
        "    return y\n",
        encoding="utf-8",
    )
    dtypes, shapes = ["float16", "bfloat16", "float32", "float64"], [(1, 3, 2, 4), (2, 40, 8, 16)]
    profile = Profile.from_mapping({"interleaved": True, "array": array, "dtypes": dtypes})
    shown = {}
    for name in ("empty", "nan", "rest"):
        with Session(f"{tmp_path}/found.py:{name}", profile) as session:
            shown[name] = [
                session.rotate(values(dtype, shape), np.zeros(shape[:2], np.int64)).reply.littered
                for dtype, shape in itertools.product(dtypes, shapes)
            ]

    assert shown == {"empty": [True] * 8, "nan": [False] * 8, "rest": [True] * 8}
