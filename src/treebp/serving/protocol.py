"""HTTP with a limit on how long a request may take and how large it may be, whatever a client does."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# What comes of a request that was refused is read on for a while, and forgotten: a client that is still sending would
# never see the answer. So much more than the largest request is enough.
_FORGOTTEN, _HEAD = 4, 1 << 16


class LimitedProtocol(HttpToolsProtocol):
    """A connection that is cut when a request is too large, or comes in or is taken off too slowly.

    The application refuses politely what it sees of that; here is what it does not: headers that never end, bodies
    that nobody reads any more, answers that the client does not take.
    """

    seconds: ClassVar[float]
    size: ClassVar[int]

    def connection_made(self, transport: asyncio.Transport) -> None:
        """A client has come."""
        super().connection_made(transport)
        self._received = 0
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has gone."""
        self._timer.cancel()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._timer.cancel()
        self._watch()
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """It has come to its end."""
        self._received = 0
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """More of it."""
        self._received += len(data)
        super().data_received(data)
        if self._received > _FORGOTTEN * self.size + _HEAD and not self.transport.is_closing():
            if self.cycle is not None and not self.cycle.response_complete:
                self.transport.abort()
            else:
                self.send_400_response("The request is too large.")

    def _watch(self) -> None:
        self._timer = self.loop.call_later(self.seconds, self.transport.abort)


def limited_protocol(seconds: float, size: int) -> type[Any]:
    """The protocol with these limits."""
    return type("Protocol", (LimitedProtocol,), {"seconds": seconds, "size": size})
