"""The configuration of `demur produce`: a TOML file, overridden by flags and environment, and its checks."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from demur.errors import UserError, literal, located
from demur.files.strict_json import decode, read_bytes
from demur.files.strict_model import Part
from demur.files.strict_reading import one_line
from demur.files.toml import parsed_toml
from demur.types import Json

ZERO_SHOT, FEW_SHOT, BOTH = "zero_shot", "few_shot", "both"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile("key|token$|secret|passw|auth|bearer|credential|header|cookie", re.IGNORECASE)
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
# So plain that no two parsers can take it for the addresses of different machines.
_URL = re.compile(
    rf"https?://(?:\[[0-9a-f:.]+\]|{_LABEL}(?:\.{_LABEL})*\.?)(?::[0-9]{{1,5}})?(?:/[!$%&'()*+,./0-9:;=@A-Z_a-z~-]*)?",
    re.IGNORECASE | re.ASCII,
)
_MAY_DIFFER = ("timeout", "total_timeout", "concurrency", "requests_per_minute", "api_key_env", "embedding_api_key_env")
_Positive = Annotated[float, Field(gt=0)]
_NotNegative = Annotated[float, Field(ge=0)]
_Temperature = Annotated[float, Field(ge=0, le=2)]


class DataSettings(Part):
    """The inputs; paths are relative to the configuration file."""

    transcripts: str
    truth: str
    split: str
    reference_split: str = ""
    instrument: str = "PHQ-8"
    speaker: Literal["participant", "both"] = "participant"
    truth_prefix: str | None = None
    interruptions: str = ""
    chunk_scores: str = ""
    synthetic: bool = False


class EndpointSettings(Part):
    """The server and the model, timeouts, retries and limits."""

    base_url: str
    model: Annotated[str, Field(min_length=1)]
    api_key_env: str = "OPENAI_API_KEY"
    embedding_base_url: str = ""
    embedding_model: str = ""
    embedding_api_key_env: str = ""
    top_logprobs: Annotated[int, Field(ge=1, le=20)] = 5
    timeout: _Positive = 600.0
    total_timeout: _NotNegative = 0.0
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    requests_per_minute: _NotNegative = 0.0
    allow_missing: list[Literal["logprobs", "embeddings"]] = Field(default_factory=list)


class AssessSettings(Part):
    """The prompts, the sampling parameters, and how several samples are combined."""

    mode: Literal["zero_shot", "few_shot", "both"] = "both"
    prompts: str = "strict"
    temperature: _Temperature = 0.0
    max_tokens: Annotated[int, Field(ge=1)] = 4096
    consistency_samples: Annotated[int, Field(ge=1, le=1000)] = 1
    consistency_temperature: _Temperature = 0.2
    seed: Annotated[int, Field(ge=0)] = 7
    decision: Literal["mode", "seed"] = "mode"
    on_ungrounded: Literal["keep", "fail"] = "keep"

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes of the run, in the order of the file."""
        return (ZERO_SHOT, FEW_SHOT) if self.mode == BOTH else (self.mode,)

    @property
    def scoring_temperature(self) -> float:
        """The temperature of scoring: the plain one for one sample, that of consistency for several."""
        return self.temperature if self.consistency_samples == 1 else self.consistency_temperature


class ReferenceSettings(Part):
    """How references are split into chunks and selected; similarities are (1 + cosine) / 2."""

    chunk_lines: Annotated[int, Field(ge=1)] = 8
    chunk_step: Annotated[int, Field(ge=1)] = 2
    top_k: Annotated[int, Field(ge=1)] = 2
    min_similarity: Annotated[float, Field(ge=0, le=1)] = 0.0
    max_chars_per_item: Annotated[int, Field(ge=0)] = 0
    min_evidence_chars: Annotated[int, Field(ge=0)] = 8


class ProduceSettings(Part):
    """The whole configuration, flags and environment included."""

    data: DataSettings
    endpoint: EndpointSettings
    assess: AssessSettings = AssessSettings()
    retrieval: ReferenceSettings = ReferenceSettings()

    @property
    def embedding_url(self) -> str:
        """The address of the server for embeddings."""
        return self.endpoint.embedding_base_url or self.endpoint.base_url

    @property
    def identity(self) -> Json:
        """The settings that must be the same when a run is resumed: all except keys, timeouts and rates."""
        content = self.model_dump()
        content["endpoint"] = {name: value for name, value in content["endpoint"].items() if name not in _MAY_DIFFER}
        for name in ("base_url", "embedding_base_url"):
            content["endpoint"][name] = origin(content["endpoint"][name])
        return content


Changes = Mapping[str, Mapping[str, Any]]


def load_settings(path: Path, changes: Changes, *, allow_remote: bool = False) -> ProduceSettings:
    """Read a configuration file; `changes` from flags, by section and name, take precedence."""
    data = read_bytes(path)
    with located(path):
        content = parsed_toml(decode(data))
        for section in ProduceSettings.model_fields:
            if not isinstance(content.get(section, {}), dict):
                raise UserError(f"{section}: expected a table, [{section}]")
        for section, values in changes.items():
            given = {name: value for name, value in values.items() if value is not None}
            content[section] = content.get(section, {}) | given
        return checked_settings(_with_environment(content), allow_remote=allow_remote)


def checked_settings(content: Json, *, allow_remote: bool = False) -> ProduceSettings:
    """Check the tables of a TOML file and return the configuration."""
    _check_keys(content)
    try:
        settings = ProduceSettings.model_validate(content)
    except ValidationError as error:
        raise UserError(one_line(error)) from None
    for name in ("base_url", "embedding_base_url"):
        url = getattr(settings.endpoint, name)
        if url or name == "base_url":
            _check_url(f"endpoint.{name}", url, allow_remote=allow_remote)
    if FEW_SHOT in settings.assess.modes and not settings.data.reference_split:
        raise UserError("few_shot needs data.reference_split, whose participants are shown; or give --mode zero_shot")
    return settings


def _with_environment(content: Json) -> Json:
    """Add the variables CONSISTENCY_*, which count if neither file nor flag sets anything about consistency."""
    assess = content.get("assess", {})
    names = ("consistency_samples", "consistency_temperature")
    if not isinstance(assess, dict) or any(name in assess for name in names):
        return content
    if os.environ.get("CONSISTENCY_ENABLED", "").strip().lower() not in ("1", "true", "yes", "on"):
        return content
    samples, temperature = (os.environ.get(f"CONSISTENCY_{name}") for name in ("N_SAMPLES", "TEMPERATURE"))
    try:
        chosen = {names[0]: int(samples or 5), names[1]: float(temperature or 0.2)}
    except ValueError:
        given = f"CONSISTENCY_N_SAMPLES {literal(samples)}, CONSISTENCY_TEMPERATURE {literal(temperature)}"
        raise UserError(f"{given}: expected an integer and a number") from None
    return {**content, "assess": {**assess, **chosen}}


def _check_keys(content: Any, where: str = "") -> None:
    """Refuse a key in the file, which would be copied with it; the message never repeats a possible key."""
    for table in content if isinstance(content, list) else [content]:
        for name, value in table.items() if isinstance(table, dict) else ():
            if not name.endswith("key_env"):
                if _SECRET.search(name):
                    raise UserError(f"{where}{name}: a key is never read from a file; name a variable in api_key_env")
                _check_keys(value, f"{where}{name}.")
            elif value and not (isinstance(value, str) and _VARIABLE.fullmatch(value)):
                raise UserError(f"{where}{name}: expected the name of an environment variable, never a key itself")


def _check_url(name: str, url: str, *, allow_remote: bool) -> None:
    import httpx  # noqa: PLC0415  (an extra, which the other settings do not need)

    try:
        parts = urlsplit(url)
        bare = not (parts.username or parts.password or parts.query or parts.fragment)
        good = bool(_URL.fullmatch(url)) and parts.port != 0 and bool(httpx.URL(url).host)
    except (ValueError, httpx.InvalidURL):
        bare, good = True, False
    if not bare:
        raise UserError(f"{name}: expected an address without user, password, query and fragment")
    if not good:
        raise UserError(f"{name}: expected an address such as http://127.0.0.1:8080/v1")
    if not allow_remote and not is_loopback(url):
        where = f"{name} is {origin(url)}, so transcripts would leave this machine"
        raise UserError(f"{where}; if they may, give --allow-remote")


def is_loopback(url: str) -> bool:
    """Whether an address refers to this machine.

    >>> is_loopback("http://127.0.0.1:8080/v1"), is_loopback("http://[::1]/v1"), is_loopback("http://127.0.0.1.net/")
    (True, True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def origin(url: str) -> str:
    """An address without user, path and query, for the record of a run.

    >>> origin("https://user:word@host:8080/v1?key=1")
    'https://host:8080'
    """
    parts = urlsplit(url)
    if not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")
