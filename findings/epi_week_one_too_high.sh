#!/usr/bin/env bash
# epi-week 0.0.1 (npm): in 2026, and each year that begins on a Thursday to Saturday, weeks are one too high.
#
# Believed: the "CDC week" of a day is that of MMWR: weeks from Sunday to Saturday, of the year of their Wednesday. So
# 4 January 2026, a Sunday, begins week 1, and 2 January 2010, a Saturday, ends week 52 of 2009.
# Seen: 4 January 2026 is in week 2, and 2 January 2010 in week 53, which 2009 does not have. Where 1 January is a
# Thursday, Friday or Saturday, each later day of the year has a week one too high: 6,553 days of 2000 to 2040, in 18 of
# 41 years. All days of the other years are right, those of the examples on its page as well.
# What follows: cases of two sources are a week apart in such a year, and in no other. Take the week from the number of
# days between its Wednesday and 1 January.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init --yes > npm.log
npm install --silent --no-audit --no-fund --ignore-scripts epi-week@0.0.1 >> npm.log
TZ=UTC node - <<'JAVASCRIPT'
const assert = require("assert");
const epiWeek = require("epi-week");

function mmwr(day) {
  const wednesday = new Date(day.getFullYear(), day.getMonth(), day.getDate() - day.getDay() + 3);
  const days = Math.round((wednesday - new Date(wednesday.getFullYear(), 0, 1)) / 86400000);
  return { week: Math.floor(days / 7) + 1, year: wednesday.getFullYear() };
}

const days = {};
for (let day = new Date(2000, 0, 1); day < new Date(2041, 0, 1); day.setDate(day.getDate() + 1)) {
  const [found, right] = [epiWeek(new Date(day)), mmwr(day)];
  if (found.week !== right.week || found.year !== right.year) {
    days[day.getFullYear()] = (days[day.getFullYear()] || 0) + 1;
  }
}
const sunday = epiWeek(new Date(2026, 0, 4));
const saturday = epiWeek(new Date(2010, 0, 2));
const yearFirsts = new Set(Object.keys(days).map((year) => new Date(year, 0, 1).getDay()));
const late = [...Array(41).keys()].filter((year) => new Date(2000 + year, 0, 1).getDay() >= 4);
console.log("epi-week", require("epi-week/package.json").version, "4 January 2026:", sunday, "2 January 2010:", saturday);
console.log("days that are wrong:", JSON.stringify(days));
assert.deepStrictEqual([mmwr(new Date(2026, 0, 4)).week, mmwr(new Date(2010, 0, 2)).week], [1, 52]);
assert.deepStrictEqual([sunday.week, saturday.week, saturday.year], [2, 53, 2009], "the behaviour changed");
assert.deepStrictEqual([...yearFirsts].sort(), [4, 5, 6], "the behaviour changed");
assert.strictEqual(Object.keys(days).length, late.length, "the behaviour changed");
assert.strictEqual(Object.values(days).reduce((all, each) => all + each), 6553, "the behaviour changed");
JAVASCRIPT
