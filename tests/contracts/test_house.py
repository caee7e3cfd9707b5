"""Promises about the project itself: start-up, the command line, what is in the repository."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import demur
from commands import demur as in_process
from demur.cli import MODULES
from demur.cli.commands import app
from demur.extension import installed
from demur.feature import commands
from installation import needs_all

ROOT = Path(__file__).parents[2]
HEAVY = (
    "scipy",
    "sklearn",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "pydantic",
    "rich",
    "typer",
    "narwhals",
    "jinja2",
)


def run_python(code, without=()):
    environment = {name: value for name, value in os.environ.items() if name not in without}
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return told.stdout.strip()


def test_import_demur_loads_nothing_heavy():
    loaded = run_python("import sys, demur; print(' '.join(sys.modules))").split()
    assert not set(HEAVY) & set(loaded)


@pytest.mark.slow
def test_an_evaluation_loads_nothing_that_it_does_not_use(tmp_path):
    words = ["evaluate", str(ROOT / "tests/golden/run.json"), "--mode", "few_shot", "--bootstrap-resamples", "20"]
    words += ["--seed", "7", "--output", str(tmp_path / "metrics.json")]
    code = f"""
import contextlib, io, os, sys
from demur.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main({words!r})
print(os.environ.get("OPENBLAS_NUM_THREADS"), " ".join(sys.modules))
"""
    threads, *loaded = run_python(code, without=("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")).split()
    assert (tmp_path / "metrics.json").exists()
    unused = {
        *HEAVY,
        "numpy.ma",
        "demur.confidences.calibrators",
        "demur.extensions.decide.rule",
        "demur.extensions.audit",
        "demur.extensions.retrieval",
    } - {"typer"}
    unused |= {"demur.read.role_guessing", "demur.features.conventions.emulations", "demur.show.tables"}
    unused |= {"demur.drawing.picture", "demur.drawing.forest", "html"}
    assert not unused & {*loaded}
    assert threads == "1"


def test_every_command_is_imported_by_its_name():
    registered = [command.name or command.callback.__name__ for command in app.registered_commands]
    registered += [group.name for group in app.registered_groups]
    added = [*commands(), *(name for extension in installed().values() for name in extension.commands)]
    assert sorted(registered) == sorted([*added, *(name for names in MODULES.values() for name in names)])


def command(*arguments):
    """The installed console script, as a user calls it."""
    script = Path(sys.executable).with_name("demur")
    return subprocess.run([script, *arguments], check=False, capture_output=True, text=True)


def test_the_command_tells_its_version_and_its_purpose(tmp_path):
    assert command("--version").stdout == f"demur {demur.__version__}\n"
    helped = in_process(tmp_path, "--help")
    assert "decline to answer" in helped.stdout
    assert helped.returncode == 0


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


MACHINE = re.compile(
    "|".join(
        [
            "/" + "root/",
            "/" + "home/",
            "/" + "work/",
            "/" + "opt/",
            "pypi" + r"\.org",
            "python" + "hosted",
            "index" + "-url [a-z]",
        ]
    )
)


def test_no_file_holds_a_path_of_a_machine_or_the_address_of_a_package_host():
    for path in tracked_files():
        found = MACHINE.search(path.read_bytes().decode("utf-8", errors="replace"))
        assert not found, f"{path.relative_to(ROOT)}: {found.group()}"


def test_no_lock_file_that_records_addresses():
    assert not {path.name for path in tracked_files()} & {"uv.lock", "poetry.lock", "pylock.toml"}


def pinned(lock):
    """The requirements of a lock, each with its hashes."""
    return re.split(r"\n(?=[a-z])", (ROOT / lock).read_text().strip())


@pytest.mark.parametrize("lock", sorted(path.name for path in ROOT.glob("requirements*.lock")))
def test_every_requirement_is_pinned_with_a_hash(lock):
    assert all(re.match(r"[a-z0-9.\-]+==\S+", block) and "--hash=sha256:" in block for block in pinned(lock))


def test_users_and_developers_have_the_same_versions():
    assert {*pinned("requirements.lock")} < {*pinned("requirements-dev.lock")}


def test_the_demo_needs_no_tool_of_the_developers():
    tools = {"mypy", "pandas", "playwright", "polars", "pyarrow", "pytest", "ruff", "matplotlib"}
    assert not tools & {block.partition("==")[0] for block in pinned("requirements.lock")}
    rules = dict(re.findall(r"^([a-z-]+):(.*?)(?: *##.*)?$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert rules["demo"].strip() == "$(READY)"
    assert rules["test"].strip() == "$(TOOLS)"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_a_page_names_is_a_target(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)`", (ROOT / page).read_text()))
    assert named
    assert named <= targets


@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_in_a_folder_that_is_read_only_says_so(tmp_path, target):
    for name in ("Makefile", "requirements.lock", "requirements-dev.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    tmp_path.chmod(0o555)
    with contextlib.ExitStack() as end:
        end.callback(tmp_path.chmod, 0o755)
        if os.access(tmp_path, os.W_OK):  # root may write everywhere but on a disk that is read-only
            bound = subprocess.run(["mount", "--bind", tmp_path, tmp_path], check=False, capture_output=True, text=True)
            if bound.returncode:
                pytest.skip(f"nothing is read-only for root, and nothing can be mounted: {bound.stderr.strip()}")
            end.callback(subprocess.run, ["umount", tmp_path], check=True)
            subprocess.run(["mount", "-o", "remount,ro,bind", tmp_path], check=True)
        done = subprocess.run(["make", target], cwd=tmp_path, check=False, capture_output=True, text=True)
    message = f"{tmp_path} is read-only: copy the folder to where you may write, and run make there\n"
    assert done.returncode != 0
    assert done.stderr.startswith(message)


def test_the_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"version: {demur.__version__}\n" in citation
    assert f"## {demur.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def clone(tmp_path):
    """A folder with what the README says is there."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def commands_of_the_readme():
    called = [line.partition("#")[0].split()[1:] for block in blocks("console") for line in block.splitlines()]
    return [words[1:] for words in called if words[0] == "demur"]


@needs_all
@pytest.mark.slow
def test_the_commands_of_the_readme_run_as_they_stand(clone):
    ours = commands_of_the_readme()
    assert len(ours) >= 4
    fewer = dict.fromkeys(("evaluate", "retrieval"), ("--bootstrap-resamples", "20"))
    for words in ours:
        less = ("--posts", "5") if words[:2] == ["simulate", "queries"] else fewer.get(words[0], ())
        found = in_process(clone, *words, *less)
        assert (found.returncode, found.stderr) == (0, ""), words


def test_the_lines_of_the_readme_are_those_its_commands_print(clone):
    ours = commands_of_the_readme()
    compare = next(words for words in ours if words[0] == "evaluate" and "--output" in words)
    printed = "".join(in_process(clone, *words).stdout for words in (ours[0], compare)).splitlines()
    shown = [line for block in blocks("text") for line in block.splitlines()]
    assert len(shown) > 5
    assert [line for line in shown if line not in printed] == []
