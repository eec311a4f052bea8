"""Attacks of an adversary who has the published tables and full background knowledge.

The adversary knows who is in the table at which release, with which quasi-identifiers; the sensitive
values are what they are after. Everything here is written from the papers' definitions of attack and
imports nothing from the principles it may have to convict.
"""
