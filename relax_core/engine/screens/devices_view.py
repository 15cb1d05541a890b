"""The Devices page of a program: its devices planned with the options of a request."""

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import DevicesOf, WhyDeviceOf
from relax_core.passes.options import options_text
from relax_core.passes.relay.memory.plan_devices import PlanDevicesOptions, diagnostics_of
from relax_core.present.code import printed_code
from relax_core.present.device_models import DevicesView, WhyDevice
from relax_core.present.devices import DevicesShown, shown_devices
from relax_core.present.nodes.node_id import index_nodes
from relax_core.present.problems import problems_of
from relax_core.printer.relay_text.module import print_relay


def devices_view(message: DevicesOf, opened: OpenProgram) -> DevicesView:
    """Present the devices of a program; conflicts and unreached functions are among its problems."""
    shown = _shown(message, opened)
    module = shown.planned.module
    code = printed_code(print_relay(module, marks=shown.debug_marks()), index_nodes(module, 0), "Devices")
    steps = shown.steps()
    return DevicesView(
        shown.report(),
        shown.marks(),
        steps,
        len(shown.planned.plan.proof.steps),
        code,
        f"PlanDevices{options_text(_options(message))}",
        problems_of(diagnostics_of(shown.planned, _options(message), shown.log)),
    )


def why_device(message: WhyDeviceOf, opened: OpenProgram) -> WhyDevice:
    """Return the chain of constraints that puts a node of the source on its device."""
    shown = _shown(message, opened)
    node = shown.find(message.node)
    if node is None:
        raise CompileError((Diagnostic("EN005", f"there is no value {message.node}; the text changed"),))
    return shown.why(node)


def _options(message: DevicesOf | WhyDeviceOf) -> PlanDevicesOptions:
    asked = message.options
    try:
        return PlanDevicesOptions(asked.default, asked.clone, asked.as_in, asked.visits, asked.visit_limit)
    except ValueError as error:
        raise CompileError((Diagnostic("PS002", f"PlanDevices: {error}"),)) from None


def _shown(message: DevicesOf | WhyDeviceOf, opened: OpenProgram) -> DevicesShown:
    opened.source.require_sound(reads_data=False)
    return shown_devices(opened.source.module, _options(message), opened.compilation.index(0).id_of)
