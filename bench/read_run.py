"""Reading a large run file, as a multiple of what json.loads alone takes for the same bytes."""

from __future__ import annotations

import json
import random
import resource
import tempfile
import time
from pathlib import Path

from demur import PHQ8, read_run

PEOPLE = 10_000
SIGNALS = (
    "llm_evidence_count",
    "keyword_evidence_count",
    "evidence_source",
    "retrieval_reference_count",
    "retrieval_similarity_mean",
    "retrieval_similarity_max",
    "verbalized_confidence",
    "token_msp",
    "token_pe",
    "token_energy",
    "consistency_modal_confidence",
    "consistency_score_std",
    "consistency_na_rate",
    "answer_length",
    "latency_seconds",
)


def signals(rng: random.Random) -> dict[str, object]:
    """One unit's signals: counts, text, numbers of full length, a null now and then."""
    values: dict[str, object] = {name: rng.random() for name in SIGNALS}
    values |= {name: rng.randint(0, 5) for name in SIGNALS if name.endswith("_count")}
    values |= {"evidence_source": rng.choice(["llm", "both", None]), "verbalized_confidence": rng.randint(1, 5)}
    return values | ({"retrieval_similarity_mean": None} if rng.random() < 0.2 else {})  # noqa: PLR2004


def large_run() -> bytes:
    rng = random.Random(0)  # noqa: S311
    people = [
        {
            "participant_id": person,
            "success": True,
            "ground_truth_items": {item: rng.randint(0, 3) for item in PHQ8.items},
            "predicted_items": {item: rng.choice([None, 0, 1, 2, 3]) for item in PHQ8.items},
            "item_signals": {item: signals(rng) for item in PHQ8.items},
        }
        for person in range(PEOPLE)
    ]
    return json.dumps({"experiments": [{"results": {"mode": "few_shot", "results": people}}]}).encode()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        path.write_bytes(data := large_run())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        plain, ours = [], []
        for _ in range(3):
            start = time.perf_counter()
            parsed = json.loads(data)
            plain.append(time.perf_counter() - start)
            del parsed
            start = time.perf_counter()
            items = read_run(path)
            ours.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{items}: {len(data) / 1e6:.0f} MB; json.loads alone = 1 ({min(plain):.2f} s here)")
    print(f"  read_run                                 {min(ours) / min(plain):6.2f}   (promised: at most 4)")
    print(f"  peak memory of the process {peak >> 10} MB, {before >> 10} MB before reading   (promised: at most 1 GB)")


if __name__ == "__main__":
    main()
