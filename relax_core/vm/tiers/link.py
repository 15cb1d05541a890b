"""What generated code calls: functions, kernels and makers of tensors, each found when it is first called."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.vm.tiers.facts import BytecodeFacts, Room
from relax_core.vm.tiers.names import Names

Callee = Callable[..., Any]

ARENA_BYTES: Final = 1 << 16


class Callees(Protocol):
    """Who finds what a name stands for, when it is called for the first time."""

    def function(self, index: int) -> Callee:
        """Return the generated function of a VM function; its last argument is the depth of the call."""
        ...

    def kernel(self, index: int) -> Callee:
        """Return the kernel of an entry of the function table."""
        ...

    def maker(self, index: int, room: Room) -> Callee:
        """Return a kernel that makes the tensor that it writes."""
        ...


class Linker:
    """Gives names to what generated code calls."""

    def __init__(self, executable: Executable, namespace: dict[str, Any], callees: Callees) -> None:
        self.names = Names(executable, namespace)
        self.facts = BytecodeFacts(executable)
        self._callees = callees
        self.arena = np.zeros(ARENA_BYTES, np.uint8)
        """Memory in which kernels put what is logged together."""

    def function(self, index: int) -> str:
        """Return the name of a VM function."""
        return self._late("function", index, lambda: self._callees.function(index))

    def kernel(self, index: int) -> str:
        """Return the name of a kernel."""
        return self._late("kernel", index, lambda: self._callees.kernel(index))

    def maker(self, index: int, room: Room) -> str:
        """Return the name of a kernel that makes the tensor that it writes."""
        return self._late("maker", (index, room), lambda: self._callees.maker(index, room))

    def zeros(self, room: Room) -> str:
        """Return the name of a function that allocates a tensor."""
        return self.names.made("zeros", room, lambda _: partial(np.zeros, room.shape, np.dtype(room.dtype)))

    def buffer(self, room: Room, number: int) -> int:
        """Return the place of a tensor that stays, the one of that number among those of its shape."""
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
        """Return the place of a tensor in the arena, so many bytes behind its start."""
        memory = self.arena[offset : offset + room.size_bytes]
        name = self.names.made("arena", (room, offset), lambda _: memory.view(room.dtype).reshape(room.shape))
        return self._place(name)

    def bytes_of_arena(self, size_bytes: int) -> str:
        """Return the name of a function that returns the first bytes of the arena."""
        return self.names.made("bytes", size_bytes, lambda _: self.arena[:size_bytes].tobytes)

    def _late(self, prefix: str, key: object, find: Callable[[], Callee]) -> str:
        namespace = self.names.namespace

        def first_of(name: str) -> Callee:
            def first(*args: Any) -> Any:
                namespace[name] = callee = find()
                return callee(*args)

            return first

        return self.names.made(prefix, key, first_of)
