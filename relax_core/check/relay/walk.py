"""The types of Relay expressions, found bottom up without recursion: let chains are long and graphs are deep."""

from collections.abc import Mapping

from relax_core.check.relay.calls import type_of_call, used
from relax_core.check.relay.context import UNKNOWN, Context, constructor_type, place_of
from relax_core.check.relay.matching import bind_clause, check_coverage
from relax_core.ir.absent import absence_of
from relax_core.ir.expr import (
    VOID,
    AdtType,
    Call,
    Constant,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    If,
    ObjectType,
    Op,
    RefType,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    TypeVar,
    Var,
)
from relax_core.ir.node import Node, children
from relax_core.ir.prim import IntImm
from relax_core.ir.relay import Constructor, Let, Match, RefCreate, RefRead, RefWrite, result_of

BOOL = TensorType((), "bool")


def declare_function(context: Context, function: Function, what: str) -> FuncType:
    """Give the parameters of a function their types, with holes for what is not declared; return its type."""
    known = context.type_of.get(function)
    if isinstance(known, FuncType):
        return known
    params = tuple(declare(context, param, f"the type of %{param.name}") for param in function.params)
    words = f"the result type of {what}"
    if function.ret_type is None:
        ret: Type = context.solver.hole(function, words)
    else:
        ret = context.intake(function.ret_type, function, words)
    made = FuncType(params, ret, function.is_pure, function.type_params)
    context.type_of[function] = made
    return made


def declare(context: Context, var: Var, words: str) -> Type:
    """Give a variable the type of its annotation, or a hole."""
    known = context.type_of.get(var)
    if known is not None and known is not UNKNOWN:
        return known
    annotation = var.annotation
    made = context.solver.hole(var, words) if annotation is None else context.intake(annotation, var, words)
    context.type_of[var] = made
    return made


def type_expressions(context: Context, root: Expr) -> None:
    """Fill `context.type_of` for `root` and all that is in it. Complexity: linear in the number of nodes."""
    stack: list[tuple[Expr, int]] = [(root, 0)]
    type_of = context.type_of
    while stack:
        expr, stage = stack.pop()
        match expr:
            case Call():
                if expr not in type_of and (stage == 1 or not _wait_for_parts(type_of, expr, stack)):
                    type_of[expr] = type_of_call(context, expr)
            case Let():
                _let(context, expr, stage, stack)
            case Function():
                _function(context, expr, stage, stack)
            case Match():
                _match(context, expr, stage, stack)
            case _:
                if expr not in type_of and (stage == 1 or not _wait_for_parts(type_of, expr, stack)):
                    type_of[expr] = _type_of(context, expr)


def _wait_for_parts(type_of: Mapping[Node, Type], expr: Expr, stack: list[tuple[Expr, int]]) -> bool:
    """Put what must be typed before `expr` on the stack, above `expr` itself; tell whether there is any."""
    parts = expr.args if isinstance(expr, Call) and isinstance(expr.op, Op) else children(expr)
    waiting = [(item, 0) for item in reversed(parts) if item not in type_of and isinstance(item, Expr)]
    if waiting:
        stack.append((expr, 1))
        stack += waiting
    return bool(waiting)


def _let(context: Context, let: Let, stage: int, stack: list[tuple[Expr, int]]) -> None:
    """Type a let in three steps: its variable if it is a function, then the value, then the body."""
    match stage:
        case 0 if let in context.type_of:
            return
        case 0:
            context.value_of[let.var] = let.value
            if isinstance(let.value, Function):
                made = declare_function(context, let.value, f"%{let.var.name}")
                if let.var.annotation is None:
                    context.type_of[let.var] = made
                else:
                    declare(context, let.var, f"the type of %{let.var.name}")
            stack.append((let, 1))
            stack.append((let.value, 0))
        case 1:
            _bind(context, let)
            stack.append((let, 2))
            stack.append((let.body, 0))
        case _:
            context.type_of[let] = context.type_of[let.body]


def _bind(context: Context, let: Let) -> None:
    given = context.type_of[let.value]
    if let.var.annotation is None:
        known = context.type_of.get(let.var)
        if known is None or known is UNKNOWN:
            context.type_of[let.var] = given
        return
    declared = declare(context, let.var, f"the type of %{let.var.name}")
    what = f"the value of %{let.var.name}"
    context.unify(place_of(let.value, let.var), declared, given, "RY003", what, let.var, let.value)


def _function(context: Context, function: Function, stage: int, stack: list[tuple[Expr, int]]) -> None:
    if stage == 0:
        if function not in context.entered:
            context.entered.add(function)
            declare_function(context, function, "the function")
            stack.append((function, 1))
            stack.append((function.body, 0))
        return
    made = context.type_of[function]
    assert isinstance(made, FuncType), "a function is declared before its body is typed"
    given = used(context, function.body, function)
    end = result_of(function.body)
    context.unify(place_of(end, function), made.ret, given, "RY003", "the result of the function", end)
    made = context.limited(function, made)
    context.type_of[function] = made


def _match(context: Context, match_: Match, stage: int, stack: list[tuple[Expr, int]]) -> None:
    match stage:
        case 0 if match_ not in context.type_of:
            stack.append((match_, 1))
            stack.append((match_.value, 0))
        case 1:
            value = used(context, match_.value, match_)
            fits = [bind_clause(context, match_, clause, value) for clause in match_.clauses]
            if all(fits):
                check_coverage(context, match_)
            stack.append((match_, 2))
            stack.extend((clause.body, 0) for clause in reversed(match_.clauses))
        case 2:
            result: Type | None = None
            for k, clause in enumerate(match_.clauses):
                given = used(context, clause.body, clause)
                if result is None:
                    result = given
                else:
                    ends = (result_of(match_.clauses[0].body), result_of(clause.body))
                    result = context.unify(
                        place_of(ends[1], clause), result, given, "RY004", f"clause {k + 1} of the match", *ends
                    )
            context.type_of[match_] = UNKNOWN if result is None else result
        case _:
            pass


def _type_of(context: Context, expr: Expr) -> Type:
    """Return the type of an expression that is no call, let, function or match, and whose parts are typed."""
    match expr:
        case Var():
            return UNKNOWN if expr.annotation is None else declare(context, expr, f"the type of %{expr.name}")
        case Constant() if (absent := absence_of(expr)) is not None:
            return TensorType() if absent.type is None else absent.type
        case Constant(data=data):
            return TensorType(tuple(IntImm(item) for item in data.shape), str(data.dtype))
        case Tuple(fields=fields):
            return context.limited(expr, TupleType(tuple(context.type_of[item] for item in fields)))
        case TupleGetItem():
            return _projection(context, expr)
        case GlobalVar(name=name):
            return context.signature_of.get(name, UNKNOWN)
        case If():
            return _if(context, expr)
        case Constructor():
            made = constructor_type(expr, context.data_of.get(expr.type_name))
            return made if expr.field_types else _nullary(expr, made)
        case Op():
            return UNKNOWN
        case RefCreate(value=value):
            return context.limited(expr, RefType(used(context, value, expr)))
        case RefRead(ref=ref):
            return _reference(context, expr, ref)
        case RefWrite(ref=ref, value=value):
            inner = _reference(context, expr, ref)
            context.unify(
                place_of(value, expr), inner, used(context, value, expr), "RY019", "the value written", value, ref
            )
            return VOID
        case _:
            return context.report(expr, "RY018", f"{type(expr).__name__} is no expression of Relay")


def _nullary(expr: Constructor, made: FuncType) -> Type:
    """Return the type of a constructor without fields, which is a value."""
    return AdtType(expr.type_name) if not made.type_params else FuncType((), made.ret, type_params=made.type_params)


def _if(context: Context, expr: If) -> Type:
    place = place_of(expr.condition, expr)
    context.unify(place, BOOL, used(context, expr.condition, expr), "RY005", "the condition", expr.condition)
    yes, no = used(context, expr.true_branch, expr), used(context, expr.false_branch, expr)
    ends = (result_of(expr.true_branch), result_of(expr.false_branch))
    return context.unify(place_of(ends[1], expr), yes, no, "RY004", "the else branch", *ends)


def _reference(context: Context, expr: Expr, ref: Expr) -> Type:
    """Return what the reference `ref` holds."""
    found = context.solver.find(context.type_of[ref])
    match found:
        case RefType(value=value):
            return value
        case ObjectType():
            return UNKNOWN
        case TypeVar() if context.solver.open_hole(found) is not None:
            inner = context.solver.hole(expr, "what the reference holds", is_derived=True)
            context.unify(ref, found, RefType(inner), "RY019", "the reference", ref)
            return inner
        case _:
            shown = context.show(found)
            return context.report(expr, "RY019", f"expected a reference, got {shown}", related=context.reasons(ref))


def _projection(context: Context, expr: TupleGetItem) -> Type:
    known = _field(context, expr)
    if not isinstance(known, TypeVar) or context.solver.open_hole(known) is None or expr.index < 0:
        return known
    if context.solver.open_hole(context.type_of[expr.tuple_value]) is None:
        return known
    result = context.solver.hole(expr, f"field {expr.index} of a tuple", is_derived=True)

    def attempt() -> TypeVar | None:
        blocked = context.solver.open_hole(context.type_of[expr.tuple_value])
        if blocked is not None:
            return blocked
        context.solver.unify(result, _field(context, expr))
        return None

    context.solver.later(attempt)
    return result


def _field(context: Context, expr: TupleGetItem) -> Type:
    """Return the type of the field, or of the tuple if that is a hole."""
    found = context.solver.find(context.type_of[expr.tuple_value])
    match found:
        case TupleType(fields=fields) if 0 <= expr.index < len(fields):
            return fields[expr.index]
        case TupleType(fields=fields):
            return context.report(
                expr, "RY007", f"there is no field {expr.index}: the tuple {context.show(found)} has {len(fields)}",
                "fields count from 0", related=context.reasons(expr.tuple_value),
            )  # fmt: skip
        case ObjectType():
            return UNKNOWN
        case TypeVar() if context.solver.open_hole(found) is not None:
            return found
        case _:
            return context.report(
                expr, "RY007", f"expected a tuple, got {context.show(found)}",
                related=context.reasons(expr.tuple_value),
            )  # fmt: skip
