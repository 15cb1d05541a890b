"""Properties of what is planned for a module: compiler regions, and the devices of a Relay module."""

from relax_core.diagnostics import plural
from relax_core.engine.properties.asked import Asked, refuse
from relax_core.engine.protocol import DevicesOf, RegionReportOf
from relax_core.engine.screens import devices_view, partition_view
from relax_core.present.device_models import DeviceOptions, DeviceReport
from relax_core.present.regions.region_models import RegionReport


def _regions(asked: Asked) -> RegionReport:
    message = RegionReportOf(asked.message.program)
    opened = asked.context.opened_by(partition_view.partitioning(message, asked.opened))
    return partition_view.report_of(message, opened, asked.context.report, asked.context.is_cancelled)


def region_count(asked: Asked) -> str:
    """Return how many compiler regions the tables of the program make."""
    return str(len(_regions(asked).regions))


def offloaded_count(asked: Asked) -> str:
    """Return how many operators are in compiler regions."""
    return str(_regions(asked).offloaded_count)


def match_count(asked: Asked, name: str) -> str:
    """Return how often a pattern of the tables matches in the program."""
    patterns = partition_view.pattern_list(asked.opened).patterns
    found = next((item for item in patterns if item.name == name), None)
    if found is None:
        refuse(f"the tables have no pattern `{name}`", ", ".join(item.name for item in patterns))
    return str(found.match_count)


def reason_of_pair(asked: Asked, number: str) -> str:
    """Return why two neighbouring regions of one target stayed apart; pairs are counted from 1 as on the page."""
    pairs = _regions(asked).pairs
    if not number.isdecimal() or not 0 < int(number) <= len(pairs):
        refuse(f"{plural(len(pairs), 'pair')} of regions stayed apart, and there is no pair {number}")
    return pairs[int(number) - 1].kind


def _devices(asked: Asked) -> DeviceReport:
    options = DeviceOptions(as_in=asked.message.program.as_in)
    return devices_view.devices_view(DevicesOf(asked.message.program, options), asked.opened).report


def copy_count(asked: Asked) -> str:
    """Return how many copies between devices the plan has."""
    return str(len(_devices(asked).copies))


def device(asked: Asked, name: str) -> str:
    """Return the device of a variable, or of the result of a function, `none` if nothing decides it."""
    for function in _devices(asked).functions:
        if function.name.lstrip("@") == name.lstrip("@"):
            return function.result or "none"
        for row in function.rows:
            if row.name == name:
                return row.device or "none"
    refuse(f"the module has no variable and no function `{name}`")


def unreached(asked: Asked) -> str:
    """Return the functions that the analysis never visits, `none` if there is none."""
    names = [item.name for item in _devices(asked).functions if not item.is_visited]
    return ", ".join(names) or "none"
