"""PrimValues in the machine: every sample of samples/prim/prim_*.py, the kinds in its trace, and apache-tvm."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.diagnostics import RunError
from relax_core.vm.objects.values import kind_of
from tests.callables import Compute
from tests.narrow import is_tuple
from tests.vm.assemble import result_of
from tests.vm.programs import SAMPLES, floats, run_sample, run_text, sample_text
from tests.vm.test_samples import agree as agree_numbers
from tests.vm.test_samples import softmax

X, XY = floats(3), floats(2, 3)
ONES = np.ones(3, np.float32)


def normal(x: Any, g: Any, v: Any) -> Any:
    one = (x - x.mean(0)) / np.sqrt(x.var(0) + np.float32(1e-3)) * g + g
    return one, one


def leaky(x: npt.NDArray[np.float32], a: float, b: float) -> Any:
    return np.where(x > 0, x, x * np.float32(a * b))


def full_size(n: int) -> Any:
    return np.zeros((n, n + 1), np.float32)


# sample -> (arguments, expected from them)
EXPECTED: dict[str, tuple[tuple[Any, ...], Compute[Any, Any]]] = {
    "alpha": ((X, 0.5, 0.5), leaky),
    "arithmetic": ((7, 3), lambda a, b: (22, 8, 1)),
    "axis": ((XY, 0), lambda x, axis: softmax(x.T).T),
    "axis_of_sum": ((XY, 1), lambda x, axis: (x.sum(1), 2)),
    "batch_norm": ((XY, ONES, ONES * 2), normal),
    "call": ((17,), lambda a: (3, 2)),
    "call_tir": ((floats(4), 2.5), lambda x, k: x * np.float32(k)),
    "choose": ((-4,), lambda a: 4),
    "closure": ((3, 0.5), lambda n, rate: (2.0, 2.5)),
    "closure_returned": ((floats(2),), lambda x: x + np.float32(0.5)),
    "compare": ((2, 3), lambda a, b: (True, False, True)),
    "dataflow": ((X, 2), lambda x, k: (np.append(x, [0, 0]).astype(np.float32), 5)),
    "dimension": ((3,), full_size),
    "dtype": ((np.array([1.5, -2.5, 3], np.float32),), lambda x: (x.astype(np.int32), "int32")),
    "factorial": ((5,), lambda n: 120),
    "float": ((3.0,), lambda scale: 1.5),
    "float_arithmetic": ((3.0, 4.0), lambda a, b: (5.0, 0.75)),
    "from_shape": ((X,), lambda x: (6, True)),
    "if": ((X, True), lambda x, c: x * 2),
    "if_result": ((4,), lambda n: 10),
    "if_shape": ((X,), lambda x: x.max()),
    "integer": ((3,), lambda n: 3),
    "loop": ((3, floats(2)), lambda count, x: x * 8),
    "make_closure": ((4,), lambda n: 74),
    "match_cast": ((2,), lambda n: (2, np.ones(2, np.float32))),
    "match_tuple": ((3, X), lambda n, x: x * 2),
    "mean_by_hand": ((floats(4),), lambda x: (x.mean(), 0.25)),
    "packed_result": ((2,), lambda n: (2, ONES)),
    "repeat": ((X, 2), lambda x, count: x.repeat(2)),
    "small_integer": ((3, 1 << 40), lambda a, b: (6, (1 << 40) + 3)),
    "spelling_2022": ((), lambda: (True, 2)),
    "string": (("gelu",), lambda name: ("gelu", "tanh")),
    "tir_vars": ((2,), lambda step: np.array([0, 3, 6, 9])),
    "truth": ((True, False), lambda a, b: (False, True, False)),
    "tuple": ((3, np.array(4)), lambda n, x: (3, np.array(4), 2.5)),
    "tuple_parameter": (((2, 3),), lambda size: (np.ones((2, 3), np.float32), 6)),
}
# Why apache-tvm 0.27 does not run a sample.
BEYOND_TVM = {
    "alpha": "attributes are written out",
    "axis": "attributes are written out",
    "axis_of_sum": "attributes are written out",
    "batch_norm": "its parser wants axis and epsilon by name",
    "call_tir": "its parser knows no scalar parameter among the buffers",
    "closure_returned": "its full takes a tensor only",
    "match_cast": "an object is not matched with a scalar",
    "match_tuple": "an object is not matched with a scalar",
    "mean_by_hand": "its full takes a tensor only",
    "repeat": "attributes are written out",
    "spelling_2022": "the spelling of 2022",
    "string": "a string is no parameter",
    "tir_vars": "its parser knows no scalar parameter behind the buffers",
}


def agree(found: Any, expected: Any) -> None:
    if is_tuple(expected):
        assert len(found) == len(expected)
        for field, wanted in zip(found, expected, strict=True):
            agree(field, wanted)
    elif isinstance(expected, str):
        assert str(getattr(found, "name", found)) == expected
    else:
        agree_numbers(found, expected)
        assert np.ndim(found) == np.ndim(expected)


def sample_name(name: str) -> str:
    return f"prim/prim_{name}.py"


def test_every_sample_has_an_expected_value() -> None:
    assert {f"prim_{name}" for name in EXPECTED} == {path.stem for path in (SAMPLES / "prim").glob("prim_*.py")}
    assert len(EXPECTED) >= 30


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_gives_what_is_expected(name: str) -> None:
    args, compute = EXPECTED[name]
    agree(result_of(run_sample(sample_name(name), *args)), compute(*args))


@pytest.mark.parametrize("passes", ["Normalize, LambdaLift", "Normalize, LambdaLift, LegalizeOps"])
@pytest.mark.parametrize("name", ["alpha", "closure", "mean_by_hand", "if_result", "call_tir"])
def test_a_sample_that_is_lowered_in_part_gives_the_same(name: str, passes: str) -> None:
    args, compute = EXPECTED[name]
    agree(result_of(run_sample(sample_name(name), *args, passes=passes)), compute(*args))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_command_line_runs_a_sample(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    args, _ = EXPECTED[name]
    archive = {
        f"in_{index}{field}": value
        for index, arg in enumerate(args)
        for field, value in (enumerated(arg) if is_tuple(arg) else [("", arg)])
    }
    np.savez(tmp_path / "in.npz", **archive)
    given = ["--inputs", str(tmp_path / "in.npz")]
    assert main(["run", str(SAMPLES / sample_name(name)), "--in-process", *given]) == 0, capsys.readouterr().err


def enumerated(fields: tuple[Any, ...]) -> list[tuple[str, Any]]:
    return [(f"_{index}", field) for index, field in enumerate(fields)]


def test_a_trace_tells_scalars_from_tensors_of_rank_0() -> None:
    trace = run_sample(sample_name("tuple"), 3, np.array(4))
    result = result_of(trace)
    assert [kind_of(item) for item in result] == ["prim", "tensor0", "prim"]


@pytest.mark.parametrize(
    ("axis", "is_right"), [(-2, True), (1, True), (2, False), (-3, False)], ids=["first", "last", "behind", "before"]
)
def test_a_computed_axis_is_checked_when_it_runs(axis: int, is_right: bool) -> None:
    if is_right:
        run_sample(sample_name("axis"), XY, axis)
        return
    found = run_sample(sample_name("axis"), XY, axis).error
    assert found is not None
    assert found.code == "VM017"
    assert "axes go from -2 to 1" in found.hint
    assert found.span is not None
    assert found.span.text == "y = R.nn.softmax(x, axis=axis)"


def test_the_sample_of_a_wrong_axis_stops_at_its_mark() -> None:
    text = sample_text("errors/prim_axis_at_run_time.py")
    found = run_text(text, XY, 0).error
    assert found is not None
    assert found.span is not None
    assert found.code in text.splitlines()[found.span.line - 1]


@pytest.mark.parametrize("value", [0.1, -0.0, 1e300, float("inf"), 5e-324], ids=repr)
def test_a_float_keeps_its_bits_in_the_shape_heap(value: float) -> None:
    text = sample_text(sample_name("float_arithmetic")).replace("a / b", "a * T.float64(1)")
    _, same = result_of(run_text(text, value, 1.0))
    assert (same, str(same)) == (value, str(value))


@pytest.mark.parametrize(("value", "dtype"), [(1.5, "int64"), ("text", "int64"), (True, "string"), ("x", "float32")])
def test_a_value_of_another_dtype_is_refused(value: Any, dtype: str) -> None:
    module = rc.parse(sample_text(sample_name("integer")).replace("int64", dtype))
    with pytest.raises(RunError) as caught:
        rc.VirtualMachine(rc.build(module))["main"](value)
    assert caught.value.diagnostics[0].code == "VM011"


@pytest.mark.tvm
@pytest.mark.parametrize("name", sorted(set(EXPECTED) - set(BEYOND_TVM)))
def test_apache_tvm_gives_the_same(name: str) -> None:
    from tests.apache_tvm import from_source, relax, tvm

    def same(value: Any) -> Any:
        return value

    if name == "packed_result":
        tvm.register_global_func("custom_identity", same, override=True)
    args, _ = EXPECTED[name]
    text = sample_text(sample_name(name))
    module = relax.transform.LambdaLift()(from_source(text[text.index("@I.ir_module") :]))
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    theirs = machine["main"](*map(tvm_value, args))
    agree(result_of(run_sample(sample_name(name), *args)), host_value(theirs))


@pytest.mark.tvm
@pytest.mark.parametrize("name", ["arithmetic", "if_shape", "compare", "dimension", "truth", "float"])
def test_apache_tvm_runs_what_is_printed_for_it(name: str) -> None:
    from tests.apache_tvm import from_source, relax, tvm

    args, _ = EXPECTED[name]
    text = rc.script(rc.parse(sample_text(sample_name(name))), tvm="0.27")
    machine = relax.VirtualMachine(relax.build(from_source(text), "llvm"), tvm.cpu())
    agree(result_of(run_sample(sample_name(name), *args)), host_value(machine["main"](*map(tvm_value, args))))


def tvm_value(value: Any) -> Any:
    from tests.apache_tvm import tvm

    if is_tuple(value):
        return tuple(map(tvm_value, value))
    return tvm.runtime.tensor(value) if isinstance(value, np.ndarray) else value


def host_value(value: Any) -> Any:
    if hasattr(value, "numpy"):
        return value.numpy()
    if isinstance(value, bool | int | float | str):
        return value
    return str(value) if "dtype" in type(value).__name__.lower() else tuple(map(host_value, value))
