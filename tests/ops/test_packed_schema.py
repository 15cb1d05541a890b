"""Schemas of packed functions: what is printed reads back equal, mistakes are placed, types and limits hold."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_core.ir.expr import (
    OBJECT,
    DataTypeImm,
    Null,
    PrimType,
    PrimValue,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
)
from relax_core.ir.prim import PrimVar, StringImm, const
from relax_core.ops.packed.accept import facts_of, refused
from relax_core.ops.packed.registry import DECLARED, PACKED, Declarations
from relax_core.ops.packed.schema import (
    REQUIRED,
    Base,
    Schema,
    SchemaError,
    SchemaParam,
    SchemaType,
    is_literal_of,
    parse_schema,
)
from relax_core.ops.packed.spec import UNKNOWN, AtLeast, AxisLimit, Choice, broken, spec_of
from relax_core.ops.show import show_type

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name not in ("inf", "nan"))
LITERAL_OF: dict[str, st.SearchStrategy[Any]] = {
    "Scalar": st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False)),
    "int": st.integers(),
    "float": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "str": st.text(st.characters(exclude_characters="'\"\\", categories=("L", "N", "P", "Zs")), max_size=6),
    "ScalarType": st.sampled_from(["float32", "int64"]),
}


@st.composite
def types(draw: st.DrawFn) -> SchemaType:
    base: Base = draw(st.sampled_from(get_args(Base)))
    is_list = draw(st.booleans())
    length = draw(st.sampled_from([None, 1, 2, 4])) if is_list else None
    alias = draw(st.sampled_from(["", "a", "a!", "b!"])) if base == "Tensor" else ""
    return SchemaType(base, is_list, length, draw(st.booleans()), alias)


@st.composite
def params(draw: st.DrawFn, name: str, *, is_keyword: bool) -> SchemaParam:
    type_ = draw(types())
    choices: list[st.SearchStrategy[Any]] = [st.just(REQUIRED)]
    if type_.is_optional:
        choices.append(st.none())
    if type_.base in LITERAL_OF:
        item = LITERAL_OF[type_.base]
        count = type_.length if type_.length and type_.length > 1 else None
        items = st.lists(item, min_size=count or 0, max_size=count or 3).map(tuple)
        choices.append(items if type_.is_list else item)
    return SchemaParam(name, type_, draw(st.one_of(choices)), is_keyword)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(NAMES, max_size=5, unique=True))
    first = draw(st.integers(0, len(names)))
    found = tuple(draw(params(name, is_keyword=index >= first)) for index, name in enumerate(names))
    results = tuple(draw(st.lists(types(), max_size=3)))
    return Schema(draw(NAMES), found, results)


@given(schemas())
def test_what_is_printed_reads_back_equal(schema: Schema) -> None:
    assert parse_schema(str(schema)) == schema


@given(schemas())
def test_a_default_is_a_literal_of_its_type(schema: Schema) -> None:
    assert all(param.default is REQUIRED or is_literal_of(param.default, param.type) for param in schema.params)


@given(st.text("aT(,)=*[]?!->1 'x.", max_size=30))
def test_any_text_reads_or_is_refused(text: str) -> None:
    try:
        schema = parse_schema(text)
    except SchemaError:
        return
    assert parse_schema(str(schema)) == schema


REFUSED = {
    "f(Tensor self)": "column 15: expected '->', got 'the end'",
    "f(Tensro self) -> Tensor": "column 3: 'Tensro' is no type; the types are Tensor, Scalar",
    "f(int k=True) -> Tensor": "column 9: the default True of 'k' is no int",
    "f(int k=None) -> Tensor": "column 9: the default None of 'k' is no int",
    "f(int[2] k=[1, 2, 3]) -> Tensor": "column 12: the default [1, 2, 3] of 'k' is no int[2]",
    "f(int[] k=1) -> Tensor": "the default 1 of 'k' is no int[]",
    "f(int k, int k) -> Tensor": "the parameter 'k' is there twice",
    "f(int k, *, *, int l) -> Tensor": "'*' is there twice",
    "f(int k -> Tensor": "expected ',', got '->'",
    "f(int[0] k) -> Tensor": "expected a length, got '0'",
    "f(int k) -> Tensor Tensor, int": "unexpected",
    "f(int k) -> Tensor $": "unexpected '$'",
    "": "expected the name of the function",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_text_that_is_no_schema_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(SchemaError) as error:
        parse_schema(text)
    assert REFUSED[text] in str(error.value)


def test_one_number_stands_for_a_list() -> None:
    schema = parse_schema("f(int[2] stride=3, float[2] s=1, bool[3]? mask=None) -> ()")
    assert [param.default for param in schema.params] == [(3, 3), (1.0, 1.0), None]
    assert str(schema) == "f(int[2] stride=3, float[2] s=1.0, bool[3]? mask=None) -> ()"


def test_the_table_reads_back_and_says_what_it_writes() -> None:
    for name, spec in PACKED.items():
        assert parse_schema(str(spec.schema)) == spec.schema
        assert spec.summary
        assert name.startswith(("libtorch_", "vm.builtin.", "relax.run.", "runtime.disco."))
        assert not (spec.is_pure and spec.writes)
        if name.startswith("libtorch_"):
            assert name.endswith("_") or name.endswith("_out") == bool(spec.outputs)
            assert spec.is_pure == (not spec.writes)


def test_destinations_are_the_written_parameters_at_the_end() -> None:
    spec = spec_of("f(Tensor(a!) self, Tensor x, *, Tensor(b!) out, Tensor(c!) more) -> ()")
    assert [param.name for param in spec.outputs] == ["out", "more"]
    assert spec.writes == (0, 2, 3)


INT, FLOAT, TEXT, YES = (PrimType(dtype) for dtype in ("int64", "float32", "string", "bool"))
MATRIX, POINT = TensorType((const(2), const(2)), "float32"), TensorType((), "float32")
# schema type -> what it takes, and what it does not
ACCEPTED: dict[str, tuple[tuple[Type, ...], tuple[Type, ...]]] = {
    "Tensor": ((MATRIX, POINT, OBJECT, TensorType()), (INT, TEXT, TupleType((MATRIX,)))),
    "Scalar": ((INT, FLOAT, YES, POINT, TensorType(), OBJECT), (TEXT, MATRIX)),
    "int": ((INT, PrimType("int32"), OBJECT), (FLOAT, YES, POINT)),
    "float": ((FLOAT, INT, PrimType("bfloat16")), (TEXT, YES, POINT)),
    "bool": ((YES,), (INT, FLOAT)),
    "str": ((TEXT,), (INT, MATRIX)),
    "int[]": ((TupleType((INT, INT)), ShapeType((const(1),)), TupleType(())), (INT, TupleType((INT, TEXT)), MATRIX)),
    "int[2]": ((INT, TupleType((INT, INT)), ShapeType(None, 2)), (TupleType((INT,)), ShapeType(None, 3), TEXT)),
    "int[1]": ((INT, TupleType((INT, INT, INT)), TupleType(())), (TEXT,)),
    "bool[3]": ((TupleType((YES, YES, YES)), YES), (TupleType((YES, YES)), ShapeType((const(1),) * 3))),
    "Tensor[]": ((TupleType((MATRIX, OBJECT)),), (MATRIX, TupleType((INT,)))),
    "any": ((INT, MATRIX, TEXT, TupleType(())), ()),
}


def type_named(text: str) -> SchemaType:
    return parse_schema(f"f({text} x) -> ()").params[0].type


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_schema_type_takes_some_types_and_refuses_others(text: str) -> None:
    expected, value = type_named(text), PrimValue(const(0))
    taken, other = ACCEPTED[text]
    assert [show_type(item) for item in taken if refused(expected, value, item)] == []
    assert [show_type(item) for item in other if not refused(expected, value, item)] == []


def test_only_an_optional_type_is_left_empty() -> None:
    assert refused(type_named("Scalar?"), Null(), OBJECT) is None
    assert refused(type_named("Scalar"), Null(), OBJECT) == "Scalar is not optional"
    assert refused(type_named("ScalarType"), DataTypeImm("int8"), OBJECT) is None
    assert refused(type_named("Tensor"), DataTypeImm("int8"), OBJECT) == "it is a dtype"


def test_types_tell_the_values_of_arguments() -> None:
    n = PrimVar("n", "int64")
    spec = spec_of("f(Tensor x, int[2] size, str how, ScalarType? dtype=None, float eps=0.5) -> Tensor")
    args = (Tuple(()), PrimValue(const(3)), Tuple(()), DataTypeImm("int8"))
    known: tuple[Type, ...] = (MATRIX, PrimType("int64", n), PrimType("string", StringImm("tanh")), OBJECT)
    facts = facts_of(spec.params, args, known)
    assert facts == {"x": MATRIX, "size": (n, n), "how": "tanh", "dtype": "int8", "eps": 0.5}
    assert facts_of(spec.params, args, (MATRIX, OBJECT, TEXT, OBJECT))["size"] is UNKNOWN


# limit, facts, words of what breaks it
LIMITS: tuple[tuple[Any, dict[str, Any], str | None], ...] = (
    (Choice("how", ("a", "b")), {"how": "c"}, "how is one of 'a', 'b', got 'c'"),
    (Choice("how", ("a", "b")), {"how": UNKNOWN}, None),
    (AtLeast("k", 1), {"k": (2, 0)}, "k is at least 1, got 0"),
    (AxisLimit("dim"), {"self": MATRIX, "dim": -2}, None),
    (AxisLimit("dim"), {"self": MATRIX, "dim": 2}, "dim is an axis of self of rank 2, from -2 to 1, got 2"),
    (AxisLimit("dim"), {"self": MATRIX, "dim": (1, -1)}, "the axes of dim differ, got (1, -1)"),
    (AxisLimit("dim"), {"self": TensorType(), "dim": 9}, None),
    (AxisLimit("dim"), {"self": POINT, "dim": -1}, None),
    (AxisLimit("dim", "tensors", 1), {"tensors": (MATRIX,), "dim": 2}, None),
    (
        AxisLimit("dim", "tensors", 1),
        {"tensors": (MATRIX,), "dim": 3},
        "dim is an axis of a result of rank 3, from -3 to 2, got 3",
    ),
)


@pytest.mark.parametrize(("limit", "facts", "words"), LIMITS)
def test_a_limit_is_kept_or_the_words_say_how_it_is_broken(limit: Any, facts: Any, words: str | None) -> None:
    assert broken(limit, facts) == words


def test_declarations_of_the_host_and_of_sources_are_found() -> None:
    declared = Declarations()
    assert declared.find("libtorch_add") is DECLARED.find("libtorch_add")
    assert declared.find("libtorch_xlogy") is None
    known = spec_of("libtorch_xlogy(Tensor self, Tensor other) -> Tensor")
    declared.add_source(lambda name: known if name == known.name else None)
    assert declared.find("libtorch_xlogy") is known
    declared.add("libtorch_add", None)
    assert declared.find("libtorch_add") is None
    assert declared.near("libtorch_softmx")[0] == "libtorch_softmax"
