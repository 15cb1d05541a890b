"""The command `report`: all that there is to see of a program, as one HTML file."""

import argparse
import time
from typing import Final, cast, get_args

from relax_core.cli import debugging
from relax_core.cli.changes import change_options, changed_program
from relax_core.cli.terminal import (
    DIAGNOSED,
    PATH_HELP,
    Commands,
    Engine,
    UsageError,
    as_in_option,
    complain,
    failed,
    read_text,
    say,
    write_bytes,
)
from relax_core.engine.files import printable
from relax_core.engine.protocol import Failure, ReportOf
from relax_core.engine.replies import REPORT_PARTS, ReportPart
from relax_core.engine.reporting.again import command_of

_STANDARD_OUTPUT: Final = "-"
_KILOBYTE: Final = 1000


def add_report(command: Commands) -> None:
    """Add the command."""
    made = command("report", "Write what there is to see of a program as one HTML file that loads nothing.", _report)
    made.add_argument("file", metavar="FILE", help=PATH_HELP)
    made.add_argument("-o", "--output", default="report.html", metavar="HTML", help="where to write it; -: print it")
    made.add_argument("--notes", metavar="MD", help="a file with what you have to say, in Markdown; it comes first")
    parts = f"what to tell, of {','.join(REPORT_PARTS)}; default: all"
    made.add_argument("--parts", default=",".join(REPORT_PARTS), metavar="P,Q", help=parts)
    dated = "say when it was made, and what passes took; default: the same program makes the same bytes"
    made.add_argument("--dated", action="store_true", help=dated)
    debugging.run_options(made)
    change_options(made)
    as_in_option(made)


def parts_in(text: str) -> tuple[ReportPart, ...]:
    """Read the parts of a report, such as `source,run`.

    Raises:
        UsageError: there is no such part.
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if unknown := next((name for name in names if name not in get_args(ReportPart)), None):
        raise UsageError(f"a report has no part {unknown}; parts: {', '.join(REPORT_PARTS)}")
    if not names:
        raise UsageError(f"--parts names none of {', '.join(REPORT_PARTS)}")
    return cast("tuple[ReportPart, ...]", names)


def _report(engine: Engine, options: argparse.Namespace) -> int:
    parts = parts_in(options.parts)
    notes = read_text(options.notes) if options.notes else ""
    program = changed_program(engine, debugging.asked_program(options.file, options), options)
    if isinstance(program, Failure):
        return failed(program)
    named = {name: getattr(options, name) for name in ("inputs", "table", "rules", "constants")}
    command = command_of(program, **{name: path for name, path in named.items() if path})
    date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()) if options.dated else ""
    reply = engine.request(ReportOf(program, notes, parts, date, command))
    if isinstance(reply, Failure):
        return failed(reply)
    content = reply.html.encode()
    if options.output == _STANDARD_OUTPUT:
        say(reply.html)
    else:
        write_bytes(options.output, content)
        complain(f"note: {printable(options.output)} is the report, {len(content) / _KILOBYTE:,.0f} kB")
    for words in reply.left_out:
        complain(f"note: left out, for the file would be too large: {words}")
    return DIAGNOSED if reply.has_errors else 0
