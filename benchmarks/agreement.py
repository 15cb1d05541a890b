"""Compare Relax passes with those of apache-tvm on many texts:  python -m benchmarks.agreement [PASS ...].

Each text goes through the pass of both; TVM's in a process of its own, since some break it down. Modules are compared
up to the names of variables, after TVM's text is read here. For each pass the counts are printed, then the differences
by class, with one text of each.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import relax_core as rc
from benchmarks.relax_programs import PROGRAMS
from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.passes.library import PASSES
from relax_core.printer.tvmscript import print_module

ROOT = Path(__file__).resolve().parent.parent
Verdict: TypeAlias = Literal["equal", "different", "not run by TVM", "not read here", "refused here"]


def texts() -> Iterator[tuple[str, str]]:
    """Give the texts by name: the small programs, and the samples in the spelling of 2026."""
    yield from PROGRAMS.items()
    for folder in ("relax", "prim", "seeds"):
        for path in sorted((ROOT / "samples" / folder).glob("*.py")):
            parsed = parse_text(path.read_text(encoding="utf-8"), path.name)
            yield from ((f"{folder}/{path.name}", print_module(item, spelling="2026").text) for item in parsed.modules)


@dataclass(slots=True)
class Agreement:
    """What a pass gave: how many texts there are of each verdict, and the texts of each class of difference."""

    name: str
    counts: Counter[Verdict] = field(default_factory=Counter[Verdict])
    classes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, text: str, verdict: Verdict, words: str = "") -> None:
        """Count a text; `words` tell its difference, or why it is not compared."""
        self.counts[verdict] += 1
        if words:
            self.classes.setdefault(f"{verdict}: {_class_of(words)}", []).append(text)

    def as_text(self) -> str:
        """Give a line of counts, then the classes, the largest first."""
        lines = [f"{self.name}: " + ", ".join(f"{count} {verdict}" for verdict, count in self.counts.most_common())]
        for words, found in sorted(self.classes.items(), key=lambda item: -len(item[1])):
            lines.append(f"  {len(found)} {words}  ({found[0]})")
        return "\n".join(lines)


def _class_of(words: str) -> str:
    """Return what differences of one kind have in common: numbers and names of functions are left out."""
    return re.sub(r"\d+", "N", re.sub(r"@\w+", "@f", words))[:140]


class Wheel:
    """The process that runs TVM's passes; another one is started where it broke down."""

    def __init__(self, python: str = sys.executable) -> None:
        self._command = (python, "-m", "benchmarks.run_relax_passes")
        self._process: subprocess.Popen[str] | None = None

    def run(self, text: str, name: str) -> dict[str, str]:
        """Return the texts "before" and "after" a pass, or "why" there are none."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True,
            )  # fmt: skip
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({"text": text, "pass": name}) + "\n")
        stdin.flush()
        line = stdout.readline()
        if line:
            return json.loads(line)
        status = self._process.wait()
        self._process = None
        return {"why": f"broke down with status {status}"}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()


def compare(name: str, programs: Iterable[tuple[str, str]], wheel: Wheel) -> Agreement:
    """Run a pass of both on each program."""
    found = Agreement(name)
    for title, text in programs:
        answer = wheel.run(text, name)
        if "why" in answer:
            # Most of it is the line of the text that TVM does not read.
            found.add(title, "not run by TVM", answer["why"].split()[0])
        else:
            found.add(title, *_verdict(name, answer["before"], answer["after"]))
    return found


def _verdict(name: str, before: str, after: str) -> tuple[Verdict, str]:
    read, theirs = parse_text(before, "before"), parse_text(after, "after")
    diagnostics = (*read.diagnostics, *theirs.diagnostics)
    if has_errors(diagnostics) or len(read.modules) != 1 or len(theirs.modules) != 1:
        return "not read here", next((item.message for item in diagnostics if item.severity == "error"), "no module")
    (module,) = read.modules
    if has_errors(errors := rc.check(module)):
        return "not read here", errors[0].message
    stage = rc.run_pipeline(module, name)[-1]
    if stage.is_failed:
        return "refused here", stage.diagnostics[0].message
    # What both print of an attribute or an order of functions is the same; it is compared as it is read.
    (ours,) = parse_text(print_module(stage.after, spelling="2026").text, "ours").modules
    difference = first_difference(ours, theirs.modules[0])
    return ("equal", "") if difference is None else ("different", f"{difference.path} {difference.message}")


def main() -> int:
    """Print how far each pass agrees, or those that are named; a name that no pass has is a mistake."""
    known = [name for dialect, name in PASSES if dialect == "relax"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passes", nargs="*", metavar="PASS", help="by default every Relax pass that needs no options")
    chosen: list[str] = parser.parse_args().passes
    if unknown := sorted({*chosen}.difference(known)):
        parser.error(f"no Relax pass named {', '.join(unknown)}")
    wheel = Wheel()
    for name in chosen or known:
        found = compare(name, texts(), wheel)
        if chosen or set(found.counts) != {"not run by TVM"}:
            sys.stdout.write(found.as_text() + "\n")
            sys.stdout.flush()
    wheel.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
