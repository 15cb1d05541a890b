"""The patterns of `match`: what they bind, whether they fit the value, and whether they cover it."""

from relax_core.check.relay.context import UNKNOWN, Context, constructor_type
from relax_core.check.relay.exhaust import coverage
from relax_core.ir.expr import Expr, FuncType, ObjectType, TensorType, TupleType, Type, Var
from relax_core.ir.relay import (
    Clause,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
)
from relax_core.ops.relay.show import show_type


def bind_clause(context: Context, match_: Match, clause: Clause, value: Type) -> bool:
    """Give the variables of a clause's pattern their types; tell whether the pattern fits `value`."""
    stack: list[tuple[Pattern, Type]] = [(clause.pattern, value)]
    is_sound = True
    while stack:
        pattern, type_ = stack.pop()
        match pattern:
            case PatternVar(var=var):
                _bind(context, var, type_)
            case PatternConstructor(patterns=patterns):
                fields = _constructor_fields(context, pattern, type_, match_.value)
                is_sound = is_sound and fields is not None
                filled = fields or (UNKNOWN,) * len(patterns)
                stack.extend(reversed(tuple(zip(patterns, filled, strict=False))))
            case PatternTuple(patterns=patterns):
                fields = _tuple_fields(context, pattern, type_, match_.value)
                is_sound = is_sound and fields is not None
                filled = fields or (UNKNOWN,) * len(patterns)
                stack.extend(reversed(tuple(zip(patterns, filled, strict=False))))
            case PatternWildcard():
                pass
            case _:
                context.report(pattern, "RY018", f"{type(pattern).__name__} is no pattern")
    return is_sound


def _bind(context: Context, var: Var, type_: Type) -> None:
    if var.annotation is None:
        context.type_of[var] = type_
        return
    declared = context.intake(var.annotation, var, f"the type of %{var.name}")
    context.type_of[var] = declared
    context.unify(var, declared, type_, "RY003", f"what %{var.name} is bound to")


def _constructor_fields(
    context: Context, pattern: PatternConstructor, type_: Type, value: Expr
) -> tuple[Type, ...] | None:
    constructor = pattern.constructor
    made, _ = context.solver.instantiated(
        constructor_type(constructor, context.data_of.get(constructor.type_name)), pattern, f"`{constructor.name}`"
    )
    found = context.solver.find(type_)
    if isinstance(found, TensorType | FuncType | TupleType):
        shown = show_type(context.solver.resolved(found))
        message = f"the pattern {constructor.name} takes a {constructor.type_name}, but the value is {shown}"
        context.report(
            pattern, "RY018", message, "only values of a data type have constructors", related=context.reasons(value)
        )
        return None
    before = len(context.diagnostics)
    context.unify(pattern, found, made.ret, "RY018", f"the pattern {constructor.name}", value)
    if len(context.diagnostics) > before:
        return None
    fields = made.params or ()
    if len(fields) != len(pattern.patterns):
        message = f"{constructor.name} has {len(fields)} fields, the pattern {len(pattern.patterns)}"
        context.report(pattern, "RY017", message, "write _ for a field that does not matter")
        return None
    return fields


def _tuple_fields(context: Context, pattern: PatternTuple, type_: Type, value: Expr) -> tuple[Type, ...] | None:
    count = len(pattern.patterns)
    found = context.solver.find(type_)
    match found:
        case TupleType(fields=fields) if len(fields) == count:
            return fields
        case ObjectType():
            return (found,) * count
        case _ if context.solver.open_hole(found) is not None:
            holes = tuple(
                context.solver.hole(item, "a field of the tuple", is_derived=True) for item in pattern.patterns
            )
            context.unify(pattern, found, TupleType(holes), "RY018", "the pattern", value)
            return holes
        case _:
            message = f"a pattern of {count} fields in parentheses does not fit {context.show(found)}"
            context.report(pattern, "RY018", message, related=context.reasons(value))
            return None


def check_coverage(context: Context, match_: Match) -> None:
    """Report values that no clause takes, unless it is `match?`, and clauses that take nothing."""
    found = coverage([clause.pattern for clause in match_.clauses], context.data_of)
    if not found.is_known:
        context.report(
            match_, "RY020", "the patterns are too many to tell whether they cover all values", severity="note"
        )
    if found.missing is not None and match_.is_complete:
        *others, last = (found.missing, *found.further)
        listed = f"{', '.join(others)} and {last}" if others and not found.is_cut else ", ".join((*others, last))
        context.report(
            match_,
            "RY015",
            f"the match has no clause for {listed}{', and for more' if found.is_cut else ''}",
            f"add `{found.missing} => ...`, or write `match?` for a match that may fail",
        )
    for k in found.redundant:
        clause = match_.clauses[k]
        context.report(
            clause.pattern if clause.pattern.span is not None else clause,
            "RY016",
            f"clause {k + 1} takes nothing: those before it take every value that it matches",
            severity="warning",
        )
