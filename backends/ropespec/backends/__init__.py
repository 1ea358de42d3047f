"""The shared API in NumPy, torch, JAX and CuPy.

Each framework lives in a package of its own, `ropespec.backends.torch` and so on, and is imported
only there: importing this package loads none of them.
"""
