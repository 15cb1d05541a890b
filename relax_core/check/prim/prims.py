"""Host scalars in types: how they differ from tensors of rank 0, and what operators want of them as attributes."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

from relax_core.check.attribute_limits import outside
from relax_core.check.unify import join
from relax_core.ir.expr import OBJECT, Call, Expr, ObjectType, PrimType, ShapeType, TensorType, TupleType, Type, Var
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm, const
from relax_core.ops.show import show_type
from relax_core.ops.signature import schema_text, type_word
from relax_core.ops.spec import OpSpec, OpTypeError, Param

TWO_THINGS = "a PrimValue is a number on the host, passed by value; a tensor of rank 0 is an array on a device"
SCHEMA_CODES = ("TY002", "TY014", "TY017", "TY018", "TY038", "TY040", "TY041")
"""The codes of errors about an attribute: their hint shows the schema of the operator."""
EMPTY_IS_ABSENT = ("relax.memory.view",)
"""The operators that have an empty tuple in the place of an argument that is left out."""
_FLOAT_LISTS = ("roi", "variances")
_MAX_TRIES = 64


def mixing_hint(given: Type, expected: Type) -> str:
    """Say how to come from a host scalar to what is expected, or back; empty if neither is one."""
    match given, expected:
        case PrimType(dtype=dtype), TensorType():
            return f'{TWO_THINGS}; write R.const(value, "{dtype}"), or run BoxPrims, which converts'
        case TensorType(ndim=0 | None, dtype=dtype), PrimType():
            made = "R.prim_value(value)" if dtype is None else f"R.prim_value(T.{dtype}(value))"
            return f"{TWO_THINGS}; write {made}, or run UnboxScalars, which converts"
        case TensorType(), PrimType():
            return "a tensor with dimensions is no scalar: take one element as a tensor of rank 0, and run UnboxScalars"
        case PrimType(dtype=dtype), ObjectType():
            return (
                f'PrimType is not a subtype of ObjectType: declare R.Prim("{dtype}"), or give R.const(value, "{dtype}")'
            )
        case ObjectType(), PrimType(dtype=dtype):
            return f'check it when the program runs: R.match_cast(value, R.Prim("{dtype}"))'
        case PrimType(), PrimType(dtype=dtype):
            return f'convert it: R.prim_value(T.Cast("{dtype}", value))' if dtype != "string" else ""
        case PrimType(), _:
            return "a PrimValue is a number, truth value or string on the host"
        case _, PrimType(dtype=dtype):
            return f'R.prim_value(...) makes a value of type R.Prim("{dtype}")'
        case _:
            return ""


def is_object_for_prim(given: Type, expected: Type) -> bool:
    """Tell whether an object of unknown kind is given for a host scalar, which only the run can check."""
    return isinstance(given, ObjectType) and isinstance(expected, PrimType)


def object_for_prim(what: str, expected: PrimType) -> tuple[str, str]:
    """Return the message of TY042, and its hint."""
    message = (
        f"{what} is an object, and {show_type(expected)} is no kind of object: it is checked when the program runs"
    )
    return message, mixing_hint(OBJECT, expected)


@dataclass(frozen=True, slots=True)
class Misfit:
    """What is wrong with the argument `index`."""

    index: int
    code: str
    message: str
    hint: str = ""

    def place(self, call: Call) -> Expr:
        """Return the node that the message is about; a variable's span is its definition, so it is the call there."""
        argument = call.args[self.index]
        return call if isinstance(argument, Var) or argument.span is None else argument


def attribute_errors(spec: OpSpec, arg_types: tuple[Type, ...]) -> Iterator[Misfit]:
    """Yield for each argument that is an attribute how it disagrees with the schema."""
    for index, (param, type_) in enumerate(zip(spec.params, arg_types, strict=False)):
        if param.kind not in ("prim", "axes", "ints") or param.is_variadic:
            continue
        if _is_left_out(spec, param, type_):
            continue
        found = _misfit(spec, param, type_)
        if found is not None:
            yield Misfit(index, *found)
            continue
        words = outside(spec.short_name, param.name, _literals(type_), is_one=isinstance(type_, PrimType))
        if words is not None:
            yield Misfit(index, "TY041", f"{param.name} of {spec.short_name} {words}")


def _is_left_out(spec: OpSpec, param: Param, type_: Type) -> bool:
    is_empty = isinstance(type_, TupleType) and not type_.fields
    return is_empty and spec.name in EMPTY_IS_ABSENT and not param.is_required


def _misfit(spec: OpSpec, param: Param, type_: Type) -> tuple[str, str, str] | None:
    """Return code, message and hint if a value of `type_` cannot stand for `param`."""
    what = f"{param.name} of {spec.short_name}"
    match param.kind, type_:
        case _, TensorType():
            hint = mixing_hint(type_, PrimType(param.dtype or "int64"))
            return "TY003", f"{what} must be {type_word(param)}, a scalar on the host, got {show_type(type_)}", hint
        case "prim", PrimType(dtype=dtype, value=value) if not _is_right(param.dtype, dtype, value):
            return "TY040", f"{what} must be {type_word(param)}, got {_shown(type_)}", ""
        case "axes" | "ints", PrimType() | TupleType():
            fields = type_.fields if isinstance(type_, TupleType) else (type_,)
            dtype = "float64" if param.name in _FLOAT_LISTS else "int64"
            for item in fields:
                if isinstance(item, TensorType) or (
                    isinstance(item, PrimType) and not _is_right(dtype, item.dtype, item.value)
                ):
                    code = "TY003" if isinstance(item, TensorType) else "TY040"
                    hint = mixing_hint(item, PrimType(dtype)) if isinstance(item, TensorType) else ""
                    return code, f"{what} holds numbers of {dtype}, got {_shown(item)}", hint
            return None
        case "prim", TupleType() | ShapeType():
            return "TY040", f"{what} must be one {type_word(param)}, got {show_type(type_)}", ""
        case _:
            return None


def _is_right(wanted: str | None, given: str, value: PrimExpr | None) -> bool:
    is_integer = given.startswith(("int", "uint"))
    match wanted:
        case None:
            return given != "string"
        case "string":
            return given == "string"
        case "bool":
            return given == "bool" or (isinstance(value, IntImm) and value.value in (0, 1))
        case name if name.startswith(("int", "uint")):
            return (is_integer or given == "bool") and not isinstance(value, FloatImm)
        case _:
            return given != "string"


def _shown(type_: Type) -> str:
    match type_:
        case PrimType(value=StringImm(value=text)):
            return f"the string {text!r}"
        case PrimType(value=FloatImm(value=value)):
            return f"the float {value:g}"
        case PrimType(value=IntImm(value=value)):
            return f"the integer {value}"
        case _:
            return show_type(type_)


def _literals(type_: Type) -> Iterator[float]:
    fields = type_.fields if isinstance(type_, TupleType) else (type_,)
    for item in fields:
        match item:
            case PrimType(value=IntImm(value=value) | FloatImm(value=value)):
                yield value
            case _:
                pass


def with_schema(spec: OpSpec, error: OpTypeError) -> str:
    """Return the hint of an error, with the operator's schema if it is about an attribute."""
    if error.code not in SCHEMA_CODES:
        return error.hint
    return f"{error.hint}; the schema: {schema_text(spec)}" if error.hint else f"the schema: {schema_text(spec)}"


def computed_type(spec: OpSpec, call: Call, arg_types: tuple[Type, ...]) -> Type | None:
    """Return the type of a call with attributes that only the run knows; `None` if it has no such attribute.

    It is what the types for several values of these attributes have in common: `softmax` keeps its shape whatever
    the axis is, `repeat` by an unknown count gives unknown dimensions.

    Raises:
        OpTypeError: the call has no type for any of the values.
    """
    places = [
        (index, param)
        for index, (param, item) in enumerate(zip(spec.params, arg_types, strict=False))
        if param.kind in ("prim", "axes", "ints") and _is_computed(item)
    ]
    if not places:
        return None
    found: list[Type] = []
    error: OpTypeError | None = None
    choices = [_choices(param, arg_types[index], arg_types) for index, param in places]
    for chosen in islice(product(*choices), _MAX_TRIES):
        tried = list(arg_types)
        for (index, _), type_ in zip(places, chosen, strict=True):
            tried[index] = type_
        try:
            found.append(spec.infer(call, tuple(tried)))
        except OpTypeError as problem:
            error = error or problem
    if not found:
        if error is None:
            return None
        raise error
    return _common(found)


def _common(types: list[Type]) -> Type:
    common = types[0]
    for item in types[1:]:
        common = join(common, item) or OBJECT
    # One value alone tells nothing of what the others give.
    if len(types) == 1 and isinstance(common, TensorType):
        return TensorType(None, common.dtype, common.ndim)
    return common


def _is_computed(type_: Type) -> bool:
    match type_:
        case PrimType(value=value):
            return not isinstance(value, IntImm | FloatImm | StringImm)
        case TupleType(fields=fields):
            return any(_is_computed(item) for item in fields)
        case _:
            return False


def _choices(param: Param, type_: Type, arg_types: tuple[Type, ...]) -> list[Type]:
    """Return types that stand for the values an attribute may have."""
    match type_:
        case TupleType(fields=fields):
            each = [_choices(param, item, arg_types) if _is_computed(item) else [item] for item in fields]
            return [TupleType(items) for items in islice(product(*each), _MAX_TRIES)]
        case PrimType(dtype="bool"):
            return [_known(value) for value in (False, True)]
        case PrimType(dtype="string"):
            return [PrimType("string", StringImm(param.default))] if isinstance(param.default, str) else []
        case PrimType(dtype=dtype) if "float" in dtype:
            return [_known(value, dtype) for value in (0.5, 1.0)]
        case _:
            ranks = [item.ndim or 0 for item in arg_types if isinstance(item, TensorType)]
            last = max(ranks, default=0)
            return [_known(value) for value in dict.fromkeys((*range(-last, last), 1, 2, 3))]


def _known(value: int | float, dtype: str | None = None) -> PrimType:
    literal = const(value, dtype)
    return PrimType(literal.dtype, literal)
