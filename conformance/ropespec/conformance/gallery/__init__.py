"""The gallery: real implementations, each in an environment of its own, and a verdict each."""
