"""Whoever is to be told is told once: by a webhook, by mail, and again if nobody was."""

import json
import socketserver
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import dagster as dg
import pytest

from republish.orchestration.dagster import watch
from republish.orchestration.dagster.names import job_name
from tests.hospital import definitions


@contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def webhook(posted, status=200):
    class Chat(BaseHTTPRequestHandler):
        def do_POST(self):
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    with serving(HTTPServer(("127.0.0.1", 0), Chat)) as port:
        yield f"http://127.0.0.1:{port}/hook"


class Mailbox(socketserver.StreamRequestHandler):
    """A mail server that takes everything, and keeps it."""

    kept: list[str] = []  # noqa: RUF012 - of a class that is made for each test

    def handle(self):
        self.wfile.write(b"220 here\r\n")
        for line in self.rfile:
            word = line.strip().upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = iter(lambda: self.rfile.readline().decode().rstrip(), ".")
                self.kept.append("\n".join(lines))
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 yes\r\n")
            if word == b"QUIT":
                return


@pytest.fixture
def look(series, monkeypatch):
    """The sensor, once: what checks are to find, and what it remembers."""
    sensor = definitions(series).get_repository_def().get_sensor_def(f"{job_name('hospital')}_watch")

    def evaluated(wrong, cursor):
        checks = {"freshness": (lambda *_: (not wrong, wrong or "All is well."), "")}
        monkeypatch.setattr(watch, "CHECKS", checks)
        with dg.DagsterInstance.ephemeral() as instance:
            tick = sensor.evaluate_tick(dg.build_sensor_context(instance, cursor=cursor))
        return tick.cursor or cursor

    return evaluated


def test_a_webhook_is_told_of_what_is_wrong_once_and_when_it_is_well_again(look, monkeypatch):
    posted = []
    with webhook(posted) as address:
        monkeypatch.setenv("REPUBLISH_WEBHOOK", address)
        cursor = None
        for wrong in ("", "It is late.", "It is late.", "", ""):
            cursor = look(wrong, cursor)
    assert [(one["series"], one["ok"]) for one in posted] == [("hospital/v1", False), ("hospital/v1", True)]
    assert posted[0]["text"] == "republish: hospital/v1 needs you. It is late."


@pytest.mark.slow("takes more than a second")
def test_what_was_not_told_is_told_again(look, monkeypatch):
    posted = []
    with webhook(posted, status=500) as address:
        monkeypatch.setenv("REPUBLISH_WEBHOOK", address)
        cursor = look("It is late.", None)
    monkeypatch.setenv("REPUBLISH_WEBHOOK", "file:///etc/passwd")
    cursor = look("It is late.", cursor)
    with webhook(posted) as address:
        monkeypatch.setenv("REPUBLISH_WEBHOOK", address)
        look("It is late.", look("It is late.", cursor))
    assert len(posted) == 2


def test_a_mail_is_sent_to_everybody(look, monkeypatch):
    box = type("Box", (Mailbox,), {"kept": []})
    with serving(socketserver.TCPServer(("127.0.0.1", 0), box)) as port:
        address = f"smtp://127.0.0.1:{port}?from=dagster@x.org&to=a@x.org&to=b@x.org"
        monkeypatch.setenv("REPUBLISH_MAIL", address)
        look("2024-07-01 is late.", None)
    (mail,) = box.kept
    assert "To: a@x.org, b@x.org" in mail
    assert "Subject: republish: hospital/v1 needs you" in mail
    assert "2024-07-01 is late." in mail


def test_a_password_is_never_sent_without_encryption(look, monkeypatch):
    box = type("Box", (Mailbox,), {"kept": []})
    with serving(socketserver.TCPServer(("127.0.0.1", 0), box)) as port:
        address = f"smtp://me:secret@127.0.0.1:{port}?from=dagster@x.org&to=a@x.org"
        monkeypatch.setenv("REPUBLISH_MAIL", address)
        assert look("It is late.", None) == "It is late.\n"
    assert box.kept == []
