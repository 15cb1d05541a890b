"""The types of calls in Relay: of operators, whose relations may wait for types, of constructors and of functions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from relax_core.check.attribute_limits import outside
from relax_core.check.relay.context import UNKNOWN, Context, Reason, constructor_type, place_of
from relax_core.diagnostics import plural
from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import (
    Call,
    Expr,
    FuncType,
    GlobalVar,
    ObjectType,
    Op,
    TensorType,
    Tuple,
    TupleType,
    Type,
    TypeVar,
    Var,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor
from relax_core.ops.relay import RELAY_OPS, is_foreign
from relax_core.ops.relay.spec import RelayCall, RelayOp
from relax_core.ops.spec import OpTypeError

MAX_REASONS = 12


_LITERALS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "memory.alloc_storage": MappingProxyType({"size": 0, "alignment": 1}),
        "memory.alloc_tensor": MappingProxyType({"offset": 0}),
    }
)
"""The least number that an argument of an operator may be, where it is a literal."""
_BLOCKS = ("nn.space_to_depth", "nn.depth_to_space")
_AXES = ("axis", "seq_axis", "batch_axis", "bit_axis", "pack_axis", "lhs_axis")
_INSERT = ("expand_dims", "stack", "one_hot", "nn.bitpack")
"""The result has an axis more, which an axis may name."""


def attributes_outside(call: RelayCall) -> Iterator[str]:
    """Yield for each attribute that is out of its range what it must be.

    It is asked before the relation, which may take as long or as much memory as an attribute is large.
    """
    for name, value in call.attrs.items():
        words = outside(call.name, name, _numbers(value), is_one=not isinstance(value, tuple))
        if words is not None:
            yield f"`{name}` of `{call.name}` {words}"
    for name, least in _LITERALS.get(call.name, {}).items():
        for number in call.constant(RELAY_OPS[call.name].params.index(name)) or ():
            if number < least:
                yield f"the {name} of `{call.name}` must be at least {least}, got {number}"


def places_outside(call: RelayCall) -> Iterator[str]:
    """Yield which attributes do not fit the types of the arguments, of a call whose relation accepts it.

    Many relations give the type of the first argument, and look at no axis.
    """
    if call.name in _BLOCKS:
        yield from _undivided(call)
    data = call.args[0] if call.args else None
    if not isinstance(data, TensorType) or data.ndim is None:
        return
    # A quantized scalar may have an axis, which its one scale does not use.
    rank = max(data.ndim, 1) + (call.name in _INSERT)
    for name in _AXES:
        axis = call.attrs.get(name)
        if isinstance(axis, int) and not isinstance(axis, bool) and not -rank <= axis < rank:
            yield f"`{name}` of `{call.name}` must be from {-rank} to {rank - 1}, got {axis}"
    count = call.attrs.get("batch_dims")
    indices = call.args[1] if len(call.args) > 1 else None
    if isinstance(count, int) and isinstance(indices, TensorType) and indices.ndim is not None:
        least, most = (0 if call.name == "gather_nd" else -indices.ndim), indices.ndim
        if not least <= count <= most:
            yield f"`batch_dims` of `{call.name}` must be from {least} to {most}, got {count}"


def _undivided(call: RelayCall) -> Iterator[str]:
    """Yield the sizes that blocks do not divide."""
    layout, block, data = call.attrs.get("layout"), call.attrs.get("block_size"), call.args[0]
    if not isinstance(layout, str) or not isinstance(block, int) or not isinstance(data, TensorType):
        return
    axes, divisor = ("C", block * block) if call.name == "nn.depth_to_space" else ("HW", block)
    for letter, dim in zip(layout, data.dims or (), strict=False):
        size = constant_value(dim)
        if letter in axes and size is not None and size % divisor:
            yield f"`block_size` of `{call.name}` must divide the size of {letter}, {size}, by {divisor}"


def _numbers(value: AttrValue) -> Iterator[int | float]:
    """Yield the numbers in an attribute; truth values are none."""
    match value:
        case bool():
            return
        case int() | float():
            yield value
        case tuple():
            for item in value:
                yield from _numbers(item)
        case _:
            return


def used(context: Context, expr: Expr, holder: Node) -> Type:
    """Return the type of `expr` where `holder` uses it as a value.

    A polymorphic function stays one; whatever wants a function of less parameters gives it type arguments.
    """
    if isinstance(expr, Op):
        made = context.type_of[expr] = _operator_value(context, expr)
        return made
    found = context.solver.find(context.type_of[expr])
    if isinstance(expr, Constructor) and not expr.field_types and isinstance(found, FuncType):
        made, _ = context.solver.instantiated(found, place_of(expr, holder), callee_name(expr))
        return made.ret
    return found


def callee_name(expr: Expr) -> str:
    """Return the name of what is called as the text writes it."""
    match expr:
        case Op(name=name) | Constructor(name=name):
            return f"`{name}`"
        case GlobalVar(name=name):
            return f"@{name}"
        case Var(name=name):
            return f"%{name}"
        case _:
            return "the function"


def _meant(context: Context, callee: Expr) -> Expr:
    """Return the operator that a variable is bound to, which each call applies anew; else the callee itself."""
    found = callee
    while isinstance(found, Var) and found in context.value_of:
        found = context.value_of[found]
    return found if isinstance(found, Op) else callee


def type_of_call(context: Context, call: Call) -> Type:
    """Return the type of a call whose arguments, and callee if it is a value, are typed."""
    match call.op if isinstance(call.op, Op) else _meant(context, call.op):
        case Op() as op:
            return _operator(context, call, op)
        case Constructor() as constructor:
            callee: Type = constructor_type(constructor, context.data_of.get(constructor.type_name))
        case _:
            callee = context.solver.find(context.type_of[call.op])
    match callee:
        case FuncType(params=None, ret=ret):
            return ret
        case FuncType():
            return _function(context, call, callee)
        case ObjectType():
            return UNKNOWN
        case TypeVar() if context.solver.open_hole(callee) is not None:
            ret = context.solver.hole(call, f"what {callee_name(call.op)} gives", is_derived=True)
            wanted = FuncType(tuple(used(context, item, call) for item in call.args), ret)
            context.unify(call, callee, wanted, "RY001", callee_name(call.op), call.op)
            return ret
        case _:
            return context.report(
                call, "RY006", f"{callee_name(call.op)} of type {context.show(callee)} cannot be called",
                "only functions, constructors and operators can", related=context.reasons(call.op),
            )  # fmt: skip


def _function(context: Context, call: Call, callee: FuncType) -> Type:
    name = callee_name(call.op)
    made = _applied(context, call, callee, name)
    params = made.params or ()
    if len(params) != len(call.args):
        context.report(
            call, "RY002", f"{name} takes {plural(len(params), 'argument')}, got {len(call.args)}",
            f"its type is {context.show(callee)}",
        )  # fmt: skip
        return made.ret if not made.type_params and context.solver.first_hole(made.ret) is None else UNKNOWN
    for k, (param, arg) in enumerate(zip(params, call.args, strict=True)):
        expected = context.solver.find(param)
        is_generic = isinstance(expected, FuncType) and bool(expected.type_params)
        given = (
            context.solver.find(context.type_of[arg])
            if is_generic and not isinstance(arg, Op)
            else used(context, arg, call)
        )
        if is_generic and isinstance(given, FuncType) and not given.type_params:
            shown = f"argument {k + 1} of {name} is {context.show(given)}, expected {context.show(expected)}"
            context.report(place_of(arg, call), "RY001", shown, "a function that works for every type is wanted")
            continue
        context.unify(place_of(arg, call), expected, given, "RY001", f"argument {k + 1} of {name}", arg)
    return context.limited(call, made.ret) if isinstance(call.op, Constructor) else made.ret


def _applied(context: Context, call: Call, callee: FuncType, name: str) -> FuncType:
    """Return the callee's type with type arguments: those of the call, or holes."""
    if not callee.type_params:
        return callee
    made, values = context.solver.instantiated(callee, call, name)
    holes = tuple(values.values())
    context.type_args[call] = holes
    if call.type_args and len(call.type_args) == len(holes):
        for hole, given in zip(holes, call.type_args, strict=True):
            context.unify(call, context.intake(given, call, f"a type argument of {name}"), hole, "RY001", name)
    elif call.type_args:
        message = f"{name} takes {plural(len(holes), 'type argument')}, got {len(call.type_args)}"
        context.report(call, "RY002", message)
    return made


@dataclass(frozen=True, slots=True)
class _Application:
    """A use of an operator: the node to blame, the arguments if it is a call, and their types."""

    node: Node
    spec: RelayOp
    call: Call | None
    arg_types: tuple[Type, ...]


def _operator(context: Context, call: Call, op: Op) -> Type:
    """Return the type of a call of an operator; calls that have all in common that it depends on have one answer."""
    spec = _spec_of(context, call, op)
    arg_types = tuple([used(context, item, call) for item in call.args])
    if spec is None:
        return UNKNOWN
    key = None if spec.is_identity else context.applied.key(call, op, arg_types)
    if key is None:
        return _applied_operator(context, call, spec, arg_types)
    known = context.applied.type_of.get(key)
    if known is not None:
        return known
    before = len(context.diagnostics)
    found = _applied_operator(context, call, spec, arg_types)
    if context.solver.first_hole(found) is None and len(context.diagnostics) == before:
        context.applied.type_of[key] = found
    return found


def _applied_operator(context: Context, call: Call, spec: RelayOp, arg_types: tuple[Type, ...]) -> Type:
    least = len(spec.params) - spec.optional_count
    if not least <= len(call.args) <= len(spec.params):
        count = str(least) if least == len(spec.params) else f"{least} to {len(spec.params)}"
        return context.report(
            call, "RY002", f"`{spec.name}` takes {count} arguments, got {len(call.args)}",
            f"they are {', '.join(spec.params)}" if spec.params else "it has attributes only",
        )  # fmt: skip
    missing = spec.missing(dict(call.attrs))
    if missing:
        names = ", ".join(f"`{item}`" for item in missing)
        return context.report(call, "RY010", f"`{spec.name}` needs the attribute {names}")
    return arg_types[0] if spec.is_identity else _apply(context, _Application(call, spec, call, arg_types))


def _operator_value(context: Context, op: Op) -> Type:
    """Return the type of an operator that is passed as a function; its attributes have their defaults."""
    spec = _spec_of(context, op, op)
    if spec is None:
        return UNKNOWN
    missing = spec.missing({})
    if missing:
        return context.report(
            op, "RY010", f"`{spec.name}` as a function needs the attribute `{missing[0]}`",
            "write a function that calls it",
        )  # fmt: skip
    params = tuple(
        context.solver.hole(op, f"parameter {k + 1} of `{spec.name}`", is_derived=True)
        for k in range(len(spec.params) - spec.optional_count)
    )
    return FuncType(params, _apply(context, _Application(op, spec, None, params)))


def _spec_of(context: Context, node: Node, op: Op) -> RelayOp | None:
    spec = RELAY_OPS.get(op.name)
    if spec is None and is_foreign(op.name):
        _unruled(context, node, op.name)
    elif spec is None:
        close = get_close_matches(op.name, RELAY_OPS, n=1, cutoff=0.7)
        context.report(
            node, "RY011", f"there is no operator `{op.name}`", f"did you mean `{close[0]}`?" if close else "",
        )  # fmt: skip
    return spec


def _unruled(context: Context, node: Node, name: str) -> None:
    if name not in context.unruled:
        context.unruled.add(name)
        message = f"no rule is known for the type of `{name}`, so what depends on it is not checked"
        context.report(node, "RY012", message, severity="note")


def _apply(context: Context, use: _Application) -> Type:
    """Return the result of an operator; if argument types are not known, a hole that is filled when they are."""
    if use.spec.is_identity:
        return use.arg_types[0]
    blocked = _blocking(context, use)
    if blocked is None:
        return _related(context, use)
    result = context.solver.hole(use.node, f"what `{use.spec.name}` gives", is_derived=True)

    def attempt() -> TypeVar | None:
        found = _blocking(context, use)
        if found is None:
            context.solver.unify(result, _related(context, use))
        return found

    context.solver.waiting.setdefault(blocked, []).append(attempt)
    return result


def _blocking(context: Context, use: _Application) -> TypeVar | None:
    """Return the hole that the relation waits for, after what the first argument implies for the others."""
    if all(isinstance(item, TensorType) for item in use.arg_types):
        return None
    holes = (context.solver.first_hole(item) for item in use.arg_types)
    blocked = next((item for item in holes if item is not None), None)
    if blocked is None or use.spec.expects is None or context.solver.first_hole(use.arg_types[0]) is not None:
        return blocked
    _expect(context, use)
    holes = (context.solver.first_hole(item) for item in use.arg_types)
    return next((item for item in holes if item is not None), None)


def _call_of(context: Context, use: _Application) -> RelayCall:
    types = tuple(
        item if isinstance(item, TensorType) else context.solver.resolved(item) for item in use.arg_types
    )  # fmt: skip
    attrs = use.spec.with_defaults({} if use.call is None else dict(use.call.attrs))
    return RelayCall(use.spec.name, types, attrs, () if use.call is None else use.call.args)


def _expect(context: Context, use: _Application) -> bool:
    """Compare the arguments with what the first one implies; tell whether they agree."""
    assert use.spec.expects is not None, "the caller knows that there is something to expect"
    try:
        expected = use.spec.expects(_call_of(context, use))
    except OpTypeError:
        return True
    before = len(context.diagnostics)
    for k, (wanted, given) in enumerate(zip(expected, use.arg_types, strict=False)):
        if wanted is None:
            continue
        open_hole = context.solver.open_hole(given)
        first = context.solver.find(use.arg_types[0])
        if open_hole is not None and isinstance(wanted, TensorType) and isinstance(first, TensorType):
            wanted = TensorType(wanted.shape, wanted.dtype or first.dtype)
        args = () if use.call is None else (use.call.args[k], use.call.args[0])
        place = place_of(args[0], use.node) if args else use.node
        context.unify(place, wanted, given, "RY001", f"argument {k + 1} of `{use.spec.name}`", *args)
    return len(context.diagnostics) == before


def _is_unknown(type_: Type) -> bool:
    match type_:
        case ObjectType():
            return True
        case TupleType(fields=fields):
            return any(map(_is_unknown, fields))
        case _:
            return False


def _related(context: Context, use: _Application) -> Type:
    """Return what the relation says about arguments whose types are known."""
    call = _call_of(context, use)
    if any(map(_is_unknown, call.args)):
        return UNKNOWN
    wrong = next(attributes_outside(call), None)
    if wrong is not None:
        return context.report(use.node, "TY041", wrong)
    if use.spec.relation is None:
        _unruled(context, use.node, use.spec.name)
        return UNKNOWN
    if use.spec.expects is not None and not _expect(context, use):
        return UNKNOWN
    try:
        found = use.spec.relation(call)
    except OpTypeError as error:
        return context.report(
            use.node, error.code, error.message, error.hint, related=_reasons(context, use)
        )  # fmt: skip
    wrong = next(places_outside(call), None)
    return found if wrong is None else context.report(use.node, "TY041", wrong)


def _reasons(context: Context, use: _Application) -> tuple[Reason, ...]:
    """Say for each argument of an operator which type it has, and why."""
    if use.call is None:
        return ()
    found: list[Reason] = []
    for k, arg in enumerate(use.call.args):
        items = arg.fields if isinstance(arg, Tuple) else (arg,)
        for i, item in enumerate(items):
            of = f"field {i} of argument" if isinstance(arg, Tuple) else "argument"
            words = f"{of} {k + 1} of `{use.spec.name}` is {context.show(context.type_of.get(item, UNKNOWN))}"
            chain = context.reasons(item)
            if chain:
                found.append((f"{words}, because {chain[0][0]}", chain[0][1]))
                found.extend(chain[1:])
            elif item.span is not None:
                found.append((words, item.span))
    return tuple(found[:MAX_REASONS])
