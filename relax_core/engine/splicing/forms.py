"""The forms of a program that a recorded pipeline printed, each as something that runs.

A stage holds the whole program, or prim funcs alone, which take the places of those of the same name in the last whole
form. A stage that holds none of the program's functions belongs to a part that another pass compiled on its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from relax_core.bytecode.executable import Executable
from relax_core.check.prim.prim_scopes import scopes
from relax_core.diagnostics import DiagnosedError, Diagnostic
from relax_core.engine.debug.bisect import Call, Candidate, Finding, Look, RunMachine, run_outcome
from relax_core.engine.debug.intermediates import Intermediate
from relax_core.engine.debug.outcomes import Outcome, diagnostic_words, failed, hindered
from relax_core.engine.debug.verdicts import listed
from relax_core.engine.halving.changes import Changes, KernelChanges, ModuleChanges
from relax_core.engine.splicing import within
from relax_core.engine.splicing.lowered_calls import with_packed_calls
from relax_core.engine.splicing.packed import is_packed, unpacked, with_own_memory
from relax_core.engine.splicing.wholes import PrintedStage, Whole
from relax_core.ir.attrs import attr
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.passes.core import ABSENT_DATA
from relax_core.vm.recording.trace import Trace

DEVICE_KERNEL: Final = 2
"""The calling convention of a function that runs on a device."""
EMPTY: Final = "sub-module: it holds no function"
SCRATCH: Final = "sub-module: it holds none of the program's functions"
DEVICE: Final = "device code: it holds only the parts of the program that run on a device"
UNREADABLE: Final = "calling convention: its body cannot be taken out of the packed arguments"
PATIENCE: Final = 2
"""How often a run that took too long is made again."""
_MADE_ILL: Final = ("RS", "WF", "TY")
"""The families of errors that are mistakes of a program, and not of what reads it."""


@dataclass(frozen=True, slots=True, eq=False)
class Spliced:
    """The prim funcs of a stage as kernels of the whole form, and why others are none."""

    kernels: Mapping[str, PrimFunc]
    reasons: Mapping[str, str]
    fault: str = ""


def forms(stages: Iterable[PrintedStage]) -> Iterator[Candidate]:
    """Yield what runs for each stage, in order."""
    seen: dict[object, int] = {}
    whole: Whole | None = None
    latest: dict[str, PrimFunc] = {}
    names = _Names()
    for number, stage in enumerate(stages):
        base = -1 if whole is None else whole.number
        known = seen.get((stage.key, base), seen.get(stage.key, -1))
        if known >= 0:
            yield Candidate(stage.name, stage.executable, same_as=known)
            continue
        try:
            module = stage.read()
        except DiagnosedError as error:
            seen[stage.key] = number
            yield _unread(stage, error)
            continue
        aside = _aside(module, whole, is_printed=stage.is_printed)
        if not aside and (module.relax_functions or whole is None):
            seen[stage.key] = number
            whole = Whole(number, module, stage, whole)
            latest = {var.name: item for var, item in module.prim_funcs}
            attempt, look = _whole_attempt(stage, whole), _whole_look(stage, whole, names)
            yield Candidate(
                stage.name, whole.executable, attempt=attempt, look=look, is_printed=stage.is_printed,
                changes=_whole_changes(stage, whole),
            )  # fmt: skip
            continue
        seen[(stage.key, base)] = number
        if whole is None or aside:
            is_part = aside == DEVICE
            yield Candidate(stage.name, stage.executable, fault=aside or EMPTY, is_aside=not is_part)
            continue
        spliced, before = splice(module, latest), dict(latest)
        latest.update((name, item) for name, item in spliced.kernels.items())
        sound = whole.last_sound()
        look, attempt = _look(sound, before, spliced.kernels), _attempt(sound, spliced)
        changes = _changes(sound, before, spliced.kernels)
        yield Candidate(stage.name, stage.executable, attempt=attempt, look=look, is_printed=True, changes=changes)


def _unread(stage: PrintedStage, error: DiagnosedError) -> Candidate:
    words = diagnostic_words(error.diagnostics[0])
    if _is_made_ill(stage, error.diagnostics[0]):
        outcome, finding = failed(error.diagnostics[0]), within.mistake_finding(stage.text, error.diagnostics[0])
        look: Look = lambda _call, _record, is_coarse: finding  # noqa: E731
        return Candidate(stage.name, stage.executable, attempt=lambda _call, _run: outcome, look=look)
    return Candidate(stage.name, stage.executable, fault=f"it does not build: {words}")


def _is_made_ill(stage: PrintedStage, error: Diagnostic) -> bool:
    """Tell whether an error is the mistake of the pass that made a stage, and not that data are not at hand."""
    return stage.is_printed and error.code[:2] in _MADE_ILL and error.code != ABSENT_DATA


def _aside(module: IRModule, whole: Whole | None, *, is_printed: bool) -> str:
    """Say why a stage is no form of the program, "" if it is one."""
    if not module.definitions:
        return EMPTY
    known = frozenset(() if whole is None else whole.module.names)
    if whole is None or known.intersection(module.names):
        return ""
    if module.relax_functions:
        return SCRATCH if is_printed else ""
    is_device = any(attr(item.attrs, "calling_conv") == DEVICE_KERNEL for _, item in module.prim_funcs)
    is_named_so = any(name.startswith(f"{base}_kernel") for name in module.names for base in known)
    return DEVICE if is_device or is_named_so else SCRATCH


def splice(module: IRModule, latest: Mapping[str, PrimFunc]) -> Spliced:
    """Return the prim funcs of `module` as kernels in the places of those of `latest`, which have the same names."""
    kernels: dict[str, PrimFunc] = {}
    reasons: dict[str, str] = {}
    fault = ""
    for var, function in module.prim_funcs:
        model = latest.get(var.name)
        if model is None:
            continue
        found = with_packed_calls(with_own_memory(function))
        if is_packed(found):
            taken = unpacked(found, model)
            if taken is None:
                reasons[var.name] = UNREADABLE
                continue
            found = taken
        if why := _other_signature(found, model):
            reasons[var.name] = why
            continue
        fault = fault or _fault(var.name, found, model)
        kernels[var.name] = found
    missing = [name for name in latest if name not in kernels and name not in reasons]
    reasons |= dict.fromkeys(missing, "the stage does not hold it")
    return Spliced(kernels, reasons, fault)


def _other_signature(function: PrimFunc, model: PrimFunc) -> str:
    was, is_ = (", ".join(_param_words(item)) for item in (model, function))
    return "" if was == is_ else f"signature changed: it takes ({is_}), took ({was})"


def _param_words(function: PrimFunc) -> Iterator[str]:
    for param in function.params:
        buffer = function.buffer_of(param)
        yield param.dtype if buffer is None else f"{buffer.dtype} buffer of rank {len(buffer.shape)}"


def _fault(name: str, function: PrimFunc, model: PrimFunc) -> str:
    """Say what a pass made ill-formed in a function that was well-formed in front of it."""
    found = [item for item in scopes(function) if item.severity == "error" and "has no value" in item.message]
    if not found or any(item.severity == "error" for item in scopes(model)):
        return ""
    return f"`{name}` is ill-formed: {diagnostic_words(found[0])}"


def _whole_attempt(stage: PrintedStage, whole: Whole) -> Callable[[Call, RunMachine], Outcome]:
    def attempt(call: Call, run_machine: RunMachine) -> Outcome:
        if (known := whole.known_outcome()) is not None:
            return known
        try:
            executable = whole.runnable()
        except DiagnosedError as error:
            if _is_made_ill(stage, error.diagnostics[0]):
                return failed(error.diagnostics[0])
            return hindered(f"it does not build: {diagnostic_words(error.diagnostics[0])}")
        outcome = _run_patiently(executable, call, run_machine)
        whole.outcome = outcome if outcome.error is None and not outcome.hindrance else None
        return outcome

    return attempt


def _run_patiently(executable: Executable, call: Call, run_machine: RunMachine) -> Outcome:
    """Run, again if the time was over: what was compiled until then is kept, and the next run gets further."""
    outcome = run_outcome(executable, call, run_machine)
    for _ in range(PATIENCE):
        if outcome.error is None or outcome.error.code != "VM005":
            break
        outcome = run_outcome(executable, call, run_machine)
    return outcome


def _attempt(whole: Whole, spliced: Spliced) -> Callable[[Call, RunMachine], Outcome]:
    """Return how to run a whole form with other kernels, without those that cannot run here."""

    def attempt(call: Call, run_machine: RunMachine) -> Outcome:
        if spliced.fault:
            return failed(Diagnostic("WF022", spliced.fault.partition("WF022: ")[2] or spliced.fault))
        try:
            executable = whole.runnable()
        except DiagnosedError as error:
            return hindered(f"no reference: the whole module does not build: {diagnostic_words(error.diagnostics[0])}")
        kernels, reasons = dict(spliced.kernels), dict(spliced.reasons)
        while True:
            stops: list[Trace] = []

            def run(made: Executable, args: tuple[object, ...], stops: list[Trace] = stops) -> Trace:
                stops.append(run_machine(made, args))  # pyright: ignore[reportArgumentType]
                return stops[-1]

            outcome = _run_patiently(within.with_kernels(executable, kernels), call, run)
            name = _stopped_in(stops[-1]) if stops else ""
            if not outcome.hindrance or name not in kernels:
                return replace(outcome, lacks=_lacks(reasons, len(kernels)))
            reasons[name] = outcome.hindrance
            del kernels[name]
            if not kernels:
                return hindered(_lacks(reasons, 0))

    return attempt


class _Names:
    """The values of the bindings of the first form that ran, by which those of later ones are looked at."""

    def __init__(self) -> None:
        self.first: Whole | None = None
        self._values: tuple[Intermediate, ...] | None = None

    def values(self, call: Call, record: RunMachine) -> tuple[Intermediate, ...]:
        """Record the first form, once; of one that does not build there are no values."""
        if self._values is None and self.first is not None:
            try:
                self._values = within.values_of(within.recorded(self.first.executable(), call, record))
            except DiagnosedError:
                self._values = ()
        return self._values or ()


def _whole_look(stage: PrintedStage, whole: Whole, names: _Names) -> Look:
    names.first = names.first or whole

    def look(call: Call, record: RunMachine, is_coarse: bool) -> Finding:  # noqa: FBT001
        def found_in(executable: Executable) -> Finding:
            now = within.values_of(within.recorded(executable, call, record))
            found = within.first_other(names.values(call, record), now, is_aligned=False, is_coarse=is_coarse)
            return Finding() if found is None else within.binding_finding(stage.text, found)

        try:
            return whole.found(found_in)
        except DiagnosedError as error:
            return within.mistake_finding(stage.text, error.diagnostics[0])

    return look


def _look(whole: Whole, before: Mapping[str, PrimFunc], after: Mapping[str, PrimFunc]) -> Look:
    """Return how to find the function, and the first value, of a stage that brought a difference."""

    def look(call: Call, record: RunMachine, is_coarse: bool) -> Finding:  # noqa: FBT001
        def found_in(executable: Executable) -> Finding:
            good = within.values_of(within.recorded(within.with_kernels(executable, before), call, record))
            culprits: list[str] = []
            words = ""
            for name in within.changed_functions(before, after):
                made = within.with_kernels(executable, {**before, name: after[name]})
                trace = within.recorded(made, call, record)
                found = within.first_other(good, within.values_of(trace), is_aligned=True, is_coarse=is_coarse)
                if trace is None or found is not None:
                    culprits.append(name)
                if trace is not None and found is not None and not words:
                    words = within.kernel_words(trace, found)
            functions = within.function_finding(culprits, before, after)
            return Finding("; ".join(filter(None, (functions.words, words))), functions.line)

        return whole.found(found_in)

    return look


def _whole_changes(stage: PrintedStage, whole: Whole) -> Callable[[], Changes] | None:
    before = whole.before
    return None if before is None else lambda: ModuleChanges(before.stage.reread(), stage.reread(), stage.make)


def _changes(
    whole: Whole, before: Mapping[str, PrimFunc], after: Mapping[str, PrimFunc]
) -> Callable[[], Changes]:  # fmt: skip
    def made(kernels: Mapping[str, PrimFunc]) -> Executable:
        return within.with_kernels(whole.executable(), kernels)

    return lambda: KernelChanges(made, before, after, within.changed_functions(before, after))


def _stopped_in(trace: Trace) -> str:
    """Return the kernel in whose call a run stopped, "" if it was none."""
    pc = trace.stopped_at
    return "" if pc is None else trace.executable.kernel_at(pc)


def _lacks(reasons: Mapping[str, str], used: int) -> str:
    """Say which functions were not run in their form of this stage, and why; "" if all were."""
    if not reasons:
        return ""
    groups: dict[str, list[str]] = {}
    for name, why in reasons.items():
        groups.setdefault(why, []).append(f"`{name}`")
    parts = "; ".join(f"{listed(names)}: {why}" for why, names in groups.items())
    return f"{used} of {used + len(reasons)} functions ran. Not run: {parts}"
