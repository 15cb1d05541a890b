"""What a notebook shows: the public function for it, and what it takes."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TypeAlias, TypeGuard, cast

from relax_core.engine.notebook import widget
from relax_core.engine.notebook.graphs import ModuleScreen
from relax_core.engine.notebook.runs import RunScreen
from relax_core.engine.notebook.screen import Screen
from relax_core.engine.notebook.stages import StagesScreen
from relax_core.engine.notebook.still import Still
from relax_core.engine.notebook.subject import Subject, of_module, of_run, of_stages, of_trace
from relax_core.engine.pipelines.run_files.host import RunRecording
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from relax_core.vm.recording.trace import Trace

__all__ = ["show"]

Showable: TypeAlias = IRModule | Sequence[Stage] | RunRecording | Trace


def show(subject: Showable, *, live: bool = True) -> "Still | widget.ComponentsWidget":
    """Show a module, the stages of a pipeline or a run where a notebook shows the value of a cell.

    A module is shown as its graph, the stages of `run_pipeline` as the diff and graph of each pass, and a run of
    `record_run` or `open_run`, or its trace, in the stepper. The notebook keeps a form of it, of at most 0.4 MB, that
    needs no kernel; with `live=False` there is that form alone.

    Raises:
        ModuleNotFoundError: anywidget is not installed, and `live` is not `False`.
        CompileError: it cannot be shown, such as a module whose functions cannot be read.
        TypeError: it is something else.
    """
    found = _subject(subject)
    still = Still(found)
    if not live:
        return still
    if find_spec("anywidget") is None:
        words = "a widget needs anywidget: install 'relaxscope[notebook]', or show(..., live=False) a picture"
        raise ModuleNotFoundError(words, name="anywidget")
    return widget.ComponentsWidget(_screen(found), still)


def _subject(subject: object) -> Subject:
    if _is_stages(subject):
        return of_stages(subject)
    match subject:
        case IRModule():
            return of_module(subject)
        case RunRecording():
            return of_run(subject)
        case Trace():
            return of_trace(subject)
        case _:
            words = "rc.show takes a module, the stages of run_pipeline, or a run of record_run or open_run"
            raise TypeError(f"{words}, and no {type(subject).__name__}")


def _is_stages(subject: object) -> TypeGuard[Sequence[Stage]]:
    """Tell whether something is what `run_pipeline` returns, or a part of it."""
    items = cast("Sequence[object]", subject) if isinstance(subject, tuple | list) else ()
    return bool(items) and all(isinstance(item, Stage) for item in items)


def _screen(subject: Subject) -> Screen:
    match subject.kind:
        case "module":
            return ModuleScreen(subject)
        case "stages":
            return StagesScreen(subject)
        case "run":
            return RunScreen(subject)
