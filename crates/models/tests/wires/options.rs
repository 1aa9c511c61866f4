//! What other programs ask for through the gateway, in each provider's words, and what none has words for.

use crate::support::{ask, client, request};
use crate::wires::events;
use crate::wires::requests::weather;
use crate::wires::server::{Answer, Server};
use crate::wires::table::CASES;
use serde_json::{Value, json};
use steward_core::message::{Message, Picture, PictureSource};
use steward_core::model::{Effort, ModelErrorClass, ModelRequest, RequestOptions, ToolChoice};

/// What was sent to the provider, or why nothing was.
async fn sent(name: &str, model: &str, asked: &ModelRequest) -> Result<Value, String> {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let server = Server::always(events::answer(&case.shape("text"))).await;
    let mut connection = case.connection(&server);
    model.clone_into(&mut connection.model);
    match ask(&client(), &connection, asked).await {
        (_, None) => Ok(server.last().body),
        (_, Some(error)) => {
            assert_eq!((error.class, server.seen().len()), (ModelErrorClass::BadRequest, 0), "{name}: {error}");
            Err(error.message)
        }
    }
}

fn with_tools(options: RequestOptions) -> ModelRequest {
    ModelRequest { tools: vec![weather()], options: RequestOptions { exact: true, ..options }, ..request("hi") }
}

#[tokio::test]
async fn a_call_can_be_forced() {
    let any = RequestOptions { tool_choice: ToolChoice::Required, ..RequestOptions::default() };
    let one = RequestOptions { tool_choice: ToolChoice::Named("get_weather".to_owned()), ..RequestOptions::default() };
    let cases = [
        ("openai", "/tool_choice", json!("required"), json!({"type": "function", "function": {"name": "get_weather"}})),
        ("responses", "/tool_choice", json!("required"), json!({"type": "function", "name": "get_weather"})),
        ("anthropic", "/tool_choice", json!({"type": "any"}), json!({"type": "tool", "name": "get_weather"})),
        ("bedrock", "/toolConfig/toolChoice", json!({"any": {}}), json!({"tool": {"name": "get_weather"}})),
        (
            "gemini",
            "/toolConfig/functionCallingConfig",
            json!({"mode": "ANY"}),
            json!({"mode": "ANY", "allowedFunctionNames": ["get_weather"]}),
        ),
        ("cohere", "/tool_choice", json!("REQUIRED"), json!("REQUIRED")),
    ];
    for (name, place, for_any, for_one) in cases {
        for (options, expected) in [(any.clone(), for_any), (one.clone(), for_one)] {
            let body = sent(name, "asked", &with_tools(options)).await.unwrap();
            assert_eq!(body.pointer(place), Some(&expected), "{name}: {body}");
        }
        let body = sent(name, "asked", &with_tools(RequestOptions::default())).await.unwrap();
        assert_eq!(body.pointer(place), None, "{name}: {body}");
    }
    assert!(sent("ollama", "asked", &with_tools(any)).await.unwrap_err().contains("`tool_choice`"));
}

#[tokio::test]
async fn tools_that_may_not_be_called_stay_where_there_is_a_word_for_it() {
    let none = RequestOptions { tool_choice: ToolChoice::None, ..RequestOptions::default() };
    for (name, place, expected) in [
        ("openai", "/tool_choice", json!("none")),
        ("responses", "/tool_choice", json!("none")),
        ("anthropic", "/tool_choice", json!({"type": "none"})),
        ("gemini", "/toolConfig/functionCallingConfig", json!({"mode": "NONE"})),
        ("cohere", "/tool_choice", json!("NONE")),
    ] {
        let body = sent(name, "asked", &with_tools(none.clone())).await.unwrap();
        assert_eq!((body.pointer(place), body["tools"].is_array()), (Some(&expected), true), "{name}: {body}");
    }
    for name in ["bedrock", "ollama"] {
        let body = sent(name, "asked", &with_tools(none.clone())).await.unwrap();
        assert!(body.get("tools").is_none() && body.get("toolConfig").is_none(), "{name}: {body}");
    }
    let single = RequestOptions { single_call: true, ..none.clone() };
    let body = sent("anthropic", "asked", &with_tools(single)).await.unwrap();
    assert_eq!(body["tool_choice"], json!({"type": "none"}), "it takes nothing besides");
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let asked = ModelRequest { schema: Some(schema), ..with_tools(none) };
    let body = sent("anthropic", "asked", &asked).await.unwrap();
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "give_output"}));
}

#[tokio::test]
async fn one_call_at_a_time() {
    let single = RequestOptions { single_call: true, ..RequestOptions::default() };
    for name in ["openai", "responses"] {
        let body = sent(name, "asked", &with_tools(single.clone())).await.unwrap();
        assert_eq!(body["parallel_tool_calls"], false, "{name}");
    }
    let body = sent("anthropic", "asked", &with_tools(single.clone())).await.unwrap();
    assert_eq!(body["tool_choice"], json!({"type": "auto", "disable_parallel_tool_use": true}));
    let forced = RequestOptions { tool_choice: ToolChoice::Required, ..single };
    let body = sent("anthropic", "asked", &with_tools(forced)).await.unwrap();
    assert_eq!(body["tool_choice"], json!({"type": "any", "disable_parallel_tool_use": true}));
}

#[tokio::test]
async fn output_under_a_schema_beside_tools() {
    let schema = json!({"$ref": "#/$defs/City", "$defs": {"City": {"type": "object", "properties": {"city": {"type": "string"}}}}});
    let asked = ModelRequest { schema: Some(schema), ..with_tools(RequestOptions::default()) };
    let body = sent("anthropic", "asked", &asked).await.unwrap();
    assert_eq!((&body["tools"][1]["name"], &body["tool_choice"]), (&json!("give_output"), &json!({"type": "any"})));
    assert_eq!(body["tools"][1]["input_schema"]["properties"]["city"]["type"], "string");
    let body = sent("bedrock", "asked", &asked).await.unwrap();
    assert_eq!(body["toolConfig"]["toolChoice"], json!({"any": {}}));
    assert!(sent("cohere", "asked", &asked).await.unwrap_err().contains("`response_format` beside `tools`"));
    let list = ModelRequest { schema: Some(json!({"type": "array"})), ..asked };
    assert!(sent("anthropic", "asked", &list).await.unwrap_err().contains("`response_format`"));
}

#[tokio::test]
async fn pictures_go_as_each_provider_takes_them() {
    let data = PictureSource::Data { media_type: "image/png".to_owned(), base64: "AAAA".into() };
    let url = PictureSource::Url("https://example.org/a.jpg?x=1".to_owned());
    let asked = |source: &PictureSource| {
        let message = Message::user("What is it?").with_pictures(vec![Picture { at: 0, source: source.clone() }]);
        ModelRequest { messages: vec![message], ..request("") }
    };
    let (own, far) = ("data:image/png;base64,AAAA", "https://example.org/a.jpg?x=1");
    let part = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let file = json!({"fileData": {"fileUri": far, "mimeType": "image/jpeg"}});
    let cases = [
        ("openai", "/messages/0/content/0", part(own), Some(part(far))),
        ("cohere", "/messages/0/content/0", part(own), Some(part(far))),
        (
            "responses",
            "/input/0/content/0",
            json!({"type": "input_image", "image_url": own}),
            Some(json!({"type": "input_image", "image_url": far})),
        ),
        (
            "anthropic",
            "/messages/0/content/0/source",
            json!({"type": "base64", "media_type": "image/png", "data": "AAAA"}),
            Some(json!({"type": "url", "url": far})),
        ),
        ("gemini", "/contents/0/parts/0", json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}), Some(file)),
        ("bedrock", "/messages/0/content/0", json!({"image": {"format": "png", "source": {"bytes": "AAAA"}}}), None),
        ("ollama", "/messages/0/images/0", json!("AAAA"), None),
    ];
    for (name, place, for_data, for_url) in cases {
        let body = sent(name, "asked", &asked(&data)).await.unwrap();
        assert_eq!(body.pointer(place), Some(&for_data), "{name}: {body}");
        match (sent(name, "asked", &asked(&url)).await, for_url) {
            (Ok(body), Some(expected)) => assert_eq!(body.pointer(place), Some(&expected), "{name}: {body}"),
            (Err(why), None) => assert!(why.contains("data URL"), "{name}: {why}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn sampling_and_effort_in_each_providers_words() {
    let options = RequestOptions { top_p: Some(0.96), effort: Some(Effort::High), ..RequestOptions::default() };
    let mut asked = ModelRequest { temperature: None, max_tokens: None, ..with_tools(options) };
    let cases = [
        ("openai", "o9", "/top_p", "/reasoning_effort", json!("high")),
        ("responses", "o9", "/top_p", "/reasoning/effort", json!("high")),
        ("anthropic", "claude-opus-4-8", "/top_p", "/output_config/effort", json!("high")),
        ("anthropic", "claude-sonnet-4-5", "/top_p", "/thinking/budget_tokens", json!(24_576)),
        (
            "gemini",
            "gemini-2.5-flash",
            "/generationConfig/topP",
            "/generationConfig/thinkingConfig/thinkingBudget",
            json!(24_576),
        ),
        (
            "gemini",
            "gemini-3-pro",
            "/generationConfig/topP",
            "/generationConfig/thinkingConfig/thinkingLevel",
            json!("high"),
        ),
        ("cohere", "command-a-reasoning", "/p", "/thinking/token_budget", json!(24_576)),
        (
            "bedrock",
            "openai.gpt-oss-120b",
            "/inferenceConfig/topP",
            "/additionalModelRequestFields/reasoning_effort",
            json!("high"),
        ),
        (
            "bedrock",
            "eu.anthropic.claude-sonnet-4-5",
            "/inferenceConfig/topP",
            "/additionalModelRequestFields/thinking/type",
            json!("enabled"),
        ),
        ("ollama", "qwen3", "/options/top_p", "/think", json!(true)),
    ];
    for (name, model, top_p, effort, expected) in cases {
        let body = sent(name, model, &asked).await.unwrap();
        assert_eq!(body.pointer(top_p), Some(&json!(0.96)), "{name}: {body}");
        assert_eq!(body.pointer(effort), Some(&expected), "{name}: {body}");
        let text = body.to_string();
        assert!(
            !text.contains("emperature") && (name == "anthropic" || !text.to_lowercase().contains("maxtokens")),
            "{body}"
        );
    }
    for (name, model) in
        [("anthropic", "claude-3-5-haiku-latest"), ("gemini", "gemini-2.0-flash"), ("bedrock", "mistral.large")]
    {
        assert!(sent(name, model, &asked).await.unwrap_err().contains("`reasoning_effort`"), "{name}");
    }
    // Between a call and its result, thoughts would have to be sent back.
    asked.messages.push(Message::tool("c", "15 °C"));
    let body = sent("anthropic", "claude-sonnet-4-5", &asked).await.unwrap();
    assert_eq!(body["thinking"], Value::Null);
}

#[tokio::test]
async fn what_does_not_go_with_thoughts_is_named_before_anybody_is_asked() {
    let with = |effort, top_p, temperature, tool_choice| {
        let options = RequestOptions { top_p, effort, tool_choice, exact: true, ..RequestOptions::default() };
        ModelRequest { temperature, max_tokens: Some(4000), ..with_tools(options) }
    };
    let high = Some(Effort::High);
    let cases = [
        (with(high, None, None, ToolChoice::Required), Some("`tool_choice`")),
        (with(high, None, Some(0.5), ToolChoice::Auto), Some("`temperature`")),
        (with(high, Some(0.5), None, ToolChoice::Auto), Some("`top_p`")),
        (with(high, Some(0.95), Some(1.0), ToolChoice::Auto), None),
    ];
    for (asked, refused) in cases {
        for (name, model) in [("anthropic", "claude-sonnet-4-5"), ("bedrock", "eu.anthropic.claude-sonnet-4-5")] {
            match (sent(name, model, &asked).await, refused) {
                (Ok(_), None) => {}
                (Err(why), Some(field)) => assert!(why.contains(field), "{name}: {why}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    let both = with(None, Some(0.9), Some(0.5), ToolChoice::Auto);
    assert!(sent("anthropic", "claude-sonnet-4-5", &both).await.unwrap_err().contains("`top_p`"));
    let body = sent("anthropic", "claude-3-7-sonnet-latest", &both).await.unwrap();
    assert_eq!((&body["top_p"], &body["temperature"]), (&json!(0.9), &json!(0.5)));
}

#[tokio::test]
async fn an_answer_without_a_limit_gets_the_models_own() {
    let case = CASES.iter().find(|case| case.name == "anthropic").unwrap();
    let good = events::answer(&case.shape("text"));
    let server = Server::start(move |seen| {
        let asked = seen.body["max_tokens"].as_u64()?;
        let long = seen.body.to_string().contains("a long prompt");
        let most = if long { 20_000 } else { 64_000 };
        let words = match (long, asked > most) {
            (_, false) => return Some(good.clone()),
            (false, true) => {
                format!("max_tokens: {asked} > 64000, which is the maximum allowed number of output tokens for x")
            }
            (true, true) => {
                format!("input length and `max_tokens` exceed context limit: 180000 + {asked} > 200000, decrease")
            }
        };
        Some(Answer::status(
            400,
            &json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}}),
        ))
    })
    .await;
    let (client, connection) = (client(), case.connection(&server));
    for text in ["hi", "hi", "a long prompt"] {
        let asked = ModelRequest { max_tokens: None, ..request(text) };
        assert_eq!(ask(&client, &connection, &asked).await.1, None, "{text}");
    }
    let limits: Vec<u64> = server.seen().iter().map(|seen| seen.body["max_tokens"].as_u64().unwrap()).collect();
    assert_eq!(
        limits,
        [128_000, 64_000, 64_000, 64_000, 20_000],
        "what is learned is kept; what a prompt leaves is not"
    );
    let asked = ModelRequest { max_tokens: Some(100_000), ..request("hi") };
    assert!(ask(&client, &connection, &asked).await.1.is_some(), "a limit that was asked for is never changed");
}

#[tokio::test]
async fn two_messages_of_one_side_go_as_one() {
    let messages = vec![Message::system("Be brief."), Message::user("Write a poem"), Message::user("about tea")];
    let asked = ModelRequest { messages, ..request("") };
    for (name, place) in [
        ("openai", "/messages/1/content"),
        ("responses", "/input/1/content"),
        ("cohere", "/messages/1/content"),
        ("ollama", "/messages/1/content"),
        ("anthropic", "/messages/0/content/0/text"),
        ("gemini", "/contents/0/parts/0/text"),
    ] {
        let body = sent(name, "asked", &asked).await.unwrap();
        assert_eq!(body.pointer(place), Some(&json!("Write a poem\n\nabout tea")), "{name}: {body}");
    }
}
