"""The code functions of document 004, corrected where they do not run (chapter `published`)."""

from ropespec.backends.derived.complex_plane import as_complex, as_real
from ropespec.backends.derived.part import Array, Bound
from ropespec.backends.derived.sinusoidal import Sinusoidal
from ropespec.spec.api import ArrayT, Device
from ropespec.spec.arguments import check_dim, check_size
from ropespec.spec.published_arguments import check_freqs_cis, check_rope, check_rotary_emb

__all__ = ["Published"]

BASE = 10000.0
"""The base of the documents, which `RoPE` leaves no choice of."""


class Published(Sinusoidal[ArrayT]):
    """The chapter's functions."""

    def sinusoidal_position_embedding(
        self, batch_size: int, nums_head: int, max_len: int, output_dim: int, device: Device
    ) -> ArrayT:
        batch, heads = check_size("batch_size", batch_size), check_size("nums_head", nums_head)
        length, dim = check_size("max_len", max_len), check_dim(output_dim, "output_dim")
        table = self.sinusoidal_embedding(self._of.counted(length, device), dim)
        return self._of.run(_repeated, table, shape=(batch, heads, length, dim))

    def RoPE(self, q: ArrayT, k: ArrayT) -> tuple[ArrayT, ArrayT]:
        self._of.check_array("q", q)
        self._of.check_array("k", k)
        check_rope(q, k)
        return self._of.run(_rows_turned, q), self._of.run(_rows_turned, k)

    def precompute_freqs_cis(
        self, dim: int, end: int, theta: float = 10000.0, *, device: Device = None
    ) -> ArrayT:
        of = self._of
        dim, end, base = check_dim(dim), check_size("end", end), of.base_of(theta, "theta")
        return of.run(_unit, of.turning(of.counted(end, device), dim, base))

    def reshape_for_broadcast(self, freqs_cis: ArrayT, x: ArrayT) -> ArrayT:
        self._of.check_array("freqs_cis", freqs_cis)
        self._of.check_array("x", x)
        check_freqs_cis(freqs_cis, x)
        wide: ArrayT = _over_batch_and_heads(freqs_cis)
        return wide

    def apply_rotary_emb(self, xq: ArrayT, xk: ArrayT, freqs_cis: ArrayT) -> tuple[ArrayT, ArrayT]:
        of = self._of
        for name, value in (("xq", xq), ("xk", xk), ("freqs_cis", freqs_cis)):
            of.check_array(name, value)
        check_rotary_emb(xq, xk, freqs_cis)
        queries: ArrayT = of.run(_multiplied, xq, of.beside(freqs_cis, xq))
        keys: ArrayT = of.run(_multiplied, xk, of.beside(freqs_cis, xk))
        return queries, keys


def _repeated(of: Bound, table: Array, *, shape: tuple[int, ...]) -> Array:
    return of.contiguous(of.xp.broadcast_to(table, shape))


def _rows_turned(of: Bound, x: Array) -> Array:
    *_, length, dim = x.shape
    turning = of.turning(of.places(x, length), dim, BASE, x)
    turned = of.rotate(of.xp.swapaxes(x, 1, 2), turning, interleaved=True)
    return of.contiguous(of.xp.swapaxes(turned, 1, 2))


def _unit(of: Bound, turning: Array) -> Array:
    return of.complex(*of.circle(turning))


def _over_batch_and_heads(freqs_cis: Array) -> Array:
    rows, pairs = freqs_cis.shape
    return freqs_cis.reshape(1, rows, 1, pairs)


def _multiplied(of: Bound, x: Array, freqs_cis: Array) -> Array:
    z = as_complex(of, x)
    turned = z * of.cast(_over_batch_and_heads(freqs_cis), z.dtype)
    return of.cast(as_real(of, turned), x.dtype)
