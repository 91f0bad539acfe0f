"""The wheel has all that the package has, and works without the checkout."""

import os
import sys
from zipfile import ZipFile

import pytest
from command_line import run_process
from shown_commands import ROOT


def files_of(folder):
    """Return the paths of all files in a folder but compiled ones."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if "__pycache__" not in name}


@pytest.mark.slow
def test_a_wheel_is_whole_and_works_alone(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    code, _, err = run_process(command=build, cwd=ROOT)
    assert code == 0, err
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "alone")
    found = files_of(tmp_path / "alone" / "dedup_filter")
    assert found == files_of(ROOT / "dedup_filter")
    assert "py.typed" in found
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "alone")}
    see = [sys.executable, "-m", "dedup_filter", "see", str(tmp_path / "index")]
    line = '{"url": "http://a.example/", "text": "a page"}\n'
    code, out, err = run_process(command=see, cwd=tmp_path, env=environment, text=line)
    assert (code, err) == (0, "")
    assert "unjudged" in out
