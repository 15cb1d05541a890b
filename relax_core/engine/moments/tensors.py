"""Answers about one tensor of a recorded run: what the tensor viewer shows, and the whole of it as a file."""

import io
from typing import Any, Final, cast

import numpy as np

from relax_core.diagnostics import DiagnosedError, Diagnostic, RunError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import TensorFileOf, TensorOf
from relax_core.engine.moments.answers import run_at
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
    if message.other_time >= 0:
        then = min(message.other_time, len(trace))
        other = Other(_value_then(trace, time, then, message), then, message.measure)
    return tensor_view(array, message.expression, time, plane, other, message.search.strip())


def file(message: TensorFileOf, context: RequestContext) -> TensorFile:
    """Write a whole tensor as a .npy file."""
    trace, time = run_at(message.program, message.time, context)
    array = _tensor(trace, time, message)
    if array.nbytes > LARGEST_FILE_BYTES:
        words = f"the file would have {bytes_text(array.nbytes)}, at most {bytes_text(LARGEST_FILE_BYTES)} are sent"
        raise RunError((Diagnostic("EN035", words),))
    content = io.BytesIO()
    # Readers without ml_dtypes know no bfloat16; float32 holds each number of it.
    np.save(content, array.astype(np.float32) if array.dtype.kind == "V" else array)
    return TensorFile(content.getvalue())


def _tensor(trace: Trace, time: int, message: TensorOf | TensorFileOf) -> np.ndarray[Any, Any]:
    value = moment.value_at(trace, time, message.depth, message.expression)
    if not isinstance(value, np.ndarray):
        raise RunError((Diagnostic("EN034", f"`{message.expression}` is no tensor at time {time}"),))
    return cast("np.ndarray[Any, Any]", value)


def _value_then(trace: Trace, time: int, then: int, message: TensorOf) -> Any:
    """Return what the expression was at another time of the same call, None if it had no value then."""
    own, others = trace.frames_at(time), trace.frames_at(then)
    is_same_call = message.depth < min(len(own), len(others)) and (
        own[message.depth].frame == others[message.depth].frame
    )
    if not is_same_call:
        return None
    try:
        return moment.value_at(trace, then, message.depth, message.expression)
    except DiagnosedError:
        return None
