"""A retrieval pipeline as its users write them: a per-query CSV, and a summary computed by its own code."""

from __future__ import annotations

import csv
import io
import math
import random
import statistics

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

COLUMNS = (
    "post_id",
    "criterion_id",
    "gold_ids",
    "retriever_topk",
    "reranked_topk",
    "prob",
    "reranked_selected_ids",
    "fold",
)
SYSTEMS = ("retriever", "reranked")
DEPTH = 10


def made_queries(posts=18, criteria=("A.1", "A.2", "A.3"), seed=3):
    """Posts of 12 sentences, some with gold for a criterion; the reranker is the better of the two."""
    rng = random.Random(seed)
    queries = []
    for post in range(posts):
        sentences = [f"s{post}_{number}" for number in range(rng.randint(6, 12))]
        for criterion in criteria[: rng.choice([1, 2, 3, 3])]:
            gold = rng.sample(sentences, rng.choice([0, 0, 1, 2, 6]))
            query = {"post_id": f"p{post}", "criterion_id": criterion, "gold_ids": gold, "fold": str(post % 5)}
            for system, skill in zip(SYSTEMS, (1.0, 2.5)):
                drawn = {sentence: rng.random() + skill * rng.random() * (sentence in gold) for sentence in sentences}
                query[f"{system}_topk"] = sorted(sentences, key=drawn.get, reverse=True)[:DEPTH]
            query["prob"] = min(1.0, round(rng.random() * (1.6 if gold else 1.1), 2))
            query["reranked_selected_ids"] = query["reranked_topk"][: rng.choice([0, 1, 2, 3])]
            queries.append(query)
    return queries


def as_csv(queries, columns=COLUMNS):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for query in queries:
        cells = (query[name] for name in columns)
        writer.writerow("|".join(cell) if isinstance(cell, list) else cell for cell in cells)
    return text.getvalue()


def recall(gold, ranked, k):
    return len(set(ranked[:k]) & set(gold)) / len(gold) if gold else 0.0


def precision(gold, ranked, k):
    return len(set(ranked[:k]) & set(gold)) / k


def hit(gold, ranked, k):
    return 1.0 if set(ranked[:k]) & set(gold) else 0.0


def mrr(gold, ranked, k):
    return next((1.0 / rank for rank, one in enumerate(ranked[:k], 1) if one in gold), 0.0)


def precisions_at_hits(gold, ranked, k):
    return [
        len(set(ranked[:rank]) & set(gold)) / rank
        for rank in range(1, k + 1)
        if ranked[rank - 1 : rank] and ranked[rank - 1] in gold
    ]


def average_precision(gold, ranked, k):
    return sum(precisions_at_hits(gold, ranked, k)) / min(len(gold), k) if gold else 0.0


def ndcg(gold, ranked, k):
    if not gold:
        return 0.0
    gains = np.array([one in gold for one in ranked[:k]]) / np.log2(np.arange(2, len(ranked[:k]) + 2))
    return float(gains.sum() / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), k) + 1)))


METRICS = {"recall": recall, "precision": precision, "hit": hit, "mrr": mrr, "map": average_precision, "ndcg": ndcg}


def mean_of(metric, queries, system, k):
    return statistics.fmean(metric(query["gold_ids"], query[f"{system}_topk"], k) for query in queries)


def with_gold(queries):
    return [query for query in queries if query["gold_ids"]]


def by(queries, column):
    groups = {}
    for query in queries:
        groups.setdefault(query[column], []).append(query)
    return groups


def ranking(queries, system, depths=(1, 5, 10)):
    return {f"{name}@{k}": mean_of(metric, queries, system, k) for name, metric in METRICS.items() for k in depths}


def section(queries, system, *, skip, depths=(1, 5, 10)):
    """One system's metrics as such pipelines write them."""
    evaluated = with_gold(queries) if skip else queries
    return {
        **ranking(evaluated, system, depths),
        "queries_total": len(queries),
        "queries_with_positives": len(with_gold(queries)),
        "queries_evaluated": len(evaluated),
        "skip_no_positives": skip,
    }


def macro(queries, system):
    each = [ranking(group, system, (10,)) for group in by(queries, "criterion_id").values()]
    return {name: statistics.fmean(one[name] for one in each) for name in each[0]}


def folds(queries, system, k=10):
    each = [mean_of(ndcg, group, system, k) for group in by(queries, "fold").values()]
    return {"mean": statistics.fmean(each), "std": statistics.pstdev(each)}


def labels(queries):
    return np.array([bool(query["gold_ids"]) for query in queries]), np.array([query["prob"] for query in queries])


def detection(queries):
    truth, prob = labels(queries)
    fpr, tpr, thresholds = roc_curve(truth, prob, drop_intermediate=False)
    found = {"auroc": roc_auc_score(truth, prob), "auprc": average_precision_score(truth, prob)}
    for target in (0.03, 0.05, 0.1):
        last = np.flatnonzero(fpr <= target)[-1]
        found[f"tpr@fpr={target}"] = float(tpr[last])
        found[f"threshold@fpr={target}"] = float(thresholds[last]) if math.isfinite(thresholds[last]) else None
    return {**found, "has_evidence_rate": float(truth.mean())}


def ece(queries, *, closed=True, bins=10):
    truth, prob = labels(queries)
    tenths = np.round(prob * 100).astype(int) * bins // 100
    places = np.minimum(tenths, bins - 1) if closed else tenths
    inside = [places == place for place in range(bins)]
    return float(sum(mask.mean() * abs(truth[mask].mean() - prob[mask].mean()) for mask in inside if mask.any()))


def dynamic_k(queries):
    rows = []
    for query in queries:
        gold, chosen = set(query["gold_ids"]), set(query["reranked_selected_ids"])
        found = len(gold & chosen)
        r = found / len(gold) if gold else float(not chosen)
        p = found / len(chosen) if chosen else float(not gold)
        rows.append((r, p, 2 * p * r / (p + r) if p + r else 0.0, len(chosen)))
    return dict(
        zip(("evidence_recall", "evidence_precision", "evidence_f1", "avg_k"), map(statistics.fmean, zip(*rows)))
    )


def summary(queries, depths=(1, 5, 10)):
    """Everything such a pipeline reports, in every shape it is known to."""
    positives = with_gold(queries)
    return {
        "retriever": {
            "positives_only": section(queries, "retriever", skip=True, depths=depths),
            "all_queries": section(queries, "retriever", skip=False, depths=depths),
        },
        "reranked": {
            **section(queries, "reranked", skip=True, depths=depths),
            "per_criterion": {
                name: ranking(group, "reranked", (5,)) for name, group in by(positives, "criterion_id").items()
            },
            "macro": macro(positives, "reranked"),
            "folds": {
                fold: {"ndcg@10": mean_of(ndcg, group, "reranked", 10)} for fold, group in by(positives, "fold").items()
            },
            "ndcg@10_mean": folds(positives, "reranked")["mean"],
            "ndcg@10_std": folds(positives, "reranked")["std"],
        },
        "detection": {**detection(queries), "ece": ece(queries)},
        "dynamic_k": dynamic_k(queries),
        "queries_total": len(queries),
        "n_posts": len(by(queries, "post_id")),
    }
