"""`upstream_values.toml`: what the tests of the last Relay compute, here by the interpreter and in the machine."""

import tomllib
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import RunError
from relax_core.ir.expr import AdtType, Function, TensorType, TupleType, Type
from relax_core.ir.module import IRModule
from relax_core.vm.objects.values import AdtValue
from tests.passes.relay.running import listed, parsed

FILE = Path(__file__).with_name("upstream_values.toml")
CASES: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["case"]
WAYS = ("interpreter", "machine")


def given(value: Any, type_: Type | None) -> Any:
    """Return an argument of a type as the table writes it."""
    match type_:
        case TupleType(fields=fields):
            return tuple(map(given, value, fields))
        case AdtType(name="List", args=(item,)):
            return listed([given(part, item) for part in value])
        case TensorType(dtype=str(dtype)):
            return np.array(value, dtype)
        case _:
            raise AssertionError(f"no argument is of type {type_}")


def written(value: Any) -> Any:
    """Return a result as the table writes it: lists as lists, other data behind the name of its constructor."""
    match value:
        case AdtValue(name="Cons" | "Nil"):
            items: list[Any] = []
            while value.name == "Cons":
                items.append(written(value.fields[0]))
                value = cast("AdtValue", value.fields[1])
            return items
        case AdtValue(name="S" | "Z"):
            count = 0
            while value.name == "S":
                count, value = count + 1, cast("AdtValue", value.fields[0])
            return {"nat": count}
        case AdtValue(name=name, fields=fields):
            return [name, *map(written, fields)]
        case tuple() | list():
            return [written(item) for item in cast("list[Any]", value)]
        case _:
            return np.asarray(value).tolist()


def agree(found: Any, wanted: Any) -> None:
    """See that two values are alike, floats up to rounding."""
    if isinstance(found, list) and isinstance(wanted, list):
        pair = cast("list[Any]", found), cast("list[Any]", wanted)
        assert len(pair[0]) == len(pair[1])
        for a, b in zip(*pair, strict=True):
            agree(a, b)
    else:
        assert found == (pytest.approx(wanted, rel=1e-5) if isinstance(found, float) else wanted)
        assert isinstance(found, bool) == isinstance(wanted, bool)


def run(module: IRModule, args: list[Any], way: str) -> Any:
    if way == "interpreter":
        return rc.evaluate(module, "main", *args)
    return rc.VirtualMachine(rc.build(module))["main"](*args)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_program_computes_what_it_did(case: dict[str, Any]) -> None:
    module = parsed(case["text"])
    main = module["main"]
    assert isinstance(main, Function)
    args = list(map(given, case.get("args", []), (param.annotation for param in main.params)))
    for way in WAYS:
        if "error" in case:
            with pytest.raises(RunError, match=case["error"]):
                run(module, args, way)
        else:
            agree(written(run(module, args, way)), case["value"])
