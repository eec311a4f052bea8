"""`republish ui` as it is begun, and its pages in a browser that another site's page attacks them from."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import httpx
import pytest

from republish.orchestration.contracts.registry import register
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.dagster.webserver import token_of
from tests.browser import CHROMIUM, answering, browser, free_port
from tests.hospital import RELEASES, build, make_by_dagster

pytestmark = pytest.mark.slow("starts a browser")

REPOSITORY = '{repositoryLocationName: "republish", repositoryName: "__repository__", %s}'
LAUNCH = f"""mutation {{ launchRun(executionParams: {{
    selector: {REPOSITORY % 'jobName: "release_hospital"'}, runConfigData: {{}},
    executionMetadata: {{tags: [{{key: "dagster/partition", value: "{RELEASES[1]}"}}]}}}})
    {{ __typename ... on LaunchRunSuccess {{ run {{ runId }} }} }} }}"""
START = f"""mutation {{ startSchedule(scheduleSelector: {
    REPOSITORY % 'scheduleName: "release_hospital_v1_schedule"'
}) {{ __typename }} }}"""
ATTACK = """<!doctype html><title>a page of somebody else</title><body>
<iframe name=hidden></iframe>
<form method=post target=hidden action="{pages}/graphql?query={launch}"></form>
<form method=post target=hidden action="{pages}/graphql" enctype=text/plain>
    <input name='{{"query": {quoted}, "x": "' value='"}}'></form>
<img src="{pages}/graphql?query={start}"><iframe src="{pages}/graphql?query={start}"></iframe>
<script>
const told = {{}}, body = JSON.stringify({{query: {quoted}}}), credentials = "include";
const asking = [
    ["simple", {{method: "POST", mode: "no-cors", credentials, body}}],
    ["json", {{method: "POST", credentials, body, headers: {{"content-type": "application/json"}}}}],
    ["get", {{credentials}}],
];
for (const form of document.forms) form.submit();
Promise.all([
    ...asking.map(([name, how]) => fetch("{pages}/graphql?query={start}", how).then(
        answer => told[name] = answer.type, () => told[name] = "refused")),
    new Promise(done => {{
        const socket = new WebSocket("{socket}/graphql", "graphql-ws");
        socket.onopen = () => done(told.socket = "open");
        socket.onerror = () => done(told.socket = "refused");
    }}),
]).then(() => setTimeout(() => document.body.append("attacked: " + JSON.stringify(told)), 1000));
</script>"""
OWN_SOCKET = """new Promise(done => {
    const socket = new WebSocket(location.origin.replace("http", "ws") + "/graphql", "graphql-ws");
    socket.onopen = () => done("open"); socket.onerror = () => done("refused"); })"""

OWN_LAUNCH = """fetch("/graphql", {
    method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({query: %s})
}).then(answer => answer.json()).then(answer => answer.data.launchRun.run.runId)"""


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """A hospital with one release, and a home that knows its contract."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DAGSTER_HOME", "")
        series = build(folder, 2).series(folder / "home")
        make_by_dagster(series, RELEASES[0])
    register(series.home, series.file)
    return series


@contextmanager
def the_ui(series, *options):
    """`republish ui` of the home of a series: the address without the token."""
    port = free_port()
    words = [
        "-m",
        "republish",
        "ui",
        "--home",
        str(series.home.path),
        "--port",
        str(port),
        *options,
    ]
    with answering(port, [sys.executable, *words], stdout=subprocess.DEVNULL) as started:
        yield f"http://127.0.0.1:{port}"
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == 0


def ask(address, query, token="none"):  # noqa: S107 - no token
    """The answer to a program's GraphQL query."""
    bearer = {"authorization": f"Bearer {token}"}
    return httpx.post(f"{address}/graphql", json={"query": query}, headers=bearer, timeout=60)


def begun(series):
    """How many runs there are, and which schedules and sensors were started."""
    with dagster_instance(series.home) as instance:
        started = [state.name for state in instance.all_instigator_state() if state.is_running]
        return len(instance.get_runs()), [name for name in started if not name.endswith("_watch")]


@contextmanager
def another_site(folder, pages):
    """The port of a server whose page does to the pages what it can."""
    asked = {"pages": pages, "launch": quote(LAUNCH), "start": quote(START), "quoted": json.dumps(LAUNCH)}
    attack = ATTACK.format(**asked, socket=pages.replace("http", "ws"))
    folder.mkdir()
    (folder / "attack.html").write_text(attack)
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.mark.skipif(CHROMIUM is None, reason="no browser here: none of chromium, google-chrome")
def test_the_pages_work_in_a_browser_that_is_attacked_by_another_page(series, tmp_path):
    token, rebound = token_of(series.home), "--host-resolver-rules=MAP evil.example 127.0.0.1"
    with (
        the_ui(series) as address,
        another_site(tmp_path / "site", address) as port,
        browser(tmp_path / "profile", f"{address}/?token={token}", rebound) as page,
    ):
        assert token not in page.run("location.href + document.cookie")
        before = begun(series)
        # Of another site, of this one by another port, and of one whose name leads to this machine.
        for host in ("localhost", "127.0.0.1", "evil.example"):
            page.address = f"http://{host}:{port}"
            told = page.open("attack.html", "attacked:").partition("attacked: ")[2]
            nothing = {"simple": "opaque", "json": "refused", "get": "refused", "socket": "refused"}
            assert json.loads(told) == nothing, host
        page.address = address.replace("127.0.0.1", "evil.example")
        page.open("runs", "Only 127.0.0.1, localhost")
        assert begun(series) == before

        # The same browser, on our own page: what the attack asked for is released.
        page.address = address
        page.open("runs", "Success")
        assert page.run(OWN_SOCKET) == "open"
        page.open(f"runs/{page.run(OWN_LAUNCH % json.dumps(LAUNCH))}", "RUN_SUCCESS")
        number, started = begun(series)
        assert number > before[0]
        assert started == []


def test_a_program_comes_in_with_the_token_and_changes_nothing_where_it_may_only_read(series):
    before, token = begun(series), token_of(series.home)
    with the_ui(series, "--only", "webserver", "--read-only") as address:
        assert ask(address, "{ version }").status_code == 401
        told = ask(address, "{ permissions { permission value } }", token).json()["data"]["permissions"]
        allowed = {one["permission"] for one in told if one["value"]}
        assert not allowed & {"launch_pipeline_execution", "start_schedule", "launch_partition_backfill"}
        for change in (LAUNCH, START):
            assert ask(address, change, token).text == "These pages are read only.\n"
    assert begun(series) == before


def test_the_daemon_ends_with_the_server_and_the_server_with_the_daemon(tmp_path):
    imported = "import sys; from republish.orchestration.dagster.webserver import serve"
    begin = imported + "; serve(None, {port}, {daemon})"
    waits = [
        sys.executable,
        "-c",
        # While a module is imported, an interrupt may be lost: here, each is.
        (
            "import os, signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN);"
            "open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
        ),
    ]
    port, pid = free_port(), tmp_path / "pid"
    words = [sys.executable, "-c", begin.format(port=port, daemon=waits)]
    for end in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with answering(port, words, cwd=tmp_path) as started:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.2", port))
            while not (pid.exists() and pid.read_text()):
                time.sleep(0.1)
            started.send_signal(end)
            assert started.wait(60) == 0
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)
        pid.unlink()
    words[2] = begin.format(port=port, daemon=[sys.executable, "-c", ""])
    ended = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 1
    assert "Dagster's daemon ended" in ended.stderr
