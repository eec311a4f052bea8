"""Attacks of an adversary who has the published tables and full background knowledge.

The adversary knows who is in the table at which release, with which quasi-identifiers; the sensitive
values are what they are after. Everything here is written from the papers' definitions of attack and
imports nothing from the principles it may have to convict.

What is seen of a release is prepared once, by `input` (of views by `view`), with what is known of the
releases before it (`knowledge`). People and groups are frames then:

- `covered`: the candidate values of each person by quasi-identifiers, as bits;
- `hosts`: who is in which group, by the linkage, or where one group alone covers a person;
- `groups`: what each group holds, and for how many people.

Each attack is a function of them, `attack_…`, which returns counts, figures, a table for the check of its
promise, and what it has to remember (`finding`). What was promised to each person or group and what was found
of them are columns, which one function judges for all attacks (`judged`).
"""
