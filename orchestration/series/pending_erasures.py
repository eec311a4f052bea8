"""People who were forgotten after the backup that a home was restored from: they are in it again.

Nothing says who they are: their pseudonyms are gone, and the log has their number alone. So releases wait
until the publisher has forgotten as many again, or says that it is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from republish.anonymize.errors import HomeError
from republish.orchestration.series.place import Place
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.sealed import Ledger

TO_FORGET = "to_forget.json"
"""In the private folder of a product, sealed: a list of forgettings. Each has `at`, `people` and `again`
(null if that is not known), and `through`, the last release of each series that was published before it."""


def note_forgettings(home: Home, through: Mapping[str, str], later: Iterable[Mapping[str, Any]]) -> None:
    """Note in a restored home how many people are to be forgotten again, and before which releases.

    Forgettings by the contract's rule are none of them: releases repeat these.

    Parameters
    ----------
    through
        The last release of each series that is in the backup, by product and series.
    later
        Lines of the log from after the backup.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for line in later:
        if line["what"] == "published":
            through = {**through, line["series"]: line["release"]}
        elif line["what"] == "forget" and not line.get("by_rule") and line["people"]:
            stated = {name: line[name] for name in ("at", "people", "again")}
            found.setdefault(_product(line["series"]), []).append({**stated, "through": through})
    for product, forgettings in found.items():
        _ledger(home, product).write({"forgettings": forgettings})


def note_unknown(home: Home, through: Mapping[str, str], at: str) -> None:
    """Note that nobody said whether people were forgotten after a backup; `through` is what is out."""
    for product in dict.fromkeys(_product(name) for name in through):
        unknown = {"at": at, "people": None, "again": None, "through": through}
        _ledger(home, product).write({"forgettings": [unknown]})


def refuse_unforgotten(place: Place, release: str) -> None:
    """Raise HomeError if people are to be forgotten again before a release is made."""
    for one in _read(place.home, place.product):
        if one["through"].get(place.name, "") >= release:
            continue
        way_out = "republish forget CONTRACT --that-is-all"
        if one["people"] is None:
            raise HomeError(
                f"{place.name} {release}: this home was restored from a backup of {one['at']}, and"
                " nobody said whether people were forgotten after it. Forget them again, if there were any,"
                f" and then say so: {way_out}"
            )
        how = "--again" if one["again"] else "--never-again"
        raise HomeError(
            f"{place.name} {release}: {one['people']:,} people who were forgotten at {one['at']} are in"
            f" this home again, for it was restored from a backup. Forget them again (republish forget"
            f" CONTRACT {how} --delete); if you can't know who they are, say that it is done: {way_out}"
        )


def forgotten_again(home: Home, product: str, people: int, *, again: bool, into: Path) -> None:
    """Take so many people off those who are to be forgotten again, the earliest first.

    The new list is written into a folder, and takes its place with all other files that are staged there.
    """
    left, waiting = [], _read(home, product)
    for one in waiting:
        counts = one["people"] is not None and (one["again"] or not again)
        done = min(people, one["people"]) if counts else 0
        people -= done
        if one["people"] != done:
            left.append({**one, "people": one["people"] - done} if done else one)
    if left != waiting:
        replace(_ledger(home, product), file=into / TO_FORGET).write({"forgettings": left})


def all_forgotten_again(home: Home, product: str) -> int:
    """Nobody is to be forgotten again any more; returns how many forgettings there were."""
    waiting = _read(home, product)
    _ledger(home, product).file.unlink(missing_ok=True)
    return len(waiting)


def _read(home: Home, product: str) -> list[dict[str, Any]]:
    noted = _ledger(home, product).read_intact()
    found: list[dict[str, Any]] = noted["forgettings"] if noted else []
    return found


def _ledger(home: Home, product: str) -> Ledger:
    return Ledger(home, home.private(product, "") / TO_FORGET, ("to forget", product))


def _product(name: str) -> str:
    return name.partition("/")[0]
