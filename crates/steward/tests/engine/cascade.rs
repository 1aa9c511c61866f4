//! The whole cascade through the engine: whatever a model writes becomes the right call, or a
//! question, or nothing.

use crate::engine::bed::{OTHER, asked, connection, finished, kinds, request, service, service_over, until, untrusted};
use crate::engine::forms::FORMS;
use crate::engine::outcome;
use serde_json::json;
use std::path::Path;
use steward_core::approval::{Answer, Subject};
use steward_core::event::{Event, EventBody, Mode, Outcome, ToolResult};
use steward_core::model::{Capabilities, Connection, Strategy};
use steward_core::policy::Decision;
use steward_core::receipts::Verdict;
use steward_core::tool::CallSource;
use steward_engine::RunService;
use steward_testkit::model_server::{Behaviour, Reply, Script, ScriptedCall, ScriptedModelServer};

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "the word is heron\n").unwrap();
    dir
}

async fn model(replies: impl IntoIterator<Item = Behaviour>) -> ScriptedModelServer {
    ScriptedModelServer::start(Script::of(replies)).await.unwrap()
}

async fn run(service: &RunService, input: &str, dir: &Path) -> Vec<Event> {
    let run = service.start(request(input, Mode::Loop, dir)).await.unwrap();
    finished(service, run).await
}

/// Tools that ran, with what came back.
fn ran(events: &[Event]) -> Vec<(String, bool)> {
    events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolResult { tool, result, .. } => Some((tool.clone(), matches!(result, ToolResult::Ok { .. }))),
            _ => None,
        })
        .collect()
}

fn verdict(events: &[Event]) -> Option<Verdict> {
    events.iter().find_map(|event| match &event.body {
        EventBody::RunFinished { receipts, .. } => receipts.as_ref().map(|all| all.verdict),
        _ => None,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_dialect_is_a_call_whatever_was_asked_for() {
    let dir = folder();
    for strategy in [Strategy::Native, Strategy::GuidedJson, Strategy::React, Strategy::Markers] {
        let model = model([]).await;
        let data = tempfile::tempdir().unwrap();
        let capabilities = Capabilities { strategy, ..untrusted() };
        let service = service_over(data.path(), vec![connection(&model, capabilities)]).await;
        for (form, text) in FORMS {
            model.replace(Script::of([
                Behaviour::Reply(Reply::text(*text).pieces(7, 0)),
                Behaviour::text("It is heron."),
            ]));
            let events = run(&service, "Which word is in a.txt?", dir.path()).await;
            assert_eq!(
                ran(&events),
                [("read".to_owned(), true)],
                "{form} where {strategy:?} was asked for: {events:#?}"
            );
            assert_eq!(outcome(&events).1, "It is heron.", "{form} {strategy:?}");
            let answered = events.iter().find_map(|event| match &event.body {
                EventBody::ModelResponded { answered, .. } => answered.clone(),
                _ => None,
            });
            assert_eq!(answered.unwrap().strategy, strategy);
        }
        model.assert_clean();
        service.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guessed_write_asks_and_says_from_which_words() {
    let dir = folder();
    let model = model([
        Behaviour::Reply(Reply {
            reasoning: "Then: <tool_call>{\"name\": \"write\", \"arguments\": {\"path\": \"made.txt\", \"content\": \"x\"}}</tool_call>".into(),
            ..Reply::text("")
        }),
        Behaviour::text("There it is."),
    ])
    .await;
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let mut wanted = request("Make made.txt", Mode::Loop, dir.path());
    wanted.agent.policy.write = Decision::Allow;
    wanted.agent.policy.external = Decision::Allow;
    wanted.agent.policy.destructive = Decision::Allow;
    let run = service.start(wanted).await.unwrap();
    let id = asked(&service, run).await;
    let state = service.state(run).await.unwrap();
    let Some(steward_core::run::Waiting::Approval { subject, .. }) = &state.waiting else {
        panic!("{:?}", state.waiting);
    };
    let Subject::Call { reason, tool, .. } = subject.as_ref() else {
        panic!("{subject:?}");
    };
    assert_eq!(tool, "write");
    assert!(reason.contains("guessed") && reason.contains("made.txt") && reason.contains('%'), "{reason}");
    assert!(!dir.path().join("made.txt").exists(), "nothing ran");
    let yes = Answer::Approve { grant: None, until: None };
    service.decide(id, yes, "me").await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events).0, Outcome::Completed);
    assert!(dir.path().join("made.txt").exists());
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guessed_look_runs_unasked() {
    let dir = folder();
    let model = model([Behaviour::text("I'll read the file a.txt."), Behaviour::text("It is heron.")]).await;
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let events = run(&service, "Which word is in a.txt?", dir.path()).await;
    assert_eq!(ran(&events), [("read".to_owned(), true)]);
    let source = events.iter().find_map(|event| match &event.body {
        EventBody::ModelResponded { calls, .. } => calls.first().map(|call| call.source),
        _ => None,
    });
    assert_eq!(source, Some(CallSource::Fuzzy));
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_corrected_once_and_then_the_request_finds_its_tool() {
    let dir = folder();
    let model = model([
        Behaviour::text("Done! The file has been opened."),
        Behaviour::text("All done, the file has been opened."),
        Behaviour::text("The word is heron."),
    ])
    .await;
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let events = run(&service, "Read the file a.txt", dir.path()).await;
    let kinds = kinds(&events);
    assert_eq!(kinds.iter().filter(|kind| **kind == "model.corrected").count(), 1, "{kinds:?}");
    assert!(kinds.contains(&"intent.dispatched"), "{kinds:?}");
    assert_eq!(ran(&events), [("read".to_owned(), true)], "{events:#?}");
    assert_eq!(outcome(&events).1, "The word is heron.");
    let chats = model.chats();
    assert!(chats[0].body["tools"].is_array(), "first in the provider's own field");
    assert!(chats[1].body.get("tools").is_none(), "then in text");
    let system = chats[1].body["messages"][0]["content"].to_string();
    assert!(system.contains("Action Input"), "{system}");
    let last = chats[1].body["messages"].as_array().unwrap().last().unwrap();
    assert!(last.to_string().contains("nothing has happened"), "{last}");
    model.assert_clean();
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_that_helps_is_all() {
    let dir = folder();
    let model = model([
        Behaviour::text("I have read the file for you."),
        Behaviour::text("Thought: now\nAction: read\nAction Input: {\"path\": \"a.txt\"}\n"),
        Behaviour::text("Thought: seen\nFinal Answer: I have read the file: the word is heron."),
    ])
    .await;
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let events = run(&service, "Which word is in a.txt?", dir.path()).await;
    assert_eq!(ran(&events), [("read".to_owned(), true)]);
    assert!(!kinds(&events).contains(&"intent.dispatched"));
    assert!(outcome(&events).1.contains("heron"));
    assert_ne!(verdict(&events), Some(Verdict::Unverified), "a true summary");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_tool_fits_the_answer_stands_unverified() {
    let dir = folder();
    let model =
        model([Behaviour::text("The file has been created."), Behaviour::text("The file has been created.")]).await;
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let events = run(&service, "Make it so, please", dir.path()).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "The file has been created.".into()));
    assert!(ran(&events).is_empty());
    assert_eq!(verdict(&events), Some(Verdict::Unverified));
    let said = events.iter().any(|event| {
        matches!(&event.body, EventBody::IntentDispatched { call: None, note } if note.contains("nothing was done"))
    });
    assert!(said, "{:?}", kinds(&events));
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_call_goes_back_with_the_error_and_comes_right() {
    let dir = folder();
    let broken = Reply {
        calls: vec![ScriptedCall { id: None, name: "read".into(), arguments: json!("path: a.txt, [[[") }],
        ..Reply::text("")
    };
    let model = model([
        Behaviour::Reply(broken),
        Behaviour::calls([("read", json!({"path": "a.txt"}))]),
        Behaviour::text("It is heron."),
    ])
    .await;
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let events = run(&service, "Which word is in a.txt?", dir.path()).await;
    assert_eq!(ran(&events), [("read".to_owned(), true)], "{events:#?}");
    let told = model.chats()[1].body["messages"].to_string();
    assert!(told.contains("could not be read") && told.contains("path"), "{told}");
    model.assert_clean();
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_brought_into_form_and_what_does_not_fit_names_its_field() {
    let dir = folder();
    let model = model([
        Behaviour::calls([("read_file", json!({"file": "a.txt"}))]),
        Behaviour::calls([("read", json!({"nonsense": {"x": 1}}))]),
        Behaviour::text("It is heron."),
    ])
    .await;
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let events = run(&service, "Which word is in a.txt?", dir.path()).await;
    assert_eq!(ran(&events), [("read".to_owned(), true)]);
    let fixed = events.iter().any(|event| {
        matches!(&event.body, EventBody::ModelResponded { diagnostics, .. } if diagnostics.iter().any(|line| line.contains("`file` was taken for `path`")))
    });
    assert!(fixed, "{events:#?}");
    let refused = events.iter().find_map(|event| match &event.body {
        EventBody::ToolRejected { message, .. } => Some(message.clone()),
        _ => None,
    });
    assert!(refused.unwrap().contains("\"path\""));
    model.assert_clean();
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_connection_goes_on_in_its_own_form() {
    let dir = folder();
    let first = model([
        Behaviour::calls([("read", json!({"path": "a.txt"}))]),
        // The second call of the first connection finds no answer.
        Behaviour::unauthorised(),
    ])
    .await;
    let second = model([]).await;
    second.replace(Script::always(Behaviour::text("Thought: seen\nFinal Answer: It is heron.")));
    let data = tempfile::tempdir().unwrap();
    let other = Connection {
        id: OTHER,
        name: "another".into(),
        model: "another".into(),
        ..connection(&second, Capabilities { strategy: Strategy::React, ..untrusted() })
    };
    let native = connection(&first, untrusted());
    let first_id = native.id;
    let service = service_over(data.path(), vec![native, other]).await;
    let mut wanted = request("Which word is in a.txt?", Mode::Loop, dir.path());
    wanted.agent.connection = Some(first_id);
    wanted.agent.routing.fallback_chain = vec![OTHER];
    let run = service.start(wanted).await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events).1, "It is heron.");
    let answered: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ModelResponded { answered, .. } => answered.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(answered[0].strategy, Strategy::Native, "{answered:#?}");
    assert_eq!((answered[1].connection, answered[1].strategy), (OTHER, Strategy::React));
    assert_eq!(answered[1].attempts.len(), 2, "{answered:?}");
    let prompt = &second.chats()[0].body;
    assert!(prompt.get("tools").is_none() && prompt.to_string().contains("Observation: "), "{prompt}");
    second.assert_clean();
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_after_a_restart_between_the_correction_and_its_reply() {
    let dir = folder();
    let model = model([Behaviour::text("Done! The file has been opened."), Behaviour::HangBeforeHeaders]).await;
    let data = tempfile::tempdir().unwrap();
    let run = {
        let service = service(data.path(), &model).await;
        let run = service.start(request("Which word is in a.txt?", Mode::Loop, dir.path())).await.unwrap();
        until(&service, run, |body| matches!(body, EventBody::ModelRequested { step: 2, .. })).await;
        service.shutdown().await;
        run
    };
    model.replace(Script::of([
        Behaviour::text("Thought: now\nAction: read\nAction Input: {\"path\": \"a.txt\"}\n"),
        Behaviour::text("Final Answer: It is heron."),
    ]));
    let service = service(data.path(), &model).await;
    service.serve();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events).1, "It is heron.");
    assert_eq!(ran(&events), [("read".to_owned(), true)]);
    let corrections = kinds(&events);
    assert_eq!(corrections.iter().filter(|kind| **kind == "model.corrected").count(), 1);
    assert!(corrections.contains(&"run.resumed"));
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_reasoning_are_the_last_resort_and_replay_finds_them_again() {
    let dir = folder();
    let thought = Reply {
        reasoning: "I should look.\n<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}</tool_call>"
            .into(),
        ..Reply::text("")
    };
    let model = model([Behaviour::Reply(thought), Behaviour::text("It is heron.")]).await;
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let events = run(&service, "Which word is in a.txt?", dir.path()).await;
    assert_eq!(ran(&events), [("read".to_owned(), true)]);
    let setup = events.iter().find_map(|event| match &event.body {
        EventBody::RunStarted { setup, .. } => Some(setup.clone()),
        _ => None,
    });
    let setup = setup.unwrap();
    assert_eq!(setup.route.as_ref().unwrap().targets[0], setup.connection);
    service.shutdown().await;
}
