"""Run `benchmarks/bench_<name>.py`, all or the named ones, or a report:  python -m benchmarks [NAME ...]."""

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks.table import Table

PREFIX = "bench_"
REPORTS = ("ledger",)


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
    """Print the tables and reports; the status is 2 for a name that is unknown, or that of a report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Print medians and ratios.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one of {', '.join((*names(), *REPORTS))}; all tables if none is given",
    )
    chosen = parser.parse_args().names or names()
    if unknown := sorted({*chosen} - {*names(), *REPORTS}):
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join((*names(), *REPORTS))}")
    reported = [importlib.import_module(f"benchmarks.{name}").main() for name in chosen if name in REPORTS]
    for name in (name for name in chosen if name not in REPORTS):
        sys.stdout.write(run(name).as_text() + "\n\n")
        sys.stdout.flush()
    return max(reported, default=0)


if __name__ == "__main__":
    sys.exit(main())
