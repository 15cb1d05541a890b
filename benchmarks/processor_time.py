"""The processor time that processes below this one have used, from `/proc`, in which other work has no say."""

import os
from collections import defaultdict
from pathlib import Path
from typing import Final, NamedTuple

BROWSER: Final = ("chrom", "node")
"""How the names of processes begin that are Chromium's or drive it."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Used(NamedTuple):
    """Seconds of processor time since the processes began, those that have ended included."""

    server: float
    browser: float

    def since(self, before: "Used") -> "Used":
        """Return what was used since `before`."""
        return Used(self.server - before.server, self.browser - before.browser)


class _Process(NamedTuple):
    parent: int
    name: str
    seconds: float


def used() -> Used:
    """Return what the processes below this one have used: Chromium's, and all others, which are the server's."""
    known = dict(filter(None, map(_process, Path("/proc").glob("[0-9]*"))))
    children: defaultdict[int, list[int]] = defaultdict(list)
    for pid, item in known.items():
        children[item.parent].append(pid)
    seconds = {True: 0.0, False: 0.0}
    left = list(children[os.getpid()])
    while left:
        pid = left.pop()
        left += children[pid]
        seconds[known[pid].name.startswith(BROWSER)] += known[pid].seconds
    return Used(seconds[False], seconds[True])


def _process(folder: Path) -> tuple[int, _Process] | None:
    try:
        head, _, rest = (folder / "stat").read_text(errors="replace").rpartition(")")
    except OSError:
        # It has ended meanwhile.
        return None
    fields = rest.split()
    # Its own, and what it has heard of children that have ended: `proc(5)`, fields 14 to 17.
    return int(folder.name), _Process(int(fields[1]), head.partition("(")[2], sum(map(int, fields[11:15])) / _TICKS)
