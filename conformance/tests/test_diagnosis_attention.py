"""Attention as a product of stages: each is told, of queries, of keys, of masks and of values."""

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.zoo.attention import softmax_of_masked_maximum
from ropespec.conformance.zoo.corners import one_maximum_for_all_queries


def attention_with(change):
    """Return attention with changed arguments, or with changed results."""

    def attention(q, k, v, *, query_positions, key_positions, interleaved, base=10000.0, mask=None):
        given = {
            "q": q,
            "k": k,
            "v": v,
            "query_positions": query_positions,
            "key_positions": key_positions,
            "interleaved": interleaved,
            "base": base,
            "mask": mask,
        }
        return reference.attention(**(given | change(given)))

    return attention


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda g: {"query_positions": np.asarray(g["query_positions"]) + 1},
            ("P3", "offset by one", "queries"),
        ),
        (
            lambda g: {"key_positions": 2 * np.asarray(g["key_positions"])},
            ("A1", "applied twice", "keys"),  # or K6, which cannot be told from it
        ),
        (lambda _: {"base": 50000.0}, ("F1", "wrong base", "queries and keys")),
        (lambda g: {"q": 2 * g["q"]}, ("", "score scaled", "scale")),
        (
            lambda g: {"v": g["v"] / np.linalg.norm(g["v"], axis=-1, keepdims=True)},
            ("", "values normalised", "values"),
        ),
    ],
)
def test_attention_is_told_side_by_side(change, told, named):
    """The rotation of each side, the scale and the values are found apart."""
    assert told in named(attention=attention_with(change))


def with_groups(keys, values):
    """Return attention whose heads have keys and values by maps of their own."""

    def change(given):
        h, g = np.shape(given["q"])[2], np.shape(given["k"])[2]
        maps = {"in turn": np.arange(h) % g, "as claimed": np.arange(h) // (h // g)}
        return {"k": given["k"][:, :, maps[keys]], "v": given["v"][:, :, maps[values]]}

    return attention_with(change)


@pytest.mark.parametrize(
    ("keys", "values", "told"),
    [
        ("in turn", "in turn", ["keys of grouped heads", "values of grouped heads"]),
        ("in turn", "as claimed", ["keys of grouped heads"]),
        ("as claimed", "in turn", ["values of grouped heads"]),
        ("as claimed", "as claimed", []),
    ],
)
def test_groups_of_keys_and_of_values_are_told_apart(keys, values, told, named):
    """A map of heads may be wrong on one side alone."""
    found = named(attention=with_groups(keys, values))

    assert [(name, where) for _, name, where in found] == [
        ("heads mapped to other groups", where) for where in told
    ]


def scaled_by_the_values(given):
    """Make the scores larger as the root of head_dim over the width of the values."""
    ratio = np.shape(given["q"])[-1] / np.shape(given["v"])[-1]
    return {"q": given["q"] * np.float32(np.sqrt(ratio))}


def test_values_of_another_width_are_asked_for(named):
    """The width of the values is seen in no call where it is head_dim."""
    told = ("", "scaled by the width of the values", "scale of narrow values")

    assert named(attention=attention_with(scaled_by_the_values)) == [told]


def attention_that_scales_tables(q, k, v, *, rotary_dim=None, **given):
    """Leave what passes by unscaled, as a scale within the tables of the queries does."""
    dim = q.shape[-1]
    q = q * np.where(np.arange(dim) < (rotary_dim or dim), 1, dim**0.5).astype(q.dtype)
    return reference.attention(q, k, v, rotary_dim=rotary_dim, **given)


def test_a_scale_that_leaves_the_tail_is_told(named):
    """A scale within the tables of the queries is none of what does not rotate."""
    told = ("", "scale without the tail", "queries")

    assert named(attention=attention_that_scales_tables) == [told]


def by_the_other_side(given, side, other):
    """Rotate one side by the positions of the other where both have as many tokens."""
    alike = np.shape(given[f"{side}_positions"]) == np.shape(given[f"{other}_positions"])
    return {f"{side}_positions": given[f"{other}_positions"]} if alike else {}


@pytest.mark.parametrize(("side", "other"), [("key", "query"), ("query", "key")])
def test_attention_is_asked_for_as_many_keys_as_queries(side, other, named):
    """Where it is right for more keys than queries, that is where it goes wrong."""
    plural = {"key": "keys", "query": "queries"}[side]
    told = "", "positions of the other side", f"{plural} of as many queries as keys"

    assert named(attention=attention_with(lambda g: by_the_other_side(g, side, other))) == [told]


@pytest.mark.parametrize(
    ("animal", "name"),
    [
        (softmax_of_masked_maximum, "largest score of masked keys"),
        (one_maximum_for_all_queries, "largest score of other queries"),
    ],
)
def test_a_key_or_a_query_of_the_largest_score_is_asked_for(animal, name, named):
    """What is left of the others underflows, and only there."""

    def attention(q, k, v, *, query_positions, key_positions, interleaved, base=10000.0, mask=None):
        where = {"query_positions": query_positions, "key_positions": key_positions}
        how = {"interleaved": interleaved, "base": base, "mask": mask}
        return animal.attention(q, k, v, **where, **how)

    assert [one for _, one, _ in named(attention=attention)] == [name]


def values_of_a_running_softmax(q, k, v, *, query_positions, key_positions, mask=None, **how):
    """Rescale the sum alone when a block of four keys raises the largest score."""
    sides = (
        reference.apply_rotary(q, query_positions, **how),
        reference.apply_rotary(k, key_positions, **how),
    )
    s = np.einsum("bshd,bthd->bhst", *sides) / np.sqrt(q.shape[-1])
    s = s if mask is None else np.where(mask, s, -np.inf)
    total, top = 0.0, np.full((*s.shape[:-1], 1), -1e300)
    summed = np.zeros((*s.shape[:-1], v.shape[-1]))
    for start in range(0, s.shape[-1], 4):
        block = s[..., start : start + 4]
        above = np.maximum(top, block.max(axis=-1, keepdims=True))
        powers = np.exp(block - above)
        total = total * np.exp(top - above) + powers.sum(axis=-1, keepdims=True)
        summed = summed + powers @ v[:, start : start + 4].swapaxes(1, 2)
        top = above
    return (summed / total).swapaxes(1, 2).astype(q.dtype), (np.exp(s - top) / total).astype(
        q.dtype
    )


def test_the_sums_of_a_running_softmax_are_told_apart(named):
    """The weights are right, and what is summed with them is not."""
    found = named(attention=values_of_a_running_softmax)

    assert [(name, where) for _, name, where in found] == [("sum of a running softmax", "values")]


def attention_of_one_rotated_key(q, k, v, *, rotary_dim=None, **given):
    """Take what rotates of every head of k from the first."""
    k = np.where(np.arange(k.shape[-1]) < (rotary_dim or 0), k[:, :, :1], k)
    return reference.attention(q, k, v, rotary_dim=rotary_dim, **given)


def test_a_key_that_all_heads_share_is_told(named):
    """Only what rotates is shared: the rest is each head's own."""
    told = "", "one key rotates for all", "keys"

    assert named(attention=attention_of_one_rotated_key) == [told]


def masks_by_members(given):
    """Take the mask of heads, of two groups and more, for one of members and then groups."""
    mask, heads, groups = given["mask"], given["q"].shape[2], given["k"].shape[2]
    if mask is None or mask.shape[1] == 1 or groups == 1:
        return {}
    h, n = np.arange(heads), heads // groups
    return {"mask": mask[:, h % n * groups + h // n]}


def masks_by_groups(given):
    """Give the heads of a group the mask of its first."""
    mask, heads, groups = given["mask"], given["q"].shape[2], given["k"].shape[2]
    if mask is None or mask.shape[1] == 1 or groups == 1:
        return {}
    n = heads // groups
    return {"mask": mask[:, np.arange(heads) // n * n]}


@pytest.mark.parametrize("masks", [masks_by_members, masks_by_groups])
def test_heads_are_given_masks_of_their_own(masks, named):
    """Where one mask serves all heads, nothing is wrong."""
    told = "", "masks of other heads", "mask of heads with masks of their own"

    assert named(attention=attention_with(masks)) == [told]


def masks_of_rows(given):
    """Take a mask of three axes for one of rows, where there are as many of these as heads."""
    mask, rows = given["mask"], len(given["q"])
    of_heads = mask is not None and mask.ndim == 3 and len(mask) == rows
    return {"mask": mask[:, None]} if of_heads else {}


def test_a_mask_of_heads_alone_is_asked_for(named):
    """Only a mask without an axis of rows is taken wrongly."""
    told = "", "masks of rows", "mask of masks without an axis of rows"

    assert named(attention=attention_with(masks_of_rows)) == [told]


def splits_of_keys(q, k, v, *, query_positions, key_positions, mask=None, **how):
    """Add up splits of eight keys, each relative to its own largest score."""
    sides = (
        reference.apply_rotary(q, query_positions, **how),
        reference.apply_rotary(k, key_positions, **how),
    )
    s = np.einsum("bshd,bthd->bhst", *sides) / np.sqrt(q.shape[-1])
    s = s if mask is None else np.where(mask, s, -1e30)
    for start in range(0, s.shape[-1], 8):
        s[..., start : start + 8] -= s[..., start : start + 8].max(axis=-1, keepdims=True)
    powers = np.exp(s) * (True if mask is None else mask)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return np.einsum("bhst,bthd->bshd", weights, v).astype(q.dtype), weights.astype(q.dtype)


def test_splits_that_are_not_rescaled_are_told(named):
    """Nothing is wrong where all keys are in one split."""
    told = "", "splits not rescaled", "softmax of many keys"

    assert named(attention=splits_of_keys) == [told]


def test_attention_that_is_right_has_no_name(named):
    """Nothing is said of it even if a check has failed."""
    assert named(attention=attention_with(lambda _: {})) == []


def blocks_by_the_first_mask(given):
    """Look at no block of 16 keys that the mask of the first row and head excludes."""
    mask, t = given["mask"], given["k"].shape[1]
    if mask is None:
        return {}
    first = np.broadcast_to(mask, (*mask.shape[:-1], t))[(0,) * (mask.ndim - 2)].any(axis=0)
    edges = range(0, t, 16)
    kept = np.concatenate([[first[at : at + 16].any()] * len(first[at : at + 16]) for at in edges])
    return {"mask": mask & kept}


def test_blocks_of_keys_are_looked_at_by_the_mask_of_each(named):
    """Where the first mask is open, or all are alike, nothing is wrong."""
    told = "", "blocks skipped", "mask of heads that see parts of the keys"

    assert named(attention=attention_with(blocks_by_the_first_mask)) == [told]


def capped(q, k, v, *, query_positions, key_positions, mask=None, **how):
    """Hold scores below 50."""
    sides = (
        reference.apply_rotary(q, query_positions, **how),
        reference.apply_rotary(k, key_positions, **how),
    )
    s = 50 * np.tanh(np.einsum("bshd,bthd->bhst", *sides) / np.sqrt(q.shape[-1]) / 50)
    powers = np.exp(s if mask is None else np.where(mask, s, -np.inf))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    output = np.einsum("bhst,bthd->bshd", weights, v)
    return output.astype(q.dtype), weights.astype(q.dtype)


def test_a_cap_is_seen_where_scores_are_large(named):
    """Small scores are nearly what they were."""
    assert named(attention=capped) == [("", "scores capped", "scale of large scores")]


def warmer_far_away(given):
    """Multiply the queries from position 8192 on by more than one."""
    steps = np.floor(np.maximum(given["query_positions"], 0) / 8192)
    warmth = (1 + 0.1 * np.log1p(steps))[..., None, None]
    return {"q": (given["q"] * warmth).astype(given["q"].dtype)}


def warmer_in_front(given):
    """Multiply the first query by more than one."""
    q = given["q"].copy()
    q[:, 0] *= 1.5
    return {"q": q}


@pytest.mark.parametrize(
    ("change", "where"),
    [(warmer_far_away, "scale of far positions"), (warmer_in_front, "scale")],
)
def test_a_temperature_by_query_is_told(change, where, named):
    """The weights of each query are those of scores that are all multiplied by the same."""
    assert named(attention=attention_with(change)) == [("", "temperature by query", where)]


def test_what_is_kept_by_content_is_told(named):
    """The same keys at other positions have the weights of where they were."""
    places = {}

    def attention(q, k, v, *, key_positions, **given):
        key_positions = places.setdefault((k.shape, k.tobytes()), np.array(key_positions))
        return reference.attention(q, k, v, key_positions=key_positions, **given)

    assert named(attention=attention) == [("", "kept by content", "keys seen before")]
