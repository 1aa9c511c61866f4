//! The official Python client works unchanged.

use crate::common;

use common::{Bench, Server, data_file, finish};
use serde_json::json;
use std::process::Command;
use steward_testkit::model_server::{Behaviour, Rule, Script};

fn rule(contains: &str, role: &str, then: Behaviour) -> Rule {
    Rule { contains: contains.to_owned(), role: Some(role.to_owned()), times: None, then }
}

#[test]
fn openai_python_client_works_unchanged() {
    let script = Script {
        rules: vec![
            rule("beacon.txt", "tool", Behaviour::text("There is beacon.txt.")),
            rule("plain", "user", Behaviour::text("Hello from the model.")),
            rule("List the files", "user", Behaviour::calls([("list", json!({"path": "."}))])),
        ],
        ..Script::default()
    };
    let bench = Bench::new(script);
    bench.work.write("beacon.txt", "light").unwrap();
    let server = Server::start(&bench);
    let mut python = Command::new(steward_testkit::set_up("venv-clients/bin/python3"));
    python.arg(data_file("openai_client.py")).arg(format!("{}/v1", server.url)).arg(&server.key);
    let done = finish(python).exits(0);
    assert!(done.out.contains("all good"), "{done:?}");
    bench.model.assert_clean();
}
