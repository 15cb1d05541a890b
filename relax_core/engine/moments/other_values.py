"""What a tensor of a run is held against: another time, another run, the definition in NumPy, or what TVM computes."""

from collections.abc import Iterable
from io import BytesIO
from typing import Final, Literal

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError
from relax_core.engine.debug.outcomes import diagnostic_words
from relax_core.engine.moments.definitions import defined_value
from relax_core.engine.moments.written import NothingToCompareError, origin_of
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.present.kernel_models import ForTvm
from relax_core.present.measures import bytes_text
from relax_core.present.running import moment
from relax_core.printer.tvmscript import print_for_tvm
from relax_core.vm.kernels import written_params
from relax_core.vm.limits import Limits
from relax_core.vm.objects.values import Array, Uninitialised, Value, describe, ranges_in
from relax_core.vm.recording.trace import FrameState, Trace

LARGEST_BYTES: Final = 32_000_000
"""The most that is handed to apache-tvm."""


def frame_of(trace: Trace, time: int, depth: int) -> FrameState:
    """Return a frame that the tensor that is looked at is in."""
    return trace.frames_at(time)[depth]


def value_then(trace: Trace, time: int, then: int, depth: int, expression: str) -> Value:
    """Return what an expression was at another time of the same call.

    Raises:
        NothingToCompareError: it had no value then.
    """
    others = trace.frames_at(then)
    if depth >= len(others) or frame_of(trace, time, depth).frame != others[depth].frame:
        raise NothingToCompareError("the call was not running then")
    return _value(trace, then, depth, expression)


def value_in(trace: Trace, time: int, other: Trace, depth: int, expression: str) -> tuple[int, Value]:
    """Return when another run of the program has come as far as this one at a time, and what an expression is there.

    Raises:
        NothingToCompareError: it is another program, it does not come there, or the expression has no value then.
    """
    then = _as_far(trace, time, other)
    own, others = trace.frames_at(time), other.frames_at(then)
    if [item.function for item in own] != [item.function for item in others]:
        raise NothingToCompareError("other functions call what runs there")
    return then, _value(other, then, depth, expression)


def value_in_numpy(
    trace: Trace, time: int, depth: int, expression: str, modules: Iterable[IRModule], limits: Limits
) -> Value:
    """Return what the binding of a value gives by the definitions of its operators, on the values that it read.

    Raises:
        NothingToCompareError: no binding of operators computed it.
    """
    origin = origin_of(trace, time, frame_of(trace, time, depth), expression)
    try:
        return defined_value(origin, modules, limits)
    except DiagnosedError as error:
        raise NothingToCompareError(diagnostic_words(error.diagnostics[0])) from error


def for_tvm(
    trace: Trace, time: int, depth: int, expression: str, words: Literal["0.25", "0.27"], processor: str
) -> ForTvm:
    """Return the call of the kernel that wrote a tensor, in the words of a version of TVM.

    Raises:
        NothingToCompareError: no kernel wrote the whole of it, or the arguments are too large.
    """
    origin = origin_of(trace, time, frame_of(trace, time, depth), expression)
    entry, raw = origin.call()
    kernel = trace.executable.kernels.get(entry.name) if entry.kind == "kernel" else None
    if kernel is None:
        raise NothingToCompareError(f"`{entry.name}` computed it, which is no kernel")
    args = [_argument(trace.as_it_was(item, origin.event)) for item in raw]
    arrays = [item for item in args if isinstance(item, np.ndarray)]
    size = sum(array.nbytes for array in arrays)
    if size > LARGEST_BYTES:
        most = bytes_text(LARGEST_BYTES)
        raise NothingToCompareError(f"the arguments have {bytes_text(size)}, at most {most} are handed to apache-tvm")
    places = [place for place, item in enumerate(args) if isinstance(item, np.ndarray)]
    own = tuple(ranges_in(origin.raw))
    same = [place for place in written_params(kernel) if tuple(ranges_in(raw[place])) == own]
    if not same:
        raise NothingToCompareError(f"`{entry.name}` wrote another part of its memory")
    content = BytesIO()
    for array in arrays:
        np.save(content, array, allow_pickle=False)
    alone = IRModule((Definition(GlobalVar(entry.name), kernel),))
    return ForTvm(
        entry.name,
        processor,
        (print_for_tvm(alone, words).text,),
        tuple(None if isinstance(item, np.ndarray) else item for item in args),
        (False,) * len(arrays),
        content.getvalue(),
        returned=places.index(same[-1]),
    )


def _argument(value: Value) -> Array | bool | int | float:
    match value:
        case np.ndarray() | bool() | int() | float():
            return value
        case Uninitialised(shape=shape, dtype=dtype):
            return np.zeros(shape, dtype)
        case _:
            raise NothingToCompareError(f"its kernel takes {describe(value)}")


def _value(trace: Trace, time: int, depth: int, expression: str) -> Value:
    try:
        return moment.value_at(trace, time, depth, expression)
    except DiagnosedError as error:
        raise NothingToCompareError(diagnostic_words(error.diagnostics[0])) from error


def _as_far(trace: Trace, time: int, other: Trace) -> int:
    """Return when a run comes by the instruction of a time as often as another one did by then."""
    if not _is_same(trace.executable, other.executable):
        raise NothingToCompareError("the other run is of another program")
    pc = trace.pc_at(time)
    if pc is None:
        if other.pc_at(len(other)) is None:
            return len(other)
        raise NothingToCompareError("the other run does not end")
    met = int(np.count_nonzero(trace.pcs[:time] == pc))
    times = np.flatnonzero(other.pcs == pc)
    if met < len(times):
        return int(times[met])
    if met == len(times) and other.pc_at(len(other)) == pc:
        return len(other)
    raise NothingToCompareError("the other run does not come there")


def _is_same(one: Executable, other: Executable) -> bool:
    """Tell whether two programs have the same instructions; one in which calls were replaced has more functions."""
    names = all(mine.name == its.name for mine, its in zip(one.functions, other.functions, strict=False))
    return one is other or (names and one.instructions == other.instructions)
