"""The page on choosing: its commands run as they stand, and print what it shows."""

import re
import shlex
from pathlib import Path

from commands import demur

PAGE = Path(__file__).parents[2] / "docs" / "choosing.md"


def test_the_commands_of_the_page_print_what_it_shows(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "new.csv").write_text(re.search(r"```csv\n(.*?)```", text, re.DOTALL)[1])
    calls = [call for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL) for call in block.split("$ ")[1:]]
    assert len(calls) == 5
    for call in calls:
        line, *shown = call.splitlines()
        found = demur(tmp_path, *shlex.split(line)[1:])
        assert (found.returncode, found.stderr) == (0, "")
        assert found.stdout.splitlines() == shown
