"""Styles: signatures of libraries are bound as f(x, positions), and what is wrong is seen."""

from pathlib import Path

import jsonschema
import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.cli import main
from ropespec.conformance.cli.status import UNUSABLE
from ropespec.conformance.grouped import queries
from ropespec.conformance.opening import open_subject
from ropespec.conformance.registry import all_checks
from ropespec.conformance.report.advice import command
from ropespec.conformance.report.document import document, schema
from ropespec.conformance.results import Status
from ropespec.conformance.runner import Plan, run, run_check
from ropespec.conformance.styles import STYLES
from ropespec.conformance.subject.errors import SubjectTimeout, TargetUnusable
from ropespec.conformance.trial import Trial

pytest.importorskip("torch")

SUBJECTS = Path(__file__).parent / "subjects"
STYLED, LLAMA = f"{SUBJECTS}/styled.py", f"{SUBJECTS}/fake_llama.py"
HALF, PAIRS = {"layouts": [False]}, {"layouts": [True]}
NEAR = {"max_position": 32767, "negative_positions": False}
NUMBERS = ("ROT-6.value", "ROT-7.value", "ROT-9.rows", "ROT-17.unwritten", "ROT-19.tokens")

# What is bound, what has to be claimed, by which style, and what follows from it.
RIGHT = [
    (f"{STYLED}:apply_rotary_pos_emb", {}, "hf", {"axes": "bhsd", "layouts": [False]}),
    (f"{STYLED}:heads_alike", {}, "hf", {}),
    (f"{STYLED}:apply_rotary_emb", {}, "meta", {"shared_positions": True, "layouts": [True]}),
    (f"{STYLED}:flash", {}, "flash-attn", {"shared_positions": True, "layouts": [True, False]}),
    (f"{STYLED}:gptj", PAIRS, "flash-attn", {}),
    (f"{STYLED}:tables_of_heads", {}, "hf", {"shared_positions": False}),
    (f"{STYLED}:tables_of_rows", {}, "hf", {"shared_positions": False}),
    (f"{STYLED}:interleaved_tables_of_pairs", {"axes": "bshd"}, "hf", {"layouts": [True]}),
    (f"{STYLED}:both_tables", HALF, "cos-sin", {"axes": "bshd", "shared_positions": True}),
    (f"{STYLED}:looked_up", HALF, "lookup", {"axes": "bhsd", "max_position": 32767}),
    (f"{STYLED}:real_table", {}, "meta", {"layouts": [True]}),
    (f"{STYLED}:angles_of_both", HALF, "te", {}),
    (f"{STYLED}:OffsetOfBoth", HALF, "offset", {"negative_positions": False}),
    (f"{STYLED}:from_0_on", HALF, "implied", {"max_position": 511}),
    (f"{STYLED}:FromZeroOn", HALF, "implied", {"negative_positions": False}),
    (f"{STYLED}:InPlace", {}, "vllm", {"gradients": False, "max_position": 32767}),
    (f"{STYLED}:query_and_key", HALF, "qk", {"axes": "bshd", "negative_positions": True}),
    (f"{STYLED}:QueryAndKey", {}, "qk", {"layouts": [True, False]}),
    (f"{STYLED}:InputPos", {}, "torchtune", {"layouts": [True], "negative_positions": False}),
    (f"{STYLED}:instance", {"style": "torchtune", "head_dims": [8], **NEAR}, "torchtune", PAIRS),
    (f"{STYLED}:Grows", {}, "torchtune", {}),
    (f"{STYLED}:Clamps", {}, "torchtune", {}),
    (f"{STYLED}:Cached", HALF, "offset", {"negative_positions": False, "empty": False}),
    (f"{STYLED}:apply_angles", {}, "te", {"axes": "sbhd", "layouts": [True, False]}),
    (f"{STYLED}:angles_by_heads", HALF, "te", {"axes": "bhsd"}),
    (LLAMA, {}, "hf", {"array": "torch"}),
]


def ids(case):
    """Name a case by its target."""
    return case.rpartition("/")[2] if isinstance(case, str) else ""


def judged(target, claims, only=NUMBERS):
    """Return the verdict on a target."""
    with open_subject(target, claims, 30.0) as session:
        return run(session, Plan(only=only))


@pytest.mark.parametrize(("target", "claims", "style", "follows"), RIGHT, ids=ids)
def test_what_is_right_conforms_without_a_line_of_glue(target, claims, style, follows):
    """The parameters tell the style, and the style what need not be claimed."""
    verdict = judged(target, claims)

    assert [one.message for one in verdict.failures] == []
    assert verdict.style["name"] == style
    assert {name: verdict.profile[name] for name in follows} == follows
    assert verdict.profile["array"] == "torch"


# What is wrong, and a check that fails by it.
WRONG = [
    ("key_forgotten", {}, "ROT-7.value"),
    ("key_by_query", {}, "ROT-7.value"),
    ("key_off_by_one", HALF, "ROT-7.value"),
    ("tables_of_rows_0", {}, "ROT-7.value"),
    ("looked_up_one_late", HALF, "ROT-7.value"),
    ("real_table_swapped", {}, "ROT-6.value"),
    ("from_1_on", HALF, "ROT-9.every"),
    ("writes_from_0_on", HALF, "ROT-17.unwritten"),
    ("written", {}, "ROT-17.unwritten"),
    ("shared", {}, "ROT-17.unwritten"),
    ("conjugate", {}, "ROT-6.value"),
    ("flash_swapped", {}, "ROT-9.every"),
    ("KeyLeft", {}, "ROT-7.value"),
    ("InputPosOff", {}, "ROT-9.every"),
    ("GrowsWrong", {}, "ROT-9.every"),
    ("CachedFirst", HALF, "ROT-9.every"),
    ("CachedGrowsWrong", HALF, "ROT-9.every"),
    ("angles_negative", HALF, "ROT-7.value"),
]


@pytest.mark.parametrize(("name", "claims", "check"), WRONG)
def test_what_is_wrong_fails(name, claims, check):
    """Whatever a style converts, it hides no error: not of k, not in memory, not of an offset."""
    (known,) = (one for one in all_checks() if one.id == check)
    with open_subject(f"{STYLED}:{name}", claims, 30.0) as session:
        result = run_check(known, Trial(session), Plan())

    assert result.status is Status.FAIL


def test_a_broken_offset_is_named():
    """Every token of a call gets the first position: that is what the diagnosis says."""
    verdict = judged(f"{STYLED}:CachedFirst", HALF, ("ROT-7.value", "ROT-9"))

    assert verdict.diagnosis[0].name == "offset"


@pytest.mark.parametrize(
    ("subject", "claims", "check", "name", "where"),
    [
        (
            "CachedGrowsLate",
            HALF | {"max_position": 511},
            "ROT-19.grown",
            "slice moved back",
            "every call",
        ),
        ("key_for_each_query", HALF, "ROT-7.value", "keys rotated for each query", "every call"),
    ],
)
def test_what_a_style_hands_over_is_named(subject, claims, check, name, where):
    """A table that grows a call too late, and heads of k that several of q share."""
    (first, *_) = judged(f"{STYLED}:{subject}", claims, (check,)).diagnosis

    assert (first.name, first.where) == (name, where)


def test_keys_judged_and_heads_that_are_refused_are_told():
    """A function that takes as many heads of k as of q is called so, and the report says it."""
    with open_subject(f"{STYLED}:heads_alike", {}, 30.0) as session:
        assert session.style is not None
        assert "as many heads of k as of q, for fewer were refused" in session.style.told
        session.refresh()
        x, positions = np.ones((1, 2, 3, 8), np.float32), np.array([[0, 5]])
        y = session.rotate(x, positions).y

    expected = reference.apply_rotary(x, positions, interleaved=False)
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-5)


GROUPED = """
import numpy as np


def apply_rotary_pos_emb(q, k, cos, sin):
    if q.shape[1] % k.shape[1]:
        raise ValueError(f"{q.shape[1]} heads of q cannot share {k.shape[1]} of k")

    def turned(x):
        a, b = np.split(x, 2, axis=-1)
        y = x * cos[:, None] + np.concatenate([-b, a], axis=-1) * sin[:, None]
        return y.astype(x.dtype)

    return turned(q), turned(k)
"""


def test_heads_of_q_share_those_of_k_evenly(tmp_path):
    """A kernel of grouped queries is called as a model calls it: 3 heads of q and 2 of k are none.

    Both are judged; what refuses fewer heads of k, as `heads_alike`, is asked for as many.
    """
    (tmp_path / "grouped.py").write_text(GROUPED, encoding="utf-8")
    verdict = judged(f"{tmp_path}/grouped.py", {}, ("ROT-7.value", "ROT-16"))

    assert [one.message for one in verdict.failures] == []
    assert "for fewer were refused" not in " ".join(verdict.style["told"])


UPDATED = """
import torch


class Rotary(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** (-torch.arange(0, dim, 2).double() / dim))

    def forward(self, x, input_pos):
        self.inv_freq.copy_(self.inv_freq * 1)
        angle = (input_pos[..., None] * self.inv_freq)[..., None, :]
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
"""


def test_an_instance_is_made_as_before_a_call(tmp_path):
    """What a style makes in a call that records nothing can be written to by one that does."""
    (tmp_path / "updated.py").write_text(UPDATED, encoding="utf-8")
    claims = {"array": "torch", "layouts": [True]}
    verdict = judged(f"{tmp_path}/updated.py:Rotary", claims, ("ROT-19.unrecorded",))

    assert [one.message for one in verdict.failures] == []
    assert [one.status for one in verdict.checks] == [Status.PASS]


@pytest.mark.parametrize(
    ("heads", "of_q"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (6, 4), (7, 6), (8, 4), (9, 6)]
)
def test_how_many_heads_are_those_of_q(heads, of_q):
    """Groups of one, of two and of all, each of them even."""
    assert queries(heads) == of_q
    assert heads == of_q or of_q % (heads - of_q) == 0


def test_a_module_is_searched_and_its_own_tables_are_used():
    """What was found and what was converted stands in the report and in the document."""
    claims = {"base": 500.0, "rotary_dim": 8, "head_dims": [16]}
    verdict = judged(LLAMA, claims, ("ROT-7.value",))
    written = document(verdict)
    jsonschema.Draft202012Validator(schema()).validate(written)
    style = written["style"]

    assert verdict.conforms
    assert style["callee"] == "apply_rotary_pos_emb"
    assert style["told"] == [
        "q and k: the first of the heads and the rest, as many, half as many or one",
        "tables by FakeRotaryEmbedding(FakeConfig(head_dim=..., rope_parameters=...))",
        "only the components that rotate are handed over",
        "x handed over as (B, H, S, D)",
    ]


def test_sections_and_the_configuration_of_a_part_are_given():
    """The annotated configuration is of a whole model; what has the sizes is made, by sections."""
    claims = {"sections": [1, 1, 2], "head_dims": [8]}
    verdict = judged(f"{SUBJECTS}/fake_qwen.py", claims, ("ROT-7.value", "AXES-2"))

    assert [one.message for one in verdict.failures] == []
    assert any("FakeQwenTextConfig(hidden_size=..., rope" in one for one in verdict.style["told"])


NAMESAKES = """
import torch
class RoPE(torch.nn.Module):
    def __init__(self, dim): super().__init__()
    def forward(self, x, positions): return x
def precompute_freqs_cis(seq, dim, theta): return None
def apply_rotary_emb(x, cos, sin, interleaved=False): return x
"""


def test_a_name_that_documents_print_is_not_what_they_print(tmp_path):
    """A function of three arrays called `apply_rotary_emb` is not asked to take q, k and a table.

    Where it takes what is printed, as in the other module, it is asked to.
    """
    (tmp_path / "namesakes.py").write_text(NAMESAKES, encoding="utf-8")
    with open_subject(f"{tmp_path}/namesakes.py", {}, 30.0) as session:
        assert session.style is not None
        assert session.style.callee == "apply_rotary_emb"
        assert {*session.offers} == {"apply_rotary"}
    with open_subject(STYLED, {}, 30.0) as session:
        assert {*session.offers} == {"apply_rotary", "apply_rotary_emb"}


def test_what_is_claimed_wins():
    """A style claims what follows from it where nothing else is claimed."""
    claims = {"axes": "bshd", "layouts": [False], "dtypes": ["bfloat16"]}
    verdict = judged(f"{STYLED}:apply_rotary_pos_emb", claims, ("ROT-7.value",))

    assert verdict.conforms
    assert verdict.profile["axes"] == "bshd"
    assert "x handed over as (B, S, H, D)" in verdict.style["told"]
    again = command("check", "it", verdict.profile, verdict.style)
    assert again == "ropespec check it --axes bshd --dtype bfloat16"


UNBOUND = [
    ("weighted", "", "cannot be called as f(x, positions); its parameters are tensor, amount"),
    ("flash", "hf", "style hf does not fit: no parameter takes k (k or xk or key)"),
    ("apply_rotary_pos_emb", "meta", "its parameters are q, k, cos, sin, unsqueeze_dim"),
    ("turned_by", "torchtune", "it binds classes and their instances; leave --style out for f("),
    ("turned_alone", "", "cannot be called as f(x, positions); its parameters are x"),
    ("turned_alone", "implied", "a function of x alone may be anything: this one takes no base"),
    ("weighted", "offset", "style offset does not fit: no parameter takes offset"),
]


@pytest.mark.parametrize(("name", "style", "said"), UNBOUND)
def test_what_no_style_binds_is_said(name, style, said):
    """The parameters, and the one that is missing for the style that was named."""
    claims = HALF | ({"style": style} if style else {})
    with pytest.raises(TargetUnusable) as caught:
        open_subject(f"{STYLED}:{name}", claims, 30.0).close()

    assert said in str(caught.value)


SLOW = """
import time


def slow(x, offset=0):
    time.sleep(0.02)
    return x


def hangs(x, offset=0):
    time.sleep(5.0)
    return x
"""


def test_the_deadline_of_a_call_counts_the_runs_of_its_positions(tmp_path):
    """A call that is a hundred of the subject has the time of a hundred; one that hangs has not."""
    (tmp_path / "found.py").write_text(SLOW, encoding="utf-8")
    claims = HALF | {"style": "offset", "negative_positions": False}
    x = np.ones((1, 100, 1, 4), np.float32)
    apart, together = 2 * np.arange(100)[None], np.arange(100)[None]

    with open_subject(f"{tmp_path}/found.py:slow", claims, 1.0) as session:
        assert session.rotate(x, apart).reply.seconds > 1.0
    with (
        open_subject(f"{tmp_path}/found.py:hangs", claims, 1.0) as session,
        pytest.raises(SubjectTimeout),
    ):
        session.rotate(x, together)


def test_a_style_that_there_is_not_is_refused(capsys):
    """On the command line the styles are listed, elsewhere too."""
    assert main(["check", f"{STYLED}:flash", "--style", "jazz"]) == UNUSABLE
    assert ", ".join(f"'{name}'" for name in STYLES) in capsys.readouterr().err
    with pytest.raises(
        TargetUnusable, match="no style is called 'jazz'; there are hf, lookup, meta"
    ):
        open_subject(f"{STYLED}:flash", {"style": "jazz"}, 30.0)


def test_a_module_in_which_nothing_can_be_bound_is_refused(tmp_path):
    """One line, which names a function that is there."""
    (tmp_path / "no_rope.py").write_text("def other(a, b, c):\n    return a\n", encoding="utf-8")
    with pytest.raises(TargetUnusable, match=r"offers no function of the API.*no_rope.py:other"):
        open_subject(f"{tmp_path}/no_rope.py", HALF, 30.0)
