//! A credential for each executor, a place that repeats it, and then a look everywhere.

use crate::api_routes::house::{House, text};
use crate::common::{Bench, Server};
use crate::skills::desk::{approve_all, credential, obedient, skill, tool};
use crate::skills::places::{Echo, ansible, docker, mcp_server, parrots};
use crate::skills::trace::{Found, answers, assert_nowhere, files};
use serde_json::{Value, json};
use std::path::Path;
use steward_testkit::postgres::TestPostgres;
use steward_testkit::sshd::{Sshd, user};

const HTTP: &str = "canary-http-9+/=&x'7";
const GRAPHQL: &str = "canary-graphql-4f/+=";
const SCRAPE: &str = "canary-scrape-1c?&=";
const HF: &str = "canary-hf-77e+/";
const SHELL: &str = "canary-shell-\"q\\u00\"";
const DOCKER: &str = "canary-docker-5d:/";
const ANSIBLE: &str = "canary-ansible-{{8}}";
const SQL: &str = "canary-sql-3ab91";
const MCP: &str = "canary-mcp-60f2+=";
const PASSPHRASE: &str = "canary-passphrase-c8";
const SUDO: &str = "canary-sudo-e1f0";
const SEARCH: &str = "canary-search-b6+/=";
const MAIL: &str = "canary-mail-\u{e9}2\"&/+";

const TOOLS: [&str; 23] = [
    "http_ok",
    "http_fail",
    "http_body",
    "graphql_ok",
    "graphql_fail",
    "scrape_ok",
    "scrape_fail",
    "hf_ok",
    "hf_fail",
    "shell_ok",
    "shell_fail",
    "docker_ok",
    "docker_fail",
    "play",
    "sql_ok",
    "sql_fail",
    "ssh_ok",
    "ssh_fail",
    "wiki_see",
    "web_search",
    "web_search, and fail",
    "mail_list",
    "mail_send",
];

/// `text` as an expression of SQL in which it does not stand.
fn spelt(text: &str) -> String {
    let letters: Vec<String> = text.bytes().map(|byte| format!("chr({byte})")).collect();
    letters.join(" || ")
}

#[test]
fn long_a_canary_of_each_executor_is_found_nowhere() {
    let bench = Bench::new(obedient(&TOOLS));
    let echo = Echo::start();
    let sshd = Sshd::start(PASSPHRASE).unwrap();
    let postgres = bench.runtime.block_on(TestPostgres::shared()).unwrap();
    let database = postgres.fresh_database_of("clerk", SQL);
    let database = bench.runtime.block_on(database).unwrap();
    let programs = tempfile::tempdir().unwrap();
    let server = started(&bench, &echo, programs.path());
    let house = House { bench, server };

    let key = std::fs::read_to_string(sshd.path("user")).unwrap();
    let key_line = key.lines().nth(2).unwrap().to_owned();
    for (name, kind, fields) in [
        ("web", "token", json!({"token": HTTP})),
        ("graph", "api_key", json!({"key": GRAPHQL})),
        ("pages", "token", json!({"token": SCRAPE})),
        ("hf", "token", json!({"token": HF})),
        ("here", "password", json!({"username": "someone", "password": SHELL})),
        ("registry", "password", json!({"username": "someone", "password": DOCKER})),
        ("hosts", "password", json!({"username": "someone", "password": ANSIBLE})),
        ("books", "database", json!({"url": database})),
        ("wiki", "token", json!({"token": MCP})),
        ("search", "api_key", json!({"key": SEARCH})),
        ("post", "password", json!({"username": "steward", "password": MAIL})),
        (
            "box",
            "ssh_key",
            json!({
                "username": user().unwrap(), "private_key": key, "passphrase": PASSPHRASE, "sudo_password": SUDO,
            }),
        ),
    ] {
        credential(&house, name, kind, fields);
    }
    let host = format!("127.0.0.1:{}", sshd.port());
    let trusted = house.bench.run(&["skill", "trust-host", &host, &sshd.fingerprint().unwrap()]);
    trusted.exits(0);
    make_skills(&house, &echo, &sshd);
    make_mcp(&house);

    let (mut found, mut untried): (Found, Vec<&str>) = Default::default();
    for name in TOOLS {
        let (run, cards) = approve_all(&house, &format!("Please use {name} now."));
        let events = text(&house.get(&format!("/api/runs/{run}/events")));
        let called = format!("\"tool\":\"{}\"", tool(name));
        assert!(events.contains("tool.intent") && events.contains(&called), "{name} was not called: {events}");
        // What came back was cleaned, so the secret did reach the place.
        if !events.contains("[secret") {
            untried.push(name);
        }
        found.push((format!("cards of {name}"), json!(cards).to_string().into_bytes()));
    }
    // A page that could not be had is told by its status, without its text.
    assert_eq!(untried, ["scrape_fail"], "these brought no secret back");
    look_everywhere(&house, &mut found);
    let places = found.len();
    assert!(places > 150, "only {places} places were looked at");
    assert_nowhere(
        &[HTTP, GRAPHQL, SCRAPE, HF, SHELL, DOCKER, ANSIBLE, SQL, MCP, PASSPHRASE, SUDO, &key_line, SEARCH, MAIL],
        &found,
    );
    // The look itself sees what is there.
    let control = std::panic::catch_unwind(|| assert_nowhere(&["Please use http_ok now."], &found));
    assert!(control.is_err(), "the search finds nothing at all");
}

/// A server whose searches and mail go to those places.
fn started(bench: &Bench, echo: &Echo, programs: &Path) -> Server {
    docker(programs);
    let path =
        format!("{}:{}:{}", programs.display(), ansible().display(), std::env::var_os("PATH").unwrap().display());
    let (accounts, engine) = (programs.join("mail.toml"), format!("http://127.0.0.1:{}", echo.port));
    let (imap, smtp) = parrots();
    let account = format!(
        "[accounts.house]\nfrom = \"Steward <steward@example.org>\"\ncredential = \"post\"\n\
         imap = \"imap+plain://127.0.0.1:{imap}\"\nsmtp = \"smtp+plain://127.0.0.1:{smtp}\"\n"
    );
    std::fs::write(&accounts, account).unwrap();
    // The MCP server lies in the usual cache, which is closed to it where it is the program's own.
    let cache = programs.join("cache");
    std::fs::create_dir(&cache).unwrap();
    std::os::unix::fs::symlink(steward_testkit::set_up("models"), cache.join("models")).unwrap();
    Server::start_with(
        bench,
        &[
            ("PATH", &path),
            ("STEWARD_CACHE", cache.to_str().unwrap()),
            ("STEWARD_LOG", "debug"),
            ("STEWARD_SEARCH", "brave"),
            ("STEWARD_SEARCH_URL", &engine),
            ("STEWARD_SEARCH_CREDENTIAL", "search"),
            ("STEWARD_MAIL", accounts.to_str().unwrap()),
        ],
    )
}

fn look_everywhere(house: &House, found: &mut Found) {
    for skill in house.items("/api/skills?limit=100") {
        let path = format!("/api/skills/{}/test", text(&skill["id"]));
        for body in [json!({"arguments": {}}), json!({"arguments": {}, "dry_run": false, "confirm": true})] {
            let (status, answer) = house.call(reqwest::Method::POST, &path, Some(body));
            found.push((format!("POST {path}: {status}"), answer.to_string().into_bytes()));
        }
    }
    answers(house, found);
    let asked = format!("{:?}", house.bench.model.requests());
    found.push(("prompts".to_owned(), asked.into_bytes()));
    found.push(("log".to_owned(), house.server.said().into_bytes()));
    for args in [&["runs", "--json"][..], &["approvals", "--json"], &["doctor"]] {
        let done = house.bench.run(args);
        found.push((format!("{args:?}"), (done.out + &done.err).into_bytes()));
    }
    files(&house.bench.data(), found);
    files(house.bench.work.path(), found);
}

fn make_skills(house: &House, echo: &Echo, sshd: &Sshd) {
    let allow = json!([echo.allowed()]);
    let http = |path: &str| json!({"method": "POST", "url": echo.url(path), "allow": allow, "body": {"a": 1}});
    let body = json!({"method": "POST", "url": echo.url("/body"), "allow": allow,
        "headers": {"X-Own": "{{credential.token}}"}, "body": {"key": "{{credential.token}}"}});
    let graphql = |path: &str| json!({"url": echo.url(path), "query": "{ said }", "allow": allow});
    let scrape = |path: &str| json!({"url": echo.url(path), "allow": allow, "ignore_robots": true});
    let hf = |path: &str| json!({"model": "org/model", "url": echo.url(path), "inputs": "hello", "allow": allow});
    let shell = |command: Value| json!({"command": command, "stdin": "{{credential.password}}"});
    let docker = |last: &str| json!({"action": "run", "image": "registry.example:5000/a/b", "command": [last]});
    let play = json!({
        "playbook": "- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: var=ansible_password\n    - fail: msg=\"{{ ansible_password }}\"\n",
        "inventory": "127.0.0.1 ansible_connection=local\n", "network": true,
    });
    let ssh = |command: Value| json!({"host": "127.0.0.1", "port": sshd.port(), "command": command});
    let file = |name: &str| sshd.path(name).display().to_string();
    for (name, kind, config, credential) in [
        ("http_ok", "http", http("/ok"), "web"),
        ("http_fail", "http", http("/fail"), "web"),
        ("http_body", "http", body, "web"),
        ("graphql_ok", "graphql", graphql("/ok"), "graph"),
        ("graphql_fail", "graphql", graphql("/fail"), "graph"),
        ("scrape_ok", "scrape", scrape("/ok"), "pages"),
        ("scrape_fail", "scrape", scrape("/fail"), "pages"),
        ("hf_ok", "huggingface", hf("/ok"), "hf"),
        ("hf_fail", "huggingface", hf("/fail"), "hf"),
        ("shell_ok", "shell", shell(json!(["cat"])), "here"),
        ("shell_fail", "shell", shell(json!(["sh", "-c", "cat >&2; exit 3"])), "here"),
        ("docker_ok", "docker", docker("ok"), "registry"),
        ("docker_fail", "docker", docker("fail"), "registry"),
        ("play", "ansible", play, "hosts"),
        ("sql_ok", "sql", json!({"statement": format!("select {} as said", spelt(SQL))}), "books"),
        ("sql_fail", "sql", json!({"statement": format!("select cast({} as integer)", spelt(SQL))}), "books"),
        ("ssh_ok", "ssh", ssh(json!(["cat", file("user")])), "box"),
        ("ssh_fail", "ssh", ssh(json!(["sh", "-c", "cat \"$0\" >&2; exit 4", file("user")])), "box"),
    ] {
        skill(
            house,
            json!({"name": name, "type": kind, "config": config,
            "credential": {"name": credential}, "limits": {"timeout_ms": 60_000, "result_chars": 20_000}}),
        );
    }
}

fn make_mcp(house: &House) {
    let (command, read) = mcp_server();
    let server = house.post(
        "/api/mcp/servers",
        json!({
            "name": "wiki", "credential": {"name": "wiki"},
            "transport": {"kind": "stdio", "command": command, "secret_variable": "WIKI_TOKEN", "read": read},
        }),
        201,
    );
    let path = format!("/api/mcp/servers/{}", text(&server["id"]));
    let checked = house.post(&format!("{path}/check"), json!({}), 200);
    let see = checked["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "see");
    let hash = &see.unwrap_or_else(|| panic!("no tool: {checked}"))["hash"];
    house.post(&format!("{path}/accept"), json!({"tool": "see", "hash": hash}), 200);
    house.post(&format!("{path}/attach"), json!({"tools": ["see"], "agent": house.agent()}), 200);
}
