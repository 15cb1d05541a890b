"""RelaxScope's core: read, check, transform, compile and run Relax modules.

    import relax_core as rc
    mod = rc.parse(text, name="m.py")           # IRModule; CompileError says what is wrong
    diags = rc.check(mod)                       # types and well-formedness
    text = rc.script(mod)                       # parse(script(m)) is structurally equal to m
    stages = rc.run_pipeline(mod, "LambdaLift, LegalizeOps")
    exe = rc.build(mod)                         # bytecode; kernels are compiled on their first call
    out = rc.VirtualMachine(exe)["main"](array)
    out = rc.run(mod, array, stand_ins={"my.f": "zeros"}).value  # with something in place of a packed function
    rc.record_run(mod, array).write("run.rxt")  # every event and value of a run; rc.open_run("run.rxt") has them again
    out = rc.evaluate(mod, "main", array)       # by definition, without passes; for Relay too
    text = rc.bisect_passes(mod, None, array).to_text()  # the first pass that changes the result
    text = rc.bisect_pipeline(rc.open_pipeline("dump")).to_text()  # the same for the stages that TVM printed
    text = rc.compare_calls(rc.open_pipeline("t.rxt")).to_text()  # each call of a recorded run of TVM beside ours
    text = rc.memory_report(mod, array).to_text()  # what is held in memory when, and what is used too late
    figures = rc.costs_of(mod, "main", {"n": 8})  # operations, bytes moved, launches and memory of a call, not run
    text = rc.origins(mod).to_text(line=8)      # what a line became after each pass, in bytecode, in kernels
    text = rc.explanations("FuseOps").to_text()  # what a pass, code, operator, instruction or word means
    diags = rc.region_problems(mod)             # regions and composites that no backend could be handed
    rc.show(mod)                                # in a notebook: a graph, the diff of stages, a run step by step
    text = rc.region_report(mod).to_markdown()  # compiler regions, what crosses their borders, what stayed apart

Each name is loaded, with what it needs, when it is first used. The functions `check` and `pattern` stand before the
subpackages of those names: `from relax_core.check.infer import infer` reaches into the subpackage, `rc.check` is the
function.
"""

from types import MappingProxyType

# First how the command line answers Ctrl-C while the others are loaded.
from relax_core.engine.process import starting as starting

# isort: split
from relax_core import late
from relax_core.engine.api import notebooks, patterns, pipelines, reports, runs, texts

# `__init__.pyi` says the same to type checkers.
_MODULE_OF = MappingProxyType(
    {
        "CompileError": texts,
        "Costs": reports,
        "DeviceReport": reports,
        "Diagnostic": texts,
        "Explanation": reports,
        "Explanations": reports,
        "GraphMatch": patterns,
        "GraphMiss": patterns,
        "Match": patterns,
        "Miss": patterns,
        "Inside": runs,
        "Pass": runs,
        "PassContext": runs,
        "Pattern": patterns,
        "PatternContext": patterns,
        "PatternSeq": patterns,
        "Pipeline": pipelines,
        "Ran": runs,
        "RecordedStage": pipelines,
        "RunError": texts,
        "RunRecording": runs,
        "SameShapeConstraint": patterns,
        "Simulated": runs,
        "Structure": reports,
        "Tables": patterns,
        "Machine": runs,
        "Threads": runs,
        "ThreadsOf": runs,
        "Tolerance": runs,
        "VirtualMachine": runs,
        "after_rewrites": runs,
        "as_reported": runs,
        "binding_values": runs,
        "bisect_modules": runs,
        "bisect_passes": runs,
        "bisect_pipeline": pipelines,
        "build": runs,
        "check": texts,
        "compare_calls": pipelines,
        "costs_of": reports,
        "device_report": reports,
        "dominates": patterns,
        "evaluate": runs,
        "explain": patterns,
        "explanations": reports,
        "expression": patterns,
        "graph_pattern": patterns,
        "is_call_dps_packed": patterns,
        "is_call_packed": patterns,
        "is_call_tir": patterns,
        "is_const": patterns,
        "is_constant": patterns,
        "is_dfv": patterns,
        "is_expr": patterns,
        "is_extern": patterns,
        "is_function": patterns,
        "is_gv": patterns,
        "is_if": patterns,
        "is_let": patterns,
        "is_op": patterns,
        "is_shape": patterns,
        "is_tuple": patterns,
        "is_tuple_get_item": patterns,
        "is_var": patterns,
        "make_fused_bias_activation_pattern": patterns,
        "match": patterns,
        "inside": runs,
        "memory_report": runs,
        "open_pipeline": pipelines,
        "open_run": runs,
        "origins": runs,
        "parse": texts,
        "parse_all": texts,
        "partition": patterns,
        "pass_": runs,
        "pattern": patterns,
        "read_tables": patterns,
        "record_run": runs,
        "recorded_results": pipelines,
        "region_problems": reports,
        "region_report": reports,
        "register_packed": runs,
        "register_pass": runs,
        "reject": patterns,
        "rewrite": patterns,
        "rewrite_bindings": patterns,
        "rewrite_call": patterns,
        "rules": patterns,
        "run": runs,
        "run_pipeline": runs,
        "verify": runs,
        "script": texts,
        "show": notebooks,
        "simulate": runs,
        "threads": runs,
        "structural_equal": texts,
        "structure_of": reports,
        "wildcard": patterns,
        "without_rewrite": runs,
        "write_trace": pipelines,
    }
)

late.publish(__name__, _MODULE_OF)
