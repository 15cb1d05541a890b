"""Passes of the user's own: any function from module to module, its options, and the names that pipelines may use.

A function that takes no context records no rewrites; the origins of what it made then follow from names.
"""

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, get_type_hints

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import Binding, Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.passes import library
from relax_core.passes.core import NoOptions, Pass, PassContext

OwnFunction: TypeAlias = Callable[..., IRModule]
"""`f(module)`, `f(module, ctx)` or `f(module, options, ctx)`; parameters behind `*` are options."""

_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class OwnPasses:
    """The passes that were registered, by name; they are there for every pipeline that is read later."""

    def __init__(self) -> None:
        self._pass_of: dict[str, Pass] = {}

    def put(self, pass_: Pass) -> None:
        """Keep a pass under its name, in place of one that had it."""
        self._pass_of[pass_.name] = pass_

    def drop(self, names: tuple[str, ...]) -> None:
        """Forget passes."""
        self._pass_of = {name: item for name, item in self._pass_of.items() if name not in names}

    def all(self) -> Mapping[tuple[str, str], Pass]:
        """Return the library's passes and these, by dialect and name."""
        return {**library.PASSES, **{(item.dialect, item.name): item for item in self._pass_of.values()}}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in the order in which they were registered."""
        return tuple(self._pass_of)


OWN_PASSES: Final = OwnPasses()


def register_pass(item: OwnFunction | Pass, name: str = "", summary: str = "") -> OwnFunction | Pass:
    """Give a pass a name that pipelines may use, such as "LegalizeOps, Mine(depth=2)", and return it: also a decorator.

    Raises:
        CompileError: PL010: the name cannot be written in a pipeline, or is that of a pass of the library.
    """
    OWN_PASSES.put(named(own_pass(item), name, summary))
    return item


def named(pass_: Pass, name: str = "", summary: str = "") -> Pass:
    """Return a pass under another name.

    Raises:
        CompileError: PL010, see `register_pass`.
    """
    name = name or pass_.name
    if not name.isidentifier():
        hint = "give it one: register_pass(function, 'Mine')"
        raise CompileError((Diagnostic("PL010", f"`{name}` cannot be the name of a pass in a pipeline", hint=hint),))
    if any(key == name for _, key in library.PASSES):
        hint = f"give it another one: register_pass(function, 'My{name}')"
        raise CompileError((Diagnostic("PL010", f"{name} is a pass of the library", hint=hint),))
    return dataclasses.replace(pass_, name=name, summary=summary or pass_.summary)


def own_pass(item: OwnFunction | Pass) -> Pass:
    """Return a function as a pass under its own name, for any dialect; a `Pass` as it is.

    Raises:
        CompileError: PL010: an option has no default.
    """
    if isinstance(item, Pass):
        return item
    name = str(getattr(item, "__name__", "") or type(item).__name__)
    name = "lambda_" if name == "<lambda>" else name
    summary = (inspect.getdoc(item) or "A pass of one's own.").split("\n")[0]
    return Pass(name, summary, _Run(item), _options_of(item, name), dialect="any")


class _Run:
    """Calls a user's function as a pass is called."""

    def __init__(self, function: OwnFunction) -> None:
        # Where a traceback looks for the user's file.
        self.__wrapped__ = function
        self._count = sum(item.kind in _POSITIONAL for item in _parameters(function))

    def __call__(self, module: IRModule, options: Any, ctx: PassContext) -> IRModule:
        """Run it, and derive by name what it made without saying of what."""
        given = {item.name: getattr(options, item.name) for item in dataclasses.fields(options)}
        try:
            match self._count:
                case 2:
                    made = self.__wrapped__(module, ctx, **given)
                case 3:
                    made = self.__wrapped__(module, options, ctx)
                case _:
                    made = self.__wrapped__(module, **given)
        except SystemExit as error:
            # It would end the process that runs the pipeline.
            raise RuntimeError(f"SystemExit: {error}") from error
        return made if self._count > 1 and ctx.log.replacements else _with_origins(module, made, ctx)


def _parameters(function: OwnFunction) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # A builtin does not tell.
        return ()


def _options_of(function: OwnFunction, name: str) -> type[Any]:
    """Make the dataclass of the options: what stands behind `*` in the function's parameters."""
    keywords = [item for item in _parameters(function) if item.kind is inspect.Parameter.KEYWORD_ONLY]
    if not keywords:
        return NoOptions
    declared = _declared(function)
    fields = [(item.name, declared.get(item.name, Any), item.default) for item in keywords]
    without = next((item.name for item in keywords if item.default is inspect.Parameter.empty), None)
    if without is not None:
        message = f"the option `{without}` of {name} has no default"
        raise CompileError((Diagnostic("PL010", message, hint=f"write {without}=... in its parameters"),))
    try:
        return dataclasses.make_dataclass(f"{name}Options", fields, frozen=True)
    except (TypeError, ValueError) as error:
        raise CompileError((Diagnostic("PL010", f"the options of {name} cannot be made: {error}"),)) from None


def _declared(function: OwnFunction) -> dict[str, Any]:
    """Return the types of a function's parameters, none if they name what is not there."""
    try:
        return get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def _with_origins(before: IRModule, after: Any, ctx: PassContext) -> Any:
    """Return what a pass made, whatever that is; new nodes of a module get origins."""
    if isinstance(after, IRModule) and after is not before:
        # A hole in the tree of foreign code is found, and told, by the check that follows.
        with contextlib.suppress(AttributeError, TypeError):
            _derive_by_name(before, after, ctx)
    return after


def _derive_by_name(before: IRModule, after: IRModule, ctx: PassContext) -> None:
    """Record where new nodes stem from, as far as the pass has not: a binding from that of its name.

    A binding of a new name stems from the first one below it in the new text that has a counterpart, or else from the
    function. The log keeps what it knows already.
    """
    old_functions = {item.var.name: item.function for item in before.definitions}
    for item in after.definitions:
        old = old_functions.get(item.var.name)
        if old is item.function:
            continue
        if not isinstance(old, Function) or not isinstance(item.function, Function):
            _derive_new(item.function, old if old is not None else next(iter(old_functions.values()), None), ctx)
            continue
        source = {binding.var.name: binding for binding in _bindings(old)}
        followed: Node = old
        known = frozenset(preorder(old))
        for binding in reversed(tuple(_bindings(item.function))):
            followed = source.get(binding.var.name, followed)
            if binding not in known:
                ctx.derive(binding, followed)
        ctx.derive(item.function, old)


def _derive_new(new: Node, old: Node | None, ctx: PassContext) -> None:
    if old is not None:
        ctx.derive(new, old)


def _bindings(function: Function) -> Iterator[Binding]:
    return (node for node in preorder(function) if isinstance(node, Binding))
