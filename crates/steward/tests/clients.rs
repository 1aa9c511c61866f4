//! Clients that people use, unchanged, against `/v1` of the real program: connections through the gateway, and agents.

use crate::common;

use common::{Bench, Server, cache, finish};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use steward_testkit::model_server::{Behaviour, Reply, Rule, Script};

fn rule(contains: &str, role: &str, then: Behaviour) -> Rule {
    Rule { contains: contains.to_owned(), role: Some(role.to_owned()), times: None, then }
}

fn script() -> Script {
    let hello = Reply::text("Hello from the model.").pieces(3, 0);
    let completion = json!({
        "id": "cmpl-1", "object": "text_completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "text": " a time", "finish_reason": "stop", "logprobs": null}],
        "usage": {"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4},
    });
    let embedding = json!({
        "object": "list", "model": "scripted",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.25, 0.5]}],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    });
    let response = json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "scripted",
        "output": [{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "From responses.", "annotations": []}]}],
        "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
        "error": null, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
    });
    let routes =
        [("POST /v1/completions", completion), ("POST /v1/embeddings", embedding), ("POST /v1/responses", response)];
    Script {
        rules: vec![
            rule("rain in Oslo", "tool", Behaviour::text("It rains in Oslo.")),
            rule("weather in Oslo", "user", Behaviour::calls([("get_weather", json!({"place": "Oslo"}))])),
            rule("Describe Ada", "user", Behaviour::text(r#"{"name": "Ada", "age": 36}"#)),
            rule("too long", "user", Behaviour::context_length()),
            rule("unauthorised", "user", Behaviour::unauthorised()),
            rule(
                "cut off",
                "user",
                Behaviour::Cut {
                    reply: Reply::text("A text that breaks off in its middle").pieces(3, 0),
                    clean: false,
                },
            ),
            rule("plain", "user", Behaviour::Reply(hello)),
        ],
        routes: routes.into_iter().map(|(route, body)| (route.to_owned(), body)).collect(),
        ..Script::default()
    }
}

fn here(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(part)
}

fn python(file: &str) -> Command {
    let mut command = Command::new(steward_testkit::set_up("venv-clients/bin/python3"));
    command.arg(here("python").join(file));
    command
}

/// Node looks for packages beside the file, and they lie in the cache folder.
fn node(place: &Path, file: &str) -> Command {
    std::fs::copy(here("node").join(file), place.join(file)).unwrap();
    let packages = place.join("node_modules");
    if !packages.exists() {
        std::os::unix::fs::symlink(steward_testkit::set_up("clients-node/node_modules"), packages).unwrap();
    }
    let own = cache().join("node/bin/node");
    let mut command = Command::new(if own.exists() { own } else { "node".into() });
    command.arg(place.join(file));
    command
}

/// A key of a program whose budget has no room for any call.
fn poor_key(bench: &Bench, server: &Server) -> String {
    let body = json!({"name": "poor", "budget": {"period": "total", "tokens": 10}});
    let (status, made) = server.request(bench, Method::POST, "/api/keys", Some(&server.key), Some(&body));
    assert_eq!(status, 201, "{made}");
    made["secret"].as_str().unwrap().to_owned()
}

#[test]
fn long_clients_that_people_use_work_unchanged() {
    let bench = Bench::new(script());
    let server = Server::start(&bench);
    let poor = poor_key(&bench, &server);
    let place = tempfile::tempdir().unwrap();
    let clients = [
        ("openai (Python)", python("openai_sdk.py")),
        ("LangChain", python("langchain_chat.py")),
        ("llm", python("llm_cli.py")),
        ("openai (Node)", node(place.path(), "openai_sdk.mjs")),
        ("AI SDK", node(place.path(), "ai_sdk.mjs")),
    ];
    let running: Vec<_> = clients
        .into_iter()
        .map(|(name, mut command)| {
            command
                .arg(format!("{}/v1", server.url))
                .args([&server.key, &poor])
                .env("NO_PROXY", "*")
                .env("HOME", place.path());
            (name, std::thread::spawn(move || finish(command)))
        })
        .collect();
    let mut failed = Vec::new();
    for (name, client) in running {
        let done = client.join().unwrap();
        if done.code != Some(0) || !done.out.contains("all good") {
            failed.push(format!("{name}: {}\n{}", done.out, done.err));
        }
    }
    assert!(failed.is_empty(), "{}\n{}", failed.join("\n\n"), server.said());
    let bodies = bench.model.requests();
    let unknown = |body: &Value| body["unheard_of"] == json!([1, 2]);
    assert!(
        bodies.iter().any(|one| unknown(&one.body) && one.body["model"] == "scripted"),
        "unknown fields go through, the model's name is the connection's"
    );
}
