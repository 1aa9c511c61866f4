"""The official client against a running server: python3 - BASE_URL KEY. Fails by an exception."""
import sys

import openai

base, key = sys.argv[1], sys.argv[2]
client = openai.OpenAI(base_url=base, api_key=key, max_retries=0, timeout=60)
say = lambda text: [{"role": "user", "content": text}]

listed = [model.id for model in client.models.list()]
assert listed[0] == "steward" and listed[-1] == "all-MiniLM-L6-v2", listed
assert all(name.startswith("connection/") for name in listed[1:-1]), listed
assert len(listed) > 1, listed

answer = client.chat.completions.create(model="steward", messages=say("plain please"))
assert answer.choices[0].message.content == "Hello from the model.", answer
assert answer.choices[0].finish_reason == "stop", answer
assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (100, 10), answer


def streamed(text):
    chunks = list(client.chat.completions.create(
        model="steward", messages=say(text), stream=True, stream_options={"include_usage": True}))
    assert not chunks[-1].choices and chunks[-1].usage, chunks[-1]
    shown = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    finish = [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason]
    assert finish == ["stop"], finish
    return shown, chunks[-1].usage


shown, usage = streamed("plain please")
assert shown == "Hello from the model.", shown
assert usage.total_tokens == 110, usage

# The agent lists the workspace itself; the caller sees the end of it.
answer = client.chat.completions.create(model="steward", messages=say("List the files in this folder."))
assert answer.choices[0].message.content == "There is beacon.txt.", answer
shown, usage = streamed("List the files in this folder.")
assert shown.strip() == "There is beacon.txt.", shown
assert usage.total_tokens == 220, usage


def refused(kind, part, call):
    try:
        call()
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"{kind.__name__} did not come")


wrong = openai.OpenAI(base_url=base, api_key="sk-wrong", max_retries=0)
refused(openai.AuthenticationError, "API key", lambda: wrong.models.list())
refused(openai.NotFoundError, "there are: steward",
        lambda: client.chat.completions.create(model="nobody", messages=say("hi")))
refused(openai.BadRequestError, "the last message must be the user's",
        lambda: client.chat.completions.create(model="steward", messages=[]))
print("all good")
