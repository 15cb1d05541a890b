"""The samples that apache-tvm can run give the same there."""

from typing import Any

import numpy as np
import pytest

from relax_core.frontend.parse import parse_text
from relax_core.printer.tvmscript import print_module
from tests.apache_tvm import from_source, relax, tvm
from tests.vm.assemble import result_of
from tests.vm.programs import run_sample, sample_text
from tests.vm.test_samples import EXPECTED, agree

pytestmark = pytest.mark.tvm

# Why apache-tvm 0.27 does not run a sample.
BEYOND_TVM = {
    "closure_captures": "a field of a tuple that LambdaLift made an object is called",
    "even_odd": "its parser knows no later local function",
    "void_callee": "a call whose void result is dropped ends in a failed check of a register number",
    "unreached_packed": "packed functions are looked up when the program is loaded",
}

PRINTED = frozenset(("dialect_2022", "dialect_2023", "dialect_2026", "metadata_table", "several_modules"))


def tile(a: Any, out: Any) -> None:
    out.copyfrom(np.tile(a.numpy(), (1, 2)))


def update(a: Any) -> None:
    a.copyfrom(a.numpy() + 1)


@pytest.fixture(scope="module")
def machines() -> list[Any]:
    """Register what the samples call by name; the last machine that is appended calls closures."""
    found: list[Any] = []

    def apply(closure: Any, *args: Any) -> Any:
        return found[-1].invoke_closure(closure, *args)

    tvm.register_global_func("custom_apply", apply, override=True)
    tvm.register_global_func("custom_tile", tile, override=True)
    tvm.register_global_func("custom_inplace_update", update, override=True)
    return found


def text_for_the_wheel(name: str) -> str:
    """Return the text of a sample from its module on; one of another year, or with names above it, as we print it."""
    text = sample_text(f"relax/{name}.py")
    if name in PRINTED:
        return print_module(parse_text(text, f"{name}.py").modules[0]).text
    return text[text.index("@I.ir_module") :]


@pytest.mark.parametrize("name", sorted(set(EXPECTED) - set(BEYOND_TVM)))
def test_a_sample_gives_the_same(name: str, machines: list[Any]) -> None:
    args, _ = EXPECTED[name]
    module = relax.transform.LambdaLift()(from_source(text_for_the_wheel(name)))
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    machines.append(machine)
    theirs = machine["main"](*(arg if isinstance(arg, int) else tvm.runtime.tensor(np.asarray(arg)) for arg in args))
    agree(result_of(run_sample(f"relax/{name}.py", *args)), plain(theirs))


def plain(value: Any) -> Any:
    """Return NumPy's counterpart of a tensor, a shape or a tuple of them; a closure in a tuple is left out."""
    if hasattr(value, "numpy"):
        return value.numpy()
    if isinstance(value, tvm.runtime.ShapeTuple):
        return tuple(value)
    return tuple(plain(item) for item in value if type(item).__name__ != "Closure")
