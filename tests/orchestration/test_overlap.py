"""Sketches of two publishers' people: what is found of both, and what nobody finds without the secret."""

import json
import random
import re

import polars as pl
import pytest

from republish.anonymize.errors import SketchError
from republish.orchestration.overlap import Sketch, estimate, overlap, read_sketch, sketch_of, write_sketch
from tests.orchestration.cli.conftest import republish  # noqa: F401 - a fixture

WORDS = "the secret of two publishers, and nobody else"


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret"
    file.write_text(WORDS + "\n")
    return file


@pytest.fixture
def sketched(tmp_path, secret):
    """Write a table of people, and a sketch of it."""

    def made(name, people, *, column="pid", by=None, keep=1_024, secret=secret):
        table = tmp_path / f"{name}.csv"
        pl.DataFrame({column: people, "age": 40}).write_csv(table)
        file = tmp_path / f"{name}.json"
        write_sketch(file, sketch_of([table], [by or column], secret, keep)[0])
        return file

    return made


def drawn(people, keep, random):
    """A sketch of numbers, each of which has a digest of its own."""
    digests = sorted(f"{random(one):032x}" for one in people)
    return Sketch(["pid"], len(digests), "", digests[:keep])


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [(4_000, 4_000, 2_000), (9_000, 1_500, 300), (3_000, 3_000, 30), (900, 4_000, 900)],
)
def test_the_truth_is_in_nineteen_of_twenty_intervals(one, other, common):
    inside, off = 0, []
    for seed in range(300):
        digest = {}
        pick = random.Random(seed)

        def digest_of(person, digest=digest, pick=pick):
            return digest.setdefault(person, pick.getrandbits(128))

        mine = drawn(range(one), 256, digest_of)
        found = estimate(mine, drawn(range(one - common, one - common + other), 256, digest_of))
        assert found == estimate(drawn(range(one - common, one - common + other), 256, digest_of), mine)
        inside += found.low <= common <= found.high
        off.append(found.people - common)
        assert found.drawn >= 256
    assert inside >= 0.93 * 300
    if common < min(one, other):  # else no estimate is too large
        assert abs(sum(off) / len(off)) < 15


def test_everybody_is_compared_where_both_sketches_have_everybody(sketched):
    found, _ = overlap((sketched("a", range(700)), sketched("b", range(500, 1_000))))
    assert (found.people, found.low, found.high, found.drawn) == (200, 200, 200, None)
    nobody, _ = overlap((sketched("c", range(10)), sketched("d", range(20, 30))))
    assert (nobody.people, nobody.drawn) == (0, None)


def test_people_are_the_same_however_they_are_written_and_in_however_many_tables(sketched, tmp_path, secret):
    pl.DataFrame({"nr": ["P-7 ", None, "p-8"]}).write_parquet(tmp_path / "one.parquet")
    pl.DataFrame({"nr": ["p-8", "p-9"]}).write_parquet(tmp_path / "two.parquet")
    tables = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    made, left_out = sketch_of(tables, ["nr=pid"], secret, 1_024)
    write_sketch(tmp_path / "b.json", made)
    found, (_, other) = overlap((sketched("a", ["p-7", "P-9", "q"]), tmp_path / "b.json"))
    assert (found.people, other.people, left_out) == (2, 3, 1)


def test_several_columns_are_one_identifier_in_any_order(tmp_path, secret):
    rows = {"name": ["Ann", "Bob", "a"], "born": ["1980-01-01", "1981-02-03", "b"]}
    pl.DataFrame(rows).write_csv(tmp_path / "a.csv")
    other = pl.DataFrame({"birth": ["1980-01-01", "1981-02-04", "b"], "name": ["ANN", "Bob", "a"]})
    other[:2].with_columns(pl.col("birth").str.to_date()).write_parquet(tmp_path / "b.parquet")
    one, _ = sketch_of([tmp_path / "a.csv"], ["name", "born"], secret, 1_024)
    same, _ = sketch_of([tmp_path / "b.parquet"], ["birth=born", "name"], secret, 1_024)
    assert estimate(one, same).people == 1
    pl.DataFrame({"name": ["ab"], "born": ["c"]}).write_csv(tmp_path / "c.csv")
    pl.DataFrame({"name": ["a"], "born": ["bc"]}).write_csv(tmp_path / "d.csv")
    pair = [sketch_of([tmp_path / f"{name}.csv"], ["name", "born"], secret, 1_024)[0] for name in "cd"]
    assert estimate(*pair).people == 0


def test_a_sketch_has_nothing_of_anybody_and_is_for_its_owner(sketched):
    people = [f"patient-{n}" for n in range(3_000)]
    file = sketched("a", people)
    said = json.loads(file.read_text())
    assert said.keys() == {"format", "by", "people", "check", "digests"}
    assert (said["people"], len(said["digests"])) == (3_000, 1_024)
    assert "patient" not in file.read_text()
    assert WORDS not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_digests_say_nothing_without_the_secret(sketched, tmp_path):
    other = tmp_path / "other"
    other.write_text(WORDS + "!")
    files = sketched("a", range(50)), sketched("b", range(50), secret=other)
    with pytest.raises(SketchError, match=r"a\.json and .*b\.json have different secrets: write both with"):
        overlap(files)
    assert not set(read_sketch(files[0]).digests) & set(read_sketch(files[1]).digests)


def test_whoever_has_the_secret_finds_people_who_are_in_a_sketch(sketched):
    """As the help says: identifiers can be tried."""
    known = set(read_sketch(sketched("guess", [7])).digests)
    assert known <= set(read_sketch(sketched("a", range(50))).digests)


class TestRefused:
    def test_a_sketch_that_is_given_twice(self, sketched):
        file = sketched("a", range(50))
        with pytest.raises(SketchError, match=r"is given twice\. Give your own sketch and the other"):
            overlap((file, file))

    def test_other_columns(self, sketched):
        with pytest.raises(SketchError, match=r"is by pid, and .* by nr: write both by the same columns"):
            overlap((sketched("a", range(50)), sketched("b", range(50), column="nr")))

    @pytest.mark.parametrize(
        "change",
        [
            {"format": "another"},
            {"people": 3},
            {"digests": []},
            {"digests": ["ff"] * 50},
            {"digests": [7]},
            {"by": "pid"},
            {"more": 1},
        ],
    )
    def test_a_file_that_is_no_sketch(self, sketched, change):
        file = sketched("a", range(50))
        file.write_text(json.dumps(json.loads(file.read_text()) | change))
        with pytest.raises(SketchError, match=r"a\.json: is no sketch, or a part of one. Write it with"):
            read_sketch(file)

    def test_a_secret_that_may_be_guessed_or_is_not_there(self, sketched, tmp_path):
        (tmp_path / "short").write_text("swordfish\n" + " " * 40)
        for name, why in (
            ("short", "fewer than 32 letters may be guessed"),
            ("none", "there is no such file"),
        ):
            with pytest.raises(SketchError, match=f"{why}. Write one .openssl rand -hex 32"):
                sketched("a", range(50), secret=tmp_path / name)

    def test_a_column_that_is_not_there_or_is_named_twice(self, sketched, tmp_path, secret):
        with pytest.raises(SketchError, match="has no column nr; it has pid, age"):
            sketched("a", range(50), by="nr")
        for by in (["pid", "pid"], [""], ["pid", "age=pid"]):
            with pytest.raises(SketchError, match="name each column once"):
                sketch_of([tmp_path / "a.csv"], by, secret, 1_024)

    def test_nobody(self, sketched):
        with pytest.raises(SketchError, match="nobody is in the tables: all rows, 2, lack an entry of --by"):
            sketched("a", ["", " "])

    def test_a_file_that_is_there_already(self, sketched):
        sketched("a", range(50))
        with pytest.raises(SketchError, match="is there already; name a new file"):
            sketched("a", range(50))


def test_the_commands_say_what_was_found(republish, sketched, secret, tmp_path):  # noqa: F811
    sketched("a", range(3_000)), sketched("b", range(2_000, 4_000))
    words = ("--by", "pid", "--secret", secret, "--keep", 64, "--out", tmp_path / "few.json")
    code, (said,), _ = republish("sketch", tmp_path / "a.csv", *words)
    assert (code, "digests of 64 of 3,000 people, by pid" in said) == (0, True)
    code, lines, _ = republish("overlap", tmp_path / "a.json", tmp_path / "b.json")
    assert code == 0
    assert lines[0].startswith("about ")
    assert re.search(r", [\d,]+ to [\d,]+ with 95 % confidence, by 1,\d+ people drawn$", lines[0])
    code, _, errors = republish("overlap", tmp_path / "a.json", tmp_path / "none.json")
    assert code == 2
    assert "none.json: is no sketch" in errors[0]
