//! What is found, and how fast.

use crate::support;
use serde_json::json;
use std::time::{Duration, Instant};
use steward_core::model::{Provider, Strategy};
use steward_models::discovery::{Environment, discover};
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use support::client;

/// A port of the loopback where nobody listens.
fn nowhere() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn environment(vars: &'static [(&'static str, &'static str)]) -> Environment {
    let mut environment = Environment::new(move |name| {
        vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    });
    environment.ollama_url = nowhere();
    environment.llama_cpp_url = nowhere();
    environment
}

#[tokio::test]
async fn nothing_is_found_quickly() {
    let started = Instant::now();
    assert_eq!(discover(&environment(&[]), &client()).await, []);
    assert!(started.elapsed() < Duration::from_mins(5), "{:?}", started.elapsed());
}

#[tokio::test]
async fn an_ollama_with_what_its_models_can_do() {
    let script = Script {
        routes: [
            (
                "GET /api/tags".to_owned(),
                json!({"models": [
                    {"name": "qwen3:8b", "details": {"parameter_size": "8.2B"}},
                    {"name": "smollm2:135m", "details": {"parameter_size": "134.52M"}},
                    {"name": "nomic-embed-text:latest", "details": {"parameter_size": "137M"}},
                ]}),
            ),
            (
                "POST /api/show".to_owned(),
                json!({
                    "capabilities": ["completion", "tools"],
                    "parameters": "num_ctx 8192",
                    "model_info": {"qwen3.context_length": 40960},
                }),
            ),
        ]
        .into(),
        ..Script::always(Behaviour::text("hello"))
    };
    let server = ScriptedModelServer::start(script).await.unwrap();
    let mut environment = environment(&[]);
    environment.ollama_url = server.root_url();
    let found = discover(&environment, &client()).await;
    let names: Vec<&str> = found.iter().map(|f| f.connection.model.as_str()).collect();
    assert_eq!(names, ["qwen3:8b", "smollm2:135m"]);
    let large = &found[0].connection;
    assert_eq!(large.provider, Provider::Ollama);
    assert_eq!(large.base_url, server.base_url());
    assert_eq!((large.capabilities.window, large.capabilities.strategy), (8192, Strategy::Native));
    assert!(!found[1].connection.capabilities.plans);
    assert_eq!(discover(&environment, &client()).await, found, "the same ids at each start");

    let mut asked = support::request("hi");
    asked.timeout_ms = 2000;
    let (chunks, error) = support::ask(&client(), large, &asked).await;
    assert_eq!((support::text(&chunks).as_str(), error), ("hello", None));
}

#[tokio::test]
async fn a_llama_cpp_server_and_not_any_other() {
    let models = json!({"data": [{"id": "/models/qwen2.5-0.5b-instruct.gguf", "meta": {"n_params": 494_032_768_u64}}]});
    let props = json!({"default_generation_settings": {"n_ctx": 4096}});
    let with = |routes: Vec<(&str, &serde_json::Value)>| Script {
        routes: routes.into_iter().map(|(k, v)| (k.to_owned(), v.clone())).collect(),
        ..Script::default()
    };
    let server =
        ScriptedModelServer::start(with(vec![("GET /v1/models", &models), ("GET /props", &props)])).await.unwrap();
    let mut environment = environment(&[]);
    environment.llama_cpp_url = server.root_url();
    let found = discover(&environment, &client()).await;
    assert_eq!(found.len(), 1);
    let connection = &found[0].connection;
    assert_eq!(connection.provider, Provider::LlamaCpp);
    assert_eq!(connection.capabilities.window, 4096);
    assert!(!connection.capabilities.plans, "under a thousand million parameters");

    server.replace(with(vec![("GET /v1/models", &models)]));
    assert_eq!(discover(&environment, &client()).await, [], "another server on that port");
}

#[tokio::test]
async fn a_server_that_hangs_holds_nobody_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut environment = environment(&[("OPENAI_API_KEY", "sk-1234567")]);
    environment.ollama_url.clone_from(&url);
    environment.llama_cpp_url = url;
    let started = Instant::now();
    let found = discover(&environment, &client()).await;
    assert!(started.elapsed() < Duration::from_mins(5), "{:?}", started.elapsed());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].connection.name, "openai");
    drop(listener);
}

#[tokio::test]
async fn keys_come_first_and_other_machines_are_left_alone() {
    let vars = &[
        ("GROQ_API_KEY", "gsk-1"),
        ("GROQ_MODEL", "llama-3.1-8b-instant"),
        ("OLLAMA_HOST", "https://ollama.invalid:443"),
    ];
    let found = discover(&environment(vars), &client()).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].connection.model, "llama-3.1-8b-instant");
    assert!(!format!("{found:?}").contains("gsk-1"));
}
