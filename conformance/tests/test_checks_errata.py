import inspect

import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.results import Status
from ropespec.reference.errata import PRINTED
from ropespec.spec.errata import errata
from ropespec.spec.scaling import Linear

ALL = ["float32", "float64", "float16", "bfloat16"]
FORMS = [(function, id_) for function, forms in PRINTED.items() for id_ in forms]
CLAIMS = {"refusals": True, "precision": "float64-angles"}


def check_of(function):
    """Return the check of a function."""
    word = "printed" if function == "apply_rotary" else function.lower().replace("_", "-")
    return f"ERR-1.{word}"


def as_subject(function, form):
    """Give a printed form the signature of the function, and its dtypes to the result."""

    def subject(*arrays, **keywords):
        return form(*arrays, **keywords)

    subject.__signature__ = inspect.signature(getattr(reference, function))
    return subject


@pytest.mark.parametrize("module", [reference, backend], ids=["reference", "numpy"])
def test_right_implementations_pass(checks, module):
    """Neither the reference nor a backend gives a printed form, in any dtype."""
    for name in checks.ids("ERR"):
        found = checks.run(name, module, dtypes=ALL, **CLAIMS)

        assert found.status is Status.PASS, (name, found.message)


def test_rounding_after_every_step_passes(checks, narrow):
    """Half precision arithmetic is no printed form either."""
    for name in checks.ids("ERR"):
        found = checks.run(name, narrow, dtypes=ALL[2:])

        assert found.status in (Status.PASS, Status.SKIP), (name, found.message)


@pytest.mark.parametrize(
    ("function", "id_", "dtype"),
    [
        (*form, dtype)
        for form in FORMS
        for dtype in ("float32", "float64")
        if (form[1], dtype) != ("E-62", "float32")  # where this form is right
    ],
)
def test_a_printed_form_is_named(checks, function, id_, dtype):
    """What computes a printed form fails, and its erratum is named by id and title."""
    subject = as_subject(function, PRINTED[function][id_])
    found = checks.kills(check_of(function), function, subject, dtypes=[dtype], **CLAIMS)

    assert found.status is Status.FAIL, found.message
    assert f"{id_} ({errata()[id_].title})" in found.message


def test_each_function_with_a_printed_form_has_its_check(checks):
    """One check a function, which names the errata it looks for."""
    assert set(checks.ids("ERR")) == {check_of(function) for function in PRINTED}
    for function, forms in PRINTED.items():
        assert set(forms) < set(checks.known[check_of(function)].names)


def test_another_mistake_is_not_named(checks):
    """A rotation that is wrong in its own way is left to the checks of the rotation."""

    def late(x, positions, **conventions):
        return reference.apply_rotary(x, positions + 1, **conventions)

    assert checks.kills("ERR-1.printed", "apply_rotary", late).status is Status.PASS


def test_a_right_scheme_is_no_printed_form(checks):
    """At position 8 of linear, factor 8, m theta is the theta of a document (E-27)."""
    claims = {"scaling": Linear(8.0), "base": 1e6, "head_dims": (256,), "layouts": (False,)}

    def scaled(x, positions, **conventions):
        return reference.apply_rotary_scaled(x, positions, scaling=Linear(8.0), **conventions)

    for seed in range(8):
        found = checks.kills("ERR-1.printed", "apply_rotary", scaled, seed=seed, **claims)
        assert found.status is Status.PASS, (seed, found.message)


def test_a_printed_form_is_named_under_a_scheme(checks):
    """What is copied from a document, and not scaled at all, is named whatever is claimed."""
    form = PRINTED["apply_rotary"]["E-45"]
    subject = as_subject("apply_rotary", form)
    found = checks.kills("ERR-1.printed", "apply_rotary", subject, scaling=Linear(8.0))

    assert "E-45" in found.message


def test_three_axes_are_asked_only_where_refusals_are_promised(checks):
    """Without that promise there is nothing to refuse."""
    found = checks.run("ERR-1.reshape-for-broadcast", reference)

    assert (found.status, found.message) == (Status.SKIP, "refusals not claimed")


def test_a_subject_that_raises_is_no_pass(checks):
    """Only where a refusal is right an error is none."""

    def raises(x, positions, **conventions):
        raise ValueError(f"no {x.shape} and {positions.shape} with {conventions}")

    assert checks.kills("ERR-1.project-key", "project_key", raises).status is Status.ERROR


def test_a_complex_score_is_told_from_its_real_part(checks):
    """A score without its real part is named; the real part of a wrong product as well."""

    def half(q, k, offset, **conventions):
        return PRINTED["relative_score"]["E-22"](q, k, offset, **conventions).real

    subject = as_subject("relative_score", half)
    found = checks.kills("ERR-1.relative-score", "relative_score", subject, dtypes=["float64"])

    assert "E-22" in found.message
    assert np.isrealobj(half(np.ones((1, 2)), np.ones((1, 2)), np.array([1]), interleaved=True))
