//! Every fault of a model server gives its class, the connection's name, and a hint that helps.

use crate::support;
use serde_json::json;
use std::time::{Duration, Instant};
use steward_core::model::{Auth, ModelError, ModelErrorClass, Provider};
use steward_models::openai::{Client, Secrets, Timeouts};
use steward_testkit::model_server::{Behaviour, Reply, Script, ScriptedModelServer, ScriptedUsage};
use support::{KEY, ask, client, connection, request, text};

struct Expect {
    class: ModelErrorClass,
    message: &'static str,
    hint: &'static str,
    /// Text that came before the error.
    before: &'static str,
}

async fn fault(behaviour: Behaviour) -> (String, ModelError) {
    let server = ScriptedModelServer::start(Script::always(behaviour)).await.unwrap();
    let (chunks, error) = ask(&client(), &connection(&server.base_url()), &request("hi")).await;
    server.assert_clean();
    (text(&chunks), error.expect("a fault"))
}

async fn check(behaviour: Behaviour, expect: Expect) -> ModelError {
    let case = format!("{behaviour:?}");
    let (before, error) = fault(behaviour).await;
    assert_eq!(error.class, expect.class, "{case}: {error:?}");
    assert!(error.message.contains("connection `work`"), "{case}: {error:?}");
    assert!(error.message.contains(expect.message), "{case}: {error:?}");
    assert!(error.hint.contains(expect.hint), "{case}: {error:?}");
    assert_eq!(before, expect.before, "{case}");
    assert!(!format!("{error:?} {error}").contains(KEY), "{case}: {error:?}");
    error
}

fn expect(class: ModelErrorClass, message: &'static str, hint: &'static str) -> Expect {
    Expect { class, message, hint, before: "" }
}

fn halves() -> Reply {
    Reply::text("one two three four").pieces(1, 0)
}

#[tokio::test]
async fn refusals_by_status() {
    use ModelErrorClass as Class;
    let error = check(
        Behaviour::unauthorised(),
        expect(Class::Auth, "the key was refused (HTTP 401): Incorrect", "variable WORK_KEY"),
    )
    .await;
    assert!(error.detail.unwrap().contains("invalid_api_key"));
    check(
        Behaviour::unknown_model("scripted"),
        expect(Class::UnknownModel, "does not know this model (HTTP 404)", "it has scripted: give"),
    )
    .await;
    check(Behaviour::context_length(), expect(Class::ContextLength, "does not fit", "larger window")).await;
    let error = check(
        Behaviour::rate_limit(Some("7")),
        expect(Class::RateLimit, "too many requests (HTTP 429)", "wait a moment"),
    )
    .await;
    assert_eq!(error.retry_after_ms, Some(7000));
    let error = check(Behaviour::rate_limit(None), expect(Class::RateLimit, "429", "wait a moment")).await;
    assert_eq!(error.retry_after_ms, None);
    for status in [500, 503] {
        let error =
            check(Behaviour::server_error(status), expect(Class::Server, "the endpoint failed", "again in a moment"))
                .await;
        assert!(error.message.contains(&status.to_string()));
    }
    let moved = Behaviour::Status { status: 307, body: json!(null), retry_after: None };
    check(moved, expect(Class::BadRequest, "HTTP 307", "ends in /v1")).await;
    let nowhere = Behaviour::Status { status: 404, body: json!("404 page not found"), retry_after: None };
    check(nowhere, expect(Class::BadRequest, "404 page not found", "ends in /v1")).await;
}

#[tokio::test]
async fn silence() {
    use ModelErrorClass::Timeout;
    let started = Instant::now();
    check(Behaviour::HangBeforeHeaders, expect(Timeout, "no answer came within 300 ms", "`models.headers_timeout_ms`"))
        .await;
    check(
        Behaviour::HangAfterHeaders,
        expect(Timeout, "no content came within 300 ms", "`models.first_content_timeout_ms`"),
    )
    .await;
    check(
        Behaviour::Stall { reply: halves() },
        Expect { before: "one two t", ..expect(Timeout, "the answer stopped", "`models.idle_timeout_ms`") },
    )
    .await;
    assert!(started.elapsed() < Duration::from_mins(5));
}

#[tokio::test]
async fn the_request_s_own_limit_goes_over_all() {
    let slow = Behaviour::Reply(Reply::text("abcdefghij").pieces(1, 100));
    for behaviour in [Behaviour::HangBeforeHeaders, Behaviour::HangAfterHeaders, slow] {
        let server = ScriptedModelServer::start(Script::always(behaviour)).await.unwrap();
        let client = Client::new(support::secrets(), None, Timeouts::default());
        let mut request = request("hi");
        request.timeout_ms = 400;
        let started = Instant::now();
        let (_, error) = ask(&client, &connection(&server.base_url()), &request).await;
        let error = error.unwrap();
        assert_eq!(error.class, ModelErrorClass::Timeout);
        assert!(error.hint.contains("`timeout_ms`"), "{error:?}");
        assert!(error.message.contains("within 400 ms"), "{error:?}");
        assert!(started.elapsed() < Duration::from_mins(5), "{:?}", started.elapsed());
        assert!(server.wait_disconnects(1, Duration::from_mins(5)).await);
    }
}

#[tokio::test]
async fn answers_that_break_off() {
    use ModelErrorClass::{Broken, RateLimit, Server};
    check(Behaviour::Reset, expect(Broken, "broke off", "ask again")).await;
    for clean in [false, true] {
        let cut = Behaviour::Cut { reply: halves(), clean };
        let message = if clean { "without a finish reason" } else { "broke off" };
        check(cut, Expect { before: "one two t", ..expect(Broken, message, "ask again") }).await;
    }
    let error = check(
        Behaviour::InvalidJson { reply: halves() },
        Expect { before: "one two t", ..expect(Broken, "an event is no JSON", "ask again") },
    )
    .await;
    assert!(error.detail.unwrap().starts_with("{\"choices\""));
    let in_band = |error| Behaviour::InBandError { reply: halves(), error };
    check(
        in_band(json!({"error": {"message": "overloaded", "type": "server_error"}})),
        Expect { before: "one two t", ..expect(Server, "the endpoint failed: overloaded", "again in a moment") },
    )
    .await;
    check(
        in_band(json!({"error": {"message": "slow down", "code": 429}})),
        Expect { before: "one two t", ..expect(RateLimit, "slow down", "wait a moment") },
    )
    .await;
}

#[tokio::test]
async fn what_was_spent_is_told() {
    let events = format!(
        "data: {}\n\n",
        json!({"choices": [{"delta": {"content": "a"}}], "usage": {"prompt_tokens": 50, "completion_tokens": 3}})
    );
    let (before, error) = fault(Behaviour::Raw { events }).await;
    assert_eq!(before, "a");
    assert!(error.message.contains("50 prompt and 3 reply tokens were used"), "{error:?}");
}

#[tokio::test]
async fn answers_that_are_none() {
    use ModelErrorClass::{Broken, Empty, Server};
    let plain = |content_type: &str, body: &str| Behaviour::Plain {
        content_type: content_type.to_owned(),
        body: body.to_owned(),
    };
    let error = check(
        plain("text/html; charset=utf-8", "<h1>Welcome</h1>"),
        expect(Broken, "`text/html` instead of a reply", "ends in /v1"),
    )
    .await;
    assert_eq!(error.detail.as_deref(), Some("<h1>Welcome</h1>"));
    let error = check(plain("text/plain", "ready"), expect(Broken, "no event stream", "ends in /v1")).await;
    assert_eq!(error.detail.as_deref(), Some("ready"));
    check(plain("text/event-stream", ""), expect(Broken, "before it began", "ask again")).await;
    check(plain("application/json", "{\"hello\": 1}"), expect(Broken, "instead", "/v1")).await;
    check(plain("application/json", "{\"choi"), expect(Broken, "instead", "/v1")).await;
    check(
        plain("application/json", "{\"error\": {\"message\": \"busy\"}}"),
        expect(Server, "busy", "again in a moment"),
    )
    .await;
    check(Behaviour::Empty, expect(Empty, "the answer is empty", "another model")).await;
    check(Behaviour::text(" \n "), Expect { before: " \n ", ..expect(Empty, "the answer is empty", "another model") })
        .await;
    let cut_off =
        Reply { finish: Some("length".to_owned()), usage: Some(ScriptedUsage::default()), ..Reply::default() };
    check(Behaviour::Reply(cut_off), expect(Empty, "`length`", "raise `max_tokens`, now 64")).await;
}

#[tokio::test]
async fn nobody_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("http://user:pa55word@127.0.0.1:{port}/v1");
    for (provider, hint) in [
        (Provider::Compatible, "is the server running at http://127.0.0.1"),
        (Provider::Ollama, "ollama serve"),
        (Provider::LlamaCpp, "llama-server"),
    ] {
        let mut connection = connection(&url);
        connection.provider = provider;
        let (_, error) = ask(&client(), &connection, &request("hi")).await;
        let error = error.unwrap();
        assert_eq!(error.class, ModelErrorClass::Connect, "{error:?}");
        assert!(error.message.contains("refused"), "{error:?}");
        assert!(error.hint.contains(hint), "{error:?}");
        assert!(!format!("{error:?}").contains("pa55word"), "{error:?}");
    }
}

#[tokio::test]
async fn what_is_wrong_before_anything_is_sent() {
    let server = ScriptedModelServer::start(Script::default()).await.unwrap();
    let good = connection(&server.base_url());
    let nobody = Client::new(Secrets::none(), None, Timeouts::default());
    let (_, error) = ask(&nobody, &good, &request("hi")).await;
    let error = error.unwrap();
    assert_eq!(error.class, ModelErrorClass::Auth);
    assert!(error.message.contains("WORK_KEY is not set"), "{error:?}");

    let secret = "sk-with\nline-end";
    let odd = Client::new(Secrets::new(|_| Some(secret.into())), None, Timeouts::default());
    let (_, error) = ask(&odd, &good, &request("hi")).await;
    let error = error.unwrap();
    assert_eq!(error.class, ModelErrorClass::Auth);
    assert!(!format!("{error:?}").contains("line-end"), "{error:?}");

    for url in ["", "no url", "ftp://127.0.0.1/v1"] {
        let mut bad = good.clone();
        bad.base_url = url.to_owned();
        let (_, error) = ask(&client(), &bad, &request("hi")).await;
        let error = error.unwrap();
        assert_eq!(error.class, ModelErrorClass::BadRequest, "{url}");
        assert!(error.message.contains("base URL"), "{error:?}");
    }
    let mut local = good;
    local.provider = Provider::Local;
    let (_, error) = ask(&client(), &local, &request("hi")).await;
    assert!(error.unwrap().message.contains("without a local model"));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_wrong_key_that_the_server_repeats_stays_secret() {
    let echo = Behaviour::Status {
        status: 401,
        body: json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}}),
        retry_after: None,
    };
    let error = check(echo, expect(ModelErrorClass::Auth, "provided: [secret key]", "WORK_KEY")).await;
    assert!(error.detail.unwrap().contains("[secret key]"));
    let in_band = Behaviour::InBandError {
        reply: halves(),
        error: json!({"error": {"message": format!("bad {KEY}"), "code": 401}}),
    };
    let (_, error) = fault(in_band).await;
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    assert!(!format!("{:?} {:?}", client(), support::secrets()).contains(KEY));
}

#[tokio::test]
async fn without_a_key_the_hint_says_that_one_is_wanted() {
    let script = Script { api_key: Some("right".to_owned()), ..Script::always(Behaviour::text("hello")) };
    let server = ScriptedModelServer::start(script).await.unwrap();
    let mut open = connection(&server.base_url());
    open.auth = Auth::None;
    let (_, error) = ask(&client(), &open, &request("hi")).await;
    assert!(error.unwrap().hint.contains("wants a key"));
}

#[tokio::test]
async fn a_long_list_of_models_is_cut_to_eight() {
    let script =
        Script { models: (0..11).map(|n| format!("model-{n}")).collect(), strict_models: true, ..Script::default() };
    let server = ScriptedModelServer::start(script).await.unwrap();
    let (_, error) = ask(&client(), &connection(&server.base_url()), &request("hi")).await;
    let hint = error.unwrap().hint;
    assert!(hint.contains("model-7 and 3 more") && !hint.contains("model-8"), "{hint}");
}
