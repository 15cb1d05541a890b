"""The command `serve`: answers scripts over HTTP."""

import argparse
import socket
from typing import Final

import uvicorn

from relax_core.cli.integration.serving.application import application
from relax_core.cli.integration.serving.arguments import requests_of
from relax_core.cli.integration.serving.processes import Processes
from relax_core.cli.terminal import UsageError, say
from relax_core.cli.two_workers import processor_count

_PORTS: Final = 1 << 16
_CONNECTIONS: Final = 256


def serve(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Serve until an interrupt; the commands of `parser` are the requests."""
    if not 0 <= options.port < _PORTS:
        raise UsageError(f"--port takes a number from 0 to {_PORTS - 1:,}, got {options.port}")
    if min(options.processes, options.waiting) < 0 or not options.seconds > 0:
        raise UsageError("--processes, --waiting and --seconds take positive numbers")
    count = options.processes or processor_count()
    with _listening(options.host, options.port) as listener:
        host, port = listener.getsockname()[:2]
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        say(f"The commands, described at http://{place}/openapi.json; Ctrl-C ends")
        processes = Processes(count, options.waiting, options.seconds)
        app = application(requests_of(parser), processes, (host, options.host, *options.allow_host))
        settings = uvicorn.Config(
            app,
            log_level="warning",
            server_header=False,
            lifespan="on",
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=1,
            ws="none",
        )
        uvicorn.Server(settings).run(sockets=[listener])
    return 0


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        UsageError: there is no such address, or something listens there.
    """
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=kind)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"cannot listen at {host}, port {port}: {error}") from None
