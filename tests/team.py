"""A team's own Dagster project, with an asset that writes the snapshots and the hospital as a component."""

import shutil

import yaml

PROJECT = """\
[project]
name = "warehouse"
version = "0.1.0"

[tool.dg]
directory_type = "project"

[tool.dg.project]
root_module = "warehouse"
registry_modules = ["republish"]
"""
DEFINITIONS = """\
from pathlib import Path

import dagster as dg

HANDLED = []


class Own(dg.IOManager):
    def handle_output(self, context, obj):
        HANDLED.append(context.asset_key.to_user_string())

    def load_input(self, context):
        return None


@dg.definitions
def defs():
    own = dg.Definitions(resources={"io_manager": Own(), "home": "ours"}, executor=dg.multiprocess_executor)
    return dg.Definitions.merge(own, dg.load_from_defs_folder(path_within_project=Path(__file__).parent))
"""
UPSTREAM = """\
import os
import shutil
from pathlib import Path

import dagster as dg

import republish

HERE = Path(__file__).parent / "hospital"


releases = republish.release_partitions(HERE / "defs.yaml")


@dg.asset(key=["warehouse", "patients"], partitions_def=releases, group_name="hospital")
def patients(context):
    (HERE / "snapshots/hospital").mkdir(parents=True, exist_ok=True)
    delivered = Path(os.environ["DELIVERED"], f"{context.partition_key}.parquet")
    shutil.copy(delivered, HERE / "snapshots/hospital")
    return "all of it"
"""


def build_project(folder, hospital, **keys):
    """Write a project with the hospital's contract inline, keys changed; returns the component's folder."""
    component = folder / "src/warehouse/defs/hospital"
    component.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "src/warehouse/__init__.py").touch()
    (folder / "src/warehouse/definitions.py").write_text(DEFINITIONS)
    (component.parent / "upstream.py").write_text(UPSTREAM)
    hospital.declare(upstream=["warehouse/patients"], **keys)
    declare(component, yaml.safe_load(hospital.contract.read_text()))
    shutil.copytree(hospital.folder / "hierarchies", component / "hierarchies")
    return component


def declare(component, contract):
    """Write defs.yaml; the home is beside the project's sources."""
    attributes = {"contract": contract, "home": "../../../../var"}
    declared = {"type": "republish.ReleaseProduct", "attributes": attributes}
    (component / "defs.yaml").write_text(yaml.safe_dump(declared))
