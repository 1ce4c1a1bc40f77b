"""A proxy that answers nothing, and remembers which addresses it was asked for."""

import socketserver
import threading


class Outside:
    """The way out of a process that should not call anybody."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                asked.append(self.rfile.readline().decode("latin-1").strip())

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> "Outside":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
