"""Shards that Spark works on: the same published bytes, whatever ends in between."""

import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from republish.anonymize.errors import HomeError, NotEligible
from republish.orchestration.chain import candidate
from republish.orchestration.chain.merging import GROUPS
from republish.orchestration.chain.shard import make_shard
from republish.orchestration.engine import engine as engines
from republish.orchestration.engine import spark
from tests.hospital import KEY, RELEASES, begin, make, published
from tests.orchestration.chain.test_killed import ended, kill_when
from tests.orchestration.chain.test_shards import PRINCIPLES, SHARDS
from tests.orchestration.engine.test_local import killed_always, killed_once, refused

FIRST, SECOND, _ = RELEASES
MASTER = "local[2]"
needs_spark = pytest.mark.skipif(
    find_spec("pyspark") is None or shutil.which("java") is None, reason="pyspark or Java is not installed"
)


@pytest.fixture(scope="module")
def engine():
    yield spark.Spark(MASTER)
    spark._end(spark._started(MASTER))


def make_shard_killed_once(job):
    """As the chain does it, but the first process that makes the second shard of a release is killed."""
    killed = job.shard.series.home.path / f"killed-{job.release}"
    if job.shard.number == 1 and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return make_shard(job)


@needs_spark
@pytest.mark.parametrize("release_format", ["generalization", "anatomy"])
def test_the_bytes_do_not_depend_on_the_engine_nor_on_a_task_that_dies(
    hospital, tmp_path, monkeypatch, engine, release_format
):
    hospital.under(PRINCIPLES[release_format], shards=SHARDS)
    found = []
    for name in ("local[1]", "local[2]", f"spark[{MASTER}]"):
        monkeypatch.setenv(engines.VARIABLE, name)
        if name.startswith("spark"):
            monkeypatch.setattr(candidate, "make_shard", make_shard_killed_once)
        home = tmp_path / name
        make(hospital.series(home), FIRST, SECOND)
        (hospital.folder / ".hospital.yaml.home").unlink()  # three homes of a series, for once on purpose
        found.append(published(home))
    assert {file.name for file in home.glob("killed-*")} == {f"killed-{FIRST}", f"killed-{SECOND}"}
    assert len(found[0]) > 4
    assert found[0] == found[1] == found[2]


def descendants(pid):
    """All that a process has started, and what these have started."""
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in listed.read_text().split():
            yield Path(f"/proc/{child}")
            yield from descendants(child)


@needs_spark
def test_a_command_that_is_killed_leaves_no_worker_behind_and_is_run_again(hospital, tmp_path, monkeypatch):
    hospital.declare(shards=SHARDS)
    make(hospital.series(tmp_path / "undisturbed"), FIRST, SECOND)
    (hospital.folder / ".hospital.yaml.home").unlink()
    home = tmp_path / "home"
    make(hospital.series(home), FIRST)
    monkeypatch.setenv(engines.VARIABLE, f"spark[{MASTER}]")
    process, started = begin(hospital.contract, home, SECOND), []

    def a_shard_is_made():
        if made := (home / f"private/hospital/v1/{SECOND}/shard-0000" / GROUPS).exists():
            started.extend(descendants(process.pid))
        return made

    kill_when(process, a_shard_is_made)
    commands = [(folder / "cmdline").read_bytes() for folder in started if not ended([folder])]
    assert published(home).keys() == {name for name in published(home) if SECOND not in name}
    deadline = time.monotonic() + 60
    while not ended(started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert ended(started), commands
    assert len(started) > 2
    again = begin(hospital.contract, home, SECOND)
    _, err = again.communicate()
    assert (again.returncode, err) == (0, b"")
    assert published(home) == published(tmp_path / "undisturbed")


def environment_of(name):
    return os.environ.get(name)


class Panic(BaseException):
    """As a library that is written in Rust raises it."""


def panicked(job):
    raise Panic(f"a value of {job}")


def asleep(_job):
    time.sleep(600)


@needs_spark
def test_what_becomes_of_a_task(tmp_path, monkeypatch, engine):
    assert list(engine.run(killed_once, [(tmp_path, number) for number in range(5)])) == [0, 10, 20, 30, 40]
    monkeypatch.setenv("REPUBLISH_KEY", KEY)
    assert list(engine.run(environment_of, ["REPUBLISH_KEY"] * 2)) == [KEY] * 2
    conf = spark._started(MASTER).getConf()
    assert KEY not in str(conf.getAll())
    assert conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark._started(MASTER).uiWebUrl is None
    monkeypatch.delenv("REPUBLISH_KEY")
    assert list(engine.run(environment_of, ["REPUBLISH_KEY"] * 2)) == [None] * 2
    with pytest.raises(NotEligible, match="nobody in 0"):
        list(engine.run(refused, [0, 1, 2]))
    with pytest.raises(HomeError, match=r"unexpected Panic in .*test_shards_by_spark.py, line \d+$"):
        list(engine.run(panicked, [0, 1]))
    with pytest.raises(HomeError, match=r"shard \d: each process of Spark .* ended before it was done"):
        list(engine.run(killed_always, [0, 1]))


@needs_spark
def test_spark_itself_is_killed(engine):
    java = spark._started(MASTER)._gateway.proc
    results = engine.run(asleep, [0, 1])
    signal.signal(signal.SIGALRM, lambda *_: java.kill())
    signal.alarm(5)
    with pytest.raises(HomeError, match="Spark ended before it was done"):
        list(results)
    assert list(engine.run(environment_of, ["HOME"] * 2)) == [os.environ["HOME"]] * 2


@needs_spark
def test_spark_that_can_not_be_started_is_said_in_a_line(tmp_path, monkeypatch):
    java = tmp_path / "bin/java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho too old >&2\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(HomeError, match="it needs Java 17 or newer") as said:
        list(spark.Spark("local[1]").run(environment_of, ["HOME"] * 2))
    assert "\n" not in str(said.value)


def test_what_is_not_installed_is_said_with_the_way_out(monkeypatch):
    monkeypatch.setenv(engines.VARIABLE, "spark[local[2]]")
    monkeypatch.setattr(spark, "find_spec", lambda _name: None)
    with pytest.raises(HomeError, match=r"pip install 'republish\[spark\]'"):
        engines.the_engine()
    monkeypatch.setattr(spark, "find_spec", lambda name: name)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(HomeError, match=r"Java is not installed.*JAVA_HOME"):
        engines.the_engine()


def test_nothing_of_spark_is_imported_where_it_is_not_used(monkeypatch):
    said = (
        "import sys; from republish.orchestration.engine import the_engine; the_engine(); print(*sys.modules)"
    )
    monkeypatch.setenv(engines.VARIABLE, "local[2]")
    imported = subprocess.run([sys.executable, "-c", said], check=True, stdout=subprocess.PIPE, text=True)
    assert not {name for name in imported.stdout.split() if "spark" in name or "py4j" in name}
