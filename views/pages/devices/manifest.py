"""What the app has to know of the Devices page."""

from views.manifest import Manifest, stop
from views.pages.devices.state import DevicesState

MANIFEST = Manifest(
    state=DevicesState,
    keys=(("Devices", (("`j` `k`", "next and previous step"),)),),
    question="On which device is each value, and who decided it?",
    stops=(
        stop(
            "A function nobody visits",
            "Devices as planned when the bug was reported: one function of seven has none.",
            sample="relay/map_three_times.relay",
            as_in="reported",
            visit=3,
        ),
        stop(
            "Two devices and a copy",
            "Annotations pull two ways: where the value crosses, and which line asked for it.",
            sample="relay/devices.relay",
        ),
    ),
)
