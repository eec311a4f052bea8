"""Promises of releases, part by part; `attacked` runs the attack of every part.

A part is one object: its name and meaning, its bound, its sentence for readers, its attack, the check that
judges what the attack counts, its figures and charts. Everything that speaks of promises goes through the
parts. The attacks themselves are in `anonymize/attack`, which knows of no promise and no principle.
"""

from republish.anonymize.promise.absence import Absence
from republish.anonymize.promise.algorithm import Posterior
from republish.anonymize.promise.breach import BreachProbability
from republish.anonymize.promise.candidates import Candidates, Signatures
from republish.anonymize.promise.equivalence import Equivalence
from republish.anonymize.promise.ever_had import EverHad
from republish.anonymize.promise.join import Join, Linkability, LinkedValues
from republish.anonymize.promise.known_algorithm import KnownAlgorithm
from republish.anonymize.promise.minimum_people import MinimumPeople
from republish.anonymize.promise.part import Part, Promise, Scope
from republish.anonymize.promise.registry import KINDS, promise_of
from republish.anonymize.promise.reidentification import KAnonymity, LDiversity
from republish.anonymize.promise.share import LargestShare

__all__ = [
    "KINDS",
    "Absence",
    "BreachProbability",
    "Candidates",
    "Equivalence",
    "EverHad",
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
    "promise_of",
]
