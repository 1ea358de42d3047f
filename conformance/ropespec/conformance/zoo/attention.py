"""Wrong attention around a right rotation: scale, mask, groups, axes, what turns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.attention_parts import (
    allowed,
    attend,
    keys_per_head,
    mixed,
    scores,
    softmax,
    turned,
)
from ropespec.conformance.zoo.entry import wrong

__all__ = [
    "attention_of_the_query_for_the_key",
    "attention_rotates_the_tail",
    "attention_scaled_by_the_model",
    "attention_unscaled",
    "blocks_by_the_first_mask",
    "empty_rows_are_nan",
    "empty_rows_take_the_mean",
    "heads_merged_without_transposing",
    "key_heads_in_turns",
    "key_kept_in_place",
    "keys_turned_backwards",
    "keys_unturned",
    "mask_after_softmax",
    "mask_discarded",
    "mask_inverted",
    "mask_multiplied",
    "mask_of_minus_one",
    "positions_dropped",
    "queries_one_further",
    "refuses_no_keys",
    "running_softmax",
    "softmax_of_masked_maximum",
    "softmax_over_queries",
    "softmax_without_its_sum",
    "values_normalised",
    "values_turned",
]

Array = NDArray[Any]
Answer = tuple[Array, Array]
ATT: dict[str, Any] = {"offers": "attention"}


@wrong("T1", "Scores are divided by the root of heads times head_dim.", "ATT-1.value", **ATT)
def attention_scaled_by_the_model(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Scale by the width of the model."""
    s = scores(q, k, **given) / np.sqrt(q.shape[2])
    return attend(q, s, v, given)


@wrong("T2", "Scores are not divided by sqrt(D).", "ATT-1.value", "ATT-1.reference", **ATT)
def attention_unscaled(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Leave the scale out."""
    return attend(q, scores(q, k, **given) * np.sqrt(q.shape[-1]), v, given)


@wrong("T3", "Weights are zeroed after the softmax.", "ATT-2.value", **ATT)
def mask_after_softmax(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Mask weights instead of scores."""
    s = scores(q, k, **given)
    return mixed(q, softmax(s) * allowed(given, s.shape), v)


@wrong("T4", "Scores are multiplied by the mask: masked ones are 0.", "ATT-2.value", **ATT)
def mask_multiplied(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Leave exp(0) for masked keys."""
    s = scores(q, k, **given)
    return mixed(q, softmax(s * allowed(given, s.shape)), v)


@wrong(
    "T4",
    "Masked scores become -1.",
    "ATT-2.value",
    "ATT-2.zero",
    "ATT-2.forms",
    "PAR-4.attention",
    **ATT,
)
def mask_of_minus_one(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Fill with a small number."""
    s = scores(q, k, **given)
    return mixed(q, softmax(np.where(allowed(given, s.shape), s, -1.0)), v)


@wrong("T5", "The masked scores are computed and dropped.", "ATT-2.value", **ATT)
def mask_discarded(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Forget to assign."""
    s = scores(q, k, **given)
    np.where(allowed(given, s.shape), s, -np.inf)
    return mixed(q, softmax(s), v)


@wrong("mask inverted", "True in the mask forbids.", "ATT-2.value", **ATT)
def mask_inverted(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Read the mask of another framework."""
    mask = given.get("mask")
    return attend(q, scores(q, k, **given), v, {"mask": None if mask is None else ~mask})


@wrong("T8", "A row that may attend nowhere is NaN.", "ATT-4.nowhere", **ATT)
def empty_rows_are_nan(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Divide zero by zero."""
    s = scores(q, k, **given)
    keep = allowed(given, s.shape)
    return mixed(q, np.where(keep.any(axis=-1, keepdims=True), softmax(s, keep), np.nan), v)


@wrong("T8", "A row that may attend nowhere gives the mean of all values.", "ATT-4.nowhere", **ATT)
def empty_rows_take_the_mean(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Fill with the largest finite number."""
    s = scores(q, k, **given)
    return mixed(q, softmax(np.where(allowed(given, s.shape), s, -1e30)), v)


@wrong("", "Without keys it raises.", "ATT-4.no-keys", **ATT)
def refuses_no_keys(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Ask for the largest of no scores."""
    if k.shape[1] == 0:
        raise ValueError("zero-size array to reduction operation maximum")
    return attend(q, scores(q, k, **given), v, given)


@wrong("T9", "Heads are merged without transposing back.", "ATT-1.value", **ATT)
def heads_merged_without_transposing(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Reshape (B, H, S, E) to (B, S, H, E)."""
    output, weights = attend(q, scores(q, k, **given), v, given)
    b, s, h, e = output.shape
    return output.transpose(0, 2, 1, 3).reshape(b, s, h, e), weights


@wrong("A6", "V is rotated like K.", "ATT-3.constant", "ATT-3.shift", **ATT)
def values_turned(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Rotate all three."""
    even = v.shape[-1] - v.shape[-1] % 2
    positions = given["key_positions"]
    whole = {**given, "rotary_dim": None}
    v = np.concatenate([turned(v[..., :even], positions, whole), v[..., even:]], axis=-1)
    return attend(q, scores(q, k, **given), v, given)


@wrong("S2", "Keys rotate the other way: the score depends on m + n.", "ATT-3.shift", **ATT)
def keys_turned_backwards(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Rotate keys by -n."""
    s = scores(q, k, **{**given, "key_positions": -given["key_positions"]})
    return attend(q, s, v, given)


@wrong("query or key not rotated", "Keys are not rotated.", "ATT-3.shift", **ATT)
def keys_unturned(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Rotate queries alone."""
    return attend(
        q, scores(q, k, **{**given, "key_positions": 0 * given["key_positions"]}), v, given
    )


@wrong(
    "A3",
    "Positions are dropped: every order of the tokens is the same sentence.",
    "ATT-5.order",
    **ATT,
)
def positions_dropped(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Rotate nothing."""
    nowhere = {name: 0 * given[name] for name in ("query_positions", "key_positions")}
    return attend(q, scores(q, k, **{**given, **nowhere}), v, given)


@wrong(
    "R2",
    "rotary_dim is dropped: the whole head of q and k is rotated.",
    "ATT-1.value",
    "ROT-14.attention",
    **ATT,
)
def attention_rotates_the_tail(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Take the keyword and forget it."""
    return attend(q, scores(q, k, **{**given, "rotary_dim": None}), v, given)


@wrong("P3", "Queries are rotated one position too far.", "ATT-1.plain", **ATT)
def queries_one_further(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Count queries from 1 and keys from 0."""
    moved = {**given, "query_positions": given["query_positions"] + 1}
    return attend(q, scores(q, k, **moved), v, given)


@wrong("A4", "The rotated query is written to the key.", "ATT-1.value", **ATT)
def attention_of_the_query_for_the_key(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Rotate q into k, and k again, wherever their shapes agree."""
    if q.shape != k.shape:
        return attend(q, scores(q, k, **given), v, given)
    key = turned(q, given["query_positions"], given)
    unmoved = {**given, "query_positions": 0 * given["query_positions"]}
    return attend(q, scores(q, key.astype(q.dtype), **unmoved), v, given)


@wrong(
    "largest score of masked keys",
    "The largest score is looked for among masked keys too.",
    "ATT-2.value",
    **ATT,
)
def softmax_of_masked_maximum(q: Array, k: Array, v: Array, **given: object) -> Answer:
    """Mask what has been taken to the power."""
    s = scores(q, k, **given)
    powers = np.exp(s - np.max(s, axis=-1, keepdims=True, initial=-1e300)) * allowed(given, s.shape)
    total = powers.sum(axis=-1, keepdims=True)
    return mixed(q, powers / np.where(total > 0, total, 1.0), v)


@wrong(
    "sum of a running softmax",
    "The sum of a softmax over blocks of keys is not rescaled when the largest score rises.",
    "ATT-1.rows",
    "ATT-1.value",
    **ATT,
)
def running_softmax(q: Array, k: Array, v: Array, **given: object) -> Answer:
    """Rescale what is summed of the values alone."""
    s = scores(q, k, **given)
    s = np.where(allowed(given, s.shape), s, -np.inf)
    total, top = np.zeros((*s.shape[:-1], 1)), np.full((*s.shape[:-1], 1), -1e300)
    for start in range(0, s.shape[-1], 8):
        block = s[..., start : start + 8]
        top = np.maximum(top, block.max(axis=-1, keepdims=True))
        total = total + np.exp(block - top).sum(axis=-1, keepdims=True)
    return mixed(q, np.exp(s - top) / np.where(total > 0, total, 1.0), v)


@wrong(
    "argument overwritten",
    "The rotated key is kept in the caller's own array.",
    "ROT-17.arguments",
    **ATT,
)
def key_kept_in_place(q: Array, k: Array, v: Array, **given: object) -> Answer:
    """Save an array; all results are right."""
    answer = attend(q, scores(q, k, **given), v, given)
    k[...] = turned(k, np.asarray(given["key_positions"]), given)
    return answer


@wrong("softmax over another axis", "The softmax runs over the queries.", "ATT-1.rows", **ATT)
def softmax_over_queries(q: Array, k: Array, v: Array, **given: object) -> Answer:
    """Sum over the wrong axis."""
    s = scores(q, k, **given)
    keep = allowed(given, s.shape)
    return mixed(q, softmax(s.swapaxes(-1, -2), keep.swapaxes(-1, -2)).swapaxes(-1, -2), v)


@wrong(
    "weights not normalised", "The exponentials are not divided by their sum.", "ATT-1.rows", **ATT
)
def softmax_without_its_sum(q: Array, k: Array, v: Array, **given: object) -> Answer:
    """Leave the division out."""
    s = scores(q, k, **given)
    return mixed(q, np.exp(np.where(allowed(given, s.shape), s, -np.inf)), v)


@wrong(
    "heads mapped to other groups",
    "Query head h attends with key head h mod G.",
    "ATT-4.groups",
    "ATT-4.reference",
    **ATT,
)
def key_heads_in_turns(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Tile the key heads instead of repeating them."""
    times = q.shape[2] // k.shape[2]
    k, v = np.tile(k, (1, 1, times, 1)), np.tile(v, (1, 1, times, 1))
    return attend(q, scores(q, k, **given), v, given)


@wrong("values normalised", "Values are divided by their length.", "ATT-3.linear", **ATT)
def values_normalised(q: Array, k: Array, v: Array, **given: Any) -> Answer:  # noqa: ANN401  # keywords of the API
    """Normalise v as well."""
    length = np.linalg.norm(keys_per_head(v, v.shape[2]), axis=-1)[..., None].transpose(0, 2, 1, 3)
    return attend(q, scores(q, k, **given), v / np.where(length == 0, 1, length), given)


@wrong("blocks skipped", "Blocks of keys that the first mask excludes.", "ATT-2.value", **ATT)
def blocks_by_the_first_mask(q: Array, k: Array, v: Array, **given: object) -> Answer:
    """Ask the mask of the first row and head which blocks of 16 keys there are."""
    s = scores(q, k, **given)
    keep = allowed(given, s.shape)
    blocks = np.arange(k.shape[1]) // 16
    return mixed(q, softmax(s, keep & np.isin(blocks, blocks[keep[0, 0].any(axis=0)])), v)
