"""`DOCVALUES_SWEEP=full` asks 1,000 questions in place of a sample."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[3]
SWEEP = os.environ.get("DOCVALUES_SWEEP") == "full"

settings.register_profile(
    "docvalues",
    max_examples=1_000 if SWEEP else 24,
    derandomize=not SWEEP,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("docvalues")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Tests write their files with short names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
