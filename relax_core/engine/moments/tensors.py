"""Answers about one tensor of a recorded run: what the tensor viewer shows, and the whole of it as a file."""

import io
from collections.abc import Iterator
from itertools import dropwhile
from typing import Any, Final, cast

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import TensorFileOf, TensorOf
from relax_core.engine.moments import other_values
from relax_core.engine.moments.answers import run_at
from relax_core.engine.moments.written import NothingToCompareError
from relax_core.engine.npy import read_npy
from relax_core.engine.programs.compilation import Compilation
from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule
from relax_core.present.kernel_models import ForTvm
from relax_core.present.measures import bytes_text
from relax_core.present.running import moment
from relax_core.present.running.moment_models import TensorFile, TensorView
from relax_core.present.running.tensors.window import Other, Plane, tensor_view
from relax_core.vm.recording.trace import Trace

LARGEST_FILE_BYTES: Final = 128 << 20


def view(message: TensorOf, context: RequestContext) -> TensorView:
    """Show a window of a tensor."""
    trace, time = run_at(message.program, message.time, context)
    array = _tensor(trace, time, message)
    plane = Plane(message.axes, message.fixed, message.top, message.left, message.rows, message.columns)
    other = None
    if message.against.what != "nothing":
        try:
            other = _other(trace, time, message, context)
        except NothingToCompareError as error:
            other = Other(None, -1, message.measure, message.against.name, str(error))
    return tensor_view(array, message.expression, time, plane, other, message.search.strip())


def _other(trace: Trace, time: int, message: TensorOf, context: RequestContext) -> Other:
    """Return what the tensor is compared with.

    Raises:
        NothingToCompareError: there is no such value.
    """
    against, measure, seen = message.against, message.measure, (message.depth, message.expression)
    match against.what:
        case "time":
            then = min(against.time, len(trace))
            return Other(other_values.value_then(trace, time, then, *seen), then, measure)
        case "run" if against.program is not None:
            other, _ = run_at(against.program, 0, context)
            then, value = other_values.value_in(trace, time, other, *seen)
            return Other(value, then, measure, against.name)
        case "numpy":
            modules = _forms(context.opened_by(message.program).compilation)
            value = other_values.value_in_numpy(trace, time, *seen, modules, context.limits)
            return Other(value, -1, measure, against.name)
        case "array" if against.problem:
            raise NothingToCompareError(against.problem)
        case "array":
            return Other(read_npy(against.content), -1, measure, against.name)
        case _:
            raise NothingToCompareError("nothing is named that it could be compared with")


def file(message: TensorFileOf, context: RequestContext) -> TensorFile:
    """Write a whole tensor as a .npy file, or the call that computed it."""
    trace, time = run_at(message.program, message.time, context)
    array = _tensor(trace, time, message)
    if message.tvm:
        return TensorFile(for_tvm=_for_tvm(trace, time, message, context))
    if array.nbytes > LARGEST_FILE_BYTES:
        words = f"the file would have {bytes_text(array.nbytes)}, at most {bytes_text(LARGEST_FILE_BYTES)} are sent"
        raise RunError((Diagnostic("EN035", words),))
    content = io.BytesIO()
    # Readers without ml_dtypes know no bfloat16; float32 holds each number of it.
    np.save(content, array.astype(np.float32) if array.dtype.kind == "V" else array)
    return TensorFile(content.getvalue())


def _forms(compilation: Compilation) -> Iterator[IRModule]:
    """Return the forms of a program in Relax, from the first one on."""
    forms = map(compilation.module_at, range(len(compilation.known_stages) + 1))
    return dropwhile(lambda module: dialect_of(module) == "relay", forms)


def _for_tvm(trace: Trace, time: int, message: TensorFileOf, context: RequestContext) -> ForTvm:
    assert message.tvm
    processor = context.engine_of(context.opened_by(message.program)).target.processor
    try:
        return other_values.for_tvm(trace, time, message.depth, message.expression, message.tvm, processor)
    except NothingToCompareError as error:
        raise RunError((Diagnostic("EN034", str(error)),)) from error


def _tensor(trace: Trace, time: int, message: TensorOf | TensorFileOf) -> np.ndarray[Any, Any]:
    value = moment.value_at(trace, time, message.depth, message.expression)
    if not isinstance(value, np.ndarray):
        raise RunError((Diagnostic("EN034", f"`{message.expression}` is no tensor at time {time}"),))
    return cast("np.ndarray[Any, Any]", value)
