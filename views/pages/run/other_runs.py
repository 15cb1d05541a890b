"""The runs with which the run that is shown can be compared."""

from collections.abc import Iterator

import msgspec

from relax_core.diagnostics import plural
from relax_core.engine.components.stepper import Comparable
from relax_core.engine.programs.program import Against, Program
from relax_core.jit.options import MODES
from views.pages.run.program import changes_made, given_program
from views.pages.run.recorded import kept_run


def other_runs(shown: Program) -> tuple[Comparable, ...]:
    """Return the runs with fewer or more of the changes, with other rounding, and of a file, besides the one shown."""
    return tuple(
        Comparable(key, name, Against("run", program=program, name=name))
        for key, name, program in _runs(shown)
        if program != shown
    )


def _runs(shown: Program) -> Iterator[tuple[str, str, Program]]:
    own, changes = given_program(), changes_made()
    for count in range(len(changes) + 1):
        with_some = msgspec.structs.replace(own, changes=changes[:count])
        name = f"the run with {plural(count, 'change')}" if count else "the run without changes"
        yield f"changes{count}", name if changes else "the run here", with_some
    recorded = kept_run()
    if recorded is not None:
        yield "file", "the recorded run", recorded.program
    if not shown.run_file:
        for mode in MODES:
            yield f"mode-{mode}", f"the run with {mode} kernels", msgspec.structs.replace(shown, mode=mode)
