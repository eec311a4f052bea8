"""A server that knows of Google's store what obstore asks it, by the documentation of its XML API.

The stand-ins that others wrote (fake-gcs-server, gcp-storage-emulator) do not know how obstore puts objects.
"""

import json
import threading
from contextlib import contextmanager
from email.utils import formatdate
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

LISTED = (
    "<Contents><Key>{}</Key><Size>{}</Size><ETag>{}</ETag>"
    "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
)


class OneBucket(BaseHTTPRequestHandler):
    """Objects by their names, in memory."""

    protocol_version = "HTTP/1.1"
    there: dict[str, bytes] = {}  # noqa: RUF012 - of a class that is made for each server

    def do_PUT(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        with self.one_at_a_time:
            if self.headers["x-goog-if-generation-match"] == "0" and self.name in self.there:
                return self._answer(412)
            self.there[self.name] = content
        return self._answer(200, tag=_tag(content))

    def do_GET(self):
        if not self.name:
            begins = parse_qs(urlsplit(self.path).query).get("prefix", [""])[0]
            named = sorted((name, content) for name, content in self.there.items() if name.startswith(begins))
            found = "".join(LISTED.format(escape(name), len(it), _tag(it)) for name, it in named)
            return self._answer(200, f"<ListBucketResult>{found}</ListBucketResult>".encode())
        if (content := self.there.get(self.name)) is None:
            return self._answer(404)
        return self._answer(200, content, _tag(content))

    do_HEAD = do_GET

    def do_DELETE(self):
        self._answer(404 if self.there.pop(self.name, None) is None else 204)

    @property
    def name(self):
        """Of the object that is asked for; empty if the bucket is."""
        return unquote(urlsplit(self.path).path).partition("/")[2].partition("/")[2]

    def _answer(self, status, content=b"", tag='"none"'):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", tag)
        self.send_header("Last-Modified", formatdate(0, usegmt=True))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


def _tag(content):
    return f'"{md5(content, usedforsecurity=False).hexdigest()}"'


@contextmanager
def google(file):
    """Such a server while it runs, and a file for GOOGLE_SERVICE_ACCOUNT by which obstore finds it."""
    bucket = type("ItsBucket", (OneBucket,), {"there": {}, "one_at_a_time": threading.Lock()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), bucket)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    account = {"gcs_base_url": f"http://127.0.0.1:{server.server_port}", "disable_oauth": True}
    file.write_text(
        json.dumps(account | dict.fromkeys(("client_email", "private_key", "private_key_id"), ""))
    )
    try:
        yield
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
