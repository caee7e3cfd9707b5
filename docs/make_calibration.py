"""Write docs/calibration.md and its figure: what calibration does to a simulated run, computed anew.

Run by `make docs`; a test fails when the page is not current.
"""

from __future__ import annotations

from pathlib import Path

from demur import Curve, Items, Measure, calibrate, grade, reliability
from demur.confidences.calibration import Calibration
from demur.inference.reliabilities import reliability_picture
from demur.simulate.runs import ZERO_SHOT, make_people, run_system

PAGE = Path(__file__).with_name("calibration.md")
FIGURE = Path(__file__).with_name("reliability.svg")
PEOPLE, FITTED_ON, EVALUATED_ON = 200, 1, 2
METHODS = ("temperature", "platt", "isotonic")

BEFORE = """\
# Which signal deserves trust

A confidence does two jobs. It **ranks** answers, which risk–coverage curves measure, and it may be read as the **probability of being
right**, which calibration is about. The two are separate: a confidence can rank well and be far too high.

## Choosing a confidence

`demur fields RUN` lists the [variants](definitions.md#confidence-variants), which of them a run can serve, and why not the others. From
Python, by name:

```python
>>> from demur import confidence, served
>>> from demur.simulate.runs import ZERO_SHOT, make_people, run_system
>>> items = run_system(make_people(40, seed=1), ZERO_SHOT, seed=1).items()          # or read_run("run.json")
>>> confidence(items, "secondary:token_msp+verbalized:average").values[items.answered][:3].round(3)
array([0.636, 0.25 , 0.741])
>>> [name for name, reason in served(items).items() if reason is not None]
['verbalized_calibrated', 'calibrated']

```

A variant of your own is one function of columns. It receives the answered units only, with nulls replaced as declared; the replaced nulls
are counted:

```python
>>> from demur import Need, VARIANTS, variant
>>> @variant("evidence_or_agreement", "llm_evidence_count", Need("consistency_modal_confidence", null=0.0), bounds=(0, 1))
... def evidence_or_agreement(count, agreement):
...     '''The larger of evidence, up to three pieces, and agreement.'''
...     return (count.clip(max=3) / 3).clip(min=agreement)
>>> confidence(items, "evidence_or_agreement").values[items.answered][:3].round(3)
array([1. , 0.4, 1. ])
>>> _ = VARIANTS.pop("evidence_or_agreement")                                        # (to leave the registry as it was)

```

The producer of a run computes the token and consistency signals from raw output with `demur.confidences.model_output`.

## Is it a probability?

```python
>>> from demur import Plan, reliability
>>> verbalized = reliability("verbalized", data=items)
>>> verbalized
184 forecasts, 45.7% correct, mean predicted 0.747
predicted       count  mean predicted  fraction correct      gap
[0, 0.1)            1           0.000             0.000    0.000
[0.2, 0.3)          4           0.250             0.500   +0.250
[0.5, 0.6)         39           0.500             0.205   -0.295
[0.7, 0.8)         92           0.750             0.500   -0.250
[0.9, 1]           48           1.000             0.583   -0.417
>>> verbalized.estimate(["ece", "nll"], plan=Plan(2000, seed=7))
ece  0.30163, no interval
nll  2.08529 [1.38, 2.82] expanded_percentile
>>> verbalized.if_calibrated(Plan(2000, seed=7))
CalibratedEce(mean=0.07761820652173912, high=0.1358695652173913)

```

The numbers are defined in [definitions.md](definitions.md#calibration-and-detection). Three things to know before quoting an ECE: it depends
on the bins; it is biased upwards in small samples, and a bootstrap sample is biased once more, so it has no interval (hold it against
what a calibrated system with the same people would show, `if_calibrated`: on average, and at most in 95 % of the cases); and forecasts of exactly 1 belong to the last bin (`ece_open` reproduces pipelines that lose them). `brier` has none of these problems; `nll`
has no bins either, but one certain mistake (a stated 5 that was wrong) costs 13.8, the maximum, and a few of them dominate it.

## Calibrating

```console
$ demur calibrate --input train.json --method temperature --features verbalized_confidence --output calibrator.json
$ demur fields test.json --calibration calibrator.json
$ demur report calibrator.json                                     # a page: what was fitted, which numbers to trust, the map
```

| method | what it does | input | strictly monotone |
|---|---|---|---|
| `temperature` | sigmoid(logit(p)/T), T in [0.05, 10] | one probability (`verbalized_confidence` is taken as (v − 1)/4) | yes, up to rounding |
| `platt` | logistic regression, L2 with C = 1 | one number | yes, up to rounding |
| `logistic` | the same | several features, standardised | |
| `linear` | ridge regression, penalty 1, clipped; for the target `loss` | several features, standardised | no: it clips |
| `isotonic` | the best fit that never falls | one number | no: it merges |

`--features` names signals, `--variant` a confidence variant. A null among the features becomes the cautious value its signal
[declares](definitions.md#declared-signals), and is counted; a missing one is an error. The file has the parameters, what it was fitted on
(with a hash), and NLL, Brier, ECE and AUROC as given, in sample, and **out of fold with folds of participants**; quote the last. A
participant's fold is the rank of the SHA-256 of the id (as text, in UTF-8) among those with answers, modulo the number of folds: no seed,
no library, the same for everybody. Platt and logistic fits are run to the optimum. A calibrator looks too good on the run it was fitted
on: demur warns when the hash or the run id is the same.

```python
>>> from demur import calibrate, grade
>>> calibration = calibrate(items, method="platt", variant="verbalized")             # calibration.save("calibrator.json")
>>> other = run_system(make_people(40, seed=2), ZERO_SHOT, seed=2).items()
>>> graded = grade(other, loss="abs_norm", confidence="calibrated:verbalized", calibration=calibration)

```

### A calibrator of another script

`--calibration` also takes a JSON file of a script of your own, if it names its `method` (those of the table), the signals it was fitted on
and every parameter. They may be at the top, or inside `model`, `parameters`, `params`, `calibrator` or `scaler`:

| | names understood |
|---|---|
| signals | `features`, `feature_names`; a temperature without any is that of `verbalized_confidence` |
| temperature | `temperature`, `T` |
| platt, logistic, linear | `coefficients`, `coef`, `coef_`, `weights` · `intercept`, `intercept_`, `bias` · `mean`, `means`, `mean_`, `feature_means`, `scaler_mean` · `scale`, `std`, `stds`, `scale_`, `feature_stds`, `scaler_scale` · `link`: `logit`, `logistic` or `sigmoid`, and `identity` or `linear`, which makes any of the three a linear one |
| isotonic | `x`, `x_thresholds`, `X_thresholds_` · `y`, `y_thresholds`, `y_thresholds_` |
| target | `target`; if there is none, what the method usually predicts |

Every file of `train_confidence_calibrator.py` and `calibrate_verbalized_confidence.py` of the user's documents is read, among them
Platt, logistic and isotonic calibrators of the target `loss`. The run that a file names under `training`, `training_metadata`, `fitted_on`,
`provenance` or `metadata` is compared with the run evaluated.

A file that lacks one of these is refused with what is missing, and so is one that has it twice with different values. For features that
were not standardised, write means of 0 and scales of 1. Such a file has no page, since demur knows nothing about its fit.

## What it changes, and what it cannot
"""


def fitted_and_tried() -> tuple[Items, Items]:
    """A run to fit on and another one to try it on, other people."""
    runs = (run_system(make_people(PEOPLE, seed=seed), ZERO_SHOT, seed=seed) for seed in (FITTED_ON, EVALUATED_ON))
    fitted_on, tried_on = (run.items() for run in runs)
    return fitted_on, tried_on


def row(items: Items, name: str, calibration: Calibration | None, label: str) -> str:
    """One line: how good the probabilities are, how many operating points there are, and the area."""
    scores = reliability(name, data=items, calibration=calibration).scores
    curve = Curve.of(grade(items, loss="abs_norm", confidence=name, calibration=calibration))
    numbers = " | ".join(f"{scores[metric]:.4f}" for metric in ("nll", "brier", "ece", "auroc"))
    return f"| {label} | {numbers} | {len(curve)} | {Measure.of('aurc')(curve):.6f} |"


def table(variant: str, fitted_on: Items, tried_on: Items) -> list[str]:
    """The variant as given and after each calibrator, on people no calibrator has seen."""
    lines = [f"| `{variant}` | NLL | Brier | ECE | AUROC | operating points | AURC |", "|---|---|---|---|---|---|---|"]
    lines.append(row(tried_on, variant, None, "as given"))
    for method in METHODS:
        calibration = calibrate(fitted_on, method=method, variant=variant)
        lines.append(row(tried_on, f"calibrated:{variant}", calibration, method))
    return lines


def figure(fitted_on: Items, tried_on: Items) -> str:
    """Reliability of the stated confidence on new people, before and after Platt scaling."""
    calibration = calibrate(fitted_on, method="platt", variant="verbalized")
    after = reliability("calibrated:verbalized", data=tried_on, calibration=calibration)
    before = reliability("verbalized", data=tried_on)
    return reliability_picture({"as given": before, "after Platt scaling": after}).standalone(paper=True)


def page() -> tuple[str, str]:
    """The page and its figure."""
    fitted_on, tried_on = fitted_and_tried()
    intro = (
        f"A simulated system states its confidence on a scale from 1 to 5: informative, and far too high. Calibrators are fitted on "
        f"{PEOPLE} made-up\nparticipants (seed {FITTED_ON}) and evaluated on {PEOPLE} others (seed {EVALUATED_ON}). Computed by `make docs`.\n"
    )
    lines = [BEFORE + "\n" + intro, *table("verbalized", fitted_on, tried_on), ""]
    lines += ["![Reliability before and after](reliability.svg)", ""]
    lines += [
        "The probabilities improve. The ranking does not: temperature and Platt scaling are strictly monotone, so the operating points",
        "stay and the AURC is the same to the last digit. With five inputs isotonic regression may merge some; with a continuous",
        "confidence it merges most, and the AURC changes:",
        "",
        *table("token_msp", fitted_on, tried_on),
        "",
        "So calibrate to be able to state a probability; to rank better, combine signals (`secondary:…`, `logistic`) or find a better one.",
        "",
    ]
    return "\n".join(lines), figure(fitted_on, tried_on) + "\n"


if __name__ == "__main__":
    text, drawing = page()
    PAGE.write_text(text, encoding="utf-8")
    FIGURE.write_text(drawing, encoding="utf-8")
    print("wrote docs/calibration.md and its figure")
