"""What a worker sends is believed only as far as it can be checked; all else is its own crash."""

import numpy as np
import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.errors import SubjectCrashed, SubjectRaised, TargetUnusable
from ropespec.conformance.subject.frames import Frame, FrameError
from ropespec.conformance.subject.loaded import _Offering
from ropespec.conformance.subject.reply import Reply
from ropespec.conformance.subject.requests import failure
from ropespec.conformance.subject.session import Session, load

X = np.zeros((1, 2, 1, 4))
POSITIONS = np.arange(2)[None]
ROW = {
    "dtype": "float64",
    "is_array": True,
    "device": "",
    "alias": False,
    "reused": False,
    "description": "an array",
}
ANSWER = {
    "seq": 1,
    "results": [ROW],
    "written": [False, False],
    "seconds": 0.5,
    "is_out": False,
    "outside": False,
}


def test_a_good_answer():
    """What the cases below are changes of is read as it is."""
    reply = Reply.of(Frame(dict(ANSWER), (X,)), 2)

    assert (reply.dtypes, reply.is_array, reply.written) == (("float64",), (True,), (False, False))
    assert (reply.seconds, reply.number) == (0.5, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"results": None}, "`results` of type NoneType where a list of 1 to"),
        ({"results": []}, "`results` of type list and size 0 where a list of 1 to"),
        ({"results": [3]}, "`result` of type int where an object belongs"),
        ({"results": [ROW, ROW]}, "2 results with 1 arrays"),
        ({"written": [False]}, "1 results with 1 arrays"),
        ({"written": [0, 0]}, "`written` of type list and size 2 where truth values belong"),
        ({"seconds": "1"}, "`seconds` of type str"),
        ({"seconds": True}, "`seconds` of type bool"),
        ({"seconds": float("nan")}, "`seconds` of type float"),
        ({"seconds": float("inf")}, "`seconds` of type float"),
        ({"seconds": -1}, "`seconds` of type int"),
        ({"seconds": 10**400}, "`seconds` of type int where a number belongs"),
        ({"is_out": "yes"}, "`out` of type list"),
        ({"dtype": "int8"}, "a result of dtype float64 that it calls int8"),
        ({"dtype": None}, "`dtype` of type NoneType where a text belongs"),
        ({"dtype": "a" * 10**4}, "`dtype` of type str and size 10000 where a text belongs"),
        ({"is_array": 1}, "`is_array` of type list and size 1 where truth values belong"),
        ({"alias": None}, "`alias` of type list"),
        ({"reused": "no"}, "`reused` of type list"),
        ({"device": {}}, "`device` of type dict and size 0"),
        ({"description": 7}, "`description` of type int"),
    ],
)
def test_answers_to_a_call_that_do_not_fit(changes, message):
    """Every value has its type and its size, or the frame is none."""
    row = {**ROW, **{key: value for key, value in changes.items() if key in ROW}}
    rest = {key: value for key, value in changes.items() if key not in ROW}
    with pytest.raises(FrameError, match=message):
        Reply.of(Frame({**ANSWER, "results": [row], **rest}, (X,)), 2)


@pytest.mark.parametrize(
    "answer",
    [
        {"failed": "rubbish", "message": ""},
        {"failed": ["raised"], "message": ""},
        {"failed": None, "message": ""},
        {"failed": "raised"},
        {"failed": "refused", "message": 3},
        {"failed": "raised", "message": "", "types": [], "detail": ""},
        {"failed": "raised", "message": "", "types": [3], "detail": ""},
        {"failed": "raised", "message": "", "types": ["E"], "detail": ["x"]},
    ],
)
def test_failures_that_do_not_fit(answer):
    """Nor is every failure one."""
    with pytest.raises(FrameError):
        failure(answer)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"offers": ["apply_rotary"]},
        {"offers": {"apply_rotary": "base"}},
        {"offers": {"apply_rotary": [1]}},
        {"offers": {}, "profile": ["half"]},
        {"offers": {}, "profile": {"a": "b" * 10**4}},
        {"offers": {}, "profile": {"a": [[[[3]]]]}},
        {"offers": {}, "profile": {"a": [0] * 10**4}},
        {"offers": {}, "profile": {"base": 10**400}},
        {"offers": {}, "style": "hf"},
        {"offers": {}, "style": {"style": "hf", "callee": "f", "told": [1], "claims": {}}},
    ],
)
def test_offers_that_do_not_fit(answer):
    """What a worker says of its subject is looked at like the rest."""
    with pytest.raises(FrameError):
        _Offering.of("mine", Frame(answer, ()))


# A subject that puts its own word in place of what the worker would send.
FORGER = """
import os
from ropespec.conformance.subject import frames
real = frames.Channel.send
def send(self, header, arrays=()):
    if {when!r} in header:
        {forge}
    real(self, header, arrays)
frames.Channel.send = send
def apply(x, positions):
    return x + 1
"""


def session(target):
    """Return a session with a subject that answers soon or never."""
    return Session(target, Profile(layouts=(False,)), timeout=10.0)


def forger(folder, when, forge):
    """Write a subject that does something before the answers that have a certain key are sent."""
    (folder / "mine.py").write_text(FORGER.format(when=when, forge=forge))
    return f"{folder}/mine.py:apply"


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        ("header = dict(header, results=7)", "`results` of type int where a list of 1 to 4096"),
        ("header = dict(header, seq=99)", "an answer to another question"),
        ("header = {'seq': header['seq']}; arrays = []", "`results` of type NoneType"),
        (
            "self._socket.sendall(b'\\xff' * 16)",
            "a table of 18446744073709551615 and a header of 18446744073709551615 bytes",
        ),
        (
            "self._socket.sendall(b'\\2' + bytes(7) + b'\\2' + bytes(7) + b'{}{}')",
            "a table that is no list of arrays",
        ),
    ],
)
def test_a_forged_answer_is_a_crash_of_the_subject(tmp_path, forge, message):
    """It is told as what the process sent."""
    with session(forger(tmp_path, "results", forge)) as subject:
        with pytest.raises(SubjectCrashed) as caught:
            subject.rotate(X, POSITIONS)
        assert caught.value.message.startswith(f"its process sent {message}")
        assert caught.value.message.endswith(" in apply_rotary")


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        ("header = {'seq': header['seq']}", "`offers` of type NoneType where an object belongs"),
        (
            "header = dict(header, profile={'a': 10**400})",
            "`PROFILE`, an integer of 1329 bits while",
        ),
        (
            "self._socket.sendall(b'\\xff' * 16)",
            "a table of 18446744073709551615 and a header of 18446744073709551615 bytes",
        ),
        ("header = {}", "an answer to another question"),
    ],
)
def test_a_forged_answer_to_loading_is_told_in_one_line(tmp_path, forge, message):
    """A subject that does so while it is imported cannot be used."""
    with pytest.raises(TargetUnusable, match="cannot be imported: its process sent ") as caught:
        load(forger(tmp_path, "offers", forge))

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_frame_that_is_sent_while_the_subject_is_imported(tmp_path):
    """What lies in the connection before the answer is not the answer."""
    (tmp_path / "mine.py").write_text(
        "import os\n"
        "for number in range(3, 512):\n"
        "    try:\n"
        "        os.write(number, 2 * (2).to_bytes(8, 'little') + b'[]{}')\n"
        "    except OSError:\n"
        "        pass\n"
        "def apply(x, positions): return x\n"
    )
    with pytest.raises(TargetUnusable, match="its process sent an answer to another question"):
        load(f"{tmp_path}/mine.py:apply")


def test_a_reply_sent_twice_does_not_shift_the_next(tmp_path):
    """The second one is no answer to the question after; a fresh worker answers that."""
    forge = "real(self, header, arrays)"
    with session(forger(tmp_path, "results", forge)) as subject:
        assert np.array_equal(subject.rotate(X, POSITIONS).y, X + 1)
        with pytest.raises(SubjectCrashed, match="sent an answer to another question"):
            subject.rotate(X + 1, POSITIONS)
        assert np.array_equal(subject.rotate(X + 2, POSITIONS).y, X + 3)


HOSTILE = """
import numpy as np
class Loud(Exception):
    pass
Loud.__name__ = "L" * 20_000_000
def wide(x, positions):
    return np.broadcast_to(np.float32(0), (10**6, 10**6, 10**3))
def loud(x, positions):
    raise Loud("m" * 50_000_000)
"""


def test_results_and_errors_of_any_size(tmp_path):
    """What is too large to be sent is described, and what is too long is cut; nothing crashes."""
    (tmp_path / "mine.py").write_text(HOSTILE)
    with session(f"{tmp_path}/mine.py:wide") as subject:
        rotated = subject.rotate(X, POSITIONS)
        assert (rotated.shape_ok, rotated.reply.is_array) == (False, (False,))
        (description,) = rotated.reply.descriptions
        assert description == (
            "an array of shape (1000000, 1000000, 1000) and dtype float32 "
            "(its 4000000000000000 bytes are too many to look at)"
        )
    with session(f"{tmp_path}/mine.py:loud") as subject, pytest.raises(SubjectRaised) as caught:
        subject.rotate(X, POSITIONS)
    assert len(caught.value.type_name) == 100
    assert len(caught.value.message) == 1000
