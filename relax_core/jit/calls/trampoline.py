"""What kernels call for their packed functions: the host gets copies of the buffers, which it may change."""

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from relax_core.analysis.tir_memory import ONLY_READ
from relax_core.jit.lowering.calls.host_calls import WORD_BYTES, Argument, PackedCall
from relax_core.jit.lowering.scalars.types import ScalarType

CallHost = Callable[[str, tuple[object, ...]], object]
HOST_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


class Trampoline:
    """What a kernel calls for its packed functions; it keeps the error of the one that failed."""

    def __init__(self, calls: Sequence[PackedCall], host: CallHost) -> None:
        self.error: BaseException | None = None
        self.function = HOST_TYPE(self._run)
        self._calls = calls
        self._host = host

    @property
    def address(self) -> int:
        """The address of the machine code that calls back."""
        return ctypes.cast(self.function, ctypes.c_void_p).value or 0

    def _run(self, number: int, words: int, answer: int) -> int:
        try:
            self._call(self._calls[number], words, answer)
        except BaseException as error:  # An error cannot pass through machine code; the kernel raises it.
            self.error = error
            return 1
        return 0

    def _call(self, call: PackedCall, words: int, answer: int) -> None:
        args: list[object] = []
        only_read = ONLY_READ.get(call.name, ())
        changed: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []
        for position, argument in enumerate(call.arguments):
            match argument.kind:
                case "text":
                    args.append(argument.text)
                case "number":
                    args.append(_number(_words(words, 1)[0], argument.scalar))
                    words += WORD_BYTES
                case "array":
                    count = 1 + 2 * argument.rank
                    array = _array(_words(words, count), argument)
                    words += WORD_BYTES * count
                    # The memory is the kernel's; what the host keeps of it has to outlive the kernel.
                    copy = array.copy()
                    if position not in only_read:
                        changed.append((array, copy))
                    args.append(copy)
        value = self._host(call.name, tuple(args))
        for array, copy in changed:
            array[...] = copy
        if call.result is not None:
            ctypes.c_int64.from_address(answer).value = _word(value, call.result)


def _words(address: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(address))


def _number(word: int, scalar: ScalarType) -> bool | int | float:
    if scalar.kind == "float":
        return float(struct.unpack("<d", struct.pack("<q", word))[0])
    return bool(word) if scalar.kind == "bool" else word


def _array(words: list[int], argument: Argument) -> npt.NDArray[Any]:
    dtype = np.dtype(argument.scalar.name)
    extents, strides = words[1 : 1 + argument.rank], words[1 + argument.rank :]
    if 0 in extents:
        return np.empty(extents, dtype)
    last = sum((extent - 1) * stride for extent, stride in zip(extents, strides, strict=True))
    memory = (ctypes.c_char * ((last + 1) * dtype.itemsize)).from_address(words[0])
    return np.ndarray(extents, dtype, cast("Any", memory), strides=[stride * dtype.itemsize for stride in strides])


def _word(value: object, scalar: ScalarType) -> int:
    """Return the bits of what a packed function gave; nothing is 0."""
    given = np.asarray(0 if value is None else value)
    if scalar.kind == "float":
        return int(struct.unpack("<q", struct.pack("<d", float(given)))[0])
    # What does not fit a word keeps its lowest bits, as a cast in C does.
    bits = int(given) & ((1 << 64) - 1)
    return bits - (1 << 64) if bits >> 63 else bits
