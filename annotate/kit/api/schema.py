"""What programs send and receive, and the types that all of it shares."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

LARGEST = 2**31 - 1  # the largest integer of both databases


STORED = r"^[^\x00]*$"  # PostgreSQL stores no NUL character


def as_whole(value: object) -> object:
    """Return a whole number as an integer: JSON makes no difference between 7.0 and 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[int, Field(ge=1, le=LARGEST), BeforeValidator(as_whole)]


NAME = r"^[A-Za-z0-9_-]{1,80}$"  # anything named in an address


IN_PATH: dict[str, TypeAdapter[Any]] = {
    "project_id": TypeAdapter(Number),
    "job_id": TypeAdapter(Annotated[str, Field(pattern=NAME)]),
    "webhook_id": TypeAdapter(Number),
}


class Asked(BaseModel):
    """What a program sends: exactly the described fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Given(BaseModel):
    """What a program receives."""

    model_config = ConfigDict(frozen=True)
