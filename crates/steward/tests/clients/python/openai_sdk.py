"""The official Python SDK: BASE_URL KEY POOR_KEY. Fails by an exception."""
import json
import sys

import openai
from pydantic import BaseModel

base, key, poor_key = sys.argv[1:4]
client = openai.OpenAI(base_url=base, api_key=key, max_retries=0, timeout=600)
MODEL = "connection/openai"
TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "Weather of a place.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}}}]
say = lambda text: [{"role": "user", "content": text}]


class Person(BaseModel):
    name: str
    age: int


def refused(kind, part, call):
    try:
        call()
    except kind as error:
        assert part in str(error), error
        return error
    raise AssertionError(f"{kind.__name__} did not come")


def connection():
    ids = [model.id for model in client.models.list()]
    assert "steward" in ids and MODEL in ids, ids
    assert client.models.retrieve(MODEL).id == MODEL
    raw = client.chat.completions.with_raw_response.create(
        model=MODEL, messages=say("plain please"), extra_body={"unheard_of": [1, 2]})
    assert raw.headers["x-steward-connection"] == "openai" and raw.headers["x-steward-attempts"] == "1"
    answer = raw.parse()
    assert answer.choices[0].message.content == "Hello from the model.", answer
    assert answer.model == "scripted" and answer.usage.prompt_tokens == 100, answer


def streaming():
    chunks = list(client.chat.completions.create(
        model=MODEL, messages=say("plain please"), stream=True, stream_options={"include_usage": True}))
    shown = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert shown == "Hello from the model.", shown
    assert len(chunks) > 4 and chunks[-1].usage.completion_tokens == 10, chunks
    with client.chat.completions.stream(model=MODEL, messages=say("plain please")) as stream:
        stream.until_done()
        assert stream.get_final_completion().choices[0].message.content == "Hello from the model."


def tools():
    messages = say("What is the weather in Oslo?")
    message = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS).choices[0].message
    call = message.tool_calls[0]
    assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"place": "Oslo"}), message
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "rain in Oslo"}]
    answer = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
    assert answer.choices[0].message.content == "It rains in Oslo.", answer


def structured():
    answer = client.chat.completions.parse(model=MODEL, messages=say("Describe Ada"), response_format=Person)
    assert answer.choices[0].message.parsed == Person(name="Ada", age=36), answer


def embeddings():
    # The SDK asks for base64 by itself.
    found = client.embeddings.create(model="all-MiniLM-L6-v2", input=["a heron", "a heron", "tax law"])
    a, b, c = (item.embedding for item in found.data)
    dot = lambda x, y: sum(p * q for p, q in zip(x, y))
    assert len(a) == 384 and abs(dot(a, b) - 1) < 1e-3 and dot(a, c) < 0.5, found.usage
    floats = client.embeddings.create(model="all-MiniLM-L6-v2", input="a heron", encoding_format="float")
    assert dot(floats.data[0].embedding, a) > 0.999
    passed = client.embeddings.create(model=MODEL, input="x", encoding_format="float")
    assert passed.data[0].embedding == [0.25, 0.5], passed
    refused(openai.BadRequestError, "token numbers",
            lambda: client.embeddings.create(model="all-MiniLM-L6-v2", input=[[1, 2]]))


def others():
    done = client.completions.create(model=MODEL, prompt="Once upon")
    assert done.choices[0].text == " a time", done
    answer = client.responses.create(model=MODEL, input="plain")
    assert answer.output_text == "From responses.", answer


def agent():
    answer = client.chat.completions.create(model="steward", messages=say("plain please"))
    assert answer.choices[0].message.content == "Hello from the model.", answer


def errors():
    wrong = openai.OpenAI(base_url=base, api_key="sk-wrong", max_retries=0)
    refused(openai.AuthenticationError, "API key", lambda: wrong.models.list())
    ask = lambda one, model, text: one.chat.completions.create(model=model, messages=say(text))
    refused(openai.NotFoundError, "there are: connection/openai", lambda: ask(client, "connection/nobody", "hi"))
    refused(openai.NotFoundError, "no agent", lambda: ask(client, "nobody", "hi"))
    error = refused(openai.BadRequestError, "maximum context length", lambda: ask(client, MODEL, "too long"))
    assert error.code == "context_length_exceeded", error
    error = refused(openai.AuthenticationError, "the key was refused", lambda: ask(client, MODEL, "unauthorised"))
    assert error.code == "upstream_auth", error
    poor = openai.OpenAI(base_url=base, api_key=poor_key, max_retries=0)
    error = refused(openai.RateLimitError, "budget", lambda: ask(poor, MODEL, "plain please"))
    assert error.type == "insufficient_quota", error
    stream = client.chat.completions.create(model=MODEL, messages=say("cut off"), stream=True)
    refused(openai.APIError, "openai", lambda: list(stream))


for part in (connection, streaming, tools, structured, embeddings, others, agent, errors):
    part()
print("all good")
