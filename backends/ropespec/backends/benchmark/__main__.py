"""`python -m ropespec.backends.benchmark`."""

from ropespec.backends.benchmark.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
