"""The types of Relax values, which `expr.py` defines: a variable has a type, and a type may name a variable."""

from relax_core.ir.expr import (
    OBJECT,
    VOID,
    AdtType,
    Dims,
    FuncType,
    ObjectType,
    PrimType,
    RefType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    TypeVar,
)

__all__ = (
    "OBJECT",
    "VOID",
    "AdtType",
    "Dims",
    "FuncType",
    "ObjectType",
    "PrimType",
    "RefType",
    "ShapeType",
    "TensorType",
    "TupleType",
    "Type",
    "TypeVar",
)
