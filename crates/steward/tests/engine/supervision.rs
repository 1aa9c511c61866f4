//! What a person does beside a run: permissions, messages, taking effects back, looking at prompts.

use crate::engine::bed::{asked, finished, kinds, request, service, store_of};
use serde_json::json;
use steward_core::approval::Answer;
use steward_core::event::{EventBody, Mode};
use steward_core::policy::{Grant, GrantScope, StandingGrant};
use steward_core::ports::Conversation;
use steward_core::receipts::Verdict;
use steward_core::{AgentId, ConversationId};
use steward_engine::{EngineError, PreviewFor, StartRun};
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn one_effect_is_undone_and_the_other_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("a.txt"), "a before").unwrap();
    std::fs::write(path("b.txt"), "b before").unwrap();
    let model = ScriptedModelServer::start(Script::of([
        Behaviour::calls([
            ("write", json!({"path": "a.txt", "content": "a after"})),
            ("write", json!({"path": "b.txt", "content": "b after"})),
        ]),
        Behaviour::text("I wrote a.txt. I wrote b.txt."),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let run = service
        .start(StartRun {
            grants: vec![Grant { scope: GrantScope::AllButDestructive, until: None }],
            ..request("Write both", Mode::Loop, dir.path())
        })
        .await
        .unwrap();
    let events = finished(&service, run).await;
    let verdict = match &events.last().unwrap().body {
        EventBody::RunFinished { receipts, .. } => receipts.as_ref().map(|found| found.verdict),
        other => panic!("{other:?}"),
    };
    assert!(verdict.is_some());
    let deps = service.deps();
    let row = deps.store.run(deps.tenant, run).await.unwrap();
    assert_eq!(row.verdict, verdict, "the row says what the event says");
    assert_ne!(verdict, Some(Verdict::Unverified), "both writes have receipts");

    let state = service.state(run).await.unwrap();
    let first = state.undoable()[0].0.id.clone();
    assert_eq!(state.undoable().len(), 2);
    let undone = service.undo_call(run, &first, "me").await.unwrap();
    assert!(undone.result.is_ok(), "{undone:?}");
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    assert_eq!((read("a.txt").as_str(), read("b.txt").as_str()), ("a before", "b after"));
    let log = deps.store.events(deps.tenant, run, 0, 1000).await.unwrap();
    let EventBody::ToolUndone { receipts, .. } = &log.last().unwrap().event.body else {
        panic!("{log:?}");
    };
    let verdict = receipts.as_ref().map(|found| found.verdict);
    assert_eq!(verdict, Some(Verdict::Unverified), "one of two is gone");
    let row = deps.store.run(deps.tenant, run).await.unwrap();
    assert_eq!(row.verdict, verdict, "the row follows");
    for (call, why) in [(first.as_str(), "already undone"), ("nothere", "has no call nothere")] {
        let error = service.undo_call(run, call, "me").await.unwrap_err();
        assert!(matches!(&error, EngineError::Invalid(text) if text.contains(why)), "{error}");
    }
    assert_eq!(service.state(run).await.unwrap().undoable().len(), 1);
    assert_eq!(service.undo(run, "me").await.unwrap().len(), 1);
    assert_eq!(read("b.txt"), "b before");
    assert!(service.replay(run).await.unwrap().same);
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_a_waiting_run_is_taken_in_when_it_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(Script::of([
        Behaviour::calls([("write", json!({"path": "n.txt", "content": "x"}))]),
        Behaviour::text("Fertig."),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let run = service.start(request("Write", Mode::Loop, dir.path())).await.unwrap();
    let id = asked(&service, run).await;
    service.steer(run, "answer in German", "me").await.unwrap();
    let yes = Answer::Approve { grant: None, until: None };
    service.decide(id, yes.clone(), "me").await.unwrap();
    let events = finished(&service, run).await;
    let steered = events
        .iter()
        .filter(|event| matches!(&event.body, EventBody::RunSteered { text, .. } if text == "answer in German"))
        .count();
    assert_eq!(steered, 1, "{:?}", kinds(&events));
    let prompt = model.chats()[1].body["messages"].to_string();
    assert!(prompt.contains("answer in German"), "{prompt}");
    let error = service.decide(id, yes, "me").await.unwrap_err();
    assert!(matches!(error, EngineError::AlreadyDecided(_)), "{error}");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standing_permission_holds_for_the_agent_until_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let write = || Behaviour::calls([("write", json!({"path": "n.txt", "content": "x"}))]);
    let model = ScriptedModelServer::start(Script::of([write(), Behaviour::text("Done."), write()])).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let deps = service.deps();
    let mut standing = StandingGrant {
        id: Uuid::from_u128(20),
        agent: AgentId(Uuid::from_u128(6)),
        grant: Grant {
            scope: GrantScope::Tool { name: "write".into() },
            until: Some(deps.clock.now().plus(std::time::Duration::from_hours(1))),
        },
        by: "me".into(),
        created_at: deps.clock.now(),
    };
    store_of(&service).save_grant(deps.tenant, &standing).await.unwrap();
    standing.id = Uuid::from_u128(21);
    standing.agent = AgentId(Uuid::from_u128(77));
    store_of(&service).save_grant(deps.tenant, &standing).await.unwrap();
    let run = service.start(request("Write", Mode::Loop, dir.path())).await.unwrap();
    let events = finished(&service, run).await;
    assert!(!kinds(&events).contains(&"approval.requested"));
    let state = service.state(run).await.unwrap();
    assert_eq!(state.standing.len(), 1, "only the agent's own");
    store_of(&service).revoke_grant(deps.tenant, Uuid::from_u128(20)).await.unwrap();
    let run = service.start(request("Write", Mode::Loop, dir.path())).await.unwrap();
    asked(&service, run).await;
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_is_the_prompt_that_a_run_sends() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(Script::of([Behaviour::text("Hello.")])).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let wanted = request("Say hello", Mode::Loop, dir.path());
    for connection in [None, Some(crate::engine::bed::OTHER)] {
        let preview = service.preview(&wanted.agent, connection, "Say hello", PreviewFor::default()).await.unwrap();
        model.push(Behaviour::text("Final Answer: Hello."));
        let run = service.start(StartRun { connection, ..wanted.clone() }).await.unwrap();
        let events = finished(&service, run).await;
        let sent = events
            .iter()
            .find_map(|event| match &event.body {
                EventBody::ModelRequested { prompt, model, .. } => Some((prompt.clone(), model.clone())),
                _ => None,
            })
            .unwrap();
        let texts = |messages: &[steward_core::prompt::PromptMessage]| -> Vec<String> {
            messages
                .iter()
                // All but the line with the time.
                .map(|message| message.text.split("]\n").last().unwrap().to_owned())
                .collect()
        };
        let prompt: Vec<_> = sent.0.into_iter().map(Into::into).collect();
        assert_eq!(texts(&preview.messages), texts(&prompt));
        assert_eq!(preview.model, sent.1);
        let sum: u64 = preview.sections.iter().map(|section| section.tokens).sum();
        assert_eq!(sum, preview.tokens);
        let tools = preview.sections.iter().find(|section| section.name == "tools");
        assert!(tools.is_some_and(|section| section.tokens > 100), "{preview:?}");
        assert!(preview.fits && preview.tools.contains(&"read".to_owned()));
    }
    let mut long = wanted.agent.clone();
    long.instructions = "word ".repeat(40_000);
    let preview = service.preview(&long, None, "", PreviewFor::default()).await.unwrap();
    assert!(!preview.fits && preview.tokens > u64::from(preview.window));
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_conversation_names_the_run_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(Script::of([Behaviour::calls([(
        "write",
        json!({"path": "n.txt", "content": "x"}),
    )])]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let deps = service.deps();
    let id = ConversationId(Uuid::from_u128(12));
    let now = deps.clock.now();
    let conversation = Conversation {
        id,
        agent: AgentId(Uuid::from_u128(6)),
        user: None,
        title: "t".into(),
        created_at: now,
        updated_at: now,
        deleted_at: None,
        forked_from: None,
    };
    store_of(&service).create_conversation(deps.tenant, &conversation).await.unwrap();
    let wanted = StartRun { conversation: Some(id), ..request("Write", Mode::Loop, dir.path()) };
    let first = service.start(wanted.clone()).await.unwrap();
    asked(&service, first).await;
    let error = service.start(wanted).await.unwrap_err();
    assert!(matches!(error, EngineError::Busy { run } if run == first), "{error}");
    service.shutdown().await;
}
