"""Link generated code to functions, kernels and allocators, each resolved at its first call."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.vm.tiers.facts import BytecodeFacts, Room
from relax_core.vm.tiers.names import Names
from relax_core.vm.tiers.segments import Untransposed

Callee = Callable[..., Any]

ARENA_BYTES: Final = 1 << 16


class Callees(Protocol):
    """Resolves the callables behind names, each at its first call."""

    def function(self, index: int) -> Callee:
        """Return the generated code of a VM function; its last parameter is the depth of the call."""
        ...

    def kernel(self, index: int, untransposed: Untransposed | None) -> Callee:
        """Return a kernel by its index in the function table, or one that reads an operand before it is transposed."""
        ...

    def maker(self, index: int, room: Room, untransposed: Untransposed | None) -> Callee:
        """Return a variant of a kernel that allocates and returns its output."""
        ...


class Linker:
    """Gives names to the callables and tensors that generated code refers to."""

    def __init__(self, executable: Executable, namespace: dict[str, Any], callees: Callees) -> None:
        self.names = Names(executable, namespace)
        self.facts = BytecodeFacts(executable)
        self._callees = callees
        self.arena = np.zeros(ARENA_BYTES, np.uint8)
        """Memory into which kernels of a segment write the small tensors that are logged together."""

    def function(self, index: int) -> str:
        """Return the name of a VM function."""
        return self._late("function", index, lambda: self._callees.function(index))

    def kernel(self, index: int, untransposed: Untransposed | None) -> str:
        """Return the name of a kernel."""
        key = index, _operand_of(untransposed)
        return self._late("kernel", key, lambda: self._callees.kernel(index, untransposed))

    def maker(self, index: int, room: Room, untransposed: Untransposed | None) -> str:
        """Return the name of the variant of a kernel that allocates its output."""
        key = index, room, _operand_of(untransposed)
        return self._late("maker", key, lambda: self._callees.maker(index, room, untransposed))

    def zeros(self, room: Room) -> str:
        """Return the name of a function that allocates a cleared tensor."""
        return self.names.made("zeros", room, lambda _: partial(np.zeros, room.shape, np.dtype(room.dtype)))

    def buffer(self, room: Room, number: int) -> int:
        """Return the place of the preallocated tensor that is the `number`-th of its shape and dtype."""
        return self._place(
            self.names.made("buffer", (room, number), lambda _: np.empty(room.shape, np.dtype(room.dtype)))
        )

    def _place(self, name: str) -> int:
        place_of = self.names.place_of
        if name not in place_of:
            self.names.buffers.append(name)
            place_of[name] = -len(self.names.buffers)
        return place_of[name]

    def in_arena(self, room: Room, offset: int) -> int:
        """Return the place of a tensor `offset` bytes behind the start of the arena."""
        memory = self.arena[offset : offset + room.size_bytes]
        name = self.names.made("arena", (room, offset), lambda _: memory.view(room.dtype).reshape(room.shape))
        return self._place(name)

    def bytes_of_arena(self, size_bytes: int) -> str:
        """Return the name of a function that returns a copy of the first bytes of the arena."""
        return self.names.made("bytes", size_bytes, lambda _: self.arena[:size_bytes].tobytes)

    def _late(self, prefix: str, key: object, find: Callable[[], Callee]) -> str:
        namespace = self.names.namespace

        def first_of(name: str) -> Callee:
            def first(*args: Any) -> Any:
                namespace[name] = callee = find()
                return callee(*args)

            return first

        return self.names.made(prefix, key, first_of)


def _operand_of(untransposed: Untransposed | None) -> object:
    """Return what of an operand that is not transposed makes the kernel another one."""
    return None if untransposed is None else (untransposed.position, untransposed.order)
