"""What a call is said to cost is what is known of the operators, and what a recorded run did."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.bytecode.build import build
from relax_core.engine.inputs import generate
from relax_core.ir.module import IRModule
from relax_core.passes.pipeline import run_pipeline
from relax_core.vm.machine import Machine
from relax_core.vm.virtual_machine import entry_arguments
from tests.passes.closure_programs import CLOSURES
from tests.passes.programs import parse, program

SIZES = st.integers(1, 9)


def lowered(body: str, pipeline: str = "LegalizeOps") -> IRModule:
    return run_pipeline(parse(body), pipeline)[-1].after


def unary(expression: str, shape: str, dtype: str = "float32") -> str:
    return f"""
    @R.function
    def main(x: R.Tensor({shape}, "{dtype}")):
        y = {expression}
        return y
"""


@settings(max_examples=15)  # each lowers a module
@given(m=SIZES, k=SIZES, n=SIZES)
def test_a_matmul_is_a_product_and_a_sum_for_each_triple(m: int, k: int, n: int) -> None:
    body = f"""
    @R.function
    def main(x: R.Tensor(("m", {k}), "float32"), w: R.Tensor(({k}, {n}), "float32")):
        y = R.matmul(x, w)
        return y
"""
    found = rc.costs_of(lowered(body), sizes={"m": m})
    assert (found.operations, found.launches, found.unknown) == (2 * m * k * n, 1, ())
    assert found.moved_bytes == 4 * (m * k + k * n + m * n)
    assert found.peak_bytes == 4 * m * n


@pytest.mark.parametrize(
    ("expression", "shape", "operations"),
    [
        ("R.add(x, x)", (5, 6), 30),
        ("R.exp(x)", (5, 6), 30),
        ("R.sum(x, axis=[1])", (5, 6), 30),
        ("R.permute_dims(x)", (5, 6), 0),
        # For each element a comparison with its row's greatest, a difference, an exponential, a sum and a quotient.
        ("R.nn.softmax(x)", (5, 6), 150),
        # Of 16 outputs each takes 9 products and 9 sums; what is padded is no operation.
        ("R.nn.conv2d(x, R.zeros((1, 1, 3, 3), 'float32'), padding=(1, 1, 1, 1))", (1, 1, 4, 4), 288),
    ],
)
def test_operations_are_those_on_values(expression: str, shape: tuple[int, ...], operations: int) -> None:
    found = rc.costs_of(lowered(unary(expression, str(shape)), "Normalize, LegalizeOps"))
    assert (found.operations, found.unknown) == (operations, ())


def launched(module: IRModule) -> Counter[str]:
    """Run `main` on made-up arguments, and count the calls of kernels, but for those that compute sizes."""
    executable = build(module, passes="")
    function = {var.name: item for var, item in module.relax_functions}["main"]
    trace = Machine(executable).run("main", entry_arguments(executable, "main", generate(function, 0, {})))
    assert trace.error is None, trace.error
    names = (executable.kernel_at(pc) for pc in trace.executed_pcs)
    return Counter(name for name in names if name and not name.startswith("shape_func"))


COUNTED = ("nested_calls", "dataflow", "operators", "laid_out", "several_outputs", "scratch", "rows", "symbolic",
           "repeated", "libraries")  # fmt: skip
"""Programs of which all is counted, and of which a run takes every branch there is."""


@pytest.mark.parametrize("name", COUNTED)
def test_launches_are_those_of_a_run(name: str) -> None:
    module = run_pipeline(program(name), "LegalizeOps")[-1].after
    found, ran = rc.costs_of(module), launched(module)
    assert found.unknown == ()
    assert (found.launches, found.kernels) == (ran.total(), len(ran))


@pytest.mark.parametrize("name", ["branches", "scalars"])
def test_of_two_branches_the_larger_figure_counts(name: str) -> None:
    module = run_pipeline(program(name), "LegalizeOps")[-1].after
    found, ran = rc.costs_of(module), launched(module)
    assert found.unknown == ()
    assert found.launches >= ran.total() > 0


@pytest.mark.parametrize("name", CLOSURES)
def test_a_call_of_a_closure_is_not_counted_and_said(name: str) -> None:
    module = run_pipeline(program(name), "LegalizeOps")[-1].after
    assert dict(rc.costs_of(module).unknown)["calls of closures"] > 0


PLANNED = ("nested_calls", "branches", "libraries", "laid_out", "several_outputs", "scratch", "rows")
SAMPLES = ("mlp", "loss", "partition_paths", "storage_reused", "metadata_table")


def planned(name: str) -> IRModule:
    if name in SAMPLES:
        text = (Path(__file__).resolve().parents[3] / "samples" / "relax" / f"{name}.py").read_text(encoding="utf-8")
        module = rc.parse(text)
    else:
        module = program(name)
    return run_pipeline(module, "default_build")[-1].after


@pytest.mark.parametrize("name", [*PLANNED, *SAMPLES])
def test_the_peak_is_that_of_a_run_which_frees_what_is_dead(name: str) -> None:
    module = planned(name)
    function = {var.name: item for var, item in module.relax_functions}["main"]
    args = generate(function, 0, {})
    report = rc.memory_report(module, *args, passes="")
    given_bytes = sum(row.size_bytes for row in report.rows if row.kind == "argument")
    assert given_bytes > 0
    assert rc.costs_of(module).peak_bytes == report.peak_bytes - given_bytes


@pytest.mark.parametrize("name", ["mlp", "nested_calls", "libraries"])
def test_lowering_changes_no_figure(name: str) -> None:
    stages = run_pipeline(planned(name), "LowerRuntimeBuiltin, VMShapeLower, AttachGlobalSymbol")
    (found,) = {rc.costs_of(stage.after) for stage in stages}
    assert found.unknown == ()


CHAIN = """
    @R.function
    def main(x: R.Tensor((256,), "float32")):
        a = R.exp(x)
        b = R.negative(a)
        c = R.add(b, x)
        d = R.reshape(c, (16, 16))
        return d
"""


def test_memory_is_held_until_its_last_use() -> None:
    """`a` and `b` live together, then `b` and `c`; the view `d` keeps `c`, and takes none itself."""
    found = rc.costs_of(parse(CHAIN))
    assert found.peak_bytes == 2 * 1024
    assert dict(found.unknown) == {"operators that are no kernels yet": 3}
    assert found.lower_bounds == ("kernels", "launches", "operations")
    assert found.operator_calls == 3


BLOCK = """
    @R.function
    def main(x: R.Tensor((256,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.negative(a)
            c = R.add(b, x)
            R.output(c)
        return c
"""


def test_fusion_saves_launches_and_bytes_and_no_operations() -> None:
    module = parse(BLOCK)
    apart, fused = (
        rc.costs_of(run_pipeline(module, pipeline)[-1].after)
        for pipeline in ("LegalizeOps", "LegalizeOps, AnnotateTIROpPattern, FuseOps, FuseTIR")
    )
    assert fused.operations == apart.operations == 3 * 256
    assert fused.launches < apart.launches
    assert fused.moved_bytes < apart.moved_bytes
    assert fused.peak_bytes < apart.peak_bytes


CALLS = """
    @R.function(private=True)
    def twice(a: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        b = R.add(a, a)
        c = R.add(b, b)
        return c

    @R.function(private=True)
    def again(a: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        cls = Module
        b = cls.again(a)
        return b

    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor((8,), "float32")):
        cls = Module
        u = cls.twice(x)
        v = cls.twice(y)
        return (u, v)

    @R.function
    def endless(x: R.Tensor(("n",), "float32")):
        cls = Module
        u = cls.again(x)
        return u
"""


def test_a_function_costs_what_it_does_with_the_sizes_of_each_call() -> None:
    module = lowered(CALLS)
    found = rc.costs_of(module, sizes={"n": 3})
    assert (found.operations, found.launches) == (2 * 3 + 2 * 8, 4)
    assert found.unknown == ()
    assert found.lower_bounds == ()
    endless = rc.costs_of(module, "endless")
    assert len(endless.lower_bounds) == 6
    assert dict(endless.unknown) == {"how often `again` calls itself is not known": 1}


def test_what_is_not_counted_is_named() -> None:
    body = """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_pure_packed("my.f", x, sinfo_args=(R.Tensor((4,), "float32"),))
        z = R.call_pure_packed("my.g", y, sinfo_args=(R.Tensor(ndim=1, dtype="float32"),))
        return z
"""
    found = rc.costs_of(parse(body))
    assert set(dict(found.unknown)) == {
        "the work of `my.f`",
        "the work of `my.g`",
        "bytes: the size of a tensor is not known before the run",
        "memory: the size of a tensor is not known before the run",
    }
    assert found.lower_bounds == ("moved_bytes", "operations", "peak_bytes")
    assert found.moved_bytes == 3 * 16
    assert found.peak_bytes == 16


def test_a_module_without_the_function_has_no_costs_of_it() -> None:
    with pytest.raises(KeyError):
        rc.costs_of(parse(CHAIN), "other")


IN_PLACE = """
    @T.prim_func(private=True)
    def scale(a: T.handle, b: T.handle, factor: T.int64):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.sblock("scale"):
                vi = T.axis.spatial(n, i)
                A[vi] = A[vi] * T.Cast("float32", factor)
                B[vi] = A[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor((6,), "float32")):
        cls = Module
        y = R.add(x, x)
        z = R.call_tir_inplace(
            cls.scale, (y,), inplace_indices=[0, -1],
            out_sinfo=[R.Tensor((6,), "float32"), R.Tensor((6,), "float32")], tir_vars=R.shape([3]),
        )
        return z
"""


def test_what_is_written_in_place_is_no_memory_of_its_own() -> None:
    """`y`, which is one of the results, and the other result."""
    found = rc.costs_of(parse(IN_PLACE))
    assert dict(found.unknown) == {"operators that are no kernels yet": 1}
    assert (found.launches, found.operations, found.peak_bytes) == (1, 12, 48)
    # `x`, which is added to itself, and `y`; then `y` and the new result.
    assert found.moved_bytes == 2 * 24 + 2 * 24


def test_a_storage_counts_elements_of_its_dtype_and_a_storage_of_memory_bytes() -> None:
    body = """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        a = R.vm.alloc_storage(R.shape([16]), R.prim_value(0), R.dtype("float32"))
        b = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        c = R.vm.alloc_tensor(a, R.prim_value(0), R.shape([16]), R.dtype("float32"))
        return (b, c)
"""
    found = rc.costs_of(parse(body))
    assert (found.peak_bytes, found.unknown) == (64 + 16, ())


def test_a_builtin_that_computes_is_not_taken_for_bookkeeping() -> None:
    body = """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_packed("vm.builtin.attention_kv_cache_attention", x, sinfo_args=(R.Tensor((4,), "float32"),))
        z = R.call_packed("vm.builtin.reshape", y, R.shape([2, 2]), sinfo_args=(R.Tensor((2, 2), "float32"),))
        return z
"""
    found = rc.costs_of(parse(body))
    assert dict(found.unknown) == {"the work of `vm.builtin.attention_kv_cache_attention`": 1}
    assert found.lower_bounds == ("operations",)
    assert found.peak_bytes == 16


def test_a_value_without_a_variable_counts_each_time() -> None:
    body = """
    @R.function(private=True)
    def twice(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        b = R.add(a, a)
        return b

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = cls.twice(R.exp(x))
        z = cls.twice(x)
        return (y, z)
"""
    found = rc.costs_of(parse(body))
    assert found.operator_calls == 3
    assert dict(found.unknown) == {
        "operators that are no kernels yet": 3,
        "memory: results that have no variable": 1,
    }


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        ("A[i] * B[i] + A[0]", 16),
        ('T.call_llvm_pure_intrin("float32", "llvm.fmuladd", A[i], B[i], A[0])', 16),
        ('T.call_llvm_pure_intrin("float32", "llvm.sqrt", A[i])', 8),
    ],
)
def test_a_product_that_is_added_at_once_is_two_operations(value: str, operations: int) -> None:
    text = f"""from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def k(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = {value}

    @R.function
    def main(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        y = R.call_tir(Module.k, (x,), out_ty=R.Tensor((8,), "float32"))
        return y
"""
    assert rc.costs_of(rc.parse(text)).operations == operations
