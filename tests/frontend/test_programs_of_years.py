"""Programs as people have written them since 2022 are read, are sound, print for TVM, and run with TVM's values.

What apache-tvm 0.27 reads itself is run there as it is written, and what an earlier version read as it is printed here.
"""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.engine.programs.prim_entry import entry_name, with_entries
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Function, PrimType, ShapeType, TensorType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimExpr, PrimVar, const
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import PrimFunc
from relax_core.vm.kernels import written_params
from tests.narrow import is_array, is_tuple
from tests.passes.wheel import flat, input_of

PROGRAMS = tomllib.loads(Path(__file__).with_name("programs_of_years.toml").read_text(encoding="utf-8"))
EARLIER = "earlier: "


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_read_and_printed(name: str) -> None:
    module = rc.parse(PROGRAMS[name])
    assert [str(item) for item in rc.check(module) if item.severity == "error"] == []
    assert first_difference(module, rc.parse(rc.script(module))) is None


@pytest.mark.tvm
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_values_that_it_has_in_tvm(name: str) -> None:
    from tests.apache_tvm import from_source

    module = rc.parse(PROGRAMS[name])
    printed = from_source(rc.script(module, tvm="0.27"))
    theirs = printed if name.startswith(EARLIER) else from_source(PROGRAMS[name])
    entry = "main" if "main" in module else module.names[-1]
    function = module[entry]
    if isinstance(function, Function):
        given = [relax_input(item.annotation, seed) for seed, item in enumerate(function.params)]
        ours = flat(rc.VirtualMachine(rc.build(module), on_output=lambda _: None)[entry](*copies(given)))
        expected = run_relax(theirs, entry, given)
    else:
        given = prim_inputs(function)
        machine = rc.VirtualMachine(rc.build(with_entries(module)), on_output=lambda _: None)
        ours = flat(machine[entry_name(module, entry)](*copies(given)))
        expected = run_prim(theirs, entry, given, written_params(function))
    assert len(ours) == len(expected)
    for a, b in zip(ours, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def copies(values: list[Any]) -> list[Any]:
    return [np.copy(item) if hasattr(item, "dtype") else item for item in values]


def relax_input(type_: Type | None, seed: int) -> Any:
    match type_:
        case TensorType(shape=None, ndim=ndim, dtype=dtype):
            return np.random.default_rng(seed).normal(size=(3, 4)[:ndim]).astype(dtype or "float32")
        case ShapeType(values=None, ndim=ndim):
            return (2, 3)[:ndim]
        case PrimType(dtype=dtype):
            return 3 if "int" in dtype else 1.5
        case _:
            return input_of(type_, seed)


def prim_inputs(function: PrimFunc) -> list[Any]:
    """Make numbers between -1 and 1, or -20 and 20 if they are integers; five where a size is open."""
    made: list[Any] = []
    random = np.random.default_rng(0)
    for param in function.params:
        buffer = function.buffer_of(param)
        if buffer is None:
            made.append(5 if "int" in param.dtype else 1.5)
            continue
        values = random.uniform(-1, 1, tuple(map(size, buffer.shape))) * (1 if "float" in buffer.dtype else 20)
        made.append(np.asarray(values, buffer.dtype))
    return made


def size(dim: PrimExpr) -> int:
    found = constant_value(
        replace_symbols(dim, {item: const(5) for item in preorder(dim) if isinstance(item, PrimVar)})
    )
    assert isinstance(found, int)
    return found


def for_tvm(value: Any) -> Any:
    from tests.apache_tvm import tvm

    if is_tuple(value):
        is_shape = bool(value) and all(isinstance(item, int) for item in value)
        return tvm.runtime.ShapeTuple(value) if is_shape else tuple(map(for_tvm, value))
    return tvm.runtime.tensor(np.copy(value)) if is_array(value) else value


def flat_in_tvm(value: Any) -> list[Any]:
    if hasattr(value, "numpy"):
        return [value.numpy()]
    return [value] if isinstance(value, int | float) else [part for item in value for part in flat_in_tvm(item)]


def run_relax(module: Any, entry: str, given: list[Any]) -> list[Any]:
    from tests.apache_tvm import relax, tvm

    others: dict[Any, Any] = {}
    function = module
    if isinstance(module, tvm.IRModule):
        function = module[entry]
        others = {var: item for var, item in module.functions.items() if var.name_hint != entry}
    # A private function has no symbol by which it could be called.
    alone = function.with_attr("global_symbol", "entry").without_attr("Primitive")
    whole = module
    if not others:
        whole, entry = tvm.IRModule({"entry": alone}), "entry"
        if isinstance(module, tvm.IRModule):
            whole = whole.with_attrs(module.attrs) if module.attrs else whole
            whole.update_global_info("vdevice", list(module.global_infos.get("vdevice", ())))
    built = relax.build(relax.transform.LambdaLift()(whole), "llvm")
    return flat_in_tvm(relax.VirtualMachine(built, tvm.cpu())[entry](*map(for_tvm, given)))


def run_prim(module: Any, entry: str, given: list[Any], written: tuple[int, ...]) -> list[Any]:
    from tests.apache_tvm import tvm

    whole = module if isinstance(module, tvm.IRModule) else tvm.IRModule({entry: module})
    # A private function has no symbol by which it could be called.
    whole.update_func(whole.get_global_var(entry), whole[entry].with_attr("global_symbol", "entry"))
    args = list(map(for_tvm, given))
    returned = tvm.compile(whole, "llvm")["entry"](*args)
    return [*(args[place].numpy() for place in written), *([] if returned is None else [returned])]
