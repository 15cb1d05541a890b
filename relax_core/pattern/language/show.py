"""Patterns as text that reads back to the same pattern, shared parts included."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import assert_never, cast

from relax_core.ir.expr import Constant, Expr, GlobalVar, TensorType, Type
from relax_core.ir.prim import IntImm
from relax_core.ops.show import show_type
from relax_core.pattern.language.nodes import (
    AltPattern,
    AndPattern,
    AnyPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataflowVarPattern,
    DataTypePattern,
    DominatorPattern,
    ExprPattern,
    ExternFuncPattern,
    FunctionPattern,
    GlobalVarPattern,
    IfPattern,
    LetPattern,
    NotPattern,
    OperatorPattern,
    Pattern,
    PrimArrPattern,
    ScalarPattern,
    ShapePattern,
    SubtypePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    UnorderedTuplePattern,
    VarPattern,
    WildcardPattern,
    parts,
    subpatterns,
)
from relax_core.pattern.matching.compare import sizes_text
from relax_core.pattern.matching.facts import operator_name
from relax_core.printer.relay_text.types import RelayTypes


def show_pattern(pattern: Pattern) -> str:
    """Return `pattern` as `parse_pattern` reads it; a part that stands in several places gets a name and a line.

    The patterns of a rewrite rule are shown as the rule writes them, which is a language of its own.
    """
    order = subpatterns(pattern)
    uses: dict[Pattern, int] = dict.fromkeys(order, 0)
    redirected = {item: item.targets[0] for item in order if isinstance(item, WildcardPattern) and item.targets}
    for item in order:
        for part in parts(item):
            uses[part] += 1
    for named in (*redirected, *redirected.values()):
        uses[named] += 2
    uses[pattern] += 1
    words: dict[Pattern, str] = {}
    lines: list[str] = []
    for item in order:
        text = _words(cast("AnyPattern", item), words)
        if uses[item] > 1 and not isinstance(item, ExprPattern):
            lines.append(f"p{len(lines)} = {text}")
            text = f"p{len(lines) - 1}"
        words[item] = text
    lines += [f"{words[item]}.redirect_to({words[target]})" for item, target in redirected.items()]
    return "\n".join((*lines, words[pattern]))


def _words(pattern: AnyPattern, words: dict[Pattern, str]) -> str:
    match pattern:
        case WildcardPattern() | ConstantPattern():
            return "wildcard()" if isinstance(pattern, WildcardPattern) else "is_constant()"
        case ExprPattern(expr=expr):
            return _expression(expr)
        case VarPattern() | DataflowVarPattern() | GlobalVarPattern() | ExternFuncPattern():
            return f"{_NAMED[type(pattern)]}({repr(pattern.name) if pattern.name else ''})"
        case PrimArrPattern(values=values):
            return f"is_shape({sizes_text(values)})"
        case CallPattern():
            return _call(pattern, words)
        case OperatorPattern() | ScalarPattern():
            return _of_rule(pattern, words)
        case FunctionPattern() | IfPattern() | LetPattern():
            return _scope(pattern, words)
        case TuplePattern() | UnorderedTuplePattern() | TupleGetItemPattern():
            return _tuple(pattern, words)
        case AltPattern() | AndPattern() | NotPattern():
            return _combined(pattern, words)
        case DominatorPattern(parent=parent, path=path, child=child):
            return f"dominates({words[parent]}, {words[path]}, {words[child]})"
        case AttrPattern() | TypePattern() | SubtypePattern() | DataTypePattern() | ShapePattern():
            return f"{_bound(pattern.pattern, words)}.{_constraint(pattern)}"
        case _:
            assert_never(pattern)


def _call(pattern: CallPattern, words: dict[Pattern, str]) -> str:
    callee = _bound(pattern.op, words)
    if pattern.args is None:
        return f"{callee}.any_args()"
    more = ["varg_default_wildcard=True"] if pattern.takes_more else []
    return f"{callee}({', '.join([*(words[arg] for arg in pattern.args), *more])})"


def _scope(pattern: FunctionPattern | IfPattern | LetPattern, words: dict[Pattern, str]) -> str:
    if isinstance(pattern, FunctionPattern):
        return f"is_function({_list(pattern.params, words)}, {words[pattern.body]})"
    name = "is_if" if isinstance(pattern, IfPattern) else "is_let"
    return f"{name}({', '.join(words[part] for part in parts(pattern))})"


def _tuple(pattern: TuplePattern | UnorderedTuplePattern | TupleGetItemPattern, words: dict[Pattern, str]) -> str:
    match pattern:
        case TuplePattern(fields=fields):
            return f"is_tuple({_list(fields, words)})"
        case UnorderedTuplePattern(fields=fields):
            return f"is_tuple({_list(fields, words)}, unordered=True)"
        case TupleGetItemPattern(tuple_value=value, index=index):
            return f"is_tuple_get_item({words[value]}{'' if index is None else f', {index}'})"


def _combined(pattern: AltPattern | AndPattern | NotPattern, words: dict[Pattern, str]) -> str:
    match pattern:
        case NotPattern(pattern=inner):
            return f"~{words[inner]}"
        case AltPattern(options=options) | AndPattern(options=options):
            sign = " | " if isinstance(pattern, AltPattern) else " & "
            return f"({sign.join(words[option] for option in options)})"


def _of_rule(pattern: OperatorPattern | ScalarPattern, words: dict[Pattern, str]) -> str:
    match pattern:
        case OperatorPattern(name=name, args=args, attrs=attrs):
            given = (*(words[arg] for arg in args), *(f"{key}={value!r}" for _, key, value in attrs))
            return f"R.{name.removeprefix('relax.')}({', '.join(given)})"
        case ScalarPattern(value=value):
            return repr(value)


_NAMED: Mapping[type[Pattern], str] = MappingProxyType(
    {
        VarPattern: "is_var",
        DataflowVarPattern: "is_dfv",
        GlobalVarPattern: "is_gv",
        ExternFuncPattern: "is_extern",
    }
)


def _bound(pattern: Pattern, words: dict[Pattern, str]) -> str:
    """Return the words of what a method is called on, which binds more tightly than `~`."""
    text = words[pattern]
    return f"({text})" if text.startswith("~") else text


def _constraint(pattern: AttrPattern | TypePattern | SubtypePattern | DataTypePattern | ShapePattern) -> str:
    match pattern:
        case AttrPattern(attrs=attrs):
            return f"has_attr({dict(attrs)!r})"
        case TypePattern(type=type_):
            return f"has_type({', '.join(_type(type_))})"
        case DataTypePattern(dtype=dtype):
            return f"has_dtype({dtype!r})"
        case SubtypePattern(type=type_):
            return f"has_ty({show_type(type_)!r})"
        case ShapePattern(shape=shape):
            return f"has_shape({sizes_text(shape)})"


def _list(items: tuple[Pattern, ...] | None, words: dict[Pattern, str]) -> str:
    return "None" if items is None else f"[{', '.join(words[item] for item in items)}]"


def _expression(expr: Expr) -> str:
    match expr:
        case GlobalVar(name=name):
            return f"is_global({name!r})"
        case Constant(data=data):
            # Python's text has no word for infinity.
            return f"is_number({data.tolist()!r}, {data.dtype.name!r})".replace("inf,", "1e999,")
        case _:
            name = operator_name(expr)
            return f"is_op({name!r})" if name is not None else f"is_expr({type(expr).__name__})"


def _type(type_: Type) -> Iterator[str]:
    if isinstance(type_, TensorType) and type_.dims is not None and all(isinstance(dim, IntImm) for dim in type_.dims):
        yield str(tuple(dim.value for dim in type_.dims if isinstance(dim, IntImm)))
        yield repr(type_.dtype)
    else:
        yield repr(RelayTypes().show(type_))
