"""The demo's tools, as they are declared to Gemini, and their outputs."""

from google.genai import types

WEATHER = {"temperature": 18, "condition": "Cloudy", "humidity": 65}
RECEIPT = {"success": True, "amount": 20, "currency": "USD", "recipient": "Sam"}

SPOKEN_WEATHER = "The weather in Tokyo: 18°C, Cloudy, 65% humidity."


def declaration(name, behavior=None, **properties):
    schema = types.Schema(
        type="OBJECT",
        properties={key: types.Schema(type=kind) for key, kind in properties.items()},
    )
    return types.FunctionDeclaration(
        name=name, description=f"It is {name}.", parameters=schema, behavior=behavior
    )


def tools(behavior=None):
    """get_weather and process_payment."""
    return types.Tool(
        function_declarations=[
            declaration("get_weather", behavior, location="STRING"),
            declaration(
                "process_payment", behavior, amount="NUMBER", recipient="STRING", currency="STRING"
            ),
        ]
    )
