"""RealizeVDevice and UpdateVDevice, beside what apache-tvm makes of the same programs."""

import re

import numpy as np
import pytest

import relax_core as rc
from relax_core.check.infer import infer
from relax_core.ir.attrs import attr
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, Op, TensorType, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder

HEAD = """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 0)]})
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32"%s)) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
%s
            R.output(gv)
        return gv
"""
CPU, GPU = "R.device(device_type=1, index=0)", "R.device(device_type=2, index=0)"
ON_GPU = ', vdevice="cuda:0"'
PROGRAMS = {
    "hints on both": ("", f"a = R.hint_on_device(x, {CPU})", "b = R.add(a, y)", f"c = R.hint_on_device(b, {GPU})",
                      "gv = R.multiply(c, c)"),
    "a hint that holds": ("", f"a = R.hint_on_device(x, {GPU})", "gv = R.add(a, y)"),
    "a declared parameter": (ON_GPU, "gv = R.add(x, y)"),
    "a declared parameter and a hint": (ON_GPU, "a = R.add(x, y)", f"gv = R.hint_on_device(a, {CPU})"),
    "a copy": ("", 'a = R.to_vdevice(x, "cuda:0")', "b = R.add(a, y)", "gv = R.multiply(b, a)"),
    "no hint": ("", "a = R.add(x, y)", "gv = R.multiply(a, y)"),
    "two hints of one value": ("", f"a = R.hint_on_device(x, {CPU})", f"b = R.hint_on_device(x, {GPU})",
                               f"c = R.hint_on_device(b, {CPU})", "gv = R.add(a, c)"),
}  # fmt: skip


def text_of(name: str) -> str:
    declared, *lines = PROGRAMS[name]
    return HEAD % (declared, "\n".join(f"            {line}" for line in lines))


def realized(text: str, passes: str = "RealizeVDevice") -> IRModule:
    stage = rc.run_pipeline(rc.parse(text, "m.py"), passes)[-1]
    assert not stage.is_failed, [item.render() for item in stage.diagnostics]
    return stage.after


def by_tvm(text: str, make: str) -> IRModule:
    """Return what a pass of apache-tvm makes of a program."""
    from tests.apache_tvm import from_source, relax, tvm

    module = from_source(rc.script(rc.parse(text, "m.py"), tvm="0.27"))
    new = (tvm.script.ir.vdevice("opencl", 0), 1) if make == "UpdateVDevice" else ()
    return rc.parse(getattr(relax.transform, make)(*new)(module).script(), "tvm.py")


def devices(module: IRModule) -> list[tuple[str, str]]:
    """List the variables in order with the virtual devices of their types."""
    types = infer(module).types
    seen: dict[str, str] = {}
    for node in preorder(module["main"]):
        known = types.get(node) if isinstance(node, Var) else None
        if isinstance(node, Var) and isinstance(known, TensorType):
            seen.setdefault(node.name, known.vdevice or "")
    return list(seen.items())


def calls(module: IRModule) -> list[str]:
    return sorted(node.op.name for node in preorder(module) if isinstance(node, Call) and isinstance(node.op, Op))


@pytest.mark.parametrize("name", PROGRAMS)
def test_tensors_are_where_tvm_puts_them(name: str) -> None:
    ours, theirs = realized(text_of(name)), by_tvm(text_of(name), "RealizeVDevice")
    assert devices(ours) == devices(theirs)
    assert calls(ours) == calls(theirs)
    assert [item for item in rc.check(ours) if item.severity == "error"] == []
    assert rc.structural_equal(rc.parse(rc.script(ours), "again.py"), ours)


def test_operands_on_two_devices_are_an_error_with_both_chains() -> None:
    text = HEAD % (ON_GPU, f"            a = R.hint_on_device(x, {CPU})\n            gv = R.add(a, y)")
    (error,) = rc.run_pipeline(rc.parse(text, "m.py"), "RealizeVDevice")[-1].diagnostics
    assert error.code == "DV001"
    assert len(error.related) >= 2
    assert "R.to_vdevice" in error.hint


def test_remarks_say_what_decided() -> None:
    stage = rc.run_pipeline(rc.parse(text_of("hints on both"), "m.py"), "RealizeVDevice")[-1]
    words = [item.message for item in stage.remarks]
    assert "y is on llvm:0:global: the program says so" in words
    assert "b is copied from llvm:0:global to cuda:0:global" in words


@pytest.mark.parametrize("name", ["a declared parameter", "hints on both"])
def test_another_virtual_device_takes_the_place_of_one(name: str) -> None:
    passes = "RealizeVDevice, UpdateVDevice(new_vdevice='opencl:0:global', index=1)"
    module = realized(text_of(name), passes)
    assert not rc.run_pipeline(module, passes.removeprefix("RealizeVDevice, "))[-1].is_changed
    assert attr(module.global_infos, "vdevice") == ("llvm:0:global", "opencl:0:global")
    assert "opencl:0:global" in [device for _, device in devices(module)]
    assert "cuda:0:global" not in rc.script(module)
    assert [item for item in rc.check(module) if item.severity == "error"] == []


def test_a_virtual_device_that_is_not_there_is_refused() -> None:
    (error,) = rc.run_pipeline(rc.parse(text_of("no hint"), "m.py"), "UpdateVDevice(index=5)")[-1].diagnostics
    assert error.code == "DV006"
    assert error.hint


@pytest.mark.parametrize(
    ("new", "index", "names"),
    [
        ("cuda:1:global", 1, ["cuda:0:global", "metal:0:global", "metal:0"]),
        ("metal:0:global", 1, ["metal:0:global", "metal:1:global", "metal:1:global"]),
        ("cuda:0:global", 2, ["cuda:0:global", "cuda:1:global", "cuda:1:global"]),
    ],
)
def test_a_device_is_named_by_its_number_among_those_of_its_kind(new: str, index: int, names: list[str]) -> None:
    text = HEAD % (ON_GPU, "            z = R.to_vdevice(y, 'metal:0')\n            gv = R.exp(z)")
    text = text.replace('I.vdevice("cuda", 0)', 'I.vdevice("cuda"), I.vdevice("metal")').replace(
        'x: R.Tensor((2, 3), "float32")', 'x: R.Tensor((2, 3), "float32", vdevice="metal:0")'
    ).replace(' -> R.Tensor((2, 3), "float32")', "")  # fmt: skip
    module = realized(text, f"UpdateVDevice(new_vdevice='{new}', index={index})")
    assert [item for item in rc.check(module) if item.severity == "error"] == []
    main = rc.script(module).split("def main")[1]
    assert re.findall(r'vdevice="(\S+?)"', main) == [names[1], names[0], names[2]]


def test_where_tvm_updates_a_declared_type_so_do_we() -> None:
    text = text_of("a declared parameter")
    ours = realized(text, "UpdateVDevice(new_vdevice='opencl:0:global', index=1)")
    theirs = by_tvm(text, "UpdateVDevice")
    assert dict(devices(ours))["y"] == dict(devices(theirs))["y"] == "opencl:0:global"


def test_a_device_is_an_operand_as_it_stands_so_that_a_normalized_program_is_realized_and_a_hinted_one_runs() -> None:
    text = text_of("hints on both")
    assert first_difference(realized(text, "Normalize, RealizeVDevice"), realized(text)) is None
    plain = rc.parse(
        text.replace('    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 0)]})\n', "")
    )
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(rc.VirtualMachine(rc.build(plain))["main"](x, x), (x + x) * (x + x))
