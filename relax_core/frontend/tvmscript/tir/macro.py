"""Macros of prim funcs, `@T.inline` and `@T.macro`: their bodies are read as data in the place of each call."""

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from relax_core.frontend.tvmscript.context import Context, Failed, source_of
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.scope import Entity, Macro, Scope
from relax_core.frontend.tvmscript.tir.body import TirBody
from relax_core.frontend.tvmscript.tir.reader import TirReader

MAX_STATEMENTS = 100_000


def is_macro(context: Context, statement: ast.stmt) -> bool:
    """Tell whether a statement defines a macro."""
    if not isinstance(statement, ast.FunctionDef) or len(statement.decorator_list) != 1:
        return False
    item = statement.decorator_list[0]
    func = item.func if isinstance(item, ast.Call) else item
    return qualified(func, context.aliases) in ("tir.macro", "tir.inline", "relax.macro")


def define(reader: TirReader, node: ast.FunctionDef) -> None:
    """Read the definition of a macro inside of a prim func."""
    reader.scope.define(node.name, Macro(node, reader.scope, is_hygienic(reader.context, node)))


def called(reader: TirReader, call: ast.expr) -> Macro | None:
    """Return the macro that a call names, if it does."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    name = call.func.id
    found = reader.scope.find(name)
    if found is None and name in reader.context.macros:
        node = reader.context.macros[name]
        return Macro(node, Scope(), is_hygienic(reader.context, node))
    return found if isinstance(found, Macro) else None


def expand(body: TirBody, macro: Macro, call: ast.Call) -> tuple[TirBody, Sequence[ast.stmt]]:
    """Return the statements that a call stands for, and the list of statements that they are to be read into.

    Parameters are names for the arguments, in a scope of their own.
    """
    reader, facts = body.reader, body.reader.facts
    name = macro.node.name
    if name in reader.macros:
        raise reader.context.unsupported(call, f"`{source_of(call)}`, a macro that calls itself,")
    was_within = facts.expanded <= MAX_STATEMENTS
    facts.expanded += sum(1 for item in ast.walk(macro.node) if isinstance(item, ast.stmt))
    if facts.expanded > MAX_STATEMENTS and was_within:
        raise reader.context.unsupported(
            call, f"`{source_of(call)}`, which makes more than {MAX_STATEMENTS} statements,"
        )
    if facts.expanded > MAX_STATEMENTS:
        raise Failed(name)
    statements = macro.node.body
    scope = (macro.scope if macro.is_hygienic else reader.scope).inner()
    inner = replace(reader, scope=scope, macros=(*reader.macros, name))
    parts = _Variadics()
    for parameter, value in _bound(reader.context, macro.node, call, parts).items():
        _bind(reader, inner, parameter, value)
    if parts.several:
        statements = [_Unpacked(parts).visit(copy.deepcopy(item)) for item in statements]
    return TirBody(inner, attrs=body.attrs, block=body.block, is_function=False), statements


def bound_arguments(context: Context, node: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """Return the arguments of a call of a macro by the names of its parameters, the defaults of the others too."""
    return _bound(context, node, call, _Variadics())


@dataclass(slots=True)
class _Variadics:
    """The parameters that stand for several arguments: for each its items, by number or by name."""

    several: Mapping[str, Mapping[int | str, str]] | None = None


def _bound(context: Context, node: ast.FunctionDef, call: ast.Call, parts: _Variadics) -> dict[str, ast.expr]:
    """Return the arguments of a call by the names of parameters; those of `*a` and `**k` have names such as `a[0]`."""
    arguments = node.args
    names = [item.arg for item in [*arguments.posonlyargs, *arguments.args]]
    by_name = [*names, *(item.arg for item in arguments.kwonlyargs)]
    found: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
    defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    defaults |= {
        item.arg: value for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    }
    more = dict(enumerate(call.args[len(names) :]))
    others = {item.arg or "**": item.value for item in call.keywords if item.arg not in by_name}
    found |= {item.arg: item.value for item in call.keywords if item.arg in by_name}
    missing = [name for name in by_name if name not in found and name not in defaults]
    starred = any(isinstance(item, ast.Starred) for item in call.args) or "**" in others
    if missing or starred or (more and arguments.vararg is None) or (others and arguments.kwarg is None):
        wrong = f"`{missing[0]}` is missing" if missing else "too many arguments"
        raise context.fail("PA006", call, f"`{source_of(call)}`: {wrong}", f"it takes {', '.join(by_name)}")
    several: dict[str, dict[int | str, str]] = {}
    packed: tuple[tuple[ast.arg | None, Mapping[int, ast.expr] | Mapping[str, ast.expr]], ...]
    packed = ((arguments.vararg, more), (arguments.kwarg, others))
    for parameter, items in packed:
        if parameter is not None:
            several[parameter.arg] = {key: f"{parameter.arg}[{key}]" for key in items}
            found |= {f"{parameter.arg}[{key}]": value for key, value in items.items()}
    parts.several = several or None
    return defaults | found


def _bind(reader: TirReader, inner: TirReader, name: str, value: ast.expr) -> None:
    """Let a parameter stand for an argument: a buffer, another macro, an expression."""
    if isinstance(value, ast.Name) and (macro := called(reader, ast.Call(value, [], []))) is not None:
        inner.scope.define(name, macro)
        return
    buffer = reader.known_buffer(value)
    is_whole = buffer is not None and buffer not in reader.facts.scalars
    entity: Entity = buffer if buffer is not None and is_whole else reader.argument(value)
    inner.scope.define(name, entity)


class _Unpacked(ast.NodeTransformer):
    """Writes `a[0]`, `k["x"]` and `*a` of parameters that stand for several arguments as names."""

    def __init__(self, parts: _Variadics) -> None:
        self.several = parts.several or {}

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() | str() as key)) if (
                key in self.several.get(name, ())
            ):
                return ast.copy_location(ast.Name(self.several[name][key], ast.Load()), node)
            case _:
                return ast.copy_location(ast.Subscript(self.visit(node.value), self.visit(node.slice), node.ctx), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        args: list[ast.expr] = []
        for item in node.args:
            match item:
                case ast.Starred(value=ast.Name(id=name)) if name in self.several:
                    args += (
                        ast.copy_location(ast.Name(word, ast.Load()), item) for word in self.several[name].values()
                    )
                case _:
                    args.append(self.visit(item))
        keywords = [ast.copy_location(ast.keyword(item.arg, self.visit(item.value)), item) for item in node.keywords]
        return ast.copy_location(ast.Call(self.visit(node.func), args, keywords), node)


def is_hygienic(context: Context, node: ast.FunctionDef) -> bool:
    """Tell whether the free names of a macro are looked up where it is defined, and not where it is called."""
    match node.decorator_list[0]:
        case ast.Call(args=[], keywords=[ast.keyword(arg="hygienic", value=ast.Constant(value=bool(value)))]):
            return value
        case ast.Call(args=[], keywords=[]) | ast.Name() | ast.Attribute():
            return True
        case other:
            raise context.unsupported(other, f"`@{source_of(other)}`", "write @T.macro(hygienic=False)")
