"""Compare the TIR text with apache-tvm's on prim funcs that TVM makes:  python -m benchmarks.compare_tir [COUNT].

TVM prints each function; the text is read here, printed here, and read back here and by TVM, where it has to be
structurally equal to what TVM itself reads from its own text. Where TVM does not read its own text, ours has to read
back equal here; these are counted on their own, by the pass behind which they stand. COUNT limits the number of
operators.
"""

import importlib
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.tir_corpus import REFUSALS, Case, attempt, corpus
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.ir.equality import first_difference
from relax_core.printer.spelling import Spelling
from relax_core.printer.tvmscript import print_module

SPELLINGS: tuple[Spelling, ...] = ("2026", "2023", "2022")
STEPS = ("read here", "printed and read back here", "read back by TVM", "equal in TVM")
ROUND_TRIP = 2


@dataclass(slots=True)
class Outcome:
    """How far one function came, out of `STEPS`; `why` says what stopped it.

    `is_own` tells if TVM reads its own text; if it does not, there are only the first two steps.
    """

    steps: int = 0
    why: str = ""
    is_own: bool = True
    line_count: int = 0
    seconds: float = 0.0
    tvm_seconds: float = 0.0


@dataclass(slots=True)
class Summary:
    """The outcomes by group; `unread` are the functions by name whose text TVM itself does not read."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=lambda: defaultdict(list))
    unread: list[tuple[str, Outcome]] = field(default_factory=list[tuple[str, Outcome]])
    failures: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def add(self, case: Case, outcome: Outcome) -> None:
        """Take one outcome."""
        self.outcomes[case.group].append(outcome)
        if not outcome.is_own:
            self.unread.append((case.name, outcome))
        if outcome.why:
            self.failures.append((case.name, outcome.why))

    @property
    def all(self) -> list[Outcome]:
        """All outcomes."""
        return [item for items in self.outcomes.values() for item in items]


def text_of(case: Case) -> str | None:
    """Return the text that TVM prints, `None` if it cannot."""
    return attempt(lambda: case.module.script())


def compare(case: Case, text: str) -> Outcome:
    """Take one function through all steps."""
    outcome = Outcome(line_count=text.count("\n"))
    start = time.perf_counter()
    parsed = parse_text(text, case.name)
    outcome.seconds = time.perf_counter() - start
    outcome.why = _errors(parsed)
    if outcome.why:
        return outcome
    outcome.steps = 1
    outcome.why = _round_trip(parsed)
    if outcome.why:
        return outcome
    outcome.steps = 2
    _in_tvm(outcome, text, print_module(parsed.modules[0]).text)
    return outcome


def _errors(parsed: Parsed) -> str:
    errors = [item for item in parsed.diagnostics if item.severity == "error"]
    if errors:
        line = errors[0].span.line if errors[0].span else 0
        excerpt = parsed.source.line_text(line).strip() if line else ""
        return f"{errors[0].code} {errors[0].message} | {excerpt[:120]}"
    return "" if parsed.modules else "no module"


def _round_trip(parsed: Parsed) -> str:
    for spelling in SPELLINGS:
        again = parse_text(print_module(parsed.modules[0], spelling=spelling).text, spelling)
        why = _errors(again)
        if why:
            return f"{spelling}: {why}"
        difference = first_difference(parsed.modules[0], again.modules[0])
        if difference is not None:
            return f"{spelling}: {difference.path}: {difference.message}"
    return ""


def _in_tvm(outcome: Outcome, text: str, ours: str) -> None:
    """Read both texts in TVM, if it reads its own."""
    tvm = importlib.import_module("tvm")
    from_source = importlib.import_module("tvm.script").from_source
    start = time.perf_counter()
    own = attempt(lambda: from_source(text))
    outcome.tvm_seconds = time.perf_counter() - start
    if own is None:
        outcome.is_own = False
        return
    try:
        read = from_source(ours)
    except REFUSALS as error:
        outcome.why = "TVM: " + " ".join(str(error).split())[-160:]
        return
    outcome.steps = 3
    try:
        tvm.ir.assert_structural_equal(read, own)
        outcome.steps = len(STEPS)
    except REFUSALS as error:
        outcome.why = "differs in TVM: " + " ".join(str(error).split())[:300]


def run(cases: Iterable[Case]) -> Summary:
    """Compare all cases; a function that occurs twice is compared once."""
    summary = Summary()
    seen: set[str] = set()
    for case in cases:
        text = text_of(case)
        if text is not None and text not in seen:
            seen.add(text)
            summary.add(case, compare(case, text))
    return summary


def show(summary: Summary) -> str:
    """Print counts by group, speeds and what failed."""
    heads = (*STEPS[:2], "TVM reads its own", *STEPS[2:])
    lines = [f"{'group':16}{'functions':>10}" + "".join(f"{head:>28}" for head in heads)]
    for group, outcomes in [*summary.outcomes.items(), ("all", summary.all)]:
        counts = [sum(item.steps > step for item in outcomes) for step in range(len(STEPS))]
        counts.insert(2, sum(item.is_own for item in outcomes))
        lines.append(f"{group:16}{len(outcomes):>10}" + "".join(f"{count:>28}" for count in counts))
    equal = sum(item.steps == ROUND_TRIP for _, item in summary.unread)
    lines.append(
        f"TVM does not read its own text of {len(summary.unread)} functions; {equal} of them read back equal here:"
    )
    passes = Counter(name.rpartition(" after ")[2] for name, _ in summary.unread)
    lines += [f"{number:5} x after {name}" for name, number in passes.most_common()]
    timed = [item for item in summary.all if item.tvm_seconds and item.is_own]
    here, there = sum(item.seconds for item in timed), sum(item.tvm_seconds for item in timed)
    count = sum(item.line_count for item in timed)
    if here and there:
        lines.append(
            f"reading: {count / here:,.0f} lines a second here, {count / there:,.0f} by TVM, ratio {there / here:.1f}"
        )
    causes = Counter(why for _, why in summary.failures)
    first = {why: name for name, why in reversed(summary.failures)}
    lines += [f"{number:5} x {why}  ({first[why]})" for why, number in causes.most_common(40)]
    return "\n".join(lines)


def main() -> int:
    """Compare and print; the status is 1 if a function does not pass."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    summary = run(corpus(limit))
    sys.stdout.write(show(summary) + "\n")
    return 1 if summary.failures else 0


if __name__ == "__main__":
    sys.exit(main())
