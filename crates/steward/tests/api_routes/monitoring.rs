//! Health, metrics and the dashboard of a running server.

use crate::api_routes::house::{House, key};
use crate::common::{Bench, Server, finish};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use steward_testkit::model_server::{Behaviour, Script};

fn house() -> House {
    let script = Script::always(Behaviour::text("That is all."));
    House::with_people(script, &[("root", "admin"), ("olga", "operator"), ("dora", "developer"), ("vera", "viewer")])
}

#[test]
fn health_looks_at_everything_and_is_for_operators() {
    let house = house();
    for person in ["dora", "vera"] {
        let (status, answer) = house.call_as(&key(person), Method::GET, "/api/admin/health", None);
        assert_eq!(status, 403, "{answer}");
    }
    let (status, report) = house.call_as(&key("olga"), Method::GET, "/api/admin/health", None);
    assert_eq!(status, 200, "{report}");
    let parts: HashMap<&str, &Value> =
        report["parts"].as_array().unwrap().iter().map(|part| (part["name"].as_str().unwrap(), part)).collect();
    for name in ["database", "data folder", "embeddings", "vault", "sandbox: sandbox", "connection openai"] {
        assert!(parts.contains_key(name), "no {name} in {report}");
    }
    assert_eq!((&parts["database"]["status"], &parts["database"]["needed"]), (&json!("ok"), &json!(true)));
    assert!(parts["data folder"]["detail"].as_str().unwrap().contains("MB are free"), "{report}");
    assert_eq!(parts["mail"]["status"], "off", "{report}");
    assert!(parts.values().all(|part| part["ms"].is_u64() && part["detail"].is_string()), "{report}");
    assert_ne!(report["status"], "down", "{report}");
}

#[test]
fn a_model_server_that_is_gone_shows_as_down() {
    let house = house();
    let gone = json!({"name": "gone", "provider": "compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m", "auth": {"kind": "none"}});
    house.post("/api/connections", gone, 201);
    let report = house.get("/api/admin/health");
    let parts = report["parts"].as_array().unwrap();
    let part = parts.iter().find(|part| part["name"] == "connection gone").unwrap();
    assert_eq!(part["status"], "down", "{part}");
    assert_eq!(report["status"], "degraded", "the rest works: {report}");
}

#[test]
fn a_setting_that_names_no_connection_shows_from_the_start() {
    let bench = Bench::new(Script::default());
    let set = [("PLANNER_MODEL_SPEC", "nowhere"), ("EXECUTOR_MODEL_SPEC", "openai")];
    let mut doctor = bench.command(&["doctor", "--json"]);
    doctor.envs(set);
    let checks = finish(doctor).exits(1).json();
    let part =
        |name: &str| checks["checks"].as_array().unwrap().iter().find(|one| one["name"] == name).cloned().unwrap();
    let planner = part("planner");
    assert_eq!(planner["status"], "down", "{checks}");
    for words in ["PLANNER_MODEL_SPEC names the connection `nowhere`", "openai", "refused"] {
        assert!(planner["detail"].as_str().unwrap().contains(words), "{planner}");
    }
    assert_eq!(part("executor")["status"], "ok", "{checks}");
    let server = Server::start_with(&bench, &set);
    let (status, parts) = server.request(&bench, Method::GET, "/readyz", None, None);
    assert_eq!((status.as_u16(), &parts["parts"]["planner"]["status"]), (200, &json!("down")), "{parts}");
    assert!(server.said().contains("PLANNER_MODEL_SPEC names the connection `nowhere`"), "{}", server.said());
}

/// The samples by their name and labels. Checks the form of every line on its way.
fn samples(text: &str) -> HashMap<String, f64> {
    assert!(text.ends_with('\n') && !text.contains("# EOF"), "the text format 0.0.4, for who doesn't say: {text}");
    let mut types: HashMap<&str, &str> = HashMap::new();
    let mut samples = HashMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(types.insert(name, kind).is_none(), "{name} twice");
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        let base = name.split('{').next().unwrap();
        let known = ["", "_total", "_info", "_sum", "_count", "_bucket"];
        assert!(known.iter().any(|end| base.strip_suffix(end).is_some_and(|base| types.contains_key(base))), "{line}");
        assert!(samples.insert(name.to_owned(), value).is_none(), "{name} twice");
    }
    samples
}

fn scrape(house: &House) -> HashMap<String, f64> {
    let (status, text) = house.call_as(&key("root"), Method::GET, "/metrics", None);
    assert_eq!(status, 200, "{text}");
    samples(text.as_str().unwrap())
}

#[test]
fn what_happens_is_counted() {
    let house = house();
    let before = scrape(&house);
    assert_eq!(before.get("steward_runs_finished_total{outcome=\"completed\"}"), None);
    let (run, _) = house.chat("hello");
    house.wait(&run, "finished");
    house.send(Method::GET, &format!("/api/runs/{run}"), None, 200);
    let body = json!({"model": "connection/openai", "messages": [{"role": "user", "content": "hi"}]});
    house.post("/v1/chat/completions", body, 200);
    let after = scrape(&house);
    let of = |name: &str| after.get(name).copied().unwrap_or_else(|| panic!("no {name} in {after:#?}"));
    assert!(of("steward_runs_finished_total{outcome=\"completed\"}") >= 1.0);
    assert!(of("steward_runs_started_total{origin=\"api\"}") >= 1.0);
    assert!(of("steward_model_calls_total{source=\"run\",connection=\"openai\",outcome=\"ok\"}") >= 1.0);
    assert!(of("steward_model_calls_total{source=\"gateway\",connection=\"openai\",outcome=\"ok\"}") >= 1.0);
    assert!(of("steward_http_requests_total{method=\"GET\",route=\"/api/runs/{id}\",status=\"200\"}") >= 1.0);
    assert!(of("steward_commit_size_count") >= 1.0 && of("process_resident_memory_bytes") > 1e6);
    assert!(of("steward_audit_entries") >= 0.0, "entries get their numbers within a second");
    assert!(after.keys().all(|name| !name.contains(&run)), "no label is an id");
}

#[test]
fn nobody_reads_the_metrics_unless_they_may() {
    let house = house();
    for (who, expect) in [("olga", 403), ("dora", 403), ("root", 200)] {
        let (status, answer) = house.call_as(&key(who), Method::GET, "/metrics", None);
        assert_eq!(status, expect, "{who}: {answer}");
    }
    let nobody = |server: &Server, bench: &Bench, token: Option<&str>| {
        server.request(bench, Method::GET, "/metrics", token, None).0.as_u16()
    };
    assert_eq!(nobody(&house.server, &house.bench, None), 401);
    assert_eq!(nobody(&house.server, &house.bench, Some("wrong")), 401);
    let bench = Bench::new(Script::default());
    let variables = [("STEWARD_METRICS_TOKEN", "a-token-of-the-monitor"), ("STEWARD_METRICS_LOOPBACK", "true")];
    let server = Server::start_with(&bench, &variables);
    assert_eq!(nobody(&server, &bench, Some("a-token-of-the-monitor")), 200);
    assert_eq!(nobody(&server, &bench, None), 200, "programs of this machine may");
    assert_eq!(nobody(&server, &bench, Some("another-token-than-that")), 401);
}

#[test]
fn the_dashboard_shows_everybodys_runs_to_operators_and_their_own_to_others() {
    let house = house();
    let path = format!("/api/chat/{}", house.agent());
    for person in ["dora", "olga"] {
        let (status, started) = house.call_as(&key(person), Method::POST, &path, Some(json!({"message": "hello"})));
        assert_eq!(status, 202, "{started}");
        house.wait(started["run_id"].as_str().unwrap(), "finished");
    }
    let of = |person: &str, period: &str| {
        let path = format!("/api/dashboard?period={period}");
        let (status, dashboard) = house.call_as(&key(person), Method::GET, &path, None);
        assert_eq!(status, 200, "{dashboard}");
        dashboard
    };
    for (period, steps) in [("day", 24), ("week", 28), ("month", 30)] {
        let all = of("olga", period);
        assert_eq!((&all["totals"]["started"], &all["everybody"]), (&json!(2), &json!(true)), "{all}");
        assert_eq!(all["runs"].as_array().unwrap().len(), steps);
        let completed: u64 =
            all["runs"].as_array().unwrap().iter().map(|step| step["completed"].as_u64().unwrap()).sum();
        assert_eq!(completed, 2, "{all}");
    }
    let own = of("dora", "day");
    assert_eq!((&own["totals"]["started"], &own["everybody"]), (&json!(1), &json!(false)), "{own}");
    assert!(own["usage"]["calls"].as_u64().unwrap() >= 1, "{own}");
    assert_eq!(of("vera", "day")["totals"]["started"], 0);
    assert!(own["models"].as_array().unwrap().iter().any(|model| model["name"] == "openai"), "{own}");
    house.send(Method::GET, "/api/dashboard?period=year", None, 422);
}
