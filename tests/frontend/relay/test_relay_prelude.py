"""The prelude: what is used of it becomes a part of the module, and it is well-typed."""

import pytest

from relax_core.check.check import check
from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text
from relax_core.frontend.relay.prelude import prelude, tensor_array
from relax_core.ir.module import IRModule

FUNCTIONS = (
    "id compose flip hd tl nth length update map foldl foldr foldr1 sum concat filter zip rev map_accumr map_accuml "
    "unfoldr unfoldl tmap size iterate nat_double nat_add nat_nth nat_update nat_iterate"
)
OF_ARRAY = (
    "tensor_array tensor_get_data tensor_array_read tensor_array_write tensor_expand_dims tensor_array_stack "
    "tensor_array_gather tensor_array_scatter"
)
OF_ROWS = "tensor_concatenate tensor_take tensor_array_unstack tensor_array_split tensor_array_concat"


def read(text: str) -> IRModule:
    parsed = parse_text(text, "m.relay")
    assert not has_errors(parsed.diagnostics), [item.render() for item in parsed.diagnostics]
    return parsed.modules[0]


def test_the_prelude_has_its_functions() -> None:
    assert set(prelude().functions) == set(FUNCTIONS.split())
    assert set(prelude().types) == {"List", "Option", "Storage", "Tree", "nat"}


@pytest.mark.parametrize("name", FUNCTIONS.split())
def test_a_function_of_the_prelude_is_well_typed(name: str) -> None:
    module = read(f"def @main() {{ @{name} }}")
    assert name in module
    # A polymorphic function that nothing calls leaves the type of `main` open; that is not the prelude's error.
    assert [item.render() for item in check(module) if f"of @{name} is not determined" not in item.message] == []


@pytest.mark.parametrize("shape", ["2_4", "?_2_4", "any_3", "5", "scalar"])
def test_tensor_arrays_are_well_typed(shape: str) -> None:
    names = [f"{name}_float32_{shape}" for name in (f"{OF_ARRAY} {OF_ROWS}" if shape != "scalar" else OF_ARRAY).split()]
    assert set(names) <= set(tensor_array("float32", shape).functions)
    calls = ", ".join(f"@{name}" for name in names)
    module = read(f"def @main(%x: static_tensor_float32_{shape}_t[]) {{ ({calls}) }}")
    assert [item.render() for item in check(module) if item.severity == "error"] == []


def test_only_what_is_reached_is_added() -> None:
    module = read("def @main(%xs: List[int32]) { @rev(%xs) }")
    assert module.names == ("main", "rev", "foldl")
    assert [item.name for item in module.type_data] == ["List"]
    assert read("def @main() { 1 }").type_data == ()


def test_a_module_s_own_definitions_come_first() -> None:
    module = read("type List[A] { One(A) } def @map(%x: List[int32]) { %x } def @main() { @map(One(1)) }")
    assert module.names == ("map", "main")
    assert [item.name for item in module.type_data[0].constructors] == ["One"]


def test_functions_of_the_prelude_use_the_module_s_types() -> None:
    module = read("type List[A] { Cons(A, List[A]), Nil } def @main() { @length(Cons(1, Nil)) }")
    assert module.names == ("main", "length")
    assert len(module.type_data) == 1
