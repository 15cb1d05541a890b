"""RelaxScope's core: read, check, transform, compile and run Relax modules.

    import relax_core as rc
    mod = rc.parse(text, name="m.py")           # IRModule; CompileError says what is wrong
    diags = rc.check(mod)                       # types and well-formedness
    text = rc.script(mod)                       # parse(script(m)) is structurally equal to m
    stages = rc.run_pipeline(mod, "LambdaLift, LegalizeOps")
    exe = rc.build(mod)                         # bytecode; kernels are compiled on their first call
    out = rc.VirtualMachine(exe)["main"](array)

The function `check` stands before the subpackage of that name: `from relax_core.check.infer import infer` reaches
into the subpackage, `rc.check` is the function.
"""

from relax_core.engine.api import (
    CompileError,
    Diagnostic,
    RunError,
    VirtualMachine,
    build,
    check,
    parse,
    parse_all,
    register_packed,
    run_pipeline,
    script,
    structural_equal,
)

__all__ = [
    "CompileError",
    "Diagnostic",
    "RunError",
    "VirtualMachine",
    "build",
    "check",
    "parse",
    "parse_all",
    "register_packed",
    "run_pipeline",
    "script",
    "structural_equal",
]
