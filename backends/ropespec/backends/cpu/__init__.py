"""The rotation on a CPU, compiled by Numba: for the backends of NumPy and torch.

Nothing here is loaded before the first rotation, and nothing compiled before the first of a dtype.
"""
