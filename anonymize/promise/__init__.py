"""Promises of releases, part by part; `attacked` runs the attack of every part.

A part is one object: its name and meaning, its bound, its sentence for readers, its attack, the check that
judges what the attack counts, its figures and charts. Everything that speaks of promises goes through the
parts. The attacks themselves are in `anonymize/attack`, which knows of no promise and no principle.
"""

from anonymize.promise.absence import Absence
from anonymize.promise.algorithm import Posterior
from anonymize.promise.breach import BreachProbability
from anonymize.promise.candidates import Candidates, Signatures
from anonymize.promise.equivalence import Equivalence
from anonymize.promise.ever_had import EverHad
from anonymize.promise.held_back import HeldBack
from anonymize.promise.join import Join, Linkability, LinkedValues
from anonymize.promise.known_algorithm import KnownAlgorithm
from anonymize.promise.minimum_people import MinimumPeople
from anonymize.promise.part import Part, Promise, Scope
from anonymize.promise.registry import KINDS, promise_of
from anonymize.promise.reidentification import KAnonymity, LDiversity
from anonymize.promise.share import LargestShare
from anonymize.promise.spread import Spread

__all__ = [
    "KINDS",
    "Absence",
    "BreachProbability",
    "Candidates",
    "Equivalence",
    "EverHad",
    "HeldBack",
    "Join",
    "KAnonymity",
    "KnownAlgorithm",
    "LDiversity",
    "LargestShare",
    "Linkability",
    "LinkedValues",
    "MinimumPeople",
    "Part",
    "Posterior",
    "Promise",
    "Scope",
    "Signatures",
    "Spread",
    "promise_of",
]
