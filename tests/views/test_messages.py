"""Whatever a browser sends, the work of another session stays: its worker, its text, its selection."""

import random
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.app_server import serve
from tests.processes import server_of, wait_until, workers_of
from views.state.address import to_address
from views.state.selection import screen

LONGEST_SECONDS = 120
MEGABYTE = 1 << 20
# What another visitor was shown of a sample is known without a worker.
OWN = urlencode(to_address(screen(text="@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    return R.add(x, x)\n")))


class Visitor:
    """A session without a browser: it sends and reads the messages of Streamlit's websocket."""

    def __init__(self, url: str) -> None:
        self.session = ""
        self.address = ""
        self._open = ExitStack()
        opening = connect(
            f"ws{url.removeprefix('http')}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            max_size=None,
            # With messages that nobody reads in a full queue, the end of the connection would not be read either.
            max_queue=None,
            open_timeout=LONGEST_SECONDS,
        )
        self.socket: ClientConnection = self._open.enter_context(opening)

    def send(self, message: BackMsg) -> None:
        self.socket.send(message.SerializeToString())

    def run(self, query: str = "") -> list[ForwardMsg]:
        """Run the page, and return what it sent until it was done."""
        self.send(rerun(query_string=query))
        return self.until_finished()

    def until_finished(self) -> list[ForwardMsg]:
        said: list[ForwardMsg] = []
        while not said or said[-1].WhichOneof("type") != "script_finished":
            data = self.socket.recv(timeout=LONGEST_SECONDS)
            assert isinstance(data, bytes)
            said.append(ForwardMsg.FromString(data))
            if said[-1].HasField("new_session"):
                self.session = said[-1].new_session.initialize.session_id
            if said[-1].HasField("page_info_changed"):
                self.address = said[-1].page_info_changed.query_string
        return said

    def close(self) -> None:
        self._open.close()


def rerun(**fields: object) -> BackMsg:
    message = BackMsg()
    message.rerun_script.SetInParent()
    for name, value in fields.items():
        setattr(message.rerun_script, name, value)
    return message


def widget(**fields: object) -> BackMsg:
    """Make a message with the state of one widget."""
    message = rerun()
    state = message.rerun_script.widget_states.widgets.add()
    for name, value in fields.items():
        setattr(state, name, value)
    return message


def flag(name: str) -> BackMsg:
    message = BackMsg()
    setattr(message, name, True)
    return message


def file_urls() -> BackMsg:
    message = BackMsg()
    message.file_urls_request.request_id = "1"
    message.file_urls_request.file_names.extend(["../../x", "y" * 10_000])
    message.file_urls_request.session_id = "another"
    return message


def operation() -> BackMsg:
    message = BackMsg()
    message.backend_operation_request.request_id = "1"
    return message


WIDGETS = ("selection", "worker", "address", "bar.sample", "run.seed", "$$ID-0-run.stepper", "\x00", "x" * 10_000)
MESSAGES: dict[str, Callable[[], BackMsg | bytes | str]] = {
    **{
        name: (lambda name=name: flag(name))
        for name in (
            "clear_cache",
            "set_run_on_save",
            "stop_script",
            "load_git_info",
            "debug_disconnect_websocket",
            "debug_shutdown_runtime",
            "app_heartbeat",
        )
    },
    "nothing": BackMsg,
    "urls of files": file_urls,
    "an operation": operation,
    "a query of thirty digits": lambda: rerun(query_string="seed=" + "9" * 30 + "&time=" + "9" * 30),
    "a query that is none": lambda: rerun(query_string="&&==%zz%ff%00&=;"),
    "a long query": lambda: rerun(query_string="z=" + "A" * (4 * MEGABYTE)),
    "many parameters": lambda: rerun(query_string="&".join(f"a{i}=1" for i in range(50_000))),
    "an unknown page": lambda: rerun(page_script_hash="nope", page_name="../../etc/passwd"),
    "an unknown fragment": lambda: rerun(fragment_id="gone"),
    **{f"a widget {name[:20]!r}": (lambda name=name: widget(id=name, string_value="x")) for name in WIDGETS},
    "a widget of another type": lambda: widget(id="$$ID-0-bar.sample", int_value=7),
    "a component's state": lambda: widget(id="$$ID-0-source.editor", json_value='{"action":{"seq":1e400}}'),
    "an empty frame": lambda: b"",
    "zeros": lambda: bytes(10),
    "a broken message": lambda: rerun(query_string="x" * 100).SerializeToString()[:-20],
    "random bytes": lambda: random.Random(3).randbytes(10_000),
    "words": lambda: "hello",
    "an oversized frame": lambda: bytes(26 * MEGABYTE),
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the app for these tests alone: their workers are counted."""
    with serve(tmp_path_factory.mktemp("messages")) as address:
        yield address


@pytest.fixture(scope="module")
def other(url: str) -> Iterator[tuple[Visitor, int]]:
    """Open a session that works on a program, and give the process of its worker."""
    visitor = Visitor(url)
    visitor.run("sample=relax%2Ffib.py&seed=5")
    (worker,) = workers_of(server_of(url))
    yield visitor, worker
    visitor.close()


def assert_stays(url: str, other: tuple[Visitor, int]) -> None:
    """Check that a session has its worker still, and shows what it showed though its address says nothing."""
    visitor, worker = other
    assert worker in workers_of(server_of(url))
    said = visitor.run()
    assert not [message for message in said if message.delta.new_element.HasField("exception")]
    assert parse_qs(visitor.address) == {"sample": ["relax/fib.py"], "seed": ["5"]}
    assert worker in workers_of(server_of(url))


@pytest.mark.parametrize("make", MESSAGES.values(), ids=MESSAGES.keys())
def test_a_message_of_one_session_leaves_the_other_as_it_was(
    url: str, other: tuple[Visitor, int], make: Callable[[], BackMsg | bytes | str]
) -> None:
    visitor = Visitor(url)
    visitor.run(OWN)
    message = make()
    try:
        visitor.socket.send(message.SerializeToString() if isinstance(message, BackMsg) else message)
        visitor.run("sample=relax%2Fmlp.py")
    except ConnectionClosed:
        # Messages of another protocol end the connection that they came by.
        pass
    assert_stays(url, other)
    visitor.close()
    assert wait_until(lambda: workers_of(server_of(url)) == {other[1]})


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST"])
@pytest.mark.parametrize("file", ["x", "..%2F..%2Fx", "%00"])
def test_files_of_another_session_are_not_reached(url: str, other: tuple[Visitor, int], method: str, file: str) -> None:
    address = f"{url}/_stcore/upload_file/{other[0].session}/{file}"
    request = urllib.request.Request(address, data=b"x" * 1000 if method in ("PUT", "POST") else None, method=method)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=LONGEST_SECONDS)
    assert 400 <= refused.value.code < 500
    assert_stays(url, other)


def test_a_worker_ends_with_its_session_even_after_all_caches_were_cleared(url: str) -> None:
    server = server_of(url)
    before = workers_of(server)
    visitors = [Visitor(url) for _ in range(3)]
    for visitor in visitors:
        visitor.run(OWN)
    assert len(workers_of(server) - before) == 3
    visitors[0].send(flag("clear_cache"))
    visitors[1].send(flag("stop_script"))
    for visitor in visitors:
        visitor.close()
    assert wait_until(lambda: workers_of(server) <= before)


def test_a_session_whose_own_message_cleared_it_goes_on_with_one_worker(url: str) -> None:
    server = server_of(url)
    before = workers_of(server)
    visitor = Visitor(url)
    for _ in range(3):
        visitor.run(OWN)
        visitor.send(flag("clear_cache"))
    visitor.run(OWN)
    assert wait_until(lambda: len(workers_of(server) - before) == 1)
    visitor.close()
    assert wait_until(lambda: workers_of(server) <= before)


def test_nothing_of_a_server_is_left_when_it_ends(tmp_path: Path) -> None:
    with serve(tmp_path) as url:
        server = server_of(url)
        visitor = Visitor(url)
        visitor.run(OWN)
        left = workers_of(server)
        assert len(left) == 1
    assert wait_until(lambda: not workers_of(server) and not any(Path(f"/proc/{pid}").exists() for pid in left))
    with pytest.raises(ConnectionClosed):
        visitor.until_finished()
