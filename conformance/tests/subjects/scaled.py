"""Half-split rotations in float32, each by the frequencies of one scheme."""

import numpy as np

from ropespec.spec.scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NtkAware,
    NtkByParts,
    PaperDynamicNtk,
    Proportional,
    Yarn,
)

FACTORS = tuple(round(1 + 0.05 * i + 0.02 * i**1.9, 2) for i in range(32))


def by(scheme, base=10000.0):
    """Make a rotation."""

    def apply(x, positions):
        dim = x.shape[-1]
        theta = np.array([float(one) for one in scheme.theta(base, dim)], np.float32)
        angle = positions.astype(np.float32)[..., None, None] * theta
        gain = np.float32(scheme.gain)
        cos, sin = gain * np.cos(angle), gain * np.sin(angle)
        a, b = x[..., : dim // 2], x[..., dim // 2 :]
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)

    return apply


linear = by(Linear(4.0))
ntk = by(NtkAware(8.0), 500000.0)
dynamic = by(DynamicNtk(2.0, 4096, 10240))
paper_dynamic = by(PaperDynamicNtk(2048, 6144))
by_parts = by(NtkByParts(8.0, 4096))
yarn = by(Yarn(16.0, 4096))
yarn_of_no_factor = by(Yarn(40.0, 4096, mscale=1.0, mscale_all_dim=1.0))
yarn_with_a_factor = by(Yarn(4.0, 32768, attention_factor=1.25), 1000000.0)
yarn_between_indices = by(Yarn(32.0, 4096, truncate=False), 150000.0)
llama3 = by(Llama3(8.0, 1.0, 4.0, 8192), 500000.0)
longrope = by(LongRope(FACTORS, FACTORS, 1.0, 1, 2, attention_factor=1.19))
proportional = by(Proportional(0.25), 1000000.0)


def alternating(x, positions):
    """Divide the frequency of every second pair by three: no scheme does."""
    scheme = LongRope((1.0, 3.0) * 16, (1.0, 3.0) * 16, 1.0, 1, 2, attention_factor=1.0)
    return by(scheme)(x, positions)
