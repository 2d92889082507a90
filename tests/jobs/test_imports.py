from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import jobs
import udfs

MODULES = [
    module.name
    for package in (udfs, jobs)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]

IMPORT = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
    found = sorted({"dask", "distributed"} & sys.modules.keys())
    assert not found, f"{name} imports {found}"
"""


def test_all_modules_are_found() -> None:
    assert {"jobs.__main__", "jobs.survey.job", "udfs.streams"} <= set(MODULES)


@pytest.mark.parametrize("package", ["jobs", "udfs"])
def test_no_module_knows_dask(package: str) -> None:
    names = [name for name in MODULES if name.startswith(package)]
    subprocess.run([sys.executable, "-c", IMPORT, *names], check=True)


def test_the_command_line_knows_the_cluster_inside_its_commands_only() -> None:
    code = "import sys, jobs.__main__; assert 'cluster' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
