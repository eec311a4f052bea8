#!/usr/bin/env bash
# pyreadstat 1.3.7: a time of 30 hours in an SPSS or SAS file is read as six o'clock.
#
# Believed: TIME and DTIME of SPSS and TIME of SAS count seconds without an upper bound (a shift, a stay in
# hospital), so that 30:15:00 is read as a duration, as a number, or refused.
# Seen: it is a datetime.time of what is left over whole days: 108,900 seconds are 06:15:00, five days and a second
# are 00:00:01, and minus one hour is 23:00:00. pandas.read_spss gives the same, as pyreadstat reads for it.
# What follows: lengths of stay collapse into times of day without a warning. disable_datetime_conversion=True
# gives the seconds.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import pandas as pd
import pyreadstat

stays = pd.DataFrame({"stay": [3_600.0, 108_900.0, 432_001.0, -3_600.0]})
print("pyreadstat", pyreadstat.__version__, "seconds:", stays["stay"].tolist())
expected = ["01:00:00", "06:15:00", "00:00:01", "23:00:00"]
for write, read, display in (
    (pyreadstat.write_sav, pyreadstat.read_sav, "TIME8"),
    (pyreadstat.write_sav, pyreadstat.read_sav, "DTIME12"),
    (pyreadstat.write_xport, pyreadstat.read_xport, "TIME8"),
):
    write(stays, "stays", variable_format={"stay": display})
    times = [str(time) for time in read("stays")[0]["stay"]]
    seconds = read("stays", disable_datetime_conversion=True)[0]["stay"].tolist()
    print(read.__name__, display, times)
    assert times == expected and seconds == stays["stay"].tolist(), "the behaviour changed"
PYTHON
