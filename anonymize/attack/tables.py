"""Side channels of the published tables themselves: order, numbering, columns that shouldn't be there."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from anonymize.attack import evidence as ev
from anonymize.attack.published import codes
from anonymize.attack.side_channels import (
    CHANCE,
    are_numbered_by_content,
    classifier_advantage,
    is_canonical,
    numbering_against,
    orders_against,
    told_apart,
    unread_columns,
)
from anonymize.codes import encode
from anonymize.contract import CategoryAttribute, Contract


def audit_tables(
    tables: Mapping[str, pl.DataFrame],
    contract: Contract,
    snapshot: pl.DataFrame,
    hosts: pl.DataFrame,
    person: str | None = None,
) -> list[pl.DataFrame]:
    """Evidence that published tables say no more than their content.

    Parameters
    ----------
    tables
        By name, in file order.
    contract
        Columns, and the categories' orders.
    snapshot
        The truth, in its own row order.
    hosts
        `person`, `group_id`, for as many people as are known.
    person
        The snapshot's column that `hosts` names people by, if not the identifier.

    Returns
    -------
    list of pl.DataFrame
        Rows of evidence: row order, group numbering, counterfeits hidden, no identifiers.
    """
    orders = _orders(contract)
    expected = _expected(contract)
    places = _hidden_orders(snapshot, contract, person or contract.identifier).join(hosts, on="person")
    disorderly = [name for name, table in tables.items() if not is_canonical(table, orders)]
    main = tables.get("microdata", tables.get("quasi_identifiers"))
    value = contract.sensitive.name
    return [
        _row_order(tables, disorderly, places, value),
        _numbering(main, orders, places),
        _counterfeits(tables, contract, snapshot, hosts, person or contract.identifier, disorderly),
        _identifiers(tables, contract, snapshot[contract.identifier]),
        ev.promise(
            ev.UNREAD,
            sum(table.width for table in tables.values()),
            len(unread_columns(tables, expected)),
        ),
    ]


def _orders(contract: Contract) -> dict[str, list]:
    categories = [qi for qi in contract.quasi_identifiers if isinstance(qi, CategoryAttribute)]
    names = ("{}", "{}_low", "{}_high")
    return {name.format(qi.name): list(qi.labels) for qi in categories for name in names}


def _hidden_orders(snapshot: pl.DataFrame, contract: Contract, person: str) -> pl.DataFrame:
    """`person`, `value`, and orders that are known: the snapshot's, the identifiers', quasi-identifiers'."""
    return snapshot.select(
        pl.col(person).alias("person"),
        pl.col(contract.sensitive.name).alias("value"),
        pl.int_range(pl.len()).alias("by_snapshot"),
        pl.col(contract.identifier).rank("ordinal").cast(pl.Int64).alias("by_identifier"),
        *(encode(pl.col(qi.name), qi).alias(f"by_{name}") for name, qi in codes(contract)),
    )


def _row_order(tables, disorderly, places, value) -> pl.DataFrame:
    """Rows in canonical order say nothing; rows in another are read against hidden orders."""
    rows = sum(len(table) for table in tables.values())
    rare, leaked = 1.0, 0
    for name in disorderly:
        table = tables[name]
        if value not in table.columns:
            # Quasi-identifiers and counts: their order could only be that of the people.
            continue
        listed = table.select("group_id", pl.col(value).alias("value"))
        orders = [column for column in places.columns if column.startswith("by_")]
        found = orders_against(listed, places, orders)
        p = pl.min_horizontal(pl.col("p") * len(found), 1.0)
        rare = min(rare, found.select(p.min()).item())
        leaked = max(leaked, found.filter(p < CHANCE)["hits"].max() or 0)
    return ev.promise(ev.ROW_ORDER, rows, leaked, rare, CHANCE)


def _numbering(table: pl.DataFrame, orders: dict[str, list], places: pl.DataFrame) -> pl.DataFrame:
    groups = table["group_id"].n_unique()
    if are_numbered_by_content(table, orders):
        return ev.promise(ev.NUMBERING, groups, 0, 1.0, CHANCE)
    tests = [
        numbering_against(places.select("group_id", pl.col(order).alias("order")))["p"]
        for order in ("by_snapshot", "by_identifier")
    ]
    return ev.promise(ev.NUMBERING, groups, groups if min(tests) < CHANCE else 0, min(tests), CHANCE)


def _counterfeits(tables, contract, snapshot, hosts, person, disorderly) -> pl.DataFrame:
    """Whether counterfeits stand out by their place in the file, or by any column but the value."""
    if "microdata" in tables:
        name, key = "microdata", [contract.sensitive.name]
    else:
        name, key = "quasi_identifiers", [qi.name for qi in contract.quasi_identifiers]
    rows = _labelled(tables[name], tables.get("counterfeits"), snapshot, hosts, person, key)
    features = [] if name not in disorderly else ["place"]
    constant = {"group_id", "counterfeit", "place", contract.sensitive.name}
    features += [column for column in rows.columns if column not in constant and _varies(rows, column)]
    ranked = rows.with_columns(pl.col(column).rank("dense").cast(pl.Float64) for column in features)
    columns = told_apart(ranked, features)
    together = classifier_advantage(ranked, features)
    # One test per column and one for all: each must be rarer for the same rate of false alarms.
    tests = [*columns["p"].to_list(), together["p"]]
    rarest = min(1.0, min(tests) * len(tests))
    counterfeits = int(rows["counterfeit"].sum())
    return ev.promise(ev.COUNTERFEITS, counterfeits, counterfeits if rarest < CHANCE else 0, rarest, CHANCE)


def _labelled(table, counterfeits, snapshot, hosts, person, key) -> pl.DataFrame:
    """The published rows with `counterfeit` and `place`.

    Rows that could be either are left out, and groups whose people are not all known.
    """
    real = (
        snapshot.select(pl.col(person).alias("person"), *key)
        .join(hosts, on="person", how="inner")
        .group_by("group_id", *key)
        .len("people")
    )
    none = pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64})
    whole = (
        table.group_by("group_id")
        .len("tuples")
        .join(hosts.group_by("group_id").len("hosted"), on="group_id")
        .join(counterfeits if counterfeits is not None else none, on="group_id", how="left")
        .filter(pl.col("tuples") == pl.col("hosted") + pl.col("count").fill_null(0))
    )
    return (
        table.with_columns(
            pl.int_range(pl.len()).over("group_id").alias("place"),
            pl.len().over("group_id", *key).alias("alike"),
        )
        .join(whole, on="group_id", how="semi", maintain_order="left")
        .join(real, on=["group_id", *key], how="left", maintain_order="left")
        .filter(pl.col("people").is_null() | (pl.col("people") >= pl.col("alike")))
        .with_columns(pl.col("people").is_null().alias("counterfeit"))
        .drop("people", "alike")
    )


def _varies(rows: pl.DataFrame, column: str) -> bool:
    within = rows.group_by("group_id").agg(pl.col(column).n_unique())[column]
    return len(within) > 0 and within.max() > 1


def _expected(contract: Contract) -> set[str]:
    """The columns that a format has, in any table."""
    names = ("{}", "{}_low", "{}_high")
    bounds = {name.format(qi.name) for qi in contract.quasi_identifiers for name in names}
    return {"group_id", "count", contract.sensitive.name} | bounds


def _identifiers(tables, contract: Contract, identifier: pl.Series) -> pl.DataFrame:
    """Columns that bear the identifier's name, and columns nobody expects that are full of identifiers."""
    expected = _expected(contract)
    known = identifier.cast(pl.String).unique().implode()
    columns = [column for table in tables.values() for column in table.get_columns()]
    unexpected = [column for column in columns if column.name not in expected]
    leaks = [
        column.name
        for column in unexpected
        if column.name == identifier.name or (column.unique().cast(pl.String).is_in(known).mean() or 0) > 0.5
    ]
    return ev.promise(ev.IDENTIFIERS, len(columns), len(leaks))
