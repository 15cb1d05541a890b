"""Print modules as TVMScript in the spelling of 2022, 2023 or 2026. The text reads back as an equal module."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from relax_core.frontend.tvmscript.literals import MADE, PYTHON_FUNCTIONS
from relax_core.ir.attrs import AttrValue, attr
from relax_core.ir.expr import Function
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.tir import PrimFunc
from relax_core.ir.types import Type
from relax_core.printer.literals import attribute, attributes, quoted
from relax_core.printer.naming import FunctionNames, legal
from relax_core.printer.printed import Layout, Part, Piece, Printed, write
from relax_core.printer.relax import FunctionPrinter, implicit_symbols
from relax_core.printer.relax_expr import ExprPrinter
from relax_core.printer.spelling import SPELLINGS, Spelling, Wording
from relax_core.printer.tir import PrimFuncPrinter, signature_symbols

_NO_TYPES: Mapping[Node, Type] = MappingProxyType({})


def print_module(module: IRModule, *, spelling: Spelling = "2026", types: Mapping[Node, Type] | None = None) -> Printed:
    """Print a module; linear in its size.

    Names are made unique in each function. `types`, as `check.infer` makes them, are shown where the module itself
    declares none.
    """
    return write(_module(module, SPELLINGS[spelling], _NO_TYPES if types is None else types))


def _module(module: IRModule, spelling: Wording, types: Mapping[Node, Type]) -> Iterator[Part]:
    name = legal(module.name, "M")
    taken = frozenset((name, *(legal(item) for item in module.names)))
    names = {item: FunctionNames(item.function, taken) for item in module.definitions}
    for line in spelling.header:
        yield from (line, Layout.NEWLINE)
    yield Layout.NEWLINE
    for symbol in _type_vars(names) if spelling.name == "2026" else ():
        yield from (f'{symbol} = TypeVar("{symbol}")', Layout.NEWLINE)
    yield Piece(module, _class(module, name, spelling, (names, types)))
    yield Layout.NEWLINE


def _type_vars(names: Mapping[Definition, FunctionNames]) -> list[str]:
    """Return the names of the int64 dimensions in signatures."""
    found: set[str] = set()
    for definition, item_names in names.items():
        match definition.function:
            case Function() as function:
                symbols = implicit_symbols(function, SPELLINGS["2026"])
            case PrimFunc() as function:
                symbols = signature_symbols(function)
        found.update(item_names[symbol] for symbol in symbols)
    return sorted(found)


def _class(
    module: IRModule,
    name: str,
    spelling: Wording,
    facts: tuple[Mapping[Definition, FunctionNames], Mapping[Node, Type]],
) -> Iterator[Part]:
    names, types = facts
    yield from (f"@{spelling.ir_module}", Layout.NEWLINE, f"class {name}:", Layout.DEEPER)
    if attrs := tuple(item for item in module.attrs if item[0] != PYTHON_FUNCTIONS):
        yield from (Layout.NEWLINE, f"I.module_attrs({attributes(attrs)})")
    if module.global_infos:
        infos = ", ".join(f"{quoted(key)}: [{_infos(value)}]" for key, value in module.global_infos)
        yield from (Layout.NEWLINE, f"I.module_global_infos({{{infos}}})")
    yield from _python_functions(module)
    if not module.definitions:
        yield from (Layout.NEWLINE, "pass")
    for index, definition in enumerate(module.definitions):
        if index > 0:
            yield Layout.BLANK
        yield Layout.NEWLINE
        shown = _function(definition, name, spelling, (names[definition], types))
        yield Piece(definition, (Piece(definition.function, shown),))
    yield Layout.BACK


def _python_functions(module: IRModule) -> Iterator[Part]:
    """Show the Python functions of a module as they were read."""
    functions = attr(module.attrs, PYTHON_FUNCTIONS, ())
    for item in functions if isinstance(functions, tuple) else ():
        yield from (Layout.NEWLINE, "@I.pyfunc")
        for line in str(item[1]).splitlines() if isinstance(item, tuple) else ():
            yield from (Layout.NEWLINE, line) if line else (Layout.BLANK,)
        yield Layout.BLANK


def _function(
    definition: Definition, module_name: str, spelling: Wording, facts: tuple[FunctionNames, Mapping[Node, Type]]
) -> Iterator[Part]:
    names, types = facts
    name = legal(definition.var.name, "f")
    match definition.function:
        case Function() as function:
            printer = FunctionPrinter(spelling, names, module_name, types, ExprPrinter(spelling, names))
            yield printer.show(function, name)
        case PrimFunc() as function:
            yield PrimFuncPrinter(spelling, names, module_name).show(function, name)


def _infos(values: AttrValue) -> str:
    """Show virtual devices: "llvm:0:global", or a target with an index and a scope."""
    shown: list[str] = []
    for value in values if isinstance(values, tuple) else ():
        match value:
            case str() if len(parts := value.rsplit(":", 2)) == 3:
                shown.append(f"I.vdevice({quoted(parts[0])}, {parts[1]}, {quoted(parts[2])})")
            case ((str(maker), _),) if maker.startswith(MADE):
                shown.append(attribute(value))
            case (target, index, scope):
                shown.append(f"I.vdevice({attribute(target)}, {attribute(index)}, {attribute(scope)})")
            case _:
                shown.append(attribute(value))  # pyright: ignore[reportArgumentType]  # an attribute is plain data
    return ", ".join(shown)
