//! The server: probes, the first administrator, and runs that outlive it.

use crate::common;

use common::{Bench, Server};
use reqwest::{Method, StatusCode};
use serde_json::json;
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Reply, Script};

const EMAIL: &str = "ada@example.org";
const PASSWORD: &str = "a long enough passphrase 7";

#[test]
fn probes_answer() {
    let bench = Bench::new(Script::default());
    let server = Server::start(&bench);
    let get = |path: &str| server.request(&bench, Method::GET, path, None, None);
    assert_eq!(get("/healthz"), (StatusCode::OK, json!("ok")));
    let (status, parts) = get("/readyz");
    assert_eq!(status, StatusCode::OK, "{parts}");
    for part in ["database", "model", "embeddings"] {
        assert_eq!(parts["parts"][part]["status"], "ok", "{parts}");
    }
    let (status, problem) = get("/api/nowhere");
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(problem["hint"].as_str().unwrap().contains("/docs"), "{problem}");
}

#[test]
fn the_first_administrator_is_set_up_once_and_guessing_is_slowed() {
    let bench = Bench::new(Script::default());
    let server = Server::start(&bench);
    let post = |path: &str, body| server.request(&bench, Method::POST, path, None, Some(&body));
    let token = server.setup_token();
    let wrong = json!({"token": "guess", "email": EMAIL, "password": PASSWORD});
    let (status, problem) = post("/api/auth/setup", wrong);
    assert_eq!(status, StatusCode::FORBIDDEN, "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("terminal"), "{problem}");
    let right = json!({"token": token, "email": EMAIL, "password": PASSWORD});
    assert_eq!(post("/api/auth/setup", right.clone()).0, StatusCode::CREATED);
    assert_eq!(post("/api/auth/setup", right).0, StatusCode::FORBIDDEN, "the token works once");
    let (status, login) = post("/api/auth/login", json!({"email": EMAIL, "password": PASSWORD}));
    assert_eq!(status, StatusCode::OK, "{login}");
    let access = login["access_token"].as_str().unwrap();
    let (status, me) = server.request(&bench, Method::GET, "/api/auth/me", Some(access), None);
    assert_eq!(status, StatusCode::OK, "{me}");
    assert_eq!(me["role"], "admin", "{me}");
    let (status, _) = server.request(&bench, Method::GET, "/api/auth/me", Some("x"), None);
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let guess = json!({"email": EMAIL, "password": "not that one 12345"});
    for _ in 0..5 {
        let (status, problem) = post("/api/auth/login", guess.clone());
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{problem}");
    }
    let (status, problem) = post("/api/auth/login", guess);
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("wait"), "{problem}");
}

#[test]
fn a_run_outlives_a_killed_server() {
    let bench =
        Bench::new(Script::of([Behaviour::HangAfterHeaders, Behaviour::Reply(Reply::text("Here I am again."))]));
    let server = Server::start(&bench);
    std::thread::scope(|scope| {
        let body = json!({"model": "steward", "messages": [{"role": "user", "content": "hello"}]});
        let (url, key) = (server.url.clone(), server.key.clone());
        let runtime = &bench.runtime;
        let asking = scope.spawn(move || {
            let _ = rustls::crypto::ring::default_provider().install_default();
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let sent = client.post(format!("{url}/v1/chat/completions"));
            let sent = sent.bearer_auth(key).json(&body).send();
            runtime.block_on(sent).map(|answer| answer.status())
        });
        let came = bench.model.wait_requests(1, Duration::from_mins(5));
        assert!(bench.runtime.block_on(came), "the model was not asked");
        server.kill();
        assert!(asking.join().unwrap().is_err(), "the caller is cut off");
    });
    let server = Server::start(&bench);
    let begun = Instant::now();
    let ended = || {
        let path = "/api/runs?status=finished";
        let (_, page) = server.request(&bench, Method::GET, path, Some(&server.key), None);
        page["items"].as_array().is_some_and(|runs| runs.len() == 1)
    };
    while !ended() {
        assert!(begun.elapsed() < Duration::from_mins(5), "{}", server.said());
        std::thread::sleep(Duration::from_millis(50));
    }
    server.kill();
    let runs = bench.runs();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["outcome"]["status"], "completed", "{runs:?}");
    assert_eq!(runs[0]["answer"], "Here I am again.");
    bench.model.assert_clean();
}
