"""What a run has used of its limits: instructions, memory, time, output, calls within calls."""

from typing import Final

from relax_core.vm.limits import Limits

CHUNK: Final = 1024
"""Time and cancellation are looked at after so many instructions."""
SMALL_BYTES: Final = 64
"""So many bytes per instruction are counted with the instructions, larger tensors one by one."""


class Meter:
    """Counts down.

    `fuel` is the number of instructions that may retire before the limits are looked at again, `room` the number of
    bytes that may be allocated before the memory in use is counted again.
    """

    __slots__ = ("first_chunk", "first_room", "fuel", "granted", "limits", "room")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        is_enough = limits.seconds > 0 and limits.memory_bytes >= CHUNK * SMALL_BYTES
        self.first_chunk = min(CHUNK, limits.events) if is_enough else 0
        self.first_room = limits.memory_bytes - self.first_chunk * SMALL_BYTES
        self.reset()

    def reset(self, *, is_over: bool = False) -> None:
        """Start a run. Unless it `is_over` already, the limits are first looked at behind a chunk of instructions."""
        self.fuel = self.granted = 0 if is_over else self.first_chunk
        self.room = self.limits.memory_bytes if is_over else self.first_room

    def refuel(self, needed: int) -> bool:
        """Add fuel until there is enough for `needed` instructions; tell whether the limit leaves so many.

        If not, what is left is added. Each instruction may allocate a little that nobody counts when it does.
        """
        left = self.limits.events - self.granted
        given = min(left, max(CHUNK, needed - self.fuel))
        self.fuel += given
        self.granted += given
        self.room -= given * SMALL_BYTES
        return self.fuel >= needed

    def give_back(self, count: int) -> None:
        """Return the fuel of instructions that were charged and did not retire."""
        self.fuel += count

    def set_room(self, room: int) -> bool:
        """Say that `room` bytes may still be allocated; tell whether they last for all the fuel.

        If not, the fuel is taken back, so that the memory is counted again before the next segment.
        """
        self.room = room - self.fuel * SMALL_BYTES
        if self.room >= 0:
            return True
        self.granted -= self.fuel
        self.room = room
        self.fuel = 0
        return False
