//! A node that was late with its leases.

use crate::engine::bed::{finished, kinds, request, service_at, service_of, store_of, until};
use crate::engine::outcome;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use steward_core::event::{EventBody, Mode, Outcome};
use steward_core::ports::{Clock, Role, User, Users as _};
use steward_core::{TenantId, Timestamp, UserId};
use steward_engine::{EngineError, RunService, StartRun};
use steward_infra::SystemClock;
use steward_testkit::model_server::{Behaviour, Reply, Script, ScriptedModelServer};
use uuid::Uuid;

/// A clock that leaps, as after a sleep of the machine.
#[derive(Default)]
struct Leaping {
    clock: SystemClock,
    ahead_ms: AtomicI64,
}

impl Clock for Leaping {
    fn now(&self) -> Timestamp {
        Timestamp(self.clock.now().0 + self.ahead_ms.load(Ordering::Relaxed))
    }

    fn utc_offset_minutes(&self, at: Timestamp) -> i32 {
        self.clock.utc_offset_minutes(at)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_slept_goes_on_with_its_own_runs() {
    let work = tempfile::tempdir().unwrap();
    let reply = Reply::text("The heron stands at the pond and waits for a fish.");
    let model = ScriptedModelServer::start(Script::always(Behaviour::Reply(reply.pieces(3, 200)))).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let clock = Arc::new(Leaping::default());
    let service = service_at(data.path(), &model, clock.clone()).await;
    service.serve();
    let run = service.start(request("Tell me of herons", Mode::Loop, work.path())).await.unwrap();
    until(&service, run, |body| matches!(body, EventBody::ModelDelta { .. })).await;
    clock.ahead_ms.store(Duration::from_mins(10).as_millis().try_into().unwrap(), Ordering::Relaxed);
    // The service looks for runs that nobody holds once a second, and the answer takes three.
    let events = until(&service, run, |body| matches!(body, EventBody::RunFinished { .. })).await;
    assert_eq!(outcome(&events).0, Outcome::Completed);
    assert!(events.iter().all(|event| event.epoch == 1), "taken over");
    assert_eq!(model.chats().len(), 1, "asked again");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_runs_than_places_wait_and_say_so() {
    let work = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(Script::of([Behaviour::HangBeforeHeaders, Behaviour::text("The second.")]))
        .await
        .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service_of(data.path(), &model, 1).await;
    service.serve();
    let ask = || request("Tell me of herons", Mode::Loop, work.path());
    let first = service.start(ask()).await.unwrap();
    until(&service, first, |body| matches!(body, EventBody::ModelRequested { .. })).await;
    let second = service.start(ask()).await.unwrap();
    let third = service.start(ask()).await.unwrap();
    let events = until(&service, second, |body| matches!(body, EventBody::RunQueued { .. })).await;
    assert_eq!(kinds(&events), ["run.started", "run.queued"]);
    assert_eq!(service.at_work(), 1);
    // A stop waits for nobody.
    service.stop(third, "me").await.unwrap();
    let events = finished(&service, third).await;
    assert!(matches!(outcome(&events).0, Outcome::Stopped { .. }));
    service.stop(first, "me").await.unwrap();
    let events = finished(&service, second).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "The second.".into()));
    service.shutdown().await;
}

/// Somebody who may ask; the other runs are nobody's.
async fn another_user(service: &RunService) -> UserId {
    let id = UserId(Uuid::from_u128(1));
    let user = User::new(id, "ann@example.org", "Ann", Role::Operator, Timestamp(0));
    store_of(service).create_user(TenantId::DEFAULT, &user).await.unwrap();
    id
}

/// Where one place is free, those who wait take turns; a user who has many doesn't go before one who has one.
#[tokio::test(flavor = "multi_thread")]
async fn runs_that_wait_begin_by_turns_of_their_users() {
    let work = tempfile::tempdir().unwrap();
    let behaviours = [Behaviour::HangBeforeHeaders, Behaviour::text("1"), Behaviour::text("2"), Behaviour::text("3")];
    let model = ScriptedModelServer::start(Script::of(behaviours)).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service_of(data.path(), &model, 1).await;
    service.serve();
    let ask = |of: &str, user| StartRun { user, ..request(of, Mode::Loop, work.path()) };
    let other = Some(another_user(&service).await);
    let first = service.start(ask("herons", None)).await.unwrap();
    until(&service, first, |body| matches!(body, EventBody::ModelRequested { .. })).await;
    let mut waiting = Vec::new();
    for (of, user) in [("rooks", None), ("larks", None), ("owls", other)] {
        waiting.push(service.start(ask(of, user)).await.unwrap());
    }
    service.stop(first, "me").await.unwrap();
    for run in waiting {
        finished(&service, run).await;
    }
    // Whether the first one was a turn of its user depends on whether a place was free at that moment.
    let asked: Vec<&str> = (model.chats().iter())
        .filter_map(|chat| {
            ["herons", "rooks", "larks", "owls"].into_iter().find(|bird| chat.body.to_string().contains(bird))
        })
        .collect();
    assert_eq!((asked.first(), asked.last(), asked.len()), (Some(&"herons"), Some(&"larks"), 4), "{asked:?}");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_nothing_at_work_does_not_wait_for_the_long_runs_of_another() {
    let work = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(Script::of(vec![Behaviour::HangBeforeHeaders; 9])).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service_of(data.path(), &model, 8).await;
    service.serve();
    let ask = |user| StartRun { user, ..request("Tell me of herons", Mode::Loop, work.path()) };
    for _ in 0..8 {
        service.start(ask(None)).await.unwrap();
    }
    let waiting = service.start(ask(None)).await.unwrap();
    let other = service.start(ask(Some(another_user(&service).await))).await.unwrap();
    until(&service, other, |body| matches!(body, EventBody::ModelRequested { .. })).await;
    assert_eq!(service.at_work(), 9);
    let events = until(&service, waiting, |body| matches!(body, EventBody::RunQueued { .. })).await;
    assert_eq!(kinds(&events), ["run.started", "run.queued"]);
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_user_has_so_many_runs_waiting_and_no_more() {
    let work = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(Script::of([Behaviour::HangBeforeHeaders])).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service_of(data.path(), &model, 1).await;
    let ask = |user| StartRun { user, ..request("Tell me of herons", Mode::Loop, work.path()) };
    for _ in 0..=64 {
        service.start(ask(None)).await.unwrap();
    }
    let refused = service.start(ask(None)).await.unwrap_err();
    assert!(matches!(refused, EngineError::TooManyWaiting { waiting: 64, .. }), "{refused}");
    service.start(ask(Some(another_user(&service).await))).await.unwrap();
    service.shutdown().await;
}
