"""Every benchmark makes its tables and has its page, and every page its benchmark."""

import datetime as dt
import re
import sys

import pytest

from benchmarks.real_data import data_folder
from benchmarks.speed.shards import Spent
from benchmarks.tables import PAGES, Table, benchmarks, main, page
from republish.orchestration.cli import main as cli

pytestmark = pytest.mark.slow("runs every benchmark")

BENCHMARKS = benchmarks()
OF_REAL_DATA = {"sequential"}
"""Those that measure nothing else."""


@pytest.fixture
def commands_here(monkeypatch):
    """Commands that `costs`, `shards` and `growth` measure run in this process, which has its imports.

    Of other tools' tables, processes of their own are measured in the same way.
    """

    def run(command, environment):
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["republish", *command[3:]])
            with pytest.raises(SystemExit) as ended:
                cli.main()
        assert not ended.value.code

    def watched(command, limit, environment):
        run(command, environment)
        return Spent(1.0, 1.0, 1.0)

    for name in ("costs", "shards", "growth"):
        monkeypatch.setattr(BENCHMARKS[name], "watched", watched)


@pytest.mark.usefixtures("commands_here")
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_makes_its_tables(name):
    if name in OF_REAL_DATA and data_folder() is None:
        pytest.skip("the real data isn't here")
    module = BENCHMARKS[name]
    made = list(module.tables(**module.QUICK))
    assert made
    for table in made:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.headings)}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_names_its_options_and_writes_no_page_of_a_quick_run(name, capsys):
    for words, code in ((["--help"], 0), (["--quick", "--write"], 2)):
        with pytest.raises(SystemExit) as ended:
            main(BENCHMARKS[name].tables, words)
        assert ended.value.code == code
        printed = capsys.readouterr()
        assert f"python -m {BENCHMARKS[name].__name__} " in printed.out + printed.err


def test_each_page_has_a_benchmark_and_each_benchmark_a_page():
    by_hand = {"README", "mutants", "audits"}  # of the tests, and of other tools in environments of their own
    pages = {file.stem for file in PAGES.glob("*.md")} - by_hand
    assert pages == set(BENCHMARKS)
    listed = (PAGES / "README.md").read_text()
    for name, module in BENCHMARKS.items():
        command = f"`python -m {module.__name__}"
        assert f"[{name}.md]({name}.md)" in listed
        assert command in listed
        printed = (PAGES / f"{name}.md").read_text().splitlines()[2]
        assert printed.startswith(command)
        assert re.search(r"`, run on \d{4}-\d\d-\d\d", printed)


def test_a_page_is_written_with_the_command_that_wrote_it(tmp_path, monkeypatch, capsys):
    module = BENCHMARKS["weight"]

    def tables(people: int = 3, names: tuple[str, ...] = ("Ann",)):
        yield Table("Some people", ("name", "people", "share"), [[*names, people, 0.25]])

    tables.__module__ = module.__name__
    monkeypatch.setattr("benchmarks.tables.PAGES", tmp_path)
    main(tables, ["--people", "1200", "--names", "Eve", "--write"])
    assert "1,200" in capsys.readouterr().out
    written = (tmp_path / "weight.md").read_text()
    assert written.startswith(
        "# How much code, tests and pages there are\n\n"
        "`python -m benchmarks.measures.weight --people 1200 --names Eve`, run on "
    )
    assert written.endswith(
        "**Some people**\n\n| name | people | share |\n| --- | ---: | ---: |\n| Eve | 1,200 | 0.250 |\n"
    )
    assert written == page(
        module,
        "python -m benchmarks.measures.weight --people 1200 --names Eve",
        list(tables(1200, ("Eve",))),
        dt.datetime.now(tz=dt.UTC).date(),
    )
