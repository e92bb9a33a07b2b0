"""The code of README.md works with ADK: its tools are declared as they are written."""

import readme
from google.adk.tools import FunctionTool
from google.genai import types


def test_tools_of_the_readme_are_declared_to_the_model():
    for tool in (
        *(readme.process_payment, readme.set_mood),
        *(readme.book_table, readme.book_flight),
    ):
        declaration = FunctionTool(tool)._get_declaration()
        assert declaration is not None
        assert declaration.name == tool.__name__
        assert declaration.description == tool.__doc__


def test_tool_of_the_readme_runs_in_the_background():
    assert readme.in_the_background().behavior == types.Behavior.NON_BLOCKING
