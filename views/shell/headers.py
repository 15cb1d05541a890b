"""Headers of every answer: the page may load from this host alone, whatever a text makes of itself.

Pages of other hosts may show the page of a frame, `embed`, if the server's operator names them, and no other one.
"""

import base64
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY: Final = "content-security-policy"
_INDEX: Final = Path(st.__file__).parent / "static" / "index.html"
VARIABLE: Final = "RELAXSCOPE_EMBED"
"""Environment variable with the origins whose pages may show views of this server in frames, or `*` for all."""
FRAMED: Final = "embed"
"""The last part of the path of the page that they may show."""
_ORIGIN: Final = re.compile(r"\*|file:|https?://(\*\.)?[A-Za-z0-9.-]+(:([0-9]{1,5}|\*))?")
_INLINE: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def embedding_origins(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the origins whose pages may show views of this server in frames.

    Raises:
        ValueError: one is written in another way.
    """
    named = tuple(environment.get(VARIABLE, "").split())
    for origin in named:
        if not _ORIGIN.fullmatch(origin):
            example = "https://slides.example:8443"
            raise ValueError(f"{VARIABLE} names `{origin}`; expected origins such as `{example}`, `file:`, or `*`")
    return named


def policy(index: str, ancestors: tuple[str, ...] = ()) -> str:
    """Return the Content-Security-Policy for a page whose inline scripts are those of `index` and no others.

    Pages of this host may show it in a frame, and those of `ancestors`.

    Components are loaded from blobs, and styles are made while the page runs; both come from code of this host.
    """
    scripts = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in _INLINE.findall(index))
    hashes = "".join(f" 'sha256-{digest}'" for digest in scripts)
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' blob:{hashes}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "frame-src 'none'",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            " ".join(("frame-ancestors 'self'", *ancestors)),
        )
    )


class Headers:
    """Adds the headers to what `app` answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        index = _INDEX.read_text(encoding="utf-8")
        self._framed = {_POLICY: policy(index, embedding_origins())}
        self._headers = {
            _POLICY: policy(index),
            # An address holds a program: no other host gets it.
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        is_framed = str(scope.get("path", "")).rstrip("/").rpartition("/")[2] == FRAMED

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers | self._framed if is_framed else self._headers)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
