//! Hard budgets around real model calls.

use crate::engine::bed::{OTHER, connection, finished, request, service_with, untrusted};
use std::sync::Arc;
use steward_core::agent::Agent;
use steward_core::budget::Limit;
use steward_core::event::{EventBody, Mode, Outcome};
use steward_core::model::{Connection, Price};
use steward_core::ports::{BudgetScope, Period, SpendLimit, UsageBy};
use steward_core::routing::Routing;
use steward_core::{BudgetId, ConnectionId, TenantId, Timestamp};
use steward_engine::{RunService, StartRun};
use steward_store::Store;
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use tokio::task::JoinSet;
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;

struct Bed {
    service: RunService,
    store: Arc<Store>,
    model: ScriptedModelServer,
    dir: tempfile::TempDir,
    _data: tempfile::TempDir,
}

async fn bed(answers: usize) -> Bed {
    let replies = (0..answers).map(|_| Behaviour::text("A heron is a bird."));
    let model = ScriptedModelServer::start(Script::of(replies)).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let mut one = connection(&model, untrusted());
    one.price = Some(Price { input: 1_000_000, cached: 500_000, output: 2_000_000 });
    let (service, store) = service_with(data.path(), vec![one]).await;
    Bed { service, store, model, dir: tempfile::tempdir().unwrap(), _data: data }
}

impl Bed {
    fn asked(&self) -> StartRun {
        let asked = request("What is a heron?", Mode::Loop, self.dir.path());
        let mut agent: Agent = asked.agent;
        agent.tuning.max_tokens = 100;
        StartRun { agent, ..asked }
    }

    async fn limit(&self, scope: BudgetScope, tokens: Option<u64>, cost_micros: Option<u64>) {
        let limit = SpendLimit { id: BudgetId(Uuid::from_u128(1)), scope, period: Period::Total, tokens, cost_micros };
        self.store.save_spend_limit(TENANT, &limit).await.unwrap();
    }

    /// What one call sets aside, and what it takes.
    async fn one_call(&self) -> (u64, u64) {
        let run = self.service.start(self.asked()).await.unwrap();
        let events = finished(&self.service, run).await;
        let mut sizes = (0, 0);
        for event in &events {
            match &event.body {
                EventBody::ModelRequested { reserved, .. } => sizes.0 = *reserved,
                EventBody::ModelResponded { usage, .. } => {
                    sizes.1 = usage.prompt_tokens + usage.completion_tokens;
                }
                _ => {}
            }
        }
        assert!(sizes.0 > 100 && sizes.1 > 0, "{sizes:?}");
        sizes
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_runs_at_once_never_spend_more_than_there_is() {
    let bed = bed(51).await;
    let (reserved, took) = bed.one_call().await;
    // The first call counts too; then there is room for a few at a time.
    let most = took + reserved * 3 + reserved / 2;
    let agent = bed.asked().agent.id;
    bed.limit(BudgetScope::Agent(agent), Some(most), None).await;
    let mut runs = JoinSet::new();
    for _ in 0..50 {
        let (service, asked) = (bed.service.clone(), bed.asked());
        runs.spawn(async move {
            let run = service.start(asked).await.unwrap();
            let events = finished(&service, run).await;
            match &events.last().unwrap().body {
                EventBody::RunFinished { outcome, .. } => outcome.clone(),
                other => panic!("{other:?}"),
            }
        });
    }
    let (mut done, mut limited) = (0, 0);
    while let Some(outcome) = runs.join_next().await {
        let states = bed.store.spend_limits(TENANT, Timestamp(0)).await.unwrap();
        assert!(states[0].tokens <= most, "{states:?}");
        match outcome.unwrap() {
            Outcome::Completed => done += 1,
            Outcome::Limited { limit: Limit::Spend, message } => {
                limited += 1;
                assert!(message.contains("the total budget of the agent a has no room"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(done >= 3 && limited > 0, "{done} done, {limited} limited");
    assert_eq!(bed.model.chats().len(), done + 1, "the others asked nobody");
    let states = bed.store.spend_limits(TENANT, Timestamp(0)).await.unwrap();
    assert_eq!(states[0].reserved_tokens, 0, "all is settled");
    assert!(states[0].tokens <= most);
    assert_eq!(states[0].tokens, took * (done as u64 + 1));
    bed.service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn money_is_limited_and_told() {
    let bed = bed(2).await;
    let run = bed.service.start(bed.asked()).await.unwrap();
    let events = finished(&bed.service, run).await;
    let EventBody::RunFinished { usage, .. } = &events.last().unwrap().body else { panic!("{events:?}") };
    let row = bed.service.deps().store.run(TENANT, run).await.unwrap();
    assert_eq!(row.cost_micros, usage.cost_micros, "the run's row tells");
    let all = (Timestamp(0), Timestamp(i64::MAX));
    let rows = bed.store.usage(TENANT, UsageBy::Model, all.0, all.1, None);
    let rows = rows.await.unwrap();
    assert_eq!((rows.len(), rows[0].calls, rows[0].unpriced), (1, 1, 0));
    assert!(rows[0].cost_micros > 0);

    bed.limit(BudgetScope::Installation, None, Some(rows[0].cost_micros)).await;
    let run = bed.service.start(bed.asked()).await.unwrap();
    let events = finished(&bed.service, run).await;
    assert!(
        matches!(
            &events.last().unwrap().body,
            EventBody::RunFinished {
                outcome: Outcome::Limited { limit: Limit::Spend, message },
                ..
            } if message.contains('$') && message.contains("installation")
        ),
        "{:?}",
        events.last()
    );
    assert_eq!(bed.model.chats().len(), 1);
    bed.service.shutdown().await;
}

/// A service over two connections, the second one as fallback; the second model's server.
async fn two(first: Behaviour) -> (Bed, ScriptedModelServer, ConnectionId) {
    let bed = bed(0).await;
    bed.model.push(first);
    let second = ScriptedModelServer::start(Script::always(Behaviour::text("From the second."))).await.unwrap();
    let one = connection(&bed.model, untrusted());
    let id = one.id;
    let other =
        Connection { id: OTHER, name: "second".into(), model: "second".into(), ..connection(&second, untrusted()) };
    let data = tempfile::tempdir().unwrap();
    let (service, store) = service_with(data.path(), vec![one, other]).await;
    let bed = Bed { service, store, _data: data, ..bed };
    (bed, second, id)
}

fn with_fallback(bed: &Bed, hedge_after_ms: Option<u64>) -> StartRun {
    let mut asked = bed.asked();
    asked.agent.connection = Some(ConnectionId(Uuid::from_u128(5)));
    asked.agent.routing = Routing { fallback_chain: vec![OTHER], hedge_after_ms, ..Routing::default() };
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_whose_budget_is_used_up_is_not_tried() {
    let (bed, second, first) = two(Behaviour::server_error(503)).await;
    bed.limit(BudgetScope::Connection(OTHER), Some(1), None).await;
    let run = bed.service.start(with_fallback(&bed, None)).await.unwrap();
    let events =
        crate::engine::bed::until(&bed.service, run, |body| matches!(body, EventBody::ModelFailed { .. })).await;
    assert!(second.chats().is_empty(), "its budget has no room: {events:?}");
    bed.service.stop(run, "me").await.unwrap();

    // The other way round, the fallback answers at once.
    bed.limit(BudgetScope::Connection(first), Some(1), None).await;
    let asked = bed.model.chats().len();
    let run = bed.service.start(with_fallback(&bed, None)).await.unwrap();
    finished(&bed.service, run).await;
    assert_eq!((bed.model.chats().len(), second.chats().len()), (asked, 1));
    let states = bed.store.spend_limits(TENANT, Timestamp(0)).await.unwrap();
    assert_eq!(states[0].reserved_tokens, 0, "all is settled");
    bed.service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_another_overtook_is_counted() {
    let (bed, second, first) = two(Behaviour::HangBeforeHeaders).await;
    let run = bed.service.start(with_fallback(&bed, Some(50))).await.unwrap();
    finished(&bed.service, run).await;
    assert_eq!(second.chats().len(), 1);
    let (from, to) = (Timestamp(0), Timestamp(i64::MAX));
    let rows = bed.store.usage(TENANT, UsageBy::Connection, from, to, None);
    let rows = rows.await.unwrap();
    let lost = rows.iter().find(|row| row.group == first.0.to_string()).unwrap();
    assert_eq!((lost.calls, lost.failed), (1, 1));
    assert!(lost.prompt_tokens > 0, "{rows:?}");
    bed.service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_reserves_its_own_money_before_it_asks() {
    let model = ScriptedModelServer::start(Script::default()).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let mut dear = connection(&model, untrusted());
    // A hundred tokens of reply would be ten dollars; a run has five.
    dear.price = Some(Price { input: 0, cached: 0, output: 100_000_000_000 });
    let (service, store) = service_with(data.path(), vec![dear]).await;
    let bed = Bed { service, store, model, dir: tempfile::tempdir().unwrap(), _data: data };
    let run = bed.service.start(bed.asked()).await.unwrap();
    let events = finished(&bed.service, run).await;
    assert!(
        matches!(
            &events.last().unwrap().body,
            EventBody::RunFinished { outcome: Outcome::Limited { limit: Limit::Cost, .. }, .. }
        ),
        "{events:?}"
    );
    assert!(bed.model.chats().is_empty());
    bed.service.shutdown().await;
}
