#!/usr/bin/env bash
# ethiopian-date 0.0.6 (npm): in the first seven years of a century, people are born a day later in Ethiopia.
#
# Believed: days of the Ethiopian calendar go one by one with those of the Gregorian: 5 May 1905 is 27 Miyazya 1897.
# Seen: it is 28 Miyazya. The days between the calendars grow at the turn of a Gregorian century, and the package takes
# the century of the Ethiopian year, which is seven or eight years behind: all days of 1801 to 1807, 1901 to 1907 and
# 2101 to 2107 are a day late, and no other day from 1800 to 2109. So is the way back: 7,332 of these 7,668 days, there
# and back, look right. No error.
# What follows: the oldest people of a register, and projections, are a day off. Go by the number of the day (JDN).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init --yes > npm.log
npm install --silent --no-audit --no-fund --ignore-scripts ethiopian-date@0.0.6 >> npm.log
TZ=UTC node - <<'JAVASCRIPT'
const assert = require("assert");
const { toEthiopian, toGregorian } = require("ethiopian-date");

/** Year, month and day of the Ethiopian calendar: four years are 1,461 days, and months 30, from 29 August 8 on. */
function right(day) {
  const number = day / 86400000 + 2440588 - 1723856;
  const [four, rest] = [Math.floor(number / 1461), number % 1461];
  const inYear = (rest % 365) + 365 * Math.floor(rest / 1460);
  const year = 4 * four + Math.floor(rest / 365) - Math.floor(rest / 1460);
  return [year, Math.floor(inYear / 30) + 1, (inYear % 30) + 1];
}

const late = {};
let days = 0;
let back = 0;
for (let day = Date.UTC(1800, 0, 1); day < Date.UTC(2110, 0, 1); day += 86400000) {
  const date = new Date(day);
  const gregorian = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  const found = toEthiopian(...gregorian).join("-");
  if (found !== right(day).join("-")) {
    assert.strictEqual(found, right(day + 86400000).join("-"), "the behaviour changed: another day than the next");
    late[gregorian[0]] = (late[gregorian[0]] || 0) + 1;
    days += 1;
    back += toGregorian(...toEthiopian(...gregorian)).join("-") === gregorian.join("-") ? 1 : 0;
  }
}
const example = toEthiopian(1905, 5, 5);
const { version } = require("ethiopian-date/package.json");
console.log("ethiopian-date", version, "5 May 1905:", example, "right:", right(Date.UTC(1905, 4, 5)));
console.log("days that are late:", JSON.stringify(late), "that come back:", back, "of", days);
assert.deepStrictEqual(right(Date.UTC(2023, 8, 12)), [2016, 1, 1]);
assert.deepStrictEqual([example, right(Date.UTC(1905, 4, 5))], [[1897, 8, 28], [1897, 8, 27]], "the behaviour changed");
const years = [18, 19, 21].flatMap((century) => [1, 2, 3, 4, 5, 6, 7].map((year) => String(100 * century + year)));
assert.deepStrictEqual(Object.keys(late), years, "the behaviour changed");
assert.deepStrictEqual([days, back], [7668, 7332], "the behaviour changed");
JAVASCRIPT
