"""Statements: loops, conditions, blocks, allocations, assertions; and how a running kernel is stopped."""

from threading import Thread

import numpy as np
import pytest

from relax_core.diagnostics import CompileError, RunError
from relax_core.ir.prim import Binary, IntImm, Intrinsic, PrimExpr, PrimVar, Select, binary, const
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import (
    NOTHING,
    AssertStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    IterVar,
    LetStmt,
    LoopKind,
    PrimFunc,
    Stmt,
    While,
    seq,
)
from relax_core.jit.engine import Engine
from relax_core.source import Source, Span
from tests.jit.low_level import run, run_in_tvm
from tests.jit.programs import compared, elementwise, for_each, gather, index, integer, prim_func, row_sum, tir_matmul

A1 = Buffer("A", (index("n"),), "int64")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def at(buffer: Buffer, *indices: PrimExpr) -> BufferLoad:
    return BufferLoad(buffer, indices)


def size_of(buffer: Buffer) -> PrimVar:
    dim = buffer.shape[0]
    assert isinstance(dim, PrimVar)
    return dim


def test_a_while_loop_ends_when_its_condition_fails(engine: Engine) -> None:
    first = integer(0)
    step = BufferStore(A1, (first,), binary("+", at(A1, first), const(3)))
    array = np.zeros(1, "int64")
    engine.kernel(prim_func([A1], While(compared("<", at(A1, first), const(10)), step)), "count")(array)
    assert array[0] == 12


def test_a_loop_may_start_anywhere_and_run_backwards_in_its_index(engine: Engine) -> None:
    i = index("i")
    body = For(i, integer(-3), integer(3), BufferStore(A1, (binary("-", integer(-1), i),), i))
    array = np.zeros(3, "int64")
    engine.kernel(prim_func([A1], body), "backwards")(array)
    assert array.tolist() == [-1, -2, -3]


@pytest.mark.parametrize("extent", [0, -5])
def test_a_loop_without_iterations_does_nothing(engine: Engine, extent: int) -> None:
    i = index("i")
    array = np.ones(2, "int64")
    engine.kernel(prim_func([A1], For(i, integer(0), integer(extent), BufferStore(A1, (i,), i))), "nothing")(array)
    assert array.tolist() == [1, 1]


def test_conditions_choose(engine: Engine) -> None:
    i = index("i")
    even = compared("==", binary("%", i, const(2)), const(0))
    body = IfThenElse(even, BufferStore(A1, (i,), i), BufferStore(A1, (i,), const(-1)))
    array = np.zeros(5, "int64")
    engine.kernel(prim_func([A1], For(i, integer(0), size_of(A1), body)), "even")(array)
    assert array.tolist() == [0, -1, 2, -1, 4]


def test_a_let_variable_is_shown_when_an_access_is_out_of_range(engine: Engine) -> None:
    i, twice = index("i"), index("twice")
    body = LetStmt(twice, binary("*", i, const(2)), BufferStore(A1, (twice,), i))
    with pytest.raises(RunError, match=r"`A\[twice\]`: twice = 4, but A has 4 elements \(store at i = 2, twice = 4\)"):
        engine.kernel(prim_func([A1], For(i, integer(0), size_of(A1), body)), "let")(np.zeros(4, "int64"))


@pytest.mark.parametrize("is_lazy", [True, False])
def test_the_side_of_a_select_that_is_not_chosen_is_not_evaluated(engine: Engine, is_lazy: bool) -> None:
    b, i = Buffer("B", (size_of(A1),), "int64"), index("i")
    value = Select(compared(">", i, const(0)), at(b, binary("-", i, const(1))), const(7), "int64", is_lazy)
    array = np.zeros(3, "int64")
    body = For(i, integer(0), size_of(A1), BufferStore(A1, (i,), value))
    engine.kernel(prim_func([A1, b], body), "shifted")(array, np.array([1, 2, 3]))
    assert array.tolist() == [7, 1, 2]


@pytest.mark.parametrize("extent", [4, 5000])
def test_a_block_allocates_zeros(engine: Engine, extent: int) -> None:
    local = Buffer("local", (integer(extent),), "int64")
    i = index("i")
    fill = For(i, integer(0), integer(extent - 1), BufferStore(local, (i,), i))
    total = seq([BufferStore(A1, (integer(k),), at(local, integer(extent - 1 - k))) for k in range(3)])
    array = np.full(3, 9, "int64")
    engine.kernel(prim_func([A1], Block("root", (), seq([fill, total]), alloc_buffers=(local,))), "local")(array)
    assert array.tolist() == [0, extent - 2, extent - 3]


def test_an_allocation_may_have_symbolic_size(engine: Engine) -> None:
    i, j = index("i"), index("j")
    local = Buffer("local", (binary("*", size_of(A1), const(1000)),), "int64")
    store = For(i, integer(0), size_of(A1), BufferStore(local, (binary("*", i, const(999)),), i))
    load = For(j, integer(0), size_of(A1), BufferStore(A1, (j,), at(local, binary("*", j, const(999)))))
    kernel = engine.kernel(prim_func([A1], Block("root", (), seq([store, load]), alloc_buffers=(local,))), "symbolic")
    for count in (3, 7):
        array = np.zeros(count, "int64")
        kernel(array)
        assert array.tolist() == list(range(count))


def chosen_sizes() -> dict[str, PrimExpr]:
    """Make sizes that depend on conditions, as those of slices do; each is the size of A where that is 3 or more."""
    n, zero = size_of(A1), integer(0)
    return {
        "a select": Select(Binary("<", n, zero, "bool"), binary("*", n, const(3)), n, "int64"),
        "a minimum": binary("min", binary("max", n, zero), binary("*", n, const(2))),
        "a branch that has no value": Select(Binary("<", n, zero, "bool"), binary("//", n, zero), n, "int64"),
    }


@pytest.mark.parametrize("size", chosen_sizes().values(), ids=chosen_sizes())
def test_an_allocation_may_have_a_size_that_a_condition_chooses(engine: Engine, size: PrimExpr) -> None:
    i, j = index("i"), index("j")
    local = Buffer("local", (size, integer(600)), "int64")
    store = For(i, integer(0), size_of(A1), BufferStore(local, (i, integer(599)), i))
    load = For(j, integer(0), size_of(A1), BufferStore(A1, (j,), at(local, j, integer(599))))
    kernel = engine.kernel(prim_func([A1], Block("root", (), seq([store, load]), alloc_buffers=(local,))), "chosen")
    for count in (3, 7):
        array = np.zeros(count, "int64")
        kernel(array)
        assert array.tolist() == list(range(count))


def test_a_size_whose_parts_would_wrap_around_has_no_value() -> None:
    wide = binary("*", binary("*", size_of(A1), const(1 << 40)), const(1 << 40))
    local = Buffer("local", (binary("min", wide, const(7)),))
    body = Block("root", (), BufferStore(local, (integer(0),), const(1.0)), alloc_buffers=(local,))
    with pytest.raises(RunError, match=r"JT017.*shape \(\?\)"):
        Engine().kernel(prim_func([A1], body), "wraps")(np.zeros(3, "int64"))


def test_too_large_an_allocation_is_refused() -> None:
    local = Buffer("local", (integer(1 << 40),))
    body = Block("root", (), BufferStore(A1, (integer(0),), integer(1)), alloc_buffers=(local,))
    with pytest.raises(RunError, match=r"JT017.*`local` with shape \(1099511627776\) takes 4398046511104 bytes"):
        Engine().kernel(prim_func([A1], body), "large")(np.zeros(1, "int64"))


def test_an_allocation_whose_size_depends_on_a_loop_is_refused(engine: Engine) -> None:
    i = index("i")
    inner = Block("inner", (), NOTHING, alloc_buffers=(Buffer("local", (i,)),))
    with pytest.raises(CompileError, match=r"JT017.*`local` depends on `i`"):
        engine.kernel(prim_func([A1], For(i, integer(0), integer(3), inner)), "loop")(np.zeros(1, "int64"))


def test_a_block_without_reductions_always_initialises_and_a_predicate_skips_it(engine: Engine) -> None:
    i, v = index("i"), index("v")
    update = BufferStore(A1, (v,), binary("+", at(A1, v), v))
    block = Block(
        "b",
        (IterVar(v, size_of(A1), i, "spatial"),),
        update,
        init=BufferStore(A1, (v,), const(100)),
        predicate=compared("!=", i, const(1)),
    )
    array = np.full(3, 5, "int64")
    engine.kernel(prim_func([A1], For(i, integer(0), size_of(A1), block)), "block")(array)
    assert array.tolist() == [100, 5, 102]


def test_a_failed_assertion_gives_its_message(engine: Engine) -> None:
    check = AssertStmt(compared("<", size_of(A1), const(3)), "n must be small")
    kernel = engine.kernel(prim_func([A1], check), "assertion")
    kernel(np.zeros(2, "int64"))
    with pytest.raises(RunError, match=r"JT013.*n must be small"):
        kernel(np.zeros(3, "int64"))


@pytest.mark.parametrize("kind", ["parallel", "vectorized", "unroll"])
def test_other_kinds_of_loops_give_the_same(engine: Engine, kind: LoopKind) -> None:
    i = index("i")
    body = For(i, integer(0), size_of(A1), BufferStore(A1, (i,), i), kind)
    array = np.zeros(5, "int64")
    engine.kernel(prim_func([A1], body), kind)(array)
    assert array.tolist() == [0, 1, 2, 3, 4]


def test_a_loop_over_gpu_threads_runs_in_order(engine: Engine) -> None:
    i = index("i")
    loop = For(i, integer(0), integer(4), BufferStore(A1, (i,), i), "thread_binding", "threadIdx.x")
    array = np.zeros(5, "int64")
    engine.kernel(prim_func([A1], loop), "threads")(array)
    assert array.tolist() == [0, 1, 2, 3, 0]


def test_an_unknown_dtype_is_refused(engine: Engine) -> None:
    kernel = engine.kernel(elementwise(lambda: const(1), 0, (), "float8_e4m3fn"), "dtype")
    with pytest.raises(CompileError, match=r"JT002.*float8_e4m3fn"):
        kernel.llvm_ir()
    with pytest.raises(CompileError, match=r"JT002.*float8_e4m3fn"):
        kernel(np.zeros((), "float32"))


def test_deep_expressions_are_refused(engine: Engine) -> None:
    deep: PrimExpr = at(A1, integer(0))
    for _ in range(5000):
        deep = binary("+", deep, at(A1, integer(0)))
    with pytest.raises(CompileError, match="JT016"):
        engine.kernel(prim_func([A1], BufferStore(A1, (integer(0),), deep)), "deep")(np.zeros(1, "int64"))


def test_a_variable_cannot_be_defined_in_its_own_scope(engine: Engine) -> None:
    i = index("i")
    nested = For(i, integer(0), integer(2), For(i, integer(0), integer(3), BufferStore(A1, (i,), i)))
    with pytest.raises(CompileError, match=r"JT001.*A definition of `i` inside the scope of the same variable"):
        engine.kernel(prim_func([A1], nested), "nested")(np.zeros(3, "int64"))


def test_two_loops_may_share_their_variable(engine: Engine) -> None:
    i = index("i")
    fill = For(i, integer(0), size_of(A1), BufferStore(A1, (i,), i))
    double = For(i, integer(1), integer(2), BufferStore(A1, (i,), binary("*", at(A1, i), const(10))))
    array = np.zeros(3, "int64")
    engine.kernel(prim_func([A1], seq([fill, double])), "twice")(array)
    assert array.tolist() == [0, 10, 20]


def test_operands_of_two_dtypes_are_brought_to_one(engine: Engine) -> None:
    narrow = Buffer("B", (size_of(A1),), "int32")
    i = index("i")
    mixed = Binary("+", at(A1, i), at(narrow, i), "int64")
    function = prim_func([A1, narrow], For(i, integer(0), size_of(A1), BufferStore(A1, (i,), mixed)))
    array = np.array([1 << 40, 2])
    engine.kernel(function, "mixed")(array, np.array([-1, 5], "int32"))
    assert array.tolist() == [(1 << 40) - 1, 7]


def test_an_allocation_of_negative_size_is_refused(engine: Engine) -> None:
    local = Buffer("local", (integer(-2), integer(-3)))
    body = Block("root", (), BufferStore(local, (integer(0), integer(0)), const(1.0)), alloc_buffers=(local,))
    with pytest.raises(RunError, match=r"JT017.*shape \(-2, -3\)"):
        engine.kernel(prim_func([A1], body), "negative")(np.zeros(1, "int64"))


def test_an_expression_that_is_huge_when_written_out_is_refused(engine: Engine) -> None:
    shared: PrimExpr = at(A1, integer(0))
    for _ in range(60):
        shared = binary("+", shared, shared)
    with pytest.raises(CompileError, match="JT016"):
        engine.kernel(prim_func([A1], BufferStore(A1, (integer(0),), shared)), "shared")(np.zeros(1, "int64"))


def spinning() -> dict[str, Stmt]:
    """Make statements that run for ages, whatever shape their loops have."""
    huge, zero, one = integer(1 << 60), integer(0), integer(1)
    i, j, k = index("i"), index("j"), index("k")
    bump = BufferStore(A1, (zero,), binary("+", at(A1, zero), Intrinsic("likely", (i,), "int64")))
    never = compared("<", at(A1, zero), integer(-5))
    forever = compared("==", at(A1, zero), at(A1, zero))
    return {
        "while": While(forever, NOTHING),
        "while around an if": While(forever, IfThenElse(never, BufferStore(A1, (zero,), one))),
        "one loop": For(i, zero, huge, bump),
        "empty inner loop": For(i, zero, huge, For(j, zero, binary("*", at(A1, one), zero), bump)),
        "constant inner loops": For(i, zero, huge, for_each((j, k), (integer(3), integer(3)), bump)),
        "inner loop under a condition": For(i, zero, huge, IfThenElse(never, For(j, zero, huge, bump))),
        "inner loop that is huge": For(i, zero, integer(3), For(j, zero, huge, bump)),
        "data-dependent": For(i, zero, huge, For(j, zero, binary("%", i, integer(3)), bump)),
    }


@pytest.mark.parametrize("name", spinning())
def test_a_kernel_can_be_cancelled_from_another_thread(name: str) -> None:
    engine = Engine()
    found: list[str] = []

    def run() -> None:
        try:
            engine.kernel(prim_func([A1], spinning()[name]), "spin")(np.zeros(2, "int64"))
        except RunError as error:
            found.append(error.diagnostics[0].code)

    thread = Thread(target=run)
    thread.start()
    while thread.is_alive():
        engine.cancel()
        thread.join(0.001)
    assert found == ["JT014"]


@pytest.mark.parametrize("name", spinning())
def test_fuel_limits_a_kernel(name: str) -> None:
    with pytest.raises(RunError, match=r"JT015.*(while loop|loop over `[ij]`)"):
        Engine(fuel=1_000_000).kernel(prim_func([A1], spinning()[name]), "spin")(np.zeros(2, "int64"))


def test_a_cancellation_before_the_start_is_not_lost() -> None:
    engine = Engine(is_cancelled=lambda: True)
    with pytest.raises(RunError, match="JT014"):
        engine.kernel(prim_func([], While(IntImm(1, "bool"), NOTHING)), "spin")()


def test_structurally_equal_functions_compile_once() -> None:
    engine = Engine()
    x, y = np.ones((2, 3), "float32"), np.ones((3, 4), "float32")
    for name in ("first", "second"):
        engine.kernel(tir_matmul(is_corrected=True), name)(x, y, np.zeros((2, 4), "float32"))
    assert engine.program_count == 1
    engine.kernel(tir_matmul(), "third")(np.ones((2, 2), "float32"), np.ones((2, 2), "float32"), np.zeros((2, 2), "f4"))
    assert engine.program_count == 2


def test_many_shapes_share_one_program() -> None:
    engine = Engine()
    kernel = engine.kernel(row_sum(), "row_sum")
    for columns in range(40):
        out = np.zeros(2, "float32")
        kernel(np.ones((2, columns), "float32"), out)
        assert out.tolist() == [columns, columns]
    assert engine.program_count <= kernel.specialised_variants + 1


def test_a_kernel_writes_one_array_that_it_also_reads(engine: Engine) -> None:
    buffer = Buffer("B", (size_of(A1),), "int64")
    i = index("i")
    shift = BufferStore(A1, (binary("+", i, const(1)),), at(buffer, i))
    function = prim_func([A1, buffer], For(i, integer(0), binary("-", size_of(A1), const(1)), shift))
    array = np.arange(100)
    engine.kernel(function, "shift")(array, array)
    assert not array.any()


def test_the_three_views_are_texts(engine: Engine) -> None:
    kernel = engine.kernel(tir_matmul(is_corrected=True), "matmul")
    assert "; C[i0, j0] = C[i0, j0] + A[i0, k0] * B[k0, j0]" in kernel.llvm_ir()
    assert "; %a0 is A: float32[m, n]" in kernel.llvm_ir()
    assert "define" in kernel.optimized_ir()
    assert "kernel:" in kernel.assembly()


def test_a_hostile_name_stays_in_its_comment(engine: Engine) -> None:
    name = 'A"\n}\ndefine void @system() { ret void } ;\r\x85\u2028 %x'
    buffer = Buffer(name, (index("n"),))
    text = engine.kernel(prim_func([buffer], BufferStore(buffer, (integer(0),), const(1.0))), "hostile").llvm_ir()
    assert not any(line.lstrip().startswith("define void") for line in text.splitlines())


def test_a_failure_is_located_through_the_log(engine: Engine) -> None:
    source = Source("m.py", "first line\nOut[i] = Table[Index[i]]\n")
    span = Span(source, 11, 35)
    function, log = gather(), RewriteLog()
    old = Evaluate(IntImm(0, "int32"), span=span)
    assert isinstance(function, PrimFunc)
    assert isinstance(function.body, For)
    log.derive(function.body.body, (old,))
    with pytest.raises(RunError) as caught:
        engine.kernel(function, "gather", log)(np.zeros(2, "float32"), np.array([5], "int32"), np.zeros(1, "float32"))
    assert caught.value.diagnostics[0].place == "m.py:2:1"


@pytest.mark.tvm
def test_init_runs_where_a_reduction_has_its_first_value() -> None:
    text = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((2,), "float32")):
    for i, k in T.grid(2, 4):
        with T.sblock("b"):
            vi = T.axis.spatial(2, i)
            vk = T.axis.reduce((2, 6), k + 2)
            with T.init():
                B[vi] = T.float32(1)
            B[vi] = B[vi] + A[vk]
"""
    values = np.arange(8, dtype="float32"), np.zeros(2, "float32")
    found = run(text, *values)[1]
    assert found.tolist() == [15.0, 15.0]
    assert np.array_equal(found, run_in_tvm(text, *values)[1])
