"""Read a file: its modules, free-standing functions, and what surrounds them."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import Context, Failed, source_of
from relax_core.frontend.tvmscript.literal.file_constants import write_out
from relax_core.frontend.tvmscript.literal.literals import (
    EXTERNAL_FUNCTIONS,
    MADE,
    PYTHON_FUNCTIONS,
    read_attribute,
    read_attributes,
    virtual_device,
)
from relax_core.frontend.tvmscript.literal.metadata import is_table, read_tables
from relax_core.frontend.tvmscript.names import dotted, import_aliases, qualified, suggestion
from relax_core.frontend.tvmscript.plain.plain_types import write_out_others
from relax_core.frontend.tvmscript.purity import is_of_2022, says_no_purity, with_purity
from relax_core.frontend.tvmscript.relax.body import read_function
from relax_core.frontend.tvmscript.relax.expr import RelaxExprReader
from relax_core.frontend.tvmscript.relax.signature import (
    Decorator,
    literal_parameters,
    literal_result,
    read_decorator,
)
from relax_core.frontend.tvmscript.scalar.prim_variables import PrimVariables
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.scope import ModuleScope, Scope
from relax_core.frontend.tvmscript.surroundings import Surrounding, marks_program, surroundings_of, symbols_of
from relax_core.frontend.tvmscript.tir.function import read_prim_func
from relax_core.frontend.tvmscript.tir.macro import is_macro
from relax_core.frontend.tvmscript.unread import tell_arguments, tell_bases, tell_import, tell_keys
from relax_core.ir.attrs import NO_ATTRS, Attrs, AttrValue, attrs_of
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import BaseFunc, Definition, IRModule, without_own_symbol
from relax_core.source import Span

FUNCTION, PRIM_FUNC, MODULE = "relax.function", "tir.prim_func", "ir.ir_module"
UNDERSTOOD_PACKAGES = frozenset(("__future__", "numpy", "tvm", "typing"))


@dataclass(frozen=True, slots=True)
class _Marked:
    """A function with its decorator, and with its name in the module."""

    node: ast.FunctionDef
    decorator: Decorator
    var: GlobalVar


@dataclass(slots=True)
class _ModuleParts:
    """The contents of a module; `symbols` are the names of functions that differ from those in the text."""

    symbols: Mapping[str, str]
    functions: dict[str, _Marked] = field(default_factory=dict[str, _Marked])
    broken: set[str] = field(default_factory=set[str])
    attrs: Attrs | None = None
    infos: Attrs | None = None
    python: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    externals: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def read_file(context: Context, tree: ast.Module) -> tuple[IRModule, ...]:
    """Read every module of a file; functions outside of a class make one module together."""
    _scan_head(context, tree.body)
    groups = surroundings_of(context, tree.body)
    for group in groups[1:]:
        _scan_head(context, group.statements)
    _skip_classes(context, groups)
    return tuple(module for group in groups for module in _modules(context, group))


def _skip_classes(context: Context, groups: Sequence[Surrounding]) -> None:
    """Leave out the classes that hold no function of a program where others do, such as the base of a file's tests."""
    held = [item for group in groups for item in group.statements if isinstance(item, ast.ClassDef | ast.FunctionDef)]
    without = [item for item in held if isinstance(item, ast.ClassDef) and not _is_program(context, item)]
    if not without or len(without) == len(held) or not any(_is_program(context, item) for item in held):
        return
    for group in groups:
        found = [item for item in group.statements if item in without]
        _note_skipped(context, [*found])
        group.statements[:] = [item for item in group.statements if item not in found]


def _is_program(context: Context, node: ast.ClassDef | ast.FunctionDef) -> bool:
    """Tell a function of a program, and a class that is marked or holds one."""
    if marks_program(context, node):
        return True
    inner = (item for item in node.body if isinstance(item, ast.FunctionDef))
    return isinstance(node, ast.ClassDef) and any(marks_program(context, item) for item in inner)


def _modules(context: Context, group: Surrounding) -> list[IRModule]:
    statements, constants = group.statements, group.constants
    write_out_others(context, statements, is_all=bool(constants) or context.aliases.get("R", "relax") != "relax")
    modules: list[IRModule] = []
    alone: list[ast.FunctionDef] = []
    skipped: list[ast.stmt] = []
    for statement in statements:
        if _stands_for_something(context, statement):
            _note_skipped(context, skipped)
        write_out(statement, constants)
        match statement:
            case ast.ClassDef():
                modules.extend(_class_module(context, statement))
            case ast.FunctionDef() if is_macro(context, statement):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) if name in constants:
                pass
            case ast.FunctionDef() if statement.decorator_list and _is_ours(context, statement):
                alone.append(statement)
            case ast.Pass() if context.cut_at(statement) is not None:
                pass
            case _ if _stands_for_something(context, statement) or _is_understood_import(statement):
                pass
            case _:
                skipped += () if _is_kept(context, statement) else (statement,)
    _note_skipped(context, skipped)
    if alone:
        span = context.span(alone[0]).to(context.span(alone[-1]))
        modules.append(_module(context, "Module", alone, span, symbols_of(context, alone)))
    return modules


def _scan_head(context: Context, statements: list[ast.stmt]) -> None:
    """Collect import aliases, and `n = TypeVar("n")`, which 2026 prints above a module."""
    read_tables(context, statements)
    for statement in statements:
        context.aliases.update(import_aliases(statement))
        name = _type_var(statement)
        if name is not None:
            context.type_vars[name] = _type_var_dtype(context, statement)
        if isinstance(statement, ast.FunctionDef) and is_macro(context, statement):
            context.macros[statement.name] = statement


def _type_var(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func)):
            return name if (dotted(func) or ("",))[-1] == "TypeVar" else None
        case _:
            return None


def _type_var_dtype(context: Context, statement: ast.stmt) -> str:
    """`TypeVar("n")` is int64; a second string or a bound `T.int32` says otherwise."""
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement.value, ast.Call)
    for item in [*statement.value.args[1:], *(keyword.value for keyword in statement.value.keywords)]:
        name = item.value if isinstance(item, ast.Constant) else (qualified(item, context.aliases) or "")
        short = name.removeprefix("tir.") if isinstance(name, str) else ""
        if is_dtype(short):
            return short
    return "int64"


def _is_kept(context: Context, statement: ast.stmt) -> bool:
    """Keep a Python function that `R.emit_te` names."""
    match statement:
        case ast.FunctionDef(name=name, decorator_list=[]):
            function: ast.FunctionDef | ast.Lambda = statement
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
            pass
        case _:
            return False
    if re.search(rf"\bemit_te\(\s*{name}\b", context.script) is None:
        return False
    context.python[name] = function
    return True


def _stands_for_something(context: Context, statement: ast.stmt) -> bool:
    match statement:
        case ast.ClassDef():
            return True
        case ast.FunctionDef():
            return bool(statement.decorator_list) and _is_ours(context, statement)
        case ast.Import() | ast.ImportFrom():
            return False
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case _:
            return _type_var(statement) is not None or is_table(statement, context)


def _is_understood_import(statement: ast.stmt) -> bool:
    """Tell whether a statement only imports what modules are written with."""
    match statement:
        case ast.Import(names=names):
            return all(item.name.partition(".")[0] in UNDERSTOOD_PACKAGES for item in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.partition(".")[0] in UNDERSTOOD_PACKAGES
        case _:
            return False


def _is_ours(context: Context, node: ast.FunctionDef) -> bool:
    """Tell a function of the program from one of the script around it, such as a registered packed function."""
    decorator = node.decorator_list[0]
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = qualified(func, context.aliases) or ""
    return name.startswith(("relax.", "tir.")) or name in (FUNCTION, PRIM_FUNC)


def _note_skipped(context: Context, statements: list[ast.stmt]) -> None:
    """Report, once for consecutive statements around modules, that they are not executed."""
    if not statements:
        return
    first = statements[0]
    decorators = first.decorator_list if isinstance(first, ast.FunctionDef | ast.ClassDef) else []
    span = context.span(decorators[0] if decorators else first).to(context.span(statements[-1]))
    words = f"`{source_of(first)}`"
    others = f" and {len(statements) - 1} more" if len(statements) > 1 else ""
    verb = "are" if others else "is"
    context.report(
        "PA020", span, f"{words}{others} {verb} skipped: statements around a module are not run", severity="note"
    )
    statements.clear()


def _class_module(context: Context, node: ast.ClassDef) -> list[IRModule]:
    tell_bases(context, node)
    if not node.decorator_list:
        context.report("PA015", node, f"the class `{node.name}` is no module", "write @I.ir_module above it")
    is_checked = True
    if len(node.decorator_list) > 1:
        context.report("PA022", node.decorator_list[1], f"the class `{node.name}` has a second decorator", "remove it")
    for item in node.decorator_list:
        try:
            decorator = read_decorator(context, item)
            is_checked = is_checked and decorator.is_checked
            if decorator.kind not in (MODULE, "ir_module"):
                context.report("PA016", item, f"`@{source_of(item)}` does not make a module", "write @I.ir_module")
        except Failed:
            continue
    module = _module(context, node.name, node.body, context.span(node))
    return [module if is_checked else replace(module, is_checked=False)]


def _module(
    context: Context, name: str, body: Sequence[ast.stmt], span: Span, symbols: Mapping[str, str] = MappingProxyType({})
) -> IRModule:
    parts = _ModuleParts(symbols)
    for statement in body:
        try:
            _read_part(context, parts, statement)
        except Failed:
            if isinstance(statement, ast.FunctionDef):
                parts.broken.add(statement.name)
    functions = parts.functions
    scope = ModuleScope(
        name,
        {key: item.var for key, item in functions.items()},
        {key: literal_parameters(context, item.node) for key, item in functions.items()},
        frozenset(parts.broken),
        {key: literal_result(context, item.node) for key, item in functions.items()},
    )
    scope = scope if context.known is None else context.known.in_scope(scope)
    context.is_2022 = is_of_2022(span.text)
    definitions = [_definition(context, scope, item) for item in functions.values()]
    hidden = ((PYTHON_FUNCTIONS, tuple(parts.python)), (EXTERNAL_FUNCTIONS, tuple(parts.externals)))
    attrs = (*(parts.attrs or ()), *((key, found) for key, found in hidden if found))
    for var, node in context.inner_functions.items():
        marked = _Marked(node, read_decorator(context, node.decorator_list[0]), var)
        definitions.append(_definition(context, scope, marked))
    context.inner_functions.clear()
    definitions += [Definition(var, function, span=function.span) for var, function in context.made.items()]
    context.made.clear()
    made = tuple(item for item in definitions if item is not None)
    made = made if context.known is None else context.known.complete(made, scope)
    is_checked = all(item.decorator.is_checked for item in functions.values())
    module = IRModule(made, attrs, parts.infos or NO_ATTRS, name, is_checked=is_checked, span=span)
    return with_purity(module) if context.is_2022 or says_no_purity(span.text) else module


def _read_part(context: Context, parts: _ModuleParts, statement: ast.stmt) -> None:
    """Read a statement of a module."""
    match statement:
        case ast.FunctionDef() if _is_python(context, statement):
            parts.python.append((statement.name, _python_text(context, statement)))
        case ast.FunctionDef() if is_macro(context, statement):
            context.macros[statement.name] = statement
        case ast.FunctionDef(name=name):
            marked = _marked(context, statement, parts.symbols.get(name, name))
            if name in parts.functions:
                context.report("PA022", statement, f"the function `{name}` is there twice")
            parts.functions[name] = marked
        case ast.Expr(value=ast.Call(func=func, args=[inner]) as call) if (
            qualified(func, context.aliases) == "ir.module_attrs"
        ):
            if parts.attrs is not None:
                raise context.fail("PA022", statement, "I.module_attrs is there twice")
            tell_arguments(context, call, 1)
            parts.attrs = read_attributes(context, inner)
        case ast.Expr(value=ast.Call(func=func, args=[inner]) as call) if (
            qualified(func, context.aliases) == "ir.module_global_infos"
        ):
            if parts.infos is not None:
                raise context.fail("PA022", statement, "I.module_global_infos is there twice")
            tell_arguments(context, call, 1)
            parts.infos = _global_infos(context, inner)
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[ast.Constant(value=str(symbol))]) as call
        ) if qualified(func, context.aliases) == "relax.ExternFunc":
            tell_arguments(context, call, 1)
            parts.externals.append((name, symbol))
        case ast.Pass() if (names := context.cut_at(statement)) is not None:
            parts.broken.update(names)
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            pass
        case ast.Import() | ast.ImportFrom():
            tell_import(context, statement)
        case _:
            hint = "a module holds functions and attributes; other statements stand above it"
            context.report("PA005", statement, f"`{source_of(statement)}` does not stand in a module", hint)


def _is_python(context: Context, node: ast.FunctionDef) -> bool:
    names = (
        qualified(item.func if isinstance(item, ast.Call) else item, context.aliases) for item in node.decorator_list
    )
    return any(name in ("ir.pyfunc", "pyfunc") for name in names)


def _python_text(context: Context, node: ast.FunctionDef) -> str:
    """Return the text of a Python function, which is shown and never run."""
    message = f"the Python function `{node.name}` is shown, but never run"
    context.report("PA032", context.span(node.decorator_list[0]), message, severity="note")
    node.decorator_list.clear()
    return ast.unparse(node)


def _marked(context: Context, node: ast.FunctionDef, name: str) -> _Marked:
    span = context.span(node)
    var = GlobalVar(name, span=span) if context.known is None else context.known.var(name, span)
    if not node.decorator_list:
        hint = f"write @R.function or @T.prim_func above `def {node.name}`"
        raise context.fail("PA016", node, f"the function `{node.name}` has no decorator", hint)
    if len(node.decorator_list) > 1:
        raise context.unsupported(node.decorator_list[1], "a second decorator")
    decorator = read_decorator(context, node.decorator_list[0])
    if decorator.kind not in (FUNCTION, PRIM_FUNC):
        whole = node.decorator_list[0]
        func = whole.func if isinstance(whole, ast.Call) else whole
        hint = suggestion(".".join(dotted(func) or ()), ("R.function", "T.prim_func"))
        raise context.unsupported(func if hint else whole, f"`@{source_of(whole)}`", hint)
    return _Marked(node, decorator, var)


def _definition(context: Context, scope: ModuleScope, item: _Marked) -> Definition | None:
    span = context.span(item.node)
    try:
        if item.decorator.kind == FUNCTION:
            reader = RelaxExprReader(context, scope, Scope(), prims=PrimVariables(scope.results))
            function: BaseFunc = read_function(reader, item.node, item.decorator)
        else:
            function = read_prim_func(context, item.node, item.decorator)
        return Definition(item.var, without_own_symbol(function, item.var.name), span=span)
    except Failed:
        return None
    except RecursionError:
        context.report("PA003", item.node, f"`{item.node.name}` is nested too deeply")
        return None


def _global_infos(context: Context, node: ast.expr) -> Attrs:
    """Read `{"vdevice": [I.vdevice("llvm"), ...]}`; a virtual device becomes "kind:index:scope" or its target."""
    if not isinstance(node, ast.Dict):
        raise context.fail("PA016", node, 'expected a dictionary, such as {"vdevice": [I.vdevice("llvm")]}')
    tell_keys(context, node.keys)
    pairs: dict[str, AttrValue] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or not isinstance(value, ast.List):
            raise context.fail("PA016", value, "expected a name and a list of global infos")
        pairs[key.value] = tuple(_global_info(context, item) for item in value.elts)
    return attrs_of(pairs)


def _global_info(context: Context, node: ast.expr) -> AttrValue:
    match node:
        case ast.Call(func=func) if qualified(func, context.aliases) == "ir.vdevice":
            return virtual_device(context, node)
        case _:
            made = read_attribute(context, node)
            match made:
                case ((str(maker), _),) if maker.startswith(MADE):
                    return made
                case _:
                    raise context.fail("PA016", node, f"`{source_of(node)}` is no global info")
