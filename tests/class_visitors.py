"""Browsers of a class without a screen: they speak Streamlit's websocket, and measure how long an answer takes."""

import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from views.classroom.news.component import ASK_SECONDS
from views.classroom.news.route import PATH

LONGEST_SECONDS = 120
WITH_ID = ("button", "text_input", "radio", "selectbox", "multiselect")


class ClassVisitor:
    """A browser that keeps what its page shows: texts, models of components, widgets, and what runs by itself."""

    def __init__(self, url: str) -> None:
        self.texts: list[str] = []
        self.models: list[bytes] = []
        self.widgets: dict[str, str] = {}
        self.fragments: list[str] = []
        self.page = ""
        self.address = ""
        self._news: dict[str, Any] = {}
        self._chip = ""
        self._told = 0
        self._server = urlsplit(url)
        self._lock = threading.RLock()
        self._open = ExitStack()
        self.socket: ClientConnection = self._open.enter_context(
            connect(
                f"ws{url.removeprefix('http')}/_stcore/stream",
                subprotocols=[Subprotocol("streamlit")],
                max_size=None,
                # See `tests/views/test_messages.py`: a full queue would hold up the end of the connection.
                max_queue=None,
                open_timeout=LONGEST_SECONDS,
            )
        )

    def close(self) -> None:
        self._open.close()

    def visit(self, page: str, query: str = "") -> None:
        """Come to a page by an address."""
        message = BackMsg()
        message.rerun_script.page_name, message.rerun_script.query_string = page, query
        self._run(message)

    def press(self, key: str, **texts: str) -> float:
        """Press a button, with texts in other widgets; return the seconds until the page was there whole."""
        with self._lock:
            message = self._message()
            states = message.rerun_script.widget_states.widgets
            states.add(id=self.widgets[key], trigger_value=True)
            for name, value in texts.items():
                states.add(id=self.widgets[name.replace("__", ".")], string_value=value)
            return self._run(message)

    def choose(self, key: str, value: str) -> None:
        """Choose in a box."""
        message = self._message()
        message.rerun_script.widget_states.widgets.add(id=self.widgets[key], string_value=value)
        self._run(message)

    def ask(self) -> float:
        """Ask for news of the class, as a browser does each second, and have the page made anew if there are any."""
        with self._lock:
            if not self._news:
                return 0.0
            began = time.monotonic()
            connection = http.client.HTTPConnection(self._server.netloc, timeout=LONGEST_SECONDS)
            connection.request("POST", self._server.path + PATH, json.dumps(self._news["asker"]))
            heard = json.loads(connection.getresponse().read())
            connection.close()
            taken = time.monotonic() - began
            if heard["mark"] != self._news["news"]["mark"]:
                message = self._message()
                self._told += 1
                action = json.dumps({"action": {"kind": "news", "seq": self._told, "earlier": []}})
                message.rerun_script.widget_states.widgets.add(id=self._chip, json_value=action)
                self._run(message)
            return taken

    def look(self) -> None:
        """Run the fragments that run by themselves, as the projector does each second."""
        with self._lock:
            for fragment in tuple(self.fragments):
                message = self._message()
                message.rerun_script.fragment_id, message.rerun_script.is_auto_rerun = fragment, True
                self._run(message)

    def shows(self, words: str) -> bool:
        """Tell whether the page has a text."""
        return any(words in text for text in self.texts)

    def answer(self, text: str) -> float:
        """Answer the question of a lesson in its field."""
        # Its question is told before its field: who asks for news meanwhile has the page come whole.
        with self._lock:
            field = next(key for key in self.widgets if key.startswith("lesson.answer.") and not key.endswith(".send"))
            return self.press(f"{field}.send", **{field.replace(".", "__"): text})

    def _message(self) -> BackMsg:
        message = BackMsg()
        message.rerun_script.page_script_hash, message.rerun_script.query_string = self.page, self.address
        return message

    def _run(self, message: BackMsg) -> float:
        began = time.monotonic()
        self.socket.send(message.SerializeToString())
        is_part = bool(message.rerun_script.fragment_id)
        while True:
            data = self.socket.recv(timeout=LONGEST_SECONDS)
            assert isinstance(data, bytes)
            said = ForwardMsg.FromString(data)
            match said.WhichOneof("type"):
                case "new_session" if not said.metadata.run.fragment_ids:
                    self.texts, self.models, self.widgets, self.fragments = [], [], {}, []
                    self._news = {}
                    is_part = False
                case "navigation":
                    self.page = said.navigation.page_script_hash
                case "page_info_changed":
                    self.address = said.page_info_changed.query_string
                case "auto_rerun" if not is_part:
                    self.fragments.append(said.auto_rerun.fragment_id)
                case "delta":
                    self._show(said)
                case "script_finished" if said.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    return time.monotonic() - began
                case _:
                    pass

    def _show(self, said: ForwardMsg) -> None:
        element = said.delta.new_element
        kind = element.WhichOneof("type")
        if kind in WITH_ID:
            found = getattr(element, kind).id
            self.widgets[found.split("-", 2)[2]] = found
        elif kind == "bidi_component":
            component = element.bidi_component
            self.models.append(component.bytes)
            if component.component_name == "relaxscope_news":
                self._chip, self._news = component.id, json.loads(component.bytes.partition(b"\n")[2])
        elif kind in ("markdown", "html", "alert"):
            self.texts.append(unescape(getattr(element, kind).body))


def open_class(teacher: ClassVisitor, lesson: str = "What a tensor program is") -> str:
    """Open a class about a lesson, and return its code."""
    teacher.visit("classroom")
    teacher.choose("classroom.lesson", lesson)
    teacher.press("classroom.open")
    found = re.search(r"room=(\w{6})", " ".join(teacher.texts))
    assert found is not None
    return found[1]


def join_all(students: list[ClassVisitor], code: str) -> None:
    """Have browsers join a class by its code."""
    for student in students:
        student.visit("classroom")
        student.press("classroom.enter", classroom__code=code)


@contextmanager
def visitors(url: str, count: int) -> Generator[list[ClassVisitor]]:
    """Open so many sessions, and close them."""
    with ExitStack() as opened:
        found: list[ClassVisitor] = []
        for _ in range(count):
            found.append(ClassVisitor(url))
            opened.callback(found[-1].close)
        yield found


@contextmanager
def asking(browsers: list[ClassVisitor], every: float = ASK_SECONDS) -> Generator[list[float]]:
    """Have all browsers ask for news of the class meanwhile, each in its own time; gives the seconds of each."""
    over, taken = threading.Event(), list[float]()

    def ask(browser: ClassVisitor, first: float) -> None:
        over.wait(first)
        while not over.is_set():
            taken.append(browser.ask())
            over.wait(every)

    threads = [
        threading.Thread(target=ask, args=(browser, every * number / len(browsers)))
        for number, browser in enumerate(browsers)
    ]
    for thread in threads:
        thread.start()
    try:
        yield taken
    finally:
        over.set()
        for thread in threads:
            thread.join()


def at_once(browsers: list[ClassVisitor], act: Callable[[ClassVisitor, int], float]) -> list[float]:
    """Have all browsers do something, each on a thread of its own; return the seconds of each."""
    taken = [0.0] * len(browsers)

    def run(number: int) -> None:
        taken[number] = act(browsers[number], number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(browsers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken
