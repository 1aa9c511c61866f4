//! The engine over real parts: store, tools, sandbox, and a scripted model behind real HTTP.

mod askers;
mod bed;
mod budgets;
mod cascade;
mod confidential;
mod context;
mod corpus;
mod delegation;
mod described;
mod drafts;
mod forks;
mod forms;
mod holding;
mod injections;
mod kinds;
mod leases;
mod long;
mod outside;
mod own_data;
mod plan_search;
mod planner;
mod redirects;
mod references;
mod revoked;
mod shells;
mod skilled;
mod supervision;

use bed::{asked, finished, kinds, request, service, until};
use serde_json::json;
use std::time::{Duration, Instant};
use steward_core::approval::Answer;
use steward_core::budget::Limit;
use steward_core::event::{EventBody, Mode, Outcome, ToolResult};
use steward_testkit::model_server::{Behaviour, Reply, Script, ScriptedModelServer};

fn outcome(events: &[steward_core::event::Event]) -> (Outcome, String) {
    match &events.last().unwrap().body {
        EventBody::RunFinished { outcome, answer, .. } => (outcome.clone(), answer.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_called_and_the_answer_follows() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "the word is heron\n").unwrap();
    let model = ScriptedModelServer::start(Script::of([
        Behaviour::calls([("read", json!({"path": "a.txt"}))]),
        Behaviour::text("It is heron."),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let run = service.start(request("Which word?", Mode::Loop, dir.path())).await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "It is heron.".into()));
    let kinds = kinds(&events);
    let at = |kind| kinds.iter().position(|one| *one == kind).unwrap();
    assert!(at("model.responded") < at("tool.intent") && at("tool.intent") < at("tool.result"));
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event.seq, index as u64 + 1, "no gap, no duplicate");
    }
    model.assert_clean();
    let chats = model.chats();
    assert_eq!(chats.len(), 2);
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_closes_the_upstream_within_a_second() {
    let dir = tempfile::tempdir().unwrap();
    let reply = Reply::text("word ".repeat(500)).pieces(5, 50);
    let model = ScriptedModelServer::start(Script::always(Behaviour::Reply(reply))).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let run = service.start(request("Talk", Mode::Loop, dir.path())).await.unwrap();
    until(&service, run, |body| matches!(body, EventBody::ModelDelta { .. })).await;
    let begun = Instant::now();
    service.stop(run, "me").await.unwrap();
    assert!(model.wait_disconnects(1, Duration::from_mins(5)).await, "the upstream is closed");
    let events = finished(&service, run).await;
    println!("stopped after {:?}", begun.elapsed());
    let (outcome, answer) = outcome(&events);
    assert!(matches!(outcome, Outcome::Stopped { by } if by == "me"));
    let shown: String = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ModelDelta { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(answer, shown, "what was read stays");
    assert!(answer.starts_with("word"));
    assert!(service.replay(run).await.unwrap().same);
    assert!(service.stop(run, "me").await.is_err(), "an ended run says so");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_meanwhile_is_taken_in() {
    let dir = tempfile::tempdir().unwrap();
    let first = Reply::text("one two three").pieces(3, 150);
    let model =
        ScriptedModelServer::start(Script::of([Behaviour::Reply(first), Behaviour::text("In German then: eins.")]))
            .await
            .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let run = service.start(request("How do you count to three?", Mode::Loop, dir.path())).await.unwrap();
    until(&service, run, |body| matches!(body, EventBody::ModelDelta { .. })).await;
    service.steer(run, "in German please", "me").await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events).1, "In German then: eins.");
    let prompt = model.chats()[1].body["messages"].to_string();
    assert!(prompt.contains("in German please"), "{prompt}");
    assert!(kinds(&events).contains(&"run.steered"));
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_write_survives_a_restart_and_is_undone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("n.txt"), "before").unwrap();
    let model = ScriptedModelServer::start(Script::of([
        Behaviour::calls([("write", json!({"path": "n.txt", "content": "after"}))]),
        Behaviour::text("Written."),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let (run, id) = {
        let service = service(data.path(), &model).await;
        let run = service.start(request("Write", Mode::Loop, dir.path())).await.unwrap();
        let id = asked(&service, run).await;
        service.shutdown().await;
        (run, id)
    };
    assert_eq!(std::fs::read_to_string(dir.path().join("n.txt")).unwrap(), "before");
    let service = service(data.path(), &model).await;
    assert!(service.decide(id, Answer::Happened, "me").await.is_err(), "does not fit the question");
    service.decide(id, Answer::Approve { grant: None, until: None }, "me").await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "Written.".into()));
    assert_eq!(std::fs::read_to_string(dir.path().join("n.txt")).unwrap(), "after");
    assert!(service.decide(id, Answer::Approve { grant: None, until: None }, "me").await.is_err(), "answered before");
    assert_eq!(model.chats().len(), 2, "a committed reply is not paid for twice");
    let undone = service.undo(run, "me").await.unwrap();
    assert!(undone.len() == 1 && undone[0].result.is_ok(), "{undone:?}");
    assert_eq!(std::fs::read_to_string(dir.path().join("n.txt")).unwrap(), "before");
    assert!(service.undo(run, "me").await.unwrap().is_empty(), "undone once");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_leaves_an_argument_open_and_feedback_replans() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "heron").unwrap();
    let plan = |out: &str| {
        json!([
            {"thought": "look", "tool": "read", "args": {"path": "a.txt"}},
            {"thought": "keep", "tool": "write", "args": {"path": out, "content": ""}},
            {"thought": "", "tool": "final_answer", "args": {"text": ""}}
        ])
        .to_string()
    };
    let model = ScriptedModelServer::start(Script::of([
        Behaviour::text(plan("b.txt")),
        Behaviour::text(plan("c.txt")),
        Behaviour::text(json!({"path": "c.txt", "content": "heron"}).to_string()),
        Behaviour::text("Kept in c.txt."),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let run = service.start(request("Keep the word", Mode::Plan, dir.path())).await.unwrap();
    let id = asked(&service, run).await;
    let feedback = Answer::Feedback { text: "into c.txt".into() };
    service.decide(id, feedback, "me").await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let known = ids.clone();
        let events = until(&service, run, |body| match body {
            EventBody::ApprovalRequested { approval_id, .. } => *approval_id != id && !known.contains(approval_id),
            _ => false,
        })
        .await;
        if let EventBody::ApprovalRequested { approval_id, .. } = &events.last().unwrap().body {
            ids.push(*approval_id);
            service.decide(*approval_id, Answer::Approve { grant: None, until: None }, "me").await.unwrap();
        }
    }
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "Kept in c.txt.".into()), "{:?}", kinds(&events));
    assert_eq!(std::fs::read_to_string(dir.path().join("c.txt")).unwrap(), "heron");
    assert!(!dir.path().join("b.txt").exists());
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn passing_faults_are_tried_again_lasting_ones_end_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(Script::of([
        Behaviour::server_error(503),
        Behaviour::text("There."),
        Behaviour::unauthorised(),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let only = bed::connection(&model, bed::untrusted());
    let service = bed::service_over(data.path(), vec![only]).await;
    let run = service.start(request("Hello", Mode::Loop, dir.path())).await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "There.".into()));
    let tried: usize = events
        .iter()
        .map(|event| match &event.body {
            EventBody::ModelResponded { answered: Some(answered), .. } => answered.attempts.len(),
            EventBody::ModelFailed { .. } => 1,
            _ => 0,
        })
        .sum();
    assert!(tried >= 2, "{events:#?}");
    let run = service.start(request("Hello", Mode::Loop, dir.path())).await.unwrap();
    let (end, _) = outcome(&finished(&service, run).await);
    assert!(matches!(&end, Outcome::Failed { message } if message.contains("scripted")), "{end:?}");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_calls_go_back_to_the_model_and_limits_say_which() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(Script::always(Behaviour::calls([
        ("read", json!({"nonsense": "a.txt"})),
        ("nothere", json!({})),
    ])))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let run = service.start(request("Go", Mode::Loop, dir.path())).await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events).0, Outcome::Limited { limit: Limit::ModelCalls, message: String::new() });
    let ran = events.iter().any(|event| matches!(event.body, EventBody::ToolIntent { .. }));
    assert!(!ran, "nothing invalid runs");
    assert!(
        !events.iter().any(|event| matches!(&event.body, EventBody::ToolResult { result: ToolResult::Ok { .. }, .. }))
    );
    model.assert_clean();
    service.shutdown().await;
}
