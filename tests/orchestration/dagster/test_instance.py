"""How Dagster's tables are written to while a release is made."""

import sqlite3

import sqlalchemy as sa

from republish.orchestration.dagster.instance import few_disk_waits

NORMAL, FULL = 1, 2


def write(file, number):
    """Write as Dagster does: a connection for each event, which is closed after it."""
    engine = sa.create_engine(f"sqlite:///{file}", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.execute(sa.text("PRAGMA journal_mode = WAL"))
        connection.execute(sa.text("CREATE TABLE IF NOT EXISTS events (number)"))
        connection.execute(sa.text("INSERT INTO events VALUES (:number)"), {"number": number})
        connection.commit()
        return connection.execute(sa.text("PRAGMA synchronous")).scalar()


def test_an_event_waits_for_the_disk_only_at_the_end_of_a_release(tmp_path):
    inside, outside = tmp_path / "dagster/runs.db", tmp_path / "catalog.db"
    inside.parent.mkdir()
    log = inside.with_name("runs.db-wal")
    write(inside, 0)
    assert not log.exists()  # whoever closed the file last has copied it
    with few_disk_waits(inside.parent):
        assert [write(inside, number) for number in (1, 2)] == [NORMAL, NORMAL]
        assert log.exists()
        assert write(outside, 0) == FULL
    assert not log.exists()
    assert write(inside, 3) == FULL
    with sqlite3.connect(inside) as connection:
        assert connection.execute("SELECT number FROM events").fetchall() == [(0,), (1,), (2,), (3,)]
