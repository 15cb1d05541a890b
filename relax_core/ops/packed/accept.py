"""Which types of Relax a schema's types take, and what the types of arguments tell of their values."""

from collections.abc import Sequence

from relax_core.ir.expr import DataTypeImm, Expr, Null, ObjectType, PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm
from relax_core.ops.packed.schema import SchemaParam, SchemaType
from relax_core.ops.packed.spec import UNKNOWN, Fact, Facts, Item
from relax_core.ops.show import show_type

_INTEGERS = ("int", "uint")
_NUMBERS = ("int", "uint", "float", "bfloat", "bool")


def refused(expected: SchemaType, expr: Expr, given: Type) -> str | None:
    """Say why an argument can never be of a schema's type; `None` if it can. An unknown object is left to the run."""
    match expr:
        case Null():
            return None if expected.is_optional or expected.base == "any" else f"{expected} is not optional"
        case DataTypeImm():
            return None if expected.base in ("ScalarType", "any") else "it is a dtype"
        case _:
            pass
    if isinstance(given, ObjectType) or expected.base == "any":
        return None
    return _refused_list(expected, given) if expected.is_list else _refused_item(expected, given)


def _refused_list(expected: SchemaType, given: Type) -> str | None:
    item = SchemaType(expected.base)
    match given:
        case TupleType(fields=fields):
            if not expected.takes(len(fields)):
                return f"it has {len(fields)} items"
            found = ((index, _refused_item(item, field)) for index, field in enumerate(fields))
            return next((f"item {index}: {words}" for index, words in found if words), None)
        case ShapeType(ndim=ndim) if expected.base in ("int", "Scalar", "float"):
            return None if ndim is None or expected.takes(ndim) else f"it has {ndim} items"
        case _ if expected.length is not None:
            return _refused_item(item, given)
        case _:
            return f"{show_type(given)} is no list"


def _refused_item(expected: SchemaType, given: Type) -> str | None:
    match expected.base, given:
        case _, ObjectType():
            return None
        case "Tensor", TensorType():
            return None
        case "Scalar", TensorType(ndim=ndim):
            return None if ndim in (None, 0) else "a Scalar may be a tensor of rank 0 only"
        case "Scalar" | "float", PrimType(dtype=dtype):
            words = _NUMBERS if expected.base == "Scalar" else _NUMBERS[:-1]
            return None if dtype.startswith(words) else f"the dtype {dtype} is no number"
        case "int", PrimType(dtype=dtype):
            return None if dtype.startswith(_INTEGERS) else f"the dtype {dtype} is no integer"
        case "bool", PrimType(dtype=dtype):
            return None if dtype == "bool" else f"the dtype {dtype} is not bool"
        case "str" | "ScalarType", PrimType(dtype=dtype):
            return None if dtype == "string" else f"the dtype {dtype} is no string"
        case _:
            return f"{show_type(given)} is not {expected}"


def mixing_hint(expected: SchemaType, given: Type) -> str:
    """Return what to write where a tensor stands for a host scalar, or the other way round."""
    match given:
        case TensorType() if expected.base not in ("Tensor", "any"):
            return "a tensor is not a host scalar: write the number itself, or R.prim_value(...)"
        case PrimType(dtype=dtype) if expected.base == "Tensor" and not expected.is_list and dtype != "string":
            return f'a host scalar is not a tensor: write R.const(value, "{dtype}") for a tensor of rank 0'
        case _:
            return ""


def facts_of(params: Sequence[SchemaParam], args: Sequence[Expr], types: Sequence[Type]) -> Facts:
    """Return what expressions and their types tell of the arguments; for parameters without one, the default."""
    facts: dict[str, Fact] = {}
    for index, param in enumerate(params):
        if index < len(args):
            facts[param.name] = _fact(param.type, args[index], types[index])
        else:
            facts[param.name] = default_fact(param)
    return facts


def default_fact(param: SchemaParam) -> Fact:
    """Return what an argument that is not given is."""
    match param.default:
        case None | bool() | int() | float() | str() | tuple() as value:
            return value
        case _:
            return UNKNOWN


def _fact(expected: SchemaType, expr: Expr, given: Type) -> Fact:
    match expr, given:
        case Null(), _:
            return None
        case DataTypeImm(value=name), _:
            return name
        case _, TupleType(fields=fields) if expected.is_list:
            return tuple(_item(field) for field in fields)
        case _, ShapeType(values=tuple() as values) if expected.is_list:
            return tuple(_prim(value) for value in values)
        case _, PrimType() if expected.is_list and expected.length is not None:
            return (_item(given),) * expected.length
        case _:
            return _item(given)


def _item(given: Type) -> Item:
    match given:
        case TensorType():
            return given
        case PrimType(value=PrimExpr() as value):
            return _prim(value)
        case _:
            return UNKNOWN


def _prim(value: PrimExpr) -> Item:
    match value:
        case IntImm(value=number, dtype="bool"):
            return bool(number)
        case FloatImm(value=number):
            return number
        case StringImm(value=text):
            return text
        case _:
            known = constant_value(value)
            return value if known is None else known
