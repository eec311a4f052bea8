"""Dagster's pages of a home, and a browser without a window: what somebody reads and clicks on a page."""

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress

from websockets.sync.client import connect

from republish.orchestration.dagster.webserver import token_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 120
"""Seconds to wait for words on a page, on a machine that is busy."""
WAIT = """new Promise(resolve => {{
    const until = Date.now() + {milliseconds};
    const look = () => {{
        const shown = document.body ? document.body.innerText : "";
        const found = {words}.every(words => shown.includes(words));
        found || Date.now() > until ? resolve([found, shown]) : setTimeout(look, 100);
    }};
    look();
}})"""
CLICK = """(() => {{
    const all = [...document.querySelectorAll("a, button, label, [role=tab], [role=menuitem]")];
    const named = all.filter(each => each.innerText.trim() === {name});
    if (named.length) named[0].click();
    return named.length > 0;
}})()"""


class Page:
    """One page, as a reader sees it."""

    def __init__(self, connected, address):
        self.socket, self.address, self.number = connected, address, 0

    def open(self, path, *words):
        """Go to a page of the server; the words on it, once it has all of those given."""
        self._do("Page.navigate", url=f"{self.address}/{path}")
        return self.read(*words)

    def click(self, name, *words):
        """Click what has just this text; the words on the page, once it has all of those given."""
        if not self._evaluate(CLICK.format(name=json.dumps(name))):
            raise AssertionError(f"nothing to click is called {name}: {self.read()}")
        return self.read(*words)

    def read(self, *words):
        """The words on the page, once it has all of those given."""
        waiting = WAIT.format(milliseconds=1000 * PATIENCE, words=json.dumps(words))
        found, shown = self._evaluate(waiting)
        if not found:
            raise AssertionError(f"not all of {words} are on the page: {shown}")
        return " ".join(shown.split())

    def run(self, script):
        """The value of an expression in JavaScript."""
        return self._evaluate(script)

    def picture(self, width, height):
        """The page as PNG, in a window of so many pixels."""
        self.resize(width, height)
        return base64.b64decode(self._do("Page.captureScreenshot", format="png")["data"])

    def resize(self, width, height):
        """Make the window so many pixels wide and high."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._do("Emulation.setDeviceMetricsOverride", **size)

    def _evaluate(self, expression):
        evaluated = self._do("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return evaluated["result"].get("value")

    def _do(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=2 * PATIENCE))
            if answer.get("id") == self.number:
                return answer["result"]


@contextmanager
def browser(profile, address, *options):
    """A page of a browser of its own that keeps its files in the folder `profile`.

    An address with a token is opened as `republish ui` prints it; after that, the cookie does.
    """
    of_tests = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1200", *options]
    words = [CHROMIUM, *of_tests, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        said = next(line for line in process.stderr if line.startswith("DevTools listening on ws://"))
        host = said.split("/")[2]
        with urllib.request.urlopen(f"http://{host}/json/list") as listed:
            (target,) = [each for each in json.load(listed) if each["type"] == "page"]
        with connect(target["webSocketDebuggerUrl"], max_size=None) as connected:
            page = Page(connected, address.partition("/?")[0])
            if page.address != address:
                page.open(address.removeprefix(f"{page.address}/"), "Deployment")
            yield page
    finally:
        process.terminate()
        process.wait()


SERVER = """
import sys
from pathlib import Path
from republish.orchestration.dagster.webserver import pages, serve
from republish.orchestration.storage.home import Home
home, workspace, port = sys.argv[1:]
with pages(Home.named(Path(home)), Path(workspace)) as app:
    serve(app, int(port))
"""


@contextmanager
def dagster_server(home, workspace, **environment):
    """The address of Dagster's pages of a home, with the token, once they answer."""
    port = free_port()
    named = {"DAGSTER_HOME": str(home.dagster), "REPUBLISH_HOME": str(home.path)}
    with answering(
        port,
        [sys.executable, "-c", SERVER, str(home.path), str(workspace), str(port)],
        env=os.environ | named | environment,
        cwd=home.dagster,
    ):
        yield f"http://127.0.0.1:{port}/?token={token_of(home)}"


def free_port():
    """A port of this machine on which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def answering(port, words, **settings):
    """A server that a command begins, from when it answers on a port until it was ended."""
    started = subprocess.Popen(words, stderr=subprocess.DEVNULL, **settings)
    try:
        until = time.monotonic() + PATIENCE
        while started.poll() is None and not _answers(port):
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.2)
        assert started.poll() is None, "the server ended"
        yield started
    finally:
        started.terminate()
        started.wait()


def _answers(port):
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
