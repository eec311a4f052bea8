"""What is used of Dagster beyond its public API: in one file, and as it was when that file was written."""

import ast
import importlib
import inspect
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
PRIVATE = ROOT / "orchestration/dagster/private.py"
WEBSERVER = ROOT / "orchestration/dagster/webserver.py"
"""What of Dagster's server stands behind the gate: imported by the UI alone."""
PARAMETERS = {
    "dagster._core.definitions.data_version.get_input_event_pointer_tag": ["input_key"],
    "dagster._core.instance.types._EventListenerLogHandler": [],
    "dagster._core.remote_origin.RemoteRepositoryOrigin": ["code_location_origin", "repository_name"],
    "dagster._core.remote_origin.RemoteRepositoryOrigin.get_job_origin": ["self", "job_name"],
    "dagster._core.workspace.load.location_origins_from_yaml_paths": ["yaml_paths"],
    "dagster.DagsterInstance.report_run_failed": ["self", "dagster_run", "message", "job_failure_data"],
    "dagster.DagsterInstance.report_run_canceled": ["self", "dagster_run", "message"],
    "alembic.script.ScriptDirectory.from_config": ["config"],
    "dagster_webserver.app.create_app_from_workspace_process_context": [
        *("workspace_process_context", "path_prefix", "live_data_poll_rate", "kwargs")
    ],
    "dagster.DagsterInstance.optimize_for_webserver": [
        *("self", "statement_timeout", "pool_recycle", "max_overflow")
    ],
    "dagster_webserver.cli.WorkspaceOpts": [
        *("empty_workspace", "workspace", "python_file", "module_name", "package_name", "working_directory"),
        *("attribute", "autoload_defs_module_name", "grpc_port", "grpc_socket", "grpc_host", "use_ssl"),
    ],
    "dagster_webserver.cli.WorkspaceProcessContext": [],
    "dagster_webserver.cli.WorkspaceProcessContext.__init__": [
        *("self", "instance", "workspace_load_target", "version", "read_only", "grpc_server_registry"),
        *("code_server_log_level", "server_command"),
    ],
    "dagster_webserver.cli.workspace_opts_to_load_target": ["opts", "allow_in_process"],
}
"""Each name that is used, and what it takes."""


def changed(what):
    """The sentence for whoever installs another Dagster."""
    return (
        f"Dagster {version('dagster')} is installed, and {what}. Look through each name of"
        f" {PRIVATE.relative_to(ROOT)}, run tests/orchestration/dagster, and then state there and here what"
        " this version is and takes"
    )


def known_version():
    assigned = {
        node.targets[0].id: node.value
        for node in ast.parse(PRIVATE.read_text()).body
        if isinstance(node, ast.Assign)
    }
    return ast.literal_eval(assigned["KNOWN_TO_WORK_WITH"])


def found(name):
    """An object by its full name, and what has no such attribute in this version."""
    parts = name.split(".")
    modules = [part for part in parts if not part[0].isupper() and part != "from_config"]
    while True:
        try:
            there = importlib.import_module(".".join(modules))
            break
        except ModuleNotFoundError:
            modules.pop()
    for part in parts[len(modules) :]:
        there = getattr(there, part, None)
    return there


def imported(path):
    """The full names that a file imports of Dagster's private modules."""
    tree = ast.walk(ast.parse(path.read_text()))
    imports = [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {
        f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in imports
        for alias in node.names
    }
    return {name for name in names if name.startswith(("dagster._", "dagster_"))}


def test_the_installed_dagster_is_the_one_that_it_is_known_to_work_with():
    known = known_version()
    installed = ".".join(version("dagster").split(".")[:2])
    assert installed == known, changed(f"the private parts are known to work with {known}")


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_is_used_is_there_and_takes_what_it_took(name):
    there = found(name)
    assert there is not None, changed(f"it has no {name}")
    takes = list(
        inspect.get_annotations(there) if inspect.isclass(there) else inspect.signature(there).parameters
    )
    assert takes == PARAMETERS[name], changed(f"{name} takes {takes}")


def test_a_run_is_made_by_the_method_that_takes_its_origin():
    create = found("dagster.DagsterInstance.create_run_for_job")
    assert "remote_job_origin" in inspect.signature(create).parameters, changed("a new run takes no origin")
    execute = found("dagster._core.execution.execute_in_process.core_execute_in_process")
    made = "instance.create_run_for_job("
    assert made in inspect.getsource(execute), changed("a job that runs in process makes its run otherwise")


def test_an_event_that_cannot_be_noted_is_written_to_the_standard_error_of_its_module():
    emit = found("dagster._core.instance.types._EventListenerLogHandler.emit")
    assert "sys.stderr.write(" in inspect.getsource(emit), changed("what is not noted is printed otherwise")


def test_the_settings_name_a_class_that_is_there():
    logs = yaml.safe_load((ROOT / "dagster.yaml").read_text())["compute_logs"]
    name = f"{logs['module']}.{logs['class']}"
    assert found(name) is not None, changed(f"dagster.yaml names {name}, which it has not")


def test_one_file_has_all_of_it_but_for_the_server():
    using = {path for path in (ROOT / "orchestration").rglob("*.py") if imported(path)}
    assert using == {PRIVATE, WEBSERVER}
    assert imported(PRIVATE) | imported(WEBSERVER) <= PARAMETERS.keys()
