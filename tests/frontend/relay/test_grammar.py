"""What Relay text means, construct by construct."""

import numpy as np
import pytest

from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.frontend.relay.detect import is_relay
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
    Var,
)
from relax_core.ir.node import postorder
from relax_core.ir.prim import AnyDim, IntImm
from relax_core.ir.relay import (
    Constructor,
    Let,
    Match,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
)
from relax_core.printer.relay_text.types import RelayTypes


def parsed(text: str) -> Parsed:
    result = parse_text(text, "m.relay")
    assert not has_errors(result.diagnostics), [item.render() for item in result.diagnostics]
    return result


def main(text: str) -> Function:
    function = parsed(text).modules[0]["main"]
    assert isinstance(function, Function)
    return function


def body(text: str) -> Expr:
    return main(f"def @main(%x: int32, %y: int32, %t: (int32, int32)) {{ {text} }}").body


def type_of_parameter(text: str) -> Type:
    annotation = main(f"def @main[A](%x: {text}) {{ %x }}").params[0].annotation
    assert annotation is not None
    return annotation


def spelled(expr: Expr) -> str:
    match expr:
        case Call(op=Op(name=name), args=args):
            return f"{name}({', '.join(spelled(item) for item in args)})"
        case Var():
            return expr.name
        case Constant():
            return str(expr.data)
        case _:
            return type(expr).__name__


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%x + %y * 2", "add(x, multiply(y, 2))"),
        ("%x * %y + 2", "add(multiply(x, y), 2)"),
        ("%x - %y - 2", "subtract(subtract(x, y), 2)"),
        ("%x / %y / 2", "divide(divide(x, y), 2)"),
        ("%x + 1 < %y * 2", "less(add(x, 1), multiply(y, 2))"),
        ("%x < %y == %y > %x", "equal(less(x, y), greater(y, x))"),
        ("%x <= 1 != (%y >= 2)", "not_equal(less_equal(x, 1), greater_equal(y, 2))"),
        ("%x + 1 + 2 * 3 * 4 - 5", "subtract(add(add(x, 1), multiply(multiply(2, 3), 4)), 5)"),
        ("(%x + %y) * 2", "multiply(add(x, y), 2)"),
        ("-%x", "negative(x)"),
        ("%x -1", "subtract(x, 1)"),
        ("%x - -1", "subtract(x, -1)"),
        ("nn.relu(%x)", "nn.relu(x)"),
        ("add(%x, %y,)", "add(x, y)"),
    ],
)
def test_operators_bind_as_in_relay(text: str, expected: str) -> None:
    assert spelled(body(text)) == expected


@pytest.mark.parametrize(
    ("text", "dtype", "value"),
    [
        ("1", "int32", 1),
        ("-1", "int32", -1),
        ("--1", "int32", 1),
        ("2147483648", "int64", 2147483648),
        ("-2147483648", "int32", -2147483648),
        ("1i64", "int64", 1),
        ("2i8", "int8", 2),
        ("3u8", "uint8", 3),
        ("1f", "float32", 1.0),
        ("1.5f", "float32", 1.5),
        ("1.5f16", "float16", 1.5),
        ("3f64", "float64", 3.0),
        ("1e-05f", "float32", np.float32(1e-05)),
        ("1E+3f", "float32", 1000.0),
        ("2.f", "float32", 2.0),
        ("inff", "float32", np.inf),
        ("-inff64", "float64", -np.inf),
        ("True", "bool", True),
        ("False", "bool", False),
        ("[1, 2]", "int32", [1, 2]),
        ("[[1f], [2.5f]]", "float32", [[1], [2.5]]),
    ],
)
def test_a_number_has_the_dtype_that_its_suffix_says(text: str, dtype: str, value: object) -> None:
    constant = body(text)
    assert isinstance(constant, Constant)
    assert constant.data.dtype == dtype
    np.testing.assert_array_equal(constant.data, np.array(value, dtype))


def test_a_float_without_suffix_is_read_with_a_note() -> None:
    result = parsed("def @main() { 1.5 }")
    assert [(item.code, item.severity) for item in result.diagnostics] == [("RL015", "note")]


@pytest.mark.parametrize(
    ("text", "cls"),
    [
        ("Tensor[(2, ?), float32]", TensorType),
        ("Tensor[(), bool]", TensorType),
        ("int32", TensorType),
        ("uint1", TensorType),
        ("custom[posites2]32", TensorType),
        ("(int32, A)", TupleType),
        ("(int32,)", TupleType),
        ("()", TupleType),
        ("(int32)", TensorType),
        ("fn (int32, A) -> ()", FuncType),
        ("fn[B](B) -> A", FuncType),
        ("List[A]", AdtType),
        ("nat", AdtType),
        ("static_tensor_float32_?_2_4_t[]", AdtType),
        ("ref(int32)", RefType),
    ],
)
def test_types(text: str, cls: type) -> None:
    assert isinstance(type_of_parameter(text), cls)


def test_a_tensor_type_keeps_unknown_dimensions_apart() -> None:
    type_ = type_of_parameter("Tensor[(2, ?, ?), float16]")
    assert isinstance(type_, TensorType)
    assert type_.dtype == "float16"
    assert type_.dims is not None
    first, second, third = type_.dims
    assert isinstance(first, IntImm)
    assert isinstance(second, AnyDim)
    assert isinstance(third, AnyDim)
    assert second is not third
    assert RelayTypes().show(type_) == "Tensor[(2, ?, ?), float16]"


def test_a_graph_variable_is_a_shared_node() -> None:
    value = body("%0 = add(%x, %y); %1 = (%0, %0); %1")
    assert isinstance(value, Tuple)
    assert value.fields[0] is value.fields[1]


def test_a_graph_variable_of_a_branch_may_be_used_behind_it() -> None:
    value = body("%0 = if (True) { %1 = add(%x, %y); %1 } else { %y }; (%0, %1)")
    assert isinstance(value, Tuple)
    branch = value.fields[0]
    assert isinstance(branch, If)
    assert branch.true_branch is value.fields[1]


def test_lets_shadow_and_functions_see_themselves() -> None:
    value = body("let %x = %x; let %f = fn (%n: int32) -> int32 { %f(%n) }; %x")
    assert isinstance(value, Let)
    assert isinstance(value.value, Var)
    assert value.value is not value.var
    inner = value.body
    assert isinstance(inner, Let)
    assert isinstance(inner.value, Function)
    assert isinstance(inner.value.body, Call)
    assert inner.value.body.op is inner.var
    assert inner.body is value.var


def test_a_sequence_without_let_discards_its_values() -> None:
    value = body("add(%x, %y); %x;; %y")
    assert isinstance(value, Let)
    assert value.var.name == "_"
    assert isinstance(value.body, Let)


@pytest.mark.parametrize("separator", [", ", " | ", ",\n| "])
def test_clauses_of_either_version(separator: str) -> None:
    value = main(f"def @main(%l: List[int32]) {{ match (%l) {{ Nil => 0{separator}Cons(%h, _) => {{ %h }} }} }}").body
    assert isinstance(value, Match)
    assert value.is_complete
    first, second = value.clauses
    assert isinstance(first.pattern, PatternConstructor)
    assert first.pattern.constructor.name == "Nil"
    assert isinstance(second.pattern, PatternConstructor)
    variable, rest = second.pattern.patterns
    assert isinstance(variable, PatternVar)
    assert second.body is variable.var
    assert isinstance(rest, PatternWildcard)


def test_match_that_may_fail_and_tuple_patterns() -> None:
    value = body("match? (%t) { (%a, _) => %a }")
    assert isinstance(value, Match)
    assert not value.is_complete
    assert isinstance(value.clauses[0].pattern, PatternTuple)


def test_constructors_are_values_and_nullary_ones_are_called() -> None:
    text = "type Color { Red, Mix(Color, Color) } def @main() { (Red, Mix, Mix(Red, Red())) }"
    value = main(text).body
    assert isinstance(value, Tuple)
    red, mix, mixed = value.fields
    assert isinstance(red, Call)
    assert isinstance(red.op, Constructor)
    assert red.args == ()
    assert isinstance(mix, Constructor)
    assert isinstance(mixed, Call)
    assert mixed.op is mix
    assert all(isinstance(item, Call) and item.op is red.op for item in mixed.args)


def test_calls_and_projections_chain() -> None:
    value = body("fn (%a: int32) { fn () { (%a, (%a, %a)) } }(%x)().1.0")
    assert isinstance(value, TupleGetItem)
    assert value.index == 0
    assert isinstance(value.tuple_value, TupleGetItem)
    assert value.tuple_value.index == 1


def test_references() -> None:
    value = body("ref_write(ref(%x), ref_read(ref(%y)))")
    assert isinstance(value, RefWrite)
    assert isinstance(value.ref, RefCreate)
    assert isinstance(value.value, RefRead)


def test_attributes_are_plain_data() -> None:
    text = (
        'nn.conv2d(%x, %y, padding=[1, 1], channels=None, kernel_size=(3, 3), data_layout="NCHW\\"", out_dtype="", '
        "groups=-1i64, strides=[[0], [1]])"
    )
    value = body(text)
    assert isinstance(value, Call)
    assert dict(value.attrs) == {
        "padding": (1, 1),
        "channels": None,
        "kernel_size": (3, 3),
        "data_layout": 'NCHW"',
        "out_dtype": "",
        "groups": -1,
        "strides": ((0,), (1,)),
    }


def test_function_attributes_stand_among_the_parameters() -> None:
    function = main('def @main(%x: int32, Primitive=1, Compiler="dnnl", relay.x=1.5f) -> int32 { %x }')
    assert function.attrs == (("Primitive", 1), ("Compiler", "dnnl"), ("relay.x", 1.5))
    assert main("def @main(Primitive=1) { 1 }").params == ()


def test_devices_of_variables_are_kept() -> None:
    text = "def @main(%x {virtual_device=VirtualDevice(device_type=1)}: int32, %y: int32) { %x }"
    device = (("__class__", "VirtualDevice"), ("device_type", 1))
    assert main(text).attrs == (("param_virtual_devices", (device, None)),)


def test_type_comments_and_device_marks_are_kept() -> None:
    result = parsed(
        "def @main[A](%x: A) {\n  %0 = @id(%x)<cpu(0)> /* ty=A */;\n"
        "  (%0, 1 /* ty=int32 span=from_string:1:1 */) /* just words */ /* ty=no type */\n}<gpu(1)>"
    )
    (call,) = (item for item in postorder(*result.modules) if isinstance(item, Call) and item in result.noted_types)
    (constant,) = (item for item in result.noted_types if isinstance(item, Constant))
    function = result.modules[0]["main"]
    assert isinstance(function, Function)
    assert result.noted_types[call] is function.type_params[0]
    assert isinstance(result.noted_types[constant], TensorType)
    assert list(result.marks.items()) == [(call, "<cpu(0)>"), (function, "<gpu(1)>")]
    assert len(result.noted_types) == 2


def test_comments_nest() -> None:
    assert spelled(body("/* a /* b */ c */ %x // d\n + # e\n 1 /**/")) == "add(x, 1)"


def test_an_expression_is_the_main_function() -> None:
    result = parsed("free_var %w: Tensor[(2), float32];\n%0 = add(%x, %w);\nmultiply(%0, %y)")
    function = result.modules[0]["main"]
    assert isinstance(function, Function)
    assert [var.name for var in function.params] == ["w", "x", "y"]
    assert [item.code for item in result.diagnostics] == ["RL019"]


def test_a_function_is_the_main_function_itself() -> None:
    assert [var.name for var in main("fn (%x: int32) { %x }").params] == ["x"]


def test_the_value_of_an_expression_that_ends_with_a_binding() -> None:
    assert spelled(main("%0 = add(1, 2);").body) == "add(1, 2)"
    assert isinstance(main("let %z = add(1, 2);").body, Let)


def test_an_expression_may_use_functions_of_its_text() -> None:
    module = parsed("def @f(%x: int32) { %x }\n@f(1)").modules[0]
    assert module.names == ("main", "f")


def test_functions_may_be_used_before_they_are_defined() -> None:
    module = parsed("def @main(%t: T) { @later(%t) } def @later(%t: T) { %t } type T { C }").modules[0]
    function = module["main"]
    assert isinstance(function, Function)
    assert isinstance(function.body, Call)
    assert isinstance(function.body.op, GlobalVar)
    assert function.body.op is module.definitions[1].var


@pytest.mark.parametrize("header", ['#[version = "0.0.5"]', '#[version = "0.0.4"]', "v0.0.4", ""])
def test_versions(header: str) -> None:
    assert parsed(f"{header}\ndef @main() {{ 1 }}").diagnostics == ()


def test_extern_types_and_types_of_the_old_form() -> None:
    module = parsed(
        "extern type Storage\ntype Old[A] =\n  | One(A)\n  | Two\ndef @main(%s: Storage[]) { Two }"
    ).modules[0]
    storage, old = module.type_data
    assert storage.is_extern
    assert [item.name for item in old.constructors] == ["One", "Two"]


def test_every_node_has_a_place() -> None:
    clauses = "Cons(%h, _) => { let %a = (%h, 1).0 + 2; %a; ref(%a) }, Nil => Nil"
    module = parsed(f"def @main(%l: List[int32]) {{ match (%l) {{ {clauses} }} }}").modules[0]
    nodes = list(postorder(module["main"]))
    assert [type(node).__name__ for node in nodes if node.span is None] == []
    (let,) = (node for node in nodes if isinstance(node, Let) and node.var.name == "a")
    assert let.span is not None
    assert let.span.text == "let %a = (%h, 1).0 + 2; %a; ref(%a)"


@pytest.mark.parametrize(
    "text",
    [
        '#[version = "0.0.5"]\nx',
        "def @main() { 1 }",
        "// words\nfn (%x) { %x }",
        "let %x = 1; %x",
        "%0 = add(1, 2);",
        "free_var %x: int32;",
        "type List[A] { Nil }",
        "extern type T",
        "v0.0.4\nadd(1, 2)",
        "> def @main() {\n>  1\n> }",
        "match (%x) { _ => 1 }",
        "nn.relu(%x)",
    ],
)
def test_the_language_is_found(text: str) -> None:
    assert is_relay(text, "m.txt")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        "@R.function\ndef main(x):\n    # let %x = 1;\n    return x",
        "from tvm.script import relax as R\n# def @main() {}",
        "class M:\n    pass",
        "def f(x):\n    return x % y",
    ],
)
def test_other_texts_are_not_relay(text: str) -> None:
    assert not is_relay(text, "m.py")
