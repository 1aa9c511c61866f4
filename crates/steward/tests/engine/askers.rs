//! Where a rule asks for two people: who has put words into a run, over its inbox and its forks.

use crate::engine::bed::{asked, finished, request, service, store_of, until};
use serde_json::json;
use std::collections::BTreeSet;
use steward_core::approval::Answer;
use steward_core::event::{EventBody, Mode, Origin, RequestSource, RequestedBy};
use steward_core::policy::TOOL_RULES_SETTING;
use steward_core::ports::{Command, Role, RunStore as _, Settings as _, User, Users as _};
use steward_core::{TenantId, Timestamp, UserId};
use steward_engine::{ForkRun, StartRun};
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use uuid::Uuid;

const ANN: UserId = UserId(Uuid::from_u128(1));
const BOB: UserId = UserId(Uuid::from_u128(2));
const CLARA: UserId = UserId(Uuid::from_u128(3));

fn source(user: UserId) -> RequestSource {
    RequestSource { account: format!("{user}@example.org"), user: Some(user), origin: Origin::Api, address: None }
}

fn by(user: UserId) -> RequestedBy {
    RequestedBy { name: user.to_string(), source: Some(source(user)) }
}

fn yes() -> Answer {
    Answer::Approve { grant: None, until: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_spoken_in_a_run_is_not_its_second_person() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str| Behaviour::calls([("write", json!({"path": path, "content": "x"}))]);
    let script = Script::of([write("a.txt"), write("b.txt"), Behaviour::text("Written.")]);
    let model = ScriptedModelServer::start(script).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let rules = json!({"version": 1, "rules": [{"name": "two", "decision": "ask", "four_eyes": true}]});
    let store = store_of(&service);
    store.set_setting(TenantId::DEFAULT, TOOL_RULES_SETTING, &rules).await.unwrap();
    for user in [ANN, CLARA] {
        let user = User::new(user, format!("{user}@example.org"), "P", Role::Operator, Timestamp(0));
        store.create_user(TenantId::DEFAULT, &user).await.unwrap();
    }
    let start = StartRun { user: Some(ANN), source: Some(source(ANN)), ..request("Write", Mode::Loop, dir.path()) };
    let run = service.start(start).await.unwrap();

    let first = asked(&service, run).await;
    // The message waits in the inbox when Bob is let decide.
    let text = "and b.txt".to_owned();
    let steer = Command::Steer { text, by: "bob".to_owned(), source: Some(Box::new(source(BOB))) };
    store.push_command(TenantId::DEFAULT, run, steer).await.unwrap();
    for user in [BOB, ANN, CLARA] {
        service.decide(first, yes(), by(user)).await.unwrap();
    }
    let events = until(
        &service,
        run,
        |body| matches!(body, EventBody::ApprovalRequested { approval_id, .. } if *approval_id != first),
    )
    .await;
    let deciders = |events: &[steward_core::event::Event]| -> Vec<String> {
        let by = |body: &EventBody| match body {
            EventBody::ApprovalDecided { by, .. } => Some(by.clone()),
            _ => None,
        };
        events.iter().filter_map(|event| by(&event.body)).collect()
    };
    assert_eq!(deciders(&events), [CLARA.to_string()], "only who has said nothing");

    let Some(EventBody::ApprovalRequested { approval_id: second, .. }) = events.last().map(|event| &event.body) else {
        panic!("{events:?}")
    };
    service.decide(*second, Answer::Deny { reason: Some("not that one".to_owned()) }, by(BOB)).await.unwrap();
    finished(&service, run).await;
    assert_eq!(service.state(run).await.unwrap().askers, BTreeSet::from([ANN, BOB]));

    model.push(Behaviour::text("Nothing."));
    let start = StartRun { user: Some(CLARA), source: Some(source(CLARA)), ..request("", Mode::Loop, dir.path()) };
    let fork = ForkRun { run, seq: None, start };
    let fork = service.fork(fork).await.unwrap();
    finished(&service, fork).await;
    let askers = service.state(fork).await.unwrap().askers;
    assert_eq!(askers, BTreeSet::from([ANN, CLARA]), "whose request it repeats, and who forked it before Bob spoke");
    service.shutdown().await;
}
