"""The budget of a run: instructions and memory that may be used before the limits are checked."""

from typing import Final

from relax_core.vm.limits import Limits

CHUNK: Final = 1024
"""Time and cancellation are polled after so many instructions."""
SMALL_BYTES: Final = 64
"""Allocations up to this size are covered by the fuel of their instruction; larger ones are charged one by one."""


class Meter:
    """Counts a budget down.

    `fuel` is how many instructions may retire before the limits are checked again, `room` how many bytes may be
    allocated before the memory in use is counted again.
    """

    __slots__ = ("first_chunk", "first_room", "fuel", "granted", "limits", "room")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        is_enough = limits.seconds > 0 and limits.memory_bytes >= CHUNK * SMALL_BYTES
        self.first_chunk = min(CHUNK, limits.events) if is_enough else 0
        self.first_room = limits.memory_bytes - self.first_chunk * SMALL_BYTES
        self.reset()

    def reset(self, *, is_over: bool = False) -> None:
        """Start a run. Unless it `is_over` already, the limits are first checked after a chunk of instructions."""
        self.fuel = self.granted = 0 if is_over else self.first_chunk
        self.room = self.limits.memory_bytes if is_over else self.first_room

    def refuel(self, needed: int) -> bool:
        """Add fuel for `needed` instructions; return whether the limit allows that.

        If not, the remaining fuel is added. Each instruction may allocate a little that is not charged by itself.
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
        """Set how many bytes may still be allocated; return whether they suffice for all the fuel.

        If not, the fuel is taken back, so that memory is counted again before the next segment.
        """
        self.room = room - self.fuel * SMALL_BYTES
        if self.room >= 0:
            return True
        self.granted -= self.fuel
        self.room = room
        self.fuel = 0
        return False
