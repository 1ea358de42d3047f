"""Model configurations of transformers, read as claims."""

import pytest

from ropespec.spec.config import layer_types, read
from ropespec.spec.errors import ConfigError
from ropespec.spec.scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    Proportional,
    Yarn,
)

SIZES = {"hidden_size": 4096, "num_attention_heads": 32}
LLAMA = {
    **SIZES,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
}
QWEN = {
    "hidden_size": 3584,
    "num_attention_heads": 28,
    "max_position_embeddings": 32768,
    "rope_theta": 1000000.0,
    "rope_scaling": {"factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn"},
}
DEEPSEEK = {
    "hidden_size": 7168,
    "num_attention_heads": 128,
    "qk_rope_head_dim": 64,
    "rope_theta": 10000,
    "max_position_embeddings": 163840,
    "rope_scaling": {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 40,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096,
        "type": "yarn",
    },
}
SHORT, LONG = ([1.0 + i / 100 for i in range(48)], [1.0 + i for i in range(48)])
PHI = {
    "hidden_size": 3072,
    "num_attention_heads": 32,
    "rope_theta": 10000.0,
    "max_position_embeddings": 131072,
    "original_max_position_embeddings": 4096,
    "rope_scaling": {"long_factor": LONG, "short_factor": SHORT, "type": "longrope"},
}
GEMMA = {
    "text_config": {
        "head_dim": 256,
        "hidden_size": 2560,
        "num_attention_heads": 8,
        "rope_theta": 1000000.0,
        "rope_local_base_freq": 10000.0,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
    }
}
GEMMA_5 = {
    "head_dim": 256,
    "global_head_dim": 512,
    "rope_parameters": {
        "full_attention": {
            "rope_type": "proportional",
            "partial_rotary_factor": 0.25,
            "rope_theta": 1000000.0,
        },
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    },
}
QWEN_VL = {
    "hidden_size": 1536,
    "num_attention_heads": 12,
    "rope_theta": 1000000.0,
    "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
}
LENGTHS = {**SIZES, "max_position_embeddings": 4096, "rope_theta": 10000.0}
LINEAR = {**LENGTHS, "rope_scaling": {"type": "linear", "factor": 2.0}}
DYNAMIC = {**LENGTHS, "rope_scaling": {"type": "dynamic", "factor": 2.0}}
PARTIAL = {**SIZES, "rope_theta": 10000.0, "partial_rotary_factor": 0.5}


@pytest.mark.parametrize(
    ("config", "base", "head_dim", "scaling"),
    [
        (LLAMA, 500000.0, 128, Llama3(8.0, 1.0, 4.0, 8192)),
        (QWEN, 1000000.0, 128, Yarn(4.0, 32768)),
        (DEEPSEEK, 10000.0, 64, Yarn(40, 4096, mscale=1.0, mscale_all_dim=1.0)),
        (PHI, 10000.0, 96, LongRope(tuple(SHORT), tuple(LONG), 32.0, 4096, 4096)),
        (LINEAR, 10000.0, 128, Linear(2.0)),
        (DYNAMIC, 10000.0, 128, DynamicNtk(2.0, 4096, 4096)),
        (QWEN_VL, 1000000.0, 128, None),
        (PARTIAL, 10000.0, 128, None),
    ],
)
def test_a_configuration_is_a_claim(config, base, head_dim, scaling):
    """The older form says what the newer one does, under its other names."""
    found = read(config)
    moved = {key: one for key, one in config.items() if key not in ("rope_theta", "rope_scaling")}
    newer = {**config.get("rope_scaling", {}), "rope_theta": config["rope_theta"]}

    assert (found.base, found.head_dim, found.scaling) == (base, head_dim, scaling)
    assert read({**moved, "rope_parameters": newer}) == found


def test_the_length_chooses():
    """Of what depends on it, frequencies beyond the original length can be claimed."""
    assert read(PHI, length=4097).scaling == LongRope(tuple(SHORT), tuple(LONG), 32.0, 4096, 4097)
    assert read(DYNAMIC, length=9000).scaling == DynamicNtk(2.0, 4096, 9000)


def test_layers_differ():
    """Each type of layer has parameters of its own, in both forms."""
    assert layer_types(GEMMA) == layer_types(GEMMA_5) == ("full_attention", "sliding_attention")
    full, sliding = (read(GEMMA, one) for one in layer_types(GEMMA))
    assert (full.base, full.scaling, full.head_dim) == (1000000.0, Linear(8.0), 256)
    assert (sliding.base, sliding.scaling) == (10000.0, None)
    full, sliding = (read(GEMMA_5, one) for one in layer_types(GEMMA_5))
    assert (full.scaling, full.head_dim, full.dim) == (Proportional(0.25), 512, 512)
    assert (sliding.base, sliding.scaling, sliding.head_dim) == (10000.0, None, 256)


def test_parts_rotate_and_sections_are_kept():
    """A share of the head rotates; sections say which number a pair follows."""
    assert (read(PARTIAL).rotary_dim, read(PARTIAL).dim) == (64, 64)
    assert read(QWEN_VL).sections == (16, 24, 24)


def other(config, **more):
    """Return a configuration with other scaling."""
    return {**config, "rope_scaling": {**config["rope_scaling"], **more}}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ([], "a configuration must be a JSON object"),
        (SIZES, "it says neither rope_parameters nor rope_theta"),
        ({"rope_base": 1e4}, "but 'rope_base'; "),
        ({"rope_theta": 1e4}, "no head_dim, and no hidden_size that would give it"),
        ({**SIZES, "rope_theta": 0.5}, "rope_theta must be above 1; got 0.5"),
        ({**SIZES, "rope_theta": "1e4"}, "rope_theta must be a number; got '1e4'"),
        (other(LLAMA, low_freq_facter=2), "'low_freq_facter'; did you mean low_freq_factor"),
        (other(QWEN, attn_factor=1.0), "nothing reads 'attn_factor'; did you mean"),
        (other(LLAMA, rope_type="llama4"), "rope_type 'llama4' is not known; did you mean llama3"),
        (other(LLAMA, type="yarn"), "rope_type says 'llama3' and type says 'yarn'"),
        (other(LLAMA, rope_theta=1e4), "rope_theta is 500000.0, and 10000.0 in the parameters"),
        (other(PHI, short_factor=[1.0]), "short_factors must be of 48 numbers"),
        (other(DYNAMIC, original_max_position_embeddings=1), "dynamic begins at max_position"),
        (other(LINEAR, factor=None), "linear needs factor"),
        (other(QWEN_VL, mrope_section=[16, 24]), "mrope_section must sum to the 64 pairs"),
        (other(QWEN_VL, mrope_interleaved="yes"), "mrope_interleaved must be true or false"),
        ({**LLAMA, "rope_parameters": {"factor": 1}}, "contradict each other"),
        ({**PARTIAL, "partial_rotary_factor": 0.01}, "partial_rotary_factor must leave an even"),
        (GEMMA, "layers differ: say of which type, full_attention or sliding_attention"),
        ({**LENGTHS, "rope_scaling": 2}, "rope_scaling must be an object; got 2"),
        ({**SIZES, "rope_theta": 1e4, "num_attention_heads": 3}, "must be a multiple"),
        ({"head_dim": 64.5, "rope_theta": 1e4}, "head_dim must be an integer of at least 1"),
    ],
)
def test_what_is_wrong_is_one_line(config, said):
    """It names the key and what it must be, or the nearest right one."""
    with pytest.raises(ConfigError, match=said) as refused:
        read(config)
    assert "\n" not in str(refused.value)


def test_a_layer_or_a_length_that_is_not_there_is_refused():
    """What is asked for has to mean something."""
    with pytest.raises(ConfigError, match="did you mean sliding_attention"):
        read(GEMMA, "sliding_atention")
    with pytest.raises(ConfigError, match="all layers have the same"):
        read(LLAMA, "full_attention")
    with pytest.raises(ConfigError, match="llama3 does not depend on a length"):
        read(LLAMA, length=5)
    with pytest.raises(ConfigError, match="depend on no length"):
        read(PARTIAL, length=5)
