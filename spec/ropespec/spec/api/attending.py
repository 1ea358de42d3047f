"""What is built on the rotation: projections, scores, attention, the code of the documents."""

from typing import Protocol

from ropespec.spec.api.arrays import ArrayT, Device, Positions

__all__ = ["AttendingAPI"]


class AttendingAPI(Protocol[ArrayT]):
    """The chapters `projection`, `relative`, `attention`, `decay` and `published`."""

    def project_query(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        weight: ArrayT,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        """f_q(x_m, m) = R_m W_q x_m (PROJ-1; F-087).

        Parameters
        ----------
        x : array of float, shape (..., S, d_in)
            Token vectors.
        positions : array or array_like of int, shape (S,) or (..., S)
            Position of every token; either sign.
        weight : array, shape (H, D, d_in)
            One matrix a head, of the dtype of `x`.
        interleaved, base, rotary_dim
            As in `apply_rotary`, for each head.

        Returns
        -------
        array, shape (..., S, H, D)
            Of the dtype and on the device of `x`, rounded once at the end.

        Raises
        ------
        ArgumentTypeError
            If an argument has the wrong type or dtype, or `weight` not the dtype of `x`.
        ArgumentValueError
            If a value or shape is not allowed, or the shapes do not fit each other.
        """
        ...

    def project_key(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        weight: ArrayT,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        """f_k(x_n, n) = R_n W_k x_n, the same map with the weight of the keys (PROJ-1; F-087).

        Parameters, result and errors as in `project_query`.
        """
        ...

    def project_value(self, x: ArrayT, weight: ArrayT) -> ArrayT:
        """f_v(x_n) = W_v x_n, not rotated (PROJ-2; F-080).

        Parameters, result and errors as in `project_query`.
        """
        ...

    def relative_score(
        self,
        q: ArrayT,
        k: ArrayT,
        offset: Positions[ArrayT],
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        """q^T R_offset k with offset = n - m for query position m, key position n (REL-5; F-157).

        Parameters
        ----------
        q, k : array of float, shape (..., D)
            Not rotated; one shape and dtype.
        offset : array or array_like of int
            n - m, either sign; broadcasts against the leading axes of q and k.
        interleaved, base
            As in `apply_rotary`.
        rotary_dim : int, optional
            r, even: the first r components rotate, the rest adds its plain product; D by default.

        Returns
        -------
        array
            The broadcast shape of `offset` and (...), dtype and device of q; rounded once at the
            end.

        Raises
        ------
        ArgumentTypeError
            If an argument has the wrong type or dtype, or k not the dtype of q.
        ArgumentValueError
            If `rotary_dim` is odd, below 2 or above D, the shapes of q and k differ, `offset` does
            not broadcast, or `base` is not finite or not above 1.
        """
        ...

    def attention(
        self,
        q: ArrayT,
        k: ArrayT,
        v: ArrayT,
        *,
        query_positions: Positions[ArrayT],
        key_positions: Positions[ArrayT],
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
        mask: ArrayT | None = None,
    ) -> tuple[ArrayT, ArrayT]:
        """softmax(QK^T / sqrt(D)) V with rotated q and k; v is not rotated (ATT-1 to ATT-4; F-183).

        Parameters
        ----------
        q : array of float, shape (..., S, H, D)
            Queries, not rotated.
        k : array, shape (..., T, G, D)
            Keys; query head h attends with key head h // (H/G).
        v : array, shape (..., T, G, E)
            Values.
        query_positions, key_positions : array or array_like of int
            Of shapes (S,) or (..., S), and (T,) or (..., T); either sign.
        interleaved, base
            As in `apply_rotary`.
        rotary_dim : int, optional
            r, even: the first r components of q and k rotate (ROT-14); D by default. The scale
            stays sqrt(D).
        mask : array of bool, optional
            Broadcasts to (..., H, S, T); True where a query may attend.

        Returns
        -------
        output : array, shape (..., S, H, E)
            Zeros in a row that may attend nowhere.
        weights : array, shape (..., H, S, T)
            Both of the dtype and on the device of q, rounded once at the end.

        Raises
        ------
        ArgumentTypeError
            If an argument has the wrong type or dtype, or the dtypes differ.
        ArgumentValueError
            If a value or shape is not allowed, or the shapes do not fit each other.
        """
        ...

    def decay_bound(self, offsets: Positions[ArrayT], dim: int, base: float = 10000.0) -> ArrayT:
        """Mean over j = 1..dim/2 of abs(S_j), S_j = sum of e^{i offset theta_i} over i < j (DEC-2).

        Parameters
        ----------
        offsets : array or array_like of int
            n - m; any shape, either sign.
        dim, base
            As in `inv_freq`.

        Returns
        -------
        array, shape of `offsets`
            (dim/2 + 1) / 2 at offset 0, and nowhere more; dtype and device as in `cos_sin`.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            As `cos_sin` does.
        """
        ...

    def sinusoidal_position_embedding(
        self, batch_size: int, nums_head: int, max_len: int, output_dim: int, device: Device
    ) -> ArrayT:
        """sin(m theta_i) at 2i and cos(m theta_i) at 2i+1, repeated for B and H (PUB-1; F-188).

        Parameters
        ----------
        batch_size, nums_head, max_len : int
            B, H and L, each at least 0.
        output_dim : int
            d: even, at least 2.
        device : device or None
            As in `inv_freq`.

        Returns
        -------
        array, shape (B, H, L, d)
            The table of positions 0..L-1, a copy for every b and h: float64; in JAX without x64
            float32.

        Raises
        ------
        ArgumentTypeError
            If a size is not an integer, or `device` no device.
        ArgumentValueError
            If a size is negative, `output_dim` odd or below 2, or `device` unknown.
        """
        ...

    def RoPE(self, q: ArrayT, k: ArrayT) -> tuple[ArrayT, ArrayT]:
        """`RoPE(q, k)` of document 004: interleaved, base 10000, positions from 0 (PUB-2; F-189).

        The document takes heads and length of both from q; here each brings its own (E-60).

        Parameters
        ----------
        q, k : array of float, shapes (B, H, L, d) and (B, G, T, d)
            Read only; d even.

        Returns
        -------
        q, k : array
            Shape, dtype and device of the inputs; rounded once at the end.

        Raises
        ------
        ArgumentTypeError
            If q or k is no float array of the framework.
        ArgumentValueError
            If q or k has not four axes, d is odd, or k has another batch or d than q.
        """
        ...

    def precompute_freqs_cis(
        self, dim: int, end: int, theta: float = 10000.0, *, device: Device = None
    ) -> ArrayT:
        """e^{i m theta_i} for m = 0..end-1 (PUB-3; F-194).

        Parameters
        ----------
        dim : int
            Even, at least 2.
        end : int
            Number of positions, at least 0.
        theta : float
            The base, above 1; document 004 calls it theta.
        device : device, optional
            As in `inv_freq`.

        Returns
        -------
        array, shape (end, dim/2)
            Points of the unit circle: complex128; in JAX without x64 complex64.

        Raises
        ------
        ArgumentTypeError
            If `dim` or `end` is not an integer, `theta` no real number, or `device` no device.
        ArgumentValueError
            If `dim` is odd or below 2, `end` negative, `theta` not finite or not above 1, or
            `device` unknown.
        """
        ...

    def reshape_for_broadcast(self, freqs_cis: ArrayT, x: ArrayT) -> ArrayT:
        """Give freqs_cis an axis of length 1 for the batch and one for the heads (PUB-4; F-195).

        Parameters
        ----------
        freqs_cis : array of complex, shape (S, c)
            One row a position.
        x : array of complex, shape (B, S, H, c)
            What it is to be multiplied with.

        Returns
        -------
        array, shape (1, S, 1, c)
            The same elements, of the dtype and on the device of `freqs_cis`; a view of it where
            the framework has views and the strides allow one.

        Raises
        ------
        ArgumentTypeError
            If one of them is no complex array of the framework.
        ArgumentValueError
            If `x` has not exactly four axes (E-61), or `freqs_cis` not the shape (S, c).
        """
        ...

    def apply_rotary_emb(self, xq: ArrayT, xk: ArrayT, freqs_cis: ArrayT) -> tuple[ArrayT, ArrayT]:
        """Multiply the pairs of xq and xk, read as complex numbers, by freqs_cis (PUB-5; F-196).

        Interleaved.

        Parameters
        ----------
        xq, xk : array of float, shapes (B, S, H, d) and (B, S, G, d)
            Read only; d even.
        freqs_cis : array of complex, shape (S, d/2)
            Exactly one row a position: slice it before.

        Returns
        -------
        xq, xk : array
            Shape, dtype and device of the inputs; rounded once at the end.

        Raises
        ------
        ArgumentTypeError
            If xq or xk is no float array, or `freqs_cis` no complex array of the framework.
        ArgumentValueError
            If xq or xk has not four axes (E-61), d is odd, or the shapes do not fit each other.
        """
        ...
