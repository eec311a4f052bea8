"""Dagster's tables in PostgreSQL: settings of the publisher's own."""

import os

import pytest

from republish.anonymize.errors import HomeError
from republish.orchestration.dagster.instance import OWN, dagster_instance, prepare_dagster_home
from republish.orchestration.storage.home import Home

SETTINGS = "storage:\n  postgres:\n    postgres_url: {env: DAGSTER_POSTGRES}\n"


def dagster_address(postgresql):
    """The address by which Dagster gets into a database of tests, with its password."""
    of_psycopg2 = f"postgresql+psycopg2://republish:{os.environ['PGPASSWORD']}@"
    return postgresql.replace("postgresql://republish@", of_psycopg2)


@pytest.fixture
def own(tmp_path):
    """The publisher's own settings, in a new home."""
    folder = prepare_dagster_home(Home.at(tmp_path / "own home"))

    def say(text):
        (folder / OWN).write_text(text)
        return Home(folder.parent)

    return say


def test_own_settings_are_added_and_stay(own):
    home = own("storage:\n  sqlite: {base_dir: /somewhere}\nnux: {enabled: true}\n")
    for _ in range(2):
        settings = (prepare_dagster_home(home) / "dagster.yaml").read_text()
        assert "base_dir: /somewhere" in settings
        assert "max_concurrent_runs: 1" in settings
    (home.dagster / OWN).unlink()
    assert "base_dir" not in (prepare_dagster_home(home) / "dagster.yaml").read_text()


@pytest.mark.parametrize(
    "text", ["- storage", "storage: {", "storage: {postgres: {postgres_url: {env: NOT_SET}}}", "odd: 1"]
)
def test_own_settings_that_are_none_are_refused(own, text):
    home = own(text)
    with pytest.raises(HomeError, match=OWN) as refusal, dagster_instance(home):
        pass
    assert "\n" not in str(refusal.value)


@pytest.mark.slow("starts a daemon or a server")
@pytest.mark.postgres
def test_a_database_that_does_not_answer_is_said_so(own, monkeypatch):
    monkeypatch.setenv(
        "DAGSTER_POSTGRES", "postgresql+psycopg2://nobody:secret@127.0.0.1:1/none?connect_timeout=1"
    )
    with (
        pytest.raises(
            HomeError, match=r"own\.yaml: Dagster can't begin with these settings: .* DB connection"
        ) as refusal,
        dagster_instance(own(SETTINGS)),
    ):
        pass
    assert "secret" not in str(refusal.value)
