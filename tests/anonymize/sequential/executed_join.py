"""The plain reference: the join, record by record, and what it links."""

from collections import defaultdict
from itertools import product

from republish.anonymize.contract import CategoryColumn
from republish.anonymize.formats.intervals import read_number
from republish.anonymize.sequential.matching import node_intervals
from republish.anonymize.sequential.parameters import limit_of, split_pair


def interval(value, column):
    """The half-open interval of codes that a published value stands for."""
    if isinstance(column, CategoryColumn):
        return node_intervals(column)[value]
    return read_number(str(value), column.domain)


def one_spelling(value, column):
    """A published value, however it is spelt: `0` and `[0-0]` are one number."""
    if column is None or isinstance(column, CategoryColumn):
        return str(value)
    return interval(value, column)


def overlap(one, other):
    return one[0] < other[1] and other[0] < one[1]


def within(one, other):
    return other[0] <= one[0] and one[1] <= other[1]


def match(ours, theirs, contract):
    """Whether records `ours` of the view and `theirs`, both dicts by column, may be one person's."""
    columns = {column.name: column for column in contract.columns}
    for name in set(ours) & set(theirs):
        if not overlap(interval(ours[name], columns[name]), interval(theirs[name], columns[name])):
            return False
    for key, pairs in contract.principle.inconsistent.items():
        mine, other = split_pair(key)
        for label, other_label in pairs:
            if mine not in ours or other not in theirs:
                continue
            first = within(interval(ours[mine], columns[mine]), node_intervals(columns[mine])[label])
            second = (
                within(interval(theirs[other], columns[other]), node_intervals(columns[other])[other_label])
                if other in columns
                else theirs[other] == other_label
            )
            if first and second:
                return False
    return True


def join(view, earlier, contract):
    """All matches: a record number and a dict for the view, and for each earlier release."""
    for i, ours in enumerate(view):
        lists = [
            [(k, theirs) for k, theirs in enumerate(one) if match(ours, theirs, contract)] for one in earlier
        ]
        for rest in product(*lists):
            yield [(i, ours), *rest]


def values_on_x(view, earlier, contract):
    """The matches by their value on X: both versions of a common column."""
    x, columns = contract.principle.x, {column.name: column for column in contract.columns}
    found = defaultdict(list)
    for one in join(view, earlier, contract):
        key = tuple(one_spelling(row[name], columns.get(name)) for _, row in one for name in x if name in row)
        found[key].append(one)
    return found


def safety(view, earlier, contract):  # noqa: C901 - both definitions side by side
    """A_Y(X), or the least k - l (Definitions 3.1 and 3.2), of tables given as lists of dicts."""
    wanted = contract.principle
    columns = {column.name: column for column in contract.columns}
    records = [contract.identifier, *(previous.record for previous in wanted.previous)]
    least = float("inf")
    for matches in values_on_x(view, earlier, contract).values():
        if wanted.requirement == "anonymity":
            seen = set()
            for one in matches:
                value = []
                for name in wanted.y:
                    if name in records:
                        value.append(one[records.index(name)][0])
                    else:
                        shown = next(row[name] for _, row in one if name in row)
                        value.append(one_spelling(shown, columns.get(name)))
                seen.add(tuple(value))
            least = min(least, len(seen))
            continue
        least = min(least, *_limits(wanted, columns, view, earlier).values())
        for name in wanted.y:
            for t in range(len(matches[0])):
                if name not in matches[0][t][1]:
                    continue
                counts = defaultdict(int)
                for one in matches:
                    counts[leaf(str(one[t][1][name]), columns.get(name))] += 1
                counts.pop(None, None)  # a label above the leaves is nobody's value
                limits = limit_of(wanted, name, list(counts))
                for value, limit in limits.items():
                    least = min(least, limit - counts[value] / len(matches))
    return least


def leaf(value, column):
    """The one value that a label stands for; None for a label that covers several."""
    if column is None:
        return value
    low, high = interval(value, column)
    if high - low > 1:
        return None
    return column.labels[int(low)] if isinstance(column, CategoryColumn) else str(int(low))


def _limits(wanted, columns, view, earlier):
    """Every limit there is: a value on X that no sensitive value occurs with has a linkability of 0."""
    found = {}
    for t, rows in enumerate([view, *earlier]):
        for name in wanted.y:
            values = {str(row[name]) for row in rows if name in row}
            if t == 0 and name in columns and isinstance(columns[name], CategoryColumn):
                values |= set(columns[name].labels)
            for value, limit in limit_of(wanted, name, sorted(values)).items():
                found[t, name, value] = limit
    return found or {0: 1.0}
