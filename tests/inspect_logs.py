"""A log of Inspect in each of its containers: 12 questions on 6 documents, 2 epochs, 3 scorers, one failure."""

import importlib
import importlib.util
import io
import json
import math
import struct
import zipfile
import zlib

import pytest

IDS = [f"doc{document}-q{question}" for document in range(6) for question in range(2)]
# Of each epoch, the score of each question by `exact`; F: the sample failed.
EXACT = {1: "N I C I I I C C I I C I", 2: "C I C N I I C C I N C F"}
CONFIDENCE = {
    1: [0.87, 0.83, 0.92, 0.82, 0.69, 0.77, 0.51, 0.64, 0.58, 0.81, 0.57, 0.6],
    2: [0.99, 0.66, 0.94, 0.59, 0.98, 0.51, 0.97, 0.67, 0.5, 0.67, 0.91, None],
}
GRADED = {("doc2-q0", 2): 0.25}
LANGUAGES, TOPICS = ("en", "fr", "de"), ("europe", "america")

ZSTD = next((name for name in ("compression", "backports") if importlib.util.find_spec(name)), None)
needs_zstd = pytest.mark.skipif(ZSTD is None, reason="zstd needs Python 3.14 or backports.zstd (the extra inspect)")


def compress(data):
    return importlib.import_module(f"{ZSTD}.zstd").compress(data)


def sample(item, epoch, code, confidence):
    """One sample, with the events that repeat its scores, as the package writes them."""
    document = int(item[3])
    metadata = {"document": item[:4], "topic": TOPICS[document % 2], "language": LANGUAGES[document % 3]}
    start = {"id": item, "epoch": epoch, "input": f"Capital {item}?", "target": "Paris", "messages": [{"content": "?"}]}
    usage = {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14}
    if code == "F":
        error = {"message": "ValueError('endpoint went away')", "traceback": "…", "traceback_ansi": "…"}
        end = {"output": {"model": "m", "choices": [], "completion": ""}, "scores": {}, "metadata": metadata}
        return start | end | {"store": {}, "events": [], "model_usage": {}, "total_time": 0.25, "error": error}
    top = [
        {"token": "Pa", "logprob": math.log(confidence)},
        {"token": "xx", "logprob": math.log(0.9 - confidence * 0.9)},
    ]
    logprobs = {"content": [{"token": "Pa", "logprob": math.log(confidence), "bytes": [80, 97], "top_logprobs": top}]}
    declined = code == "N"
    answer = "I don't know" if declined else "Rome"
    graded = GRADED.get((item, epoch), 1.0 if code == "C" else 0.0)
    grade = {"value": math.nan, "reason": "declined"} if declined else {"value": graded}
    scores = {
        "exact": {"value": code, "answer": answer, "metadata": {"confidence": confidence}, "history": []},
        "graded": grade | {"answer": answer, "history": []},
        "both": {"value": {"correct": int(code == "C"), "polite": None if declined else 1}, "answer": answer},
    }
    return start | {
        "output": {"model": "m", "choices": [{"message": {"content": answer}, "logprobs": logprobs}]},
        "scores": scores,
        "metadata": metadata,
        "store": {},
        "events": [{"event": "score", "score": score} for score in scores.values()],
        "model_usage": {"m": usage},
        "total_time": 0.5,
        "error_retries": [],
    }


def scored(value, **changes):
    """A sample with one scorer that gave this value."""
    return sample("doc0-q0", 1, "C", 0.5) | {"scores": {"only": {"value": value} | changes}}


def samples():
    """All of them, an epoch after the other."""
    return [
        sample(item, epoch, code, confidence)
        for epoch in (1, 2)
        for item, code, confidence in zip(IDS, EXACT[epoch].split(), CONFIDENCE[epoch])
    ]


def header(**changes):
    """What a log says of itself; its results count an abstention as wrong."""
    evaluation = {
        "run_id": "RCRcc",
        "created": "2026-11-16T06:06:55+00:00",
        "task": "capitals",
        "dataset": {"samples": 12, "sample_ids": IDS},
        "model": "mockllm/model",
        "config": {"epochs": 2},
        "packages": {"inspect_ai": "0.3.285"},
    }
    results = {"scores": [{"metrics": {"accuracy": {"value": 0.375}, "mean": {"value": math.nan}}}]}
    return {"version": 2, "status": "success", "eval": evaluation, "plan": {}, "results": results} | changes


def json_log(all_samples=None, **changes):
    """A `.json` log."""
    content = header(**changes) | {"samples": samples() if all_samples is None else all_samples, "reductions": []}
    return json.dumps(content, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass")


def members_of(all_samples=None, *, chunked=False, **changes):
    """The members of an archive, a list of names with their content."""
    made = [("_journal/start.json", {"version": 2, "eval": header(**changes)["eval"]})]
    for each in samples() if all_samples is None else all_samples:
        name = f"samples/{each['id']}_epoch_{each['epoch']}"
        if chunked:
            apart = ("metadata", "events", "messages")
            made.append((f"{name}/sample.json", {key: value for key, value in each.items() if key not in apart}))
            made += [(f"{name}/metadata.json", each["metadata"])] * bool(each.get("metadata"))
            made += [(f"{name}/skeleton.json", {}), (f"{name}/events/0.json", each.get("events", []))]
        else:
            made.append((f"{name}.json", each))
    return [*made, ("summaries.json", []), ("reductions.json", []), ("header.json", header(**changes))]


def archive(members, method=zipfile.ZIP_DEFLATED):
    """An `.eval` file; method 93 (zstd) is packed by hand, a large member in several frames as the package does it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            data = content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode()
            packed.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


def zstd_archive(members, compress):
    """An `.eval` file with members that the standard library cannot pack everywhere, each of several frames."""
    body, directory = b"", b""
    for name, content in members:
        data, spelled = json.dumps(content, ensure_ascii=False).encode(), name.encode()
        parts = [data[start : start + 4000] for start in range(0, len(data), 4000)]
        frames = b"".join(map(compress, parts))
        common = struct.pack("<5H3L2H", 45, 0x800, 93, 0, 33, zlib.crc32(data), len(frames), len(data), len(spelled), 0)
        rest = struct.pack("<3H2L", 0, 0, 0, 0, len(body))
        directory += b"PK\1\2" + struct.pack("<H", 45) + common + rest + spelled
        body += b"PK\3\4" + common + spelled + frames
    count = len(members)
    return body + directory + b"PK\5\6" + struct.pack("<4H2LH", 0, 0, count, count, len(directory), len(body), 0)
