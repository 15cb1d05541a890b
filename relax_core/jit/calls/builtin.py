"""Python builtins that check the arguments of a kernel in machine code and run it, as `builtin.ll` describes.

The structures are those that `builtin.ll` declares, field by field.
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from relax_core.jit.calls.builtin_layout import symbols
from relax_core.jit.compilation.compiler import Compiler
from relax_core.jit.compilation.llvm_source import LLVMSource
from relax_core.jit.compilation.target import Program, Target

# Words of an error record, and the most that a kernel can be given.
RECORD_WORDS: Final = 64
SLOT_WORDS: Final = 64
RECORD_COUNT: Final = 16
ENDLESS: Final = -1
"""The patience of an entry that is never passed over: counted down as a word without a sign, it lasts for ages."""

_ENTRY: Final = "call"
_TEXT: Final = Path(__file__).with_name("builtin.ll")
_METH_FASTCALL: Final = 0x0080
_NEW_FUNCTION = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)

Kind = Literal["array", "integer", "float32", "float64", "ignored"]
OutputKind = Literal["given", "empty", "zeros"]
_KINDS = MappingProxyType({"array": 0, "integer": 1, "float32": 2, "float64": 3, "ignored": 4})
_OUTPUTS = MappingProxyType({"given": 0, "empty": 1, "zeros": 2})


@dataclass(frozen=True, slots=True)
class ArgumentCheck:
    """What fits a parameter: an array of this dtype and shape with these flags, or a number from `low` to `high`."""

    kind: Kind
    dtype: np.dtype[Any] | None = None
    shape: tuple[int, ...] = ()
    flags: int = 0
    size_bytes: int = 0
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class BuiltinVariant:
    """A variant of a kernel: the arguments that it takes, and what it gets besides.

    `pairs` are the positions of arrays that may not overlap; `words` follow the arguments, and behind them the
    addresses of memory of `sizes` bytes, zeroed where a size is positive. With another output than "given" the last
    argument is made anew. Behind `patience` calls it is passed over until that is renewed.
    """

    program: Program
    arguments: tuple[ArgumentCheck, ...]
    pairs: tuple[tuple[int, int], ...]
    words: tuple[int, ...]
    sizes: tuple[int, ...]
    output: OutputKind
    is_long: bool
    patience: int = ENDLESS


class _ArgumentTable(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_int64) for name in ("kind", "descr", "rank", "dims", "flags", "size_bytes", "low", "high")
    )


class _VariantTable(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_int64)
        for name in (
            *("following", "entry", "number", "is_long", "output", "arguments", "pairs", "pair_count"),
            *("first_word", "words", "word_count", "sizes", "size_count", "patience"),
        )
    )


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int32),
        ("doc", ctypes.c_void_p),
    )


class _Context(ctypes.Structure):
    """The `self` of a builtin. Its method lies in it, as CPython needs that as long as the builtin."""

    _fields_ = (
        ("variant", ctypes.c_int64),
        ("fallback", ctypes.py_object),
        ("stopped", ctypes.py_object),
        ("is_cancelled", ctypes.py_object),
        ("records", ctypes.c_int64),
        ("input_count", ctypes.c_int64),
        ("method", _Method),
        ("name", ctypes.c_char * 16),
    )
    kept: list[object]


class Records(ctypes.Structure):
    """The error records of an engine's long kernels, which a cancellation finds; each starts with its fuel.

    The bits of `free` say which are not in use.
    """

    _fields_ = (
        ("fuel", ctypes.c_int64),
        ("free", ctypes.c_int64),
        ("records", (ctypes.c_int64 * RECORD_WORDS) * RECORD_COUNT),
    )

    def empty(self, fuel: int) -> None:
        """Set the fuel of all records; that of one which is not in use is set again before it is."""
        for record in self.records:
            record[0] = fuel


def builtin_program(compiler: Compiler) -> Program | None:
    """Return the machine code of all builtins, `None` if they cannot be trusted here."""
    if symbols() is None:
        return None
    return _shared_program() if compiler.cache is None else _program(compiler)


def _program(compiler: Compiler) -> Program:
    source = LLVMSource(_TEXT.read_text(encoding="utf-8"), _ENTRY, is_final=True)
    return compiler.program(source, symbols() or {})


@lru_cache(1)
def _shared_program() -> Program:
    """Compile it once for the process; it depends on nothing else."""
    return _program(Compiler(Target()))


@dataclass(frozen=True, slots=True, eq=False)
class Builtins:
    """What the builtins of an engine share: their machine code, and what a long kernel runs with."""

    program: Program
    records: Records
    is_cancelled: Callable[[], bool]


class Builtin:
    """A callable that runs the first of its entries that fits, and `fallback` if there is none.

    `stopped` gets the number of an entry and the address of its error record when it stopped, and raises.
    """

    def __init__(
        self,
        shared: Builtins,
        fallback: Callable[..., object],
        stopped: Callable[[int, int], object],
        input_count: int,
    ) -> None:
        records = ctypes.addressof(shared.records)
        context = self._context = _Context(0, fallback, stopped, shared.is_cancelled, records, input_count)
        context.kept = [shared]
        context.name = b"kernel"
        start = ctypes.addressof(context)
        context.method = _Method(start + _Context.name.offset, shared.program.address, _METH_FASTCALL, None)
        new_function = _NEW_FUNCTION(("PyCFunction_NewEx", ctypes.pythonapi))
        self.callable: Callable[..., object] = new_function(start + _Context.method.offset, context, "relax_core")
        self._tables: list[_VariantTable] = []

    def add(self, entry: BuiltinVariant) -> None:
        """Let calls that fit `entry` run it; entries are numbered from 0 in the order in which they are added."""
        table = self._table(entry, len(self._tables))
        self._tables.append(table)
        # What takes arrays to be distinct is faster than what also fits those that are.
        chain = sorted(self._tables, key=lambda item: -item.pair_count)
        following = 0
        for item in reversed(chain):
            item.following, following = following, ctypes.addressof(item)
        self._context.variant = following

    def renew(self, number: int, patience: int) -> None:
        """Let so many further calls run an entry."""
        self._tables[number].patience = patience

    def _table(self, entry: BuiltinVariant, number: int) -> _VariantTable:
        arguments = (_ArgumentTable * len(entry.arguments))(*(self._argument(item) for item in entry.arguments))
        pairs = tuple(position for pair in entry.pairs for position in pair)
        table = _VariantTable(
            *(0, entry.program.address, number, entry.is_long, _OUTPUTS[entry.output], ctypes.addressof(arguments)),
            *(self._words(pairs), len(entry.pairs), len(entry.arguments), self._words(entry.words), len(entry.words)),
            *(self._words(entry.sizes), len(entry.sizes), entry.patience),
        )
        self._context.kept += (table, arguments, entry)
        return table

    def _argument(self, item: ArgumentCheck) -> _ArgumentTable:
        descr = 0 if item.dtype is None else id(item.dtype)
        shape = self._words(item.shape)
        return _ArgumentTable(
            _KINDS[item.kind], descr, len(item.shape), shape, item.flags, item.size_bytes, item.low, item.high
        )

    def _words(self, values: Sequence[int]) -> int:
        """Return the address of `values` as 64-bit words, which lie there as long as the builtin."""
        words = (ctypes.c_int64 * max(len(values), 1))(*values)
        self._context.kept.append(words)
        return ctypes.addressof(words)
