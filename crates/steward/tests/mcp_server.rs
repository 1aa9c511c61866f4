//! The official Python MCP client works unchanged against `/mcp`.

use crate::common;

use common::{Bench, Server, data_file, finish};
use serde_json::json;
use std::process::Command;
use steward_testkit::model_server::{Behaviour, Reply, Rule, Script};

fn rule(contains: &str, role: &str, then: Behaviour) -> Rule {
    Rule { contains: contains.to_owned(), role: Some(role.to_owned()), times: None, then }
}

#[test]
fn python_mcp_client_works_unchanged() {
    let note = json!({"path": "note.txt", "content": "remember"});
    let script = Script {
        rules: vec![
            rule("beacon.txt", "tool", Behaviour::text("There is beacon.txt.")),
            rule("note.txt", "tool", Behaviour::text("The note is written.")),
            rule("plain", "user", Behaviour::text("Hello from the model.")),
            rule("List the files", "user", Behaviour::calls([("list", json!({"path": "."}))])),
            rule("Write the note", "user", Behaviour::calls([("write", note)])),
            rule("break", "user", Behaviour::unauthorised()),
            rule("forever", "user", Behaviour::Stall { reply: Reply::text("It takes a while to say all of this.") }),
        ],
        ..Script::default()
    };
    let bench = Bench::new(script);
    bench.work.write("beacon.txt", "light").unwrap();
    let server = Server::start(&bench);
    let program = steward_testkit::set_up("venv-mcp/bin/python3");
    assert!(program.exists(), "{} is missing; run scripts/setup.sh test", program.display());
    let mut python = Command::new(program);
    python.arg(data_file("mcp_client.py")).arg(&server.url).arg(&server.key);
    let done = finish(python).exits(0);
    assert!(done.out.contains("all good"), "{done:?}");
}
