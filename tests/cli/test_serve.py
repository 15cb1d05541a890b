"""`serve`: the commands over HTTP, by their description; what hostile requests get; what happens if a client leaves."""

import argparse
import base64
import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relax_core.cli import main
from relax_core.cli.command_line import parser
from relax_core.cli.integration.completion import FILES
from relax_core.cli.integration.serving.application import BODY_BYTES
from relax_core.cli.integration.serving.arguments import BadRequestError, CommandRequest, requests_of
from tests.engine.programs import ENDLESS, SAMPLES, SMALL
from tests.processes import family_of, is_alive, wait_until

JSON = {"Content-Type": "application/json"}
RELAY = (SAMPLES / "relay" / "conv_bn_relu.relay").read_text(encoding="utf-8")
TABLE = (SAMPLES / "patterns" / "dnnl.json").read_text(encoding="utf-8")
KERNEL = (SAMPLES / "tir" / "matmul.py").read_text(encoding="utf-8")
SENT = {
    "a.py": SMALL,
    "b.py": SMALL.replace("x, x", "x, R.add(x, x)"),
    "m.relay": RELAY,
    "t.json": TABLE,
    "k.py": KERNEL,
}
# A request of each command, besides `sent`.
REQUESTS: dict[str, dict[str, Any]] = {
    "check": {"files": ["a.py", "b.py"]},
    "script": {"file": "a.py", "read_back": True},
    "opt": {"file": "a.py", "passes": "LegalizeOps"},
    "diff": {"before": "a.py", "after": "b.py", "structure": True},
    "effects": {"file": "a.py"},
    "costs": {"file": "a.py"},
    "asm": {"file": "a.py", "as": "bytecode"},
    "run": {"file": "a.py", "seed": 3},
    "inside": {"file": "k.py", "entry": "matmul", "go": ["next 3"]},
    "bisect": {"files": ["a.py"], "halve": 0.5},
    "compare": {"files": ["a.py"], "stages": [0, 1]},
    "partition": {"file": "m.relay", "table": "t.json"},
    "match": {"file": "m.relay", "table": "t.json"},
    "devices": {"file": "m.relay"},
    "origins": {"file": "a.py", "line": 6},
    "ops": {"name": "relax.add"},
    "explain": {"name": ["LambdaLift"]},
    "stages": {"files": ["a.py", "b.py"]},
}
OUTSIDE = (
    "/etc/passwd",
    "../a.py",
    "x/../../a.py",
    "-",
    "",
    ".hidden",
    "~/a.py",
    "a.py/",
    "//a.py",
    "a\0.py",
    "ä.py",
    "x" * 201,
)
WRONG: tuple[Any, ...] = (None, True, 1.5, "", [], {}, [[]], {"a": 1}, -1, "\0", [None])


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[str]
    port: int

    def send(self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> Answer:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            link.request(method, path, body, headers or {})  # pyright: ignore[reportArgumentType]
            found = link.getresponse()
            return Answer(found.status, found.headers, found.read())
        finally:
            link.close()

    def ask(self, command: str, sent: object = SENT, **members: object) -> Answer:
        body = json.dumps({"sent": sent, **members}).encode()
        return self.send("POST", f"/{command}", body, JSON)


@contextmanager
def serving(*options: str) -> Generator[Server]:
    command = (sys.executable, "-m", "relax_core", "serve", "--port", "0", *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            place = re.search(r"http://127\.0\.0\.1:(\d+)/openapi\.json", process.stdout.readline())
            assert place is not None
            yield Server(process, int(place[1]))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


@pytest.fixture(scope="module")
def described(server: Server) -> dict[str, Any]:
    return server.send("GET", "/openapi.json").json


def schema_validator() -> Any:
    """The class that holds values against schemas; to load it takes seconds, which every process would spend."""
    return import_module("jsonschema").Draft202012Validator


def fits(described: dict[str, Any], name: str, value: Any) -> list[str]:
    """Return what is wrong with a value by the schema of a name."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": described["components"]}
    return [item.message for item in schema_validator()(schema).iter_errors(value)]


def request_of(name: str) -> CommandRequest:
    return next(item for item in requests_of(parser()) if item.name == name)


def test_the_requests_are_the_commands_that_print_json(described: dict[str, Any]) -> None:
    posted = {path.strip("/") for path, methods in described["paths"].items() if "post" in methods}
    assert posted == {item.name for item in requests_of(parser())} == set(REQUESTS)
    assert described["openapi"].startswith("3.1.")
    for schema in described["components"]["schemas"].values():
        schema_validator().check_schema(schema)
    text = json.dumps(described)
    assert set(re.findall(r'"#/components/schemas/(\w+)"', text)) == set(described["components"]["schemas"])


def test_each_option_is_told_with_what_it_is_for(described: dict[str, Any]) -> None:
    for item in requests_of(parser()):
        members = described["components"]["schemas"][item.type.__name__]["properties"]
        assert set(members) == {*item.actions, "sent"}
        assert all(members[name]["description"] for name in members)


@pytest.mark.parametrize("command", REQUESTS)
def test_a_command_is_carried_out(command: str, server: Server, described: dict[str, Any]) -> None:
    request = {"sent": SENT, **REQUESTS[command]}
    assert fits(described, request_of(command).type.__name__, request) == []
    answer = server.ask(command, **REQUESTS[command])
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == "application/json"
    assert fits(described, "Outcome", answer.json) == []
    assert answer.json["results"], answer.json


def test_the_answer_is_what_the_command_line_prints(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = SMALL.replace("R.add(x, x)", "R.add(x, q)")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(wrong, encoding="utf-8")
    for arguments, members in (
        (("check", "a.py"), {"files": ["a.py"]}),
        (("run", "a.py"), {"file": "a.py"}),
        (("script", "a.py", "--dialect", "ast"), {"file": "a.py", "dialect": "ast"}),
    ):
        status = main([*arguments, "--json"])
        printed = capsys.readouterr()
        found = server.ask(arguments[0], {"a.py": wrong}, **members).json
        assert found["status"] == status
        assert found["results"] == [json.loads(line) for line in printed.out.splitlines()]
        assert found.get("messages", "") == printed.err


def test_a_program_that_is_wrong_is_told_with_its_places(server: Server) -> None:
    answer = server.ask("opt", {"a.py": SMALL.replace("x, x", "x, q")}, file="a.py", passes="LegalizeOps")
    assert answer.status == 200
    assert answer.json["status"] == 1
    (stopped,) = answer.json["stopped"]
    (problem,) = stopped["problems"]
    assert (stopped["kind"], problem["code"], problem["line"]) == ("diagnosed", "RS001", 7)


def test_text_is_printed_where_objects_are_not_wanted(server: Server) -> None:
    assert "@main" in server.ask("asm", file="a.py", json=False).json["text"]
    assert "R.add" in server.ask("run", file="a.py", json=False, stops=1, **{"break": ["7"]}).json["text"]
    assert server.ask("partition", file="m.relay", table="t.json", markdown=True).json["text"].startswith("**")


def test_archives_come_and_go_in_base64(server: Server) -> None:
    packed = io.BytesIO()
    np.savez(packed, in_0=np.arange(6, dtype=np.float32).reshape(2, 3))
    sent = {**SENT, "in/x.npz": {"base64": base64.b64encode(packed.getvalue()).decode()}}
    found = server.ask("run", sent, file="a.py", inputs="in/x.npz", outputs="y.npz").json
    assert set(found["written"]) == {"y.npz"}
    with np.load(io.BytesIO(base64.b64decode(found["written"]["y.npz"]["base64"]))) as result:
        assert result["out"].tolist() == [[0, 2, 4], [6, 8, 10]]


def test_a_file_that_is_written_as_text_is_given_as_text(server: Server) -> None:
    found = server.ask("bisect", files=["a.py"], reproducer="bug.py", halve=0).json
    assert all(isinstance(text, str) for text in found.get("written", {}).values())
    traced = server.ask("opt", file="a.py", passes="LegalizeOps", trace="t.rxt").json["written"]["t.rxt"]
    opened = server.ask("stages", {"t.rxt": traced}, files=["t.rxt"]).json
    assert [row["name"] for row in opened["results"]][-1] == "LegalizeOps"


def test_a_file_with_the_name_of_a_module_is_a_text_and_is_not_imported(server: Server) -> None:
    trap = "raise SystemExit('imported')\n"
    names = ("numpy.py", "json.py", "sitecustomize.py", "relax_core/__init__.py", "usercustomize.py")
    found = server.ask("run", {**dict.fromkeys(names, trap), "a.py": SMALL}, file="a.py").json
    assert found["status"] == 0, found


@pytest.mark.parametrize("command", REQUESTS)
def test_a_member_of_another_type_is_refused(command: str, server: Server, described: dict[str, Any]) -> None:
    name = request_of(command).type.__name__
    asked = 0
    for member in (*request_of(command).actions, "unheard_of", "pass_file", "in_process"):
        for value in WRONG:
            request = {"sent": SENT, **REQUESTS[command], member: value}
            if not fits(described, name, request):
                continue
            asked += 1
            answer = server.send("POST", f"/{command}", json.dumps(request).encode(), JSON)
            assert answer.status == 400, (member, value, answer.body)
            assert answer.headers["content-type"] == "application/problem+json"
            assert fits(described, "Refusal", answer.json) == []
            assert answer.json["exit_status"] == 2
    assert asked > len(WRONG)


def test_what_the_description_forbids_the_server_refuses_and_nothing_else() -> None:
    for item in requests_of(parser()):
        for group in item.groups:
            both = {name: _value(item.actions[name]) for name in group}
            body = json.dumps({**REQUESTS[item.name], **both}).encode()
            with pytest.raises(BadRequestError, match="do not go together"):
                item.arguments(body)


def _value(action: argparse.Action) -> Any:
    if action.nargs == 0:
        return True
    if action.choices is not None:
        return next(iter(action.choices))
    return 1 if action.type in (int, float) else "x"


@pytest.mark.parametrize("command", REQUESTS)
def test_no_file_outside_of_the_request_is_read_or_written(command: str, server: Server) -> None:
    members = [
        name for name, action in request_of(command).actions.items() if action.dest in FILES and action.nargs != 0
    ]
    for member in members:
        action = request_of(command).actions[member]
        many = action.nargs == "+" or isinstance(action.default, list)
        for path in (*OUTSIDE, str(Path(__file__)), f"{os.getcwd()}/README.md", "/tmp/x@1"):
            answer = server.ask(command, **{**REQUESTS[command], member: [path] if many else path})
            assert answer.status == 400, (member, path, answer.body)
            assert b"root:" not in answer.body
    for path in OUTSIDE:
        answer = server.ask(command, {path: "text"}, **REQUESTS[command])
        assert answer.status == 400, (path, answer.body)


@pytest.mark.parametrize("value", ["/etc/x.npy", "../x.npy", "a/../../x.npy"])
def test_a_change_reads_no_file_that_was_not_sent(value: str, server: Server) -> None:
    answer = server.ask("run", file="a.py", set=[f"7: y = {value}"])
    assert (answer.status, answer.json["detail"]) == (400, f"{value} is no name of a file that is sent along")


def test_no_python_stands_in(server: Server) -> None:
    sent = {**SENT, "evil.py": "def f(*_): raise SystemExit"}
    assert server.ask("run", sent, file="a.py", stand_in=["g=evil.py:f"]).status == 400
    assert server.ask("run", sent, file="a.py", stand_in=["g=zeros"]).status == 200


def test_files_that_cannot_be_in_one_folder_are_refused(server: Server) -> None:
    answer = server.ask("check", {"a": "x", "a/b.py": SMALL}, files=["a/b.py"])
    assert (answer.status, answer.json["exit_status"]) == (400, 2)


BROKEN = {
    "nothing": b"",
    "half": b"{",
    "an array": b"[]",
    "null": b"null",
    "no text": b"\xff\xfe",
    "cut": b'{"files": ["a.py"]',
    "deep": b"[" * 100_000,
    "deep objects": b'{"files":' * 10_000,
    "half a character": b'{"sent": {"a.py": "\\ud800"}, "files": ["a.py"]}',
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_a_body_that_is_no_request_is_refused(body: bytes, server: Server) -> None:
    answer = server.send("POST", "/check", body, JSON)
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")


def test_other_types_addresses_and_methods_are_refused(server: Server) -> None:
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
    ):
        assert server.send("POST", "/check", b"{}", {"Content-Type": kind}).status == 415
    assert server.send("POST", "/check", b"{}").status == 415
    assert server.send("GET", "/check").status == 405
    for path in (
        "/",
        "/checks",
        "/../etc/passwd",
        "/%2e%2e/etc/passwd",
        "/static/index.html",
        "/serve",
        "/open",
        "/lesson",
    ):
        answer = server.send("GET", path)
        assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json"), path


def test_a_request_that_is_too_large_is_not_read(server: Server) -> None:
    head = {**JSON, "Content-Length": str(5 * BODY_BYTES)}
    assert server.send("POST", "/check", b"", head).status == 413
    assert server.send("POST", "/check", b" " * (BODY_BYTES + 1), JSON).status == 413

    def parts() -> Iterator[bytes]:
        yield from (b" " * (1 << 20) for _ in range(BODY_BYTES >> 20))
        yield b" "

    answer = server.send("POST", "/check", parts(), JSON)
    assert answer.status == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "attacker.example"}, 421),
        ({"Host": "attacker.example:8502"}, 421),
        ({"Host": "127.0.0.1.attacker.example"}, 421),
        ({"Host": "localhost@attacker.example"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "localhost"}, 200),
        ({"Host": "[::1]:8502"}, 200),
        ({"Host": "127.0.0.1:8502", "Origin": "http://127.0.0.1:8502"}, 200),
        ({"Host": "127.0.0.1:8502", "Origin": "http://127.0.0.1:3000"}, 403),
        ({"Origin": "https://attacker.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 200),
    ],
    ids=lambda value: str(value),
)
def test_pages_of_other_sites_may_not_ask(headers: dict[str, str], status: int, server: Server) -> None:
    answer = server.send("GET", "/health", headers=headers)
    assert answer.status == status
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"


def raw(server: Server, text: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as link:
        link.sendall(text)
        link.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: link.recv(1 << 16), b""))


def test_two_hosts_or_none_are_refused(server: Server) -> None:
    twice = b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: attacker.example\r\nConnection: close\r\n\r\n"
    assert re.match(rb"HTTP/1\.1 4\d\d", raw(server, twice))
    assert raw(server, b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")


def test_a_program_without_end_reaches_a_limit(described: dict[str, Any]) -> None:
    with serving("--seconds", "6", "--processes", "1") as made:
        made.ask("check", files=["a.py"])
        answer = made.ask("run", {"a.py": ENDLESS}, file="a.py")
        assert (answer.status, answer.json["exit_status"]) == (422, 3)
        assert fits(described, "Refusal", answer.json) == []
        assert answer.json["stopped"][0]["kind"] == "limit"
        assert made.ask("check", files=["a.py"]).status == 200


def test_a_command_ends_with_the_client_that_asked_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving("--processes", "1") as made:
        made.ask("check", files=["a.py"])
        before = family_of(made.process.pid)
        body = json.dumps({"sent": {"a.py": ENDLESS}, "file": "a.py"}).encode()
        head = b"POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        with socket.create_connection(("127.0.0.1", made.port)) as link:
            link.sendall(head % len(body) + body)
            assert wait_until(lambda: any(tmp_path.glob("relaxscope-*/a.py")))
        begun = time.monotonic()
        assert made.ask("check", files=["a.py"]).status == 200
        assert time.monotonic() - begun < 9, "the run would take ten seconds"
        assert not any(map(is_alive, before))
        assert not any(tmp_path.glob("relaxscope-*"))


def test_one_request_too_many_is_told_to_come_again() -> None:
    with serving("--processes", "1", "--waiting", "0", "--seconds", "5") as made:
        made.ask("check", files=["a.py"])
        body = json.dumps({"sent": {"a.py": ENDLESS}, "file": "a.py"}).encode()
        link = http.client.HTTPConnection("127.0.0.1", made.port, timeout=60)
        link.request("POST", "/run", body, JSON)
        answers = [made.ask("check", files=["a.py"])]
        while answers[-1].status == 200:
            # The first request has not arrived yet.
            answers.append(made.ask("check", files=["a.py"]))
        assert (answers[-1].status, answers[-1].headers["retry-after"]) == (503, "1")
        assert link.getresponse().status == 422


def test_nothing_is_left_behind_an_interrupt() -> None:
    with serving("--processes", "1") as made:
        made.ask("run", file="a.py")
        family = family_of(made.process.pid)
        assert family
        made.process.send_signal(signal.SIGINT)
        assert made.process.wait(timeout=30) in (0, 130)
    assert wait_until(lambda: not any(map(is_alive, family)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--port", "65536"), "--port takes a number"),
        (("--host", "203.0.113.1"), "cannot listen at 203.0.113.1"),
        (("--seconds", "0"), "take positive numbers"),
        (("--processes", "-1"), "take positive numbers"),
    ],
)
def test_a_place_where_it_cannot_listen_is_refused(
    options: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *options]) == 2
    assert words in capsys.readouterr().err
