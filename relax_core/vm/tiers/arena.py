"""Where the small tensors of one segment lie while it is logged: side by side, so that one copy logs them all."""

from typing import Final

from relax_core.vm.tiers.facts import Room
from relax_core.vm.tiers.link import ARENA_BYTES, Linker

ALIGNMENT: Final = 16


class TensorArena:
    """Allocates the tensors of one segment, each aligned, one behind the other; nothing is freed on its own.

    The memory is the linker's and serves every segment in turn. `offset_of` gives the byte offset of a tensor by the
    number that `place` returned for it.
    """

    def __init__(self, linker: Linker) -> None:
        self.offset_of: dict[int, int] = {}
        self._linker = linker
        self._size_bytes = 0

    def place(self, room: Room, number: int) -> int | None:
        """Allocate a tensor and return the number of its constant; `None` if the arena is full."""
        del number
        offset = -(-self._size_bytes // ALIGNMENT) * ALIGNMENT
        if offset + room.size_bytes > ARENA_BYTES:
            return None
        self._size_bytes = offset + room.size_bytes
        place = self._linker.in_arena(room, offset)
        self.offset_of[place] = offset
        return place

    @property
    def name(self) -> str:
        """The name in generated code of a function that returns a copy of the allocated bytes."""
        return self._linker.bytes_of_arena(self._size_bytes)
