"""What a notebook shows: the public function for it, and what it takes."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Protocol, TypeAlias, TypeGuard, cast

from relax_core.engine.api.texts import parse
from relax_core.engine.notebook import widget
from relax_core.engine.notebook.graphs import ModuleScreen
from relax_core.engine.notebook.recordings import RecordedScreen, RecordedSubject
from relax_core.engine.notebook.runs import RunScreen
from relax_core.engine.notebook.screen import Screen
from relax_core.engine.notebook.stages import StagesScreen
from relax_core.engine.notebook.still import Still
from relax_core.engine.notebook.subject import Subject, of_module, of_run, of_stages, of_trace
from relax_core.engine.pipelines.pipeline import Pipeline
from relax_core.engine.pipelines.run_files.host import RunRecording
from relax_core.engine.pipelines.sources import open_pipeline
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from relax_core.vm.recording.trace import Trace

__all__ = ["show"]


class Scripted(Protocol):
    """A module of apache-tvm, or a function of one: what it prints is read."""

    def script(self, *, show_meta: bool) -> str: ...


class PassRecorder(Protocol):
    """What `record_tvm.record` gives."""

    @property
    def trace(self) -> "Folder": ...


class Folder(Protocol):
    """Where a recorder writes."""

    folder: str


Showable: TypeAlias = IRModule | Sequence[Stage] | RunRecording | Trace | Pipeline | Scripted | PassRecorder
_Found: TypeAlias = Subject | RecordedSubject


def show(subject: Showable, *, live: bool = True) -> "Still | widget.ComponentsWidget":
    """Show a module, the stages of a pipeline or a run where a notebook shows the value of a cell.

    A module is shown as its graph, the stages of `run_pipeline` as the diff and graph of each pass, and a run of
    `record_run` or `open_run`, or its trace, in the stepper. Of apache-tvm it takes a module, which is read as it
    prints itself, and a recording: what `open_pipeline` gives, or the recorder of `record_tvm.record`.

    The notebook keeps a form of it, of at most 0.4 MB, that needs no kernel; with `live=False` that is all there is.

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


def _subject(subject: object) -> _Found:
    if _is_stages(subject):
        return of_stages(subject)
    match subject:
        case IRModule():
            return of_module(subject)
        case RunRecording():
            return of_run(subject)
        case Trace():
            return of_trace(subject)
        case Pipeline():
            return RecordedSubject(subject)
        case _:
            return _of_tvm(subject)


def _of_tvm(subject: object) -> _Found:
    """Return what apache-tvm has of a program, or recorded of its passes, by what is there: TVM is not needed here.

    Raises:
        TypeError: it is something else.
    """
    script: object = getattr(subject, "script", None)
    folder: object = getattr(getattr(subject, "trace", None), "folder", None)
    if isinstance(folder, str):
        return RecordedSubject(open_pipeline(folder))
    if not callable(script) or type(subject).__module__.partition(".")[0] != "tvm":
        words = "rc.show takes a module, stages of run_pipeline, a run of record_run, or a recording of open_pipeline"
        raise TypeError(f"{words}, and no {type(subject).__name__}")
    return of_module(parse(str(script(show_meta=True))))


def _is_stages(subject: object) -> TypeGuard[Sequence[Stage]]:
    """Tell whether something is what `run_pipeline` returns, or a part of it."""
    items = cast("Sequence[object]", subject) if isinstance(subject, tuple | list) else ()
    return bool(items) and all(isinstance(item, Stage) for item in items)


def _screen(subject: _Found) -> Screen:
    if isinstance(subject, RecordedSubject):
        return RecordedScreen(subject)
    match subject.kind:
        case "module":
            return ModuleScreen(subject)
        case "stages":
            return StagesScreen(subject)
        case "run":
            return RunScreen(subject)
