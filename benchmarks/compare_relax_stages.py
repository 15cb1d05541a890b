"""Read and print every stage that apache-tvm prints:  python -m benchmarks.compare_relax_stages [--layers 1,2,4].

Models and small programs go through TVM's default CPU pipeline. Before and after every pass the module is printed by
TVM, read here, printed here, read here again, and read by TVM again. With `--python PATH` another apache-tvm does it.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.printer.spelling import Spelling
from relax_core.printer.tvmscript import print_module

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = ("stages", "read", "round trip", "TVM reads its own", "TVM reads ours equal")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What holds of one stage; `words` say what does not, `why` why TVM does not read its own text back as equal."""

    is_read: bool = False
    is_round_trip: bool = False
    is_readable: bool = False
    is_equal: bool = False
    words: str = ""
    why: str = ""

    def row(self) -> tuple[int, ...]:
        return 1, self.is_read, self.is_round_trip, self.is_readable, self.is_equal


@dataclass(slots=True)
class Comparison:
    """What a run found: the verdicts by pass and program, and where TVM's own passes stop."""

    verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict[str, dict[str, Verdict]])
    stops: list[str] = field(default_factory=list[str])
    is_complete: bool = False

    @property
    def failures(self) -> tuple[str, ...]:
        """What failed, in words; one line for the passes of a program that fail alike."""
        return (*self._lines("words"), *(() if self.is_complete else ("the stages ended early",)))

    @property
    def unreadable(self) -> tuple[str, ...]:
        """The stages whose text TVM itself does not read back as an equal module."""
        return self._lines("why")

    def _lines(self, which: str) -> tuple[str, ...]:
        found: dict[tuple[str, str], list[str]] = {}
        for step, verdicts in self.verdicts.items():
            for name, verdict in verdicts.items():
                if words := getattr(verdict, which):
                    found.setdefault((name, words), []).append(step)
        return tuple(f"{name}, {' '.join(steps)}: {words}" for (name, words), steps in found.items())

    def as_text(self) -> str:
        """Give the table by pass, then what TVM does not read or run, then the failures."""
        counts = {step: _summed(verdicts.values()) for step, verdicts in self.verdicts.items()}
        total = [sum(column) for column in zip(*counts.values(), strict=True)]
        rows = [("", *COLUMNS), *((name, *map(str, row)) for name, row in counts.items()), ("all", *map(str, total))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))) for row in rows]
        parts = (
            ("TVM does not read back its own text as an equal module:", self.unreadable),
            ("TVM's own pass stops:", self.stops),
            ("FAILED here:", self.failures),
        )
        for title, items in parts:
            lines += [title, *(f"  {item}" for item in items)] if items else []
        return "\n".join(lines)


def _summed(verdicts: Iterable[Verdict]) -> list[int]:
    return [sum(column) for column in zip(*(item.row() for item in verdicts), strict=True)]


def compare(
    options: list[str], *, python: str = sys.executable, spelling: Spelling = "2026", keep: str = ""
) -> Comparison:
    """Run the stages of `benchmarks.relax_stages` under `python` and compare each; `keep` is a directory for texts."""
    found = Comparison()
    command = [python, "-m", "benchmarks.relax_stages", *options]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        verdict = Verdict()
        for line in worker.stdout:
            message = json.loads(line)
            if "stop" in message:
                found.stops.append(f"{message['name']}, {message['stop']}: {message['why']}")
                continue
            if "end" in message:
                found.is_complete = True
                break
            if "text" in message:
                try:
                    verdict, ours = _ours(message["text"], spelling)
                except (AssertionError, RecursionError, LookupError, TypeError, ValueError) as error:
                    verdict, ours = Verdict(words=f"crash: {type(error).__name__}: {error}"), None
                worker.stdin.write(json.dumps({"text": ours}) + "\n")
                worker.stdin.flush()
                verdict = _judged(verdict, json.loads(worker.stdout.readline()))
                _keep(keep, message, ours)
            found.verdicts.setdefault(message["step"], {})[message["name"]] = verdict
    return found


def _keep(directory: str, message: dict[str, str], ours: str | None) -> None:
    if directory:
        path = Path(directory) / f"{message['name']}.{message['step'].strip('()')}.py".replace(" ", "_")
        path.write_text(message["text"], encoding="utf-8")
        path.with_suffix(".ours.py").write_text(ours or "", encoding="utf-8")


def _ours(text: str, spelling: Spelling) -> tuple[Verdict, str | None]:
    """Read and print one stage; no text if it is not read."""
    parsed = parse_text(text, "stage")
    if has_errors(parsed.diagnostics) or len(parsed.modules) != 1:
        errors = [item.render() for item in parsed.diagnostics if item.severity == "error"]
        return Verdict(words=f"not read: {'; '.join(errors[:3])}"), None
    printed = print_module(parsed.modules[0], spelling=spelling).text
    again = parse_text(printed, "printed")
    errors = [item.render() for item in again.diagnostics if item.severity == "error"]
    difference = None if errors else first_difference(parsed.modules[0], again.modules[0], strict=True)
    words = (
        f"round trip: {errors[0]}"
        if errors
        else f"round trip: {difference.path} {difference.message}"
        if difference
        else ""
    )
    return Verdict(is_read=True, is_round_trip=not words, words=words), printed


def _judged(verdict: Verdict, answer: dict[str, Any]) -> Verdict:
    if not answer["readable"]:
        return replace(verdict, why=answer["why"][:200])
    is_equal = bool(answer.get("equal"))
    words = verdict.words if is_equal or not verdict.is_read else f"TVM on ours: {answer['error']}"
    return replace(verdict, is_readable=True, is_equal=is_equal, words=words)


def main() -> int:
    """Print the table; the status is 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", default="1,2,3,4", help="numbers of layers of the models")
    parser.add_argument("--no-programs", action="store_true", help="leave out the small programs")
    parser.add_argument("--python", default=sys.executable, help="the Python of another apache-tvm")
    parser.add_argument("--spelling", default="2026", choices=("2026", "2025", "2023"))
    parser.add_argument("--keep", default="", help="a directory for the texts")
    chosen = parser.parse_args()
    options = ["--layers", chosen.layers, *(["--programs", ""] if chosen.no_programs else [])]
    found = compare(options, python=chosen.python, spelling=chosen.spelling, keep=chosen.keep)
    sys.stdout.write(found.as_text() + "\n")
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
