"""Print Relay modules as Relay text 0.0.5. The text reads back as an equal module, with its constants in it."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import Function, GlobalVar, Type
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.relay import Constructor, TypeData
from relax_core.ir.tir import PrimFunc
from relax_core.printer.printed import Layout, Part, Piece, Printed, joined, write
from relax_core.printer.relay_expr import NO_MARKS, Notes, RelayPrinter, Tensors
from relax_core.printer.relay_literals import metadata_section
from relax_core.printer.relay_names import RelayNames
from relax_core.printer.relay_types import NotRelay, relay_type

INDENT = "  "
_NO_TYPES: Mapping[Node, Type] = MappingProxyType({})


def print_relay(
    module: IRModule, *, types: Mapping[Node, Type] | None = None, marks: Mapping[Node, str] = NO_MARKS
) -> Printed:
    """Print a module; linear in its size. Shared expressions are graph variables, `%0 = ...;`.

    `types`, as `check.infer` makes them, are shown as comments `/* ty=... */`. `marks` stand in angle brackets behind
    the values of lets and the results of blocks, as `<cpu(0)>` in TVM's debug print of devices; such a text reads back.

    Raises:
        CompileError: RL022, the module holds what Relay text has no words for.
    """
    try:
        return write(_module(module, Notes(_NO_TYPES if types is None else types, marks)), indent=INDENT)
    except NotRelay as error:
        hint = "print it with --dialect tvmscript"
        message = f"{error} cannot be printed as Relay"
        raise CompileError((Diagnostic("RL022", message, module.span, hint),)) from None


def _module(module: IRModule, notes: Notes) -> Iterator[Part]:
    tensors = Tensors()
    if not _is_fragment(module):
        yield from ('#[version = "0.0.5"]', Layout.NEWLINE)
    yield Piece(module, _definitions(module, tensors, notes))
    if any(data is not None for data in tensors.data):
        yield from (Layout.NEWLINE, "#[metadata]", Layout.NEWLINE, metadata_section(tensors.data), Layout.NEWLINE)


def _is_fragment(module: IRModule) -> bool:
    """Tell whether a function is used that the module lacks; such a text has no version."""
    known = set(module.names)
    return any(isinstance(node, GlobalVar) and node.name not in known for node in preorder(module))


def _definitions(module: IRModule, tensors: Tensors, notes: Notes) -> Iterator[Part]:
    for data in module.type_data:
        yield Piece(data, _type_data(data))
        yield Layout.NEWLINE
    for index, definition in enumerate(module.definitions):
        if index > 0 or module.type_data:
            yield Layout.NEWLINE
        shown = _definition(definition, tensors, notes, [data.name for data in module.type_data])
        yield Piece(definition, (Piece(definition.function, shown),))
        yield Layout.NEWLINE


def _definition(definition: Definition, tensors: Tensors, notes: Notes, names: list[str]) -> Iterator[Part]:
    match definition.function:
        case Function() as function:
            yield from RelayPrinter(function, tensors, notes, names).definition(definition.var.name)
        case PrimFunc():
            raise NotRelay(f"the prim func {definition.var.name}")


def _type_data(data: TypeData) -> Iterator[Part]:
    names = RelayNames(frozenset())
    params = ", ".join(names.type_var(item) for item in data.type_params)
    head = f"{data.name}[{params}]" if params else data.name
    if data.is_extern:
        yield f"extern type {head}"
        return
    yield from (f"type {head} {{", Layout.DEEPER)
    for constructor in data.constructors:
        yield Layout.NEWLINE
        yield Piece(constructor, _constructor(constructor, names))
        yield ","
    yield from (Layout.BACK, Layout.NEWLINE, "}")


def _constructor(constructor: Constructor, names: RelayNames) -> Iterator[Part]:
    yield constructor.name
    if constructor.field_types:
        yield from ("(", *joined(relay_type(item, names.type_var) for item in constructor.field_types), ")")
