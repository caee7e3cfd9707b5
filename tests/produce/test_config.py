"""The configuration: flags win over the file and the file over the environment; a key in it is refused unseen."""

import pytest

from demur import UserError
from demur.extensions.produce.config import load_settings

FILE = """\
[data]
transcripts = "transcripts"
truth = "truth.csv"
split = "dev.csv"
reference_split = "train.csv"
[endpoint]
base_url = "{url}"
model = "gemma3:27b"
{endpoint}
[assess]
{assess}
"""
LOCAL = "http://127.0.0.1:8080/v1"


def settings(tmp_path, changes=None, url=LOCAL, endpoint="", assess="", **how):
    path = tmp_path / "produce.toml"
    path.write_text(FILE.format(url=url, endpoint=endpoint, assess=assess))
    return load_settings(path, changes or {}, **how)


def test_what_is_not_given_has_the_documented_default(tmp_path):
    found = settings(tmp_path)
    assert found.endpoint.model_dump() == {
        "base_url": LOCAL,
        "model": "gemma3:27b",
        "api_key_env": "OPENAI_API_KEY",
        "embedding_base_url": "",
        "embedding_model": "",
        "embedding_api_key_env": "",
        "top_logprobs": 5,
        "timeout": 600.0,
        "total_timeout": 0.0,
        "retries": 4,
        "concurrency": 4,
        "requests_per_minute": 0.0,
        "allow_missing": [],
    }
    assert found.assess.model_dump() == {
        "mode": "both",
        "prompts": "strict",
        "temperature": 0.0,
        "max_tokens": 4096,
        "consistency_samples": 1,
        "consistency_temperature": 0.2,
        "seed": 7,
        "decision": "mode",
        "on_ungrounded": "keep",
    }
    assert found.retrieval.model_dump() == {
        "chunk_lines": 8,
        "chunk_step": 2,
        "top_k": 2,
        "min_similarity": 0.0,
        "max_chars_per_item": 0,
        "min_evidence_chars": 8,
    }


def test_flags_win_over_the_file(tmp_path):
    changes = {"assess": {"seed": 9, "mode": None}, "endpoint": {"model": "other"}}
    found = settings(tmp_path, changes, assess='seed = 8\nmode = "zero_shot"')
    assert (found.assess.seed, found.assess.mode, found.endpoint.model) == (9, "zero_shot", "other")


def test_the_environment_counts_where_nothing_else_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("CONSISTENCY_ENABLED", "true")
    found = settings(tmp_path).assess
    assert (found.consistency_samples, found.consistency_temperature, found.scoring_temperature) == (5, 0.2, 0.2)
    monkeypatch.setenv("CONSISTENCY_N_SAMPLES", "3")
    monkeypatch.setenv("CONSISTENCY_TEMPERATURE", "0.7")
    found = settings(tmp_path).assess
    assert (found.consistency_samples, found.consistency_temperature) == (3, 0.7)
    assert settings(tmp_path, {"assess": {"consistency_samples": 2}}).assess.consistency_samples == 2
    assert settings(tmp_path, assess="consistency_samples = 1").assess.consistency_samples == 1
    monkeypatch.setenv("CONSISTENCY_N_SAMPLES", "many")
    with pytest.raises(UserError, match="CONSISTENCY_N_SAMPLES 'many'.*expected an integer and a number"):
        settings(tmp_path)


KEYS = [
    'api_key = "sk-secret"',
    'api_key_env = "sk-secret"',
    'api_key_env = ["sk-secret"]',
    'authorization = "sk-secret"',
    'bearer = "sk-secret"',
    'headers = {Authorization = "Bearer sk-secret"}',
    'x = "sk-secret"',
    'extra = {x = ["sk-secret"]}',
    'more = [{pass = "sk-secret"}]',
    'model = {x = "sk-secret"}',
    'timeout = ["sk-secret"]',
    '[headers]\nx = "sk-secret"',
    '[[others]]\nx = "sk-secret"',
    '[[endpoint.model]]\nx = "sk-secret"',
]


@pytest.mark.parametrize("endpoint", KEYS)
def test_a_key_in_the_file_is_refused_and_not_repeated(tmp_path, endpoint):
    with pytest.raises(UserError) as error:
        settings(tmp_path, endpoint=endpoint)
    assert "secret" not in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'produce.toml'}: ")


@pytest.mark.parametrize("text", ['endpoint = "sk-secret"', '[[endpoint]]\nx = "sk-secret"', 'bearer = "sk-secret"'])
@pytest.mark.parametrize("changes", [{}, {"endpoint": {"model": "m"}}])
def test_a_key_in_place_of_a_table_is_not_repeated(tmp_path, text, changes):
    (tmp_path / "produce.toml").write_text(text)
    with pytest.raises(UserError) as error:
        load_settings(tmp_path / "produce.toml", changes)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "url", ["https://api.example.com/v1", "http://192.168.1.5:8080/v1", "http://127.0.0.1.evil.net"]
)
def test_transcripts_leave_the_machine_only_if_they_may(tmp_path, url):
    with pytest.raises(UserError, match="transcripts would leave this machine; if they may, give --allow-remote"):
        settings(tmp_path, url=url)
    assert settings(tmp_path, url=url, allow_remote=True).endpoint.base_url == url
    with pytest.raises(UserError, match="endpoint.embedding_base_url is .*transcripts would leave"):
        settings(tmp_path, endpoint=f'embedding_base_url = "{url}"')


@pytest.mark.parametrize("url", ["http://localhost:1/v1", "http://[::1]:80", "http://127.8.9.1/v1/"])
def test_addresses_of_this_machine_are_fine(tmp_path, url):
    assert settings(tmp_path, url=url).endpoint.base_url == url


NO_ADDRESSES = (
    *("127.0.0.1:80", "ftp://127.0.0.1", "http://", "http://127.0.0.1:99999/", "http://[::1", "http:127.0.0.1"),
    *(
        "http://127.0.0.1:0/",
        "http://127.0.0.1:-1/",
        "http://127.0.0.1:８０/",
        "http://127.0.0.1:+80/",
        "http://[::1%25x]/",
    ),
    *(
        "http://xn--/",
        "http://xn--a.b/",
        "http://a..b/",
        "http://-a/",
        "http://999.1.1.1/",
        "http://[1.2.3.4]/",
        "http://²/",
    ),
    *(
        "http://127.0.0.1 .b/",
        "http://127.0.0.1\\t.b/",
        "http://127.0.0.1\\u0000/",
        "http://127.0.0.1/\\u202e",
        "http://é/",
    ),
    *(f"http://{'a' * 64}/", "http://a/" + "a" * 70_000, "http://127.0.0.1\\\\@b/", "http://[::1]b/", "http://a%2eb/"),
)


@pytest.mark.parametrize("url", NO_ADDRESSES, ids=lambda url: ascii(url)[:40])
def test_an_address_that_is_none_is_refused(tmp_path, url):
    with pytest.raises(UserError, match=r"endpoint.base_url: expected an address (such as|without user)"):
        settings(tmp_path, url=url, allow_remote=True)


@pytest.mark.parametrize(
    "url", ["HTTPS://Example.com/v1", "http://my_server:11434/v1", "https://a-b.example.:443/a%20b/v1"]
)
def test_addresses_elsewhere_are_fine_if_they_may(tmp_path, url):
    assert settings(tmp_path, url=url, allow_remote=True).endpoint.base_url == url


@pytest.mark.parametrize("url", ["http://user:word@127.0.0.1/v1", "http://127.0.0.1/v1?key=word"])
def test_an_address_with_a_secret_in_it_is_refused_and_not_repeated(tmp_path, url):
    with pytest.raises(UserError, match="without user, password, query and fragment") as error:
        settings(tmp_path, url=url)
    assert "word@" not in str(error.value)
    assert "key=word" not in str(error.value)


WRONG = {
    "retries = -1": "endpoint.retries: Input should be greater than or equal to 0, not -1",
    "tiemout = 5": "endpoint.tiemout: Extra inputs are not permitted",
    'timeout = "5"': "endpoint.timeout: Input should be a valid number, not '5'",
    'allow_missing = ["x"]': "endpoint.allow_missing.0: Input should be 'logprobs' or 'embeddings', not 'x'",
}


@pytest.mark.parametrize("endpoint", WRONG)
def test_a_wrong_value_is_one_line_that_names_it(tmp_path, endpoint):
    with pytest.raises(UserError) as error:
        settings(tmp_path, endpoint=endpoint)
    assert str(error.value) == f"{tmp_path / 'produce.toml'}: {WRONG[endpoint]}"


def test_few_shot_needs_references(tmp_path):
    with pytest.raises(UserError, match="few_shot needs data.reference_split"):
        settings(tmp_path, {"data": {"reference_split": ""}})
    assert settings(tmp_path, {"data": {"reference_split": ""}, "assess": {"mode": "zero_shot"}})


def test_what_a_folder_is_begun_with_holds_no_path_of_an_address(tmp_path):
    identity = settings(tmp_path).identity
    assert identity["endpoint"]["base_url"] == "http://127.0.0.1:8080"
    assert not {"timeout", "concurrency", "requests_per_minute"} & {*identity["endpoint"]}
