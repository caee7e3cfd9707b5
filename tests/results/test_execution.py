"""What computed the numbers is recorded in every file and on its page, and changes nothing else."""

import re

import pytest
from make_golden import GOLDEN, selective
from same_numbers import Comparison, leaves

from artifacts import golden
from commands import demur
from demur import Plan, Settings, UserError, evaluate, load, read_run, report_html
from demur.results.load import results_of
from demur.sampling.engine import engine_name
from golden_runs import RUN, WHEN
from parametrized import parametrize_few

EXECUTION = re.compile(r'  "execution": \{.*?\},\n', re.DOTALL)


def made(threads, modes=("zero_shot",)):
    runs = {f"system {n}": read_run(RUN, mode=mode) for n, mode in enumerate(modes)}
    plan = Plan(40, seed=1, block=7, threads=threads)
    return evaluate(runs, settings=Settings(confidence="llm", created_at=WHEN), plan=plan)


@parametrize_few("kind", [*GOLDEN], 2)
@pytest.mark.slow
def test_every_kind_of_file_says_what_computed_it(kind):
    results = GOLDEN[kind]() if kind != "paired" else selective("paired", "zero_shot", "few_shot", resamples=20)
    expected = {"engine": engine_name(), "threads": 1, "shards": 1, "route": "memory"}
    assert results.to_json()["execution"] == expected
    assert results_of(results.to_json()).execution.model_dump() == expected == results.execution.model_dump()


@parametrize_few("modes", [("zero_shot",), ("zero_shot", "few_shot", "zero_shot")], 1, ids=["nested", "columns"])
def test_threads_change_nothing_but_the_execution_and_the_engine_nothing_but_rounding(monkeypatch, modes):
    by_kernel = leaves(made(1, modes).to_json())
    monkeypatch.setenv("DEMUR_ENGINE", "numpy")
    one, other = made(1, modes), made(3, modes)
    comparison = Comparison()
    comparison.add(by_kernel, leaves(one.to_json()))
    assert not comparison.different
    assert other.to_json()["execution"] == {"engine": "numpy", "threads": 3, "shards": 1, "route": "memory"}
    assert EXECUTION.sub("", one.text) == EXECUTION.sub("", other.text) != other.text
    assert one.fingerprint == other.fingerprint


def test_a_file_that_does_not_say_what_computed_it_is_read():
    assert results_of(golden("one")).execution is None
    assert load(RUN.with_name("three.json")).execution is None
    assert "Computed by" not in report_html(results_of(golden("one")))


@parametrize_few(
    ("member", "value"), [("threads", 0), ("threads", "2"), ("shards", 0), ("engine", ""), ("route", None)], 2
)
def test_an_execution_that_is_none_is_an_error(member, value):
    content = made(1).to_json()
    content["execution"][member] = value
    with pytest.raises(UserError, match=f"execution.{member}: "):
        results_of(content)


@parametrize_few(
    ("execution", "words"),
    [
        ({"engine": "numpy", "threads": 1}, "the engine <bdi>numpy</bdi> on 1 thread; any other"),
        (
            {"engine": "c:avx2", "threads": 2, "shards": 4, "route": "a<b"},
            "the engine <bdi>c:avx2</bdi> on 2 threads, in 4 shards (<bdi>a&lt;b</bdi>); any other gives",
        ),
    ],
    1,
)
@pytest.mark.slow
def test_the_page_says_how_it_was_computed(execution, words):
    assert words in report_html(results_of(made(2).to_json() | {"execution": execution}))


def test_large_work_is_done_on_all_processors_and_small_work_on_one(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    plan = Plan(10_000, seed=1)
    assert [plan.settled(units).threads for units in (328, 9_999, 10_000)] == [1, 1, 3]
    assert Plan(10_000, seed=1, threads=2).settled(10**6).threads == 2


@pytest.mark.parametrize("threads", [2, 8])
@pytest.mark.slow
def test_no_byte_depends_on_the_number_of_threads(tmp_path, threads):
    told = {}
    for number in (1, threads):
        words = ["evaluate", RUN, "--mode", "few_shot", "--seed", "7", "--bootstrap-resamples", "50"]
        words += ["--created-at", WHEN, "--threads", number, "--output", f"{number}.json", "--quiet"]
        assert demur(tmp_path, *words).returncode == 0
        text = (tmp_path / f"{number}.json").read_text()
        assert f'"threads": {number}' in text
        told[number] = re.sub(r'"command": .*', "", EXECUTION.sub("", text))
    assert told[1] == told[threads]
