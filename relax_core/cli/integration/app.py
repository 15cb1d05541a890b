"""The commands that serve: `open` the browser, which shows the app, `lsp` and `dap` an editor, `serve` scripts."""

import argparse
import importlib.util
import os
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from typing import Final

from relax_core.cli import opening, run_files
from relax_core.cli.integration.debugging import server as debugging_server
from relax_core.cli.integration.language import server
from relax_core.cli.integration.serving import server as scripts_server
from relax_core.cli.terminal import Commands, Engine, UsageError, read_text, say
from relax_core.diagnostics import plural
from relax_core.engine.files import printable
from relax_core.engine.pipelines.recognize import OPEN_VARIABLE, WATCH_VARIABLE, is_pipeline
from relax_core.engine.places import ROOT

_APP: Final = ROOT / "app.py"
_ADDRESS: Final = "127.0.0.1"
_PORTS: Final = 1 << 16
_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""What the environment of a Linux desktop has, without which `webbrowser` may start a browser of this terminal."""
_START_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.1


def add_app(command: Commands, parser: Callable[[], argparse.ArgumentParser]) -> None:
    """Add the commands; `parser` makes the one whose commands `serve` carries out."""
    app = command("open", "Start the app, on a program or a recording, and open the browser.", _open)
    what = "a program, a folder of numbered dumps, a log, a zip of either, or a trace (default: the app's samples)"
    app.add_argument("file", nargs="?", default="", metavar="PATH", help=what)
    app.add_argument("--port", type=int, default=8501, help="where the app listens (default: 8501)")
    app.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")
    app.add_argument("--watch", action="store_true", help="follow the program: its pages show each change of the file")
    app.set_defaults(in_process=True)

    command("lsp", "Serve an editor: the language server, on standard input and output.", _serve_editor)
    command("dap", "Serve an editor: the debug adapter, on standard input and output.", _debug_for_editor)

    def serve(_engine: Engine, options: argparse.Namespace) -> int:
        return scripts_server.serve(options, parser())

    made = command("serve", "Serve scripts: the commands that print JSON as requests of HTTP.", serve)
    made.add_argument("--host", default=_ADDRESS, metavar="H", help=f"the address to listen at (default: {_ADDRESS})")
    made.add_argument("--port", type=int, default=8502, help="the port; 0: any that is free (default: 8502)")
    names = "a name of this machine that requests may be meant for, behind a proxy for example"
    made.add_argument("--allow-host", action="append", default=[], metavar="NAME", help=names)
    made.add_argument("--processes", type=int, default=0, metavar="N", help="how many commands run at a time")
    made.add_argument("--waiting", type=int, default=16, metavar="N", help="how many more wait (default: 16)")
    most = "what a command may take, beside the limits of each step of it (default: 600)"
    made.add_argument("--seconds", type=float, default=600.0, metavar="S", help=most)
    made.set_defaults(in_process=True)


def _open(_engine: Engine, options: argparse.Namespace) -> int:
    """Run the app, once it is known that there is something to show."""
    if not 0 < options.port < _PORTS:
        raise UsageError(f"--port takes a number from 1 to {_PORTS - 1:,}, got {options.port}")
    base = f"http://{_ADDRESS}:{options.port}"
    words, page = _found(options.file)
    if options.watch and (page != "/" or not options.file):
        what = f"{printable(options.file)} is a recording" if options.file else "none is named"
        raise UsageError(f"--watch follows the file of a program, and {what}")
    if importlib.util.find_spec("streamlit") is None or not _APP.is_file():
        raise UsageError("the app is not installed here: it needs streamlit and app.py")
    if _answers(options.port):
        raise UsageError(f"something listens at port {options.port} already; --port takes another one")
    say(f"{words}, at {base}{page}")
    if options.file and run_files.holds_run(options.file):
        say(f"The recorded run is at {base}/run")
    sys.stdout.flush()
    if not options.no_browser and (sys.platform != "linux" or any(map(os.environ.get, _DISPLAYS))):
        threading.Thread(target=_show, args=(options.port, base + page), daemon=True).start()
    environment = os.environ | {
        OPEN_VARIABLE: os.path.abspath(options.file) if options.file else "",
        WATCH_VARIABLE: "1" if options.watch else "",
    }
    # Streamlit reads the settings of the folder that it is started in.
    return subprocess.call(
        (sys.executable, "-m", "streamlit", "run", str(_APP), "--server.port", str(options.port)),
        cwd=_APP.parent,
        env=environment,
    )


def _serve_editor(engine: Engine, options: argparse.Namespace) -> int:
    return server.serve(engine, options)


def _debug_for_editor(engine: Engine, options: argparse.Namespace) -> int:
    return debugging_server.serve(engine, options)


def _found(path: str) -> tuple[str, str]:
    """Return what there is to open at a path, and the page that shows it.

    Raises:
        UsageError: it cannot be read.
    """
    if not path:
        return "RelaxScope", "/"
    if os.path.isfile(path) and not is_pipeline(path):
        return f"{printable(path)}: {plural(len(read_text(path).splitlines()), 'line')}", "/"
    pipeline = opening.pipeline_of(path)
    opening.say_remarks(pipeline)
    return f"{printable(path)}: {plural(len(pipeline.stages), 'stage')}", "/pipeline"


def _answers(port: int) -> bool:
    """Tell whether a server listens at a port of this machine."""
    try:
        with socket.create_connection((_ADDRESS, port), timeout=1):
            return True
    except OSError:
        return False


def _show(port: int, address: str) -> None:
    """Open the browser once the server listens."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if _answers(port):
            webbrowser.open(address)
            return
        time.sleep(_LOOK_SECONDS)
