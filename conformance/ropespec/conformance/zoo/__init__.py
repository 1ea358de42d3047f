"""The zoo: small wrong implementations that the suite must catch, and right ones it must pass.

Each wrong one is a few lines with one sentence and the id of the catalogue of real defects it
belongs to (`L1`, `D2` ...), and names the check that is there because of it.
"""

from ropespec.conformance.zoo.entry import Right, Wrong, right, wrong, zoo

__all__ = ["Right", "Wrong", "right", "wrong", "zoo"]
