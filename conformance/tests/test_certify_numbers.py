"""Proof over a range where tokens have several position numbers: each of them is walked."""

import json

import jsonschema
import pytest

from ropespec.conformance.certify.block import judged
from ropespec.conformance.certify.found import Tally
from ropespec.conformance.certify.plan import POSITIONS, VALUES
from ropespec.conformance.certify.prove import Certificate, planned
from ropespec.conformance.opening import open_subject
from ropespec.conformance.report.certificate import (
    certificate_document,
    certificate_schema,
    headline,
)
from ropespec.conformance.trial import Trial

SUBJECTS = """
import numpy as np

PROFILE = {"interleaved": False, "head_dim": 8, "max_position": 1023, "sections": [1, 2, 1]}


def apply(x, positions):
    n = x.shape[-1]
    number = np.moveaxis(positions[[0, 1, 1, 2]], 0, -1)[..., None, :]
    angle = number * 10000.0 ** (-np.arange(0, n, 2) / n)
    a, b = np.split(x.astype(np.float64), 2, -1)
    cos, sin = np.cos(angle), np.sin(angle)
    y = np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)
    return y.astype(x.dtype)


def text_alone(x, positions):
    return apply(x, np.stack([positions[0]] * 3))


def one_number_of_an_image(x, positions):
    time, height, width = positions
    return apply(x, np.stack([time, np.where(height == 700, time, height), width]))


def another_number(x, positions):
    time, height, width = positions
    return apply(x, np.stack([time + (width == 901) * (width != time), height, width]))
"""

EQUAL, TIME, HEIGHT, WIDTH = "equal", "p, 512, 853", "170, p, 853", "170, 512, p"


@pytest.fixture
def subject(tmp_path):
    """Return a function from the name of a subject to its target."""
    file = tmp_path / "subjects.py"
    file.write_text(SUBJECTS)
    return lambda name: f"{file}:{name}"


def proved(target, claims):
    """Return the certificate of all positions that are claimed, made in this process."""
    plan = planned(target, claims, 10.0, positions=(0, 1024))
    tallies = [Tally() for _ in plan.settings]
    with open_subject(target, claims, 10.0) as session:
        trial = Trial(session)
        for block in plan.blocks():
            tallies[plan.setting_of(block.number)].add(judged(trial, block))
    return Certificate(plan, tuple(tallies), 1, 0.0, 0)


@pytest.mark.parametrize(
    ("name", "off"),
    [
        ("apply", {}),
        ("text_alone", {TIME: 0, HEIGHT: 0, WIDTH: 0}),
        ("one_number_of_an_image", {HEIGHT: 700}),
        ("another_number", {WIDTH: 901}),
    ],
)
def test_each_number_is_walked(subject, name, off):
    """What is right in text alone is off where numbers differ, and the position is told."""
    found = proved(subject(name), {})
    seen = {
        one.walk: tally.first
        for one, tally in zip(found.plan.settings, found.tallies, strict=True)
        if not tally.holds
    }

    assert [one.walk for one in found.plan.settings] == [EQUAL, TIME, HEIGHT, WIDTH]
    assert seen == off
    assert found.holds == (not off)


def test_the_certificate_says_what_was_walked(subject):
    """In its first line, and by setting in a document that is valid."""
    found = proved(subject("apply"), {})
    document = json.loads(json.dumps(certificate_document(found)))

    jsonschema.validate(document, certificate_schema())
    assert [one.get("numbers") for one in document["settings"]] == [
        *(None, [None, 512, 853], [170, None, 853], [170, 512, None])
    ]
    assert "at all positions 0..1023 of 3 numbers, each and together" in headline(found)


def test_numbers_of_a_half_dtype_are_tried_once(subject):
    """They say nothing of which position number a pair follows."""
    plan = planned(subject("apply"), {"dtypes": ["bfloat16"]}, 10.0, positions=(0, 1024))
    kinds = [(one.kind, one.setting.walk) for one in plan.blocks()]

    assert len([kind for kind, _ in kinds if kind == POSITIONS]) == 4
    assert {walk for kind, walk in kinds if kind == VALUES} == {EQUAL}
