"""The tools themselves: rows on standard input, their numbers on standard output. Run by another Python than demur's.

Of each tool the one file is imported that computes its numbers: the rest of it needs much that is not installed.
"""

import importlib
import importlib.util
import json
import sys
import types
from functools import cache


@cache
def module_of(name):
    """A module of an installed package, without running the packages it is in."""
    package, *inner = name.split(".")[:-1]
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    for part in ("", *inner):
        package, folder = (f"{package}.{part}", f"{folder}/{part}") if part else (package, folder)
        bare = types.ModuleType(package)
        bare.__path__ = [folder]
        sys.modules[package] = bare
    return importlib.import_module(name)


def torch_uncertainty(losses, confidences):
    """Its metrics, of 0/1 losses of which each answer is the first of many classes, or is not."""
    import torch  # noqa: PLC0415  (where it is not installed the other tool still is)

    tool = module_of("torch_uncertainty.metrics.classification.risk_coverage")
    probabilities = torch.zeros((len(losses), 3), dtype=torch.float64)
    probabilities[:, 0] = torch.tensor(confidences, dtype=torch.float64)
    metrics = {
        "aurc": tool.AURC(),
        "augrc": tool.AUGRC(),
        "risk@0.5": tool.RiskAtxCov(0.5),
        "risk@0.8": tool.RiskAtxCov(0.8),
        "coverage@risk=0.25": tool.CovAtxRisk(0.25),
    }
    for metric in metrics.values():
        metric.update(probabilities, torch.tensor(losses))
    return {name: float(metric.compute()) for name, metric in metrics.items()}


def lm_polygraph(losses, confidences):
    """Its rcc-auc, which takes uncertainties and qualities."""
    tool = module_of("lm_polygraph.ue_metrics.risk_cov_curve").RiskCoverageCurveAUC()
    return {"aurc": float(tool([-sure for sure in confidences], [-loss for loss in losses]))}


def numbers(losses, confidences):
    """What each tool reports of these answers; torch-uncertainty has 0/1 errors only."""
    found = {"lm-polygraph": lm_polygraph(losses, confidences)}
    return found | ({"torch-uncertainty": torch_uncertainty(losses, confidences)} if {*losses} <= {0, 1} else {})


if __name__ == "__main__":
    sys.stdout.write(json.dumps([numbers(*table) for table in json.load(sys.stdin)]))
