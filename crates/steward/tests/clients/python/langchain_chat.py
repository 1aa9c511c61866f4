"""LangChain's ChatOpenAI: BASE_URL KEY POOR_KEY. Fails by an exception."""
import sys

import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

base, key, poor_key = sys.argv[1:4]


class Person(BaseModel):
    """A person."""
    name: str
    age: int


@tool
def get_weather(place: str) -> str:
    """Weather of a place."""
    return f"rain in {place}"


def model(name="connection/openai", api_key=key, **more):
    return ChatOpenAI(model=name, base_url=base, api_key=api_key, max_retries=0, timeout=600, **more)


chat = model()
answer = chat.invoke("plain please")
assert answer.content == "Hello from the model.", answer
assert answer.usage_metadata["total_tokens"] == 110, answer
pieces = [piece.content for piece in model(stream_usage=True).stream("plain please")]
assert "".join(pieces) == "Hello from the model." and len(pieces) > 3, pieces

messages = [HumanMessage("What is the weather in Oslo?")]
reply = chat.bind_tools([get_weather]).invoke(messages)
assert reply.tool_calls[0]["args"] == {"place": "Oslo"}, reply
messages += [reply, ToolMessage(get_weather.invoke(reply.tool_calls[0]["args"]), tool_call_id=reply.tool_calls[0]["id"])]
assert chat.bind_tools([get_weather]).invoke(messages).content == "It rains in Oslo."
assert chat.with_structured_output(Person, method="json_schema").invoke("Describe Ada") == Person(name="Ada", age=36)
assert model("steward").invoke("plain please").content == "Hello from the model."

for one, kind in ((model("connection/nobody"), openai.NotFoundError), (model(api_key="sk-wrong"), openai.AuthenticationError),
                  (model(api_key=poor_key), openai.RateLimitError)):
    try:
        one.invoke("plain please")
    except kind:
        continue
    raise AssertionError(f"{kind.__name__} did not come")
print("all good")
