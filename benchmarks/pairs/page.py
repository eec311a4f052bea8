"""The page of the reference: which features a contract combines, which it refuses and why, what was tried."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.pairs.features import FEATURES, Feature, Together, pairs
from benchmarks.pairs.worlds import RELEASES, Told

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "pairs.md"
KEPT, REFUSED, ALTERNATIVES = "●", "-", "="
ABOUT = f"""# Which features go together

<!-- Made by `python -m benchmarks.pairs`. -->

A contract either keeps the promise of its principle with two features together, or it refuses them. Each
number is a feature, in the order of the rows: {KEPT} kept, {REFUSED} refused by the contract, {ALTERNATIVES}
two ways to write one key.
"""
TRIED = """
## What was tried

{series} random series of each pair that is kept, of {releases} snapshots with 8 to 60 people: people enter,
leave, come back, move and grow older, and values are skewed in some. Code that shares nothing with republish
read the published tables and the secret linkage, and looked for

- somebody who is published twice, or whose value or quasi-identifiers are not in their group;
- counterfeits that do not add up;
- a value that is more frequent in a group than promised;
- candidates that shrink from one release to another;
- under a global guarantee, a probability that is above the promised one over all releases;
- where there are few enough, all assignments of values that fit every release: a value that one person has
  in too many of them.

A release that republish refuses counts as refused, and the series goes on without it (in a home, it ends).
Then a series with twice as many people is released, and so on, until one of them has no refusal. The same
code convicts a publisher who forgets the earlier releases.

|feature|pairs|releases|people or rows|releases refused|promises broken|
|-|-:|-:|-:|-:|-:|
"""


def page(told: Mapping[str, Mapping[str, Told]], series: int, features: Sequence[Feature] = FEATURES) -> str:
    """The page, with what became of the series of each pair.

    Parameters
    ----------
    told
        By the names of both features.
    series
        How many of each pair.
    features
        All, in the order of the table.
    """
    of_feature: dict[str, list[Told]] = defaultdict(list)
    for first, others in told.items():
        for second, one in others.items():
            of_feature[first].append(one)
            of_feature[second].append(one)
    rows = [_row(feature.name, of_feature[feature.name]) for feature in features]
    every = [one for others in told.values() for one in others.values()]
    rows.append(_row("all pairs", every))
    tried = TRIED.format(series=series, releases=RELEASES)
    return "\n".join((*matrix(), *refusals(), tried + "\n".join(rows), ""))


def matrix() -> Iterator[str]:
    """The lines of the table of pairs."""
    numbers = range(1, len(FEATURES) + 1)
    yield ABOUT
    yield f"|||{'|'.join(map(str, numbers[:-1]))}|"
    yield f"|-:|-|{':-:|' * (len(FEATURES) - 1)}"
    of = {frozenset(pair.features): pair for pair in pairs()}
    for number, feature in zip(numbers, FEATURES, strict=True):
        cells = [_cell(of[frozenset((other, feature))]) for other in FEATURES[: number - 1]]
        yield f"|{number}|{feature.name}|{'|'.join([*cells, *[''] * (len(FEATURES) - number)])}|"


def refusals() -> Iterator[str]:
    """The lines that say why, a reason each with the pairs that it is about."""
    number = {feature: at for at, feature in enumerate(FEATURES, start=1)}
    about: dict[str, list[str]] = defaultdict(list)
    for pair in pairs():
        if not pair.alternatives and (why := pair.refusal):
            about[_reason(why)].append("+".join(str(number[one]) for one in pair.features))
    yield "\n## Why a pair is refused\n"
    yield "|pairs|the contract's words|"
    yield "|-|-|"
    for why, those in about.items():
        yield f"|{', '.join(those)}|{why}|"


def _cell(pair: Together) -> str:
    if pair.alternatives:
        return ALTERNATIVES
    return REFUSED if pair.refusal else KEPT


def _reason(why: str) -> str:
    """The first fault, its first sentence; of a key that a principle does not have, one sentence for all."""
    first = why.split("; ", maxsplit=1)[0]
    if match := re.match(r"principle\.(\w+): is unknown", first):
        return f"the principle has no key `{match[1]}`"
    key, _, words = first.partition(": ")
    return f"`{key}`: {re.split(r'(?<=[a-z])[.] ', words)[0]}"


def _row(name: str, told: Sequence[Told]) -> str:
    figures = (
        len(told), sum(one.published for one in told), sum(one.units for one in told),
        sum(one.refused.total() for one in told), sum(one.faults.total() for one in told),
    )  # fmt: skip
    return f"|{name}|{'|'.join(f'{figure:,}' for figure in figures)}|"
