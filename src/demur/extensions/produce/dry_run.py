"""A dry run: the number and the length of the requests, and missing transcripts, without sending a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from demur.extensions.produce.config import FEW_SHOT, ZERO_SHOT
from demur.extensions.produce.failures import ParticipantFailure
from demur.extensions.produce.inputs import Inputs
from demur.extensions.produce.references import passages_of
from demur.facts.ids import ClusterId


def dry_run(inputs: Inputs, people: Sequence[ClusterId], *, show_prompts: bool = False) -> Iterator[str]:
    """Lines that describe what a run would do; they quote transcripts only with `show_prompts`."""
    settings, prompts = inputs.settings, inputs.prompts
    read, broken = dict[str, str](), dict[str, str]()
    for person in map(str, people):
        try:
            read[person] = "\n".join(inputs.transcripts.read(person))
        except ParticipantFailure as failure:
            broken[person] = failure.category
    assess, modes = settings.assess, settings.assess.modes
    yield f"{inputs.instrument.name}: {len(people)} participants of {len(inputs.people)}, modes {', '.join(modes)}"
    for person, category in broken.items():
        yield f"participant {person} would fail: {category}"
    requests = len(read) * (1 + assess.consistency_samples * len(modes))
    yield f"{requests} chat requests: {len(read)} for evidence, {requests - len(read)} for scores"
    if FEW_SHOT in modes:
        passages = passages_of(inputs)
        count = len(inputs.references)
        yield f"{len(passages)} passages of {count} references to embed, and one request per participant"
    yield f"prompts {prompts.about['name']} {prompts.about['version']}, {prompts.sha256[:12]}"
    yield from _prompt_lines(inputs, [*read.values()], show_prompts=show_prompts)


def _prompt_lines(inputs: Inputs, transcripts: Sequence[str], *, show_prompts: bool) -> Iterator[str]:
    """The lengths of the prompts, and with `show_prompts` the first of each kind."""
    prompts = inputs.prompts
    requests = {
        "evidence": [prompts.evidence_messages(transcript) for transcript in transcripts],
        f"score ({ZERO_SHOT})": [prompts.score_messages(transcript) for transcript in transcripts],
    }
    for name, listed in requests.items():
        if listed:
            lengths = sorted(sum(len(message["content"]) for message in messages) for messages in listed)
            yield f"{name}: {lengths[0]} to {lengths[-1]} characters, median {median(lengths):g}"
    if show_prompts:
        for name, listed in requests.items():
            for message in listed[0] if listed else ():
                yield f"--- {name}, {message['role']}\n{message['content']}"
