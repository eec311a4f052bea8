"""What other Dagster projects import: the component, and the releases of a contract as partitions."""

from orchestration.dagster.component import ReleaseProduct, release_partitions

__all__ = ["ReleaseProduct", "release_partitions"]
