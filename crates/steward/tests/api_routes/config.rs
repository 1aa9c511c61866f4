//! Settings: what is shown, who says so, what can be changed, and that it is in force.

use crate::api_routes::house::{House, key};
use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

const PATH: &str = "/api/admin/config";

fn house() -> House {
    House::with_people(Script::default(), &[("root", "admin"), ("olga", "operator"), ("dora", "developer")])
}

fn read(house: &House) -> Value {
    let (status, config) = house.call_as(&key("root"), Method::GET, PATH, None);
    assert_eq!(status, 200, "{config}");
    config
}

fn field(config: &Value, name: &str) -> Value {
    let groups = config["groups"].as_array().unwrap().iter();
    let mut fields = groups.flat_map(|group| group["fields"].as_array().unwrap());
    fields.find(|field| field["name"] == name).unwrap_or_else(|| panic!("no {name}")).clone()
}

fn change(house: &House, values: Value, expect: u16) -> Value {
    let (status, answer) = house.call_as(&key("root"), Method::PUT, PATH, Some(json!({"values": values})));
    assert_eq!(status, expect, "{answer}");
    answer
}

#[test]
fn settings_are_for_administrators() {
    let house = house();
    for person in ["olga", "dora"] {
        for (method, path, body) in [
            (Method::GET, PATH, None),
            (Method::PUT, PATH, Some(json!({"values": {"MAX_RUNS": 1}}))),
            (Method::GET, "/api/admin/restart-hint", None),
        ] {
            let (status, answer) = house.call_as(&key(person), method.clone(), path, body);
            assert_eq!(status, 403, "{person} {method} {path}: {answer}");
        }
    }
    let config = read(&house);
    let groups: Vec<&str> =
        config["groups"].as_array().unwrap().iter().map(|group| group["id"].as_str().unwrap()).collect();
    assert_eq!(groups, ["app", "database", "worker", "storage"]);
    let port = field(&config, "API_PORT");
    assert_eq!((&port["source"], &port["given_by"]), (&json!("option"), &json!("--listen")), "{port}");
    let lease = field(&config, "LEASE_SECONDS");
    assert_eq!((&lease["source"], &lease["value"]), (&json!("environment"), &json!("1")), "{lease}");
    assert!(lease["why_not"].as_str().unwrap().contains("STEWARD_LEASE_SECONDS"), "{lease}");
    let runs = field(&config, "MAX_RUNS");
    assert_eq!(
        (&runs["source"], &runs["value"], &runs["changeable"]),
        (&json!("default"), &json!("256"), &json!(true))
    );
}

#[test]
fn a_change_is_all_or_nothing_and_every_wrong_value_is_named() {
    let house = house();
    let wrong = json!({
        "MAX_RUNS": "many", "LEASE_SECONDS": 3, "NO_SUCH": 1, "POSTGRES_HOST": "db", "METRICS_TOKEN": "short",
        "NFS_BASE_PATH": "/nowhere/at/all", "DEEP_AGENT_PLAN_STYLE": "concise",
    });
    let refused = change(&house, wrong, 422);
    let mut names: Vec<&str> =
        refused["errors"].as_array().unwrap().iter().map(|error| error["field"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["LEASE_SECONDS", "MAX_RUNS", "METRICS_TOKEN", "NFS_BASE_PATH", "NO_SUCH", "POSTGRES_HOST"],
        "{refused}"
    );
    assert!(refused["errors"].as_array().unwrap().iter().all(|error| error["hint"] != ""), "{refused}");
    assert!(!refused.to_string().contains("short"), "a secret is not repeated");
    assert_eq!(field(&read(&house), "DEEP_AGENT_PLAN_STYLE")["source"], "default", "nothing was saved");
    // Right one by one, but not together.
    let refused = change(&house, json!({"SEARCH_URL": "http://127.0.0.1:8888"}), 422);
    assert!(refused["title"].as_str().unwrap().contains("STEWARD_SEARCH"), "{refused}");
    let refused = change(&house, json!({"LOG_LEVEL": "steward=loud"}), 422);
    assert_eq!(refused["field"], "LOG_LEVEL", "{refused}");
}

#[test]
fn what_is_saved_acts_at_once_and_at_the_next_start() {
    let house = house();
    let told = |count: usize| {
        // Lines of the log come through a pipe.
        let seen = || house.server.said().matches("settings were changed").count();
        for _ in 0..100 {
            if seen() >= count {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        seen()
    };
    change(&house, json!({"BROWSERS": 2}), 200);
    assert_eq!(told(1), 1);
    change(&house, json!({"LOG_LEVEL": "error"}), 200);
    change(&house, json!({"BROWSERS": null}), 200);
    let values = json!({"LOG_LEVEL": "warn,steward_app=info", "MAX_RUNS": 7, "DEEP_AGENT_PLANNING_ENABLED": false});
    let changed = change(&house, values, 200);
    assert_eq!(told(2), 2, "the log was silent in between: a level counts at once");
    let log = field(&changed, "LOG_LEVEL");
    assert_eq!((&log["source"], &log["pending"]), (&json!("database"), &json!(false)), "{log}");
    assert_eq!(changed["restart_pending"], json!([]), "{changed}");
    let (_, hint) = house.call_as(&key("root"), Method::GET, "/api/admin/restart-hint", None);
    assert_eq!((&hint["pending"], &hint["fields"]), (&json!(false), &json!([])), "{hint}");
    assert!(!hint["command"].as_str().unwrap().is_empty());
    // The published call asks for it by POST.
    assert_eq!(house.call_as(&key("root"), Method::POST, "/api/admin/restart-hint", None), (200, hint));
    let (_, entries) = house.call_as(&key("root"), Method::GET, "/api/audit?action=admin.config", None);
    let entry = &entries["items"][0];
    assert_eq!(entry["action"], "admin.config.change", "{entries}");
    assert_eq!(entry["target"], "LOG_LEVEL, MAX_RUNS, DEEP_AGENT_PLANNING_ENABLED", "{entry}");
    assert_eq!(entry["detail"]["changes"]["MAX_RUNS"], json!({"from": "256", "to": "7"}), "{entry}");

    let House { bench, server } = house;
    drop(server);
    let server = Server::start(&bench);
    let house = House { bench, server };
    let config = read(&house);
    assert_eq!(config["restart_pending"], json!([]), "{config}");
    assert_eq!(field(&config, "MAX_RUNS")["value"], "7");
    let back = change(&house, json!({"LOG_LEVEL": null, "MAX_RUNS": null}), 200);
    assert_eq!(
        (&field(&back, "LOG_LEVEL")["source"], &field(&back, "MAX_RUNS")["pending"]),
        (&json!("default"), &json!(false))
    );
    let host = field(&back, "API_HOST");
    assert_eq!(host["effect"], "after_restart", "{host}");
    assert!(host["why_restart"].as_str().unwrap().contains("connections"), "{host}");
    assert!(host["why_not"].as_str().unwrap().contains("restart the program"), "{host}");
}

#[test]
fn a_change_that_cannot_be_put_into_force_is_told_and_not_saved() {
    let house = house();
    let before = field(&read(&house), "LLM_BASE_URL");
    let nobody = json!({"LLM_BASE_URL": "http://127.0.0.1:1/v1", "LLM_DEFAULT_MODEL": "m", "MAX_RUNS": 5});
    let refused = change(&house, nobody, 422);
    assert!(refused["title"].as_str().unwrap().contains("nobody answers at 127.0.0.1:1"), "{refused}");
    let now = read(&house);
    assert_eq!(field(&now, "LLM_BASE_URL"), before);
    assert_eq!(field(&now, "MAX_RUNS")["source"], "default", "nothing was saved");
}

#[test]
fn the_file_is_taken_in_while_the_server_runs() {
    let house = house();
    let file = house.bench.data().join("steward.toml");
    std::fs::write(&file, "[worker]\nMAX_RUNS = 9\nBROWSERS = 2\n").unwrap();
    let runs = field(&read(&house), "MAX_RUNS");
    assert_eq!((&runs["source"], &runs["value"]), (&json!("file"), &json!("9")), "{runs}");
    assert!(runs["why_not"].as_str().unwrap().contains("within seconds"), "{runs}");
    std::fs::write(&file, "[worker]\nMAX_RUNS = \"many\"\n").unwrap();
    let wrong = read(&house);
    assert!(wrong["not_applied"].as_str().unwrap().contains("`many` can't be MAX_RUNS"), "{wrong}");
    assert_eq!(field(&wrong, "MAX_RUNS")["value"], "9", "what was before is in force");
    std::fs::remove_file(&file).unwrap();
    let gone = read(&house);
    assert_eq!((&field(&gone, "MAX_RUNS")["source"], &gone["not_applied"]), (&json!("default"), &Value::Null));
}

#[test]
fn a_secret_that_the_program_needs_is_sealed() {
    let house = house();
    let (key, other) = ("sk-of-the-house-4711", "sk-of-the-house-4712");
    let changed = change(&house, json!({"LLM_API_KEY": key}), 200);
    assert_eq!(field(&changed, "LLM_API_KEY")["value"], "••••••••", "{changed}");
    change(&house, json!({"LLM_API_KEY": other}), 200);
    let (_, entries) = house.call_as(&super::house::key("root"), Method::GET, "/api/audit?action=admin.config", None);
    let changes = &entries["items"][0]["detail"]["changes"]["LLM_API_KEY"];
    assert_eq!(changes, &json!({"from": "••••••••", "to": "••••••••"}), "{entries}");
    for file in ["steward.db", "steward.db-wal"] {
        let bytes = std::fs::read(house.bench.data().join(file)).unwrap_or_default();
        for secret in [key, other] {
            assert!(memchr::memmem::find(&bytes, secret.as_bytes()).is_none(), "{file} has it");
        }
    }
    let House { bench, server } = house;
    drop(server);
    let server = Server::start(&bench);
    let house = House { bench, server };
    assert_eq!(field(&read(&house), "LLM_API_KEY")["source"], "database");
    let back = change(&house, json!({"LLM_API_KEY": null}), 200);
    assert_eq!(field(&back, "LLM_API_KEY")["source"], "default");
}

#[test]
fn a_secret_is_masked_and_stays_when_it_comes_back_so() {
    let house = house();
    let token = "a-token-that-nobody-guesses";
    let changed = change(&house, json!({"METRICS_TOKEN": token}), 200);
    let shown = field(&changed, "METRICS_TOKEN");
    assert_eq!((&shown["value"], &shown["secret"]), (&json!("••••••••"), &json!(true)));
    assert!(!changed.to_string().contains(token));
    let again = change(&house, json!({"METRICS_TOKEN": shown["value"], "BROWSERS": 3}), 200);
    assert_eq!(field(&again, "METRICS_TOKEN"), shown);
    let (status, _) = house.call_as(token, Method::GET, "/metrics", None);
    assert_eq!(status, 200, "it is still the same");
    let database = std::fs::read(house.bench.data().join("steward.db")).unwrap();
    let wal = std::fs::read(house.bench.data().join("steward.db-wal")).unwrap_or_default();
    for bytes in [database, wal] {
        assert!(memchr::memmem::find(&bytes, token.as_bytes()).is_none(), "only its hash is kept");
    }
    change(&house, json!({"METRICS_TOKEN": null}), 200);
    let (status, _) = house.call_as(token, Method::GET, "/metrics", None);
    assert_eq!(status, 401);
}

#[test]
fn a_file_sets_what_the_options_and_variables_leave_open() {
    let bench = Bench::new(Script::default());
    std::fs::create_dir_all(bench.data()).unwrap();
    let file = bench.data().join("steward.toml");
    std::fs::write(&file, "[worker]\nMAX_RUNS = 12\nLEASE_SECONDS = 40\nBROWSERS = 1\n").unwrap();
    bench.run(&["config", "set", "DEEP_AGENT_MAX_PLAN_STEPS=9"]).exits(0);
    bench.run(&["config", "set", "MAX_RUNS=3"]).exits(1).tells(&["steward.toml", "wins"]);
    let listed = bench.run(&["config", "--json"]).exits(0).json();
    assert_eq!(
        (field(&listed, "MAX_RUNS")["source"].as_str(), field(&listed, "MAX_RUNS")["value"].as_str()),
        (Some("file"), Some("12"))
    );
    assert_eq!(field(&listed, "DEEP_AGENT_MAX_PLAN_STEPS")["source"], "database");
    let mut command = bench.command(&["config", "get", "BROWSERS", "--json"]);
    command.env("STEWARD_BROWSERS", "5");
    let got = crate::common::finish(command).exits(0).json();
    assert_eq!(
        (&got["source"], &got["value"]),
        (&json!("environment"), &json!("5")),
        "a variable goes before the file"
    );
    std::fs::write(&file, "[worker]\nMAX_RUNS = \"many\"\nMAX_RUN = 1\n[app]\nLEASE_SECONDS = 1\n").unwrap();
    bench.run(&["config"]).exits(1).tells(&["steward.toml", "MAX_RUN;", "LEASE_SECONDS belongs under [worker]"]);
    std::fs::write(&file, "[worker]\nMAX_RUNS = \"many\"\n[app]\nAPI_PORT = 70000\n").unwrap();
    bench.run(&["config"]).exits(1).tells(&["`many` can't be MAX_RUNS", "`70000` can't be API_PORT"]);
}
