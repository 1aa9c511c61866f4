//! Models of different characters are examined; each report card is a snapshot.

mod personas;

use personas::{knowing, native, no_tools, obeys, react, refusal, wrong_tools};
use serde_json::json;
use std::sync::Mutex;
use std::time::Duration;
use steward_app::ExamPrompts;
use steward_cli::commands::model_card::card;
use steward_cli::term::Term;
use steward_core::Timestamp;
use steward_core::exam::{Check, CheckOutcome, ExamReport};
use steward_core::model::{Connection, Constrained, ModelErrorClass, Strategy};
use steward_models::exam::{Exam, ExamLimits, examine};
use steward_models::openai::{Client, Secrets, Timeouts};
use steward_testkit::ScriptedModelServer;
use steward_testkit::model_server::{Behaviour, Script};

fn connection(server: &ScriptedModelServer, provider: &str) -> Connection {
    serde_json::from_value(json!({
        "id": uuid::Uuid::from_u128(1), "name": "one", "provider": provider,
        "base_url": server.base_url(), "model": "scripted",
    }))
    .unwrap()
}

/// Examines the model; its report, and the server's record of requests.
async fn report_within(script: Script, provider: &str, limits: ExamLimits) -> (ExamReport, ScriptedModelServer) {
    let server = ScriptedModelServer::start(script).await.unwrap();
    let client = Client::new(Secrets::none(), None, Timeouts::default());
    let connection = connection(&server, provider);
    let told = Mutex::new(Vec::new());
    let exam = Exam {
        client: &client,
        connection: &connection,
        format: &ExamPrompts,
        at: Timestamp(1_700_000_000_000),
        limits,
    };
    let report = examine(exam, &|check: &Check| {
        told.lock().unwrap().push(check.clone());
    })
    .await
    .unwrap();
    assert_eq!(*told.lock().unwrap(), report.checks, "each check is told");
    (report, server)
}

async fn report(script: Script, provider: &str) -> (ExamReport, ScriptedModelServer) {
    // Busy machines are no slow models.
    let limits = ExamLimits { whole: Duration::from_mins(5), ..ExamLimits::default() };
    report_within(script, provider, limits).await
}

/// The card without what differs from time to time.
fn shown(report: &ExamReport) -> String {
    let mut report = report.clone();
    report.ms = 0;
    report.tokens_per_second = 0.0;
    report.prompt_tokens_per_second = 0.0;
    report.first_token_ms = 0;
    for check in &mut report.checks {
        check.ms = 0;
        if check.name == "speed" && check.outcome == CheckOutcome::Passed {
            "(figures)".clone_into(&mut check.detail);
        }
        check.detail = check.detail.replace(&root(&report.endpoint), "http://server");
        if check.detail.contains(" ms") {
            check.detail = check
                .detail
                .split(' ')
                .map(|word| if word.parse::<u64>().is_ok() { "N" } else { word })
                .collect::<Vec<_>>()
                .join(" ");
        }
    }
    card(&report, "one", Term::detect(true))
}

fn root(endpoint: &str) -> String {
    endpoint.trim_end_matches("/v1").to_owned()
}

fn outcome(report: &ExamReport, name: &str) -> CheckOutcome {
    let check = report.checks.iter().find(|check| check.name == name);
    check.unwrap_or_else(|| panic!("no check {name}")).outcome
}

#[tokio::test]
async fn a_perfect_native_model() {
    let mut script = obeys(native(Script::default()), "response_format");
    script = knowing(script, true);
    script.routes.insert("GET /v1/models".to_owned(), json!({"data": [{"id": "scripted", "max_model_len": 32_768}]}));
    let version = json!({"version": "0.11.0"});
    script.routes.insert("GET /version".to_owned(), version);
    let (report, server) = report(script, "vllm").await;
    insta::assert_snapshot!(shown(&report));
    let can = &report.capabilities;
    assert_eq!(can.strategy, Strategy::Native);
    assert_eq!(report.constrained, [Constrained::ResponseFormat]);
    assert!(can.plans && can.summarises && can.parallel_calls && can.system_role);
    assert_eq!((can.window, can.max_tools), (32_768, 64));
    assert!(report.tokens <= 15_000, "{} tokens", report.tokens);
    server.assert_clean();
}

#[tokio::test]
async fn a_server_that_ignores_response_format() {
    let (report, _) = report(knowing(native(Script::default()), true), "compatible").await;
    insta::assert_snapshot!(shown(&report));
    assert!(report.constrained.is_empty() && !report.capabilities.json_schema);
    assert_eq!(report.capabilities.strategy, Strategy::Native);
    assert_eq!(outcome(&report, "guided_calls"), CheckOutcome::Skipped);
}

#[tokio::test]
async fn a_server_that_refuses_the_schema_of_one_tool() {
    // The arguments of set_alarm, but not of the other tools.
    let refuse = refusal("schema: the tool set_alarm uses an enum that is not supported");
    let script = no_tools(Script::default()).when_body("\"enum\":[\"once\",\"daily\"]", "", refuse);
    let script = knowing(obeys(script, "response_format"), true);
    let (report, server) = report(script, "compatible").await;
    insta::assert_snapshot!(shown(&report));
    assert_eq!(report.capabilities.strategy, Strategy::GuidedJson);
    let schemas: Vec<String> = server
        .chats()
        .iter()
        .filter_map(|chat| chat.body.pointer("/response_format/json_schema/schema"))
        .map(ToString::to_string)
        .filter(|schema| schema.contains("tool_calls"))
        .collect();
    let refused = schemas.iter().filter(|schema| schema.contains("daily"));
    assert_eq!(refused.count(), 1, "it is sent once");
    let others = schemas.iter().filter(|schema| schema.contains("integer"));
    assert_eq!(others.count(), schemas.len(), "the others stay constrained");
}

#[tokio::test]
async fn a_model_that_writes_react_only() {
    let script = no_tools(react(Script::default()));
    let (report, _) = report(knowing(script, true), "compatible").await;
    insta::assert_snapshot!(shown(&report));
    assert_eq!(report.capabilities.strategy, Strategy::React);
    assert!(report.capabilities.plans);
}

#[tokio::test]
async fn a_model_with_broken_tools() {
    let (report, _) = report(knowing(wrong_tools(Script::default()), false), "compatible").await;
    insta::assert_snapshot!(shown(&report));
    assert!(!report.capabilities.plans && !report.capabilities.system_role);
    assert_eq!(report.capabilities.max_tools, 4);
}

#[tokio::test]
async fn a_slow_model() {
    let script = Script { otherwise: Some(Behaviour::HangBeforeHeaders), ..Script::default() };
    let script = script.when("Say hello in one word", Behaviour::text("Hello."));
    let limits = ExamLimits { whole: Duration::from_secs(3), ..ExamLimits::default() };
    let (report, _) = report_within(script, "compatible", limits).await;
    insta::assert_snapshot!(shown(&report));
    assert_eq!(outcome(&report, "reach"), CheckOutcome::Passed);
    assert_eq!(outcome(&report, "questions"), CheckOutcome::Skipped);
    assert!(report.grades.is_empty(), "nobody asked");
}

#[tokio::test]
async fn an_ollama_with_a_small_window() {
    let mut script = knowing(native(Script::default()), true);
    let mut route = |name: &str, body| script.routes.insert(name.to_owned(), body);
    route("GET /api/version", json!({"version": "0.13.1"}));
    route(
        "POST /api/show",
        json!({"capabilities": ["completion", "tools"], "model_info":
            {"general.parameter_count": 8_030_261_312_u64, "llama.context_length": 131_072}}),
    );
    route("GET /api/ps", json!({"models": [{"name": "scripted:latest", "context_length": 4096}]}));
    route(
        "POST /api/chat",
        json!({"model": "scripted", "message": {"role": "assistant", "content": "{\"answer\": \"basalt-77\"}"},
            "done": true, "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 2}),
    );
    let (report, server) = report(script, "ollama").await;
    insta::assert_snapshot!(shown(&report));
    assert_eq!(report.server, "ollama 0.13.1");
    assert_eq!(report.capabilities.num_ctx, Some(16_384));
    assert_eq!(report.capabilities.window, 16_384);
    assert_eq!(report.constrained, [Constrained::OllamaFormat]);
    let asked = server.requests();
    let asked = asked.iter().filter(|one| one.path == "/api/chat");
    let sizes: Vec<_> = asked.map(|one| &one.body["options"]["num_ctx"]).collect();
    assert!(sizes.contains(&&json!(16_384)), "{sizes:?}");
}

#[tokio::test]
async fn a_model_that_is_not_there() {
    let client = Client::new(Secrets::none(), None, Timeouts::default());
    let server = ScriptedModelServer::start(Script::always(Behaviour::unauthorised())).await.unwrap();
    let mut connection = connection(&server, "compatible");
    for (url, class) in
        [(server.base_url(), ModelErrorClass::Auth), ("http://127.0.0.1:9/v1".to_owned(), ModelErrorClass::Connect)]
    {
        connection.base_url = url;
        let exam = Exam {
            client: &client,
            connection: &connection,
            format: &ExamPrompts,
            at: Timestamp(0),
            limits: ExamLimits::default(),
        };
        let error = examine(exam, &|_| {}).await.unwrap_err();
        assert_eq!(error.class, class);
        assert!(!error.hint.is_empty());
    }
}
