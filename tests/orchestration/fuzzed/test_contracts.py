"""Contracts that nobody meant to write: each is read, or refused in plain lines that name what is wrong."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import given, note, settings
from hypothesis import strategies as st

from republish.anonymize.errors import ContractError
from republish.orchestration.audit.read.folders import read_contract
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.package_files import package_file
from tests.orchestration.fuzzed.mutations import json_text, mutated, mutated_text

SHIPPED = package_file("data_contracts")
DOCS = Path(__file__).parents[3] / "docs"
OF_DOCS = re.compile(r"cat > \S+\.yaml <<'END'\n(.*?)END\n", re.DOTALL)
TEXTS = [
    *(file.read_text() for file in sorted(SHIPPED.glob("*.yaml"))),
    *(text for page in sorted(DOCS.glob("**/*.md")) for text in OF_DOCS.findall(page.read_text())),
]
TREES = [yaml.load(text, yaml.BaseLoader) for text in TEXTS]  # noqa: S506 - of our own files, as text
PRINCIPLES = (
    {"name": "e_equivalence", "m": 3, "e": 3},
    {"name": "global_guarantee", "l": 2, "strategy": "geometric"},
    {"name": "streamliner", "l": 2},
)
TYPED = [json.loads(json.dumps(yaml.safe_load(text), default=str)) for text in TEXTS]
TYPED += [TYPED[0] | {"principle": principle} for principle in PRINCIPLES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where contracts are, with the hierarchies that they name."""
    folder = tmp_path_factory.mktemp("contracts")
    shutil.copytree(SHIPPED / "hierarchies", folder / "hierarchies")
    return folder


def read_or_refused(folder, content):
    file = folder / "contract.yaml"
    file.write_bytes(content.encode(errors="surrogatepass"))
    for read in (load_contract, read_contract):
        try:
            assert read(file).contract.privacy_digest()
        except ContractError as error:
            note(str(error))
            said = str(error)
            assert all(line.isprintable() for line in said.split("\n"))


@pytest.mark.slow("takes more than a second")
@settings(max_examples=80)
@given(st.sampled_from(TYPED).flatmap(mutated))
def test_a_contract_with_parts_of_other_kinds(folder, tree):
    read_or_refused(folder, json_text(tree))


@pytest.mark.slow("takes more than a second")
@settings(max_examples=100)
@given(st.sampled_from(TREES).flatmap(mutated))
def test_a_contract_with_everything_as_text(folder, tree):
    read_or_refused(folder, yaml.safe_dump(tree, allow_unicode=True))


@pytest.mark.slow("takes more than a second")
@settings(max_examples=200)
@given(st.sampled_from(TEXTS).flatmap(mutated_text))
def test_a_text_with_other_pieces(folder, text):
    read_or_refused(folder, text)
