"""Read types: `R.Tensor((n, 4), "float32")`, `Tensor[(n, k), "float32"]`, `R.Shape(ndim=2)`, `R.Any` ..."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import Context, Place, source_of
from relax_core.frontend.tvmscript.literal.literals import virtual_device
from relax_core.frontend.tvmscript.names import qualified, suggestion
from relax_core.frontend.tvmscript.plain.plain_types import plain_type, written_out
from relax_core.frontend.tvmscript.relax.variable_parts import (
    TYPE_PARTS,
    declared_type,
    dim_of,
    dtype_of_variable,
    plain_part,
    shape_of,
)
from relax_core.frontend.tvmscript.scalar.prim_variables import PrimVariables
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.scalar.scalars import ScalarReader
from relax_core.frontend.tvmscript.scope import Entity
from relax_core.frontend.tvmscript.unread import refuse_repeated, tell_repeated
from relax_core.ir.expr import (
    OBJECT,
    VOID,
    FuncType,
    PrimType,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.prim import PrimExpr, PrimVar, dtype_of
from relax_core.source import Span

TYPE_NAMES = ("Tensor", "Shape", "Tuple", "Callable", "Object", "Any", "Prim", "DTensor")
_MADE_TYPES: Mapping[str, Type] = MappingProxyType(
    {
        "ir.StringType": PrimType("string"),
        "ir.DataTypeType": OBJECT,
        "ir.AnyType": OBJECT,
        "ir.VoidType": VOID,
    }
)
"""Types that TVM prints as the objects they are made of."""
_NAMES_AND_MODULES: Mapping[str, str] = MappingProxyType(
    {f"{prefix}{name}": name for name in (*TYPE_NAMES, "Void") for prefix in ("", "relax.", "relax.ty.", "relax.type.")}
)


@dataclass(slots=True)
class TypeReader:
    """Reads types in the scope that `find` looks into.

    While `defines` holds, a free name in a dimension defines a symbolic dimension through `define(name, place)`;
    otherwise it is undefined, and `undefined(node)` says so. `scalar(var, node)` gives the expression that stands for
    a variable which is a host scalar, and `prims` knows what variables are bound to.
    """

    context: Context
    find: Callable[[str], Entity | None]
    define: Callable[[str, Place], PrimVar]
    undefined: Callable[[ast.Name], Exception]
    variable: Callable[[ast.Name], Entity]
    defines: bool = False
    scalar: Callable[[Var, ast.Name], PrimExpr | None] | None = None
    prims: PrimVariables = field(default_factory=PrimVariables)

    def is_type(self, node: ast.expr) -> bool:
        """Tell whether `node` is spelled like a type."""
        while isinstance(node, ast.Call | ast.Subscript):
            node = node.func if isinstance(node, ast.Call) else node.value
        name = qualified(node, self.context.aliases) if isinstance(node, ast.Name | ast.Attribute) else None
        if name is None or (isinstance(node, ast.Name) and self.find(node.id) is not None):
            return False
        return name in _NAMES_AND_MODULES or name in _MADE_TYPES or name == "tir.Buffer"

    def read(self, node: ast.expr) -> Type:
        """Read a type."""
        match node:
            case ast.Constant(value=None):
                return VOID
            case ast.Constant(value=str(text)):
                return self._quoted(node, text)
            case ast.Call(func=func, args=args, keywords=keywords):
                refuse_repeated(self.context, node)
                named = {item.arg or "**": item.value for item in keywords}
                return self._applied(node, self._name(func), list(args), named)
            case ast.Subscript(value=value, slice=index):
                return self._applied(node, self._name(value), self._subscript_arguments(index), {})
            case ast.Name(id="_"):
                return OBJECT
            case ast.Attribute(value=ast.Name() as name, attr=attr) if attr in TYPE_PARTS:
                return declared_type(self.context, node, self.variable(name), self.prims)
            case ast.Name(id=name) if (words := self.context.plain.get(name)) is not None:
                made = plain_type(self.context.source, self._symbol, words, self.context.span(node).start)
                return self.read(written_out(self.context, node)) if made is None else made
            case _:
                return self._applied(node, self._name(node), [], {})

    def _symbol(self, name: str, start: int) -> PrimVar | None:
        """Return the symbolic dimension that `name` at `start` stands for, or that it defines there."""
        found = self.find(name)
        if found is None and (self.defines or name in self.context.type_vars):
            found = self.define(name, Span(self.context.source, start, start + len(name)))
        return found if isinstance(found, PrimVar) and found.dtype.startswith("int") else None

    def dims(self, node: ast.expr) -> tuple[PrimExpr, ...]:
        """Read the dimensions `(n, 4)` or `[n, 4]` or `R.shape([n, 4])`, or those of a tensor `x.shape`."""
        match node:
            case ast.Attribute() if isinstance(found := self._shape_of(plain_part(node)), tuple):
                return found
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self.dim(item) for item in items)
            case ast.Call(func=func, args=[inner]) if qualified(func, self.context.aliases) in (
                "relax.shape",
                "relax.ShapeExpr",
            ):
                return self.dims(inner)
            case _:
                raise self.context.fail("PA009", node, f"expected dimensions, such as (n, 4), got `{source_of(node)}`")

    def dim(self, node: ast.expr) -> PrimExpr:
        """Read one dimension; a string holds an expression."""
        if isinstance(node, ast.Name) and isinstance(found := self.find(node.id), PrimVar) and found.dtype == "int64":
            return found
        value = self._scalar(node)
        if dtype_of(value).startswith(("float", "bool", "string", "handle")):
            raise self.context.fail("PA009", node, f"a dimension is an integer, got `{source_of(node)}`")
        return value

    def _scalar(self, node: ast.expr) -> PrimExpr:
        """Read a scalar expression; a string holds one."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            inner = self._parsed(node, node.value)
            with self.context.inside(self.context.span(node)):
                return self._scalar(inner)
        return self.scalars().read(node)

    def scalars(self) -> ScalarReader:
        """Make the reader of scalar expressions in this scope; a bare integer is int64."""
        return ScalarReader(self.context, self._dim_name, self._dim_of, "int64")

    def shape(self, node: ast.expr) -> "tuple[PrimExpr, ...] | Var":
        """Read a shape: dimensions, or the name of a variable of shape type."""
        match node:
            case ast.Name():
                pass
            case ast.Attribute() if (found := self._shape_of(plain_part(node))) is not None:
                return found
            case _:
                return self.dims(node)
        match self.variable(node):
            case Var() as var:
                return var
            case ShapeExpr(values=values):
                return values
            case _:
                raise self.context.fail("PA009", node, f"`{node.id}` is no shape")

    def _name(self, node: ast.expr) -> str:
        name = qualified(node, self.context.aliases)
        short = _NAMES_AND_MODULES.get(name or "")
        if short is not None:
            return short
        if name is not None and name.startswith("tir.") and is_dtype(name.removeprefix("tir.")):
            return name
        if name is not None and name in _MADE_TYPES:
            return name
        hint = suggestion((name or "").removeprefix("relax."), TYPE_NAMES, "R.")
        raise self.context.fail("RS006", node, f"`{source_of(node)}` is no type", hint)

    def _applied(self, node: ast.expr, name: str, args: list[ast.expr], named: dict[str, ast.expr]) -> Type:
        match name:
            case "Tensor":
                return self._tensor(node, args, named)
            case "Shape":
                return self._shape_type(node, args, named)
            case "Tuple":
                items = list(args[0].elts) if len(args) == 1 and isinstance(args[0], ast.List | ast.Tuple) else args
                self._expect(node, named, ())
                return TupleType(tuple(self.read(item) for item in items))
            case "Callable":
                return self._callable(node, args, named)
            case "Prim":
                return self._prim(node, args, named)
            case "Void":
                if args or named:
                    raise self.context.fail("PA007", node, f"`{name}` takes no arguments")
                return TupleType(())
            case "Object" | "Any":
                if args or named:
                    raise self.context.fail("PA007", node, f"`{name}` takes no arguments")
                return OBJECT
            case "DTensor":
                return self._distributed(node, args, named)
            case made if made in _MADE_TYPES:
                return _MADE_TYPES[made]
            case _:
                if args or named:
                    raise self.context.fail("PA007", node, f"expected a type, got `{source_of(node)}`")
                return PrimType(name.removeprefix("tir."))

    def _expect(self, node: ast.expr, named: Mapping[str, ast.expr], known: tuple[str, ...]) -> None:
        for key, value in named.items():
            if key not in known:
                hint = suggestion(key, known)
                place = self.context.keyword(key, value)
                raise self.context.fail("PA007", place, f"`{key}=` is unknown in `{source_of(node)}`", hint)

    def _given(
        self, node: ast.expr, names: tuple[str, ...], args: list[ast.expr], named: dict[str, ast.expr]
    ) -> dict[str, ast.expr]:
        """Return the arguments of a type by name: those by place have `names`, in this order."""
        if len(args) > len(names) or any(isinstance(item, ast.Starred) for item in args):
            words = ", ".join(names)
            raise self.context.fail("PA007", node, f"too many arguments in `{source_of(node)}`", f"it takes {words}")
        placed = dict(zip(names, args, strict=False))
        tell_repeated(self.context, node, placed, {**named})
        return placed | named

    def _tensor(self, node: ast.expr, args: list[ast.expr], named: dict[str, ast.expr]) -> Type:
        self._expect(node, named, ("shape", "dtype", "ndim", "vdevice"))
        if args and _is_dtype_node(args[0]):
            args = [ast.copy_location(ast.Constant(None), node), *args]
        given = self._given(node, ("shape", "dtype", "vdevice"), args, named)
        shape = None if _is_unknown(given.get("shape")) else self.shape(given["shape"])
        # TVM prints "void" for a dtype that it has not inferred.
        is_open = _is_unknown(dtype_node := given.get("dtype")) or _is_void(dtype_node)
        dtype = None if is_open else self._dtype(given["dtype"])
        ndim = self._ndim(given.get("ndim"))
        if isinstance(shape, tuple) and ndim is not None and ndim != len(shape):
            raise self.context.fail("PA007", node, f"ndim={ndim} disagrees with {len(shape)} dimensions")
        vdevice = self._vdevice(given["vdevice"]) if "vdevice" in given else None
        return TensorType(shape, dtype, ndim, vdevice)

    def _distributed(self, node: ast.expr, args: list[ast.expr], named: dict[str, ast.expr]) -> Type:
        """`R.DTensor(shape, dtype, device_mesh="mesh[0]", placement="S[0], R")`: a tensor with its sharding."""
        given = self._given(node, ("shape", "dtype", "device_mesh", "placement"), args, named)
        tensor = self._tensor(node, [], {key: given[key] for key in given if key not in ("device_mesh", "placement")})
        mesh, placement = (_words(given.get(key)) for key in ("device_mesh", "placement"))
        assert isinstance(tensor, TensorType)
        return replace(tensor, sharding=(mesh, placement))

    def _shape_type(self, node: ast.expr, args: list[ast.expr], named: dict[str, ast.expr]) -> Type:
        self._expect(node, named, ("values", "ndim"))
        given = self._given(node, ("values",), args, named)
        values = given.get("values")
        ndim = self._ndim(given.get("ndim"))
        return ShapeType(None if values is None or _is_unknown(values) else self.dims(values), ndim)

    def _callable(self, node: ast.expr, args: list[ast.expr], named: dict[str, ast.expr]) -> Type:
        if (derived := named.pop("derive_func", None)) is not None:
            message = "the function of the host that derives the type of a result is left out"
            self.context.report("PA040", derived, message, severity="warning")
        self._expect(node, named, ("params", "ret", "purity"))
        given = self._given(node, ("params", "ret", "purity"), args, named)
        # As TVM: a function of unknown parameters may have side effects, unless it says otherwise.
        is_pure = "params" in given
        if purity := given.get("purity"):
            if not isinstance(purity, ast.Constant) or not isinstance(purity.value, bool):
                raise self.context.fail("PA007", purity, "purity is True or False")
            is_pure = purity.value
        params: tuple[Type, ...] | None = None
        if (node_of_params := given.get("params")) is not None and not _is_unknown(node_of_params):
            is_list = isinstance(node_of_params, ast.Tuple | ast.List)
            params = tuple(self.read(item) for item in (node_of_params.elts if is_list else [node_of_params]))
        ret = self.read(given["ret"]) if "ret" in given else OBJECT
        return FuncType(params, ret, is_pure)

    def _prim(self, node: ast.expr, args: list[ast.expr], named: dict[str, ast.expr]) -> Type:
        self._expect(node, named, ("dtype", "value"))
        given = self._given(node, ("dtype",), args, named)
        dtype = given.get("dtype")
        if value := given.get("value"):
            known = self._scalar(value)
            if dtype is not None and self._dtype(dtype) != dtype_of(known):
                message = f"the value is of dtype {dtype_of(known)}, not {source_of(dtype)}"
                raise self.context.fail("PA007", dtype, message, "remove one of them")
            return PrimType(dtype_of(known), known)
        if dtype is None:
            raise self.context.fail("PA007", node, '`Prim` takes a dtype, such as R.Prim("int64")')
        if isinstance(dtype, ast.Constant) and dtype.value in ("", "string"):
            return PrimType("string")
        return PrimType(self._dtype(dtype))

    def _dtype(self, node: ast.expr) -> str:
        if _is_dtype_node(node):
            assert isinstance(node, ast.Constant)
            return str(node.value)
        match plain_part(node) if isinstance(node, ast.Attribute) else node:
            case ast.Attribute(value=ast.Name() as name, attr="dtype") as part:
                return dtype_of_variable(self.context, part, self.variable(name), self.prims)
            case _:
                pass
        raise self.context.fail_dtype("PA007", node)

    def _ndim(self, node: ast.expr | None) -> int | None:
        match node:
            case None | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)) | ast.Constant(value=None):
                return None
            case ast.Constant(value=int(value)) if 0 <= value < 1000:
                return value
            case _:
                raise self.context.fail("PA007", node, f"ndim is a small number, got `{source_of(node)}`")

    def _vdevice(self, node: ast.expr) -> str | None:
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Constant(value=str(text)) if len(parts := text.split(":")) <= 3:
                return ":".join((parts + ["0", "global"][len(parts) - 1 :])[:3])
            case ast.Call(func=func) if qualified(func, self.context.aliases) == "ir.vdevice" and isinstance(
                device := virtual_device(self.context, node), str
            ):
                return device
            case _:
                raise self.context.fail("PA007", node, 'a virtual device is written "llvm:0:global"')

    def _quoted(self, node: ast.Constant, text: str) -> Type:
        inner = self._parsed(node, text)
        with self.context.inside(self.context.span(node)):
            return self.read(inner)

    def _parsed(self, node: ast.expr, text: str) -> ast.expr:
        try:
            return ast.parse(text.strip() if len(text) < 1000 else "(", mode="eval").body
        except (SyntaxError, MemoryError, RecursionError, ValueError):
            raise self.context.fail("PA009", node, f"expected an expression in the string {text[:60]!r}") from None

    def _subscript_arguments(self, index: ast.expr) -> list[ast.expr]:
        """Sort out `Tensor[(n, k), "float32"]` from `Tensor[(n, k)]`, which is `Tensor[n, k]` to Python."""
        if not isinstance(index, ast.Tuple):
            return [index]
        is_shape_only = not any(isinstance(item, ast.Tuple | ast.List) or _is_dtype_node(item) for item in index.elts)
        return [index] if is_shape_only else list(index.elts)

    def _dim_name(self, node: ast.Name) -> PrimExpr:
        match self.find(node.id):
            case PrimVar() as symbol:
                return symbol
            case None if self.defines or node.id in self.context.type_vars:
                return self.define(node.id, node)
            case None:
                raise self.undefined(node)
            case _:
                pass
        match self.variable(node):
            case PrimValue(value=value):
                return value
            case Var(annotation=PrimType(value=PrimExpr() as value)):
                return value
            case Var() as var if self.scalar is not None and (value := self.scalar(var, node)) is not None:
                return value
            case _:
                message = f"`{node.id}` is known when the program runs only; it is not a dimension"
                hint = "a dimension is declared, n = T.int64(), and found in the type of a parameter or by R.match_cast"
                raise self.context.fail("PA009", node, message, hint)

    def _shape_of(self, node: ast.Attribute) -> "tuple[PrimExpr, ...] | Var | None":
        """Return the shape of a tensor that `x.shape` asks for; `None` for another attribute."""
        if node.attr != "shape" or not isinstance(node.value, ast.Name):
            return None
        return shape_of(self.context, node, self.variable(node.value), self.prims)

    def _dim_of(self, node: ast.Subscript) -> PrimExpr:
        """Read `x.shape[0]`, a dimension of a tensor."""
        if isinstance(node.value, ast.Attribute) and (shape := self._shape_of(plain_part(node.value))) is not None:
            return dim_of(self.context, node, shape)
        raise self.context.fail("PA009", node, f"expected a dimension, got `{source_of(node)}`")


def _words(node: ast.expr | None) -> str:
    """The text of a string, or of an expression such as `R.device_mesh((2, 2), I.Range(0, 4))`."""
    match node:
        case None:
            return ""
        case ast.Constant(value=str(text)):
            return text
        case _:
            return ast.unparse(node)


def _is_dtype_node(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and is_dtype(node.value)


def _is_void(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == "void"


def _is_unknown(node: ast.expr | None) -> bool:
    return (
        node is None
        or (isinstance(node, ast.Constant) and node.value is None)
        or (isinstance(node, ast.Name) and node.id == "_")
    )
