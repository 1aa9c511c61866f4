//! Whatever happens, it ends, and nothing stays behind.

use crate::bench::{Bench, Names, below, number, until};
use crate::server::{Server, ok};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;
use steward_core::ports::Tools as _;

async fn server() -> Server {
    Server::start(|path| match path {
        "/hangs" | "/hangs.png" => Vec::new(),
        "/slow" => ok("text/html", "<title>S</title><p>text<img src=/hangs.png>"),
        "/lead" => ok("text/html", "<title>L</title><a href=/hangs>go</a>"),
        "/busy" => ok("text/html", "<title>B</title><script>for (;;) {}</script>"),
        _ => ok("text/html", "<title>T</title><p>fine"),
    })
    .await
}

fn gone() -> bool {
    below().is_empty()
}

/// Processes of Chromium itself, children first.
fn browsers() -> Vec<i32> {
    let found = below();
    let chromium = found.iter().filter(|(_, name)| name.starts_with("chrom")).map(|(pid, _)| *pid);
    chromium.rev().collect()
}

#[tokio::test]
async fn a_page_that_hangs_is_given_up() {
    let server = server().await;
    let bench = Bench::with(&[server.allowed()], Names::default(), |config| {
        config.load = Duration::from_secs(10);
    });
    let mut run = bench.run(1);
    run.open(&server.url("/")).await;
    let error = run.refused("browser_open", json!({"url": server.url("/hangs")})).await;
    assert!(error.contains("/hangs took longer than 10"), "{error}");
    let slow = run.open(&server.url("/slow")).await.content;
    assert!(slow.contains("text") && slow.contains("still loading"), "{slow}");
    let fine = run.open(&server.url("/")).await.content;
    assert!(fine.contains("fine") && !fine.contains("still loading"), "{fine}");
    let error = run.refused("browser_open", json!({"url": server.url("/busy")})).await;
    assert!(error.contains("took longer"), "{error}");
    // The call's own time counts too.
    run.scope.timeout_ms = 1500;
    let error = run.refused("browser_open", json!({"url": server.url("/hangs")})).await;
    assert!(error.contains("ms"), "{error}");
    bench.browsers.close_all();
    until("all gone", gone).await;
}

#[tokio::test]
async fn a_click_that_leads_to_nothing_ends() {
    let server = server().await;
    let bench = Bench::with(&[server.allowed()], Names::default(), |config| {
        config.load = Duration::from_secs(10);
    });
    let mut run = bench.run(1);
    let page = run.open(&server.url("/lead")).await.content;
    let element = json!({"element": number(&page, "link: go")});
    let clicked = run.ok("browser_click", element.clone()).await;
    assert!(clicked.receipt.is_some(), "it was clicked");
    assert!(clicked.content.contains("still loading"), "{}", clicked.content);
    // The run is stopped while the click is on its way.
    let page = run.open(&server.url("/lead")).await.content;
    let element = json!({"element": number(&page, "link: go")});
    run.scope.timeout_ms = 600_000;
    let clicking = run.clone();
    let asked = || {
        let requests = server.requests.lock().unwrap();
        requests.iter().filter(|one| one.contains("/hangs")).count()
    };
    let before = asked();
    let work = tokio::spawn(async move { clicking.refused("browser_click", element).await });
    until("asked for", || asked() > before).await;
    run.scope.cancellation.cancel();
    let error = work.await.unwrap();
    assert!(error.contains("may have taken effect"), "{error}");
    until("all gone", gone).await;
}

#[tokio::test]
async fn a_stopped_run_has_no_browser() {
    let server = server().await;
    let bench = Bench::allowing(&[server.allowed()]);
    let run = bench.run(1);
    run.open(&server.url("/")).await;
    assert!(!browsers().is_empty());
    let opening = run.clone();
    let url = server.url("/hangs");
    let work = tokio::spawn(async move { opening.refused("browser_open", json!({"url": url})).await });
    let hits = server.hits.clone();
    until("asked for", || {
        hits.load(Ordering::Relaxed) >= 2 || server.requests.lock().unwrap().iter().any(|r| r.contains("/hangs"))
    })
    .await;
    run.scope.cancellation.cancel();
    let error = work.await.unwrap();
    assert!(error.contains("stopped"), "{error}");
    until("all gone", gone).await;
    assert_eq!(bench.browsers.count(), 0);
}

/// Opens a page that hangs, ends Chromium's processes in this order, and says what the agent is told; then it goes on.
async fn killed(order: impl FnOnce(Vec<i32>) -> Vec<i32>) -> String {
    let server = server().await;
    let bench = Bench::allowing(&[server.allowed()]);
    let run = bench.run(1);
    run.open(&server.url("/")).await;
    let opening = run.clone();
    let url = server.url("/hangs");
    let work = tokio::spawn(async move { opening.refused("browser_open", json!({"url": url})).await });
    until("asked for", || server.requests.lock().unwrap().iter().any(|r| r.contains("/hangs"))).await;
    for pid in order(browsers()) {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    let error = work.await.unwrap();
    until("all gone", gone).await;
    let after = run.refused("browser_snapshot", json!({})).await;
    assert!(after.contains("no page is open"), "{after}");
    assert!(run.open(&server.url("/")).await.content.contains("fine"));
    error
}

#[tokio::test]
async fn a_killed_browser_is_told_of_and_replaced() {
    let parents_first = |found: Vec<i32>| found.into_iter().rev().collect();
    let error = killed(parents_first).await;
    assert!(error.contains("the browser ended") && error.contains("browser_open"), "{error}");
}

#[tokio::test]
async fn a_browser_whose_pages_die_before_it_is_too() {
    let error = killed(|children_first| children_first).await;
    let told = ["the browser ended", "the page's process crashed"];
    assert!(told.iter().any(|told| error.contains(told)) && error.contains("browser_open"), "{error}");
}

#[tokio::test]
async fn three_at_once_and_no_more() {
    let server = server().await;
    let bench = Bench::with(&[server.allowed()], Names::default(), |config| {
        config.most = 3;
    });
    let runs: Vec<_> = (1..=4).map(|number| bench.run(number)).collect();
    let url = server.url("/");
    let opened = futures::future::join_all(runs[..3].iter().map(|run| run.open(&url))).await;
    assert!(opened.iter().all(|page| page.content.contains("fine")));
    let error = runs[3].refused("browser_open", json!({"url": url})).await;
    assert!(error.contains("3 browsers are in use"), "{error}");
    // The end of a run makes room.
    bench.tools.ended(runs[0].scope.run.unwrap());
    runs[3].open(&url).await;
    let error = runs[0].refused("browser_snapshot", json!({})).await;
    assert!(error.contains("no page is open"), "{error}");
    for run in &runs[1..] {
        run.ok("browser_snapshot", json!({})).await;
    }
    let mut other = bench.run(9);
    other.scope.run = None;
    let error = other.refused("browser_open", json!({"url": url})).await;
    assert!(error.contains("belongs to a run"), "{error}");
    drop((bench, runs, other));
    until("all gone", gone).await;
}

#[tokio::test]
async fn an_idle_one_is_closed() {
    let server = server().await;
    let bench = Bench::with(&[server.allowed()], Names::default(), |config| {
        config.idle = Duration::from_secs(1);
    });
    let run = bench.run(1);
    run.open(&server.url("/")).await;
    until("closed", || bench.browsers.count() == 0).await;
    until("all gone", gone).await;
    let error = run.refused("browser_snapshot", json!({})).await;
    assert!(error.contains("no page is open"), "{error}");
}

#[tokio::test]
async fn one_that_can_t_start_says_why() {
    let bench = Bench::with(&[], Names::default(), |config| {
        config.program = "/bin/false".into();
    });
    let error = bench.browsers.check().await.unwrap_err().to_string();
    assert!(error.contains("can't be started"), "{error}");
    let run = bench.run(1);
    let error = run.refused("browser_open", json!({"url": "http://example.test./"})).await;
    assert!(error.contains("not on the public internet"), "{error}");
    assert_eq!(bench.browsers.count(), 0);
    let good = Bench::allowing(&[]);
    let how = good.browsers.check().await.unwrap();
    assert!(how.contains("Namespaces"), "{how}");
    until("all gone", gone).await;
}
