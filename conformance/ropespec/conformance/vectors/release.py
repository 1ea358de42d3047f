"""The set as files: one in safetensors for each vector and dtype, and a manifest of them.

safetensors belongs to the extra `vectors`.
"""

import hashlib
import json
from collections.abc import Iterator
from decimal import Decimal
from importlib import resources
from typing import Any, NamedTuple

from ropespec.conformance.foreign.container import packed
from ropespec.conformance.vectors.chosen import DTYPES, RELEASE, VECTORS, Vector
from ropespec.conformance.vectors.exact import thetas
from ropespec.conformance.vectors.tensors import Arrays, classes, tensors
from ropespec.spec.scaling import check_scaling, words

__all__ = ["COUNT", "MANIFEST", "VECTORS_SCHEMA", "File", "files", "manifest", "vectors_schema"]

VECTORS_SCHEMA = "urn:ropespec:vectors:1"
"""The id of the schema of the manifest."""

MANIFEST = "manifest.json"

COUNT = len(VECTORS) * len(DTYPES)
"""How many files the set has, beside the manifest."""

_DIGITS = 40


class File(NamedTuple):
    """A file of the set, and what the manifest says of it."""

    name: str
    content: bytes
    entry: dict[str, Any]


def vectors_schema() -> dict[str, Any]:
    """Return the JSON schema of the manifest."""
    file = resources.files("ropespec.conformance.report").joinpath("vectors.schema.json")
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content


def files() -> Iterator[File]:
    """Make the files of the set, one after the other."""
    for vector in VECTORS:
        for dtype in DTYPES:
            yield _file(vector, dtype)


def manifest(made: list[File]) -> str:
    """Return the manifest: a JSON document that lists files of the set."""
    document = {
        "schema": VECTORS_SCHEMA,
        "release": RELEASE,
        "vectors": [file.entry for file in made],
    }
    return json.dumps(document, indent=1) + "\n"


def _file(vector: Vector, dtype: str) -> File:
    name = f"{vector.name}-{dtype}.safetensors"
    content = _contained(tensors(vector, dtype), vector, dtype)
    digest = hashlib.sha256(content).hexdigest()
    return File(name, content, {"file": name, "sha256": digest, **_said(vector, dtype)})


def _said(vector: Vector, dtype: str) -> dict[str, Any]:
    """Say how a vector is rotated, in the words of the API and of model configurations."""
    by = vector.convention
    scheme = by.frequencies.scheme
    keywords = by.keywords
    return {
        "clauses": list(vector.clauses),
        "dtype": dtype,
        "head_dim": vector.head_dim,
        "interleaved": keywords["interleaved"],
        "base": keywords["base"],
        "rotary_dim": vector.dim,
        "trailing": by.trailing,
        "sections": list(vector.sections),
        "axis": list(by.axes),
        "scaling": None if scheme is None else words.say(check_scaling(scheme)),
        "gain": _digits(by.frequencies.gain),
        "inv_freq": [_digits(one) for one in thetas(by, vector.dim)],
        "classes": list(classes(dtype)),
    }


def _digits(number: Decimal) -> str:
    return f"{number:.{_DIGITS}g}"


def _contained(arrays: Arrays, vector: Vector, dtype: str) -> bytes:
    # More than one word would come in an order that changes from one process to the next.
    told = {"ropespec": json.dumps(_said(vector, dtype))}
    return packed(arrays, told)
