"""Logs of lm-evaluation-harness, promptfoo, OpenAI evals and HELM, as those tools write them."""

CHOICES = ("Paris", "Rome", "Oslo", "Bern", "I don't know")
# Of each document: the gold choice, acc, acc_norm, and the log-likelihoods of the choices, as text.
DOCUMENTS = [
    (1, 0, 0, "-0.10905784593110368 -0.5512672460905512 -0.7065614098668896 -0.5474409113284238 -0.814466863291336"),
    (1, 0, 0, "-0.540283606970324 -0.9638385459738009 -0.603185627961383 -0.5876170641754364 -0.4449890262755162"),
    (2, 0, 0, "-0.5962868615831063 -0.38490114597266045 -0.5756510141648885 -0.290329502402758 -0.18939132855435614"),
    (3, 0, 0, "-0.1867295282555551 -0.6127731798686067 -0.6566593889896288 -0.47653099200938076 -0.08982436119559367"),
    (0, 1, 0, "-0.7576039219664368 -0.8767703708227748 -0.9233810159462806 -0.8424602231401824 -0.898173121357879"),
    (0, 0, 0, "-0.9230824398201768 -0.5405999249480544 -0.3912960502346249 -0.7052833998544062 -0.27563412131212717"),
    (3, 1, 0, "-0.8116287085078785 -0.8494859651863671 -0.8950389674266752 -0.5898011835311598 -0.9497648732321206"),
    (2, 0, 0, "-0.5796950107456059 -0.4505631066311552 -0.660245378622389 -0.9962578393535727 -0.9169412179474561"),
    (1, 1, 1, "-0.7933250841302242 -0.0823729881966474 -0.6127831050407122 -0.4864442019691668 -0.6301473404114728"),
    (1, 0, 0, "-0.8450775756715152 -0.24303562206185625 -0.7314892207908478 -0.11713429320851798 -0.22046053686782852"),
]


def chosen(number, gold, acc, acc_norm, loglikelihoods, **changes):
    """One line of a multiple-choice task; its numbers are texts."""
    pairs = [[value, "False"] for value in loglikelihoods.split()]
    choices = [*CHOICES[: len(pairs)]]
    return {
        "doc_id": number,
        "doc": {"document": f"doc{number // 2}", "choices": choices, "gold": gold},
        "target": str(gold),
        "arguments": {f"gen_args_{i}": {"arg_0": "Capital?", "arg_1": f" {text}"} for i, text in enumerate(choices)},
        "resps": [[pair] for pair in pairs],
        "filtered_resps": pairs,
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
        "acc": float(acc),
        "acc_norm": float(acc_norm),
    } | changes


def generated(number, answer, score, *, rule="first", samples=("a", "b", "a")):
    """One line of a generation task under one filter."""
    return {
        "doc_id": number,
        "doc": {"document": "d"},
        "target": "a",
        "arguments": {},
        "resps": [[*samples]],
        "filtered_resps": [answer],
        "filter": rule,
        "metrics": ["exact_match"],
        "exact_match": score,
    }


MULTIPLE = [chosen(number, *document) for number, document in enumerate(DOCUMENTS)]

CAPITALS = {"q1": "France", "q2": "Italy", "q3": "Peru", "q4": "Norway", "q5": "Ghana", "q6": "Japan"}
STATED = {"q1": 0.87, "q2": 0.7, "q3": 0.61, "q4": 0, "q5": 0.01, "q6": 0.21}


def promptfoo_row(test, **changes):
    """One row; the first question is declined, and the text of its failed assertion stands in `error`."""
    declined = test == "q1"
    score = 0 if declined else 1
    variables = {"country": CAPITALS[test], "document": f"d{(int(test[1]) + 1) // 2}"}
    response = {"output": "I don't know" if declined else "Rome", "metadata": {"confidence": STATED[test]}}
    return (
        {
            "namedScores": {"exact": score, "answered": score},
            "promptIdx": 0,
            "provider": {"id": "file://prov.py", "label": "sys-a"},
            "response": response | {"logProbs": [-0.65, -0.01]},
            "score": score,
            "success": not declined,
            "testCase": {"description": test, "vars": variables},
            "vars": variables,
            "metadata": {"topic": "europe", "confidence": STATED[test]},
            "failureReason": int(declined),
        }
        | ({"error": "Expected output to not contain"} if declined else {})
        | changes
    )


def promptfoo_results(rows, version=3):
    """A file of results; `testIdx` counts a repeated test as another one."""
    numbered = [{"testIdx": number, **each} for number, each in enumerate(rows)]
    inside = {"version": version, "timestamp": "2026-11-16T06:07:56.443Z", "prompts": [], "results": numbered}
    return {
        "evalId": "eval-r2O",
        "results": inside,
        "config": {"description": "capitals"},
        "metadata": {"promptfooVersion": "0.121.20"},
    }


TWICE = [promptfoo_row(test) for test in CAPITALS for _ in range(2)]

SPEC = {"completion_fns": ["demo"], "eval_name": "capitals.dev.v0", "run_id": "2611", "created_at": "2026-11-16"}
ANSWERS = ["Atlantis", "Paris", "Atlantis", "I don't know", "I don't know", "Oslo", "Bern"]
CORRECT = [False, True, False, False, False, True, True]
SURE = [0.95, 0.08, 0.74, 0.31, 0.61, 0.16, 0.39]


def evals_event(number, sample, kind, **data):
    return {"run_id": "2611", "event_id": number, "sample_id": sample, "type": kind, "data": data, "created_by": "x"}


def evals_events():
    """Eight samples, the last of which has an error in place of a match."""
    number = iter(range(100))
    for index, (answer, correct, confidence) in enumerate(zip(ANSWERS, CORRECT, SURE)):
        sample = f"capitals.dev.{index}"
        yield evals_event(next(number), sample, "sampling", prompt="?", sampled=[answer])
        yield evals_event(next(number), sample, "match", correct=correct, expected="x", picked=answer, sampled=answer)
        yield evals_event(next(number), sample, "metrics", confidence=confidence, note="text")
    yield evals_event(next(number), "capitals.dev.7", "sampling", prompt="?", sampled=["?"])
    yield evals_event(next(number), "capitals.dev.7", "error", type="RuntimeError", message="timeout")


EVENTS = [*evals_events()]
ENDS = [{"spec": SPEC}, {"final_report": {"accuracy": 0.5}, "run_id": "2611"}]


def helm_stat(name, mean, count=1):
    return {"name": {"name": name, "split": "test"}, "count": count, "mean": mean}


def helm_row(item, score, max_prob=1.0, perturbation=None):
    listed = [
        helm_stat("exact_match", score),
        helm_stat("max_prob", max_prob),
        helm_stat("logprob", 0.0),
        helm_stat("unused", 1, count=0),
    ]
    row = {"instance_id": item, "train_trial_index": 0, "stats": listed}
    return row | ({"perturbation": {"name": perturbation}} if perturbation else {})


def helm_state(item, text="A", *, success=True, perturbation=None):
    instance = {"id": item, "split": "test", "input": {"text": "?"}, "references": []}
    instance |= {"perturbation": {"name": perturbation}} if perturbation else {}
    result = {"success": success, "completions": [{"text": f" {text}", "logprob": 0, "tokens": []}]}
    mapping = {"A": "Even", "B": "I don't know"}
    return {"instance": instance, "train_trial_index": 0, "output_mapping": mapping, "result": result}
