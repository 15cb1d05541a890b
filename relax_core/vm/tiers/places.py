"""Where generated code stands: Python's frames and tracebacks, as frames of the program."""

from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any

from relax_core.vm.decode import Code
from relax_core.vm.stack import Frame
from relax_core.vm.tiers.generate import Generated
from relax_core.vm.values import UNWRITTEN, StorageValue, Value


@dataclass(frozen=True, slots=True)
class Place:
    """A frame of generated code: its function, and the line it is at."""

    generated: Generated
    line: int
    frame: FrameType

    @property
    def pc(self) -> int:
        """The instruction, from the start of the function."""
        return self.generated.pc(self.line)

    @property
    def has_settled(self) -> bool:
        """Whether all that the log has noted had retired: the line stands before a segment."""
        return self.line - 1 in self.generated.text.charges

    @property
    def is_entered(self) -> bool:
        """Whether the log knows the frame."""
        return self.line - 1 >= self.generated.text.entered_at

    @property
    def behind(self) -> tuple[int, int]:
        """How many instructions behind this one are paid, and how many bytes that they allocate."""
        return (0, 0) if self.has_settled else self.generated.text.behind.get(self.pc, (0, 0))

    @property
    def has_open_checks(self) -> bool:
        """Whether a check of a parameter was left to a kernel that may not have run yet."""
        return not self.has_settled and self.pc in self.generated.text.checking

    def registers(self) -> dict[int, Value]:
        """Return what the registers hold; those that are not written yet are not there.

        A storage that the code did not make is there from the start: behind its tensor nobody reads it.
        """
        held, text = self.frame.f_locals, self.generated.text
        places = text.places
        names = ((index, f"r{places.get(index, index)}") for index in range(self.generated.entry.register_count))
        storages = {index: StorageValue(size_bytes) for index, size_bytes in text.storages.items()}
        return storages | {index: held[name] for index, name in names if name in held}

    def params(self) -> tuple[Value, ...]:
        """Return the arguments, while nothing is written over them."""
        held = self.registers()
        return tuple(held[index] for index in range(self.generated.entry.param_count))

    def standing(self, number: int) -> Frame:
        """Return a frame that tells where the code stands and what it holds."""
        held = self.registers()
        registers = [held.get(index, UNWRITTEN) for index in range(self.generated.entry.register_count)]
        return self._frame(Code((), tuple(registers)), number)

    def explicit(self, number: int, code: Code) -> Frame:
        """Return a frame with which the explicit tier can go on; `code` are its decoded instructions."""
        frame = self._frame(code, number)
        for index, value in self.registers().items():
            frame.registers[index] = value
        frame.slot_origins = self.frame.f_locals.get("origins", {})
        return frame

    def _frame(self, code: Code, number: int) -> Frame:
        index, entry = self.generated.index, self.generated.entry
        frame = Frame(index, code.steps, list(code.template), entry.start, -1, number)
        frame.pc = self.pc
        return frame


class Finder:
    """Finds the frames of generated code with a namespace."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._entries: set[CodeType] = set()
        self._generated_of: dict[CodeType, Generated] = {}

    def add(self, generated: Generated) -> None:
        """Know the frames of a function."""
        self._generated_of[generated.function.__code__] = generated

    def enter_from(self, caller: CodeType) -> None:
        """Know the code of a function that enters generated code."""
        self._entries.add(caller)

    def of_index(self, index: int) -> Generated | None:
        """Return a function by its index in the function table."""
        return next((item for item in self._generated_of.values() if item.index == index), None)

    def generated(self, frame: FrameType) -> Generated | None:
        """Return the function that a frame runs, `None` if it is not generated."""
        return self._generated_of.get(frame.f_code) if frame.f_globals is self._namespace else None

    def below(self, frame: FrameType | None) -> tuple[list[Place], FrameType | None]:
        """Return the places on which `frame` stands, the oldest first, down to where they were entered, and that."""
        places: list[Place] = []
        while frame is not None and frame.f_code not in self._entries:
            generated = self.generated(frame)
            if generated is not None:
                places.append(Place(generated, frame.f_lineno, frame))
            frame = frame.f_back
        return places[::-1], frame

    def innermost(self, frame: FrameType | None) -> Place | None:
        """Return the running place on which `frame` stands."""
        while frame is not None:
            generated = self.generated(frame)
            if generated is not None:
                return Place(generated, frame.f_lineno, frame)
            frame = frame.f_back
        return None

    def failed(self, traceback: TracebackType | None) -> list[Place]:
        """Return the places that an error left, the oldest first; `traceback` starts where they were entered."""
        places: list[Place] = []
        traceback = traceback.tb_next if traceback is not None else None
        # Where code was entered again, its frames are that entry's.
        while traceback is not None and traceback.tb_frame.f_code not in self._entries:
            generated = self.generated(traceback.tb_frame)
            if generated is not None:
                places.append(Place(generated, traceback.tb_lineno, traceback.tb_frame))
            traceback = traceback.tb_next
        return places
