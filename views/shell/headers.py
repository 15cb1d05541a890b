"""Headers of every answer: the page may load from this host alone, whatever a text makes of itself."""

import base64
import hashlib
import re
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_INDEX: Final = Path(st.__file__).parent / "static" / "index.html"
_INLINE: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def policy(index: str) -> str:
    """Return the Content-Security-Policy for a page whose inline scripts are those of `index` and no others.

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
            "frame-ancestors 'self'",
        )
    )


class Headers:
    """Adds the headers to what `app` answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = {
            "content-security-policy": policy(_INDEX.read_text(encoding="utf-8")),
            # An address holds a program: no other host gets it.
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
