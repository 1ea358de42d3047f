"""The backends, by the suite itself."""

from ropespec.conformance import conformance_tests

BOTH = [True, False]

test_numpy = conformance_tests("numpy", interleaved=BOTH)
test_torch = conformance_tests("torch", interleaved=BOTH)
test_jax = conformance_tests("jax", interleaved=BOTH)
