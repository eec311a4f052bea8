"""Snapshots as tests ask for them: by a contract and a release."""

from dataclasses import replace

from republish.orchestration.snapshots import sources
from republish.orchestration.snapshots.sources import source_of


def read_snapshot(contract_file, release, version=None):
    source = source_of(contract_file, release)
    return sources.read_snapshot(source if version is None else replace(source, known=version))


def snapshot_exists(contract_file, release):
    return source_of(contract_file, release).exists()


def arrival_of(contract_file, release):
    return source_of(contract_file, release).mark()


def version_of(contract_file, release):
    return source_of(contract_file, release).version
