import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import ropespec.backends.torch as backend
from ropespec.backends.torch import turns
from ropespec.spec.axes import Sections
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError
from ropespec.spec.scaling import Linear

# The meta device computes shapes, dtypes and devices alone, so it needs no GPU to find a mixture.
META, CPU = torch.device("meta"), torch.device("cpu")
COPIES = ("aten::_to_copy", "aten::copy_")
SCALING, AXES = Linear(2.0), Sections((2, 2))
FROM_NUMBERS = {
    "inv_freq": lambda device: backend.inv_freq(8, device=device),
    "inv_freq_scaled": (lambda device: backend.inv_freq_scaled(8, scaling=SCALING, device=device)),
    "precompute_freqs_cis": lambda device: backend.precompute_freqs_cis(8, 3, device=device),
    "sinusoidal_position_embedding": (
        lambda device: backend.sinusoidal_position_embedding(2, 1, 3, 8, device)
    ),
}
FROM_LISTS = {
    "cos_sin": lambda m: backend.cos_sin(m, 8),
    "sinusoidal_embedding": lambda m: backend.sinusoidal_embedding(m, 8),
    "rotation_matrix": lambda m: backend.rotation_matrix(m, 8, interleaved=False),
    "decay_bound": lambda m: backend.decay_bound(m, 8),
    "cos_sin_scaled": lambda m: backend.cos_sin_scaled(m, 8, scaling=SCALING),
    "cos_sin_axes": lambda m: backend.cos_sin_axes([m, m], 8, axes=AXES),
}


class OneDevice(TorchDispatchMode):
    """Refuses operations on tensors of several devices, but for copies; meta takes some of them."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Look at the devices of all tensors before the operation runs."""
        given = tree_leaves((args, kwargs or {}))
        found = {value.device for value in given if isinstance(value, torch.Tensor)}
        assert len(found) < 2 or func.name().split(".")[0] in COPIES, (func.name(), found)
        return func(*args, **kwargs or {})


def calls(device, other):
    """List calls of every function that takes arrays: what is rotated here, by how much there."""
    x, q = torch.ones(2, 3, 4, 8, device=device), torch.ones(2, 4, 3, 8, device=device)
    m, cos_sin = torch.tensor([4, -2, 9], device=other), torch.ones(2, 3, 4, device=other)
    rows = torch.stack([m, m + 1])
    k, v = x[:, :, :2], torch.ones(2, 3, 2, 6, device=device)
    tokens, weight = torch.ones(2, 3, 5, device=device), torch.ones(4, 8, 5, device=device)
    freqs = torch.ones(3, 4, dtype=torch.complex64, device=other)
    z = torch.ones(2, 3, 4, 4, dtype=torch.complex64, device=device)
    large = torch.ones(2**14, 3, 1, 8, device=device)
    mask = torch.ones(3, 3, dtype=torch.bool, device=device)
    whole, part = {"interleaved": True}, {"interleaved": False, "rotary_dim": 4}
    at = {"query_positions": m, "key_positions": m}
    return [
        ("angles", (m.to(device), torch.ones(4, device=other)), {}),
        *((name, (m.to(device), 8), {}) for name in ("cos_sin", "sinusoidal_embedding")),
        ("rotation_matrix", (m.to(device), 8), whole),
        ("decay_bound", (m.to(device), 8), {}),
        ("cos_sin_scaled", (m.to(device), 8), {"scaling": SCALING}),
        ("cos_sin_axes", (rows.to(device), 8), {"axes": AXES}),
        ("apply_rotary_scaled", (x, m), {**part, "scaling": SCALING}),
        ("apply_rotary_axes", (x, rows), {**whole, "axes": AXES}),
        ("to_complex", (x,), {}),
        ("from_complex", (z,), {}),
        ("interleaved_to_half", (x,), {}),
        ("half_to_interleaved", (x,), {}),
        ("apply_rotary", (x, m), whole),
        ("apply_rotary", (x, m), part),
        ("apply_rotary", (x[:, :1], m[:1]), {"interleaved": False}),
        ("apply_rotary", (x[:, :1], m[:1] + 2**62), {"interleaved": False}),
        ("apply_rotary", (x, m), {**part, "out": torch.empty_like(x)}),
        *(("apply_rotary", (large, m), options) for options in (whole, part)),
        ("apply_rotary", (large.bfloat16(), m), part),
        ("apply_rotary_dense", (x, m), part),
        ("apply_rotary_complex", (x, m), {"rotary_dim": 4}),
        ("apply_rotary_cos_sin", (x, *cos_sin), whole),
        ("apply_rotary_cos_sin", (x, *cos_sin[..., :2]), {"interleaved": False}),
        *((name, (tokens, m, weight), part) for name in ("project_query", "project_key")),
        ("project_value", (tokens, weight), {}),
        ("relative_score", (x[0], x[1], m[:, None]), part),
        ("attention", (x, k, v), {**at, **part, "mask": mask}),
        ("RoPE", (q, q[:, :2]), {}),
        ("reshape_for_broadcast", (freqs.to(device), z), {}),
        ("apply_rotary_emb", (x, k, freqs), {}),
    ]


INDICES = pytest.mark.parametrize(
    "index", range(len(calls(META, META))), ids=lambda i: f"{i}-{calls(META, META)[i][0]}"
)


def results(call):
    name, arguments, keywords = call
    found = getattr(backend, name)(*arguments, **keywords)
    return found if isinstance(found, tuple) else (found,)


def listed(call):
    """Replace the positions of a call by a list, where the device is known without them."""
    name, arguments, keywords = call

    def one(value):
        positions = isinstance(value, torch.Tensor) and value.dtype == torch.int64
        known = name not in (*FROM_LISTS, "angles")
        return value.tolist() if positions and known else value

    return name, [one(a) for a in arguments], {key: one(a) for key, a in keywords.items()}


def test_calls_name_every_function():
    """Those that take arrays and those that take numbers are the whole API."""
    assert {name for name, _, _ in calls(META, META)} | set(FROM_NUMBERS) == set(backend.__all__)


@INDICES
@pytest.mark.parametrize("other", [META, CPU])
def test_results_lie_where_the_first_array_does(index, other):
    """API-2: a list, or positions and tables on another device, follow; nothing is mixed."""
    plain = results(calls(CPU, CPU)[index])
    asked = [calls(META, other)[index]]
    if other == CPU:
        asked.append(listed(asked[0]))
    for call in asked:
        alone = results(call)
        with OneDevice():
            watched = results(call)
        for one, two, expected in zip(alone, watched, plain, strict=True):
            assert one.device == two.device == META
            assert (one.shape, one.dtype) == (expected.shape, expected.dtype)


@INDICES
def test_a_second_call_takes_nothing_from_the_host(monkeypatch, index):
    """With T_i on the device no call copies to it or waits for it: a CUDA graph can hold it.

    What a meta tensor holds cannot be read, so a call that looked at numbers would fail.
    """
    call = calls(META, META)[index]
    results(call)

    def refused(*_arguments, **_options):
        msg = "numbers of the host were copied to the device"
        raise AssertionError(msg)

    for name in ("tensor", "as_tensor", "from_numpy"):
        monkeypatch.setattr(torch, name, refused)
    monkeypatch.setattr(turns, "_tensor", refused)
    results(call)


def test_compiled_code_holds_what_it_needs():
    """Compiled code makes T_i of no numbers, takes them twice, and stays as others come."""
    graphs = []

    def keep(graph, _inputs):
        graphs.append(graph)
        return graph

    def both(q, k, m):
        turned = (backend.apply_rotary(one, m, interleaved=True) for one in (q, k))
        return *turned, backend.cos_sin(m, 8)

    torch.compiler.reset()
    q, m = torch.ones(3, 4, 8), torch.arange(3)
    compiled = torch.compile(both, backend=keep, fullgraph=True)
    compiled(q, q[:, :1], m)
    for base in (20000.0, 30000.0):
        turns._hold(CPU, 8, base)
    compiled(q, q[:, :1], m)
    (graph,) = graphs
    assert not any(node.target in {torch.tensor, torch.as_tensor} for node in graph.graph.nodes)


def test_turns_are_never_forgotten():
    """A captured graph may hold the address of T_i: a table stays, however many come after it."""
    first = turns.turns_on(CPU, 128, 10000.0)
    for step in range(3000):
        turns.turns_on(CPU, 128, 20000.0 + step)

    assert turns.turns_on(CPU, 128, 10000.0) is first


def test_a_mixture_is_seen():
    """Products of matrices on two devices, which meta takes, are refused by the watch."""
    one, other = torch.ones(2, 3, device=META), torch.ones(3, 2)
    assert (one @ other).device == META
    with OneDevice(), pytest.raises(AssertionError, match="aten::mm"):
        _ = one @ other


def test_angles_of_a_list_lie_with_the_frequencies():
    """API-2: numbers follow the one array that there is."""
    assert backend.angles([4, -2], torch.ones(4, device=META)).device == META
    assert backend.angles(7, torch.ones(4)).device == CPU


@pytest.mark.parametrize("name", FROM_NUMBERS)
def test_results_of_numbers_lie_where_they_are_asked_for(name):
    """API-2: `device` in every form that torch takes; without it the default device."""
    make = FROM_NUMBERS[name]
    with OneDevice():
        assert make("meta").device == make(META).device == META
        assert make(None).device == make("cpu").device == CPU
        with META:
            assert make(None).device == META
            assert make("cpu").device == CPU


@pytest.mark.parametrize("name", FROM_LISTS)
def test_results_of_a_list_lie_on_the_default_device(name):
    """API-2: positions that are no tensor have no device; those of a tensor keep theirs."""
    for positions in ([4, -2], torch.tensor([4, -2]).numpy(), 3):
        for default in (CPU, META):
            with default:
                found = FROM_LISTS[name](positions)
                found = found if isinstance(found, tuple) else (found,)
                assert {one.device for one in found} == {default}


@INDICES
def test_the_default_device_is_not_that_of_arrays(index):
    """API-2: a default device that holds nothing changes no bit of what is made of arrays."""
    plain = results(calls(CPU, CPU)[index])
    for call in (calls(CPU, CPU)[index], listed(calls(CPU, CPU)[index])):
        with META:
            found = results(call)
        assert {one.device for one in found} == {CPU}
        assert all(torch.equal(one, other) for one, other in zip(found, plain, strict=True))


def test_a_table_of_the_default_device_may_be_multiplied_anywhere():
    """PUB-5: `precompute_freqs_cis` without a device serves arrays on every device."""
    freqs = backend.precompute_freqs_cis(8, 3)
    xq = torch.ones(2, 3, 4, 8, device=META)
    assert {one.device for one in backend.apply_rotary_emb(xq, xq, freqs)} == {META}
    with pytest.raises(RuntimeError, match="not on the expected device"):
        _ = backend.to_complex(xq) * freqs[:, None]


def test_what_is_rotated_is_not_moved():
    """API-2: x, q, k, v, weight and mask lie on one device, or torch says that they do not."""
    x, there = torch.ones(2, 3, 4, 8), torch.ones(2, 3, 4, 8, device=META)
    with pytest.raises(RuntimeError, match="not on the expected device|meta"):
        backend.relative_score(x, there, 1, interleaved=True)
    with pytest.raises(ArgumentValueError, match="out must be on the device of x"):
        backend.apply_rotary(x, [0, 1, 2], interleaved=True, out=there)


@pytest.mark.parametrize("name", FROM_NUMBERS)
def test_unknown_devices_are_refused(name):
    """API-2: in the words of the specification, with what torch says as the cause."""
    with pytest.raises(ArgumentTypeError, match="device must be None or what torch.device takes"):
        FROM_NUMBERS[name](1.5)
    for device in ("no such device", "", -1):
        with pytest.raises(ArgumentValueError, match="device must be None or what") as caught:
            FROM_NUMBERS[name](device)
        assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_device_may_be_named_in_compiled_code():
    """API-2: tracing sees through the choice of the device."""

    def scaled(x):
        return x * backend.inv_freq(8, device="cpu") * backend.inv_freq(8, device=x.device)

    compiled = torch.compile(scaled, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(torch.ones(4)), scaled(torch.ones(4)))
