"""Releases under attack, one after another, for tests of principles."""

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.principles import principle_of
from republish.anonymize.promise.attacked import attack


def attack_releases(made, promises=None, *, linked=True, **options):
    """What the attack on each release of a series found: its findings, and the tables that checks judge.

    Parameters
    ----------
    made
        `(contract, people, candidate)` of each release, in order.
    promises
        By default what the contracts promise.
    linked
        Whether the attack has the publisher's linkage.
    """
    knowledge, told = None, []
    for number, (contract, people, candidate) in enumerate(made, start=1):
        principle = principle_of(contract)
        told.append(promises[number - 1] if promises else principle.promise(contract.principle))
        known = people.rename({PSEUDONYM: "person"})
        if IDENTIFIER not in known.columns:
            known = known.with_columns(known["person"].bin.encode("hex").alias(IDENTIFIER))
        found = attack(
            contract.table_schema,
            principle.format(contract),
            candidate.published,
            known,
            told,
            knowledge,
            linkage=candidate.linkage.rename({PSEUDONYM: "person"}) if linked else None,
            held_back=candidate.figures.held_back,
            **options,
        )
        knowledge = found.knowledge
        yield found
