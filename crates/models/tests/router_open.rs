//! Opening a reply through a route: fallback, one deadline, probes, hedging, cost.

use crate::router_support;
use crate::support;
use futures::StreamExt;
use futures::future::join_all;
use router_support::{Bench, Fault, Upstream, hasty, id, patient, word};
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::model::{ModelChunk, ModelErrorClass as Class, Price};
use steward_core::ports::{Breaker, ModelCall, Models};
use steward_core::routing::Attempt;
use steward_testkit::model_server::{Behaviour, Reply, Script};
use support::{request, text};

async fn upstream(behaviour: Behaviour) -> Upstream {
    Upstream::start(&Fault::Scripted(behaviour)).await
}

/// Such as `a server, b -`.
fn shown(bench: &Bench, attempts: &[Attempt]) -> String {
    let one = |attempt: &Attempt| {
        let name = &bench.connections.iter().find(|c| c.id == attempt.connection).unwrap().name;
        format!("{name} {}", attempt.class.map_or("-".to_owned(), word))
    };
    attempts.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn the_reply_comes_through_unchanged_but_for_its_cost() {
    let reply = Reply { reasoning: "let me see".to_owned(), ..Reply::text(" \n one two three").pieces(2, 0) };
    let a = upstream(Behaviour::Reply(reply)).await;
    let mut bench = Bench::new(patient(), &[&a]);
    bench.change(|list| {
        list[0].price = Some(Price { input: 2_000_000, cached: 500_000, output: 10_000_000 });
    });
    let client = bench.router.client();
    let direct = client.stream(&bench.connections[0], &request("hi")).await;
    let direct: Vec<_> = direct.unwrap().map(Result::unwrap).collect().await;
    let (opened, mut chunks, error) = bench.ask().await.unwrap();
    assert_eq!(error, None);
    assert_eq!(opened.connection.name, "a");
    assert_eq!(shown(&bench, &opened.attempts), "a -");
    let Some(ModelChunk::End { usage, .. }) = chunks.last_mut() else { panic!("no end") };
    // 60 fresh, 40 cached, 10 of the reply.
    assert_eq!(usage.cost_micros, 120 + 20 + 100);
    usage.cost_micros = 0;
    assert_eq!(chunks, direct);
    let health = bench.health(0).await;
    assert_eq!((health.requests, health.failures), (1, 0));
    assert!(health.first_ms.is_some() && health.last_ok_at.is_some());
}

#[tokio::test]
async fn first_content_is_passed_on_before_the_next_comes() {
    let stall = Behaviour::Stall { reply: Reply::text("one two").pieces(1, 0) };
    let a = upstream(stall).await;
    let bench = Bench::new(patient(), &[&a]);
    let mut opened = bench.open().await.unwrap();
    // The upstream says nothing more and stays open, so all of this was there already.
    let first = opened.stream.next().await.unwrap().unwrap();
    assert_eq!(first, ModelChunk::Text("o".to_owned()));
    drop(opened);
    assert!(a.scripted().wait_disconnects(1, Duration::from_mins(5)).await);
}

#[tokio::test]
async fn a_prompt_that_does_not_fit_goes_to_larger_windows_only() {
    let small = upstream(Behaviour::context_length()).await;
    let equal = Upstream::says("never").await;
    let large = Upstream::says("it fits").await;
    let mut bench = Bench::new(patient(), &[&small, &equal, &large]);
    bench.change(|list| {
        list[0].capabilities.window = 4096;
        list[1].capabilities.window = 4096;
        list[2].capabilities.window = 8192;
    });
    let (opened, chunks, _) = bench.ask().await.unwrap();
    assert_eq!(text(&chunks), "it fits");
    assert_eq!(shown(&bench, &opened.attempts), "a context_length, c -");
    assert_eq!(bench.health(0).await.breaker, Breaker::Closed);
    assert_eq!(equal.asked(), 0);
}

#[tokio::test]
async fn at_most_so_many_are_asked_and_the_error_worth_telling_is_told() {
    let a = upstream(Behaviour::unauthorised()).await;
    let b = upstream(Behaviour::rate_limit(Some("60"))).await;
    let c = upstream(Behaviour::server_error(503)).await;
    let d = Upstream::says("never").await;
    let bench = Bench::new(patient(), &[&a, &b, &c, &d]);
    let nobody = bench.open().await.err().unwrap();
    assert_eq!(shown(&bench, &nobody.attempts), "a auth, b rate_limit, c server");
    assert_eq!(nobody.error.class, Class::Server, "it passes soonest");
    assert!(nobody.error.message.ends_with("2 other attempts failed too"));
    assert_eq!(d.asked(), 0);
}

#[tokio::test]
async fn the_request_s_own_fault_ends_it_and_is_told() {
    let a = upstream(Behaviour::server_error(503)).await;
    let b = upstream(Behaviour::Status {
        status: 400,
        body: serde_json::json!({"error": {"message": "messages is wrong"}}),
        retry_after: None,
    })
    .await;
    let c = Upstream::says("never").await;
    let bench = Bench::new(patient(), &[&a, &b, &c]);
    let nobody = bench.open().await.err().unwrap();
    assert_eq!(nobody.error.class, Class::BadRequest);
    assert_eq!(shown(&bench, &nobody.attempts), "a server, b bad_request");
    assert_eq!(c.asked(), 0);
}

#[tokio::test]
async fn the_only_target_is_asked_whatever_its_breaker_says() {
    let a = upstream(Behaviour::unauthorised()).await;
    let bench = Bench::new(patient(), &[&a]);
    for n in 1..=4 {
        let nobody = bench.open().await.err().unwrap();
        assert_eq!(nobody.error.class, Class::Auth);
        assert_eq!(a.asked(), n);
        assert_eq!(bench.health(0).await.breaker, Breaker::Open);
    }
    a.scripted().replace(Script::always(Behaviour::text("back")));
    let (_, chunks, _) = bench.ask().await.unwrap();
    assert_eq!(text(&chunks), "back");
    assert_eq!(bench.health(0).await.breaker, Breaker::Closed);
}

#[tokio::test]
async fn when_all_cool_down_the_one_that_is_ready_first_is_asked() {
    let a = upstream(Behaviour::rate_limit(Some("60"))).await;
    let b = upstream(Behaviour::rate_limit(Some("20"))).await;
    let bench = Bench::new(patient(), &[&a, &b]);
    assert!(bench.open().await.is_err());
    assert_eq!((a.asked(), b.asked()), (1, 1));
    b.scripted().replace(Script::always(Behaviour::text("me")));
    let (opened, ..) = bench.ask().await.unwrap();
    assert_eq!(shown(&bench, &opened.attempts), "b -");
    assert_eq!((a.asked(), b.asked()), (1, 2));
}

#[tokio::test]
async fn one_request_at_a_time_finds_out_whether_it_is_back() {
    let a = upstream(Behaviour::rate_limit(Some("60"))).await;
    let b = Upstream::says("hello").await;
    let bench = Bench::new(hasty(), &[&a, &b]);
    assert!(bench.ask().await.is_ok());
    a.scripted().replace(Script::always(Behaviour::HangBeforeHeaders));
    bench.clock.advance(Duration::from_mins(1));
    assert_eq!(bench.health(0).await.breaker, Breaker::HalfOpen);
    let all = join_all((0..8).map(|_| bench.ask())).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(a.asked(), 2, "the first request, and one probe of eight");
    assert_eq!(bench.health(0).await.breaker, Breaker::Open);
    a.scripted().replace(Script::always(Behaviour::text("back")));
    bench.clock.advance(Duration::from_mins(5));
    let (opened, ..) = bench.ask().await.unwrap();
    assert_eq!(opened.connection.name, "a");
    assert_eq!(bench.health(0).await.breaker, Breaker::Closed);
}

#[tokio::test]
async fn one_deadline_over_all_and_no_blame_for_who_had_no_time() {
    let a = upstream(Behaviour::HangBeforeHeaders).await;
    let b = upstream(Behaviour::HangBeforeHeaders).await;
    let mut bench = Bench::new(hasty(), &[&a, &b]);
    bench.deadline_ms = 200;
    for _ in 0..4 {
        let nobody = bench.open().await.err().unwrap();
        assert_eq!(nobody.error.class, Class::Timeout);
    }
    assert_eq!(bench.health(0).await.breaker, Breaker::Open);
    // It mostly got what time the other left, which is no fault, and the whole only once.
    assert_eq!(bench.health(1).await.breaker, Breaker::Closed);
    assert!(bench.health(1).await.failures > 0);
}

#[tokio::test]
async fn whoever_leaves_closes_the_upstream_request() {
    let a = upstream(Behaviour::rate_limit(Some("1"))).await;
    let b = Upstream::says("hello").await;
    let bench = Bench::new(patient(), &[&a, &b]);
    assert!(bench.ask().await.is_ok());
    a.scripted().replace(Script::always(Behaviour::HangBeforeHeaders));
    bench.clock.advance(Duration::from_secs(1));
    {
        let mut open = Box::pin(bench.open());
        tokio::select! {
            _ = &mut open => panic!("it hangs"),
            there = a.scripted().wait_requests(2, Duration::from_mins(5)) => assert!(there),
        }
    }
    assert!(a.scripted().wait_disconnects(1, Duration::from_mins(5)).await);
    // The probe that was left is no failure, and the next request may probe again.
    let health = bench.health(0).await;
    assert_eq!((health.breaker, health.failures), (Breaker::HalfOpen, 1));
    a.scripted().replace(Script::always(Behaviour::text("back")));
    assert_eq!(bench.ask().await.unwrap().0.connection.name, "a");
}

#[tokio::test]
async fn hedging_asks_the_next_as_well_and_drops_the_slower() {
    let a = upstream(Behaviour::HangAfterHeaders).await;
    let b = Upstream::says("quick").await;
    let c = Upstream::says("never").await;
    let mut bench = Bench::new(patient(), &[&a, &b, &c]);
    bench.routing.hedge_after_ms = Some(20);
    let (opened, chunks, _) = bench.ask().await.unwrap();
    assert_eq!(text(&chunks), "quick");
    // On a slow machine the third may have been asked too, and be overtaken.
    assert!(shown(&bench, &opened.attempts).starts_with("a cancelled, "));
    assert!(shown(&bench, &opened.attempts).ends_with(" -"));
    assert!(a.scripted().wait_disconnects(1, Duration::from_mins(5)).await);
    let health = bench.health(0).await;
    assert_eq!((health.breaker, health.failures), (Breaker::Closed, 0));
    assert!(health.first_ms.is_some_and(|ms| ms >= 20), "it is known to be slow");
}

#[tokio::test]
async fn without_hedging_a_quick_first_is_the_only_one_asked() {
    let a = Upstream::says("first").await;
    let b = Upstream::says("second").await;
    let mut bench = Bench::new(patient(), &[&a, &b]);
    bench.routing.hedge_after_ms = Some(60_000);
    let (opened, chunks, _) = bench.ask().await.unwrap();
    assert_eq!((text(&chunks).as_str(), b.asked()), ("first", 0));
    assert_eq!(shown(&bench, &opened.attempts), "a -");
}

#[tokio::test]
async fn what_breaks_after_first_content_counts_against_the_connection() {
    let cut = Behaviour::Cut { reply: Reply::text("one two three four").pieces(1, 0), clean: false };
    let a = upstream(cut).await;
    let b = Upstream::says("hello").await;
    let bench = Bench::new(patient(), &[&a, &b]);
    for _ in 0..3 {
        let (opened, _, error) = bench.ask().await.unwrap();
        assert_eq!(shown(&bench, &opened.attempts), "a -");
        assert_eq!(error.unwrap().class, Class::Broken);
    }
    assert_eq!(bench.health(0).await.failures, 3);
    assert_eq!(bench.health(0).await.breaker, Breaker::Open);
    assert_eq!(bench.ask().await.unwrap().0.connection.name, "b");
}

#[tokio::test]
async fn other_settings_of_a_connection_begin_anew() {
    let a = upstream(Behaviour::unauthorised()).await;
    let b = Upstream::says("hello").await;
    let mut bench = Bench::new(patient(), &[&a, &b]);
    assert!(bench.ask().await.is_ok());
    bench.change(|list| list[0].weight = 7);
    assert_eq!(bench.health(0).await.breaker, Breaker::Open, "called as before");
    bench.change(|list| "another".clone_into(&mut list[0].model));
    let health = bench.health(0).await;
    assert_eq!((health.breaker, health.requests), (Breaker::Closed, 0));
    assert_eq!(bench.health(1).await.requests, 1);
}

#[tokio::test]
async fn targets_that_are_gone_are_left_out() {
    let a = Upstream::says("hello").await;
    let bench = Bench::new(patient(), &[&a]);
    let gone = id(50);
    let open = async |targets: &[ConnectionId]| {
        let targets = &bench.router.existing(targets).await.unwrap();
        let call = ModelCall { targets, routing: &bench.routing, request: &|_| request("hi"), deadline_ms: 5000 };
        bench.router.open(call).await.map(|opened| opened.connection.name)
    };
    assert_eq!(open(&[gone, id(0)]).await.unwrap(), "a");
    let nobody = bench.router.existing(&[gone]).await.unwrap_err();
    assert!(nobody.hint.contains("choose one of: a"), "{nobody}");
    let nobody = open(&[]).await.unwrap_err();
    assert!(nobody.error.message.contains("no model to ask"), "{nobody}");
}

#[tokio::test]
async fn a_direct_call_counts_and_has_its_cost_too() {
    let a = Upstream::says("hello").await;
    let mut bench = Bench::new(patient(), &[&a]);
    bench.change(|list| {
        list[0].price = Some(Price { input: 1_000_000, cached: 1_000_000, output: 1_000_000 });
    });
    let stream = bench.router.stream(id(0), request("hi")).await.unwrap();
    let chunks: Vec<_> = stream.map(Result::unwrap).collect().await;
    assert!(matches!(chunks.last(), Some(ModelChunk::End { usage, .. }) if usage.cost_micros == 110));
    assert_eq!(bench.health(0).await.requests, 1);
    assert!(bench.health(0).await.last_ok_at.is_some());
}
