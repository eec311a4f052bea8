"""What hundreds of tests would do anew, and is done once for all of them; imported where it is to hold."""

import functools

import pytest
import typer.main
import typer.testing
from alembic.script import ScriptDirectory
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
from sqlalchemy.pool import NullPool

from republish.orchestration.expectations.judge import Judge
from tests.plain_judge import passed


@pytest.fixture(scope="session", autouse=True)
def dagster_repeats_nothing():
    """What Dagster makes anew for each statement or each table is made once.

    For every statement it makes an engine, which compiles its SQL again; for every file of tables it imports
    all of its migrations, to find the last one.
    """
    engine = functools.cache(
        lambda address, waits: made(address, poolclass=NullPool, connect_args=dict(waits))
    )

    def create_engine(address, poolclass, connect_args=()):
        assert poolclass is NullPool
        return engine(address, tuple(dict(connect_args).items()))

    made, read = sqlite_run_storage.create_engine, ScriptDirectory.from_config
    directories = {}

    def from_config(config):
        location = config.get_main_option("script_location")
        if location not in directories:
            directories[location] = read(config)
        return directories[location]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptDirectory, "from_config", from_config)
        for module in (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage):
            patch.setattr(module, "create_engine", create_engine)
        yield


@pytest.fixture(scope="session", autouse=True)
def commands_are_built_once():
    """Typer builds all commands from their functions' hints anew whenever one of them is run."""
    once = functools.cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", once)
        patch.setattr(typer.testing, "_get_command", once)
        yield


@pytest.fixture(scope="session", autouse=True)
def what_is_met_is_seen_without_asking():
    """Great Expectations is asked only about evidence that does not meet all that is expected of it."""
    ask = Judge.ask

    @functools.wraps(ask)
    def asks(judge, evidence, parameters):
        verdicts = {name: passed(name, table, parameters) for name, table in evidence.items()}
        if others := {name: evidence[name] for name, verdict in verdicts.items() if verdict is None}:
            verdicts |= zip(others, ask(judge, others, parameters), strict=True)
        return list(verdicts.values())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Judge, "ask", asks)
        yield
