"""JupyterLab as a user starts it, on a folder of notebooks and with settings of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.code_rules import REPOSITORY
from tests.processes import wait_until

_TOKEN = "notebooks"


@contextmanager
def lab(home: Path) -> Generator[str]:
    """Run JupyterLab on `home / "notebooks"`; give the address of a notebook but for its name, stop it at the end.

    Raises:
        RuntimeError: it does not start; the message holds what it printed.
    """
    folders = {name: home / name.lower() for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    paths = {**folders, "HOME": home, "IPYTHONDIR": home / "ipython", "PYTHONPATH": REPOSITORY}
    options = (
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",
        f"--ServerApp.root_dir={home / 'notebooks'}",
        f"--IdentityProvider.token={_TOKEN}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    )
    log = home / "lab.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            (sys.executable, "-m", "jupyterlab", *options),
            cwd=home,
            env=os.environ | {name: str(path) for name, path in paths.items()},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        runtime = folders["JUPYTER_RUNTIME_DIR"]
        started = runtime / f"jpserver-{process.pid}.json"
        if not wait_until(lambda: started.exists() or process.poll() is not None) or not started.exists():
            raise RuntimeError(log.read_text(encoding="utf-8", errors="replace"))
        port = json.loads(started.read_text(encoding="utf-8"))["port"]
        yield f"http://127.0.0.1:{port}/lab/tree/{{name}}?token={_TOKEN}"
    finally:
        # It ends its kernels as well.
        process.terminate()
        process.wait()
