"""The forms of a program that have all of it, each built once, and not at all if the one before is lowered to it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from relax_core.bytecode.build import Built
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError
from relax_core.engine.debug.bisect import Finding
from relax_core.engine.debug.outcomes import Outcome
from relax_core.engine.splicing.printed import is_printed
from relax_core.ir.equality import structural_equal
from relax_core.ir.module import IRModule


@dataclass(frozen=True, slots=True, eq=False)
class PrintedStage:
    """A stage: its name, its text, how to read and to build it, and `make`: any module as this one is built.

    Stages with equal `key` are the same form of the program. What `read` returns may hold functions that stand word for
    word in the stage before, so that spans in them are those of its text; `lower` builds it, and does not say where an
    error is. `reread` and `build` do the same with all spans in place; they do it all if there is no `lower`.
    """

    name: str
    key: object
    text: str
    read: Callable[[], IRModule]
    reread: Callable[[], IRModule]
    build: Callable[[], Built]
    make: Callable[[IRModule], Executable]
    lower: Callable[[IRModule], Built] | None = None

    def executable(self) -> Executable:
        """Build the stage."""
        return self.build().executable

    @property
    def is_printed(self) -> bool:
        """Tell whether a compiler printed the text, so that its mistakes are those of a pass, not of who wrote it."""
        return is_printed(self.text)


@dataclass(slots=True, eq=False)
class Whole:
    """A form of the program that has all of it.

    `below` are the forms that our passes bring it into, until the next one was looked for among them; `outcome` is what
    its run came to, if it came to a result.
    """

    number: int
    module: IRModule
    stage: PrintedStage
    before: "Whole | None" = None
    below: tuple[IRModule, ...] = ()
    outcome: Outcome | None = None
    _made: list[Executable] = field(default_factory=list[Executable])
    _twin: list[Executable] = field(default_factory=list[Executable])
    _is_broken: bool = False

    def executable(self) -> Executable:
        """Build the form, once.

        Raises:
            DiagnosedError: it cannot be built.
        """
        if not self._made:
            self._is_broken = True
            self._made.append(self._known(self.stage.build()))
        return self._made[0]

    def runnable(self) -> Executable:
        """Return what does the same as `executable`; its lines may be those of another text.

        Raises:
            DiagnosedError: it cannot be built.
        """
        if not self._twin and self.stage.lower is not None and not self._made:
            try:
                self._twin.append(self._known(self.stage.lower(self.module)))
            except DiagnosedError:
                # The form is built with all spans in place, to say where the error is.
                return self.executable()
        return self._twin[0] if self._twin else self.executable()

    def _known(self, built: Built) -> Executable:
        self.below = self.below or built.forms
        self._is_broken = False
        # A form that can be built is the last sound one itself, and those before it need not be kept for it.
        self.before = None
        return built.executable

    def found(self, find: Callable[[Executable], Finding]) -> Finding:
        """Look for something; only what is found has to be said in the names and lines of this form's text.

        Raises:
            DiagnosedError: the form cannot be built.
        """
        found = find(self.runnable())
        return find(self.executable()) if found.words and self._twin else found

    def known_outcome(self) -> Outcome | None:
        """Return what the run of the form before came to, if our own passes lower that one to this very program.

        Both are then built by the same passes from here on, and the run would do the same once more.
        """
        before = self.before
        if before is None or before.outcome is None:
            return None
        forms, before.below = before.below, ()
        for number, form in enumerate(forms, 1):
            if structural_equal(self.module, form):
                self.outcome = before.outcome
                self._twin.append(self._known(Built(before.runnable(), forms[number:])))
                return self.outcome
        return None

    def last_sound(self) -> "Whole":
        """Return the last form until this one that could be built, this one if there is none."""
        found: Whole | None = self
        while found is not None and found._is_broken:
            found = found.before
        return found or self
