"""Running Relay programs in both ways: by the interpreter, and as Relax in the machine."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import relax_core as rc
from relax_core.ir.module import IRModule
from relax_core.vm.objects.values import AdtValue
from tests.narrow import is_array, is_list, is_tuple

HEADER = '#[version = "0.0.5"]\n'


def parsed(text: str) -> IRModule:
    """Return the module of a text, which has no errors."""
    module = rc.parse(text if text.startswith("#[") else HEADER + text, "program.relay")
    assert [str(item) for item in rc.check(module) if item.severity == "error"] == []
    return module


def both(text: str, *args: Any, entry: str = "main") -> Any:
    """Run a program in both ways, see that they agree, and return what it gives."""
    module = parsed(text)
    wanted = rc.evaluate(module, entry, *args)
    relax = rc.run_pipeline(module, "RelayToRelax")[-1]
    assert [str(item) for item in relax.diagnostics] == []
    assert [str(item) for item in rc.check(relax.after)] == []
    found = rc.VirtualMachine(rc.build(module))[entry](*args)
    agree(found, wanted)
    return wanted


def agree(found: Any, wanted: Any) -> None:
    """See that two results are alike; numbers up to rounding, as kernels add in another order."""
    stack = [(found, wanted)]
    while stack:
        a, b = stack.pop()
        match a, b:
            case AdtValue(), AdtValue():
                assert (a.name, a.tag, len(a.fields)) == (b.name, b.tag, len(b.fields))
                stack.extend(zip(a.fields, b.fields, strict=True))
            case _ if is_tuple(a) and (is_tuple(b) or is_list(b)):
                assert len(a) == len(b)
                stack.extend(zip(a, b, strict=True))
            case _:
                x, y = np.asarray(a), np.asarray(b)
                assert x.shape == y.shape
                assert np.allclose(x, y, rtol=2e-4, atol=1e-5, equal_nan=True)


def plain(value: Any) -> Any:
    """Return lists, options and pairs as Python has them, and scalars as numbers."""
    items: list[Any] = []
    while isinstance(value, AdtValue) and value.name == "Cons":
        items.append(plain(value.fields[0]))
        value = value.fields[1]
    match value:
        case AdtValue(name="Nil"):
            return items
        case AdtValue(name=name, fields=fields):
            return (name, *map(plain, fields))
        case _ if is_tuple(value):
            return tuple(map(plain, value))
        case _ if is_array(value):
            return value.tolist()
        case _:
            return value


def listed(items: Sequence[Any], dtype: str = "int32") -> AdtValue:
    """Return a list of the prelude."""
    made = AdtValue("Nil", 1)
    for item in reversed(items):
        value = item if isinstance(item, AdtValue) or is_tuple(item) else np.asarray(item, dtype)
        made = AdtValue("Cons", 0, (value, made))
    return made
