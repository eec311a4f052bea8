"""A series as a DCAT-AP catalogue, in JSON-LD: one series of datasets, and a dataset for each release.

References
----------
https://semiceu.github.io/DCAT-AP/releases/3.0.1/ and https://healthdcat-ap.github.io/
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from republish.orchestration.catalogue.entry import Entry

CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcatap": "http://data.europa.eu/r5r/",
    "dct": "http://purl.org/dc/terms/",
    "dpv": "https://w3id.org/dpv#",
    "eli": "http://data.europa.eu/eli/ontology#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "health": "http://healthdataportal.eu/ns/health#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
AUTHORITY = "http://publications.europa.eu/resource/authority"
PARQUET = "https://www.iana.org/assignments/media-types/application/vnd.apache.parquet"
SHA256 = "http://spdx.org/rdf/terms#checksumAlgorithm_sha256"


def dcat(entries: Sequence[Entry]) -> dict[str, Any]:
    """The catalogue of a series; `entries` are its releases, at least one, in order."""
    newest = entries[-1]
    series = {
        "@id": f"{newest.declared.address}#series",
        "@type": "dcat:DatasetSeries",
        **_words(newest),
        "dct:publisher": _publisher(newest),
        "dcat:contactPoint": _contact(newest),
        **_legislation(newest),
    }
    catalogue = {
        "@id": newest.declared.address,
        "@type": "dcat:Catalog",
        **_words(newest),
        "dct:publisher": _publisher(newest),
        "dcat:dataset": [{"@id": entry.address} for entry in entries],
    }
    return {"@context": CONTEXT, "@graph": [catalogue, series, *map(_dataset, entries)]}


def _dataset(entry: Entry) -> dict[str, Any]:
    day = _typed(entry.release, "date")
    declared = entry.declared
    return {
        "@id": entry.address,
        "@type": "dcat:Dataset",
        **_words(entry),
        "dct:identifier": entry.package["name"],
        "dcat:version": entry.release,
        "dct:publisher": _publisher(entry),
        "dcat:contactPoint": _contact(entry),
        "dct:accessRights": {
            "@id": f"{AUTHORITY}/access-right/{declared.access.upper()}",
            "@type": "dct:RightsStatement",
        },
        "dct:temporal": {"@type": "dct:PeriodOfTime", "dcat:startDate": day, "dcat:endDate": day},
        "dcat:inSeries": {"@id": f"{declared.address}#series"},
        **_legislation(entry),
        **(_of_health(entry) if declared.health_categories else {}),
        "dcat:distribution": [_distribution(entry, name) for name in entry.tables],
    }


def _of_health(entry: Entry) -> dict[str, Any]:
    """The properties that HealthDCAT-AP adds."""
    declared = entry.declared
    counts = {"health:numberOfRecords": entry.manifest["tuples"]}
    counts["health:numberOfUniqueIndividuals"] = entry.people
    counts["health:minTypicalAge"] = declared.min_typical_age
    counts["health:maxTypicalAge"] = declared.max_typical_age
    body = {"@type": "foaf:Agent", "foaf:name": declared.access_body}
    return {
        "dcat:theme": _concept(f"{AUTHORITY}/data-theme/HEAL", "Health"),
        "health:healthCategory": [{"@id": one} for one in declared.health_categories],
        "health:healthTheme": [{"@id": one} for one in declared.health_themes],
        "dpv:hasLegalBasis": {"@type": "dpv:LegalBasis", "rdfs:label": entry.governance["legal_basis"]},
        "dpv:hasPurpose": {"@type": "dpv:Purpose", "rdfs:label": entry.governance["purpose"]},
        **({"health:hdab": body} if declared.access_body else {}),
        **({"health:populationCoverage": declared.population} if declared.population else {}),
        **{key: _typed(n, "nonNegativeInteger") for key, n in counts.items() if n is not None},
    }


def _distribution(entry: Entry, name: str) -> dict[str, Any]:
    address = f"{entry.address}/{name}"
    licence = entry.licence if entry.licence and entry.licence.startswith(("https://", "http://")) else None
    digest = {
        "spdx:algorithm": {"@id": SHA256, "@type": "spdx:ChecksumAlgorithm"},
        "spdx:checksumValue": _typed(entry.tables[name]["sha256"], "hexBinary"),
    }
    return {
        "@id": f"{address}#distribution",
        "@type": "dcat:Distribution",
        "dct:title": name,
        "dct:description": entry.described(name),
        "dcat:accessURL": {"@id": address, "@type": "rdfs:Resource"},
        "dcat:mediaType": {"@id": PARQUET, "@type": "dct:MediaType"},
        "spdx:checksum": {"@type": "spdx:Checksum", **digest},
        **({"dct:license": {"@id": licence, "@type": "dct:LicenseDocument"}} if licence else {}),
        **(
            {"dct:rights": {"@type": "dct:RightsStatement", "rdfs:label": entry.licence}}
            if entry.licence and not licence
            else {}
        ),
    }


def _words(entry: Entry) -> dict[str, Any]:
    return {"dct:title": entry.title, "dct:description": entry.description}


def _publisher(entry: Entry) -> dict[str, Any]:
    return {
        "@id": f"{entry.declared.address}#publisher",
        "@type": "foaf:Agent",
        "foaf:name": entry.governance["controller"],
    }


def _contact(entry: Entry) -> dict[str, Any]:
    is_page = "://" in entry.contact or "@" not in entry.contact
    where = {"vcard:hasURL": {"@id": entry.contact}}
    mail = {"vcard:hasEmail": {"@id": f"mailto:{entry.contact}"}}
    return {
        "@id": f"{entry.declared.address}#contact",
        "@type": "vcard:Kind",
        "vcard:fn": entry.governance["controller"],
        **(where if is_page else mail),
    }


def _legislation(entry: Entry) -> dict[str, Any]:
    laws = [{"@id": one, "@type": "eli:LegalResource"} for one in entry.declared.legislation]
    return {"dcatap:applicableLegislation": laws} if laws else {}


def _concept(address: str, label: str) -> dict[str, Any]:
    return {"@id": address, "@type": "skos:Concept", "skos:prefLabel": {"@value": label, "@language": "en"}}


def _typed(content: Any, kind: str) -> dict[str, str]:
    return {"@value": str(content), "@type": f"xsd:{kind}"}
