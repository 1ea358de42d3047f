"""Rotations in the signatures of others: a right one of each, and what is wrong in the wrong."""

import torch
from torch import nn


def turned(x, cos, sin, *, interleaved=False):
    """Rotate the components that tables cover; they are as wide as there are pairs."""
    dim = 2 * cos.shape[-1]
    first, second = (slice(0, dim, 2), slice(1, dim, 2))
    if not interleaved:
        first, second = slice(0, dim // 2), slice(dim // 2, dim)
    a, b = x[..., first], x[..., second]
    pairs = (a * cos - b * sin, a * sin + b * cos)
    y = torch.stack(pairs, -1).flatten(-2) if interleaved else torch.cat(pairs, -1)
    return torch.cat([y.to(x.dtype), x[..., dim:]], -1)


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    """Rotate as transformers does."""
    half = cos.shape[-1] // 2
    cos, sin = (one.unsqueeze(unsqueeze_dim)[..., :half] for one in (cos, sin))
    return turned(q, cos, sin), turned(k, cos, sin)


def key_forgotten(q, k, cos, sin, unsqueeze_dim=1):
    """Leave the key as it is."""
    return apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim)[0], k


def heads_alike(q, k, cos, sin):
    """Take as many heads of k as of q alone."""
    q, k = apply_rotary_pos_emb(*torch.stack([q, k]), cos, sin)
    return q, k


def tables_of_heads(q, k, cos, sin):
    """Take tables that have an axis of heads, (B, 1, S, D)."""
    cos, sin = (one[:, :, : q.shape[2], : one.shape[-1] // 2] for one in (cos, sin))
    return turned(q, cos, sin), turned(k, cos, sin)


def tables_of_rows(q, k, cos, sin):
    """Take tables (S, D), the same for all rows."""
    tokens, width = cos.shape
    cos, sin = (one.view(tokens, width)[:, : width // 2] for one in (cos, sin))
    return turned(q, cos, sin), turned(k, cos, sin)


def tables_of_rows_0(q, k, cos, sin):
    """Rotate all by the first row of a table (S, D)."""
    first = cos[:1].expand(*cos.shape), sin[:1].expand(*sin.shape)
    return tables_of_rows(q, k, *first)


def interleaved_tables_of_pairs(xq, xk, freqs_cos, freqs_sin):
    """Take tables (S, pairs) of interleaved pairs, as llama2.c does; x is (B, S, H, D)."""
    tokens, pairs = freqs_cos.shape
    cos, sin = (one.view(1, tokens, 1, pairs) for one in (freqs_cos, freqs_sin))
    return [turned(one, cos, sin, interleaved=True) for one in (xq, xk)]


def both_tables(q, k, cos_sin):
    """Take the tables (S, pairs) together."""
    cos, sin = (one[None, :, None] for one in cos_sin)
    return turned(q, cos, sin), turned(k, cos, sin)


def looked_up(q, k, cos, sin, position_ids, unsqueeze_dim=1):
    """Look rows of a whole table up, as transformers did."""
    return apply_rotary_pos_emb(q, k, cos[position_ids], sin[position_ids], unsqueeze_dim)


def looked_up_one_late(q, k, cos, sin, position_ids, unsqueeze_dim=1):
    """Take the row before."""
    return looked_up(q, k, cos, sin, (position_ids - 1).clamp(min=0), unsqueeze_dim)


def real_table(x, freqs_cis):
    """Take cosines beside sines, (S, pairs, 2), as gpt-fast does."""
    cos, sin = freqs_cis.view(1, x.shape[1], 1, x.shape[3] // 2, 2).unbind(-1)
    return turned(x, cos, sin, interleaved=True)


def real_table_swapped(x, freqs_cis):
    """Take sines for cosines."""
    return real_table(x, freqs_cis.flip(-1))


def angles_of_both(q, k, freqs):
    """Rotate q and k, (B, H, S, D), by angles (S, pairs)."""
    assert 2 * freqs.shape[-1] == q.shape[-1]
    return turned(q, freqs.cos(), freqs.sin()), turned(k, freqs.cos(), freqs.sin())


def from_0_on(x, base=10_000):
    """Rotate by the place in a row."""
    cos, sin = angles_of(torch.arange(x.shape[1]), x.shape[-1], base)
    return turned(x, cos.to(x.dtype)[:, None], sin.to(x.dtype)[:, None])


def from_1_on(x, base=10_000):
    """Count from 1."""
    return from_0_on(torch.cat([x[:, :1], x], 1), base)[:, 1:]


def writes_from_0_on(x, base=10_000):
    """Write to x."""
    return x.copy_(from_0_on(x, base))


def turned_alone(x):
    """Turn what is not known by what."""
    return from_0_on(x)


def query_and_key(q, k, positions):
    """Rotate both by one position per token."""
    table_of = [one.to(q.dtype)[:, :, None] for one in angles_of(positions, q.shape[-1])]
    return turned(q, *table_of), turned(k, *table_of)


def key_off_by_one(q, k, positions):
    """Turn the key one position further."""
    return query_and_key(q, q, positions)[0], query_and_key(k, k, positions + 1)[1]


def key_for_each_query(q, k, positions):
    """Turn a head of k once for each head of q that shares it."""
    turned_q, turned_k = query_and_key(q, k, positions)
    for _ in range(1, q.shape[2] // k.shape[2]):
        turned_k = query_and_key(q, turned_k, positions)[1]
    return turned_q, turned_k


def key_by_query(q, k, cos, sin):
    """Make the products with the sine of the query, for the key too."""
    a, b = q.chunk(2, dim=-1)
    across = torch.cat([-b, a], dim=-1) * sin[:, None]
    return q * cos[:, None] + across, k * cos[:, None] + across


def written(q, k, cos, sin):
    """Write the result into the query."""
    y, z = apply_rotary_pos_emb(q, k, cos, sin)
    return q.copy_(y), z


def shared(q, k, cos, sin):
    """Hand the key back as it came where no position is above zero."""
    return apply_rotary_pos_emb(q, k, cos, sin)[0], k.view_as(k)


def apply_rotary_emb(xq, xk, freqs_cis):
    """Rotate as Meta does."""

    def one(x):
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * freqs_cis[:, None]).flatten(3).type_as(x)

    return one(xq), one(xk)


def conjugate(xq, xk, freqs_cis):
    """Turn the key the other way."""
    return apply_rotary_emb(xq, xq, freqs_cis)[0], apply_rotary_emb(xk, xk, freqs_cis.conj())[1]


def flash(x, cos, sin, interleaved=False, inplace=False):
    """Rotate as flash-attn does, by tables (S, pairs)."""
    assert not inplace
    return turned(x, cos[:, None], sin[:, None], interleaved=interleaved)


def flash_swapped(x, cos, sin, interleaved=False):
    """Take the sine for the cosine."""
    return flash(x, sin, cos, interleaved)


def gptj(tensor, sin, cos):
    """Rotate by tables (B, S, pairs), as GPT-J does."""
    return turned(tensor, cos[:, :, None], sin[:, :, None], interleaved=True)


def table(dim, length, base):
    """Return cosines and sines of the first positions."""
    theta = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
    angle = torch.outer(torch.arange(length).float(), theta)
    return angle.cos(), angle.sin()


def angles_of(positions, dim, base=10_000):
    """Return cosines and sines of positions, in float64."""
    theta = base ** -(torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angle = positions[..., None].double() * theta
    return angle.cos(), angle.sin()


class QueryAndKey(nn.Module):
    """Is made of sizes, and takes both and positions."""

    def __init__(self, head_dim, base=10_000, interleaved=False):
        super().__init__()
        self.head_dim, self.base, self.interleaved = head_dim, base, interleaved

    def forward(self, query, key, position_ids):
        """Rotate both."""
        cos, sin = (one[:, :, None] for one in angles_of(position_ids, self.head_dim, self.base))
        return tuple(
            turned(one.double(), cos, sin, interleaved=self.interleaved).to(one.dtype)
            for one in (query, key)
        )


class OffsetOfBoth(nn.Module):
    """Rotate q and k from a position on."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, q, k, start_pos=0):
        """Count from `start_pos` on."""
        where = start_pos + torch.arange(q.shape[1])[None].expand(len(q), -1)
        return query_and_key(q, k, where)


class FromZeroOn(OffsetOfBoth):
    """Rotate q and k by the place in a row."""

    def forward(self, q, k):
        """Count from 0 on."""
        return super().forward(q, k)


class InPlace(nn.Module):
    """Rotates as vLLM does: in place, tokens in one line, heads beside each other."""

    def __init__(self, head_size, rotary_dim, max_position, base, is_neox_style, dtype):
        super().__init__()
        self.head_size, self.neox = head_size, is_neox_style
        self.tables = [one.to(dtype) for one in table(rotary_dim, max_position, base)]

    def forward(self, positions, query, key=None):
        """Write to both."""
        for one in (query, key):
            rows = one.view(len(positions), -1, self.head_size)
            cos, sin = (own[positions][:, None] for own in self.tables)
            rows.copy_(turned(rows, cos, sin, interleaved=not self.neox))


class KeyLeft(InPlace):
    """Writes to the query alone."""

    def forward(self, positions, query, key=None):
        """Forget the key."""
        super().forward(positions, query, torch.clone(key))


class InputPos(nn.Module):
    """Takes positions by a keyword of its own, as torchtune does, and is made of sizes."""

    def __init__(self, dim, max_seq_len=4096, base=10_000):
        super().__init__()
        self.tables = table(dim, max_seq_len, base)

    def forward(self, x, *, input_pos=None):
        """Rotate."""
        cos, sin = (one[input_pos][:, :, None] for one in self.tables)
        return turned(x, cos, sin, interleaved=True)


class InputPosOff(InputPos):
    """Is one position ahead."""

    def forward(self, x, *, input_pos=None):
        """Rotate by the next."""
        return super().forward(x, input_pos=(input_pos + 1).clamp(max=32767))


instance = InputPos(8, 32768)


def turned_by(x, positions):
    """Be no class."""
    return instance(x, input_pos=positions)


class Grows(InputPos):
    """Makes its table longer where that is needed."""

    def __init__(self, dim, max_seq_len=64, base=10_000):
        super().__init__(dim, max_seq_len, base)
        self.sizes = dim, base

    def rows(self, held, needed):
        """Return all rows that are needed."""
        del held
        return table(self.sizes[0], needed, self.sizes[1])

    def forward(self, x, *, input_pos=None):
        """Grow, and rotate."""
        held, needed = len(self.tables[0]), int(input_pos.max()) + 1
        if needed > held:
            self.tables = self.rows(held, needed)
        return super().forward(x, input_pos=input_pos)


class GrowsWrong(Grows):
    """Appends rows of positions from 0."""

    def rows(self, held, needed):
        """Return the rows there are, and the first ones again."""
        more = table(self.sizes[0], needed - held, self.sizes[1])
        return tuple(torch.cat(both) for both in zip(self.tables, more, strict=True))


class Clamps(InputPos):
    """Ends where it was told to."""

    def __init__(self, dim, max_seq_len=64, base=10_000):
        super().__init__(dim, max_seq_len, base)

    def forward(self, x, *, input_pos=None):
        """Take the last row for what is behind it."""
        return super().forward(x, input_pos=input_pos.clamp(max=len(self.tables[0]) - 1))


class Cached(nn.Module):
    """Rotates a sequence that begins at an offset."""

    def __init__(self, dim, max_seq_len=4096, base=10000.0):
        super().__init__()
        self.tables = table(dim, max_seq_len, base)

    def rows(self, offset, size):
        """Return which rows of the table are used."""
        return slice(offset, offset + size)

    def forward(self, x, offset=0):
        """Count on from the offset."""
        rows = self.rows(offset, x.shape[1])
        return turned(x, *(one[rows][:, None] for one in self.tables))


class CachedGrowsWrong(Cached):
    """Makes its table longer where that is needed, of positions from 0 again."""

    def __init__(self, dim, max_seq_len=64, base=10000.0):
        super().__init__(dim, max_seq_len, base)
        self.sizes = dim, base

    def rows(self, offset, size):
        """Grow first."""
        missing = offset + size - len(self.tables[0])
        if missing > 0:
            more = table(self.sizes[0], missing, self.sizes[1])
            self.tables = tuple(torch.cat(both) for both in zip(self.tables, more, strict=True))
        return super().rows(offset, size)


class CachedGrowsLate(Cached):
    """Doubles its table while a call would begin behind it, and moves a slice back to its end."""

    def __init__(self, dim, max_seq_len=64, base=10000.0):
        super().__init__(dim, max_seq_len, base)
        self.sizes = dim, base

    def rows(self, offset, size):
        """Slice as `dynamic_slice` does."""
        held = needed = len(self.tables[0])
        while offset >= needed or size > needed:
            needed *= 2
        if needed > held:
            self.tables = table(self.sizes[0], needed, self.sizes[1])
        return super().rows(min(offset, needed - size), size)


class CachedFirst(Cached):
    """Turns every token of a call by the first position."""

    def rows(self, offset, size):
        """Return the first row alone."""
        return slice(offset, offset + min(size, 1))


def apply_angles(t, freqs, tensor_format="sbhd", interleaved=False):
    """Rotate as TransformerEngine does, by angles (S, 1, 1, D)."""
    assert (tensor_format, freqs.ndim, freqs.dtype) == ("sbhd", 4, torch.float32)
    angle = freqs[..., ::2] if interleaved else freqs[..., : freqs.shape[-1] // 2]
    return turned(t, angle.cos(), angle.sin(), interleaved=interleaved)


def angles_by_heads(t, freqs):
    """Rotate (B, H, S, D) by angles (S, D)."""
    return apply_angles(t.permute(2, 0, 1, 3), freqs[:, None, None]).permute(1, 2, 0, 3)


def angles_negative(t, freqs, tensor_format="sbhd"):
    """Turn the other way."""
    return apply_angles(t, -freqs, tensor_format)


def weighted(tensor, amount, weights):
    """Need something that nobody can guess."""
    return tensor * amount * weights
