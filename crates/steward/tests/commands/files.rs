//! What was sent into the workspace, and where its files come from, with a running server and without one.

use crate::commands::on_terminal;
use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

fn upload(bench: &Bench, server: &Server, name: &str) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = format!("{}/api/files?name={name}", server.url);
    let send = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .build()
        .unwrap()
        .post(url)
        .bearer_auth(&server.key)
        .header("content-type", "application/octet-stream")
        .body("a,b\n1,2\n");
    assert_eq!(bench.runtime.block_on(send.send()).unwrap().status(), 201);
}

fn listed(bench: &Bench, args: &[&str]) -> Value {
    let mut all = vec!["files", "--json"];
    all.extend(args);
    bench.run(&all).exits(0).json()
}

#[test]
fn what_was_sent_is_listed_and_removed() {
    let bench = Bench::new(Script::default());
    let server = Server::start(&bench);
    bench.run(&["files"]).exits(0).tells(&["Nobody has sent files"]);
    for name in ["x.csv", "y.csv", "z.csv"] {
        upload(&bench, &server, name);
    }
    let all = listed(&bench, &[]);
    assert_eq!((&all[0]["path"], &all[0]["bytes"]), (&json!("uploads/x.csv"), &json!(8)), "{all}");
    let (by, id) = (all[0]["by"].as_str().unwrap(), all[0]["user_id"].as_str().unwrap());
    let shown = bench.run(&["files", "list", "--user", id]).exits(0);
    assert!(shown.out.contains("uploads/y.csv") && shown.out.contains(by), "{shown:?}");
    let nobody = "00000000-0000-7000-8000-000000000009";
    bench.run(&["files", "list", "--user", nobody]).exits(0).tells(&["steward files"]);

    bench.run(&["files", "remove", "uploads/x.csv"]).exits(1).tells(&["add -y"]);
    bench.run(&["files", "remove", "uploads/x.csv", "-y"]).exits(0).tells(&["removed"]);
    assert!(!bench.work.path().join("uploads/x.csv").exists());
    // Somebody removed it in the folder: it is only no longer listed.
    std::fs::remove_file(bench.work.path().join("uploads/y.csv")).unwrap();
    bench.run(&["files", "remove", "uploads/y.csv", "-y"]).exits(0);
    for path in ["uploads/y.csv", "../api-key", "uploads"] {
        bench.run(&["files", "remove", path, "-y"]).exits(1).tells(&["relative to the workspace"]);
    }
    drop(server);
    on_terminal(&bench, &["files", "remove", "uploads/z.csv"], &[("[y/N]", "n\n")]).exits(4);
    on_terminal(&bench, &["files", "remove", "uploads/z.csv"], &[("[y/N]", "y\n")]).exits(0);
    assert_eq!(listed(&bench, &[]), json!([]));
}

#[test]
fn whoever_has_read_a_file_clears_where_it_comes_from() {
    let bench = Bench::new(Script::default());
    std::fs::create_dir(bench.work.path().join("uploads")).unwrap();
    bench.work.write("uploads/offer.txt", "Only 10 a month.").unwrap();
    bench.run(&["files", "origins"]).exits(0).tells(&["uploads/ counts"]);
    bench.model.replace(Script::of([
        Behaviour::calls([("read", json!({"path": "uploads/offer.txt"}))]),
        Behaviour::calls([("write", json!({"path": "offer.md", "content": "10 a month"}))]),
        Behaviour::text("Noted."),
    ]));
    let server = Server::start(&bench);
    let call = |method: Method, path: &str, body: Option<&Value>| {
        let (status, answer) = server.request(&bench, method, path, Some(&server.key), body);
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    };
    let agents = call(Method::GET, "/api/agents", None);
    let path = format!("/api/chat/{}", agents["items"][0]["id"].as_str().unwrap());
    call(Method::POST, &path, Some(&json!({"message": "Note the offer of uploads/offer.txt in offer.md"})));
    while bench.run(&["approvals", "--json"]).exits(0).json() == json!([]) {}
    bench.run(&["approvals", "approve", &bench.open_approval()]).exits(0);

    let known = listed(&bench, &["origins"]);
    assert_eq!(
        (&known[0]["path"], &known[0]["origins"]),
        (&json!("offer.md"), &json!(["uploads/offer.txt"])),
        "{known}"
    );
    let shown = bench.run(&["files", "origins"]).exits(0);
    assert!(shown.out.contains("from uploads/offer.txt"), "{shown:?}");
    bench.run(&["files", "clear", "other.md", "-y"]).exits(1).tells(&["nothing is recorded", "steward files origins"]);
    bench.run(&["files", "clear", "offer.md"]).exits(1).tells(&["uploads/offer.txt", "read it first", "-y"]);
    on_terminal(&bench, &["files", "clear", "offer.md"], &[("[y/N]", "n\n")]).exits(4);
    assert_eq!(listed(&bench, &["origins"]), known);
    on_terminal(&bench, &["files", "clear", "offer.md"], &[("[y/N]", "y\n")]).exits(0);
    assert_eq!(listed(&bench, &["origins"]), json!([]));
}
