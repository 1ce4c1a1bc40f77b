"""What the middleware asks of Streamlit's sessions: which page each shows, and to free what it holds."""

from dataclasses import dataclass, field
from tempfile import TemporaryDirectory

from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileManager

VISIT = "visit"  # where a session keeps what it shows
WITH_UPLOADS = frozenset({"clean", "data", "new_project"})  # the pages that take files


@dataclass(eq=False)
class Visit:
    """A page that a person has open, which their role includes, and the files that they sent to it."""

    page: str
    person: int = 0  # where nobody signs in
    files: dict[str, int] = field(default_factory=dict)  # bytes by the file's id
    folder: TemporaryDirectory[str] | None = None  # where they are

    def end(self) -> None:
        """Delete the files: Python's collector would do so too late."""
        if self.folder is not None:
            self.folder.cleanup()

    @property
    def takes_files(self) -> bool:
        """Whether the page has an uploader."""
        return self.page in WITH_UPLOADS


class Sessions:
    """The sessions of the Streamlit that runs in this process."""

    def visit(self, session: str) -> Visit | None:
        """Return what an open page shows; None for an unknown session, and before it shows anything."""
        app_session = Runtime.instance().get_app_session(session) if Runtime.exists() else None
        try:
            return app_session.session_state[VISIT] if app_session is not None else None
        except KeyError:
            return None

    def drop_file(self, session: str, file: str) -> None:
        """Free a file."""
        free_file(Runtime.instance().uploaded_file_mgr, session, file)

    def close(self, session: str) -> None:
        """End a session and free all that it holds: no later page goes on with it."""
        if Runtime.exists():
            Runtime.instance().close_session(session)


def free_file(files: UploadedFileManager, session: str, file: str) -> None:
    """Free one file of a session in memory."""
    if isinstance(files, MemoryUploadedFileManager):
        files.remove_file(session, file)
