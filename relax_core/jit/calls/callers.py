"""Fast ways into a kernel: a builtin for the sizes that it was called with, and the kernel itself for all others."""

import ctypes
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
import numpy.typing as npt

from relax_core.diagnostics import RunError
from relax_core.ir.prim import PrimVar
from relax_core.jit.calls.arguments import Bound, Signature
from relax_core.jit.calls.builtin import RECORD_WORDS, SLOT_WORDS, Argument, Builtin, Entry, Kind, OutputKind
from relax_core.jit.calls.builtin_layout import ALIGNED, C_CONTIGUOUS, WRITEABLE
from relax_core.jit.calls.trampoline import CallHost
from relax_core.jit.compilation.facts import Facts
from relax_core.jit.lowering.types import SCALAR_TYPES

if TYPE_CHECKING:
    from relax_core.jit.kernel import Kernel, Variant

# A kernel of more work, in nanoseconds, runs without the interpreter lock and can be cancelled.
LONG = 1 << 16
_WORD_HIGH = (1 << 63) - 1


class Caller:
    """Calls a kernel. Calls like one that was made before are checked and run by machine code.

    With `output`, a shape and a dtype, the last argument is made here and returned. Its elements are zero at first,
    which is left out if the kernel writes all of them before it reads any.
    """

    def __init__(
        self, kernel: "Kernel", call_host: CallHost | None, output: tuple[tuple[int, ...], np.dtype[Any]] | None
    ) -> None:
        self._kernel = kernel
        self._call_host = call_host
        self._output = output
        self._lock = Lock()
        self._variants: list[Variant] = []
        self._builtin: Builtin | None = None
        self.callable: Callable[..., object] = self._call
        if kernel.host.builtins is not None:
            input_count = len(kernel.function.params) - (output is not None)
            self._builtin = Builtin(kernel.host.builtins, self._call, self._stopped, input_count)
            self.callable = self._builtin.callable

    def _call(self, *inputs: object) -> object:
        made: npt.NDArray[Any] | None = None
        args = inputs
        if self._output is not None:
            made = np.zeros(*self._output)
            args = (*inputs, made)
        bound, variant = self._kernel.bind(args)
        if self._builtin is not None and variant not in self._variants:
            self._add(self._builtin, args, bound, variant)
        result = self._kernel.run(bound, variant, self._call_host)
        return result if made is None else made

    def _add(self, builtin: Builtin, args: tuple[object, ...], bound: Bound, variant: "Variant") -> None:
        entry = self._entry(args, bound, variant)
        with self._lock:
            if entry is not None and variant not in self._variants:
                self._variants.append(variant)
                builtin.add(entry)

    def _stopped(self, number: int, address: int) -> NoReturn:
        record = (ctypes.c_int64 * RECORD_WORDS).from_address(address)
        raise RunError((self._kernel.why_stopped(self._variants[number], record[:]),))

    def _entry(self, args: tuple[object, ...], bound: Bound, variant: "Variant") -> Entry | None:
        """Return what a builtin needs to run `variant` on arguments like these, `None` if it is not for builtins."""
        facts, signature = variant.facts, self._kernel.signature
        if not variant.is_specialised or facts.result is not None or facts.packed_calls or signature.has_strides:
            return None
        sizes = self._kernel.workspace_bytes(variant, bound)
        value_of = dict(zip(signature.symbols, bound.sizes, strict=True))
        arguments = [_argument(signature, position, arg, value_of) for position, arg in enumerate(args)]
        known = [item for item in arguments if item is not None]
        word_count = len(args) + len(bound.sizes) + len(sizes)
        if len(known) < len(args) or word_count > SLOT_WORDS or 2 + facts.value_count > RECORD_WORDS:
            return None
        return Entry(
            variant.program,
            tuple(known),
            self._pairs(signature) if bound.are_distinct else (),
            bound.sizes,
            tuple(
                -max(size, 1) if item.is_filled else max(size, 1)
                for size, item in zip(sizes, facts.workspace or (), strict=True)
            ),
            self._output_kind(facts),
            facts.work is None or facts.work > LONG,
        )

    def _pairs(self, signature: Signature) -> tuple[tuple[int, int], ...]:
        """Return the pairs of arrays one of which is written; an array that is made here overlaps no other."""
        last = len(signature.params) if self._output is None else len(signature.params) - 1
        arrays = [position for position in range(last) if signature.params[position][1] is not None]
        return tuple(
            (position, other)
            for position in arrays
            for other in arrays
            if position in signature.written
            and (other < position or other not in signature.written)
            and other != position
        )

    def _output_kind(self, facts: Facts) -> OutputKind:
        if self._output is None:
            return "given"
        return "empty" if facts.fills_last else "zeros"


def _argument(signature: Signature, position: int, arg: object, value_of: dict[PrimVar, int]) -> Argument | None:
    """Describe arguments like `arg`, `None` if machine code does not check their kind."""
    param, buffer = signature.params[position]
    dtype = signature.dtypes[position]
    if buffer is not None:
        array = cast("npt.NDArray[Any]", arg)
        flags = C_CONTIGUOUS | ALIGNED | (WRITEABLE if position in signature.written else 0)
        return Argument("array", dtype, array.shape, flags, array.nbytes)
    if param in value_of:
        return Argument("integer", low=value_of[param], high=value_of[param])
    scalar = SCALAR_TYPES.get(param.dtype)
    match param.dtype:
        case "handle":
            return Argument("ignored")
        case "float32" | "float64":
            kind: Kind = "float32" if param.dtype == "float32" else "float64"
            return Argument(kind)
        case _ if scalar is not None and scalar.is_integral:
            return Argument("integer", low=scalar.low, high=min(scalar.high, _WORD_HIGH))
        case _:
            return None
