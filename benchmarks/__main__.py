"""Run `benchmarks/bench_<name>.py`, all or the named ones:  python -m benchmarks [NAME ...]."""

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks.table import Table

PREFIX = "bench_"


def names() -> tuple[str, ...]:
    """List the benchmarks that there are."""
    return tuple(sorted(path.stem.removeprefix(PREFIX) for path in Path(__file__).parent.glob(f"{PREFIX}*.py")))


def run(name: str) -> Table:
    """Run one benchmark: its module has `run() -> Table`."""
    table = importlib.import_module(f"benchmarks.{PREFIX}{name}").run()
    if not isinstance(table, Table):
        raise TypeError(f"benchmarks.{PREFIX}{name}.run() gives no Table")
    return table


def main() -> int:
    """Print the tables; the status is 2 for a name that is unknown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Print medians and ratios.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(names())}; all if none is given")
    chosen = parser.parse_args().names or names()
    if unknown := sorted(set(chosen) - set(names())):
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(names())}")
    for name in chosen:
        sys.stdout.write(run(name).as_text() + "\n\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
