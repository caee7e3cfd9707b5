"""demur: measure systems that may decline to answer.

A system that abstains on hard cases looks better than one that tries, so two error rates at two coverages must not be
compared. demur evaluates the whole risk–coverage trade-off, and gives every number an interval:

    >>> import demur
    >>> table = {
    ...     "document": ["a", "a", "b", "b", "c", "d"],        # what each row belongs to: resampled
    ...     "score": [1.0, 0.5, 0.5, 0.0, None, 1.0],          # how right the answer is; None: it declined to answer
    ...     "sure": [0.9, 0.4, 0.8, 0.6, 0.1, 0.7],            # what ranks the answers
    ... }
    >>> results = demur.evaluate(table, columns={"cluster": "document"}, confidence="sure", resamples=500, seed=7)
    >>> results["risk@0.5"]
    0.166667 [0.00355, 1] bootstrap_log

The data may be a path, a frame, a dict of lists, or several of them by name, to compare them:
`demur.evaluate({"A": "a.csv", "B": "b.csv"}, confidence="sure", seed=7)`. `help(demur.evaluate)` has the options, which
are those of the command `demur evaluate`. `results.to_frame()` is every number as a table,
`results.save("metrics.json")` the file, `demur.report_html(results)` the page.

Numbers alone, of columns:

    >>> demur.measure(confidence=[0.9, 0.8, 0.8, 0.1], loss=[0, 1, 0, None], metrics=["cmax", "augrc"]).to_dict()
    {'cmax': 0.75, 'augrc': 0.0625}

The names, by what they are for:

    to evaluate         evaluate, evaluate_retrieval, Results, Settings, ReadingOptions, Groups, Raters, Costs,
                        Conventions, RetrievalSettings, load, report_html
    to read data        read_items, read_table, read_systems, read_run, read_queries, read_trec, rankings_of,
                        TableOptions, Items, Rankings, Instrument, instrument, PHQ8, PHQ9, GAD7, with_groups,
                        read_rater, read_points, typed_point
    to decide           choose, certify, apply, load_rule, cost_optimal, Rule, Applied, Reading, Watch, Watched
    numbers alone       measure, risk_coverage, reliability, Scores, Curve, OperatingPoint, Coverage, Reliability
    with uncertainty    grade, grade_units, estimate, compare, bootstrap, Graded, Plan, Estimate, Estimates, Key,
                        Group, Minus, Interval, ResultWarning, Table
    confidences         confidence, served, calibrate, load_calibration, Calibration, Confidence, VARIANTS
    to add your own     quantity, Quantity, Measure, QUANTITIES, variant, Need
    row by row          ItemPrediction, compute_risk_coverage_curve, compute_cmax, compute_aurc, compute_augrc,
                        compute_aurc_at_coverage, compute_augrc_at_coverage, compute_risk_at_coverage,
                        compute_aurc_optimal, compute_augrc_optimal, compute_aurc_optimal_regression, compute_eaurc,
                        compute_eaugrc, compute_aurc_achievable, bootstrap_by_participant,
                        paired_bootstrap_delta_by_participant, RiskCoverageCurve, BootstrapResult, BootstrapDeltaResult
    of probabilities    compute_ece, compute_binary_nll
    closed forms        aurc_optimal_zero_one, augrc_optimal_zero_one
    what can go wrong   UserError

Metrics of rankings are in `demur.extensions.retrieval`, made-up runs in `demur.extensions.lab`.
"""

# The public names are listed once, in the stub beside this file. A module is imported when one of its names is first
# asked for, so that `import demur` and `demur --help` pay for nothing they do not use.

__version__ = "0.2.0"
_MODULES = {"retrieval": "demur.extensions.retrieval", "selective_prediction": "demur.selective_prediction"}
_MORE_NAMES = {
    "demur.extensions.retrieval": "demur.extensions.retrieval.functions",
    "demur.confidences.calibrators": "demur.confidences.calibrators",
    "demur.confidences.features": "demur.confidences.features",
}
_INSTEAD = {
    "aurc_optimal_binary": "aurc_optimal_zero_one has that formula, of the error rate: 1 − accuracy",
    "augrc_optimal_binary": "augrc_optimal_zero_one has that formula",
    "compute_dominant_points": "compute_aurc_achievable is the area over them",
    "parse_items": "read_run reads the items of a run file",
}


def _homes() -> dict[str, str]:
    """Which module each public name lives in, as the stub says."""
    # Imported here: Ctrl-C during an import at the top would come before `demur.cli.main` could catch it.
    import ast  # noqa: PLC0415
    from importlib.resources import files  # noqa: PLC0415

    tree = ast.parse(files("demur").joinpath("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    return {name.name: str(node.module) for node in imports for name in node.names}


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), "__version__"])  # type: ignore[misc]


def __getattr__(name: str) -> object:
    known = globals().get("_HOMES") or globals().setdefault("_HOMES", _homes())
    if name == "__all__":
        return sorted(known)
    from importlib import import_module  # noqa: PLC0415

    if name not in known and name not in _MODULES:
        raise AttributeError(_no_such(name, known))
    module = _MODULES.get(name) or known[name]
    try:
        home = import_module(module)
    except ModuleNotFoundError as error:
        extension = _extension_of(module)
        if extension is None or error.name != f"demur.extensions.{extension}":
            raise
        message = f"demur.{name} needs the extension {extension}, which is not installed"
        raise AttributeError(message) from None
    globals()[name] = value = home if name in _MODULES else getattr(home, name)
    return value


def _extension_of(module: str) -> str | None:
    _, *parts = module.split(".")
    return parts[1] if parts[0] == "extensions" else None


def _defines(module: str, name: str) -> bool:
    """Whether a module is there and has a name of its own."""
    from importlib import import_module  # noqa: PLC0415
    from importlib.util import find_spec  # noqa: PLC0415

    try:
        there = find_spec(module) is not None
    except ModuleNotFoundError:
        there = False
    return there and getattr(getattr(import_module(module), name, None), "__module__", "") == module


def _no_such(name: str, known: dict[str, str]) -> str:
    """What a misspelt name is told: where it is or the nearest one, unless it is a special or private one."""
    from demur.errors import nearest  # noqa: PLC0415

    if name.startswith("_"):
        return f"module 'demur' has no attribute {name!r}"
    home = next((home for home, module in _MORE_NAMES.items() if _defines(module, name)), None)
    near = f"compute_{name}" if f"compute_{name}" in known else nearest(name, known)
    advice = f"it is {home}.{name}" if home else _INSTEAD.get(name) or (f"did you mean {near}?" if near else "")
    return f"module 'demur' has no attribute {name!r}" + (f"; {advice}" if advice else "")
