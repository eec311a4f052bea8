"""Messages to the publisher, outside of Dagster: by a webhook, by mail, by both or by neither.

They have the words of checks in them, which name releases, files and counts, and never a person.
"""

from __future__ import annotations

import json
import os
import smtplib
import ssl
import urllib.request
from email.message import EmailMessage
from logging import Logger
from urllib.parse import parse_qs, unquote, urlsplit

WEBHOOK = "REPUBLISH_WEBHOOK"
"""The variable with an address that JSON is posted to: `series`, `ok`, and `text`, as chats understand it."""
MAIL = "REPUBLISH_MAIL"
"""The variable with a mail server and addresses: smtp://user:password@host:587?from=a@x.org&to=b@x.org."""
PATIENCE = 20
"""Seconds that a server may take."""


def tell(series: str, wrong: str, log: Logger) -> bool:
    """Say what is wrong with a series, or that nothing is any more; whether everybody was told.

    Parameters
    ----------
    series
        Product and series.
    wrong
        The words of the checks that fail; empty if none does.
    log
        Told why a message could not be sent. Addresses may have passwords in them, and are not logged.
    """
    subject = f"republish: {series} {'needs you' if wrong else 'is well again'}"
    ways = {WEBHOOK: _post, MAIL: _mail}
    told = True
    for name, send in ways.items():
        if address := os.environ.get(name):
            try:
                send(address, subject, series, wrong)
            except (OSError, ValueError, KeyError, smtplib.SMTPException) as error:
                log.warning(f"{name}: nobody was told: {type(error).__name__}. It is tried again")
                told = False
    return told


def _post(address: str, subject: str, series: str, wrong: str) -> None:
    if urlsplit(address).scheme not in {"http", "https"}:
        raise ValueError
    content = {"series": series, "ok": not wrong, "text": f"{subject}. {wrong}".strip()}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address, json.dumps(content).encode(), headers)  # noqa: S310 - looked at above
    urllib.request.urlopen(request, timeout=PATIENCE).close()  # noqa: S310


def _mail(address: str, subject: str, _: str, wrong: str) -> None:
    """With TLS from the first byte on (smtps); or where the server offers it, and always with a password."""
    server, message = urlsplit(address), EmailMessage()
    asked = parse_qs(server.query)
    message["From"], message["To"], message["Subject"] = asked["from"][0], ", ".join(asked["to"]), subject
    message.set_content(f"{wrong or 'Every check on its releases passes.'}\n")
    host, trusted = server.hostname or "", ssl.create_default_context()
    with (
        smtplib.SMTP_SSL(host, server.port or 465, timeout=PATIENCE, context=trusted)
        if server.scheme == "smtps"
        else smtplib.SMTP(host, server.port or 25, timeout=PATIENCE)
    ) as connection:
        connection.ehlo()
        if server.scheme != "smtps" and (server.username or connection.has_extn("starttls")):
            connection.starttls(context=trusted)
        if server.username:
            connection.login(unquote(server.username), unquote(server.password or ""))
        connection.send_message(message)
