use crate::support::{ask, client, request};
use crate::wires::events;
use crate::wires::server::{Answer, Server};
use crate::wires::table::CASES;
use std::time::Duration;
use steward_core::model::{Provider, Wire};

#[tokio::test]
async fn lists_of_models() {
    for (name, target, expect) in [
        ("openai", "/v1/models", &["gpt-4.1-mini"][..]),
        ("anthropic", "/v1/models?limit=1000", &["claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"]),
        ("gemini", "/v1beta/models?pageSize=1000", &["gemini-2.5-flash"]),
        ("cohere", "/v1/models?endpoint=chat&page_size=1000", &["command-a-03-2025"]),
        ("bedrock", "/foundation-models", &["amazon.nova-lite-v1:0"]),
        ("ollama", "/api/tags", &["qwen3:8b"]),
    ] {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let answer = Answer::json(&events::json(&format!("{name}/models.json")));
        let server = Server::always(answer).await;
        let connection = case.connection(&server);
        let found = client().models(&connection, Duration::from_secs(2)).await.unwrap();
        assert_eq!(found, expect, "{name}");
        assert_eq!(server.last().target, target, "{name}");
    }
}

#[tokio::test]
async fn azure_deployments_and_parameters() {
    let check = async |base: &str, wire: Option<Wire>, shape: &str, expect: &str| {
        let server = Server::always(events::answer(shape)).await;
        let mut connection = CASES[1].connection(&server);
        connection.provider = Provider::AzureOpenAi;
        connection.base_url = server.url(base);
        connection.wire = wire;
        connection.model = "gpt-4.1-mini".to_owned();
        let (_, error) = ask(&client(), &connection, &request("hi")).await;
        assert_eq!(error, None, "{base}");
        let seen = server.last();
        assert_eq!(seen.target, expect, "{base}");
        assert_eq!(seen.header("api-key"), Some(crate::support::KEY));
    };
    check(
        "/openai/deployments/own?api-version=2024-06-01",
        None,
        "azure/text.sse",
        "/openai/deployments/own/chat/completions?api-version=2024-06-01",
    )
    .await;
    check(
        "/?api-version=2024-06-01",
        None,
        "azure/text.sse",
        "/openai/deployments/gpt-4.1-mini/chat/completions?api-version=2024-06-01",
    )
    .await;
    check("", None, "azure/text.sse", "/openai/v1/chat/completions").await;
    check(
        "/openai/v1?api-version=preview",
        Some(Wire::Responses),
        "responses/text.sse",
        "/openai/v1/responses?api-version=preview",
    )
    .await;
}

#[tokio::test]
async fn secrets_in_a_url_stay_out_of_errors() {
    let body = serde_json::json!({"error": {"message": "bad subscription-key-123 and pa55word"}});
    let server = Server::always(Answer::status(401, &body)).await;
    let mut connection = CASES[0].connection(&server);
    let port = server.port;
    connection.base_url = format!("http://me:pa55word@127.0.0.1:{port}/v1?code=subscription-key-123");
    let (_, error) = ask(&client(), &connection, &request("hi")).await;
    let told = format!("{:?}", error.unwrap());
    assert!(!told.contains("subscription-key"), "{told}");
    assert!(!told.contains("pa55word"), "{told}");
    assert!(server.last().target.ends_with("?code=subscription-key-123"));
}
