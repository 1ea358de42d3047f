"""How the heads of one x are shared out between a query and a key."""

__all__ = ["OtherShapeError", "queries"]


class OtherShapeError(ValueError):
    """A query or a key came back in another shape than it had."""


def queries(heads: int) -> int:
    """Return how many of the heads of x are those of q; k has the rest.

    Grouped queries share a head of k: k has half as many where heads come in threes, one where
    their number is odd, else as many. A head that is alone is one of q.
    """
    if heads % 3 == 0:
        return 2 * heads // 3
    return heads // 2 if heads % 2 == 0 else max(heads - 1, 1)
