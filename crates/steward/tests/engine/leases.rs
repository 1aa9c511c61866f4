//! A node that was late with its leases.

use crate::engine::bed::{finished, kinds, request, service_at, service_of, until};
use crate::engine::outcome;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::event::{EventBody, Mode, Outcome};
use steward_core::ports::Clock;
use steward_infra::SystemClock;
use steward_testkit::model_server::{Behaviour, Reply, Script, ScriptedModelServer};

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
