"""The runs with which the run that is shown can be compared."""

from collections.abc import Iterator

import msgspec

from relax_core.engine.components.stepper import Comparable
from relax_core.engine.programs.program import Against, Program
from relax_core.jit.options import MODES
from views.pages.run.forked.forks import changes_of, forks
from views.pages.run.program import given_program
from views.pages.run.recorded import kept_run


def other_runs(shown: Program) -> tuple[Comparable, ...]:
    """Return the run itself, its forks, the run of a file, and those with other rounding, besides the one shown."""
    return tuple(
        Comparable(key, name, Against("run", program=program, name=name))
        for key, name, program in _runs(shown)
        if program != shown
    )


def _runs(shown: Program) -> Iterator[tuple[str, str, Program]]:
    own, tree = given_program(), forks()
    yield "run", "the run", own
    for number, fork in enumerate(tree):
        yield (
            f"fork{number}",
            f"{fork.name}: {fork.change.text}",
            msgspec.structs.replace(own, changes=changes_of(tree, number)),
        )
    recorded = kept_run()
    if recorded is not None:
        yield "file", "the recorded run", recorded.program
    if not shown.run_file:
        for mode in MODES:
            yield f"mode-{mode}", f"the run with {mode} kernels", msgspec.structs.replace(shown, mode=mode)
