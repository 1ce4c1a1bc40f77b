"""A form generated from a model: kinds of fields, omitted fields, and errors in words."""

import re
from typing import Literal

from pydantic import Field, model_validator
from streamlit.testing.v1 import AppTest

from allpairs.learner.light.catalog.section import Section


class Part(Section):
    """A nested model."""

    least: int = Field(1, ge=0, description="At least this.")
    most: int | None = Field(None, description="At most this; empty: any.")
    rate: float = Field(3e-5, gt=0, description="A rate.")

    @model_validator(mode="after")
    def _in_order(self) -> "Part":
        if self.most is not None and self.most < self.least:
            raise ValueError(f"most is {self.most}, and least {self.least}: raise most")
        return self


class Whole(Section):
    """The whole model."""

    task: Literal["short", "long"] = Field("short", description="What it is for.")
    name: str | None = Field(None, title="Its name", description="A name.")
    part: Part = Field(default_factory=Part)


def script() -> None:
    import streamlit as st

    from allpairs.annotate.kit.ui.model_form import form_problems, model_form
    from tests.annotate.kit.ui.test_model_form import Whole

    entered = model_form(Whole, "k", without=("task",))
    st.session_state["entered"], st.session_state["problems"] = entered, form_problems(Whole, entered)


def test_a_form_has_the_defaults_and_gives_what_is_entered() -> None:
    page = AppTest.from_function(script, default_timeout=30).run()
    assert not page.exception
    assert page.session_state["entered"] == Whole().model_dump(exclude={"task"})
    assert page.text_input(key="k_name").label == "Its name"
    page.text_input(key="k_name").set_value("x")
    page.number_input(key="k_part_most").set_value(3).run()
    assert Whole.model_validate(page.session_state["entered"]) == Whole(name="x", part=Part(most=3))
    assert page.session_state["problems"] == []


def test_what_is_wrong_is_said_where_it_is() -> None:
    page = AppTest.from_function(script, default_timeout=30).run()
    page.number_input(key="k_part_least").set_value(5)
    page.number_input(key="k_part_most").set_value(3).run()
    assert re.fullmatch("Part: .* 3, .* 5: .*", *page.session_state["problems"])
    page.number_input(key="k_part_least").set_value(-1).run()
    assert re.fullmatch("Part, Least: .* 0, not -1.", *page.session_state["problems"])
