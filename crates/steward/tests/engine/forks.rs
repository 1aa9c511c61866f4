//! Forks and replays over real parts.

use crate::engine::bed::{OTHER, asked, finished, kinds, request, service, store_of};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use steward_core::RunId;
use steward_core::approval::Answer;
use steward_core::budget::Preset;
use steward_core::event::{Event, EventBody, ForkedFrom, Mode, Outcome};
use steward_core::model::Purpose;
use steward_core::policy::Decision;
use steward_core::ports::{Conversation, RunFilter};
use steward_core::{AgentId, ConversationId};
use steward_engine::{EngineError, ForkRun, RunService, StartRun};
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use uuid::Uuid;

fn fork_of(run: RunId, seq: Option<u64>, dir: &Path) -> ForkRun {
    ForkRun { run, seq, start: request("", Mode::Loop, dir) }
}

fn answer(events: &[Event]) -> String {
    match &events.last().unwrap().body {
        EventBody::RunFinished { outcome: Outcome::Completed, answer, .. } => answer.clone(),
        other => panic!("{other:?}"),
    }
}

/// A run that wrote `n.txt` after a yes.
async fn wrote(service: &RunService, dir: &Path) -> (RunId, Vec<Event>) {
    let run = service.start(request("Write it", Mode::Loop, dir)).await.unwrap();
    let id = asked(service, run).await;
    let yes = Answer::Approve { grant: None, until: None };
    service.decide(id, yes, "me").await.unwrap();
    (run, finished(service, run).await)
}

fn script() -> Script {
    Script::of([
        Behaviour::calls([("write", json!({"path": "n.txt", "content": "after"}))]),
        Behaviour::text("Written."),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_goes_on_with_another_model_and_repeats_no_effect() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("n.txt");
    std::fs::write(&file, "before").unwrap();
    let model = ScriptedModelServer::start(script()).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let (run, events) = wrote(&service, dir.path()).await;
    let points = service.forkable(run).await.unwrap();
    let second = *points.last().unwrap();
    assert_eq!(points.len(), 2);
    assert_eq!((points[0].seq, second.step), (1, 2));
    assert_eq!(second.purpose, Purpose::Reply);

    std::fs::write(&file, "changed by hand").unwrap();
    model.push(Behaviour::text("Final Answer: It is written."));
    let start = StartRun { connection: Some(OTHER), ..request("", Mode::Loop, dir.path()) };
    let fork = service.fork(ForkRun { run, seq: Some(second.seq), start }).await.unwrap();
    let forked = finished(&service, fork).await;
    assert_eq!(answer(&forked), "It is written.");
    assert_eq!(model.chats().last().unwrap().body["model"], "another");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "changed by hand", "the write is not repeated");
    let taken = usize::try_from(second.seq).unwrap();
    for (old, new) in events.iter().zip(&forked).take(taken).skip(1) {
        assert_eq!((old.seq, &old.body), (new.seq, &new.body));
    }
    let state = service.state(fork).await.unwrap();
    let setup = state.setup.as_ref().unwrap();
    assert_eq!(setup.model, "another");
    assert_eq!(setup.forked_from, Some(ForkedFrom { run, seq: second.seq }));
    assert!(state.undoable().is_empty(), "the effect is the other run's");
    let page =
        store_of(&service).runs(service.deps().tenant, RunFilter { limit: 10, ..RunFilter::default() }).await.unwrap();
    let row = page.items.iter().find(|row| row.id == fork).unwrap();
    assert_eq!(row.forked_from, Some(run));
    model.assert_clean();
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_point_takes_another_request_and_a_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let model =
        ScriptedModelServer::start(Script::of([Behaviour::text("One."), Behaviour::text("Two.")])).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let run = service.start(request("Count", Mode::Loop, dir.path())).await.unwrap();
    finished(&service, run).await;
    let deps = service.deps();
    let conversation = Conversation {
        id: ConversationId(Uuid::from_u128(11)),
        agent: AgentId(Uuid::from_u128(6)),
        user: None,
        title: "t".into(),
        created_at: deps.clock.now(),
        updated_at: deps.clock.now(),
        deleted_at: None,
        forked_from: None,
    };
    store_of(&service).create_conversation(deps.tenant, &conversation).await.unwrap();
    let start = StartRun { conversation: Some(conversation.id), ..request("Count on", Mode::Loop, dir.path()) };
    let fork = service.fork(ForkRun { run, seq: None, start }).await.unwrap();
    assert_eq!(answer(&finished(&service, fork).await), "Two.");
    let said = deps.store.messages(deps.tenant, conversation.id).await.unwrap();
    let texts: Vec<&str> = said.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(texts, ["Count on", "Two."]);
    let prompt = model.chats().last().unwrap().body["messages"].to_string();
    assert!(prompt.contains("Count on"), "{prompt}");
    service.shutdown().await;
}

fn rejections(events: &[Event]) -> String {
    let said = events.iter().filter_map(|event| match &event.body {
        EventBody::ToolRejected { message, .. } => Some(message.as_str()),
        _ => None,
    });
    said.collect::<Vec<_>>().join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_goes_by_the_agent_of_now_and_not_by_that_of_the_old_run() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(script()).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let mut lax = StartRun { connection: Some(OTHER), ..request("Say it", Mode::Loop, dir.path()) };
    lax.agent.policy.write = Decision::Allow;
    lax.agent.own_data.shared = true;
    model.replace(Script::of([Behaviour::text("Final Answer: Said.")]));
    let run = service.start(lax).await.unwrap();
    finished(&service, run).await;

    let mut start = request("Write it", Mode::Loop, dir.path());
    start.agent.instructions = "Help less.".into();
    start.agent.policy.write = Decision::Deny;
    start.agent.budget = Preset::Query;
    model.replace(script());
    let fork = service.fork(ForkRun { run, seq: None, start: start.clone() }).await.unwrap();
    let events = finished(&service, fork).await;
    assert!(rejections(&events).contains("denies `write`"), "{events:?}");
    let setup = service.state(fork).await.unwrap().setup.unwrap();
    assert_eq!((&setup.agent, setup.budget), (&start.agent, Preset::Query.budget()));
    assert_eq!((setup.model.as_str(), setup.names_connection), ("scripted", false), "nobody named the old one");

    // Further on, too: what it went through is the old run's, what it may do is not.
    model.replace(script());
    let (run, _) = wrote(&service, dir.path()).await;
    std::fs::remove_file(dir.path().join("n.txt")).unwrap();
    let last = service.forkable(run).await.unwrap().pop().unwrap();
    let mut start = request("", Mode::Loop, dir.path());
    start.agent.tools = vec!["read".into()];
    model.replace(script());
    let fork = service.fork(ForkRun { run, seq: Some(last.seq), start }).await.unwrap();
    let events = finished(&service, fork).await;
    assert!(rejections(&events).contains("there is no tool `write`"), "{events:?}");
    assert!(!dir.path().join("n.txt").exists());
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_forked_says_where_it_can() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(script()).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let (run, events) = wrote(&service, dir.path()).await;
    let intent = kinds(&events).iter().position(|kind| *kind == "tool.intent").unwrap() as u64 + 1;
    let points = service.forkable(run).await.unwrap();
    let error = service.fork(fork_of(run, Some(intent), dir.path())).await.unwrap_err().to_string();
    let valid = format!("one of these: {}, {}", points[0].seq, points[1].seq);
    assert!(error.contains(&valid), "{error}");
    let start = request("other", Mode::Loop, dir.path());
    let error = service.fork(ForkRun { run, seq: Some(points[1].seq), start }).await.unwrap_err();
    assert!(matches!(&error, EngineError::Invalid(why) if why.contains("first place")));
    let nowhere = RunId(Uuid::from_u128(99));
    let error = service.fork(fork_of(nowhere, None, dir.path())).await.unwrap_err();
    assert!(matches!(error, EngineError::NotFound(_)), "{error}");
    assert!(matches!(service.replay(nowhere).await.unwrap_err(), EngineError::NotFound(_)));
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_parses_and_assembles_again_and_tells_what_differs() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(script()).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let (run, events) = wrote(&service, dir.path()).await;
    let asked = model.chats().len();
    let report = service.replay(run).await.unwrap();
    assert!(report.same && report.decisions >= 6, "{report:?}");
    assert_eq!(model.chats().len(), asked, "no model is asked");

    let changed = |edit: &dyn Fn(&mut EventBody)| {
        let mut log = events.clone();
        for event in &mut log {
            edit(&mut event.body);
        }
        service.replay_events(run, &log).differences
    };
    let found = changed(&|body| {
        if let EventBody::ModelResponded { raw, .. } = body {
            *raw = raw.replace("after", "later");
        }
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].now.contains("later"), "{found:?}");
    let found = changed(&|body| {
        if let EventBody::RunStarted { setup, .. } = body {
            Arc::make_mut(setup).agent.instructions = "Help less.".into();
        }
    });
    assert_eq!(found.len(), 2, "both prompts: {found:?}");
    assert!(found[0].now.contains("Help less"), "{found:?}");
    let found = changed(&|body| {
        if let EventBody::ModelResponded { raw, .. } = body {
            raw.clear();
        }
    });
    assert!(found.is_empty(), "a log without raw replies: {found:?}");
    service.shutdown().await;
}
