"""Hypothesis strategies: Relay modules as graphs of nodes, with every construct that the text has."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from relax_core.frontend.parse import parse_text
from relax_core.ir.attrs import Attrs
from relax_core.ir.expr import (
    AdtType,
    Call,
    Constant,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    If,
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
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import AnyDim, IntImm
from relax_core.ir.relay import (
    Clause,
    Constructor,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
    TypeData,
)

NAMES = st.sampled_from(("x", "y", "v1", "data", "a_b", "z?", "_", "0", "conv.weight", "état"))
ATTRS: st.SearchStrategy[Attrs] = st.lists(
    st.tuples(
        st.sampled_from(("axis", "Primitive", "data_layout", "relay.name", "odd name")),
        st.recursive(
            st.one_of(
                st.none(),
                st.booleans(),
                st.integers(-(2**70), 2**70).filter(lambda value: -(2**63) <= value < 2**63),
                st.floats(allow_nan=False),
                st.text(st.characters(exclude_categories=("Cs",)), max_size=5),
            ),
            lambda inner: st.lists(inner, max_size=3).map(tuple),
            max_leaves=4,
        ),
    ),
    max_size=2,
    unique_by=lambda item: item[0],
).map(tuple)
SCALARS = st.one_of(
    st.tuples(st.just("bool"), st.booleans()),
    st.tuples(st.sampled_from(("int8", "uint8", "int16", "int32", "int64")), st.integers(0, 100)),
    st.tuples(st.just("int32"), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(st.just("int64"), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just("float16"), st.floats(width=16)),
    st.tuples(st.just("float32"), st.floats(width=32)),
    st.tuples(st.just("float64"), st.floats()),
)
_TENSORS = st.tuples(
    st.sampled_from(("float32", "int64", "bool", "uint8")),
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
)
# What a module read from text has.
_MODULE_ATTRS = parse_text("def @main() { 1 }", "m.relay").modules[0].attrs


@dataclass(slots=True)
class _Drawing:
    """What is visible where the next expression is drawn."""

    draw: st.DrawFn
    constructors: tuple[Constructor, ...]
    globals: tuple[GlobalVar, ...]
    type_vars: list[TypeVar] = field(default_factory=list[TypeVar])


@st.composite
def relay_modules(draw: st.DrawFn, max_depth: int = 4) -> IRModule:
    """Draw a module. It is well-scoped, and not well-typed: what is printed has to read back all the same."""
    parameter = TypeVar("A")
    tree = AdtType("Tree", (parameter,))
    leaf = Constructor("Leaf", "Tree")
    fork = Constructor("Fork", "Tree", (parameter, tree, tree))
    data = TypeData("Tree", (parameter,), (leaf, fork))
    count = draw(st.integers(1, 3))
    variables = tuple(GlobalVar(f"f{index}") for index in range(count))
    drawing = _Drawing(draw, (leaf, fork), variables)
    functions = [_function(drawing, (), max_depth) for _ in variables]
    items = tuple(Definition(var, function) for var, function in zip(variables, functions, strict=True))
    externs = (TypeData("Storage", is_extern=True),) if draw(st.booleans()) else ()
    return IRModule(items, _MODULE_ATTRS, type_data=(data, *externs))


def _function(drawing: _Drawing, visible: tuple[Expr, ...], depth: int) -> Function:
    draw = drawing.draw
    variables = tuple(TypeVar(name) for name in draw(st.lists(st.sampled_from(("A", "B", "Tree")), max_size=2)))
    drawing.type_vars.extend(variables)
    params = tuple(Var(name, _annotation(drawing)) for name in draw(st.lists(NAMES, max_size=3)))
    ret_type = _annotation(drawing)
    body = _block(drawing, (*visible, *params), depth)
    made = Function(params, body, ret_type, draw(ATTRS), type_params=variables)
    del drawing.type_vars[len(drawing.type_vars) - len(variables) :]
    return made


def _annotation(drawing: _Drawing) -> Type | None:
    return _type(drawing, 2) if drawing.draw(st.booleans()) else None


def _type(drawing: _Drawing, depth: int) -> Type:
    draw = drawing.draw
    choice = draw(st.integers(0, 6 if depth > 0 else 2))
    match choice:
        case 0:
            return TensorType((), draw(st.sampled_from(("int32", "float32", "bool"))))
        case 1:
            dims = draw(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=3))
            return TensorType(tuple(AnyDim() if dim is None else IntImm(dim) for dim in dims), "float32")
        case 2 if drawing.type_vars:
            return draw(st.sampled_from(drawing.type_vars))
        case 3:
            return TupleType(tuple(_type(drawing, depth - 1) for _ in range(draw(st.integers(0, 2)))))
        case 4:
            return AdtType("Tree", (_type(drawing, depth - 1),))
        case 5:
            return RefType(_type(drawing, depth - 1))
        case _:
            variable = TypeVar("T")
            drawing.type_vars.append(variable)
            made = FuncType((_type(drawing, 0),), _type(drawing, 0), type_params=(variable,))
            drawing.type_vars.pop()
            return made


def _block(drawing: _Drawing, visible: tuple[Expr, ...], depth: int) -> Expr:
    """Draw lets and a value; what was drawn before may be used again, so that nodes are shared."""
    draw = drawing.draw
    lets: list[tuple[Var, Expr]] = []
    for _ in range(draw(st.integers(0, 3))):
        value = _expr(drawing, visible, depth - 1)
        visible = (*visible, value)
        if draw(st.booleans()):
            var = Var(draw(NAMES), _annotation(drawing))
            lets.append((var, value))
            visible = (*visible, var)
    made = _expr(drawing, visible, depth - 1)
    for var, value in reversed(lets):
        made = Let(var, value, made)
    return made


def _expr(drawing: _Drawing, visible: tuple[Expr, ...], depth: int) -> Expr:
    draw = drawing.draw
    if depth <= 0:
        return _leaf(drawing, visible)

    def part() -> Expr:
        return _expr(drawing, visible, depth - 1)

    match draw(st.integers(0, 11)):
        case 0 | 1 | 2:
            name = draw(st.sampled_from(("add", "nn.relu", "concatenate", "nn.conv2d")))
            return Call(Op(name), tuple(part() for _ in range(draw(st.integers(0, 3)))), draw(ATTRS))
        case 3:
            return Call(part(), tuple(part() for _ in range(draw(st.integers(0, 2)))), draw(ATTRS))
        case 4:
            return Tuple(tuple(part() for _ in range(draw(st.integers(0, 3)))))
        case 5:
            return TupleGetItem(part(), draw(st.integers(0, 12)))
        case 6:
            return If(part(), _block(drawing, visible, depth - 1), _block(drawing, visible, depth - 1))
        case 7:
            return _function(drawing, visible, depth - 1)
        case 8:
            clauses = tuple(_clause(drawing, visible, depth - 1) for _ in range(draw(st.integers(1, 3))))
            return Match(part(), clauses, draw(st.booleans()))
        case 9:
            return RefWrite(part(), part()) if draw(st.booleans()) else RefRead(RefCreate(part()))
        case 10:
            return _block(drawing, visible, depth - 1)
        case _:
            return _leaf(drawing, visible)


def _leaf(drawing: _Drawing, visible: tuple[Expr, ...]) -> Expr:
    draw = drawing.draw
    leaf, fork = drawing.constructors
    match draw(st.integers(0, 6)):
        case 0 | 1 | 2 if visible:
            return draw(st.sampled_from(visible))
        case 3:
            return draw(st.sampled_from(drawing.globals))
        case 4:
            return Call(leaf) if draw(st.booleans()) else fork
        case 5:
            dtype, shape = draw(_TENSORS)
            return Constant(np.arange(int(np.prod(shape))).reshape(shape).astype(dtype))
        case _:
            dtype, value = draw(SCALARS)
            return Constant(np.array(value, dtype))


def _clause(drawing: _Drawing, visible: tuple[Expr, ...], depth: int) -> Clause:
    bound: list[Var] = []
    pattern = _pattern(drawing, 2, bound)
    return Clause(pattern, _block(drawing, (*visible, *bound), depth))


def _pattern(drawing: _Drawing, depth: int, bound: list[Var]) -> Pattern:
    draw = drawing.draw
    leaf, fork = drawing.constructors
    match draw(st.integers(0, 4 if depth > 0 else 1)):
        case 0:
            return PatternWildcard()
        case 1:
            bound.append(Var(draw(NAMES), _annotation(drawing)))
            return PatternVar(bound[-1])
        case 2:
            return PatternConstructor(leaf)
        case 3:
            return PatternConstructor(fork, tuple(_pattern(drawing, depth - 1, bound) for _ in range(3)))
        case _:
            fields = tuple(_pattern(drawing, depth - 1, bound) for _ in range(draw(st.integers(0, 2))))
            return PatternTuple(fields)
