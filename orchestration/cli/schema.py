"""`republish schema`."""

from __future__ import annotations

from republish.orchestration.cli.options import Debug


def schema(debug: Debug = False) -> None:
    """Print the JSON schema of contracts, by which editors complete and check them.

    It has every key of a contract, and of each principle, with what the key says. republish init writes it
    beside a contract, whose first line names it to editors that know YAML: yaml-language-server: $schema=….
    """
    from republish.orchestration.cli.terminal import raw
    from republish.orchestration.contracts.json_schema import schema_text

    raw(schema_text())
