"""The explorer in one process: answers requests, with caches keyed by content."""

import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

from relax_core import late
from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic
from relax_core.engine import toolchain
from relax_core.engine.programs import reading
from relax_core.engine.programs.checking import found
from relax_core.engine.protocol import (
    AnyRequest,
    Check,
    Failure,
    Program,
    Report,
    Request,
    Restored,
    RestoreLayout,
    SampleList,
    Samples,
)
from relax_core.engine.recent import Recent
from relax_core.engine.replies import Found
from relax_core.engine.samples import list_samples
from relax_core.frontend.layout import restore_layout
from relax_core.frontend.parse import Parsed
from relax_core.present.problems import problems_of
from relax_core.vm.limits import Limits as RunLimits

R = TypeVar("R")

RUN_LIMITS = RunLimits(seconds=10.0, memory_bytes=1 << 30, retained_bytes=256 << 20)
_TEXT_COUNT = 12


class NotLoadedError(MemoryError):
    """This process may not have the memory, or the files, that libraries need to be loaded."""


class Session:
    """Answers requests one after the other; `cancel` may be called from another thread.

    `compile_descriptor` is the number of a socket at whose other end a process writes compiled kernels; without it,
    this process does. `loaded` is called when all is loaded that requests beyond the text need.
    """

    def __init__(
        self,
        limits: RunLimits = RUN_LIMITS,
        compile_descriptor: int | None = None,
        loaded: Callable[[], None] = lambda: None,
    ) -> None:
        self._limits = limits
        self._loaded = loaded
        self._compile_descriptor = compile_descriptor
        self._is_cancelled = threading.Event()
        self._texts: Recent[tuple[str, str, bytes], Parsed] = Recent(_TEXT_COUNT)
        self._toolchain: toolchain.Toolchain | None = None

    def cancel(self) -> None:
        """Ask the running request to stop: passes and the machine poll, kernels run out of fuel."""
        self._is_cancelled.set()
        if self._toolchain is not None:
            self._toolchain.cancel()

    def reset_cancel(self) -> None:
        """Forget a cancellation that came too late."""
        self._is_cancelled.clear()

    def request(self, message: Request[R], progress: Report = lambda _: None) -> R | Failure:
        """Answer `message`; what the program does wrong is a `Failure`, never an exception."""
        return cast("R | Failure", self.answer(cast("AnyRequest", message), progress))

    def asked(self, message: Request[R]) -> R:
        """Answer `message`.

        Raises:
            CompileError: what would be a `Failure`.
        """
        found = self.request(message)
        if isinstance(found, Failure):
            said = (Diagnostic(item.code, item.message, hint=item.hint) for item in found.problems)
            raise CompileError((*said,) or (Diagnostic("PL001", f"{found.title}. {found.message}"),))
        return found

    def answer(self, message: AnyRequest, progress: Report = lambda _: None) -> object:
        """Answer any message; errors of the program and our own mistakes become a `Failure`.

        Raises:
            MemoryError: the process is out of memory, and its state not to be trusted; the caller ends it.
        """
        try:
            return self._answer(message, progress)
        except DiagnosedError as error:
            return self._failure(error)
        except RecursionError:
            words = "The program is nested more deeply than can be followed."
            return Failure("limit", "Nested too deeply", words)
        except MemoryError:
            raise
        except Exception as error:  # the request boundary: our mistake must not end the session
            words = f"{type(error).__name__}: {error}"
            return Failure("internal", "Mistake in RelaxScope", words, rendered=traceback.format_exc(limit=-12))

    def _failure(self, error: DiagnosedError) -> Failure:
        if self._is_cancelled.is_set():
            return Failure("cancelled", "Cancelled", "Stopped as asked.")
        first = error.diagnostics[0]
        rendered = "\n".join(item.render() for item in error.diagnostics)
        return Failure("diagnosed", "Not run", first.message, problems_of(error.diagnostics), rendered)

    def _answer(self, message: AnyRequest, report: Report) -> object:
        of_text = OF_TEXTS.get(type(message))
        if of_text is not None:
            return of_text(self, message)
        return self._opened_toolchain().answer(message, report)

    def preparation(self, message: AnyRequest) -> Iterator[None]:
        """Make in parts what is likely to be asked for behind a message that was answered: one for each item taken.

        An error ends it, since whoever asks for the same hears of it then.

        Raises:
            MemoryError: as `answer` does.
        """
        try:
            if self._toolchain is not None:
                yield from self._toolchain.preparation(message)
        except MemoryError:
            raise
        except Exception:  # nobody has asked for this; the request that needs it meets the same, and says it
            return

    def hold(self, opened: "toolchain.OpenProgram") -> None:
        """Answer about a program with what is computed of it: stages or a run that the host made."""
        self._opened_toolchain().hold(opened)

    def check(self, message: Check) -> Found:
        """Parse and check every module of a text."""
        return found(self._parsed(message.program), message.prims)

    def _parsed(self, program: Program) -> Parsed:
        """Read the text of a program, kept while it is among the latest ones."""
        key = reading.fitting(program)
        return self._texts.remembered(key, lambda: reading.read(*key))

    def _opened_toolchain(self) -> "toolchain.Toolchain":
        if self._toolchain is None:
            late.load(toolchain)
            self._loaded()
            self._toolchain = toolchain.Toolchain(
                self._limits, self._is_cancelled.is_set, self._parsed, self._compile_descriptor
            )
        return self._toolchain


def _restored(_session: Session, message: RestoreLayout) -> Restored:
    layout = restore_layout(message.text)
    return Restored(layout.text, layout.changes)


def _samples(_session: Session, _message: Samples) -> SampleList:
    return SampleList(list_samples())


OF_TEXTS: Final[Mapping[type[Request[Any]], Callable[[Session, Any], object]]] = MappingProxyType(
    {
        Check: Session.check,
        RestoreLayout: _restored,
        Samples: _samples,
    }
)
"""What is answered without the passes and the machine, which are slow to load; the rest is in `ANSWERS`."""
