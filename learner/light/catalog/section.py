"""The base class of the pipelines' configurations."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of a configuration: a table of the TOML file, a group of the form."""

    model_config = ConfigDict(extra="forbid", frozen=True)
