use crate::support::{KEY, client};
use crate::wires::server::{Answer, Server};
use serde_json::{Value, json};
use steward_core::model::{Auth, ModelErrorClass, Provider};
use steward_core::ports::Recognised;
use steward_models::recognise::recognise;

type Routes = Vec<(&'static str, Value)>;

async fn server(routes: Routes) -> Server {
    Server::start(move |seen| {
        let known = routes.iter().find(|(path, _)| *path == seen.target);
        known.map(|(_, value)| Answer::json(value))
    })
    .await
}

async fn look(server: &Server, path: &str) -> Recognised {
    let url = format!("127.0.0.1:{}{path}", server.port);
    recognise(&client(), &url, &Auth::None).await.unwrap()
}

fn models(owner: &str) -> Value {
    json!({"object": "list", "data": [{"id": "qwen3", "object": "model", "owned_by": owner}]})
}

#[tokio::test]
async fn servers_are_told_apart_by_what_only_they_answer() {
    let llama =
        json!({"default_generation_settings": {"n_ctx": 4096}, "build_info": "b6527-7f76692", "total_slots": 1});
    let vllm = json!({"object": "list", "data": [{"id": "qwen3", "owned_by": "vllm", "max_model_len": 32768}]});
    let cases: Vec<(Routes, Provider, &str, &str)> = vec![
        (
            vec![("/api/version", json!({"version": "0.12.11"})), ("/v1/models", models("library"))],
            Provider::Ollama,
            "ollama 0.12.11",
            "/v1",
        ),
        (
            vec![("/props", llama), ("/v1/models", models("llamacpp"))],
            Provider::LlamaCpp,
            "llama.cpp b6527-7f76692",
            "/v1",
        ),
        (vec![("/version", json!({"version": "0.11.0"})), ("/v1/models", vllm)], Provider::Vllm, "vllm 0.11.0", "/v1"),
        (
            vec![
                ("/v1/internal/model/info", json!({"model_name": "Qwen3.gguf", "lora_names": []})),
                ("/v1/models", models("user")),
            ],
            Provider::TextGen,
            "text-generation-webui",
            "/v1",
        ),
        (
            vec![
                ("/info", json!({"model_id": "Qwen/Qwen3", "version": "3.3.4", "max_input_tokens": 4096})),
                ("/v1/models", models("Qwen/Qwen3")),
            ],
            Provider::HuggingFace,
            "text-generation-inference 3.3.4",
            "/v1",
        ),
        (vec![("/v1/models", models("me"))], Provider::Compatible, "", "/v1"),
        (
            // Others tell the length of their models as well.
            vec![("/v1/models", json!({"data": [{"id": "qwen3", "max_model_len": 4096}]}))],
            Provider::Compatible,
            "",
            "/v1",
        ),
        (vec![("/api/v1/models", models("me"))], Provider::Compatible, "", "/api/v1"),
    ];
    for (routes, provider, name, base) in cases {
        let server = server(routes).await;
        for path in ["", "/", "/v1", "/v1/chat/completions"] {
            let found = look(&server, path).await;
            assert_eq!(found.provider, provider, "{path}: {found:?}");
            assert_eq!(found.server, name, "{found:?}");
            assert_eq!(found.base_url, server.url(base), "{path}: {found:?}");
            assert!(found.confirmed && !found.reason.is_empty(), "{found:?}");
            assert_eq!(found.models, ["qwen3"], "{found:?}");
        }
    }
}

#[tokio::test]
async fn a_list_with_lengths_alone_is_no_vllm() {
    let list = json!({"object": "list", "data": [{"id": "qwen3", "owned_by": "me", "max_model_len": 8192}]});
    let found = look(&server(vec![("/v1/models", list)]).await, "").await;
    assert_eq!(found.provider, Provider::Compatible, "{found:?}");
    assert!(!found.reason.contains("/version"), "{found:?}");
    let found = look(&server(vec![("/v1/models", models("vllm"))]).await, "").await;
    assert_eq!(found.provider, Provider::Vllm, "{found:?}");
    assert!(
        found.reason.contains("/v1/models") && !found.reason.contains("/version"),
        "only what answered is named: {found:?}"
    );
}

#[tokio::test]
async fn a_prefix_of_a_proxy_is_kept() {
    let server = server(vec![("/team/llm/v1/models", models("vllm"))]).await;
    let found = look(&server, "/team/llm/v1/").await;
    assert_eq!(found.provider, Provider::Vllm, "{found:?}");
    assert!(!found.reason.contains("/version"), "it did not answer that: {found:?}");
    assert_eq!(found.base_url, server.url("/team/llm/v1"));
}

#[tokio::test]
async fn the_key_is_sent_and_a_missing_one_is_told() {
    let server = Server::start(|seen| {
        let right = format!("Bearer {KEY}");
        let open = seen.header("authorization") == Some(&right);
        let denied = Answer::status(401, &json!({"error": "Unauthorized"}));
        match seen.target.as_str() {
            "/v1/models" if open => Some(Answer::json(&models("vllm"))),
            "/v1/models" => Some(denied),
            _ => None,
        }
    })
    .await;
    let found = look(&server, "").await;
    assert!(!found.confirmed, "{found:?}");
    assert!(found.reason.contains("refused"), "{found:?}");
    assert_eq!(found.base_url, server.url("/v1"));
    let auth = Auth::BearerEnv { variable: "WORK_KEY".to_owned() };
    let found = recognise(&client(), &server.url(""), &auth).await.unwrap();
    assert_eq!(found.provider, Provider::Vllm, "{found:?}");
    assert!(found.confirmed);
}

#[tokio::test]
async fn what_does_not_answer_is_guessed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("http://127.0.0.1:{port}");
    let found = recognise(&client(), &url, &Auth::None).await.unwrap();
    assert_eq!(found.provider, Provider::Compatible);
    assert_eq!(found.base_url, format!("{url}/v1"));
    assert!(!found.confirmed && found.reason.contains("no connection"), "{found:?}");
    let azure = format!("127.0.0.1:{port}/openai/deployments/own/chat/completions?api-version=2024-06-01");
    let found = recognise(&client(), &azure, &Auth::None).await.unwrap();
    assert_eq!(found.provider, Provider::AzureOpenAi);
    assert_eq!(found.base_url, format!("{url}/openai/deployments/own?api-version=2024-06-01"));
}

#[tokio::test]
async fn what_is_no_url() {
    for text in ["", "ftp://host", "http://", "not a url"] {
        let error = recognise(&client(), text, &Auth::None).await.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::BadRequest, "{text}");
        assert!(error.hint.contains("http"), "{error:?}");
    }
}
