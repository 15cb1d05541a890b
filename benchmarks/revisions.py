"""Operators at two revisions, in turns:  python -m benchmarks.revisions REVISION [OPERATOR ...].

The files of REVISION are put into a folder of their own, and a process for them and one for the files here time each
operator of docs/performance.md, a round of the one beside a round of the other. What is slower by more than `BOUND` is
looked at again, for longer. The status is 1 if it still is.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from statistics import median, quantiles
from typing import IO, Any

from benchmarks.operator_cases import CASES
from benchmarks.table import duration
from benchmarks.timing import aligned, calls_per_sample, sample

HERE = Path(__file__).resolve().parents[1]
ROUNDS, MORE_ROUNDS = 15, 61
BOUND = 1.03


@dataclass(frozen=True, slots=True)
class Compared:
    """What an operator takes at both revisions, in seconds by round."""

    name: str
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        """How often the time before goes into the time after, by round."""
        return tuple(after / before for before, after in zip(self.before, self.after, strict=True))

    @property
    def ratio(self) -> float:
        """Their median."""
        return median(self.ratios)

    def to_text(self) -> str:
        """Print it as a line of a table."""
        first, _, third = quantiles(self.ratios, n=4)
        times = f"{duration(median(self.before)):>8} {duration(median(self.after)):>8}"
        return f"  {self.name:28} {times} {self.ratio:7.3f}  {first:.3f} to {third:.3f}, {len(self.before)} rounds"


class Revision:
    """A process that times operators with the package of a tree."""

    def __init__(self, tree: Path) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-m", "benchmarks.revisions", "--serve", str(tree)),
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(HERE), "RELAXSCOPE_CACHE": "off"},
            text=True,
        )

    def ask(self, line: str) -> float:
        """Have it do something, and return its answer.

        Raises:
            RuntimeError: the process has ended.
        """
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        to.write(f"{line}\n")
        to.flush()
        answer = back.readline()
        if not answer:
            raise RuntimeError(f"the process ended at {line!r}")
        return float(answer)

    def close(self) -> None:
        """Let it end."""
        self._process.communicate()


def compare(before: Revision, after: Revision, name: str, rounds: int) -> Compared:
    """Time an operator at both revisions in turns; who begins changes from round to round."""
    for revision in (before, after):
        revision.ask(name)
    times: dict[Revision, list[float]] = {before: [], after: []}
    for number in range(rounds):
        for revision in (before, after) if number % 2 else (after, before):
            times[revision].append(revision.ask(""))
    return Compared(name, tuple(times[before]), tuple(times[after]))


def serve(tree: str, lines: IO[str]) -> None:
    """Prepare the operator that a line names, and time it for each empty line, with the package of a tree."""
    sys.path.insert(0, tree)
    rc: Any = import_module("relax_core")
    assert Path(rc.__file__).is_relative_to(tree), f"{rc.__file__} is not of {tree}"
    cases = {case.name: case for case in CASES}
    count = 1

    def call() -> object:
        raise AssertionError("no operator was named")

    timed: Callable[[], object] = call
    for line in lines:
        if name := line.strip():
            case = cases[name]
            inputs = [aligned(value) for value in case.inputs()]
            main = rc.VirtualMachine(rc.build(rc.parse(case.text, "case.py")))["main"]
            timed = lambda main=main, inputs=inputs: main(*inputs)  # noqa: E731
            timed()
            count = calls_per_sample(timed)
            answer = float(count)
        else:
            answer = sample(timed, count) / count
        sys.stdout.write(f"{answer!r}\n")
        sys.stdout.flush()


@contextmanager
def files_of(revision: str) -> Generator[Path]:
    """Put the files of a revision into a folder, for as long as that is used."""
    command = ("git", "-C", str(HERE), "archive", "--format=zip", revision, "relax_core")
    packed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(BytesIO(packed)) as files:
            files.extractall(folder)
        yield Path(folder)


def run(revision: str, names: Sequence[str]) -> list[Compared]:
    """Compare the named operators, and print each as it is done."""
    with ExitStack() as stack:
        before, after = Revision(stack.enter_context(files_of(revision))), Revision(HERE)
        stack.callback(before.close)
        stack.callback(after.close)
        found: list[Compared] = []
        for name in names:
            row = compare(before, after, name, ROUNDS)
            if row.ratio > BOUND:
                row = compare(before, after, name, MORE_ROUNDS)
            found.append(row)
            sys.stdout.write(row.to_text() + "\n")
            sys.stdout.flush()
    return found


def main() -> int:
    """Compare, print, and say what is slower."""
    known = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.revisions")
    parser.add_argument("revision", nargs="?", default="HEAD", help="what the files here are compared with")
    parser.add_argument("names", nargs="*", metavar="OPERATOR", help="default: all")
    parser.add_argument("--serve", metavar="TREE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve, sys.stdin)
        return 0
    if unknown := sorted({*options.names} - {*known}):
        parser.error(f"no operator {', '.join(unknown)}; there are {', '.join(known)}")
    found = run(options.revision, options.names or known)
    slower = [row for row in found if row.ratio > BOUND]
    mean = median(row.ratio for row in found)
    sys.stdout.write(f"{len(found)} operators, median ratio {mean:.3f}, slower by more than 3 %: {len(slower)}\n")
    sys.stdout.writelines(row.to_text() + "\n" for row in slower)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
