"""What stands in front of Dagster's server: it lets in a home's owner, and no page of another site.

Dagster's server has no login. It answers under any name and to every page, and takes a form for a query: any
page that a publisher's browser opens could publish a release. What is refused here never reaches Dagster.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

GRAPHQL = "/graphql"
TOKEN = "token"  # noqa: S105 - the name of a parameter
_THIS_MACHINE = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?")
_CHANGES = re.compile(r"\bmutation\b")
"""The word that begins what changes something. GraphQL has no other way to write it."""
_OURS = frozenset({"same-origin", "none"})
"""What browsers say of a request by a page of the same origin, or by somebody who typed the address."""


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    reason: str


_READ_ONLY = Refusal(403, "These pages are read only")


@dataclass(frozen=True)
class Gate:
    """An ASGI app that passes on to another one what the browser of the token's owner asks."""

    app: App
    token: str = field(repr=False)
    """It is asked for once, as `?token=…`, and is a cookie from then on. Programs send it as a bearer."""
    token_is: str
    """Where the token is found, in a publisher's words."""
    addresses: frozenset[str] = frozenset()
    """Origins (`https://dagster.example.org`) under which a proxy shows the pages."""
    read_only: bool = False
    """Refuse whatever changes something."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer, or let the app answer."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        asked = _Asked(scope)
        refusal = self._of_strangers(asked) or _of_paths(asked) or _of_other_forms(asked)
        if refusal is None and asked.method == "GET" and self._is_ours(asked.tokens):
            await _answer(send, 303, headers=self._let_in(asked))
            return
        if refusal is None and not self._is_ours([*asked.bearers, *asked.cookies(self._cookie)]):
            refusal = Refusal(401, f"Add ?{TOKEN}=… to the address. The token is {self.token_is}")
        if refusal is None and self.read_only:
            refusal, receive = await _of_changes(asked, receive)
        if refusal is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.reason})
        else:
            await _answer(send, refusal.status, f"{refusal.reason}.\n")

    def _of_strangers(self, asked: _Asked) -> Refusal | None:
        """The refusal of a page of another site, also of one that has this machine's address as its own."""
        host = asked.header("host").lower()
        origin = f"{'http' if _THIS_MACHINE.fullmatch(host) else 'https'}://{host}"
        if origin.startswith("https:") and origin not in self.addresses:
            return Refusal(403, "Only 127.0.0.1, localhost and what --address names are answered")
        if asked.header("origin", origin) != origin:
            return Refusal(403, "A page of another site asks for this")
        if asked.header("sec-fetch-site", "none") not in _OURS:
            return Refusal(403, "A page of another site asks for this. Type the address, or paste it")
        return None

    def _is_ours(self, tokens: Iterable[str]) -> bool:
        return any(secrets.compare_digest(token.encode(), self.token.encode()) for token in tokens)

    @property
    def _cookie(self) -> str:
        """Its name, another one for each home: to a browser, all ports of 127.0.0.1 are one place."""
        return f"republish-{hashlib.sha256(self.token.encode()).hexdigest()[:8]}"

    def _let_in(self, asked: _Asked) -> dict[str, str]:
        """To the same address without the token, which stays in no history, with the cookie instead."""
        secure = "" if _THIS_MACHINE.fullmatch(asked.header("host").lower()) else "; Secure"
        return {
            "location": asked.without_token,
            "set-cookie": f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict{secure}",
            "referrer-policy": "no-referrer",
        }


class _Asked:
    """A request for a page, or for a websocket."""

    def __init__(self, scope: Message) -> None:
        self.method: str = "" if scope["type"] == "websocket" else scope["method"]
        """Empty if it asks for a websocket."""
        self.path: str = scope["path"]
        self._query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        self._headers = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in scope["headers"]]

    def _all(self, name: str) -> list[str]:
        return [text for named, text in self._headers if named == name]

    def header(self, name: str, default: str = "") -> str:
        """What a header says. One that is there twice says both, which is nothing that is accepted."""
        return ", ".join(self._all(name) or [default])

    def named(self, name: str) -> list[str]:
        """What the address says under a name."""
        return [text for named, text in self._query if named == name]

    @property
    def tokens(self) -> list[str]:
        return self.named(TOKEN)

    @property
    def is_graphql(self) -> bool:
        return self.path.rstrip("/") == GRAPHQL

    @property
    def bearers(self) -> list[str]:
        return [text[7:] for text in self._all("authorization") if text[:7].lower() == "bearer "]

    def cookies(self, name: str) -> list[str]:
        """Those of a name. Other programs of this machine may have set some that no standard knows."""
        cookies = (one.strip().partition("=") for text in self._all("cookie") for one in text.split(";"))
        return [text for named, _, text in cookies if named == name]

    @property
    def without_token(self) -> str:
        """The address. It begins with one slash: two would begin another host's."""
        query = urlencode([(name, text) for name, text in self._query if name != TOKEN])
        return f"/{quote(self.path.lstrip('/'))}{'?' if query else ''}{query}"


def _of_paths(asked: _Asked) -> Refusal | None:
    """The refusal of a path that Dagster's server may read otherwise than it is read here.

    The server's patterns end with `$`, which a line end may follow. No page has such a sign in its address.
    """
    if asked.path.startswith("/") and asked.path.isprintable():
        return None
    return Refusal(400, "No address here has control characters in it")


def _of_other_forms(asked: _Asked) -> Refusal | None:
    """The refusal of what Dagster's own pages never ask, and links, pictures and forms of others could."""
    if asked.method not in ({"POST", ""} if asked.is_graphql else {"GET", "HEAD"}):
        return Refusal(405, "GraphQL is asked by POST, and everything else by GET")
    kind = asked.header("content-type").partition(";")[0].strip().lower()
    if asked.method == "POST" and kind != "application/json":
        return Refusal(415, "GraphQL is asked as application/json")
    return None


async def _of_changes(asked: _Asked, receive: Receive) -> tuple[Refusal | None, Receive]:
    """The refusal of what may change something, or nobody understands, whatever way it is asked.

    Second comes what gives the app the content that was read for it.
    """
    queries: list[Any] = asked.named("query")
    if asked.method == "POST":
        content = await _content(receive)
        queries, receive = [*queries, _read(content, "query")], _again(content, receive)
    elif not asked.method:
        receive = _without_changes(receive)
    if any(not isinstance(query, str) for query in queries):
        return Refusal(400, "This is no GraphQL query"), receive
    return (_READ_ONLY if any(map(_CHANGES.search, queries)) else None), receive


def _without_changes(receive: Receive) -> Receive:
    """What gives the messages of a websocket, up to the first one that may change something.

    Of messages that begin no query, and those that nobody understands, Dagster makes nothing.
    """

    async def without() -> Message:
        message = await receive()
        if message["type"] == "websocket.receive":
            query = _read(message.get("text") or message.get("bytes") or b"", "payload", "query")
            if query is not None and (not isinstance(query, str) or _CHANGES.search(query)):
                return {"type": "websocket.disconnect", "code": 1008}
        return message

    return without


def _read(content: bytes | str, *names: str) -> Any:
    """What JSON says under some names, one within another; None if it says nothing there, or is none."""
    try:
        found = json.loads(content)
        for name in names:
            found = found[name]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return found


async def _content(receive: Receive) -> bytes:
    content, more = b"", True
    while more:
        part = await receive()
        content, more = content + part.get("body", b""), part.get("more_body", False)
    return content


def _again(content: bytes, receive: Receive) -> Receive:
    """What gives a request's content, which was read, once more."""
    parts: list[Message] = [{"type": "http.request", "body": content}]

    async def again() -> Message:
        return parts.pop() if parts else await receive()

    return again


async def _answer(send: Send, status: int, text: str = "", headers: dict[str, str] | None = None) -> None:
    named = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store"} | (headers or {})
    told = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": text.encode()})
