//! `web_search` against servers that answer as the engines do.

use crate::catalogue;
use crate::fakes::Bench;
use crate::server::{Server, answer, ok};
use crate::skills::world::{Rows, id};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::credential::{Credential, CredentialKind};
use steward_core::policy::RiskClass;
use steward_core::ports::Tools as _;
use steward_core::tool::EffectClass;
use steward_tools::outbound::Client;
use steward_tools::search::{SearchConfig, SearchEngine, SearchKey, SearchPorts, with_search};

const KEY: &str = "BSA-canary-9b7f3e21";

/// A credential of the vault, for any kind.
pub fn credential(rows: &Rows, name: &str, kind: CredentialKind, fields: &[(&str, &str)]) {
    let mut all = rows.credentials.lock().unwrap();
    let row = Credential {
        id: id(500 + all.len() as u64).parse().unwrap(),
        name: name.to_owned(),
        kind,
        description: String::new(),
        shown: [].into(),
        secret: fields.iter().map(|(name, _)| (*name).to_owned()).collect(),
        roles: Vec::new(),
        discoverable: false,
        hosts: Vec::new(),
        connection: None,
        created_at: Timestamp(0),
        changed_at: Timestamp(0),
        used_at: None,
        expires_at: None,
    };
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    all.push((row, fields.collect()));
}

fn bench(config: Option<SearchConfig>, rows: Arc<Rows>) -> Bench {
    let mut bench = Bench::new();
    let ports = SearchPorts { client: Client::new(Vec::new()), vault: rows };
    bench.tools = with_search(bench.builder(), config, &ports).build().unwrap();
    bench
}

fn of(engine: SearchEngine, server: &Server) -> Bench {
    let key = match engine {
        SearchEngine::Brave => SearchKey::Plain(KEY.to_owned().into()),
        _ => SearchKey::None,
    };
    let config = SearchConfig::new(engine, Some(&server.url("")), key).unwrap();
    bench(Some(config), Arc::default())
}

fn query() -> Value {
    json!({"query": "rust  async patterns"})
}

const SEARXNG: &str = include_str!("../data/search/searxng.json");
const BRAVE: &str = include_str!("../data/search/brave.json");
const DUCKDUCKGO: &str = include_str!("../data/search/duckduckgo.html");
const CHALLENGE: &str = include_str!("../data/search/duckduckgo-challenge.html");
const NOTHING: &str = include_str!("../data/search/duckduckgo-nothing.html");

#[tokio::test]
async fn not_configured_is_not_offered() {
    let bench = bench(None, Arc::default());
    assert!(bench.tools.catalogue().iter().all(|spec| spec.name != "web_search"));
    for (made, expect) in [
        (SearchConfig::new(SearchEngine::Searxng, None, SearchKey::None), "address of an instance"),
        (SearchConfig::new(SearchEngine::Brave, None, SearchKey::None), "Brave needs a key"),
        (SearchConfig::new(SearchEngine::Searxng, Some("ftp://x"), SearchKey::None), "only http"),
        (SearchConfig::new(SearchEngine::Searxng, Some("http://a:b@x"), SearchKey::None), "no place"),
        (SearchConfig::new(SearchEngine::Searxng, Some("http://x/?q=1"), SearchKey::None), "question mark"),
        (SearchConfig::new(SearchEngine::Searxng, Some("nowhere"), SearchKey::None), "can't be the address"),
    ] {
        let error = made.unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
    assert!("altavista".parse::<SearchEngine>().unwrap_err().to_string().contains("choose searxng"));
    assert_eq!("DuckDuckGo".parse::<SearchEngine>().unwrap(), SearchEngine::Duckduckgo);
}

#[tokio::test]
async fn searxng_gives_json() {
    let server = Server::start(|_| ok("application/json", SEARXNG)).await;
    let bench = of(SearchEngine::Searxng, &server);
    let all = bench.tools.catalogue();
    catalogue::check(&all);
    let spec = all.iter().find(|spec| spec.name == "web_search").unwrap();
    assert_eq!((spec.risk, spec.effect), (RiskClass::External, EffectClass::Read));
    let preview = bench.preview("web_search", query()).await;
    assert!(preview.summary.contains("SearXNG") && !preview.reversible, "{preview:?}");
    let found = bench.ok("web_search", query()).await;
    let request = server.requests.lock().unwrap()[0].clone();
    assert!(request.starts_with("GET /search?q=rust+async+patterns&format=json "), "{request}");
    assert_eq!(
        found.content,
        "2 results of SearXNG for: rust async patterns\n\n\
         1. Async & await in Rust\n   https://rust-lang.github.io/async-book/\n   The book of asynchronous programming.\n\n\
         2. tokio.rs\n   https://tokio.rs/"
    );
    assert!(found.provenance.is_from_outside());
    assert_eq!(
        found.provenance.origins.first().map(String::as_str),
        Some("results of SearXNG for \"rust async patterns\"")
    );
    assert_eq!(found.data.unwrap()["results"][1]["url"], "https://tokio.rs/");
    let one = bench.ok("web_search", json!({"query": "x", "count": 1})).await;
    assert!(one.content.starts_with("1 result of") && !one.content.contains("tokio.rs"));
}

#[tokio::test]
async fn searxng_refusals_say_what_to_do() {
    for (reply, expect) in [
        (answer(403, &[], "<html>"), "search.formats"),
        (answer(429, &["retry-after: 30"], ""), "wait 30 s"),
        (answer(500, &[], "oops"), "status 500"),
        (ok("text/html", "<html>hello"), "no JSON as SearXNG gives it"),
        (ok("application/json", "{\"results\": 7}"), "no JSON as SearXNG gives it"),
        (
            ok(
                "application/json",
                r#"{"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"]]}"#,
            ),
            "google: CAPTCHA; bing: timeout",
        ),
    ] {
        let server = Server::start(move |_| reply.clone()).await;
        let error = of(SearchEngine::Searxng, &server).refused("web_search", query()).await;
        assert!(error.contains(expect), "{error}");
    }
    let server = Server::start(|_| ok("application/json", r#"{"results": []}"#)).await;
    let found = of(SearchEngine::Searxng, &server).ok("web_search", query()).await;
    assert!(found.content.contains("found nothing") && !found.provenance.is_from_outside(), "{found:?}");
    let error = of(SearchEngine::Searxng, &server).refused("web_search", json!({"query": " "})).await;
    assert!(error.contains("blank"), "{error}");
}

#[tokio::test]
async fn brave_gets_its_key_and_shows_it_to_nobody() {
    let server = Server::start(|path| {
        // A server that repeats the key.
        if path.contains("echo") {
            let body = json!({"web": {"results": [{"url": "https://a.example/", "title": KEY, "description": KEY}]}});
            return ok("application/json", body.to_string());
        }
        ok("application/json", BRAVE)
    })
    .await;
    let rows = Arc::new(Rows::default());
    credential(&rows, "brave", CredentialKind::ApiKey, &[("key", KEY)]);
    credential(&rows, "other", CredentialKind::Password, &[("username", "u"), ("password", "p")]);
    let with = |name: &str| {
        let key = SearchKey::Credential(name.to_owned());
        let config = SearchConfig::new(SearchEngine::Brave, Some(&server.url("")), key).unwrap();
        bench(Some(config), rows.clone())
    };
    let bench = with("brave");
    let found = bench.ok("web_search", query()).await;
    let request = server.requests.lock().unwrap()[0].clone();
    assert!(request.starts_with("GET /res/v1/web/search?q=rust+async+patterns&count=8 "), "{request}");
    assert!(request.contains(&format!("x-subscription-token: {KEY}")), "{request}");
    assert!(found.content.contains("1. Asynchronous Programming in Rust"), "{}", found.content);
    assert!(found.content.contains("A book about async & await"), "{}", found.content);
    let echo = bench.ok("web_search", json!({"query": "echo"})).await;
    assert!(!serde_json::to_string(&echo).unwrap().contains(KEY), "{echo:?}");
    assert_eq!(rows.uses.lock().unwrap()[0].tool, "web_search");
    let error = with("none").refused("web_search", query()).await;
    assert!(error.contains("no credential `none`"), "{error}");
    let error = with("other").refused("web_search", query()).await;
    assert!(error.contains("takes an api_key or a token"), "{error}");
}

#[tokio::test]
async fn brave_refusals_say_what_to_do() {
    for (reply, expect) in [
        (
            answer(
                422,
                &[],
                r#"{"type":"ErrorResponse","error":{"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"The provided subscription token is invalid.","status":422}}"#,
            ),
            "SUBSCRIPTION_TOKEN_INVALID",
        ),
        (answer(401, &[], ""), "check its key"),
        (answer(429, &[], r#"{"error":{"code":"RATE_LIMITED"}}"#), "asked too often"),
        (ok("application/json", "[1]"), "no JSON as Brave gives it"),
    ] {
        let server = Server::start(move |_| reply.clone()).await;
        let error = of(SearchEngine::Brave, &server).refused("web_search", query()).await;
        assert!(error.contains(expect), "{error}");
    }
    let server = Server::start(|_| ok("application/json", r#"{"type": "search", "query": {}}"#)).await;
    let found = of(SearchEngine::Brave, &server).ok("web_search", query()).await;
    assert!(found.content.contains("found nothing"), "{}", found.content);
}

#[tokio::test]
async fn duckduckgo_gives_a_page() {
    let server = Server::start(|_| ok("text/html; charset=UTF-8", DUCKDUCKGO)).await;
    let bench = of(SearchEngine::Duckduckgo, &server);
    let found = bench.ok("web_search", query()).await;
    let request = server.requests.lock().unwrap()[0].clone();
    assert!(request.starts_with("POST /html/ ") && request.ends_with("q=rust+async+patterns&b="), "{request}");
    assert_eq!(
        found.content,
        "2 results of DuckDuckGo for: rust async patterns\n\n\
         1. Async/Await - Asynchronous Programming\n   https://rust-lang.github.io/async-book/01_intro.html?a=1&b=2\n   In this chapter we use async to write programs.\n\n\
         2. tokio\n   https://tokio.rs/tokio/tutorial\n   A runtime for Rust."
    );
    for (reply, expect) in [
        (answer(202, &["content-type: text/html"], CHALLENGE), "asks for a captcha"),
        (ok("text/html", CHALLENGE), "asks for a captcha"),
        (answer(429, &[], ""), "asked too often"),
        (answer(403, &[], ""), "status 403"),
        (ok("text/html", "<html><p>Something else</p>"), "can't be read"),
    ] {
        let server = Server::start(move |_| reply.clone()).await;
        let error = of(SearchEngine::Duckduckgo, &server).refused("web_search", query()).await;
        assert!(error.contains(expect), "{error}");
    }
    let server = Server::start(|_| ok("text/html", NOTHING)).await;
    let found = of(SearchEngine::Duckduckgo, &server).ok("web_search", query()).await;
    assert!(found.content.contains("found nothing"), "{}", found.content);
}

#[tokio::test]
async fn only_the_operators_own_place_is_reached() {
    // A redirect to another private place is refused; so is the engine itself unless the operator named it.
    let secret = Server::start(|_| ok("application/json", SEARXNG)).await;
    let to = secret.url("/search");
    let server = Server::start(move |_| crate::server::redirect(&to)).await;
    let bench = of(SearchEngine::Searxng, &server);
    let error = bench.refused("web_search", query()).await;
    assert!(error.contains("not on the public internet"), "{error}");
    assert_eq!(secret.hits.load(Ordering::Relaxed), 0);
    let fetched = bench.refused("web_fetch", json!({"url": server.url("/")})).await;
    assert!(fetched.contains("not on the public internet"), "{fetched}");
}

#[tokio::test]
async fn a_silent_engine_ends_with_the_call() {
    let server = Server::start(|_| Vec::new()).await;
    let mut bench = of(SearchEngine::Searxng, &server);
    bench.scope.timeout_ms = 300;
    let error = bench.refused("web_search", query()).await;
    assert!(error.contains("300 ms") || error.contains("no complete answer") || error.contains("stopped"), "{error}");
    bench.scope.timeout_ms = 60_000;
    let stop = bench.scope.cancellation.clone();
    let hits = server.hits.clone();
    tokio::spawn(async move {
        while hits.load(Ordering::Relaxed) < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.cancel();
    });
    let error = bench.refused("web_search", query()).await;
    assert!(error.contains("stopped"), "{error}");
}
