use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, append, id, row, text};
use serde_json::json;
use std::time::Duration;
use steward_core::event::Outcome;
use steward_core::ports::{DialectAnswer, RunStatus, RunStore as _, SideWrite};
use steward_core::{KeyId, RunId, Timestamp, UserId};
use steward_store::Store;

fn answer(of: &str, user: UserId, run: Option<RunId>) -> DialectAnswer {
    DialectAnswer {
        id: of.to_owned(),
        user,
        key: None,
        run,
        connection: None,
        request: json!({"model": "steward"}),
        request_hash: "h".to_owned(),
        stored: true,
        at: NOW,
    }
}

async fn note(store: &Store, answer: &DialectAnswer) {
    store.note_response(TENANT, answer, Timestamp(NOW.0 - 1000)).await.unwrap();
}

pub async fn a_request_that_is_sent_again_finds_its_run(bed: Bed) {
    let store = bed.store();
    let (ann, bob, key) = (UserId(id()), UserId(id()), KeyId(id()));
    let (first, last, of_key) = (RunId(id()), RunId(id()), RunId(id()));
    let one = answer("resp_1", ann, Some(first));
    note(&store, &one).await;
    note(&store, &DialectAnswer { at: Timestamp(NOW.0 + 5), ..answer("resp_2", ann, Some(last)) }).await;
    note(&store, &DialectAnswer { key: Some(key), ..answer("resp_3", ann, Some(of_key)) }).await;
    note(&store, &answer("resp_4", bob, None)).await;
    let found = async |user, key, hash, since| store.run_of_request(TENANT, (user, key), hash, since).await.unwrap();
    assert_eq!(found(ann, None, "h", NOW).await, Some(last));
    assert_eq!(found(ann, Some(key), "h", NOW).await, Some(of_key));
    assert_eq!(found(ann, Some(KeyId(id())), "h", NOW).await, None);
    assert_eq!(found(ann, None, "other", NOW).await, None);
    assert_eq!(found(ann, None, "h", Timestamp(NOW.0 + 6)).await, None);
    assert_eq!(found(bob, None, "h", NOW).await, None, "a connection's is no run");
    assert_eq!(store.response(TENANT, "resp_1").await.unwrap(), Some(one));
    store.forget_response(TENANT, "resp_1").await.unwrap();
    assert_eq!(store.response(TENANT, "resp_1").await.unwrap(), None);
    store.note_response(TENANT, &answer("resp_5", bob, None), Timestamp(NOW.0 + 1)).await.unwrap();
    assert_eq!(store.response(TENANT, "resp_4").await.unwrap(), None, "too old");
}

pub async fn runs_that_are_not_stored_are_found_once_they_have_ended(bed: Bed) {
    let store = bed.store();
    let user = UserId(id());
    let mut ended = Vec::new();
    for (name, outcome) in [
        ("resp_1", Some(Outcome::Completed)),
        ("resp_2", Some(Outcome::Stopped { by: "s".to_owned() })),
        ("resp_3", None),
    ] {
        let run = row();
        let lease = store.create_run(run.clone(), vec![text("first")], vec![], "a", LATER).await.unwrap();
        note(&store, &DialectAnswer { stored: false, ..answer(name, user, Some(run.id)) }).await;
        if let Some(outcome) = outcome {
            let status = SideWrite::Status {
                status: RunStatus::Finished,
                outcome: Some(outcome),
                answer: None,
                tokens: 1,
                cost_micros: 1,
                verdict: None,
            };
            store.commit(append(&lease, 1, vec![text("last")], vec![status])).await.unwrap();
            ended.push(run.id);
        }
    }
    let soon = LATER.plus(Duration::from_secs(1));
    let found = async |ended, stopped| store.runs_not_stored(TENANT, ended, stopped).await.unwrap();
    assert_eq!(found(LATER, LATER).await, [] as [RunId; 0]);
    assert_eq!(found(soon, LATER).await, ended[..1]);
    assert_eq!(found(soon, soon).await, ended);
}
