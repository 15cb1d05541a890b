"""The engine in this process, for `--in-process`: a thread answers, so that Ctrl-C is heard while a kernel runs."""

import queue
import threading
from typing import Final, TypeVar

from relax_core.engine.protocol import Failure, Request
from relax_core.engine.session import Session

R = TypeVar("R")

_STACK_BYTES: Final = 64 << 20


class InProcess:
    """A session whose requests are answered by a thread while this one waits."""

    def __init__(self) -> None:
        self._session = Session()

    def request(self, message: Request[R]) -> R | Failure:
        """Answer a request."""
        answers: queue.SimpleQueue[R | Failure | BaseException] = queue.SimpleQueue()

        def answer() -> None:
            try:
                answers.put(self._session.request(message))
            except BaseException as error:  # it is raised where the answer is waited for
                answers.put(error)

        before = threading.stack_size(_STACK_BYTES)
        thread = threading.Thread(target=answer, daemon=True)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
        try:
            found = answers.get()
        except KeyboardInterrupt:
            # Nobody waits for it to stop: the process ends next.
            self._session.cancel()
            raise
        if isinstance(found, BaseException):
            raise found
        return found
