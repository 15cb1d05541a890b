"""What names mean, and reports on modules: costs, what became of their parts; of Relay regions and devices."""

from typing import Literal

from relax_core.analysis.cost.costs import Costs
from relax_core.analysis.device.visits import Visits
from relax_core.analysis.lint.regions import region_problems
from relax_core.engine.documents.meanings import explanations
from relax_core.engine.programs.call_costs import costs_of
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from relax_core.passes.relay.memory.plan_devices import PlanDevicesOptions
from relax_core.pattern.partition.tables import Tables
from relax_core.present.catalog_of.catalog_models import Explanation, Explanations
from relax_core.present.device_models import DeviceReport
from relax_core.present.devices import shown_devices
from relax_core.present.diffs.structure import StructureText, structure
from relax_core.present.models import Structure
from relax_core.present.regions import region_report as regions
from relax_core.present.regions.region_models import RegionReport

__all__ = [
    "Costs",
    "DeviceReport",
    "Explanation",
    "Explanations",
    "Structure",
    "costs_of",
    "device_report",
    "explanations",
    "region_problems",
    "region_report",
    "structure_of",
]


def region_report(module: IRModule, tables: Tables | None = None) -> RegionReport:
    """Report the compiler regions of an annotated or partitioned Relay module: `to_json()`, `to_markdown()`, and data.

    `tables` tell why an operator is in no region, and why two regions stayed apart.
    """
    return regions.region_report(module, tables)


def device_report(
    module: IRModule,
    default: str = "cpu",
    *,
    clone: bool = False,
    as_in: Literal["fixed", "reported"] = "fixed",
    visits: Visits = "memo_body",
    visit_limit: int = 1,
) -> DeviceReport:
    """Plan the devices of a Relay module, with the options of PlanDevices: `to_json()`, `to_text()`, and data.

    By function and variable where each value is, and why; copies with their bytes; conflicts with the chains of both
    sides, which are no exception here; the visits, if `as_in` is "reported".

    Raises:
        ValueError: `default` names no device, or `visit_limit` is not positive.
        CompileError: the module is not Relay.
    """
    options = PlanDevicesOptions(default, clone, as_in, visits, visit_limit)
    return shown_devices(module, options).report()


def structure_of(before: IRModule, after: IRModule, stage: Stage | None = None) -> Structure:
    """Compare two modules part by part: functions, bindings, loops, buffers: `to_text()`, `to_json()`, and data.

    A part is added, removed, renamed, moved to another place, or changed, with what of it did. Parts are matched by
    what they compute, which is told as `likely` or a `guess` where it is not sure. With the `stage` that made `after`
    of `before` they are matched by what its pass recorded. `is_same` says that only names of variables differ.
    """
    return structure(StructureText(before), StructureText(after), None if stage is None else stage.log)
