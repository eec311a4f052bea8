#!/usr/bin/env bash
# @sbmdkl/nepali-date-converter 2.0.5 (npm): a day of the Nepali calendar is a day earlier west of Greenwich.
#
# Believed: a day of birth in Bikram Sambat is one day of the other calendar, on any computer; and the day that it is
# converted to is converted back to it.
# Seen: bsToAd counts from a day that is read as midnight in UTC, and answers the day of the computer's own time zone:
# 1 Baisakh 2047 is 14 April 1990 in Kathmandu and London, and 13 April in New York and Lima. adToBs is right
# everywhere, so that there each day of a hundred years comes back as the day before. No error.
# What follows: a server in another region moves birthdays. Run it with TZ=UTC.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init --yes > npm.log
npm install --silent --no-audit --no-fund --ignore-scripts @sbmdkl/nepali-date-converter@2.0.5 >> npm.log
cat > days.js <<'JAVASCRIPT'
const { adToBs, bsToAd } = require("@sbmdkl/nepali-date-converter");

let early = 0;
let days = 0;
for (let day = Date.UTC(1930, 0, 1); day < Date.UTC(2030, 0, 1); day += 86400000) {
  const date = new Date(day).toISOString().slice(0, 10);
  const back = bsToAd(adToBs(date));
  days += 1;
  early += back === new Date(day - 86400000).toISOString().slice(0, 10) ? 1 : 0;
}
console.log(adToBs("1990-04-14"), bsToAd("2047-01-01"), early, days);
JAVASCRIPT
there_and_back() { TZ=$1 node days.js; }
for zone in Asia/Kathmandu Europe/London America/New_York America/Lima; do
    echo "$zone: $(there_and_back "$zone")"
done
for zone in Asia/Kathmandu Europe/London; do
    [ "$(there_and_back "$zone")" = "2047-01-01 1990-04-14 0 36525" ]
done
for zone in America/New_York America/Lima; do
    [ "$(there_and_back "$zone")" = "2047-01-01 1990-04-13 36525 36525" ] || { echo "the behaviour changed" >&2; exit 1; }
done
