"""Properties of a module at a stage: types of variables, how many there are of something, what a call costs."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from relax_core.analysis.cost.costs import operators_of
from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.engine.programs.call_costs import costs_of
from relax_core.engine.programs.prim_entry import with_entries
from relax_core.engine.programs.spelling import relay_words
from relax_core.engine.properties.asked import Asked, refuse, stage_named
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    MatchCast,
    ShapeType,
    TensorType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.relay import Let
from relax_core.ir.tir import Block, For, PrimFunc

_COUNTS: Final[Mapping[str, Callable[[IRModule], int]]] = MappingProxyType(
    {
        "functions": lambda module: len(tuple(module)),
        "relax functions": lambda module: len(tuple(module.relax_functions)),
        "prim funcs": lambda module: len(tuple(module.prim_funcs)),
        "bindings": lambda module: _count(module, VarBinding | MatchCast),
        "lets": lambda module: _count(module, Let),
        "calls": lambda module: _count(module, Call),
        "binding blocks": lambda module: _count(module, BindingBlock),
        "dataflow blocks": lambda module: _count(module, DataflowBlock),
        "inner functions": lambda module: _count(module, Function) - len(tuple(module.relax_functions)),
        "loops": lambda module: _count(module, For),
        "blocks": lambda module: _count(module, Block),
    }
)
COUNTED: Final = tuple(_COUNTS)
"""The words for what is counted, besides the names of operators and packed functions."""

FIGURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "operator calls": "operator_calls",
        "kernels": "kernels",
        "launches": "launches",
        "operations": "operations",
        "bytes moved": "moved_bytes",
        "peak bytes": "peak_bytes",
    }
)
"""What one call of the entry costs, by the words for it."""


def _count(module: IRModule, kind: type | object) -> int:
    return sum(isinstance(node, kind) for item in module for node in preorder(item.function))  # pyright: ignore[reportArgumentType]  # a class, or a union of some


def count(asked: Asked, what: str) -> str:
    """Count what a word of `COUNTED` means, or the calls of an operator or packed function: `R.add`, `print`."""
    module = asked.module
    if what in _COUNTS:
        return str(_COUNTS[what](module))
    name = what.removesuffix(" calls").removeprefix("R.")
    found = operators_of(module)
    return str(next((found[item] for item in (name, f"relax.{name}") if found[item]), 0))


def figure(asked: Asked, words: str) -> str:
    """Return what one call of the entry costs at a stage."""
    entry, _ = asked.opened.source.entry()
    found = costs_of(
        with_entries(asked.module, asked.opened.source.program.entry), entry, dict(asked.opened.source.program.sizes)
    )
    return str(getattr(found, FIGURES[words]))


def variable(module: IRModule, name: str) -> Node:
    """Return the variable of a name, the first one in the text, or `function.name`; else the function of that name.

    Raises:
        CompileError: EN031, there is none.
    """
    function, _, own = name.rpartition(".")
    for item in module:
        if item.var.name == name:
            return item.var
        if function and item.var.name != function:
            continue
        for node in preorder(item.function):
            if isinstance(node, Var) and not isinstance(node, GlobalVar) and node.name.lstrip("%") == own:
                return node
    refuse(f"the module has no variable `{name}`")


def type_of(asked: Asked, name: str) -> Type:
    """Return the type of a variable at a stage, by its name."""
    module = asked.module
    found = variable(module, name)
    type_ = infer(module).types.get(found)
    if type_ is None and isinstance(found, Expr):
        type_ = found.annotation if isinstance(found, Var) else None
    if type_ is None:
        refuse(f"the type of `{name}` is not known")
    return type_


def type_text(asked: Asked, name: str) -> str:
    """Print the type of a variable."""
    type_ = type_of(asked, name)
    return relay_words(type_) if dialect_of(asked.module) == "relay" else asked.opened.spell(type_)


def shape_text(asked: Asked, name: str) -> str:
    """Print the shape of a variable: `(2, n)`, or `unknown`."""
    match type_of(asked, name):
        case TensorType(dims=tuple() as dims) | ShapeType(values=tuple() as dims):
            shown = ", ".join(show_prim(item) for item in dims)
            return f"({shown},)" if len(dims) == 1 else f"({shown})"
        case TensorType() | ShapeType():
            return "unknown"
        case type_:
            refuse(f"`{name}` is no tensor and no shape, but {asked.opened.spell(type_)}")


def rank_text(asked: Asked, name: str) -> str:
    """Print the rank of a variable, or `unknown`."""
    match type_of(asked, name):
        case TensorType(dims=tuple() as dims):
            return str(len(dims))
        case TensorType(ndim=rank):
            return "unknown" if rank is None or rank < 0 else str(rank)
        case _:
            refuse(f"`{name}` is no tensor")


def dtype_text(asked: Asked, name: str) -> str:
    """Print the dtype of a variable, or `unknown`."""
    match type_of(asked, name):
        case TensorType(dtype=dtype):
            return str(dtype) if dtype else "unknown"
        case type_:
            return str(getattr(type_, "dtype", None) or "unknown")


def problem(asked: Asked, what: str) -> str:
    """Return the code of the first error of the text, `none` if there is none; or its line, 0 without one."""
    errors = [item for item in asked.opened.source.parsed.diagnostics if item.severity == "error"]
    if asked.opened.source.parsed.modules:
        errors += [item for item in check(asked.opened.source.module) if item.severity == "error"]
    if what == "problem line":
        return str(errors[0].span.line if errors and errors[0].span else 0)
    return errors[0].code if errors else "none"


def line(asked: Asked, name: str) -> str:
    """Return the line of the text where a variable is bound, or where a function begins."""
    module = asked.opened.source.module
    found = variable(module, name)
    where = next((item.function for item in module if item.var is found), None) or _binding_of(module, found)
    number = asked.opened.compilation.line_of(where)
    if not number:
        refuse(f"`{name}` stands in no line")
    return str(number)


def _binding_of(module: IRModule, var: Node) -> Node:
    nodes = (node for item in module for node in preorder(item.function))
    return next((node for node in nodes if isinstance(node, VarBinding | MatchCast | Let) and node.var is var), var)


def node(asked: Asked, name: str) -> str:
    """Return the id of the node that binds a variable at a stage, or of the call of an operator: `R.add`."""
    module, index = asked.module, asked.opened.compilation.index(asked.stage)
    if name.startswith("R."):
        calls = (item for definition in module for item in preorder(definition.function) if isinstance(item, Call))
        found = next((item for item in calls if getattr(item.op, "name", "") in (name[2:], f"relax.{name[2:]}")), None)
        if found is None:
            refuse(f"the module has no call of `{name}`")
        return index.id_of(found)
    return index.id_of(variable(module, name))


def shown_line(asked: Asked) -> str:
    """Return the line of the text that the node on the screen stems from, 0 if none is selected."""
    return str(asked.opened.compilation.line_of(selected) if (selected := _selected(asked)) is not None else 0)


def _selected(asked: Asked) -> Node | None:
    from_text = asked.message.node.split("/", 1)
    number = int(from_text[0]) if from_text[0].isdecimal() else -1
    if not 0 <= number <= len(asked.stages):
        return None
    index = asked.opened.compilation.index(number)
    return next((item for item in index.place_of if index.id_of(item) == asked.message.node), None)


def stage_number(asked: Asked, name: str) -> str:
    """Return the number of a pass of the pipeline."""
    return str(stage_named(asked.stages, name))


def shown_pass(asked: Asked) -> str:
    """Return the name of the pass whose stage is on the screen, `Source` for the text itself."""
    number = asked.shown_stage
    return asked.stages[number - 1].pass_name if number else "Source"


def is_changed(asked: Asked, name: str) -> str:
    """Tell whether a pass of the pipeline changed the module: `yes` or `no`."""
    return "yes" if asked.stages[stage_named(asked.stages, name) - 1].is_changed else "no"


def failed_pass(asked: Asked) -> str:
    """Return the pass at which the pipeline fails with the code of its error, `none` if it runs to its end."""
    last = asked.stages[-1:]
    return f"{last[0].pass_name} {last[0].diagnostics[0].code}" if last and last[0].is_failed else "none"


def prim_func(asked: Asked, name: str) -> PrimFunc:
    """Return a prim func of the module at a stage.

    Raises:
        CompileError: EN031, there is none.
    """
    found = next((function for var, function in asked.module.prim_funcs if var.name == name), None)
    if found is None:
        names = ", ".join(var.name for var, _ in asked.module.prim_funcs)
        refuse(f"the module has no prim func `{name}`", f"it has {names}" if names else "")
    return found


def count_in(asked: Asked, what: str, name: str) -> str:
    """Count loops or blocks of one prim func."""
    kind = For if what == "loops" else Block
    return str(sum(isinstance(item, kind) for item in preorder(prim_func(asked, name))))
