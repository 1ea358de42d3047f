"""Run the command."""

from ropespec.backends.card.cli import main

main()
