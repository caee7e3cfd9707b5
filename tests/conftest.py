import gc
import os
import sys
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

import messages

GOLDEN = Path(__file__).parent / "golden"

settings.register_profile("few", deadline=None, max_examples=8, derandomize=True)
settings.register_profile("many", deadline=None, max_examples=60, derandomize=True)

# Compiled modules are left to the next run and to the tests that start Python anew: to compile them takes a while.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_configure(config):
    """Properties are tried on few examples by default, and on many by `make test-slow`."""
    settings.load_profile("many" if config.option.markexpr == "slow" else "few")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Examples in the docstrings of src are tests; those in the texts of tests are data."""
    return [each for each in (yield) if type(each) is pytest.Module]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """A worker tells of a test what it came to, and of what surrounds it only what failed: most messages say nothing.

    With `--durations` it tells everything, as how long fixtures took is then what is wanted.
    """
    if not hasattr(item.config, "workerinput") or item.config.option.durations:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_collection_modifyitems(config, items):
    """To write the file of messages anew, tests that provoke none are left out."""
    if messages.UPDATING:
        config.hook.pytest_deselected(items=[item for item in items if not _provokes_a_message(item)])
        items[:] = [item for item in items if _provokes_a_message(item)]


def _provokes_a_message(item):
    return "message" in getattr(item, "fixturenames", ())


def pytest_collection_finish():
    """Modules and tests stay to the end: the garbage collector need not walk through them, nor so often."""
    gc.freeze()
    gc.set_threshold(50_000)


def pytest_make_parametrize_id(val):
    """Cases are called by what they hold."""
    return messages.case_id(val)


def pytest_sessionfinish(exitstatus):
    """All messages are written, if every test that provokes one has passed."""
    if messages.UPDATING and exitstatus == pytest.ExitCode.OK:
        messages.FILE.write_text(messages.written(messages.made), encoding="utf-8")


def pytest_itemcollected(item):
    """Every property is among the slow tests too, with its larger number of examples."""
    if _provokes_a_message(item):
        messages.provoked.add(messages.key_of(item))
    slow = item.config.option.markexpr == "slow"
    if slow and getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter):
    """How many inputs each fuzzer tried, and what became of them."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    for name, counts in (pair for report in reports for pair in report.user_properties if pair[0].startswith("fuzz ")):
        terminalreporter.write_line(f"{name}: " + ", ".join(f"{count} {what}" for what, count in counts.items()))


# Fixtures import what they need: the process that only starts the workers and shows what they tell needs none of it.
# ruff: noqa: PLC0415


@pytest.fixture
def message(request, tmp_path_factory):
    """A check that a message is the recorded one of this test and case."""
    return messages.Check(messages.key_of(request.node), tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def paired():
    """The golden results of two runs."""
    from demur import load

    return load(GOLDEN / "paired.json")


@pytest.fixture(scope="session")
def one():
    """The golden results of one run."""
    from demur import load

    return load(GOLDEN / "one.json")


@pytest.fixture(scope="session")
def paired_page(paired):
    """The page of the golden results of two runs."""
    from demur.show.html import report_html
    from pages import Page

    return Page(report_html(paired))


@pytest.fixture(scope="session")
def demo_results(tmp_path_factory):
    """The results of `demur demo`."""
    from demur.extensions.lab.demo import demonstrate

    return demonstrate(tmp_path_factory.mktemp("demo")).results
