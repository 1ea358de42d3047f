"""Run the command."""

from ropespec.bench.card.cli import main

main()
