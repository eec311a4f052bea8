#!/usr/bin/env bash
# phonetics 1.0.5: its Soundex tells Brown from Browne, and its NYSIIS takes Miller, Mendez and Monroe for one name.
#
# Believed: soundex is a letter and three digits of the consonants (Robert is R163, Brown and Browne are B650), and nysiis
# is the algorithm of New York (Miller is MALAR), as in jellyfish.
# Seen: the zeros of vowels stay and nothing is cut to four: Robert is r01063, Roberts r010632, and Brown b605 is not
# Browne b6050. nysiis has no consonants but n, r or s that begin a name, as its rules keep only what they change: Miller,
# Meyer, Martin, Mendez and Monroe are all MNA, Rubin, Robert and Rupert are RA, and Smith is not Smyth. No error.
# What follows: as a key of a block both split those who should meet, and join those who should not. Take jellyfish.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check phonetics==1.0.5
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import phonetics

digits = {name: phonetics.soundex(name) for name in ("robert", "roberts", "rupert", "brown", "browne", "meyer")}
names = ("Miller", "Meyer", "Martin", "Mendez", "Monroe", "Rubin", "Robert", "Rupert", "Smith", "Smyth")
sounds = {name: phonetics.nysiis(name) for name in names}
print("phonetics", version("phonetics"), "soundex:", digits, "nysiis:", sounds)
assert (digits["robert"], digits["roberts"], digits["meyer"]) == ("r01063", "r010632", "m060"), "the behaviour changed"
assert (digits["brown"], digits["browne"]) == ("b605", "b6050"), "the behaviour changed"
assert {sounds[name] for name in names[:5]} == {"MNA"} and {sounds[name] for name in names[5:8]} == {"RA"}
assert (sounds["Smith"], sounds["Smyth"]) == ("SNA", "SN"), "the behaviour changed"
PYTHON
