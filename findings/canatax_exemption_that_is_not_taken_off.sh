#!/usr/bin/env bash
# canatax 2.0.1: nearly all pay too much for their pension, those in Quebec nothing, and low wages grow by their tax.
#
# Believed: contributions to the pension are paid on what is earned above 3,500 dollars a year, a tax is at least 0,
# and what is left of a wage is the wage less all that its estimate names.
# Seen: the 3,500 dollars are taken off the ceiling and not off the wage: 60,000 dollars in Ontario pay 3,570 dollars
# and not 3,361.75, and 3,000 dollars, which pay nothing, 178.50. 10,000 dollars have a federal tax of -855.75, and
# more is left of them than was earned. In Quebec the contribution (qpp) is named, 3,840 dollars, and is taken off
# nothing.
# What follows: incomes after tax are wrong for nearly everybody, and provinces can't be compared. Take each tax as at
# least 0, the contribution from the wage less 3,500 dollars, and add the parts yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check canatax==2.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import contextlib
import io
from decimal import Decimal
from importlib.metadata import version

from canatax import IncomeTaxCalculator
from canatax.rates.income.current_contributions import Contributions


def estimate(wage, province):
    with contextlib.redirect_stdout(io.StringIO()):
        return IncomeTaxCalculator.calculate(wage, province)


def parts(found):
    return found.federal_tax + found.provincial_tax + found.cpp + found.qpp + found.ei + found.qpip


pension = Contributions().cpp
usual = Decimal(60_000 - pension.exemption) * Decimal(str(pension.rate)) / 100
few, little, ontario, quebec = (
    estimate(*each) for each in ((3_000, "ON"), (10_000, "ON"), (60_000, "ON"), (60_000, "QC"))
)
print("canatax", version("canatax"), "pension of 60,000 in Ontario:", ontario.cpp, "usual:", usual, "of 3,000:", few.cpp)
print("federal tax of 10,000:", little.federal_tax, "left of them:", little.net_income)
print("left of 60,000 in Quebec:", quebec.net_income, "less all parts:", 60_000 - parts(quebec), "qpp:", quebec.qpp)
assert pension.exemption == 3500 and usual == Decimal("3361.75") and ontario.net_income == 60_000 - parts(ontario)
assert ontario.cpp == Decimal("3570.00") and few.cpp == Decimal("178.50"), "the behaviour changed"
assert little.federal_tax < 0 and little.net_income > 10_000, "the behaviour changed"
assert quebec.qpp == 3840 and quebec.net_income == 60_000 - parts(quebec) + quebec.qpp, "the behaviour changed"
PYTHON
