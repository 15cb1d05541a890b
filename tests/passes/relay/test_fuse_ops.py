"""FuseOps and DefuseOps: which operators become one function, and that they compute the same."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Function, Op, TensorType
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.ir.prim import IntImm, PrimExpr
from tests.passes.relay.after import Case, chain, check_case, last
from tests.passes.relay.running import agree, parsed

X = "%x: Tensor[(1, 16, 8, 8), float32]"
CONV = "padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]"
W = "%w: Tensor[(16, 16, 3, 3), float32], %u: Tensor[(16, 16, 1, 1), float32]"
POOL = "pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]"
UP = 'scale_h=2f, scale_w=2f, layout="NCHW"'
# name, parameters, body, the operators of each function
CASES = (
    ("elementwise", X, "exp(add(%x, 1f))", ["add exp"]),
    ("one operator", X, "exp(%x)", ["exp"]),
    ("two uses that meet", X, "%0 = add(%x, 1f); add(exp(%0), tanh(%0))", ["add add exp tanh"]),
    ("two uses that are results", X, "%0 = add(%x, 1f); (exp(%0), tanh(%0))", ["add", "exp", "tanh"]),
    ("a result that is used", X, "%0 = add(%x, 1f); (%0, exp(%0))", ["add", "exp"]),
    ("into a reduction", X, "sum(exp(add(%x, 1f)), axis=[1])", ["add exp sum"]),
    ("behind a reduction", X, "exp(sum(%x, axis=[1]))", ["exp", "sum"]),
    ("a reduction and what it scales", X, "%0 = exp(%x); divide(%0, sum(%0))", ["divide", "exp", "sum"]),
    ("a convolution and what follows", f"{X}, {W}",
     f"nn.relu(add(nn.conv2d(%x, %w, {CONV}), 1f))", ["add nn.conv2d nn.relu"]),
    ("before a convolution", f"{X}, {W}", f"nn.conv2d(nn.relu(%x), %w, {CONV})", ["nn.conv2d", "nn.relu"]),
    ("two convolutions that meet", f"{X}, {W}", f"add(nn.conv2d(%x, %w, {CONV}), nn.conv2d(%x, %w, {CONV}))",
     ["add nn.conv2d", "nn.conv2d"]),
    ("TVM's test of convolutions", f"{X}, {W}",
     f"%1 = add(%x, 1f); %2 = nn.conv2d(%1, %w, {CONV}); %3 = add(1f, %2); %4 = add(%2, %3); "
     f"%5 = nn.conv2d(%4, %u, padding=[0, 0, 0, 0], channels=16, kernel_size=[1, 1]); "
     f"%6 = nn.conv2d(%4, %w, {CONV}); add(%5, %6)",
     ["add", "add add nn.conv2d", "add nn.conv2d", "nn.conv2d"]),
    ("a convolution and a reshape", f"{X}, {W}", f"reshape(nn.conv2d(%x, %w, {CONV}), newshape=[16, 64])",
     ["nn.conv2d", "reshape"]),
    ("an addition that broadcasts its own result", "%x: Tensor[(1, 16), float32], %y: Tensor[(8, 16), float32]",
     "add(exp(%x), %y)", ["add exp"]),
    ("moving elements", X, "squeeze(transpose(exp(%x)))", ["exp squeeze transpose"]),
    ("a tuple inside", X,
     f"%0 = nn.max_pool2d(%x, {POOL}); add(concatenate((nn.upsampling(%0, {UP}), %x), axis=1), 1f)",
     ["add concatenate nn.upsampling", "nn.max_pool2d"]),
    ("a tuple as result", X, f"%0 = nn.max_pool2d(%x, {POOL}); (nn.upsampling(%0, {UP}), %x)",
     ["nn.max_pool2d", "nn.upsampling"]),
    ("fields of a tuple", X, "%0 = split(%x, indices_or_sections=2, axis=1); add(%0.0, %0.1)", ["add split"]),
    ("a field as result", X, "%0 = split(%x, indices_or_sections=2, axis=1); exp(%0.1)", ["exp split"]),
    ("concatenation of fields", X,
     "%0 = split(%x, indices_or_sections=2, axis=1); concatenate((%0.1, %0.0), axis=1)", ["concatenate split"]),
    ("parallel moves", X, "%0 = add(%x, 1f); add(squeeze(%0), transpose(transpose(squeeze(%0))))",
     ["add add squeeze squeeze transpose transpose"]),
    ("one concatenation after another", X,
     "%0 = concatenate((%x, %x), axis=1); %1 = concatenate((%0, %0), axis=1); nn.relu(%1)",
     ["concatenate concatenate nn.relu"]),
    ("an opaque operator", X, "exp(sort(exp(%x)))", ["exp", "exp", "sort"]),
    ("a softmax and a cast",
     "%x: Tensor[(16, 16), float32]", 'cast(nn.softmax(%x), dtype="float16")', ["cast nn.softmax"]),
    ("a softmax in the logarithm",
     "%x: Tensor[(16, 16), float32]", "exp(nn.log_softmax(%x))", ["exp", "nn.log_softmax"]),
    ("a stop", X, "exp(annotation.stop_fusion(tanh(%x)))", ["exp", "tanh"]),
    ("through a let", X, "let %y = exp(%x); tanh(%y)", ["exp", "tanh"]),
    ("through a let of a function", X, "let %f = fn (%y: Tensor[(2), float32]) { tanh(exp(%y)) }; %f", ["exp tanh"]),
    ("into a branch", X, "%0 = exp(%x); if (less(sum(%x), 1f)) { tanh(%0) } else { negative(%0) }",
     ["exp", "less", "negative", "sum", "tanh"]),
    ("of one branch", X, "%0 = exp(%x); if (less(sum(%x), 1f)) { tanh(%0) } else { %x }", ["exp tanh", "less", "sum"]),
    ("take and cast", "%x: Tensor[(8, 4), float32], %i: Tensor[(2), int32]", "exp(take(%x, %i, axis=0))", ["exp take"]),
    ("a scalar that scales", "%x: Tensor[(8), float32], %y: float32", "multiply(%x, exp(%y))", ["exp multiply"]),
    ("creation", X, 'add(%x, full(1f, shape=[1, 16, 8, 8], dtype="float32"))', ["add full"]),
    ("quantization", X, 'cast(clip(round(multiply(%x, 2f)), a_min=-127f, a_max=127f), dtype="int8")',
     ["cast clip multiply round"]),
)  # fmt: skip


def _functions(module: IRModule) -> list[str]:
    """The operators of each primitive function; none stands outside of one."""
    made = [node for node in postorder(module["main"]) if isinstance(node, Function) and attr(node.attrs, "Primitive")]
    inside = [_calls(function) for function in made]
    assert sum(map(len, inside)) == len(_calls(module["main"]))
    return sorted(" ".join(sorted(_name(call) for call in calls)) for calls in inside)


def _calls(root: Any) -> list[Call]:
    return [node for node in postorder(root) if isinstance(node, Call) and isinstance(node.op, Op)]


def _name(call: Call) -> str:
    assert isinstance(call.op, Op)
    return call.op.name


def _args(module: IRModule) -> list[Any]:
    rng = np.random.default_rng(1)
    main = module["main"]
    assert isinstance(main, Function)
    args: list[Any] = []
    for param in main.params:
        assert isinstance(param.annotation, TensorType)
        shape = [_size(dim) for dim in param.annotation.dims or ()]
        args.append(rng.uniform(0, 2, shape).astype(param.annotation.dtype))
    return args


def _size(dim: PrimExpr) -> int:
    assert isinstance(dim, IntImm)
    return dim.value


@pytest.mark.parametrize(("params", "body", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_operators_are_fused(params: str, body: str, wanted: list[str]) -> None:
    module = parsed(f"def @main({params}) {{ {body} }}")
    after = last(module, "FuseOps").after
    assert _functions(after) == wanted
    assert not last(after, "FuseOps").is_changed
    if "let %f" not in body:
        args = _args(module)
        agree(rc.evaluate(after, "main", *args), rc.evaluate(module, "main", *args))


@pytest.mark.parametrize(("params", "body", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_without_fusion_each_operator_is_a_function(params: str, body: str, wanted: list[str]) -> None:
    module = parsed(f"def @main({params}) {{ {body} }}")
    alone = _functions(last(module, "FuseOps(fuse_opt_level=0)").after)
    assert sorted(" ".join(wanted).split()) == alone


@pytest.mark.parametrize(("params", "body"), [case[1:3] for case in CASES], ids=[case[0] for case in CASES])
def test_defusing_gives_the_operators_back(params: str, body: str) -> None:
    module = parsed(f"def @main({params}) {{ {body.replace('annotation.stop_fusion', '')} }}")
    assert rc.structural_equal(last(module, "FuseOps, DefuseOps").after, module)


T = "Tensor[(10, 20), float32]"
TEXTS = (
    Case(
        "three operators",
        f"def @main(%x: {T}) {{ squeeze(exp(add(%x, 1f))) }}",
        f"def @main(%x: {T}) {{ %0 = fn (%p0: {T}, Primitive=1) -> {T} {{ squeeze(exp(add(%p0, 1f))) }}; %0(%x) }}",
        remarks=("3 operators become one function: `add`, `exp`, `squeeze`",),
    ),
    Case(
        "parameters in the order of their uses",
        f"def @main(%x: {T}, %y: {T}) {{ add(subtract(%y, %x), %y) }}",
        f"def @main(%x: {T}, %y: {T}) {{ %0 = fn (%p0: {T}, %p1: {T}, Primitive=1) -> {T} "
        "{ add(subtract(%p0, %p1), %p0) }; %0(%y, %x) }",
    ),
    Case(
        "a reshape alone",
        f"def @main(%x: {T}) {{ reshape(%x, newshape=[200]) }}",
        f"def @main(%x: {T}) {{ %0 = fn (%p0: {T}, Primitive=1, relay.reshape_only=1) -> Tensor[(200), float32] "
        "{ reshape(%p0, newshape=[200]) }; %0(%x) }",
    ),
    Case(
        "an annotation of devices",
        f"def @main(%x: {T}) {{ device_copy(%x, src_dev_type=1, dst_dev_type=2) }}",
    ),
    Case("a function of another compiler", f'def @main(%x: {T}, Compiler="a") -> {T} {{ exp(%x) }}'),
)


@pytest.mark.parametrize("case", TEXTS, ids=str)
def test_fused_text(case: Case) -> None:
    check_case(case, "FuseOps")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("exp(sort(%x))", "it is opaque"),
        ("exp(sum(%x))", "a reduction takes in what is before it"),
        ("%0 = exp(%x); (tanh(%0), sort(%0))", "it goes into a tuple"),
        ("%0 = exp(%x); let %y = tanh(%0); add(%y, %0)", "its uses lead to no common operator"),
        ("let %y = exp(%x); tanh(exp(%y))", ""),
        ("sort(exp(%x))", "the use by `sort` is opaque"),
    ],
)
def test_a_remark_says_why_not(body: str, words: str) -> None:
    stage = last(parsed(f"def @main(%x: {T}) {{ {body} }}"), "FuseOps")
    missed = [remark.message for remark in stage.remarks if remark.kind == "missed"]
    assert any(words in message for message in missed) if words else not missed


@pytest.mark.parametrize(("length", "depth"), [(300, 256), (10, 3), (5, 1), (4, 4)])
def test_a_function_has_a_limit(length: int, depth: int) -> None:
    stage = last(chain(length, is_let=False), f"FuseOps(max_depth={depth})")
    sizes = [len(text.split()) for text in _functions(stage.after)]
    assert sorted(sizes, reverse=True) == [depth] * (length // depth) + [length % depth] * bool(length % depth)
    assert any(f"the limit is {depth}" in remark.message for remark in stage.remarks) == (length > depth)


def test_no_limit_is_no_function() -> None:
    with pytest.raises(rc.CompileError, match="at least 1"):
        rc.run_pipeline(chain(2, is_let=False), "FuseOps(max_depth=0)")


@pytest.mark.parametrize("name", ["a convolution and what follows", "a tuple inside", "fields of a tuple"])
def test_fused_functions_run_in_the_machine(name: str) -> None:
    params, body = next(case[1:3] for case in CASES if case[0] == name)
    module = parsed(f"def @main({params}) {{ {body} }}")
    args = _args(module)
    fused = last(module, "FuseOps").after
    relax = rc.run_pipeline(fused, "RelayToRelax, LambdaLift")[-1].after
    primitive = [
        item for item in relax if isinstance(item.function, Function) and attr(item.function.attrs, "Primitive")
    ]
    assert len(primitive) == len(_functions(fused))
    agree(rc.VirtualMachine(rc.build(fused))["main"](*args), rc.evaluate(module, "main", *args))
