//! Every fault of an upstream: what reaches the client, how often each upstream is asked, and what its
//! breaker does. The table is also in docs/routing.md.

use crate::router_support;
use crate::support;
use router_support::{Bench, Fault, Rude, Upstream, hasty, word};
use serde_json::json;
use std::fmt::Write as _;
use steward_core::model::ModelError;
use steward_core::ports::Breaker;
use steward_testkit::model_server::{Behaviour, Reply};
use support::text;

/// So many requests, one after the other, in one cooldown.
const REQUESTS: usize = 5;

fn faults() -> Vec<(&'static str, Fault)> {
    let raw = |events: &str| Behaviour::Raw { events: events.to_owned() };
    let halves = || Reply::text("one two three four").pieces(1, 0);
    let wrong =
        Behaviour::Status { status: 400, body: json!({"error": {"message": "messages is wrong"}}), retry_after: None };
    let scripted = [
        ("429", Behaviour::rate_limit(None)),
        ("429, Retry-After 1 s", Behaviour::rate_limit(Some("1"))),
        ("429, Retry-After 60 s", Behaviour::rate_limit(Some("60"))),
        ("500", Behaviour::server_error(500)),
        ("503", Behaviour::server_error(503)),
        ("401", Behaviour::unauthorised()),
        ("404, unknown model", Behaviour::unknown_model("scripted")),
        ("400, context length", Behaviour::context_length()),
        ("400, wrong request", wrong),
        ("hang: no header", Behaviour::HangBeforeHeaders),
        ("silent stream: header, then nothing", Behaviour::HangAfterHeaders),
        ("reset", Behaviour::Reset),
        ("end before first content", raw("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n")),
        ("cut after first content", Behaviour::Cut { reply: halves(), clean: false }),
        ("silence after first content", Behaviour::Stall { reply: halves() }),
        ("malformed chunk", raw("data: {\"choices\": [\n\n")),
        ("malformed chunk after first content", Behaviour::InvalidJson { reply: halves() }),
        ("error in the stream", raw("data: {\"error\": {\"message\": \"overloaded\"}}\n\n")),
        ("empty answer", Behaviour::Empty),
        ("blank answer", Behaviour::text(" \n ")),
    ];
    let mut all: Vec<(&str, Fault)> =
        scripted.into_iter().map(|(name, behaviour)| (name, Fault::Scripted(behaviour))).collect();
    all.push(("slow header, never whole", Fault::Rude(Rude::SlowHeader)));
    all.push(("cut before first content", Fault::Rude(Rude::ResetInStream)));
    all.push(("nobody listens", Fault::Dead));
    all
}

/// What came to the client of one request.
async fn reached(bench: &Bench) -> String {
    let told = |error: &ModelError| {
        let wait = error.retry_after_ms.map(|ms| format!(", retry after {ms} ms"));
        format!("error `{}`{}", word(error.class), wait.unwrap_or_default())
    };
    match bench.ask().await {
        Err(nobody) => told(&nobody.error),
        Ok((_, chunks, None)) => format!("“{}”", text(&chunks)),
        Ok((_, chunks, Some(error))) => format!("“{}”, then {}", text(&chunks), told(&error)),
    }
}

async fn breaker(bench: &Bench) -> String {
    let health = bench.health(0).await;
    match (health.breaker, health.retry_in_ms) {
        (Breaker::Open, Some(ms)) => format!("open for {} s", ms / 1000),
        (other, _) => word(other),
    }
}

async fn attempts(bench: &Bench) -> (u64, u64) {
    (bench.health(0).await.requests, bench.health(1).await.requests)
}

async fn row(name: &str, fault: &Fault) -> String {
    let a = Upstream::start(fault).await;
    let alone = Bench::new(hasty(), &[&a]);
    let got_alone = reached(&alone).await;
    let calls = alone.health(0).await.requests;
    if !matches!(fault, Fault::Dead) {
        assert_eq!(calls, a.asked() as u64, "{name}: what was asked came there");
    }
    let state_alone = breaker(&alone).await;

    let a = Upstream::start(fault).await;
    let b = Upstream::says("hello").await;
    let both = Bench::new(hasty(), &[&a, &b]);
    let got = reached(&both).await;
    let once = attempts(&both).await;
    let state_once = breaker(&both).await;
    for _ in 1..REQUESTS {
        reached(&both).await;
    }
    let all = attempts(&both).await;
    let state_all = breaker(&both).await;
    if !matches!(fault, Fault::Dead) {
        assert_eq!(all.0, a.asked() as u64, "{name}: what was asked came there");
    }
    assert_eq!(all.1, b.asked() as u64, "{name}: what was asked came there");
    format!(
        "| {name} | {got_alone} | {calls} | {state_alone} | {got} | {} + {} | {state_once} | {} + {} | {state_all} |\n",
        once.0, once.1, all.0, all.1
    )
}

#[tokio::test]
async fn the_table_of_faults() {
    let mut table = format!(
        "| the first upstream | alone: reaches the client | calls | breaker | with a healthy second | calls | breaker | calls of {REQUESTS} requests | breaker |\n|---|---|---|---|---|---|---|---|---|\n"
    );
    for (name, fault) in faults() {
        table.write_str(&row(name, &fault).await).unwrap();
    }
    insta::assert_snapshot!(table);
    let docs = include_str!("../../../docs/routing.md");
    assert!(docs.contains(table.trim()), "docs/routing.md has another table; put this one there:\n{table}");
}

#[tokio::test]
async fn a_dead_host_costs_one_connect_a_cooldown() {
    let dead = Upstream::start(&Fault::Dead).await;
    let b = Upstream::says("hello").await;
    let bench = Bench::new(hasty(), &[&dead, &b]);
    for (cooldown, seconds) in [(1, 15), (2, 30), (3, 60)] {
        let mut asked = 0;
        for _ in 0..20 {
            let (opened, chunks, error) = bench.ask().await.unwrap();
            assert_eq!((text(&chunks).as_str(), error), ("hello", None));
            asked += opened.attempts.len() - 1;
        }
        assert_eq!(asked, 1, "of 20 requests in cooldown {cooldown}");
        assert_eq!(bench.health(0).await.requests, cooldown);
        assert_eq!(bench.health(0).await.retry_in_ms, Some(seconds * 1000));
        bench.clock.advance(std::time::Duration::from_secs(seconds));
    }
}
