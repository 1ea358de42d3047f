"""How close to a copy the rotation comes, and how exact it stays, beside what people use.

`python -m ropespec.backends.benchmark --help` tells how to run it. Every subject is measured in a
process of its own, where alone its framework is imported, against a copy of the same tensor in the
same process. Importing this package loads no framework.
"""
