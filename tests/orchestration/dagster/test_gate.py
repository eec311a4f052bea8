"""What the gate in front of Dagster's server lets in: each rule alone, asked without a server."""

import stat
from urllib.parse import quote

import anyio
import pytest
from dagster_webserver.webserver import DagsterWebserver
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from republish.anonymize.errors import HomeError
from republish.orchestration.dagster.gate import Gate
from republish.orchestration.dagster.webserver import TOKEN, token_of
from republish.orchestration.storage.home import Home

SECRET = "0123456789abcdef" * 4
HERE = "http://127.0.0.1:3000"
SOCKET = "ws://127.0.0.1:3000/graphql"
PROXY = "https://dagster.example.org"
QUERY = {"query": "{ version }"}
MUTATION = {"query": "mutation { launchRun { __typename } }"}


async def page(request):
    body = (await request.body()).decode()
    return JSONResponse({"path": request.url.path, "query": request.url.query, "body": body})


async def talk(websocket):
    await websocket.accept()
    await websocket.send_text(await websocket.receive_text())
    await websocket.close()


def behind(**settings):
    """An app that answers everything, as Dagster's does, behind a gate."""
    routes = [
        WebSocketRoute("/graphql", talk),
        Route("/{path:path}", page, methods=["GET", "POST", "PUT", "DELETE", "OPTIONS"]),
    ]
    gate = Gate(Starlette(routes=routes), SECRET, "in a file", frozenset([PROXY]), **settings)
    return TestClient(gate, base_url=HERE, follow_redirects=False)


def let_in(**settings):
    """A browser that has the cookie."""
    browser = behind(**settings)
    assert browser.get("/", params={"token": SECRET}).status_code == 303
    return browser


@pytest.fixture(scope="module")
def browser():
    return let_in()


# ---- what our own page asks


def test_a_browser_is_let_in_once_it_has_shown_the_token():
    browser = behind()
    assert browser.get("/runs").status_code == 401
    shown = browser.get("/runs", params={"tab": "a b", "token": SECRET})
    assert (shown.status_code, shown.headers["location"]) == (303, "/runs?tab=a+b")
    assert browser.get("/runs").json()["path"] == "/runs"
    assert browser.post("/graphql", json=QUERY).status_code == 200


def test_the_token_leads_to_this_host_alone():
    shown = behind().get(f"{HERE}//evil.example/a%20b", params={"token": SECRET})
    assert shown.headers["location"] == "/evil.example/a%20b"


def test_the_cookie_is_for_our_own_pages_alone():
    cookie = behind().get("/", params={"token": SECRET}).headers["set-cookie"]
    assert {part.strip() for part in cookie.split(";")[1:]} == {"Path=/", "HttpOnly", "SameSite=Strict"}
    from_afar = behind().get("/", params={"token": SECRET}, headers={"host": "dagster.example.org"})
    assert from_afar.headers["set-cookie"].endswith("; Secure")


def test_cookies_of_other_programs_of_this_machine_do_no_harm(browser):
    (name, ours) = next(iter(browser.cookies.items()))
    cookies = f'theirs={{"a": 1}}, [];;=; {name}=old; {name}={ours}; last'
    assert behind().get("/runs", headers={"cookie": cookies}).status_code == 200


@pytest.mark.parametrize("name", ["127.0.0.1:3000", "127.0.0.1", "localhost:8080", "LOCALHOST", "[::1]:3000"])
def test_this_machine_is_answered_under_each_of_its_names(browser, name):
    asked = {"host": name, "origin": f"http://{name.lower()}", "sec-fetch-site": "same-origin"}
    bearer = {"authorization": f"Bearer {SECRET}"}
    assert browser.post("/graphql", json=QUERY, headers=asked | bearer).status_code == 200


def test_a_proxy_is_answered_under_its_address(browser):
    asked = {"host": "dagster.example.org", "authorization": f"bearer {SECRET}"}
    assert browser.post("/graphql", json=QUERY, headers=asked | {"origin": PROXY}).status_code == 200
    plain = browser.post("/graphql", json=QUERY, headers=asked | {"origin": "http://dagster.example.org"})
    assert plain.status_code == 403


def test_a_websocket_is_opened_for_our_own_page(browser):
    with browser.websocket_connect(SOCKET, headers={"origin": HERE}) as talking:
        talking.send_text("hello")
        assert talking.receive_text() == "hello"


# ---- what strangers ask, each with all that our own page has but for one thing


@pytest.mark.parametrize("token", ["", "0" * 64, SECRET[:-1], SECRET + "0", "ü"])
def test_nobody_comes_in_without_the_token(token):
    stranger = behind()
    assert stranger.get("/", params={"token": token}).status_code == 401
    assert stranger.post("/graphql", json=QUERY, params={"token": SECRET}).status_code == 401
    bearer = {"authorization": f"Bearer {token}".encode()}
    assert stranger.post("/graphql", json=QUERY, headers=bearer).status_code == 401
    with pytest.raises(WebSocketDisconnect), stranger.websocket_connect(SOCKET, headers={"origin": HERE}):
        pass
    assert SECRET not in stranger.get("/").text


@pytest.mark.parametrize(
    "name",
    [
        *("evil.example", "evil.example:3000", "127.0.0.1.evil.example", "evil.example@127.0.0.1", ""),
        *("127.0.0.1:3000, evil.example", "127.1", "127.0.0.1:", "localhost.", "dagster.example.org:444"),
    ],
)
def test_another_host_is_not_answered(browser, name):
    """As of a page whose name leads to this machine: its browser takes it for our own page."""
    asked = {"host": name, "origin": f"http://{name}", "authorization": f"Bearer {SECRET}"}
    assert browser.get("/runs", headers=asked).status_code == 403
    assert (
        browser.get("/runs", headers={name: asked[name] for name in ("host", "authorization")}).status_code
        == 403
    )
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect(SOCKET, headers=asked):
        pass


def test_two_hosts_are_none(browser):
    twice = [("host", "127.0.0.1:3000"), ("host", "evil.example"), ("authorization", f"Bearer {SECRET}")]
    assert browser.get("/runs", headers=twice).status_code == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "https://127.0.0.1:3000",
        "http://127.0.0.1:8888",
        "http://localhost:3000",
    ],
)
def test_a_page_of_another_origin_gets_nothing(browser, origin):
    assert browser.post("/graphql", json=QUERY, headers={"origin": origin}).status_code == 403
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect(SOCKET, headers={"origin": origin}):
        pass


@pytest.mark.parametrize("site", ["cross-site", "same-site", "what comes next", ""])
def test_what_the_browser_calls_another_site_gets_nothing(browser, site):
    asked = {"sec-fetch-site": site}
    assert browser.post("/graphql", json=QUERY, headers=asked).status_code == 403
    assert browser.get("/runs", params={"token": SECRET}, headers=asked).status_code == 403
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect(SOCKET, headers=asked):
        pass


@pytest.mark.parametrize("path", ["/graphql", "/graphql/", "/graph%71l", f"/graphql?token={SECRET}"])
def test_graphql_is_not_asked_by_a_link(browser, path):
    for method in ("GET", "HEAD"):
        assert browser.request(method, path, params=MUTATION if "?" not in path else None).status_code == 405


@pytest.mark.parametrize(
    "kind",
    [
        *(
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "text/plain",
            "application/graphql",
            "",
        ),
        *("text/plain; application/json", "application/jsonp"),
    ],
)
def test_graphql_is_not_asked_by_a_form(browser, kind):
    asked = browser.post("/graphql", params=MUTATION, content=b"{}", headers={"content-type": kind})
    assert asked.status_code == 415


def test_graphql_is_not_asked_by_a_form_without_a_kind(browser):
    assert browser.post("/graphql", params=MUTATION).status_code == 415


def test_the_kind_of_a_request_may_name_its_characters(browser):
    kind = {"content-type": "Application/JSON; charset=utf-8"}
    assert browser.post("/graphql", content=b"{}", headers=kind).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_but_graphql_changes_anything(browser, method):
    path = "/report_asset_materialization/hospital/publication"
    assert browser.request(method, path, json={}).status_code == 405


# ---- the paths that the gate reads, and those that Dagster's server reads


def asked(app, path, method="GET", query=b""):
    """The status of an answer to a path that is passed on as it is."""
    sent = []
    headers = [(b"host", b"127.0.0.1:3000"), (b"authorization", f"Bearer {SECRET}".encode())]
    headers.append((b"content-type", b"application/json"))
    scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": headers}

    async def receive():
        return {"type": "http.request", "body": b'{"query": "{ version }"}'}

    async def send(message):
        sent.append(message)

    anyio.run(app, scope, receive, send)
    return sent[0]["status"]


class Reached:
    """Dagster's own routes behind a gate, with pages that note which of them was asked."""

    def __init__(self, **settings):
        self.route = None
        routes = [self.noting(route) for route in DagsterWebserver(None, "").build_routes()]
        self.gate = Gate(Starlette(routes=routes), SECRET, "in a file", **settings)

    def noting(self, route):
        async def noted(_request):
            self.route = route.path
            return JSONResponse({})

        return Route(route.path, noted, methods=route.methods) if isinstance(route, Route) else route

    def by(self, path, method, query=b""):
        self.route = None
        return asked(self.gate, path, method, query), self.route


SIGNS = [*"/.;?#% \\\n\r\t\0\x0b\x0c\x1c\x7f\x85\xa0\u2028\u202e\ufeffé", "//", "/./", "/../", "%0a", "%2f"]
PATHS = st.lists(
    st.sampled_from(["/", "graphql", "Graphql", "/graphql", "report_asset_check", "a", *SIGNS]), max_size=6
)


@given(PATHS.map("".join), st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "post", "get", "QUERY"]))
@example("/graphql\n", "GET")
@example("/graphql\n", "HEAD")
def test_gate_and_server_read_the_same_paths(path, method):
    """What changes something is reached by POST alone, and only at the path that the gate takes for it."""
    status, route = REACHED.by(path, method)
    if route is None:
        assert status != 200
    elif method == "POST":
        assert (path, route) == ("/graphql", "/graphql")
    else:
        assert method in ("GET", "HEAD")
        assert route != "/graphql"
        assert not route.startswith("/report_")


REACHED = Reached()


@pytest.mark.parametrize("sign", [sign for sign in SIGNS if not sign.isprintable()])
@pytest.mark.parametrize("path", ["/graphql{}", "/{}graphql", "/runs{}", "/assets/a{}b"])
def test_an_address_with_a_control_character_is_refused(browser, path, sign):
    shown = browser.get(quote(path.format(sign)), params={"token": SECRET})
    assert (shown.status_code, shown.text) == (400, "No address here has control characters in it.\n")


@pytest.mark.parametrize("path", ["/assets/warehouse/50% é", "/assets/a.b;c/d:e", "/runs/0-1_2~3", "/"])
def test_pages_of_any_printable_name_are_shown(browser, path):
    assert browser.get(quote(path)).json()["path"] == path


# ---- read only


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ["/graphql", "/runs", "/"])
def test_what_changes_something_is_refused_by_every_method_where_pages_are_read_only(path, method):
    reader = let_in(read_only=True)
    assert reader.request(method, path, params=MUTATION).status_code in (403, 405)
    for plain in ({"query": "hospital"}, {"q": "mutation"}):
        assert reader.request(method, "/runs", params=plain).status_code == 200


@pytest.mark.parametrize(
    "message",
    [
        '{"type": "start", "payload": {"query": "subscription {a} mutation {b}"}}',
        r'{"type": "start", "payload": {"query": "\u006dutation {b}"}}',
        '{"type": "start", "payload": {"query": ["mutation {b}"]}}',
    ],
)
def test_a_websocket_ends_with_what_changes_something_where_pages_are_read_only(message):
    plain = '{"type": "start", "payload": {"query": "subscription {a}"}}'
    with let_in(read_only=True).websocket_connect(SOCKET, headers={"origin": HERE}) as talking:
        talking.send_text(plain)
        assert talking.receive_text() == plain
        talking.send_text(message)
        with pytest.raises(WebSocketDisconnect):
            talking.receive_text()


@pytest.mark.parametrize("path", ["/", "/graphql/", "/graphql%0a", "/runs"])
def test_a_websocket_is_opened_at_graphql_alone(browser, path):
    with (
        pytest.raises(WebSocketDisconnect),
        browser.websocket_connect(SOCKET.replace("/graphql", path), headers={"origin": HERE}),
    ):
        pass


def test_nothing_can_be_changed_from_pages_that_are_read_only():
    reader = let_in(read_only=True)
    assert reader.post("/graphql", json=QUERY).json()["body"] == '{"query":"{ version }"}'
    assert reader.get("/runs").status_code == 200
    for query in (
        MUTATION["query"],
        "query A { version } mutation B { launchRun { __typename } }",
        "#\nmutation{launchRun{__typename}}",
        "fragment F on X{a}mutation,B{b}",
    ):
        assert reader.post("/graphql", json={"query": query}).status_code == 403, query
    utf16 = {
        "content": '{"query": "mutation { a }"}'.encode("utf-16"),
        "headers": {"content-type": "application/json"},
    }
    assert reader.post("/graphql", **utf16).status_code == 403
    escaped = r'{"query": "\u006dutation { a }"}'
    twice = '{"query": "{ version }", "query": "mutation { a }"}'
    for content in (escaped, twice):
        asked = reader.post("/graphql", content=content, headers={"content-type": "application/json"})
        assert asked.status_code == 403, content


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'[{"query": "mutation { a }"}]', b"\xff", b'{"query": ["mutation"]}']
)
def test_what_is_no_query_is_refused_where_nothing_may_be_changed(content):
    asked = let_in(read_only=True).post(
        "/graphql", content=content, headers={"content-type": "application/json"}
    )
    assert asked.status_code == 400


# ---- the token


def test_the_token_is_for_its_owner_alone_and_stays(tmp_path):
    home = Home.at(tmp_path / "home")
    token = token_of(home)
    assert token_of(home) == token
    assert len(token) == 64
    assert stat.S_IMODE((home.dagster / TOKEN).stat().st_mode) == 0o600
    (home.dagster / TOKEN).unlink()
    assert token_of(home) != token


@pytest.mark.parametrize("content", ["", "\n", "short", "a b" * 32])
def test_a_file_without_a_token_lets_nobody_in(tmp_path, content):
    home = Home.at(tmp_path / "home")
    home.dagster.mkdir()
    (home.dagster / TOKEN).write_text(content)
    with pytest.raises(HomeError, match="is no token"):
        token_of(home)
