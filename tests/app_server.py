"""Start the app as a user does, for tests that drive it with a browser."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

APP = Path(__file__).resolve().parent.parent / "app.py"
START_SECONDS = 60


@contextmanager
def serve(cwd: Path, app: Path = APP, python: str = sys.executable, *, base: str = "", port: int = 0) -> Generator[str]:
    """Run `streamlit run APP` with the working directory `cwd`; give the address once it answers, stop it at the end.

    `cwd` is also the home directory of the server, so that no setting of the user who runs the tests has a say. The
    pages are below the path `base`; without a `port` it gets a free one.

    Raises:
        RuntimeError: the server ended or did not answer in time; the message holds what it printed.
    """
    below = ("--server.baseUrlPath", base) if base else ()
    with serve_by((python, "-m", "streamlit", "run", str(app), *below, "--server.port"), cwd, base, port) as url:
        yield url


@contextmanager
def serve_by(command: tuple[str, ...], cwd: Path, base: str = "", port: int = 0) -> Generator[str]:
    """Run a command that starts the app and takes a port as its last argument; see `serve`."""
    port = port or _free_port()
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("STREAMLIT_")}
    log = cwd / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            (*command, str(port)),
            cwd=cwd,
            env=inherited | {"HOME": str(cwd)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}/{base}".rstrip("/")
    try:
        _wait_until_healthy(url, process, log)
        yield url
    finally:
        _stop(process)


@contextmanager
def serve_script(home: Path, text: str) -> Generator[str]:
    """Run a script of components with the app's static files and settings, in the empty folder `home`."""
    for name in ("static", ".streamlit"):
        shutil.copytree(APP.parent / name, home / name)
    script = home / "harness.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(APP.parent)!r})\n{text}")
    with serve(home, script) as url:
        yield url


def _free_port() -> int:
    """Return a port that for a minute only a server gets that asks for it by number, as Streamlit does.

    While the system remembers the end of a connection, its port is not among those that are free for anybody.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        with socket.create_connection(listener.getsockname()):
            listener.accept()[0].close()
        return listener.getsockname()[1]


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(START_SECONDS * 10):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            pass
        try:
            process.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            continue
        raise RuntimeError(f"the app ended with status {process.returncode}:\n{log.read_text(errors='replace')}")
    raise RuntimeError(f"the app did not answer at {url}:\n{log.read_text(errors='replace')}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server and the workers of its process group."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            pass
        return
