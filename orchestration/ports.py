"""Ports of this machine, on 127.0.0.1."""

from __future__ import annotations

import socket

from republish.anonymize.errors import PortTaken


def refuse_taken(port: int) -> None:
    """Raise PortTaken if a server can't listen on a port of 127.0.0.1."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Dagster's server does
        try:
            server.bind(("127.0.0.1", port))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise PortTaken(
                f"--port: Dagster can't listen on 127.0.0.1:{port}: {reason}. If republish ui is running"
                f" already, open http://127.0.0.1:{port}; else choose another port: republish ui --port"
                f" {port + 1 if port < 65535 else port - 1}"
            ) from None
