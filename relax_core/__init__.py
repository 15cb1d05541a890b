"""RelaxScope's core: read, check, transform, compile and run Relax modules.

    import relax_core as rc
    mod = rc.parse(text, name="m.py")           # IRModule; CompileError says what is wrong
    diags = rc.check(mod)                       # types and well-formedness
    text = rc.script(mod)                       # parse(script(m)) is structurally equal to m
    stages = rc.run_pipeline(mod, "LambdaLift, LegalizeOps")
    exe = rc.build(mod)                         # bytecode; kernels are compiled on their first call
    out = rc.VirtualMachine(exe)["main"](array)
    out = rc.evaluate(mod, "main", array)       # by definition, without passes; for Relay too
    text = rc.bisect_passes(mod, None, array).to_text()  # the first pass that changes the result
    text = rc.memory_report(mod, array).to_text()  # what is held in memory when, and what is used too late
    text = rc.origins(mod).to_text(line=8)      # what a line became after each pass, in bytecode, in kernels
    text = rc.region_report(mod).to_markdown()  # compiler regions, what crosses their borders, what stayed apart

The functions `check` and `pattern` stand before the subpackages of those names: `from relax_core.check.infer import
infer` reaches into the subpackage, `rc.check` is the function.
"""

# The first import: it says how the command line answers Ctrl-C while the others are loaded.
from relax_core.engine import starting as starting
from relax_core.engine.api import (
    CompileError,
    DeviceReport,
    Diagnostic,
    Match,
    Miss,
    Pass,
    PassContext,
    Pattern,
    RunError,
    Tables,
    VirtualMachine,
    build,
    check,
    device_report,
    dominates,
    evaluate,
    explain,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    match,
    parse,
    parse_all,
    partition,
    pattern,
    read_tables,
    region_report,
    register_packed,
    rewrite,
    run_pipeline,
    script,
    structural_equal,
    wildcard,
)
from relax_core.engine.debug.host import binding_values, bisect_modules, bisect_passes, memory_report
from relax_core.engine.debug.tolerance import Tolerance
from relax_core.engine.origins_view import origins

__all__ = [
    "CompileError",
    "DeviceReport",
    "Diagnostic",
    "Match",
    "Miss",
    "Pass",
    "PassContext",
    "Pattern",
    "RunError",
    "Tables",
    "Tolerance",
    "VirtualMachine",
    "binding_values",
    "bisect_modules",
    "bisect_passes",
    "build",
    "check",
    "device_report",
    "dominates",
    "evaluate",
    "explain",
    "is_constant",
    "is_expr",
    "is_function",
    "is_if",
    "is_let",
    "is_op",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "match",
    "memory_report",
    "origins",
    "parse",
    "parse_all",
    "partition",
    "pattern",
    "read_tables",
    "region_report",
    "register_packed",
    "rewrite",
    "run_pipeline",
    "script",
    "structural_equal",
    "wildcard",
]
