"""Replace a function from a time on: by another one of the module with its signature, or by its definition in NumPy."""

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NoReturn

import numpy as np

from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.bytecode.isa import CallInstruction, Register
from relax_core.check.infer import infer
from relax_core.diagnostics import RunError, plural
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import VOID, Function, FuncType, PrimType, TensorType, Tuple, Type, Var
from relax_core.ir.tir import PrimFunc
from relax_core.ops.show import show_type
from relax_core.source import Source, Span
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.changes.change import Change, refuse
from relax_core.vm.external.packed import Packed
from relax_core.vm.kernels import written_params
from relax_core.vm.recording.trace import Trace

REPLACE: Final = re.compile(r"\s*replace\s+(?P<old>\S+)\s+by\s+(?P<new>\S+)\s*")
NUMPY: Final = "numpy"
"""What stands for the definition of a function in NumPy, unless the module has a function of this name."""
_NOWHERE: Final = Span(Source("change", ""), 0, 0)


class NoReferenceError(Exception):
    """A function has no definition in NumPy; the text says why."""


References = Callable[[Executable, FunctionEntry], Packed]
"""Returns the definition of a function in NumPy; raises `NoReferenceError`."""


@dataclass(frozen=True, slots=True, eq=False)
class Replacement:
    """From `time` on, calls of `function` go to `target`, both by their places in the table of the `executable`.

    It is that of the run, with one function more if nothing called that before: a prim func, or the `definition` in
    NumPy of what is replaced.
    """

    time: int
    function: int
    target: int
    name: str
    by: str
    executable: Executable
    definition: Packed | None = None

    def words_for(self, trace: Trace) -> str:
        """Say what was replaced, and how many calls of a run that concerned."""
        calls = self.executable.instructions_calling(self.function)
        times = self.time + np.flatnonzero(np.isin(trace.pcs[self.time :], calls))
        skipped = {item.time for item in trace.interventions if not isinstance(item, Replacement)}
        count = len(set(times.tolist()) - skipped)
        by = f"`{self.by}`" if self.definition is None else "its definition in NumPy"
        return f"`{self.name}` was replaced by {by} from time {self.time} on: {plural(count, 'call')}"


def replaced(trace: Trace, at: int, change: Change, references: References) -> Replacement:
    """Return what `replace F by G` means at time `at`.

    Raises:
        RunError: VM051, located in the change: there is no such function, or one of another signature.
    """
    sides = REPLACE.fullmatch(change.text)
    assert sides is not None, "the caller has matched it"
    source = Source("change", change.text)
    old, new = (Span(source, *sides.span(side)) for side in ("old", "new"))
    executable = executable_for(trace, ())
    entry = _entry(executable, old)
    function = executable.index_of[entry.name]
    if entry.name in BUILTINS:
        refuse(f"`{entry.name}` belongs to the machine and is not replaced", old, "skip the call, or set its result")
    if new.text == NUMPY and NUMPY not in executable.index_of and NUMPY not in executable.kernels:
        try:
            definition = references(executable, entry)
        except NoReferenceError as error:
            refuse(f"`{entry.name}` has no definition in NumPy: {error}", new)
        name = f"{entry.name} in NumPy"
        executable = _with(executable, FunctionEntry("packed", name))
        definition = replace(definition, name=name)
        return Replacement(at, function, executable.index_of[name], entry.name, name, executable, definition)
    if new.text in executable.kernels:
        executable = _with(executable, _kernel_entry(executable, new.text))
    other = _entry(executable, new)
    if other.name == entry.name:
        refuse(f"`{entry.name}` would be replaced by itself", new)
    _Signatures(executable, entry, other, new).check(function)
    return Replacement(at, function, executable.index_of[other.name], entry.name, other.name, executable)


def executable_for(trace: Trace, made: Sequence[object]) -> Executable:
    """Return the program on which a run goes on with `made`: it has the functions that replaced others till then."""
    found = (item.executable for item in reversed((*trace.interventions, *made)) if isinstance(item, Replacement))
    return next(found, trace.executable)


def called_in(trace: Trace, time: int, name: str) -> str:
    """Return the name of the function that a call of `name` at a time of a run went to."""
    found = (item for item in reversed(trace.interventions) if isinstance(item, Replacement) and item.name == name)
    return next((item.by for item in found if item.time <= time), name)


def substitutes(executable: Executable, entry: FunctionEntry, references: References) -> tuple[str, ...]:
    """Return the names of what can take the place of a function, `numpy` first if it has a definition."""
    if entry.name in BUILTINS:
        return ()
    found: list[str] = []
    try:
        references(executable, entry)
        found.append(NUMPY)
    except NoReferenceError:
        pass
    others = [item for item in executable.functions if item.kind != "packed" and item.name != entry.name]
    unused = [name for name in executable.kernels if name not in executable.index_of]
    others += [_kernel_entry(executable, name) for name in unused]
    for other in others:
        try:
            _Signatures(executable, entry, other, _NOWHERE).check(executable.index_of[entry.name])
        except RunError:
            continue
        found.append(other.name)
    return tuple(found)


def _kernel_entry(executable: Executable, name: str) -> FunctionEntry:
    kernel = executable.kernels[name]
    return FunctionEntry("kernel", name, param_count=len(kernel.params), node=kernel)


def _entry(executable: Executable, span: Span) -> FunctionEntry:
    """Return the function that part of a change names."""
    index = executable.index_of.get(span.text)
    if index is not None:
        return executable.functions[index]
    known = tuple(dict.fromkeys((*executable.index_of, *executable.kernels)))
    near: Sequence[str] = difflib.get_close_matches(span.text, known, 3)
    own = [item.name for item in executable.functions if item.kind != "packed" and item.name in known]
    hint = f"did you mean {', '.join(near)}?" if near else f"functions of the module: {', '.join(own)}"
    refuse(f"there is no function `{span.text}` in what runs; passes drop what nothing calls", span, hint)


def _with(executable: Executable, entry: FunctionEntry) -> Executable:
    """Return the program with a function in its table, where those that nothing calls do not stand."""
    if entry.name in executable.index_of:
        return executable
    functions = (*executable.functions, entry)
    return replace(executable, functions=functions, index_of={**executable.index_of, entry.name: len(functions) - 1})


@dataclass(frozen=True, slots=True)
class _Signatures:
    """A function and the one that is to take its place, which the part `span` of a change names."""

    executable: Executable
    entry: FunctionEntry
    other: FunctionEntry
    span: Span

    def check(self, function: int) -> None:
        """See that the other function takes and gives what this one does.

        A packed function declares nothing: then it is the number of what its calls give.
        """
        if self.other.kind == "packed" and self.entry.kind != "packed":
            self._refuse(f"`{self.other.name}` is a packed function, which declares no signature")
        if self.entry.kind == "packed":
            self._check_calls(function)
            return
        if self.entry.kind != self.other.kind:
            words = {"vm": "returns its result", "kernel": "writes its result to a tensor that it is given"}
            own, others = words[self.entry.kind], words[self.other.kind]
            self._refuse(f"`{self.entry.name}` {own}, `{self.other.name}` {others}")
        own, others = self._type(self.entry), self._type(self.other)
        if not structural_equal(_declaration(own), _declaration(others)):
            self._refuse(
                f"`{self.entry.name}` and `{self.other.name}` have other signatures: {_shown(own)} and {_shown(others)}"
            )
        if self._written(self.entry) != self._written(self.other):
            self._refuse(f"`{self.entry.name}` and `{self.other.name}` write other parameters")

    def _check_calls(self, function: int) -> None:
        for pc in self.executable.instructions_calling(function):
            call = self.executable.instructions[pc]
            assert isinstance(call, CallInstruction), "these are calls"
            if self.other.kind == "kernel" and isinstance(call.dst, Register):
                self._refuse(f"a call of `{self.entry.name}` wants its result, `{self.other.name}` returns none")
            if self.other.kind == "vm" and not isinstance(call.dst, Register):
                self._refuse(f"`{self.entry.name}` writes its result to a tensor, `{self.other.name}` returns it")
            if self.other.kind != "packed" and len(call.args) != self.other.param_count:
                count = plural(len(call.args), "argument")
                self._refuse(
                    f"a call of `{self.entry.name}` gives {count}, `{self.other.name}` takes {self.other.param_count}"
                )

    def _type(self, entry: FunctionEntry) -> FuncType:
        match entry.node:
            case Function() as node:
                found = infer(self.executable.module).types.get(node)
                assert isinstance(found, FuncType), "a function has the type of one"
                return replace(found, is_pure=True)
            case PrimFunc() as node:
                return FuncType(tuple(_parameters(node)), VOID)
            case _:
                raise AssertionError("a packed function has no type")

    def _written(self, entry: FunctionEntry) -> tuple[int, ...]:
        return written_params(entry.node) if isinstance(entry.node, PrimFunc) else ()

    def _refuse(self, words: str) -> NoReturn:
        refuse(words, self.span, "choose a function that takes and gives the same")


def _declaration(type_: FuncType) -> Function:
    """Return a function of a type: symbolic dimensions that are bound alike are equal, whatever their names."""
    params = tuple(Var(f"p{number}", annotation=item) for number, item in enumerate(type_.params or ()))
    return Function(params, Tuple(()), type_.ret)


def _parameters(kernel: PrimFunc) -> Iterator[Type]:
    for param in kernel.params:
        buffer = kernel.buffer_of(param)
        yield PrimType(param.dtype) if buffer is None else TensorType(buffer.shape, buffer.dtype)


def _shown(type_: FuncType) -> str:
    params = ", ".join(map(show_type, type_.params or ()))
    return f"({params})" if type_.ret is VOID else f"({params}) -> {show_type(type_.ret)}"
