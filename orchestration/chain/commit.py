"""Keep a candidate that passed its audit, for its publication and for the next release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from anonymize.attack.knowledge import Knowledge
from anonymize.attack.together import below_together
from anonymize.columns import IDENTIFIER, PSEUDONYM
from anonymize.people.pseudonyms import pseudonyms
from anonymize.principles import principle_of
from anonymize.promise import Candidates, Promise
from orchestration.chain.changes import declared
from orchestration.chain.making import Clock, Made
from orchestration.chain.same_people import separate_products
from orchestration.series.committed import Committed, read_knowledge, write_committed, write_tables
from orchestration.series.record import release_row
from orchestration.series.series import Series
from orchestration.series.siblings import separate_siblings


def commit(
    series: Series, release: str, folder: Path, made: Made, present: Mapping[str, Any], clock: Clock
) -> Committed:
    """Write a candidate's files, tell history of it, and record last that it passed its audit.

    Parameters
    ----------
    series, release
        Which one.
    folder
        The release's private folder.
    made
        The candidate, and what its audit found.
    present
        What it was made from (`made_from`).
    clock
        Told what time is spent on.
    """
    contract, candidate = series.contract, made.candidate
    release_format = principle_of(contract).format(contract)
    files = write_tables(folder, candidate, _linkage(series, made), made.audit.knowledge, release)
    clock.lap("files")
    committed = Committed(
        made_from=present,
        parameters=contract.principle.model_dump(mode="json"),
        declared=declared(contract),
        promises=made.promises,
        figures={
            **candidate.figures.as_json(),
            **release_format.figures(release_format.internal(candidate.published, contract), contract),
        },
        attack=made.audit.figures,
        together=_together(series, made.people, made.audit.knowledge, made.promises[-1]),
        verdicts=made.audit.verdicts,
        seconds=clock.seconds,
        files=files,
    )
    row = release_row(committed, contract, release, series.number(release))
    series.history.record_candidate(row, candidate.buckets)
    write_committed(folder, committed, series.candidate_key(release))
    return committed


def _linkage(series: Series, made: Made) -> pl.DataFrame:
    """The linkage under the identifier's own name, sorted by all columns."""
    named = made.people.select(PSEUDONYM, IDENTIFIER).join(made.candidate.linkage, on=PSEUDONYM)
    return named.drop(PSEUDONYM).sort(pl.all()).rename({IDENTIFIER: series.contract.identifier})


def _together(
    series: Series, people: pl.DataFrame, knowledge: Knowledge, promise: Promise
) -> dict[str, dict[str, int]]:
    """What other series give away together with this release, by their names: `v2`, or of others `clinic/v1`.

    Nobody is to get both (`separate_readers`); if somebody did, so many people would be exposed.
    """
    home, contract = series.home, series.contract
    others = [*separate_siblings(home, contract), *separate_products(series)]
    stays = knowledge.stays
    promised = promise.part(Candidates)
    if not others or promised is None or stays is None:
        return {}
    here = stays.people.filter(pl.col("until") == stays.people["until"].max())
    values = here.join(stays.signatures, on="signature").select("person", "values")
    found = {}
    for other in others:
        followed = read_knowledge(other.folder, other.committed).stays
        if followed is None or followed.signatures.schema["values"] != values.schema["values"]:
            continue
        theirs = pseudonyms(people[IDENTIFIER], other.pseudonym_key(home))
        names = people.select(person=PSEUDONYM).with_columns(theirs.alias("other"))
        present = values.join(names, on="person").select("values", person="other")
        in_both, below = below_together(present, followed, promised.candidates)
        name = other.name if other.product == contract.product else f"{other.product}/{other.name}"
        found[name] = {"people": in_both, "below": below}
    return found
