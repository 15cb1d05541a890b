"""Patterns as text that reads back to the same pattern, shared parts included."""

from collections.abc import Iterator
from typing import assert_never, cast

from relax_core.ir.expr import Constant, Expr, GlobalVar, TensorType, Type
from relax_core.ir.prim import IntImm
from relax_core.pattern.language.nodes import (
    AltPattern,
    AnyPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    OperatorPattern,
    Pattern,
    ScalarPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
    parts,
    subpatterns,
)
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
        case WildcardPattern():
            return "wildcard()"
        case ExprPattern(expr=expr):
            return _expression(expr)
        case VarPattern(name=name):
            return f"is_var({name!r})" if name else "is_var()"
        case ConstantPattern():
            return "is_constant()"
        case CallPattern(op=op, args=None):
            return f"{words[op]}.any_args()"
        case CallPattern(op=op, args=args):
            return f"{words[op]}({', '.join(words[arg] for arg in args or ())})"
        case OperatorPattern() | ScalarPattern():
            return _of_rule(pattern, words)
        case FunctionPattern(params=params, body=body):
            return f"is_function({_list(params, words)}, {words[body]})"
        case IfPattern() | LetPattern():
            name = "is_if" if isinstance(pattern, IfPattern) else "is_let"
            return f"{name}({', '.join(words[part] for part in parts(pattern))})"
        case TuplePattern(fields=fields):
            return f"is_tuple({_list(fields, words)})"
        case TupleGetItemPattern(tuple_value=value, index=index):
            return f"is_tuple_get_item({words[value]}{'' if index is None else f', {index}'})"
        case AltPattern(options=options):
            return f"({' | '.join(words[option] for option in options)})"
        case DominatorPattern(parent=parent, path=path, child=child):
            return f"dominates({words[parent]}, {words[path]}, {words[child]})"
        case AttrPattern() | TypePattern() | DataTypePattern() | ShapePattern():
            return f"{words[pattern.pattern]}.{_constraint(pattern)}"
        case _:
            assert_never(pattern)


def _of_rule(pattern: OperatorPattern | ScalarPattern, words: dict[Pattern, str]) -> str:
    match pattern:
        case OperatorPattern(name=name, args=args, attrs=attrs):
            given = (*(words[arg] for arg in args), *(f"{key}={value!r}" for _, key, value in attrs))
            return f"R.{name.removeprefix('relax.')}({', '.join(given)})"
        case ScalarPattern(value=value):
            return repr(value)


def _constraint(pattern: AttrPattern | TypePattern | DataTypePattern | ShapePattern) -> str:
    match pattern:
        case AttrPattern(attrs=attrs):
            return f"has_attr({dict(attrs)!r})"
        case TypePattern(type=type_):
            return f"has_type({', '.join(_type(type_))})"
        case DataTypePattern(dtype=dtype):
            return f"has_dtype({dtype!r})"
        case ShapePattern(shape=shape):
            return f"has_shape({shape!r})"


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
