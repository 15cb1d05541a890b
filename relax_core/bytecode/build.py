"""From a module to an executable: the pipeline, what it left out, and bytecode."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from relax_core.bytecode.compile import AsIn, compile_module
from relax_core.bytecode.executable import Executable
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Pass, Stage
from relax_core.passes.historic import as_reported
from relax_core.passes.pipeline import (
    Passes,
    Step,
    default_pipeline,
    final_module,
    run_pipeline,
    run_step,
)
from relax_core.passes.properties import culprit
from relax_core.passes.relax import normalize
from relax_core.passes.relax.byoc import link_reference_backend
from relax_core.passes.relax.closures import lambda_lift
from relax_core.passes.relax.runtime import (
    attach_global_symbol,
    call_tir_rewrite,
    lower_alloc_tensor,
    lower_runtime_builtin,
    remove_purity_checking,
    to_non_dataflow,
    vm_shape_lower,
)
from relax_core.passes.relay.to_relax import relay_to_relax

FINISHING: Final[tuple[tuple[str, ModuleType], ...]] = (
    ("in Relax", relay_to_relax),
    ("linked backends", link_reference_backend),
    ("normal form", normalize),
    ("no local functions", lambda_lift),
    ("no dataflow blocks", to_non_dataflow),
    ("purity promised", remove_purity_checking),
    ("explicit destinations", call_tir_rewrite),
    ("explicit storage", lower_alloc_tensor),
    ("runtime builtins", lower_runtime_builtin),
    ("computed shapes", vm_shape_lower),
    ("global symbols", attach_global_symbol),
)
"""What the machine needs of a module, in order, and the modules of the passes that give it."""


@dataclass(frozen=True, slots=True)
class Built:
    """An executable, and the forms that passes brought the module into on the way to it, in order."""

    executable: Executable
    forms: tuple[IRModule, ...] = ()


def build(module: IRModule, *, passes: Passes | None = None, as_in: AsIn = "fixed") -> Executable:
    """Compile `module` through `passes`, the default pipeline if `None`, and what the machine needs besides.

    A pipeline that lowers only some functions or operators is enough: the machine evaluates what is left.
    `as_in="reported"` builds with the bugs that were reported of passes (`as_reported`) and of the code generator.

    Raises:
        CompileError: the module has errors, a pass failed, or the code generator refused something.
    """
    if as_in == "reported" and (passes is None or isinstance(passes, str)):
        passes = as_reported(default_pipeline(module) if passes is None else passes)
    return build_stages(module, run_pipeline(module, passes), as_in=as_in)


def build_stages(
    module: IRModule,
    stages: tuple[Stage, ...],
    *,
    as_in: AsIn = "fixed",
    around: Callable[[IRModule], IRModule] = lambda module: module,
) -> Executable:
    """Compile what `stages` made of `module`, with what `around` puts around its functions.

    Raises:
        CompileError: the last stage failed, or the code generator refused something.
    """
    final_module(module, stages)
    return _compiled(module, (*stages, *finishing_stages(module, stages)), as_in, around)


def build_as_is(module: IRModule) -> Built:
    """Compile `module` through no more passes than the machine needs.

    Raises:
        CompileError: a pass failed, or the code generator refused something.
    """
    stages = finishing_stages(module, ())
    return Built(_compiled(module, stages), tuple(stage.after for stage in stages))


def _compiled(
    module: IRModule,
    stages: tuple[Stage, ...],
    as_in: AsIn = "fixed",
    around: Callable[[IRModule], IRModule] = lambda module: module,
) -> Executable:
    """Compile what stages made of `module`; none that the machine needs is left out."""
    log = RewriteLog.merged(item.log for item in stages)
    before = (stage.before for stage in reversed(stages))
    return compile_module(around(final_module(module, stages)), log, before, as_in=as_in)


def finishing_stages(module: IRModule, stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Run the passes that the machine needs and that `stages` left out; they change nothing that is lowered."""
    made: list[Stage] = []
    for required, giver in FINISHING:
        current = final_module(module, (*stages, *made))
        if culprit(current, required) is not None:
            pass_: Pass = giver.PASS
            made.append(run_step(Step(pass_, pass_.options(), pass_.name), current, (*stages, *made)))
    final_module(module, (*stages, *made))
    return tuple(made)
