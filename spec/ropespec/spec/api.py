"""The functions that the reference and every backend offer, with their exact signatures.

Shapes: B batch, S sequence, H heads, D head_dim, r = rotary_dim (even, at most D).
`x` is (..., S, H, D); `positions` is integer, (S,) or (..., S).
`interleaved` is keyword-only and has no default: nothing in this field is got wrong more often.
"""

from typing import Any, Protocol

__all__ = ["CHAPTERS", "FUNCTIONS", "PARTS", "RopeAPI"]

Array = Any  # an array of the implementation's framework
Device = Any  # what the framework takes for a device; None is its default device

PARTS: dict[str, tuple[str, ...]] = {
    "RoPE": (
        "conventions",
        "frequencies",
        "sinusoidal",
        "complex_plane",
        "rotation",
        "projection",
        "relative",
        "derivation",
        "attention",
        "parallelism",
        "decay",
        "published",
        "errata",
        "disagreements",
        "names",
        "weights",
    ),
    "The API": ("contract",),
    "Judging": ("judging",),
}
"""The parts: what RoPE is, what an implementation promises, when it is right."""

CHAPTERS = tuple(chapter for chapters in PARTS.values() for chapter in chapters)
"""The chapters in reading order."""

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "frequencies": ("inv_freq", "angles", "cos_sin"),
    "sinusoidal": ("sinusoidal_embedding",),
    "complex_plane": ("to_complex", "from_complex"),
    "rotation": (
        "rotation_matrix",
        "apply_rotary_dense",
        "apply_rotary",
        "apply_rotary_cos_sin",
        "apply_rotary_complex",
        "interleaved_to_half",
        "half_to_interleaved",
    ),
    "projection": ("project_query", "project_key", "project_value"),
    "relative": ("relative_score",),
    "attention": ("attention",),
    "decay": ("decay_bound",),
    "published": (
        "sinusoidal_position_embedding",
        "RoPE",
        "precompute_freqs_cis",
        "reshape_for_broadcast",
        "apply_rotary_emb",
    ),
}
"""The functions of the shared API by chapter; chapters that are not listed offer none."""


class RopeAPI(Protocol):
    """The shared API as a protocol: a module that has these functions is an implementation.

    What each function computes is written in the chapter that carries its name; the clause ids
    stand in the docstrings of the reference.
    """

    def inv_freq(self, dim: int, base: float = 10000.0, *, device: Device = None) -> Array:
        """theta_i = base^(-2i/dim), i = 0..dim/2-1: shape (dim/2,), radians per position."""
        ...

    def angles(self, positions: Array, inv_freq: Array) -> Array:
        """m * theta_i in radians: positions.shape + (dim/2,)."""
        ...

    def cos_sin(self, positions: Array, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
        """Return cos and sin of m * theta_i: two arrays of positions.shape + (dim/2,)."""
        ...

    def sinusoidal_embedding(self, positions: Array, dim: int, base: float = 10000.0) -> Array:
        """Sines at even, cosines at odd components: positions.shape + (dim,)."""
        ...

    def to_complex(self, x: Array) -> Array:
        """Pairs (x_2i, x_2i+1) as x_2i + i x_2i+1: (..., d) to (..., d/2) complex."""
        ...

    def from_complex(self, z: Array) -> Array:
        """Undo `to_complex`: (..., d/2) complex to (..., d)."""
        ...

    def rotation_matrix(
        self, positions: Array, dim: int, *, interleaved: bool, base: float = 10000.0
    ) -> Array:
        """Return the dense R_m: positions.shape + (dim, dim)."""
        ...

    def apply_rotary_dense(
        self,
        x: Array,
        positions: Array,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Array:
        """R_m x by the dense matrix; shape and dtype of x."""
        ...

    def apply_rotary(
        self,
        x: Array,
        positions: Array,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Array:
        """R_m x by the sparse form, the operation itself; shape and dtype of x."""
        ...

    def apply_rotary_cos_sin(self, x: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
        """R_m x from tables (S, r/2) or (..., S, r/2); the first r components turn."""
        ...

    def apply_rotary_complex(
        self, x: Array, positions: Array, *, base: float = 10000.0, rotary_dim: int | None = None
    ) -> Array:
        """R_m x as multiplication by e^{i m theta}, interleaved; shape and dtype of x."""
        ...

    def interleaved_to_half(self, x: Array) -> Array:
        """Components (0, 2, ..., d-2, 1, 3, ..., d-1) of the last axis."""
        ...

    def half_to_interleaved(self, x: Array) -> Array:
        """Undo `interleaved_to_half`."""
        ...

    def project_query(
        self,
        x: Array,
        positions: Array,
        weight: Array,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Array:
        """f_q = R_m W x: x (..., S, d_in), weight (H, D, d_in) to (..., S, H, D)."""
        ...

    def project_key(
        self,
        x: Array,
        positions: Array,
        weight: Array,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Array:
        """f_k = R_n W x, the same map with the key's weight and position."""
        ...

    def project_value(self, x: Array, weight: Array) -> Array:
        """f_v = W x, not rotated: x (..., S, d_in), weight (H, D, d_in) to (..., S, H, D)."""
        ...

    def relative_score(
        self,
        q: Array,
        k: Array,
        offset: Array,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Array:
        """q^T R_offset k with offset = n - m: q, k (..., D), offset broadcasts to (...)."""
        ...

    def attention(
        self,
        q: Array,
        k: Array,
        v: Array,
        *,
        query_positions: Array,
        key_positions: Array,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
        mask: Array | None = None,
    ) -> tuple[Array, Array]:
        """softmax(QK^T / sqrt(D)) V with rotated q (..., S, H, D) and k (..., T, G, D).

        v is (..., T, G, E) and is not rotated; H is a multiple of G, and query head h attends with
        key head h // (H/G). `mask` broadcasts to (..., H, S, T), True = may attend; a row that may
        attend nowhere gives zeros. Returns output (..., S, H, E) and weights (..., H, S, T).
        """
        ...

    def decay_bound(self, offsets: Array, dim: int, base: float = 10000.0) -> Array:
        """Mean of abs(S_j), j = 1..dim/2, per offset: offsets.shape."""
        ...

    def sinusoidal_position_embedding(
        self, batch_size: int, nums_head: int, max_len: int, output_dim: int, device: Device
    ) -> Array:
        """As document 004 names and shapes it: (B, H, L, d)."""
        ...

    def RoPE(self, q: Array, k: Array) -> tuple[Array, Array]:
        """`RoPE(q, k)` of document 004: (B, H, L, d), positions 0..L-1, interleaved."""
        ...

    def precompute_freqs_cis(
        self, dim: int, end: int, theta: float = 10000.0, *, device: Device = None
    ) -> Array:
        """e^{i m theta_i} for m = 0..end-1: complex (end, dim/2)."""
        ...

    def reshape_for_broadcast(self, freqs_cis: Array, x: Array) -> Array:
        """(S, c) to (1, S, 1, c) for x of shape (B, S, H, c)."""
        ...

    def apply_rotary_emb(self, xq: Array, xk: Array, freqs_cis: Array) -> tuple[Array, Array]:
        """Rotate xq and xk of shape (B, S, H, d), interleaved, by freqs_cis of shape (S, d/2)."""
        ...
