"""Words that say that nothing is known: no value that somebody has, in six languages and Dutch.

In a group of one diagnosis and such words, whoever has a diagnosis has that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from republish.anonymize.contract import Table
from republish.anonymize.contract.combined import separate
from republish.anonymize.errors import as_data
from republish.orchestration.snapshots.labels import Labels

WORDS = """
unknown|unk|not known|not stated|not specified|unspecified|not reported|not recorded|not available
|not applicable|not asked|not answered|no answer|no response|nonresponse|non response|refused|refusal
|refused to answer|declined|declined to answer|prefer not to say|prefer not to answer|dont know
|do not know|dk|missing|undisclosed|withheld|not disclosed|not determined|undetermined|not ascertained
|unsure|not sure|skipped|no information|no data|inapplicable|unbekannt|nicht bekannt|keine angabe
|keine angaben|ohne angabe|nicht angegeben|keine antwort|weiß nicht|weiss nicht|verweigert
|antwort verweigert|nicht erhoben|nicht gefragt|nicht beantwortet|nicht zutreffend|trifft nicht zu
|fehlend|fehlt|entfallt|inconnu|inconnue|non connu|non precise|non precisee|non renseigne|non renseignee
|sans reponse|pas de reponse|ne sait pas|refus|refuse|non applicable|sans objet|manquant|manquante|nsp
|ne se prononce pas|non declare|desconocido|desconocida|no sabe|no contesta|no sabe no contesta|ns nc
|no especificado|no consta|sin respuesta|no aplica|no procede|sin dato|sin datos|no disponible
|no indicado|no informado|se niega|rehuso|sin especificar|sconosciuto|sconosciuta|ignoto|non noto|non so
|non sa|non risponde|nessuna risposta|non specificato|non indicato|rifiuto|rifiutato|non applicabile
|mancante|non dichiarato|non disponibile|desconhecido|desconhecida|ignorado|ignorada|nao sabe
|sem resposta|nao respondeu|nao informado|nao especificado|nao aplicavel|nao se aplica|recusou|recusado
|sem informacao|nao declarado|onbekend|niet bekend|geen antwoord|weet niet|geweigerd|weigert
|niet ingevuld|geen opgave|niet van toepassing|ontbreekt
""".replace("\n", "").split("|")
"""Words for no answer, in small letters, without accents and signs."""
PHRASES = (
    r"^(?:unbek\w*|k a|o a|n a|n ?r|ns ?nr|vide|indetermine\w*|indeterminad[oa]|unclassified|to be determined"
    r"|(?:patient )?(?:refus|declin|verweiger|rifiut)\w*"
    r"(?: (?:to|de|di) (?:respond|answer|say|state|disclose|repondre|rispondere))?"
    r"|(?:prefer|prefier|prefir|preferisc)\w* (?:not|no|nao|non) \w+(?: \w+)?|wil\w* niet \w+"
    r"|not (?:provided|given|entered|on file|done|performed|tested|collected|disclosed|supplied)"
    r"|test not (?:done|performed)|no (?:response|information|data|answer) (?:given|provided|available)"
    r"|no (?:entry|record)|missing (?:data|value|information)|kein\w* (?:eintrag|information\w*|daten)"
    r"|noch offen|aucune? (?:reponse|information|donnee)|no (?:refiere|responde|contesta|informa)"
    r"|(?:sin|sem|senza) (?:informacion|informacao|dati|risposta|resposta))$"
)
"""Such words in many forms."""
BETWEEN = r" (?:or|oder|ou|o|of|and|und|et|y|e|en) | ?[/,;|] ?"
"""What stands between two of them: "unknown or not stated"."""
DECIDE = (
    "In a group of one value and these, whoever has a value has that one. Write null_values under source and"
    " missing beside the column, or not_sensitive"
)
"""What a publisher is to decide."""


def no_answers(values: pl.Series, labels: Mapping[str, str]) -> dict[str, int]:
    """The values that say that nothing is known, by how many people have them, the most frequent first.

    Parameters
    ----------
    values
        Text or whole numbers.
    labels
        What codes among them mean.

    Examples
    --------
    >>> no_answers(pl.Series(["HIV", "unknown", "Don't know/refused", "unknown"]), {})
    {'unknown': 2, "Don't know/refused": 1}
    >>> no_answers(pl.Series([1, 9]), {"9": "keine Angabe"})
    {'9': 1}
    """
    counts = values.drop_nulls().cast(pl.String).alias("value").value_counts(name="people")
    said = pl.col("value").replace(labels) if labels else pl.col("value")
    parts = _plain(said).str.replace_all(BETWEEN, "|").str.split("|")
    are_words = parts.list.eval(_says_nothing(_bare(pl.element()))).list.all()
    found = counts.filter(are_words | _says_nothing(plain_words(said))).sort(
        "people", "value", descending=(True, False)
    )
    return dict(found.iter_rows())


def _says_nothing(words: pl.Expr) -> pl.Expr:
    return words.is_in(WORDS) | words.str.contains(PHRASES)


def plain_words(text: pl.Expr) -> pl.Expr:
    """Words in small letters, without accents, with single spaces between them and no code beside them."""
    return _bare(_plain(text))


def _plain(text: pl.Expr) -> pl.Expr:
    return text.str.normalize("NFKD").str.to_lowercase().str.replace_all("\\p{M}|['\u2019`]", "")


def _bare(text: pl.Expr) -> pl.Expr:
    """Words with single spaces between them, without a code before or after them."""
    words = text.str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()
    return words.str.replace(r"^\d+ ", "").str.replace(r" \d+$", "")


def describe_no_answers(found: Mapping[str, int], labels: Mapping[str, str], rows: int, counted: str) -> str:
    """A sentence on values that look like none, for the publisher."""
    names = [as_data(f"{value} ({labels[value]})" if value in labels else value) for value in found]
    *others, last = names
    words = f"{', '.join(others)} and {last} look" if others else f"{last} looks"
    return f"{words} like no value: {sum(found.values()):,} of {rows:,} {counted}. {DECIDE}"


def advice_on_no_answers(people: pl.DataFrame, schema: Table, labels: Labels, counted: str) -> Iterator[str]:
    """A sentence on each sensitive column that has words for no answer among its values.

    `people` are a snapshot's, without faults, under our own names; those whose value may be known are counted
    out.
    """
    apart = separate(people, schema)
    for column, one in schema.sensitive_columns():
        own = labels.get(one.name, {})
        known = [str(value) for value in one.not_sensitive]
        found = no_answers(apart[column], own)
        if found := {value: number for value, number in found.items() if value not in known}:
            yield f"{as_data(one.name)}: {describe_no_answers(found, own, apart.height, counted)}"
