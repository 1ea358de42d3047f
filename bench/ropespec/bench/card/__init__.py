"""All that is to be known of the backends on a card, in one command.

`python -m ropespec.bench.card` runs what is there already, `ropespec check` and the benchmark,
and a few probes of its own, step by step, each in a process of its own; what a step found lies in
a file named after the device.
"""
