#!/usr/bin/env bash
# DuckDB 2.0.0, polars 2.1.0: the largest unsigned integer of 128 bits arrives as -1.
#
# Believed: a UHUGEINT, as a digest or an IPv6 address is, arrives in polars as the number that it is (polars has
# UInt128), or is refused.
# Seen: from 2**127 on it arrives as a negative decimal, without an error: 2**128 - 1 is -1. Arrow has no such
# integers, so DuckDB states Decimal(38, 0), which has no room for 39 digits, for the same bits. Up to 10**38 - 1
# numbers are right.
# What follows: two ways of reading a table give two pseudonyms of one person. `::VARCHAR` in the query avoids it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import duckdb
import polars as pl

numbers = [10**38 - 1, 2**127, 2**128 - 1]
seen = []
for number in numbers:
    query = duckdb.sql(f"SELECT {number}::UHUGEINT AS id")
    assert query.fetchall() == [(number,)]
    arrived = query.pl()
    seen.append(int(arrived["id"][0]))
    print("DuckDB", duckdb.__version__, number, "polars", pl.__version__, arrived.schema, seen[-1])
assert seen[0] == numbers[0]
assert seen[1] < 0 and seen[2] == -1, "the behaviour changed"
PYTHON
