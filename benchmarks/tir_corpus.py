"""Prim funcs that apache-tvm makes: legalized operators, schedules, and every stage of its lowering."""

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

# Operators on x, y: (d, 8), z: (d, 8, 16, 16), i: int64 (d,), b: bool (d, 8), by the text of the call.
UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log negative round rsqrt sigmoid sign sin sinh "
    "sqrt square tan tanh isnan isinf isfinite bitwise_not logical_not nn.relu nn.gelu nn.silu nn.softmax "
    "nn.log_softmax nn.gelu_tanh nn.softplus"
)
BINARY = (
    "add subtract multiply divide floor_divide mod floor_mod power maximum minimum equal not_equal less less_equal "
    "greater greater_equal atan2"
)
REDUCTIONS = "sum mean max min prod variance std"
OTHERS = (
    "R.matmul(x, R.permute_dims(y))", "R.reshape(x, R.shape([8, d]))", "R.permute_dims(z, axes=[0, 2, 3, 1])",
    "R.concat((x, y), axis=0)", "R.split(x, 2, axis=1)", "R.take(x, i, axis=0)", "R.expand_dims(x, axis=[0, 2])",
    "R.squeeze(R.expand_dims(x, axis=0), axis=[0])", "R.broadcast_to(x, R.shape([3, d, 8]))", "R.flip(x, axis=0)",
    "R.strided_slice(z, [1, 2], [0, 1], [8, 12], [1, 2])", "R.where(b, x, y)", "R.clip(x, 0, 6)", "R.cumsum(x, axis=1)",
    "R.astype(x, 'float16')", "R.argmax(x, axis=1)", "R.repeat(x, 2, axis=0)", "R.tile(x, (2, 2))", "R.tril(x, 0)",
    "R.triu(x, 1)", "R.full(R.shape([d, 2]), R.const(1.5, 'float32'), 'float32')", "R.zeros(R.shape([d, 3]), 'int32')",
    "R.one_hot(i, R.prim_value(T.float32(1)), R.prim_value(T.float32(0)), depth=5, axis=-1)", "R.ones_like(x)",
    "R.nn.layer_norm(x, g, h, axes=[1])", "R.nn.rms_norm(x, g, axes=[1])", "R.nn.max_pool2d(z, [2, 2], strides=[2, 2])",
    "R.nn.avg_pool2d(z, [3, 3], padding=[1, 1, 1, 1])", "R.nn.adaptive_avg_pool2d(z, [2, 2])", "R.sort(x, axis=1)",
    "R.nn.conv2d(z, w, padding=[1, 1, 1, 1])", "R.nn.conv2d(z, w, strides=[2, 2], dilation=[2, 2])",
    "R.nn.conv2d_transpose(z, w)", "R.image.resize2d(z, R.shape([8, 8]), method='linear', layout='NCHW')",
    "R.nn.pad(x, [1, 1, 2, 2])", "R.gather_elements(x, R.astype(b, 'int64'), axis=0)", "R.arange(0, 8, 2, 'int64')",
    "R.nn.group_norm(z, g, h, num_groups=2, channel_axis=1, axes=[2, 3])", "R.stack((x, y), axis=1)",
    "R.einsum((x, y), 'ij,kj->ik')", "R.scatter_elements(x, R.astype(b, 'int64'), y, axis=0)",
    "R.bitwise_and(i, i)", "R.left_shift(i, i)", "R.right_shift(i, i)", "R.logical_and(b, b)",
    "R.collapse_sum_to(x, R.shape([8]))",
    "R.dynamic_strided_slice(x, q, q, q)", "R.topk(x, 3, axis=1)", "R.nn.leakyrelu(x, 0.1)", "R.nn.prelu(x, g, 1)",
    "R.quantize(x, R.const(0.1, 'float32'), R.const(3, 'int8'), axis=-1)", "R.multinomial_from_uniform(x, u, j)",
    "R.nn.attention(a, a, a)", "R.nn.cross_entropy_with_logits(x, y)", "R.meshgrid((i, i), indexing='ij')",
    "R.layout_transform(x, index_map=T.index_map(_transposed))", "R.nn.dropout(x, 0.5)",
    "R.ewise_fma(x, y, x)", "R.linear(x, y)", "R.nn.instance_norm(z, g, h, axes=[2, 3])", "R.unique(i)", "R.nonzero(x)",
    "R.nn.conv1d(R.reshape(z, R.shape([d, 8, 256])), R.zeros(R.shape([4, 8, 3]), 'float32'))", "R.eye(4)",
    "R.scatter_nd(x, v, y)",
    "R.gather_nd(x, v, 0)", "R.index_tensor(x, (i,))", "R.slice_scatter(x, y, 0, d, 1, axis=0)", "R.searchsorted(g, x)",
)  # fmt: skip
HEAD = """# from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module(s_tir=True, check_well_formed=False)
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(({d}, 8), "float32"), y: R.Tensor(({d}, 8), "float32"),
             z: R.Tensor(({d}, 8, 16, 16), "float32"), w: R.Tensor((8, 8, 3, 3), "float32"),
             g: R.Tensor((8,), "float32"), h: R.Tensor((8,), "float32"),
             i: R.Tensor(({d},), "int64"), b: R.Tensor(({d}, 8), "bool"), q: R.Tensor((2,), "int64"),
             u: R.Tensor((4, 1), "float32"), j: R.Tensor((4, 1), "int64"), a: R.Tensor(({d}, 4, 2, 8), "float32"),
             v: R.Tensor((2, 3), "int64")):
        {define}
        out = {call}
        return out
"""


# TVM's own errors are runtime errors.
REFUSALS = (
    SyntaxError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    KeyError,
    IndexError,
    AssertionError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A module of TVM that holds one prim func, or those that one was lowered to; `group` is how it was made."""

    name: str
    group: str
    module: Any

    @property
    def function(self) -> Any:
        """The one prim func."""
        return next(iter(self.module.functions.values()))


def calls() -> Iterator[tuple[str, str]]:
    """List the operator calls with their names."""
    for name in UNARY.split():
        yield name, f"R.{name}({'i' if 'bitwise' in name else 'b' if 'logical' in name else 'x'})"
    for name in BINARY.split():
        yield name, f"R.{name}(x, y)"
        if name not in ("atan2", "divide"):
            yield f"{name}_int", f"R.{name}(i, i)"
    for name in REDUCTIONS.split():
        yield name, f"R.{name}(z, axis=[1, 3], keepdims=True)"
    for text in OTHERS:
        yield text.split("(")[0].removeprefix("R."), text


def operators(limit: int | None = None) -> Iterator[Case]:
    """Legalize each operator, for a static and a symbolic dimension, and lower the functions to bytecode's shapes."""
    tvm = importlib.import_module("tvm")
    script = importlib.import_module("tvm.script")
    relax = importlib.import_module("tvm.relax")
    chosen = list(calls())[:limit]
    for is_symbolic in (False, True):
        for name, call in chosen:
            define = "d = T.int64()" if is_symbolic else "pass"
            text = HEAD.format(d='"d"' if is_symbolic else "12", define=define, call=call)
            text = text if is_symbolic else re.sub(r"\bd\b", "12", text)
            module = attempt(lambda text=text: relax.transform.LegalizeOps()(script.from_source(text)))
            kind = "symbolic" if is_symbolic else "static"
            if module is None:
                continue
            yield from _prim_funcs(tvm, module, f"{name} ({kind})", kind)
            if is_symbolic:
                yield from _lowered_shapes(tvm, relax, module, name)


def _prim_funcs(tvm: Any, module: Any, name: str, group: str) -> Iterator[Case]:
    for var, function in module.functions.items():
        if isinstance(function, tvm.tirx.PrimFunc):
            yield Case(f"{name} {var.name_hint}", group, tvm.IRModule({"main": function}))


def _lowered_shapes(tvm: Any, relax: Any, module: Any, name: str) -> Iterator[Case]:
    """The functions that compute shapes in TVM's virtual machine."""
    names = (
        "ToNonDataflow",
        "RemovePurityChecking",
        "CallTIRRewrite",
        "LowerAllocTensor",
        "LowerRuntimeBuiltin",
        "ComputePrimValue",
        "VMShapeLower",
    )
    passes = [getattr(relax.transform, item)() for item in names]
    lowered = attempt(lambda: tvm.transform.Sequential(passes)(module))
    if lowered is not None:
        found = _prim_funcs(tvm, lowered, name, "shape function")
        yield from (case for case in found if "shape_func" in case.name or "compute" in case.name)


def attempt(make: Callable[[], Any]) -> Any:
    """Call `make`; `None` if TVM refuses."""
    try:
        return make()
    except REFUSALS:
        return None


def _transposed(i: Any, j: Any) -> tuple[Any, Any]:
    return j, i


SCHEDULES: tuple[tuple[str, Callable[[Any, Any, list[Any]], object]], ...] = (
    ("split", lambda s, block, loops: s.split(loops[-1], [None, 5])),
    ("fuse", lambda s, block, loops: s.fuse(*loops[:2])),
    ("parallel", lambda s, block, loops: s.parallel(loops[0])),
    ("vectorize", lambda s, block, loops: s.vectorize(s.split(loops[1], [None, 4])[1])),
    ("unroll", lambda s, block, loops: s.unroll(loops[-1])),
    ("bind", lambda s, block, loops: (s.bind(loops[0], "blockIdx.x"), s.bind(loops[1], "threadIdx.x"))),
    ("annotate", lambda s, block, loops: (s.annotate(loops[0], "pragma_x", 1), s.annotate(block, "note", ["a", 2]))),
    ("cache_read", lambda s, block, loops: s.cache_read(block, 0, "shared")),
    ("cache_write", lambda s, block, loops: s.cache_write(block, 0, "local")),
    ("reorder", lambda s, block, loops: s.reorder(*reversed(loops))),
    ("decompose_reduction", lambda s, block, loops: s.decompose_reduction(block, loops[-1])),
    ("rfactor", lambda s, block, loops: s.rfactor(s.split(loops[-1], [None, 4])[0], 0)),
    ("blockize", lambda s, block, loops: s.blockize(loops[-1])),
    ("transform_layout", lambda s, block, loops: s.transform_layout(block, ("write", 0), _transposed)),
    ("storage_align", lambda s, block, loops: s.storage_align(s.cache_read(block, 0, "shared"), 0, 0, 32, 8)),
    ("set_scope", lambda s, block, loops: s.set_scope(s.cache_read(block, 0, "global"), 0, "shared.dyn")),
    ("add_unit_loop", lambda s, block, loops: s.add_unit_loop(block)),
    ("loop_partition", lambda s, block, loops: s.loop_partition(loops[0], [None, 5])),
    ("pad_einsum", lambda s, block, loops: s.pad_einsum(block, [8, 8, 8])),
    ("reindex", lambda s, block, loops: s.reindex(block, ("read", 0))),
)  # fmt: skip


def schedules() -> Iterator[Case]:
    """Apply each primitive of TVM's schedules to a product of matrices."""
    tvm = importlib.import_module("tvm")
    te = importlib.import_module("tvm.te")
    a, b = te.placeholder((12, 8), "float32", "A"), te.placeholder((8, 12), "float32", "B")
    r = te.reduce_axis((0, 8), "r")

    def product(i: Any, j: Any) -> Any:
        return te.sum(a[i, r] * b[r, j], axis=r)

    c = te.compute((12, 12), product, name="C")
    function = te.create_prim_func([a, b, c])
    for name, apply in SCHEDULES:
        schedule = tvm.s_tir.Schedule(function)
        block = schedule.get_sblock("C")
        if attempt(lambda s=schedule, b=block, apply=apply: (apply(s, b, s.get_loops(b)),)) is not None:
            yield Case(name, "schedule", schedule.mod)


def dlight(limit: int | None = None) -> Iterator[Case]:
    """Schedule legalized operators by TVM's rules for GPUs."""
    tvm = importlib.import_module("tvm")
    rules = importlib.import_module("tvm.s_tir.dlight").gpu
    names = ("Matmul", "GEMV", "Reduction", "GeneralReduction", "Transpose", "RMSNorm", "Fallback")
    applied = tvm.s_tir.dlight.ApplyDefaultSchedule(*(getattr(rules, name)() for name in names))
    for case in operators(limit):
        module = tvm.IRModule(
            {"main": case.function.with_attr("global_symbol", "main").without_attr("tirx.is_scheduled")}
        )

        def schedule(module: Any = module) -> Any:
            with tvm.target.Target("nvidia/geforce-rtx-3090"):
                return applied(module)

        made = attempt(schedule)
        if made is not None:
            yield Case(case.name, "dlight", made)


class _Stages:
    """Takes the prim funcs after every pass."""

    def __init__(self) -> None:
        self.found: list[tuple[str, Any]] = []

    def run_after_pass(self, module: Any, info: Any) -> None:
        """Take the module that a pass has made."""
        self.found.append((str(info.name), module))


def lowering(limit: int | None = None) -> Iterator[Case]:
    """Lower operators and schedules for the CPU; every stage is a case."""
    tvm = importlib.import_module("tvm")
    for case in [*list(operators(limit))[:limit], *schedules()]:
        yield from _stages_of(case, tvm.target.Target("llvm", host="llvm"))


def gpu_lowering(limit: int | None = None) -> Iterator[Case]:
    """Lower what TVM schedules for GPUs; the schedule is the first stage."""
    target = importlib.import_module("tvm").target.Target({"kind": "cuda", "arch": "sm_80"}, host="llvm")
    for case in dlight(limit):
        yield Case(f"{case.name} after dlight", "lowering", case.module)
        with target:
            yield from list(_stages_of(case, target))


def _stages_of(case: Case, target: Any) -> Iterator[Case]:
    tvm = importlib.import_module("tvm")
    instrument = importlib.import_module("tvm.ir.instrument").pass_instrument
    stages = _Stages()
    function = case.function.with_attr("global_symbol", "main").with_attr("target", target)

    def lower() -> Any:
        taken = instrument(_Stages)()
        taken.found = stages.found
        main, finalize, _ = tvm.s_tir.pipeline.default_s_tir_pipeline()
        with tvm.transform.PassContext(instruments=[taken]):
            return finalize()(main(tvm.IRModule({"main": function})))

    attempt(lower)
    for name, module in stages.found:
        yield Case(f"{case.name} after {name}", "lowering", module)


def corpus(limit: int | None = None) -> Iterator[Case]:
    """List all cases; `limit` is the number of operators."""
    yield from operators(limit)
    yield from schedules()
    yield from dlight(limit)
    yield from lowering(limit)
