"""Where the small tensors of one segment lie while it is logged: side by side, so that all are logged as one."""

from typing import Final

from relax_core.vm.tiers.facts import Room
from relax_core.vm.tiers.link import SHELF_BYTES, Linker

ALIGNMENT: Final = 16


class Shelf:
    """The places of one segment; `offset_of` tells how far behind the start of the shelf each is."""

    def __init__(self, linker: Linker) -> None:
        self.offset_of: dict[int, int] = {}
        self._linker = linker
        self._size_bytes = 0

    def place(self, room: Room, number: int) -> int | None:
        """Return the place of one more tensor, `None` if there is no room left for it."""
        del number
        offset = -(-self._size_bytes // ALIGNMENT) * ALIGNMENT
        if offset + room.size_bytes > SHELF_BYTES:
            return None
        self._size_bytes = offset + room.size_bytes
        place = self._linker.shelved(room, offset)
        self.offset_of[place] = offset
        return place

    @property
    def name(self) -> str:
        """The name of what returns the bytes of all of it."""
        return self._linker.bytes_of_shelf(self._size_bytes)
