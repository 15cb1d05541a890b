"""Print modules as TVMScript in the spelling of 2022, 2023 or 2026. The text reads back as an equal module."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from relax_core.frontend.collector import collector_held
from relax_core.frontend.tvmscript.literal.literals import EXTERNAL_FUNCTIONS, MADE, PYTHON_FUNCTIONS
from relax_core.ir.attrs import AttrValue, attr
from relax_core.ir.expr import Function, Type
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import PrimFunc
from relax_core.printer.emitter import Emitter, MarkingEmitter
from relax_core.printer.literals import attribute, attributes, quoted
from relax_core.printer.naming import FunctionNames, legal, taken_names
from relax_core.printer.printed import INDENT, NodeRange, Printed
from relax_core.printer.readable import readable_in
from relax_core.printer.relax import FunctionPrinter, implicit_symbols
from relax_core.printer.relax_expr import expr_printer
from relax_core.printer.spelling import SPELLINGS, WORDING_OF, Spelling, Tvm, Wording
from relax_core.printer.tir import prim_func_printer, signature_symbols

_HIDDEN = (PYTHON_FUNCTIONS, EXTERNAL_FUNCTIONS)
_NO_TYPES: Mapping[Node, Type] = MappingProxyType({})


def print_module(module: IRModule, *, spelling: Spelling = "2026", types: Mapping[Node, Type] | None = None) -> Printed:
    """Print a module; linear in its size.

    Names are made unique in each function. `types`, as `check.infer` makes them, are shown where the module itself
    declares none.
    """
    return _printed(module, SPELLINGS[spelling], _NO_TYPES if types is None else types)


def print_for_tvm(module: IRModule, tvm: Tvm) -> Printed:
    """Print a module for a version of apache-tvm: what it reads has the module's values, if not always its form."""
    return _printed(readable_in(module, tvm), WORDING_OF[tvm], _NO_TYPES)


def _printed(module: IRModule, wording: Wording, known: Mapping[Node, Type]) -> Printed:

    def ranges() -> tuple[NodeRange, ...]:
        emitter = MarkingEmitter()
        with collector_held():
            return emitter.unmarked(_Writer(module, wording, known, emitter).text())[1]

    with collector_held():
        return Printed(_Writer(module, wording, known, Emitter()).text(), find=ranges)


class _Writer:
    """Writes the text of one module."""

    def __init__(self, module: IRModule, spelling: Wording, types: Mapping[Node, Type], emitter: Emitter) -> None:
        self.module = module
        self.name = legal(module.name, "M")
        self.spelling = spelling
        self.types = types
        self.emitter = emitter
        # Only texts of 2022 name functions bare; others write `cls.split`, beside which a variable may be `split`.
        taken = taken_names((self.name, *(module.names if spelling.name == "2022" else ())))
        self.names = {item: FunctionNames(item.function, taken, spelling.merged) for item in module.definitions}

    def text(self) -> str:
        """Return the text."""
        symbols = self._type_vars() if self.spelling.name == "2026" else ()
        variables = "".join([f'{symbol} = TypeVar("{symbol}")\n' for symbol in symbols])
        head = "".join([f"{line}\n" for line in self.spelling.header])
        return self.emitter.whole(f"{head}\n{variables}{self.emitter.mark(self.module, self._class())}\n")

    def _type_vars(self) -> list[str]:
        """Return the names of the int64 dimensions in signatures."""
        found: set[str] = set()
        local_symbols: list[tuple[FunctionNames, PrimVar]] = []
        for definition, names in self.names.items():
            match definition.function:
                case Function() as function:
                    symbols = {item for item in implicit_symbols(function, SPELLINGS["2026"]) if item in names.symbols}
                case PrimFunc() as function:
                    symbols = signature_symbols(function)
            found.update(names[symbol] for symbol in symbols)
            local_symbols += (
                []
                if isinstance(definition.function, PrimFunc)
                else [(names, item) for item in names.symbols if item not in symbols]
            )
        for names, symbol in local_symbols:
            # TVM takes `n = T.int64()` below `n = TypeVar("n")` for another value of the same name.
            while names[symbol] in found:
                names[symbol] = names.fresh(names[symbol])
        return sorted(found)

    def _class(self) -> str:
        module, indent = self.module, f"\n{INDENT}"
        flags = "" if module.is_checked else "(check_well_formed=False)"
        lines = [f"@{self.spelling.ir_module}{flags}\nclass {self.name}:"]
        if attrs := tuple(item for item in module.attrs if item[0] not in _HIDDEN):
            lines.append(f"{indent}I.module_attrs({attributes(attrs)})")
        if module.global_infos:
            infos = ", ".join(f"{quoted(key)}: [{_infos(value)}]" for key, value in module.global_infos)
            lines.append(f"{indent}I.module_global_infos({{{infos}}})")
        lines += _python_functions(module, indent)
        externals = attr(module.attrs, EXTERNAL_FUNCTIONS, ())
        for item in externals if isinstance(externals, tuple) else ():
            if isinstance(item, tuple) and len(item) > 1:
                lines.append(f"{indent}{item[0]} = R.ExternFunc({quoted(str(item[1]))})")
        if not module.definitions:
            lines.append(f"{indent}pass")
        functions = [f"{indent}{self._function(item, indent)}" for item in module.definitions]
        return "".join(lines) + "\n".join(functions)

    def _function(self, definition: Definition, indent: str) -> str:
        names, name = self.names[definition], legal(definition.var.name, "f")
        match definition.function:
            case Function() as function:
                exprs = expr_printer(self.spelling, names, self.emitter)
                relax = FunctionPrinter(self.spelling, names, self.name, self.types, exprs, self.emitter)
                shown = relax.show(function, name, indent)
            case PrimFunc() as function:
                printer = prim_func_printer(self.spelling, names, self.name, self.emitter)
                shown = printer.show(function, name, indent)
        return self.emitter.mark(definition, self.emitter.mark(definition.function, shown))


def _python_functions(module: IRModule, indent: str) -> Iterator[str]:
    """Show the Python functions of a module as they were read."""
    functions = attr(module.attrs, PYTHON_FUNCTIONS, ())
    for item in functions if isinstance(functions, tuple) else ():
        yield f"{indent}@I.pyfunc"
        for line in str(item[1]).splitlines() if isinstance(item, tuple) else ():
            yield f"{indent}{line}" if line else "\n"
        yield "\n"


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
