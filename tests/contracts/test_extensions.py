"""An extension is a folder that can be deleted: with each one hidden in turn, the core and the others go on."""

import pytest

from artifacts import GOLDEN
from demur.extension import Extension, installed
from hiding import EVALUATES, run_hiding
from installation import OURS, needs_all


@needs_all
def test_our_extensions_are_found():
    assert set(OURS) <= {*installed()}
    assert all(isinstance(extension, Extension) for extension in installed().values())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OURS if name in installed()])
def test_without_an_extension_the_others_and_the_core_go_on(name, tmp_path):
    done = run_hiding(f"demur.extensions.{name}", EVALUATES, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.html").is_file()
    gone = [command for command in installed()[name].commands if f"│ {command} " in done.stdout]
    others = [extension for other, extension in installed().items() if other != name]
    kept = [f"│ {command} " for extension in others for command in extension.commands]
    assert gone == []
    assert all(command in done.stdout for command in kept)


@pytest.mark.parametrize(
    ("extension", "name"), [("decide", "choose"), ("retrieval", "rankings_of"), ("retrieval", "retrieval")]
)
def test_a_name_of_an_extension_that_is_hidden_says_what_it_needs(tmp_path, extension, name):
    done = run_hiding(f"demur.extensions.{extension}", f"import demur\ndemur.{name}", tmp_path)
    assert f"demur.{name} needs the extension {extension}, which is not installed" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("report", "{golden}/retrieval.json", "-o", "r.html"),
        ("table", "{golden}/retrieval.json", "--format", "csv"),
        ("audit", "--reported", "{golden}/retrieval.json", "--data", "q.csv"),
    ],
    ids=lambda words: words[0],
)
def test_results_of_a_task_need_its_extension(tmp_path, words):
    call = [word.format(golden=GOLDEN) for word in words]
    done = run_hiding("demur.extensions.retrieval", f"from demur.cli import main\nmain({call!r})", tmp_path)
    needed = "results of retrieval need the extension retrieval, which is not installed"
    assert (done.returncode, done.stderr) == (2, f"demur: {GOLDEN}/retrieval.json: {needed}\n")
    assert [*tmp_path.iterdir()] == []


def test_an_audit_of_rankings_needs_their_extension(tmp_path):
    (tmp_path / "typed.json").write_text('{"recall@1": 0.5}')
    call = ["audit", "--qrels", "qrels.txt", "--run", "a.run", "--reported", "typed.json"]
    done = run_hiding("demur.extensions.retrieval", f"from demur.cli import main\nmain({call!r})", tmp_path)
    needed = "an audit of rankings needs the extension retrieval, which is not installed"
    assert (done.returncode, done.stderr) == (2, f"demur: {needed}\n")


def test_a_quantity_of_a_hidden_extension_is_unknown(tmp_path):
    done = run_hiding("demur.extensions.retrieval", "import demur\ndemur.Measure.of('ndcg@10')", tmp_path)
    assert "no quantity is called ndcg@10" in done.stderr


@pytest.mark.parametrize("words", [("counts",), ("A=parts",), ("table.csv", "--confidence", "sure", "--workers", "2")])
def test_data_in_parts_need_their_extension(tmp_path, words, message):
    (tmp_path / "parts").mkdir()
    (tmp_path / "counts").write_text("demur summary 1\n")
    (tmp_path / "table.csv").write_text("cluster,loss,sure\na,0,0.5\nb,1,0.25\n")
    done = run_hiding(
        "demur.extensions.scale", f"from demur.cli import main\nmain(['evaluate', *{words}, '--quiet'])", tmp_path
    )
    assert (done.returncode, done.stdout) == (2, "")
    message(done.stderr)


@pytest.mark.slow
def test_a_rule_on_a_page_needs_its_extension(tmp_path):
    code = "from demur.cli import main\nmain(['report', GOLDEN + '/paired.json', '--rule', 'r.json', '-o', 'p.html'])"
    done = run_hiding("demur.extensions.decide", code, tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "demur: demur.load_rule needs the extension decide, which is not installed\n",
    )
    assert [*tmp_path.iterdir()] == []
