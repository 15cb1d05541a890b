"""RunCodegen: functions of targets are handed to the reference backend and called as external functions.

See: tvm/src/relax/transform/run_codegen.cc
"""

from collections import defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from relax_core.analysis.call_graph import reachable
from relax_core.analysis.hand_over import HandOver, hand_overs, has_sizes
from relax_core.diagnostics import plural
from relax_core.ir.attrs import with_attr
from relax_core.ir.expr import Call, ExternFunc, Function, GlobalVar, Tuple, TupleType, Type, VarBinding
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ops.show import show_type
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.external import EXTERNAL, is_external, with_external, without_external
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax import dead_code_elimination
from relax_core.passes.relax.dead_code_elimination import DCEOptions
from relax_core.passes.relax.functions import operator_call, rewrite_functions


@dataclass(frozen=True, slots=True)
class RunCodegenOptions:
    """`entry_functions` are private functions where a program begins, beside the public ones that are of no target.

    Only what these reach is handed over.

    `target_options` are the options by target: the reference backend takes none, and says so.
    """

    target_options: tuple[tuple[str, Any], ...] = ()
    entry_functions: tuple[str, ...] = ()


def run(module: IRModule, options: RunCodegenOptions, ctx: PassContext) -> IRModule:
    """Hand each function with `Codegen` to the reference backend, and call it by `call_dps_packed`.

    The function stays in the module as `External`: it is the program of the backend, which no later pass changes. What
    was handed over before stays so. What a function calls that is handed over is handed over with it; in TVM it is left
    behind, where nothing calls it any more. A function that is used as a value, or whose results have no known size,
    cannot be called in destination-passing style, and stays a function of the module.

    Raises:
        CompileError: PS018 if an entry function does not exist.
    """
    unknown = next((name for name in options.entry_functions if name not in module), None)
    if unknown is not None:
        ctx.fail(
            "PS018", f"there is no function {unknown} to start from", module, f"functions: {', '.join(module.names)}"
        )
    types = ctx.types(module)
    handed = {item.name: item for item in hand_overs(module, types) if not is_external(item.function)}
    _remark_on_options(options, handed, module, ctx)
    reached = _reached(module, options.entry_functions, handed)
    uses = _uses(module)
    sound = {name: item for name, item in handed.items() if name in reached and _is_sound(item, uses, types, ctx)}
    return _cleaned(_handed(module, sound, types, ctx) if sound else module, options, ctx)


def _handed(module: IRModule, sound: Mapping[str, HandOver], types: Mapping[Node, Type], ctx: PassContext) -> IRModule:
    def call_backend(node: Node) -> Node | None:
        """Rule: call of a function of a target -> call_dps_packed of an external function."""
        match node:
            case VarBinding(var=var, value=Call(op=GlobalVar(name=name), args=args) as call) if name in sound:
                made = operator_call(
                    "relax.call_dps_packed", ExternFunc(name), Tuple(args), type_args=_results(types[var])
                )
                return replace(node, value=replace(made, span=call.span))
            case _:
                return None

    called = rewrite_functions(module, ctx, lambda var, _: () if var.name in sound else (call_backend,))
    definitions = (_external(item, sound, ctx) if item.var.name in sound else item for item in called.definitions)
    return with_definitions(called, tuple(definitions), ctx)


def _cleaned(module: IRModule, options: RunCodegenOptions, ctx: PassContext) -> IRModule:
    """Drop what is unused, as TVM does, but nothing that a program of the backend needs."""
    own, external = without_external(module, ctx)
    needed = reachable(module, [item.var for item in external])
    entries = (*options.entry_functions, *(item.name for item in needed if item.name in own))
    cleaned = dead_code_elimination.run(own, DCEOptions(entries), ctx)
    return module if cleaned is own else with_external(cleaned, external, ctx)


def _external(item: Definition, sound: Mapping[str, HandOver], ctx: PassContext) -> Definition:
    assert isinstance(item.function, Function), "only functions of Relax are handed over"
    function = replace(item.function, attrs=with_attr(item.function.attrs, EXTERNAL, True))
    ctx.log.rebuilt(item.function, function)
    ctx.remark(function, "applied", words(sound[item.var.name]))
    return ctx.derive(replace(item, function=function), item)


def words(item: HandOver) -> str:
    """Say what is handed over: `@f goes to dnnl: 2 operators, inputs x R.Tensor(...), no constants, ...`."""
    parts = [plural(len(item.operators), "operator")]
    parts += [f"{way} {_listed(values)}" for way, values in (("inputs", item.inputs), ("constants", item.constants))]
    outputs = ", ".join("a value" if value.type is None else show_type(value.type) for value in item.outputs)
    return f"@{item.name} goes to {item.target}: {'; '.join(parts)}; outputs {outputs}"


def _listed(values: tuple[Any, ...]) -> str:
    shown = (f"{item.name}: {'a value' if item.type is None else show_type(item.type)}" for item in values)
    return ", ".join(shown) or "none"


def _results(type_: Type) -> tuple[Type, ...]:
    return type_.fields if isinstance(type_, TupleType) else (type_,)


def _reached(module: IRModule, entries: tuple[str, ...], handed: Container[str]) -> frozenset[str]:
    """Return the names of what is reached from `entries` and from the public functions that no target gets."""
    roots = [
        item.var
        for item in module.definitions
        if item.var.name in entries or not (item.function.is_private or item.var.name in handed)
    ]
    return frozenset(item.name for item in reachable(module, roots))


@dataclass(frozen=True, slots=True)
class _Uses:
    """The uses of functions by their names: bindings that call them, and nodes that use them as values."""

    calls: Mapping[str, list[VarBinding]]
    values: Mapping[str, list[Node]]


def _uses(module: IRModule) -> _Uses:
    calls: defaultdict[str, list[VarBinding]] = defaultdict(list)
    values: defaultdict[str, list[Node]] = defaultdict(list)
    for _, function in module.relax_functions:
        for node in preorder(function):
            match node:
                case VarBinding(value=Call(op=GlobalVar(name=name))):
                    calls[name].append(node)
                case _:
                    pass
            for part in node.args if isinstance(node, Call) else children(node):
                if isinstance(part, GlobalVar):
                    values[part.name].append(node)
    return _Uses(calls, values)


def _is_sound(item: HandOver, uses: _Uses, types: Mapping[Node, Type], ctx: PassContext) -> bool:
    """Tell whether a function can be called as an external one; if not, a remark says why."""
    unsized = tuple(node.var for node in uses.calls.get(item.name, ()) if not has_sizes(types.get(node.var)))
    if unsized:
        why = "the sizes of its results are not known where it is called, so that nothing can be allocated for them"
        ctx.remark(item.function, "missed", f"@{item.name} is not handed to {item.target}: {why}", unsized)
        return False
    values = tuple(uses.values.get(item.name, ()))
    if values:
        why = "it is used as a value"
        ctx.remark(item.function, "missed", f"@{item.name} is not handed to {item.target}: {why}", values)
    return not values


def _remark_on_options(
    options: RunCodegenOptions, handed: Mapping[str, HandOver], module: IRModule, ctx: PassContext
) -> None:
    if not handed:
        ctx.remark(module, "note", "there are no functions of targets; MergeCompositeFunctions makes them")
    targets = {item.target for item in handed.values()}
    for target in dict(options.target_options):
        known = "the reference backend takes no options" if target in targets else "no function belongs to this target"
        ctx.remark(module, "note", f"the options of {target} are not used: {known}")


PASS = Pass(
    "RunCodegen",
    "Hands functions of targets to the reference backend, and calls them as external functions.",
    run,
    options=RunCodegenOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/run_codegen.cc",
    sees_external=True,
)
