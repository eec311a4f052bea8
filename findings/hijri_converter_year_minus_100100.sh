#!/usr/bin/env bash
# hijri-converter 1.1.1 (npm): people born in 1350 of the Hijra are of the year -100,100, and one month has 28 days.
#
# Believed: days before the table of Umm al-Qura begins (1356, 1937) and after it ends are converted by rule, or
# refused; months of the calendar have 29 or 30 days.
# Seen: 1 Muharram 1350, in 1931, is 1 March of the year -100,100, without an error; 5 May 1930 is in the last month of
# 1355, on day NaN, and 1 January 2090 is NaN altogether. Within the table, Shaban 1364 has 28 days: 8 August 1945 is 1
# Ramadan, where its last day should be, and 29 Shaban is on that day, too.
# What follows: ages of the oldest are a hundred thousand years, or missing, and two birthdays are one. Refuse years
# before 1356 and after 1500 first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init --yes > npm.log
npm install --silent --no-audit --no-fund --ignore-scripts hijri-converter@1.1.1 >> npm.log
TZ=UTC node - <<'JAVASCRIPT'
const assert = require("assert");
const { toGregorian, toHijri } = require("hijri-converter");

const odd = [];
let last = null;
for (let day = Date.UTC(1940, 0, 1); day < Date.UTC(2075, 0, 1); day += 86400000) {
  const date = new Date(day);
  const found = toHijri(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
  if (last !== null && found.hd === 1 && last.hd !== 29 && last.hd !== 30) {
    odd.push([date.toISOString().slice(0, 10), last]);
  }
  last = found;
}
const [before, after, oldest] = [toHijri(1930, 5, 5), toHijri(2090, 1, 1), toGregorian(1350, 1, 1)];
const twice = [toGregorian(1364, 8, 29), toGregorian(1364, 9, 1)];
console.log("hijri-converter", require("hijri-converter/package.json").version, "1350-1-1:", oldest, "1930:", before);
console.log("2090:", after, "months of other lengths end before:", JSON.stringify(odd), "two days in one:", twice);
assert.deepStrictEqual(toHijri(1937, 3, 14), { hy: 1356, hm: 1, hd: 1 });
assert.deepStrictEqual(oldest, { gy: -100100, gm: 3, gd: 1 }, "the behaviour changed");
assert.deepStrictEqual(before, { hy: 1355, hm: 12, hd: NaN }, "the behaviour changed");
assert.ok(Number.isNaN(after.hy), "the behaviour changed");
assert.deepStrictEqual(odd, [["1945-08-08", { hy: 1364, hm: 8, hd: 28 }]], "the behaviour changed");
assert.deepStrictEqual(twice[0], twice[1], "the behaviour changed");
JAVASCRIPT
