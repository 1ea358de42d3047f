"""`python -m ropespec.bench.speed`."""

from ropespec.bench.speed.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
