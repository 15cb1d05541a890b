"""The address at which a browser asks for news of its class: no script runs for that, so it costs next to nothing."""

from typing import Final

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from relax_core.lessons.classroom import ClassError
from views.classroom.membership import Membership, heard_from
from views.classroom.news.component import Asker, News, news_of
from views.classroom.store import store

PATH: Final = "/class-news"
LONGEST_BODY: Final = 1000
_ENDED: Final = News("", "")


async def answer(request: Request) -> Response:
    """Tell who asks what a page would say now; that browser is there, which the class is told."""
    try:
        asker = msgspec.json.decode(await _body(request), type=Asker)
    except (msgspec.DecodeError, ClientDisconnect):
        return Response(status_code=400)
    return Response(msgspec.json.encode(_news_for(asker)), media_type="application/json")


def _news_for(asker: Asker) -> News:
    own, now = Membership(asker.role, asker.code, asker.token), store().now()
    known = store().find(own.code)
    if known is None or not own.is_in(known):
        return _ENDED
    try:
        changed = store().change(own.code, heard_from(own, asker.lesson, asker.step, now))
    except ClassError:
        return _ENDED
    return news_of(changed, own, now, call=changed.call)


async def _body(request: Request) -> bytes:
    """Return what was sent; of what is too long, as much as shows that it is."""
    found = b""
    async for chunk in request.stream():
        found += chunk
        if len(found) > LONGEST_BODY:
            return b""
    return found


def class_news(base: str) -> Route:
    """Return the route of an app whose pages are below the path `base`."""
    return Route(f"/{base.strip('/')}".rstrip("/") + PATH, answer, methods=["POST"])
