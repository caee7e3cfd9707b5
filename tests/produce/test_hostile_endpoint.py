"""An endpoint that is broken or hostile costs no more than its timeout, and is told in one line."""

import gzip
import itertools
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from commands import demur
from demur.extensions.produce.config import checked_settings
from demur.extensions.produce.endpoint import Endpoint, HttpRequest
from demur.extensions.produce.failures import ParticipantFailure
from demur.extensions.produce.rate_limits import Pace
from parametrized import parametrize_few

KEY = ("zero_shot", "300", "score", 1)
TIMEOUT, LONGEST = 0.4, 5.0  # seconds of a request, and after which a server gives up by itself
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@contextmanager
def serving(*pieces, pause=0.02, tls=None):
    """The address of a server that sends these bytes to everyone: the last piece again and again, after a pause."""
    stop = threading.Event()

    def talk(connection):
        until = time.monotonic() + LONGEST
        with connection:
            try:
                connection = tls.wrap_socket(connection, server_side=True) if tls else connection
                connection.recv(65_536)
                for piece in itertools.chain(pieces, itertools.repeat(pieces[-1])):
                    if stop.is_set() or time.monotonic() > until or piece is None:
                        return
                    connection.sendall(piece)
                    stop.wait(pause)
            except OSError:
                pass

    def accept():
        while not stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(LONGEST)
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            stop.set()


def settings(url, **endpoint):
    data = {"transcripts": "", "truth": "", "split": "", "reference_split": "x"}
    fields = {"base_url": url, "model": "m", "timeout": TIMEOUT, "retries": 0, **endpoint}
    return checked_settings({"data": data, "endpoint": fields})


def asked(url):
    """What became of one request, and the seconds it took."""
    started = time.monotonic()
    with Endpoint(settings(url), Pace(1), lambda *_: None) as endpoint:
        try:
            outcome = endpoint.call(HttpRequest("/models", KEY)).body
        except ParticipantFailure as failure:
            outcome = failure.category
    return outcome, time.monotonic() - started


ENDLESS = {
    "nothing": [b""],
    "headers": [HEAD, b"X: y\r\n"],
    "a header, byte by byte": [HEAD + b"X: ", b"y"],
    "the first line": [b"H", b"T"],
    "informational replies": [b"HTTP/1.1 100 Continue\r\n\r\n"],
    "early hints": [b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"],
    "a body": [HEAD + b"Content-Length: 9999999\r\n\r\n{", b" "],
    "a body without a length": [HEAD + b"\r\n{", b" "],
    "chunks": [CHUNKED, b"1\r\n \r\n"],
    "an extension of a chunk": [CHUNKED + b"1;x=", b"y"],
    "a trailer": [CHUNKED + b"2\r\n{}\r\n0\r\n", b"X: y\r\n"],
}


@parametrize_few("what", ENDLESS, 3)
def test_one_deadline_holds_for_the_whole_exchange(what):
    with serving(*ENDLESS[what]) as url:
        outcome, seconds = asked(url)
    assert (outcome, seconds < TIMEOUT + 1) == ("timeout", True)


@pytest.mark.slow
def test_a_flood_of_informational_replies_is_no_way_around_it():
    with serving(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, pause=0) as url:
        outcome, seconds = asked(url)
    assert (outcome, seconds < TIMEOUT + 1.5) == ("timeout", True)


def test_the_deadline_is_that_of_every_request_of_several_at_once():
    """A reply that never comes to an end delays no other."""
    with serving(*ENDLESS["headers"]) as slow, serving(HEAD + b"Content-Length: 2\r\n\r\n{}", None) as good:
        waiting = threading.Thread(target=asked, args=(slow,))
        waiting.start()
        assert asked(good)[0] == {}
        waiting.join()


@pytest.mark.parametrize("how", [b"gzip", b"gzip, gzip", b"identity\r\nContent-Encoding: GZIP", b"br", b"x-other"])
def test_a_packed_reply_is_never_unpacked(how):
    """Packed twice, some kilobytes become gigabytes."""
    data = gzip.compress(b"{}")
    with serving(HEAD + b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (how, len(data)) + data, None) as url:
        assert asked(url)[0] == "server_error"


def test_blocks_that_unpack_to_nothing_are_not_waited_for():
    empty = b"\x00\x00\x00\xff\xff"
    with serving(HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10], empty) as url:
        outcome, seconds = asked(url)
    assert (outcome, seconds < TIMEOUT + 1) == ("server_error", True)


@parametrize_few("scheme", ["https", "HTTPS", "Https", "httpS"], 2)
@pytest.mark.slow
def test_a_certificate_is_checked_however_the_scheme_is_spelled(scheme):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(Path(__file__).parent / "data" / "self-signed.pem")
    with serving(HEAD + b"Content-Length: 2\r\n\r\n{}", None, tls=tls) as url:
        assert asked(url.replace("https", scheme))[0] == "connection"


@pytest.mark.parametrize("expires", [b"never", b"01-Jan-" + b"1" * 5000, b" " * 90_000 + b"x"])
def test_cookies_are_ignored(expires):
    with serving(HEAD + b"Set-Cookie: a=b; expires=" + expires + b"\r\nContent-Length: 2\r\n\r\n{}", None) as url:
        assert asked(url)[0] == {}


def test_a_reply_is_bounded(monkeypatch):
    monkeypatch.setenv("DEMUR_MAX_LINE", "1K")
    with serving(HEAD + b"Content-Length: 2000\r\n\r\n{" + b" " * 1998 + b"}", None) as url:
        assert asked(url)[0] == "server_error"


def test_a_key_that_no_header_can_hold_is_told_by_its_variable(tmp_path, monkeypatch):
    for key in ("ключ-secret", "sk-secret\nX-Evil: 1", "sk secret", "sk-secret\x1b[2J"):
        monkeypatch.setenv("MY_KEY", key)
        (tmp_path / "p.toml").write_text(
            '[data]\ntranscripts=""\ntruth=""\nsplit=""\n[assess]\nmode="zero_shot"\n'
            '[endpoint]\nbase_url="http://127.0.0.1:9/v1"\nmodel="m"\napi_key_env="MY_KEY"\n'
        )
        told = demur(tmp_path, "produce", "--probe", "--config", "p.toml")
        assert (told.returncode, told.stderr.count("\n"), "secret" in told.stderr) == (2, 1, False)
        assert "the value of MY_KEY is not a key" in told.stderr
