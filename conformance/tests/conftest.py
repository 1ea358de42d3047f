"""A subject in this very process, for tests of single checks: no worker, no frames."""

import importlib.metadata
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.diagnosis.functions import functions
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.profile import Profile
from ropespec.conformance.registry import all_checks
from ropespec.conformance.results import CheckResult, Diagnosis
from ropespec.conformance.runner import Plan, run_check
from ropespec.conformance.spent import Spent
from ropespec.conformance.subject.caller import Caller
from ropespec.conformance.subject.claimed import require_claimed
from ropespec.conformance.subject.loading import DEVICE, keywords_of
from ropespec.conformance.subject.requests import Question
from ropespec.conformance.subject.session import (
    NotClaimed,
    Offer,
    Reply,
    SubjectRaised,
)
from ropespec.conformance.trial import Trial
from ropespec.spec import FUNCTIONS
from ropespec.spec.convention import Convention, Pairing

KEYWORDS = frozenset({"interleaved", "base", "rotary_dim"})
NAMES = tuple(name for names in FUNCTIONS.values() for name in names)
BOTH = (True, False)


@pytest.fixture(autouse=True)
def _compiled_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have programs of JAX compiled without optimisation: here each runs once or twice.

    `backends/tests` compiles them as users do.
    """
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0"
    monkeypatch.setenv("XLA_FLAGS", flags.strip())


@dataclass
class InProcess(Caller):
    """What the checks need of a `Session`, with NumPy functions called directly."""

    functions: Mapping[str, Callable[..., Any]]
    profile: Profile
    keywords: frozenset[str] = KEYWORDS
    target: str = "in process"
    environment: Mapping[str, str] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()
    stragglers: Mapping[str, int] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    timeout: float = 5.0
    until: float = math.inf

    @property
    def offers(self) -> dict[str, Offer]:
        """Every function, each with the keywords that it takes."""
        return {name: Offer(name, self._taken(name)) for name in self.functions}

    def _taken(self, function: str) -> frozenset[str]:
        named = keywords_of(self.functions[function], bare=False)
        return frozenset(named) & (self.keywords | {DEVICE})

    def refresh(self) -> None:
        """Forget nothing: what a function of this process keeps stays."""

    def ask(self, question: Question) -> Reply:
        """Call with copies of the arrays; what is copied for each call keeps no memory."""
        if question.do == "refilled":
            self.ask(replace(question, do="call"))
            question = replace(question, arguments=question.extra)
        elif question.do != "call":
            raise NotClaimed(f"no {question.do} in this process")
        arrays, own = question.arguments, self._taken(question.function)
        require_claimed(self.profile, question, question.packed()[1])
        copies = [item.copy() if isinstance(item, np.ndarray) else item for item in arrays]
        taken = {k: v for k, v in question.keywords.items() if k not in KEYWORDS or k in own}
        try:
            got = self.functions[question.function](*copies, **taken)
        except Exception as error:
            raise SubjectRaised((type(error).__name__,), str(error)) from error
        values = tuple(np.asarray(item) for item in (got if isinstance(got, tuple) else (got,)))
        count = len(values)
        return Reply(
            values=values,
            dtypes=tuple(item.dtype.name for item in values),
            is_array=(True,) * count,
            devices=("",) * count,
            descriptions=tuple(f"shape {v.shape} and dtype {v.dtype.name}" for v in values),
            written=(False,) * len(arrays),
            aliases=(False,) * count,
            seconds=0.0,
        )


class Checks:
    """Runs checks by name on functions of this process."""

    def __init__(self) -> None:
        self.known = {item.id: item for item in all_checks()}

    def ids(self, *prefixes: str) -> list[str]:
        """Return the checks of the clauses with these prefixes, in order."""
        return [name for name in self.known if name.split("-")[0] in prefixes]

    def trial(self, functions: Any, **claims: Any) -> Trial:
        """Return a trial of a module or of a mapping of functions."""
        if not isinstance(functions, Mapping):
            module = functions
            functions = {name: getattr(module, name) for name in NAMES if hasattr(module, name)}
        profile = Profile.from_mapping({"layouts": BOTH, "max_position": 2**17 - 1} | claims)
        # Nothing here can be started afresh, so no failure is tried again.
        return Trial(InProcess(functions, profile), untried=set())  # type: ignore[arg-type]  # stands for a Session

    def run(
        self,
        name: str,
        functions: Any,
        seed: int = 0,
        **claims: Any,
    ) -> CheckResult:
        """Run one check."""
        return run_check(self.known[name], self.trial(functions, **claims), Plan(seed=seed))

    def kills(
        self, name: str, function: str, wrong: Callable[..., Any], **claims: Any
    ) -> CheckResult:
        """Run a check on the reference with one function replaced by a wrong one."""
        functions = {item: getattr(reference, item) for item in NAMES}
        functions[function] = wrong
        return self.run(name, functions, **claims)


class Narrow:
    """Right functions that round after every step: float32 angles, half precision arithmetic.

    With float64 inputs everything is float64. Sums are accumulated in float32 at least.
    """

    @staticmethod
    def _wide(dtype: Any) -> Any:
        return np.float64 if dtype == np.float64 else np.float32

    def cos_sin(
        self, positions: np.ndarray, dim: int, base: float = 10000.0, wide: Any = np.float32
    ) -> tuple[np.ndarray, np.ndarray]:
        """Multiply positions by base^(-2i/d), all of it in one dtype."""
        exponent = np.arange(0, dim, 2).astype(wide) / wide(dim)
        angle = positions[..., None].astype(wide) * wide(base) ** -exponent
        return np.cos(angle), np.sin(angle)

    def sinusoidal_embedding(
        self, positions: np.ndarray, dim: int, base: float = 10000.0
    ) -> np.ndarray:
        """Sines at even, cosines at odd components, float32."""
        cos, sin = self.cos_sin(positions, dim, base)
        return np.stack([sin, cos], axis=-1).reshape(*positions.shape, dim)

    def apply_rotary(
        self,
        x: np.ndarray,
        positions: np.ndarray,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> np.ndarray:
        """Products and sums in the dtype of x, of tables in that dtype."""
        if x.size == 0:
            return x
        dim = x.shape[-1] if rotary_dim is None else rotary_dim
        cos, sin = self.cos_sin(positions, dim, base, self._wide(x.dtype))
        c, s = (part.astype(x.dtype)[..., None, :] for part in (cos, sin))
        by = Convention.of(interleaved=interleaved, rotary_dim=dim)
        x1, x2 = pairs_of(x, by)
        y1, y2 = x1 * c - x2 * s, x1 * s + x2 * c
        return from_pairs(y1, y2, x[..., dim:], by)

    def project_value(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """W x with one store."""
        wide = self._wide(x.dtype)
        return np.tensordot(x.astype(wide), weight.astype(wide), axes=(-1, -1)).astype(x.dtype)

    def project_query(
        self, x: np.ndarray, positions: np.ndarray, weight: np.ndarray, **conventions: Any
    ) -> np.ndarray:
        """Turn a projected vector that has been stored."""
        return self.apply_rotary(self.project_value(x, weight), positions, **conventions)

    project_key = project_query

    def relative_score(
        self, q: np.ndarray, k: np.ndarray, offset: np.ndarray, **conventions: Any
    ) -> np.ndarray:
        """Turn the key, store it, round every product, and accumulate."""
        lead = np.broadcast_shapes(q.shape[:-1], offset.shape)
        key = np.broadcast_to(k, (*lead, k.shape[-1]))[..., None, :]
        turned = self.apply_rotary(key, np.broadcast_to(offset, lead), **conventions)[..., 0, :]
        return (q * turned).astype(self._wide(q.dtype)).sum(axis=-1).astype(q.dtype)

    def attention(
        self,
        q: np.ndarray,
        k: np.ndarray,
        v: np.ndarray,
        *,
        query_positions: np.ndarray,
        key_positions: np.ndarray,
        mask: np.ndarray | None = None,
        **conventions: Any,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Store scores, distances, exponentials and weights in the dtype of q."""
        dtype, wide, heads = q.dtype, self._wide(q.dtype), q.shape[2]
        q = self.apply_rotary(q, query_positions, **conventions)
        k = self.apply_rotary(k, key_positions, **conventions)
        k, v = (np.repeat(x, heads // x.shape[2], axis=2).astype(wide) for x in (k, v))
        scores = np.einsum("bshd,bthd->bhst", q.astype(wide), k).astype(dtype)
        scores = scores / np.sqrt(wide(q.shape[-1])).astype(dtype)
        keep = np.broadcast_to(True if mask is None else mask, scores.shape)
        scores = np.where(keep, scores.astype(wide), -np.inf)
        top = np.max(scores, axis=-1, keepdims=True, initial=-1e4)
        powers = np.exp((scores - top).astype(dtype).astype(wide)).astype(dtype)
        total = powers.astype(wide).sum(axis=-1, keepdims=True)
        weights = (powers.astype(wide) / np.where(total > 0, total, 1)).astype(dtype)
        output = np.einsum("bhst,bthe->bshe", weights.astype(wide), v)
        return output.astype(dtype), weights

    def decay_bound(self, offsets: np.ndarray, dim: int, base: float = 10000.0) -> np.ndarray:
        """Accumulate in float32, one term after the other."""
        cos, sin = (np.cumsum(part, axis=-1) for part in self.cos_sin(offsets, dim, base))
        return np.sqrt(cos**2 + sin**2).mean(axis=-1)

    def sinusoidal_position_embedding(self, b: int, h: int, length: int, dim: int) -> np.ndarray:
        """Repeat the embedding of positions 0..L-1."""
        table = self.sinusoidal_embedding(np.arange(length), dim)
        return np.broadcast_to(table, (b, h, length, dim))

    def precompute_freqs_cis(self, dim: int, end: int, theta: float = 10000.0) -> np.ndarray:
        """Complex64 throughout."""
        cos, sin = self.cos_sin(np.arange(end), dim, theta)
        return (cos + 1j * sin).astype(np.complex64)

    def RoPE(self, q: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turn rows 0..L-1 of each head."""
        q, k = (x.transpose(0, 2, 1, 3) for x in (q, k))
        sides = (self.apply_rotary(x, np.arange(x.shape[1]), interleaved=True) for x in (q, k))
        first, second = (x.transpose(0, 2, 1, 3) for x in sides)
        return first, second

    def apply_rotary_emb(
        self, xq: np.ndarray, xk: np.ndarray, freqs_cis: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Round the table to the dtype of x and multiply in it."""

        def turned(x: np.ndarray) -> np.ndarray:
            c, s = (part.astype(x.dtype)[:, None] for part in (freqs_cis.real, freqs_cis.imag))
            by = Convention(Pairing.INTERLEAVED)
            x1, x2 = pairs_of(x, by)
            y1, y2 = x1 * c - x2 * s, x1 * s + x2 * c
            return from_pairs(y1, y2, x[..., :0], by)

        return turned(xq), turned(xk)


@pytest.fixture(scope="session")
def checks() -> Checks:
    """Return the checks, to be run on functions of this process."""
    return Checks()


@pytest.fixture(scope="session")
def right() -> SimpleNamespace:
    """Return the reference by name, for building wrong implementations from it."""
    return SimpleNamespace(**{name: getattr(reference, name) for name in NAMES})


@pytest.fixture(scope="session")
def narrow() -> Narrow:
    """Return right functions of the least precision that passes."""
    return Narrow()


@pytest.fixture(scope="session")
def run():
    """Return what runs pytest in a folder, in a process of its own, as a user would."""

    def in_folder(folder, *words, **changes):
        # Where the package was installed before it had a plugin, that is named.
        known = importlib.metadata.entry_points(group="pytest11", name="ropespec")
        plugin = () if known else ("-p", "ropespec.pytest_plugin")
        paths = {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200", "PYTEST_ADDOPTS": ""}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, *words],
            cwd=folder,
            env={**os.environ, **paths, **changes},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return in_folder


@pytest.fixture
def diagnosed() -> Callable[..., Any]:
    """Return a function that diagnoses functions of this process."""

    def find(
        profile: Profile, results: Any = (), keywords: Any = None, **functions: Any
    ) -> tuple[Diagnosis, ...]:
        known = {} if keywords is None else {"keywords": keywords}
        return diagnose(InProcess(functions, profile, **known), results)  # type: ignore[arg-type]  # stands for a Session

    return find


FAILED_OF_FUNCTIONS = frozenset(
    {
        "ATT-1.value",
        "ATT-3.weights",
        "FREQ-7.value",
        "FREQ-9.value",
        "ROT-16.dense",
        "ROT-22.value",
        "SIN-1.value",
        "PROJ-1.query",
        "PUB-3.value",
        "REL-5.value",
    }
)


@pytest.fixture
def named() -> Callable[..., list[tuple[str, str, str]]]:
    """Return a function that names what functions of this process do, where neighbours pair."""
    woven = Profile.from_mapping({"interleaved": True})

    def find(**given: Callable[..., Any]) -> list[tuple[str, str, str]]:
        told = functions(InProcess(given, woven), FAILED_OF_FUNCTIONS)  # type: ignore[arg-type]  # stands for a Session
        return [(one.id, one.name, one.where) for one in told]

    return find
