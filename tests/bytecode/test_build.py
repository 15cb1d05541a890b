"""Building: what a pipeline left out is added, and what the machine lacks is refused."""

import pytest

from relax_core.bytecode.build import build, finishing_stages
from relax_core.bytecode.compile import compile_module
from relax_core.bytecode.isa import CallInstruction, FunctionRef, Register, ReturnInstruction
from relax_core.diagnostics import CompileError
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Call, Var
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.passes.pipeline import final_module, run_pipeline
from tests.passes.programs import parse, program

GLOBALS_EVERYWHERE = """
    @R.function
    def one(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return x

    @R.function
    def apply(f: R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32")), x: R.Tensor((2,), "float32")):
        y = f(x)
        return y

    @R.function
    def returned():
        cls = Module
        return cls.one

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        bound = cls.one
        pair = (cls.one, x)
        if c:
            chosen = cls.one
        else:
            chosen = bound
        a = cls.apply(cls.one, x)
        b = R.call_packed("custom_print", cls.one, ty_args=R.Tuple)
        d = chosen(a)
        return (bound, pair, d)
"""


def test_passes_that_a_pipeline_left_out_are_run() -> None:
    module = program("capture")
    stages = run_pipeline(module, "LegalizeOps(operators=['multiply'])")
    added = [item.pass_name for item in finishing_stages(module, stages)]
    assert added == [
        "LambdaLift",
        "RemovePurityChecking",
        "CallTIRRewrite",
        "LowerAllocTensor",
        "LowerRuntimeBuiltin",
        "VMShapeLower",
        "AttachGlobalSymbol",
    ]


def test_the_default_pipeline_leaves_nothing_out() -> None:
    module = program("dataflow")
    assert finishing_stages(module, run_pipeline(module)) == ()


def test_an_operator_that_was_not_lowered_is_a_packed_function() -> None:
    executable = build(program("operators"), passes="Normalize")
    kinds = {item.name: item.kind for item in executable.functions}
    assert kinds["relax.matmul"] == kinds["relax.nn.relu"] == "packed"
    assert executable.kernels == {} or all(name.startswith("shape_func") for name in executable.kernels)


@pytest.mark.parametrize(
    ("name", "passes", "hint"),
    [
        ("capture", "Normalize", "LambdaLift"),
        ("call_tir", "Normalize", "CallTIRRewrite"),
        ("call_tir", "Normalize, CallTIRRewrite", "LowerAllocTensor"),
        ("symbolic", "Normalize", "VMShapeLower"),
    ],
)
def test_a_module_that_was_not_lowered_is_refused(name: str, passes: str, hint: str) -> None:
    module = program(name)
    stages = run_pipeline(module, passes)
    with pytest.raises(CompileError) as caught:
        compile_module(final_module(module, stages), stages[-1].log)
    assert {item.code for item in caught.value.diagnostics} == {"BC002"}
    assert all(item.span is not None for item in caught.value.diagnostics)
    assert any(hint in item.hint for item in caught.value.diagnostics)


def test_a_global_function_is_a_value_in_every_position() -> None:
    executable = build(parse(GLOBALS_EVERYWHERE))
    one = FunctionRef(executable.index_of["one"])
    names = {
        executable.functions[item.function].name
        for item in executable.instructions
        if isinstance(item, CallInstruction) and one in item.args
    }
    assert names == {"vm.builtin.copy", "vm.builtin.make_tuple", "apply", "custom_print"}


def test_as_reported_refuses_it_in_every_position_but_a_call() -> None:
    with pytest.raises(CompileError) as caught:
        build(parse(GLOBALS_EVERYWHERE), as_in="reported")
    places = [item.span.text.splitlines()[0] for item in caught.value.diagnostics if item.span]
    assert places == ["return cls.one", "bound = cls.one", "pair = (cls.one, x)", "chosen = cls.one"]


def test_registers_know_their_variables() -> None:
    executable = build(program("capture"))
    main = executable.functions[0]
    assert main.name == "main"
    assert main.register_count == len(main.register_vars)
    names = [item.name if isinstance(item, Var) else None for item in main.register_vars]
    assert names[0] == "x"
    assert {"scaled", "out"} <= set(names)
    last = executable.instructions[main.end - 1]
    assert isinstance(last, ReturnInstruction)
    assert isinstance(last.result, Register)
    assert names[last.result.index] == "out"


def test_the_return_of_a_graph_stands_at_its_result() -> None:
    text = "def @main(%x: Tensor[(2), float32]) {\n  %0 = exp(%x);\n  %1 = nn.relu(%0);\n  add(%1, %0)\n}"
    executable = build(parse_text(text, "m.relay").modules[0])
    span = executable.span_of(executable.functions[0].end - 1)
    assert span is not None
    assert (span.line, span.column) == (4, 3)


def test_private_functions_are_entries_by_their_names() -> None:
    executable = build(program("capture"))
    lifted = {var.name for var, _ in executable.module.relax_functions}
    assert {item.name for item in executable.functions if item.is_entry} == lifted > {"main"}


def test_a_module_with_errors_is_not_built() -> None:
    module = parse('    @R.function\n    def main(x: R.Tensor((3, 4), "float32")):\n        return R.matmul(x, x)\n')
    with pytest.raises(CompileError):
        build(module)


def test_a_value_that_the_machine_does_not_know_is_refused() -> None:
    # A check refuses such a module before; a pass could make one all the same.
    module = parse(
        '    @R.function\n    def main(x: R.Tensor((2,), "float32")):\n        y = R.exp(x)\n        return y\n'
    )
    log = RewriteLog()
    broken = rewrite(module, lambda node: node.op if isinstance(node, Call) else None, log=log)
    with pytest.raises(CompileError) as caught:
        compile_module(broken, log)
    assert [item.code for item in caught.value.diagnostics] == ["BC003"]
