"""A kernel: a prim func that is compiled when it is called, for the sizes that it is called with."""

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from threading import Lock
from time import perf_counter
from types import MappingProxyType
from typing import Any, NoReturn, Protocol, cast

import numpy as np
import numpy.typing as npt

from relax_core.diagnostics import CompileError, Diagnostic, RunError
from relax_core.ir.node import Node, children
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import BufferLoad, BufferStore, PrimFunc
from relax_core.jit.calls.arguments import BoundArguments, Signature, address_of
from relax_core.jit.calls.builtin import (
    ENDLESS,
    RECORD_WORDS,
    SLOT_WORDS,
    ArgumentCheck,
    Builtin,
    Builtins,
    BuiltinVariant,
    Kind,
    OutputKind,
)
from relax_core.jit.calls.builtin_layout import ALIGNED, C_CONTIGUOUS, WRITEABLE
from relax_core.jit.calls.trampoline import CallHost, Trampoline
from relax_core.jit.compilation.metadata import KernelMetadata, extents, size_bytes
from relax_core.jit.compilation.specialisation import Request, Specialisation, source_of
from relax_core.jit.compilation.target import Program, Target
from relax_core.jit.heat import Heat
from relax_core.jit.lowering.calls.host_calls import FAILED
from relax_core.jit.lowering.checks import cancelled, diagnose
from relax_core.jit.lowering.jumps import ENDED, STOPPED
from relax_core.jit.lowering.known.ranges import access_report
from relax_core.jit.lowering.lower import Lowered
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.options import KernelOptions
from relax_core.jit.remarks import KernelRemark
from relax_core.source import Span

# So many sizes at most get code of their own, the first ones at once. Others get code that works for any, and code of
# their own when that is known to be worth it.
SPECIALISED_VARIANTS = 8
AT_ONCE = 1

# Machine code compares a call with the sizes of the calls before, one after the other.
BUILTIN_ENTRIES = 32

# So far below zero that no payment of a running kernel brings it back, and no sum of payments wraps around.
CANCELLED_FUEL = -(1 << 62)

# A kernel of more work, in nanoseconds, runs without the interpreter lock and can be cancelled.
LONG = 1 << 16
_WORD_HIGH = (1 << 63) - 1

_WORDS_STEP = 16

# Sizes, whether arrays that are written overlap no others, and the arguments whose written bytes are given.
VariantKey = tuple[tuple[int, ...] | None, bool, frozenset[int] | None]
# The code of a kernel whose arguments all have constant shapes.
_ONLY_KEY: VariantKey = ((), True, None)
NOTHING_GIVEN: Mapping[int, np.ndarray[Any, Any]] = MappingProxyType({})


class UnwrittenReadError(RunError):
    """A kernel read an element of an argument that nothing wrote: the position of the argument, and the element."""

    def __init__(self, diagnostic: Diagnostic, position: int, element: tuple[int, ...]) -> None:
        super().__init__((diagnostic,))
        self.position = position
        self.element = element


class Host(Protocol):
    """What a kernel needs of its engine."""

    @property
    def target(self) -> Target:
        """The processor that it is compiled for."""
        ...

    @property
    def options(self) -> KernelOptions:
        """How it is compiled."""
        ...

    @property
    def fuel(self) -> int:
        """The limit of the work of one call."""
        ...

    @property
    def allocation_limit_bytes(self) -> int:
        """The most that it allocates."""
        ...

    @property
    def builtins(self) -> Builtins | None:
        """What builtins that run kernels share, `None` if they cannot be made here."""
        ...

    def compiled(self, kernel: "Kernel", wanted: Specialisation) -> "Compiled":
        """Find the code of a specialisation of `kernel`, or lower and compile it."""
        ...

    def is_at_hand(self, wanted: Specialisation) -> bool:
        """Tell whether the code of a specialisation is found, and nothing has to be compiled."""
        ...

    def make_ahead(self, wanted: Specialisation) -> str | None:
        """Let another process compile a specialisation; return what to ask `is_made` for, `None` if none can."""
        ...

    def is_made(self, key: str) -> bool:
        """Tell whether another process has compiled what `make_ahead` named so."""
        ...

    def start(self, record: "ctypes.Array[ctypes.c_int64]") -> None:
        """Declare that a kernel runs with this error record."""
        ...

    def finish(self, record: "ctypes.Array[ctypes.c_int64]") -> bool:
        """Declare that it ended; tell whether it was cancelled."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """Machine code, what calls of it need to know, and what it was lowered to, if that was done here."""

    metadata: KernelMetadata
    program: Program
    lowered: Lowered | None


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A kernel's code for certain sizes, or for any if it is not specialised; `lowered` if it was lowered here."""

    metadata: KernelMetadata
    lowered: Lowered | None
    wanted: Specialisation
    program: Program
    slots_type: "type[ctypes.Array[ctypes.c_uint64]]"
    record_type: "type[ctypes.Array[ctypes.c_int64]]"

    @property
    def is_for_any_sizes(self) -> bool:
        """Whether it runs with any values of the symbols."""
        return self.wanted.sizes is None


class Kernel:
    """A callable prim func. Arrays are written in place; what it returns is a Python number, or nothing."""

    def __init__(
        self, host: Host, function: PrimFunc, name: str, log: RewriteLog | None, functions: Mapping[str, PrimFunc]
    ) -> None:
        self.function = function
        self.functions = functions
        self.name = name
        self.host = host
        self.log = log
        self._signature: Signature | None = None
        self._caller: Caller | None = None
        self.specialised_variants = SPECIALISED_VARIANTS
        # Only where sums have one order does the code for any sizes compute the same bits.
        self.at_once = SPECIALISED_VARIANTS if host.options.mode == "fast" else AT_ONCE
        self.heat = Heat()
        self._variants: OrderedDict[VariantKey, Variant] = OrderedDict()
        self._ahead: dict[VariantKey, str | None] = {}
        self._looked_count = 0

    def __call__(
        self,
        *args: object,
        call_host: CallHost | None = None,
        written: Mapping[int, np.ndarray[Any, Any]] | None = None,
    ) -> bool | int | float | None:
        """Run on NumPy arrays and Python scalars, one per parameter; `call_host` calls packed functions by name.

        In the mode that finds what nothing wrote, `written` maps positions to a byte for each byte of the argument, 1
        where it is written, which the kernel follows; other arguments are all written. `None`: its outputs are not.

        Raises:
            RunError: an argument does not fit, or the kernel stopped: out of range, division by zero, cancelled.
            CompileError: the prim func cannot be compiled.
        """
        bound, variant = self.bind(args, None if written is None else frozenset(written))
        return self.run(bound, variant, call_host, written or NOTHING_GIVEN)

    def caller(self, call_host: CallHost | None = None) -> Callable[..., object]:
        """Return a callable that does what this kernel does, faster for the sizes that it was called with before."""
        if call_host is not None:
            return Caller(self, call_host, None).callable
        if self._caller is None:
            self._caller = Caller(self, None, None)
        return self._caller.callable

    def allocating_caller(self, shape: tuple[int, ...], dtype: str) -> Callable[..., object]:
        """Return a callable that takes all arguments but the last, an output of this shape, and returns that."""
        return Caller(self, None, (shape, np.dtype(dtype))).callable

    @property
    def signature(self) -> Signature:
        """What the kernel takes."""
        if self._signature is None:
            self._signature = Signature(self.function, self.name, self.locate)
        return self._signature

    def bind(self, args: Sequence[object], outputs: frozenset[int] | None = None) -> tuple[BoundArguments, Variant]:
        """Check arguments, and find or compile the code for them; `outputs` are those whose written bytes are given."""
        bound = self.signature.bind(args)
        return bound, self.variant(bound, outputs)

    def run(
        self,
        bound: BoundArguments,
        variant: Variant,
        call_host: CallHost | None,
        written: Mapping[int, np.ndarray[Any, Any]] = NOTHING_GIVEN,
    ) -> bool | int | float | None:
        """Run what `bind` returned; `written` are the bytes of the arguments that it was told of."""
        sizes = self.workspace_bytes(variant, bound)
        own = sizes[: len(sizes) - len(written)]
        workspace = [np.zeros(max(size, 1), np.uint8) for size in own]
        workspace += [written[position] for position in sorted(written)]
        words = [*bound.words, *bound.sizes, *(address_of(buffer) for buffer in workspace)]
        trampoline: Trampoline | None = None
        if variant.metadata.packed_calls:
            trampoline = Trampoline(variant.metadata.packed_calls, call_host or self._refuse)
            words.append(trampoline.address)
        slots = variant.slots_type(*words)
        record = variant.record_type(self.host.fuel)
        self.host.start(record)
        began = perf_counter()
        try:
            code = variant.program.run(ctypes.addressof(slots), ctypes.addressof(record))
        finally:
            was_cancelled = self.host.finish(record)
        if variant.is_for_any_sizes:
            self.heat.ran(bound.sizes, perf_counter() - began)
        if code == FAILED:
            error = trampoline.error if trampoline is not None else None
            assert error is not None, "a kernel ends so only behind the error of a packed function"
            raise error
        if code == STOPPED:
            raise self._stopped(variant, record[:], was_cancelled=was_cancelled)
        result = variant.metadata.scalar
        return None if code == ENDED or result is None else _number(record[1], result)

    def _stopped(self, variant: Variant, record: list[int], *, was_cancelled: bool) -> RunError:
        found = self.why_stopped(variant, record, was_cancelled=was_cancelled)
        site = self.lowered(variant).sites[record[1]]
        if site.kind == "unwritten" and isinstance(site.node, BufferLoad):
            buffers = [buffer for _, buffer in self.signature.params]
            if site.node.buffer in buffers:
                element = tuple(record[2 : 2 + len(site.node.indices)])
                return UnwrittenReadError(found, buffers.index(site.node.buffer), element)
        return RunError((found,))

    def why_stopped(self, variant: Variant, record: list[int], *, was_cancelled: bool = False) -> Diagnostic:
        """Say what the record of a kernel that stopped tells."""
        site = self.lowered(variant).sites[record[1]]
        values = record[2 : 2 + len(site.recorded)]
        if site.kind == "fuel" and (was_cancelled or record[0] < CANCELLED_FUEL // 2):
            return cancelled(site, values, self.locate)
        found = diagnose(site, values, self.locate)
        if site.kind != "range":
            return found
        condition = next((fact.condition for fact in access_report(self.function) if fact.node is site.node), "")
        hint = f"It is in range only if `{condition}`." if condition else ""
        return replace(found, hint=hint, related=self._declaration(site.node))

    def _refuse(self, name: str, args: tuple[object, ...]) -> NoReturn:
        del args
        message = f"`{self.name}` was started without the machine and cannot call the packed function `{name}`"
        hint = "Run the whole module on the machine, which knows the packed functions."
        raise RunError((Diagnostic("JT001", message, self.locate(self.function), hint),))

    def llvm_ir(self) -> str:
        """Return the LLVM IR of the latest call's variant; of the one for any sizes before the first call."""
        return self._latest().text

    def optimized_ir(self) -> str:
        """Return that LLVM IR after LLVM's optimisations."""
        latest = self._latest()
        return self.host.target.optimized_ir(latest.text, latest.pipeline)

    def assembly(self) -> str:
        """Return that machine code as text."""
        latest = self._latest()
        return self.host.target.assembly(latest.text, latest.pipeline)

    def remarks(self) -> tuple[KernelRemark, ...]:
        """Return which transformations the latest call's variant was made with, and which were refused."""
        return self._latest().remarks

    def locate(self, node: Node) -> Span | None:
        """Return the place in the user's text of a node of this function, or of what is nearest around it."""
        for item in (*_path(self.function, node), self.function):
            span = self.log.locate(item) if self.log is not None else item.span
            if span is not None:
                return span
        return None

    def _latest(self) -> Lowered:
        if self._variants:
            return self.lowered(next(reversed(self._variants.values())))
        return self._wanted((None, True, None)).lowered(self.locate)

    def lowered(self, variant: Variant) -> Lowered:
        """Return what a variant was lowered to, which is done again here if its code was found compiled."""
        if variant.lowered is not None:
            return variant.lowered
        lowered = variant.wanted.lowered(self.locate)
        assert source_of(lowered).key(self.host.target) == variant.metadata.program, (
            "its code is that of another program"
        )
        return lowered

    def _wanted(self, key: VariantKey) -> Specialisation:
        sizes, are_distinct, outputs = key
        return Specialisation(self.function, self.functions, self.host.options, sizes, are_distinct, outputs)

    def request_ahead(self) -> Request | None:
        """Return what this kernel will be compiled from, `None` if it depends on the arguments."""
        with suppress(CompileError):
            if not self.signature.symbols and not self._variants:
                return self._wanted(_ONLY_KEY).request()
        return None

    def variant(self, bound: BoundArguments, outputs: frozenset[int] | None = None) -> Variant:
        """Find or compile the code for arguments; `outputs` as for `bind`."""
        key: VariantKey = (bound.sizes, bound.are_distinct, outputs)
        found = self._variants.get(key)
        if found is None and not self._gets_own_code(key, bound.sizes):
            key = (None, bound.are_distinct, outputs)
            found = self._variants.get(key)
        if found is None:
            found = self._variants[key] = self._compile(key)
        self._variants.move_to_end(key)
        return found

    def _gets_own_code(self, key: VariantKey, sizes: tuple[int, ...]) -> bool:
        """Tell whether sizes get code of their own now: the first, those whose code is there, and those often called.

        That of the last is made by another process, and where there is none, here.
        """
        own = {values for values, _, _ in self._variants if values is not None}
        if len(self._variants) >= self.specialised_variants:
            return False
        if not sizes or sizes in own or len(own) < self.at_once:
            return True
        if not self.heat.knows(sizes):
            # To look takes longer than many a call, and what is not there for the first sizes will not be for others.
            self._looked_count += 1
            return self._looked_count <= self.specialised_variants and self.host.is_at_hand(self._wanted(key))
        if not self.heat.is_hot(sizes):
            return False
        if key not in self._ahead:
            self._ahead[key] = self.host.make_ahead(self._wanted(key))
        made = self._ahead[key]
        return made is None or self.host.is_made(made)

    def _compile(self, key: VariantKey) -> Variant:
        wanted = self._wanted(key)
        found = self.host.compiled(self, wanted)
        metadata = found.metadata
        word_count = len(self.function.params) + len(self.signature.symbols) + metadata.workspace_count
        word_count += bool(metadata.packed_calls)
        slots_type, record_type = _words_types(-(-max(word_count, 2 + metadata.value_count) // _WORDS_STEP))
        return Variant(metadata, found.lowered, wanted, found.program, slots_type, record_type)

    def workspace_bytes(self, variant: Variant, bound: BoundArguments) -> tuple[int, ...]:
        """Return the sizes of the buffers that the kernel is given besides its arguments."""
        limit = self.host.allocation_limit_bytes
        if variant.metadata.workspace is not None:
            known = tuple(item.size_bytes for item in variant.metadata.workspace)
            if sum(known) <= limit:
                return known
        value_of = dict(zip(self.signature.symbols, bound.sizes, strict=True))
        sizes: list[int] = []
        for buffer in self.lowered(variant).workspace:
            size = size_bytes(value_of, buffer)
            sizes.append(size or 0)
            if size is None or sum(sizes) > limit:
                found = extents(value_of, buffer)
                shape = ", ".join("?" if extent is None else str(extent) for extent in found)
                known_bytes = prod(extent for extent in found if extent is not None and extent >= 0)
                count = known_bytes * np.dtype(buffer.dtype).itemsize
                message = f"Allocating `{buffer.name}` with shape ({shape}) takes {count} bytes"
                hint = f"A kernel may allocate {limit} bytes."
                raise RunError((Diagnostic("JT017", message, self.locate(buffer), hint),))
        return tuple(sizes)

    def _declaration(self, access: Node) -> tuple[tuple[str, Span], ...]:
        """Say where the buffer of an access is declared, and with which shape."""
        assert isinstance(access, BufferLoad | BufferStore)
        buffer = access.buffer
        span = buffer.span if self.log is None else self.log.locate(buffer)
        shape = ", ".join(show_prim(dim) for dim in buffer.shape) + ("," if len(buffer.shape) == 1 else "")
        return () if span is None else ((f"`{buffer.name}` has shape ({shape})", span),)


@lru_cache
def _words_types(step_count: int) -> "tuple[type[ctypes.Array[ctypes.c_uint64]], type[ctypes.Array[ctypes.c_int64]]]":
    """Return the types of memory for so many words; making a type takes longer than a call of a small kernel."""
    count = step_count * _WORDS_STEP
    return ctypes.c_uint64 * count, ctypes.c_int64 * count


def _number(word: int, scalar: ScalarType) -> bool | int | float:
    """Read the bits of a returned value."""
    dtype = f"float{scalar.bits}" if scalar.kind == "float" else scalar.name
    return np.array([word], "int64").view(dtype)[0].item()


def _path(root: Node, target: Node) -> tuple[Node, ...]:
    """Return `target` and what encloses it in `root`, from the inside out."""
    parent: dict[Node, Node | None] = {root: None}
    stack = [root]
    while stack and target not in parent:
        current = stack.pop()
        for child in children(current):
            if child not in parent:
                parent[child] = current
                stack.append(child)
    path: list[Node] = [target]
    while (outer := parent.get(path[-1])) is not None:
        path.append(outer)
    return tuple(path)


@dataclass(slots=True)
class _Lent:
    """An entry of machine code for any sizes: its number, and how many calls it makes before Python sees one."""

    number: int
    calls: int


class Caller:
    """Calls a kernel. Calls like one that was made before are checked and run by machine code.

    With `output`, a shape and a dtype, the last argument is made here and returned. Its elements are zero at first,
    which is left out if the kernel writes all of them before it reads any.
    """

    def __init__(
        self, kernel: Kernel, call_host: CallHost | None, output: tuple[tuple[int, ...], np.dtype[Any]] | None
    ) -> None:
        self._kernel = kernel
        self._call_host = call_host
        self._output = output
        self._lock = Lock()
        self._entries: list[tuple[Variant, tuple[int, ...]]] = []
        self._lent: dict[tuple[tuple[int, ...], bool], _Lent] = {}
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
        bound = self._kernel.signature.bind(args)
        lent = self._lent.get((bound.sizes, bound.are_distinct))
        if lent is not None:
            self._kernel.heat.ran_unseen(bound.sizes, lent.calls)
        variant = self._kernel.variant(bound)
        if self._builtin is not None:
            self._prepare(self._builtin, args, bound, variant, lent)
        result = self._kernel.run(bound, variant, self._call_host)
        return result if made is None else made

    def _prepare(
        self,
        builtin: Builtin,
        args: tuple[object, ...],
        bound: BoundArguments,
        variant: Variant,
        lent: "_Lent | None",
    ) -> None:
        """Let machine code check and run calls like this one: of these sizes, also where the code is for any."""
        key = variant, bound.sizes
        if lent is not None and variant.is_for_any_sizes:
            lent.calls = self._kernel.heat.calls_left(bound.sizes)
            builtin.renew(lent.number, lent.calls)
        if key in self._entries or len(self._entries) >= BUILTIN_ENTRIES:
            return
        entry = self._entry(args, bound, variant)
        with self._lock:
            if entry is not None and key not in self._entries:
                if variant.is_for_any_sizes:
                    self._lent[bound.sizes, bound.are_distinct] = _Lent(len(self._entries), entry.patience)
                self._entries.append(key)
                builtin.add(entry)

    def _stopped(self, number: int, address: int) -> NoReturn:
        record = (ctypes.c_int64 * RECORD_WORDS).from_address(address)
        raise RunError((self._kernel.why_stopped(self._entries[number][0], record[:]),))

    def _entry(self, args: tuple[object, ...], bound: BoundArguments, variant: Variant) -> BuiltinVariant | None:
        """Return what a builtin needs to run `variant` on arguments like these, `None` if it is not for builtins."""
        metadata, signature = variant.metadata, self._kernel.signature
        if metadata.result is not None or metadata.packed_calls or signature.has_strides:
            return None
        sizes = self._kernel.workspace_bytes(variant, bound)
        value_of = dict(zip(signature.symbols, bound.sizes, strict=True))
        arguments = [_argument(signature, position, arg, value_of) for position, arg in enumerate(args)]
        known = [item for item in arguments if item is not None]
        word_count = len(args) + len(bound.sizes) + len(sizes)
        # Of any sizes it is not known what is filled.
        known_workspace = metadata.workspace
        filled = [False] * len(sizes) if known_workspace is None else [item.is_filled for item in known_workspace]
        if len(known) < len(args) or word_count > SLOT_WORDS or 2 + metadata.value_count > RECORD_WORDS:
            return None
        return BuiltinVariant(
            variant.program,
            tuple(known),
            self._pairs(signature) if bound.are_distinct else (),
            bound.sizes,
            tuple(-max(size, 1) if is_filled else max(size, 1) for size, is_filled in zip(sizes, filled, strict=True)),
            self._output_kind(metadata),
            metadata.work is None or metadata.work > LONG,
            self._kernel.heat.calls_left(bound.sizes) if variant.is_for_any_sizes else ENDLESS,
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

    def _output_kind(self, metadata: KernelMetadata) -> OutputKind:
        if self._output is None:
            return "given"
        return "empty" if metadata.fills_last else "zeros"


def _argument(signature: Signature, position: int, arg: object, value_of: dict[PrimVar, int]) -> ArgumentCheck | None:
    """Describe arguments like `arg`, `None` if machine code does not check their kind."""
    param, buffer = signature.params[position]
    dtype = signature.dtypes[position]
    if buffer is not None:
        array = cast("npt.NDArray[Any]", arg)
        flags = C_CONTIGUOUS | ALIGNED | (WRITEABLE if position in signature.written else 0)
        return ArgumentCheck("array", dtype, array.shape, flags, array.nbytes)
    if param in value_of:
        return ArgumentCheck("integer", low=value_of[param], high=value_of[param])
    scalar = SCALAR_TYPES.get(param.dtype)
    match param.dtype:
        case "handle":
            return ArgumentCheck("ignored")
        case "float32" | "float64":
            kind: Kind = "float32" if param.dtype == "float32" else "float64"
            return ArgumentCheck(kind)
        case _ if scalar is not None and scalar.is_integral:
            return ArgumentCheck("integer", low=scalar.low, high=min(scalar.high, _WORD_HIGH))
        case _:
            return None
