"""The Operators page: the catalogue, the sheet of one operator, and a run of its example."""

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import Operators, SheetOf, VocabularyOf
from relax_core.engine.samples import list_samples
from relax_core.ops import find
from relax_core.present.catalog_of.catalog import PACKED, catalog, operator_sheet, packed_sheet, shown, shown_results
from relax_core.present.catalog_of.catalog_models import Catalog, Sheet, Tried, Vocabulary
from relax_core.present.catalog_of.packed import packed_function
from relax_core.present.editing.vocabulary import vocabulary
from relax_core.present.problems import problem_of
from relax_core.vm.recording.trace import Trace


def about(message: Operators | SheetOf | VocabularyOf) -> Catalog | Sheet | Vocabulary:
    """Answer a request about what all programs may use.

    Raises:
        CompileError: EN005 if there is no operator of that name.
    """
    match message:
        case Operators():
            return catalog()
        case SheetOf():
            return sheet(message)
        case VocabularyOf(language=language):
            return vocabulary(language)


def sheet(message: SheetOf) -> Sheet:
    """Present an operator, or a packed function with a sample that calls it.

    Raises:
        CompileError: EN005 if there is no such name.
    """
    if message.name.startswith(PACKED):
        item = packed_function(message.name.removeprefix(PACKED))
        if item is not None:
            return packed_sheet(item, _sample_that_calls(item.name))
    elif (spec := find(f"relax.{message.name}")) is not None:
        return operator_sheet(spec, message.form)
    raise CompileError((Diagnostic("EN005", f"there is no operator `{message.name}`"),))


def _sample_that_calls(name: str) -> tuple[str, str] | None:
    called = f'"{name}"'
    found = (item for item in list_samples() if item.area != "errors" and called in item.text)
    return next(((item.path, item.text) for item in found), None)


def tried(opened: OpenProgram, trace: Trace) -> Tried:
    """Present the inputs and the result of a run.

    The inputs are generated again, because a run may write into its arguments.
    """
    _, function = opened.source.entry()
    pairs = zip(function.params, opened.source.call()[1], strict=True)
    inputs = tuple(shown(param.name, value) for param, value in pairs)
    output = tuple(item.text for item in trace.output)
    if trace.error is not None:
        return Tried(inputs, output=output, problems=(problem_of(trace.error),))
    return Tried(inputs, shown_results(trace.result), output)
