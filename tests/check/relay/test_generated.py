"""Generated Relay programs: what is made to be well typed is, with the type it was made to have."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.check.text import check_text
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import (
    AdtType,
    Call,
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
    constant,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import IntImm
from relax_core.ir.relay import (
    Clause,
    Constructor,
    Let,
    Match,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    RefCreate,
    RefRead,
    TypeData,
)
from relax_core.ops.relay.show import show_type
from relax_core.printer.relay_text.module import print_relay
from tests.check.relay.programs import by_hand

A = TypeVar("A")
JUST, NOTHING = Constructor("Just", "Maybe", (A,)), Constructor("Nothing", "Maybe")
MAYBE = TypeData("Maybe", (A,), (JUST, NOTHING))
B = TypeVar("B")
SAME = Var("same", B)
IDENTITY = GlobalVar("identity")
GENERIC = Definition(IDENTITY, Function((SAME,), SAME, B, type_params=(B,)))
SCALARS = tuple(TensorType((), dtype) for dtype in ("float32", "int32", "bool"))
BASES = (*SCALARS, TensorType((IntImm(2), IntImm(3)), "float32"))
TYPES = st.recursive(
    st.sampled_from(BASES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: TupleType(tuple(items))),
        st.tuples(inner, inner).map(lambda pair: FuncType((pair[0],), pair[1])),
        inner.map(RefType),
        inner.map(lambda item: AdtType("Maybe", (item,))),
    ),
    max_leaves=5,
)


class Maker:
    """Makes an expression of a given type; annotations are left out wherever a use or a value gives the type."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.count = 0

    def fresh(self, type_: Type, *, is_annotated: bool) -> Var:
        self.count += 1
        return Var(f"v{self.count}", type_ if is_annotated else None)

    def make(self, type_: Type, scope: tuple[tuple[Var, Type], ...], depth: int) -> Expr:
        known = [var for var, other in scope if show_type(other) == show_type(type_)]
        if known and self.data.draw(st.booleans()):
            return self.data.draw(st.sampled_from(known))
        how = (
            self.data.draw(st.sampled_from(("plain", "let", "if", "field", "call", "match", "maybe", "generic", "ref")))
            if depth
            else "plain"
        )
        match how:
            case "let":
                other = self.data.draw(TYPES)
                var = self.fresh(other, is_annotated=self.data.draw(st.booleans()))
                value = self.make(other, scope, depth - 1)
                return Let(var, value, self.make(type_, (*scope, (var, other)), depth - 1))
            case "if":
                return If(*(self.make(item, scope, depth - 1) for item in (SCALARS[2], type_, type_)))
            case "field":
                other = self.data.draw(TYPES)
                return TupleGetItem(Tuple(tuple(self.make(item, scope, depth - 1) for item in (other, type_))), 1)
            case "call":
                other = self.data.draw(TYPES)
                param = self.fresh(other, is_annotated=self.data.draw(st.booleans()))
                function = Function((param,), self.make(type_, (*scope, (param, other)), depth - 1))
                return Call(function, (self.make(other, scope, depth - 1),))
            case "match":
                var = self.fresh(type_, is_annotated=False)
                value = Tuple((self.make(type_, scope, depth - 1),))
                return Match(value, (Clause(PatternTuple((PatternVar(var),)), var),))
            case "maybe":
                var = self.fresh(type_, is_annotated=self.data.draw(st.booleans()))
                value = self.make(AdtType("Maybe", (type_,)), scope, depth - 1)
                missing = Clause(PatternConstructor(NOTHING), self.make(type_, scope, depth - 1))
                return Match(value, (Clause(PatternConstructor(JUST, (PatternVar(var),)), var), missing))
            case "generic":
                return Call(IDENTITY, (self.make(type_, scope, depth - 1),))
            case "ref":
                return RefRead(RefCreate(self.make(type_, scope, depth - 1)))
            case _:
                return self.plain(type_, scope, depth)

    def plain(self, type_: Type, scope: tuple[tuple[Var, Type], ...], depth: int) -> Expr:
        inner = max(depth - 1, 0)
        match type_:
            case TupleType(fields=fields):
                return Tuple(tuple(self.make(item, scope, inner) for item in fields))
            case FuncType(params=tuple() as params, ret=ret):
                bound = tuple((self.fresh(item, is_annotated=True), item) for item in params)
                return Function(tuple(var for var, _ in bound), self.make(ret, (*scope, *bound), inner))
            case AdtType(args=(item,)):
                return Call(JUST, (self.make(item, scope, inner),)) if self.data.draw(st.booleans()) else Call(NOTHING)
            case RefType(value=value):
                return RefCreate(self.make(value, scope, inner))
            case TensorType(dtype=str() as dtype, dims=tuple() as dims):
                leaf = constant(0 if dtype == "int32" else False if dtype == "bool" else 0.0, dtype)
                if dims:
                    return Call(Op("zeros"), (), attrs=(("shape", (2, 3)), ("dtype", dtype)))
                return leaf if dtype == "bool" or not depth else Call(Op("add"), (leaf, self.make(type_, scope, inner)))
            case _:
                raise AssertionError(type_)


@st.composite
def well_typed(draw: st.DrawFn) -> tuple[IRModule, Type]:
    """Draw a module, and the type that its `main` gives."""
    data = draw(st.data())
    type_ = draw(TYPES)
    x = Var("x", BASES[3])
    main = Definition(GlobalVar("main"), Function((x,), Maker(data).make(type_, ((x, BASES[3]),), 3), type_))
    return replace(by_hand(x), definitions=(main, GENERIC), type_data=(MAYBE,)), type_


@settings(deadline=None)
@given(well_typed())
def test_a_program_has_the_type_that_it_was_made_for(made: tuple[IRModule, Type]) -> None:
    module, type_ = made
    assert [item.code for item in check(module) if item.severity == "error"] == []
    found = infer(module).types[module.definitions[0].var]
    assert isinstance(found, FuncType)
    assert show_type(found.ret) == show_type(type_)


@settings(deadline=None)
@given(well_typed())
def test_a_program_is_read_back_with_the_same_types(made: tuple[IRModule, Type]) -> None:
    module, _ = made
    text = print_relay(module, types=infer(module).types).text
    parsed = parse_text(text, "m.relay")
    assert parsed.modules, text
    assert structural_equal(module, parsed.modules[0]), text
    assert [item.code for item in check_text(parsed) if item.code == "RY033" or item.severity == "error"] == []
