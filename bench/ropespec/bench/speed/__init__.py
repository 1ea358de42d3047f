"""How close to a copy the rotation comes at every size, beside what people use.

`python -m ropespec.bench.speed --help` tells how to run it. Every contender works in a
process of its own, where alone its framework is imported, and is held against a copy of the same
tensor in the same process. Importing this package loads no framework.
"""
