"""The `llm` command: BASE_URL KEY POOR_KEY. Fails by an exception."""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

base, key, poor_key = sys.argv[1:4]
program = Path(sys.executable).with_name("llm")
home = Path(tempfile.mkdtemp())
(home / "extra-openai-models.yaml").write_text(json.dumps([
    {"model_id": name, "model_name": name, "api_base": base, "api_key_name": "steward",
     "supports_tools": True, "supports_schema": True}
    for name in ("connection/openai", "connection/nobody", "steward")]))


def llm(*arguments, api_key=key):
    return subprocess.run([program, *arguments, "--no-log", "--key", api_key], capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, env={**os.environ, "LLM_USER_PATH": str(home)})


def says(expected, *arguments):
    done = llm(*arguments)
    assert done.returncode == 0 and done.stdout.strip() == expected, done


def fails(part, *arguments, **more):
    done = llm(*arguments, **more)
    assert done.returncode != 0 and part in done.stderr, done


weather = "def get_weather(place: str) -> str:\n    'Weather of a place.'\n    return 'rain in ' + place"
schema = '{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}'
gateway = ("-m", "connection/openai")
# The first one makes the program's own database; side by side they would get in each other's way.
says("Hello from the model.", *gateway, "plain please")
with ThreadPoolExecutor(3) as pool:
    tasks = [
        pool.submit(says, "Hello from the model.", *gateway, "--no-stream", "plain please"),
        pool.submit(says, "It rains in Oslo.", *gateway, "--functions", weather, "What is the weather in Oslo?"),
        pool.submit(says, '{"name": "Ada", "age": 36}', *gateway, "--schema", schema, "Describe Ada"),
        pool.submit(says, "Hello from the model.", "-m", "steward", "plain please"),
        pool.submit(fails, "there are: connection/openai", "-m", "connection/nobody", "plain please"),
        pool.submit(fails, "budget", *gateway, "plain please", api_key=poor_key),
        pool.submit(fails, "API key", *gateway, "plain please", api_key="sk-wrong"),
    ]
for task in tasks:
    task.result()
print("all good")
