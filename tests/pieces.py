"""Snapshots read as those of divided series are: a few rows at a time."""

import polars as pl

from republish.orchestration.snapshots import csv_text
from republish.orchestration.snapshots.arrow import with_numerics
from republish.orchestration.snapshots.locale_formats import refuse_ambiguous_numbers
from republish.orchestration.snapshots.sources import look_at, refuse_faults, source_of


def read_in_pieces(monkeypatch, contract_file, release, rows=2, block=5):
    """The people of a snapshot of which so many rows, and of a CSV file so many bytes, are read at a time."""
    with monkeypatch.context() as patched:
        patched.setattr(csv_text, "BLOCK", block)
        source = source_of(contract_file, release)
        pieces = source.pieces(rows)
        read = [(piece.first, piece.read()) for piece in pieces.pieces]
    refuse_ambiguous_numbers([piece.ambiguous_numbers for _, piece in read])
    heights = [piece.table.height for _, piece in read]
    assert heights[0] == 0
    assert max(heights) <= rows
    assert [first for first, _ in read] == [sum(heights[:at]) + 1 for at in range(len(heights))]
    table = pl.concat([piece.table for _, piece in read], how="vertical_relaxed")
    table, contract = with_numerics(table, [piece.numerics for _, piece in read]), contract_file.contract
    seen = look_at(table, contract)
    refuse_faults(source.where, [seen], table, contract, pieces.present)
    return seen.people
