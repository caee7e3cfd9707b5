"""The demonstration: synthetic interviews assessed by a scripted endpoint in both modes, and the run evaluated."""

from itertools import chain, count
from pathlib import Path

from demur.errors import UserError
from demur.extensions.lab.interviews import Interviews, make_folder, simulated_interviews
from demur.extensions.produce.config import FEW_SHOT, ZERO_SHOT, Changes, load_settings
from demur.extensions.produce.inputs import read_inputs_of
from demur.extensions.produce.producing import ProduceOptions, Production
from demur.extensions.produce.scripted import ScriptedEndpoint
from demur.extensions.produce.scripted_answers import Script
from demur.files.write import write_whole
from demur.read import read_inputs
from demur.results.selective import evaluate
from demur.results.settings import Settings
from demur.results.table import Results
from demur.sampling.resample import Plan
from demur.show.html import report_html
from demur.show.statements.verdict import comparison

MEANINGLESS = "Nobody said any of it, and the answers are those of a script: the numbers mean nothing clinically."
_PARTICIPANTS, _SEED, _SAMPLES, _RESAMPLES = 30, 1, 3, 1_000
_MODES = (ZERO_SHOT, FEW_SHOT)
_USUAL = "produce-demo"


def run_demo(folder: Path) -> tuple[str, dict[str, Path]]:
    """Run everything from transcripts to a report in a new or empty folder; return a text and the files written."""
    make_folder(folder, new=folder)
    simulated = simulated_interviews(_PARTICIPANTS, seed=_SEED)
    interviews = simulated.write(folder / "interviews")
    with ScriptedEndpoint(Script.of(simulated.answers())) as endpoint:
        changes: Changes = {"endpoint": {"base_url": endpoint.base_url}, "assess": {"consistency_samples": _SAMPLES}}
        settings = load_settings(interviews / "produce.toml", changes)
        run_folder = folder / "run"
        outcome = Production(read_inputs_of(settings, interviews), run_folder, ProduceOptions()).produce()
    if outcome.run is None:
        raise UserError(f"{folder}: the demonstration was stopped; begin it anew in another folder")
    facts = read_inputs([outcome.run, outcome.run], modes=_MODES)
    items = [run.labelled(f"made-up {mode}") for run, mode in zip(facts, _MODES, strict=True)]  # so shown on the page
    plan = Plan(_RESAMPLES, seed=_SEED)
    results = evaluate(*items, settings=Settings(confidence="all"), plan=plan, command="demur produce --demo")
    page = write_whole(folder / "report.html", report_html(results), inputs=results.input_paths)
    paths = {"Interviews": interviews, "Run folder": run_folder, "Run": outcome.run}
    paths |= {"Results": results.save(folder / "metrics.json"), "Report": page}
    sentences = [_overview(simulated, results), *(statement.sentence for statement in comparison(results, "llm"))]
    return "\n".join(sentences), paths


def _overview(simulated: Interviews, results: Results) -> str:
    training, confidences = simulated.training, len(results.selective.confidences)
    assessed = len(simulated.interviews) - training
    return (
        f"{assessed} made-up participants were assessed zero-shot and few-shot by a scripted endpoint, "
        f"{_SAMPLES} times each; passages are of {training} others. {confidences} confidences were evaluated."
    )


def unused_folder(outputs: Path) -> Path:
    """The path of a folder that does not exist yet, so that no earlier demonstration is replaced.

    >>> unused_folder(Path("nowhere")).as_posix()
    'nowhere/produce-demo'
    """
    names = chain([_USUAL], (f"{_USUAL}-{number}" for number in count(2)))
    return next(path for path in map(outputs.joinpath, names) if not path.exists())
