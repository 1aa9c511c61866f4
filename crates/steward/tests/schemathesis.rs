//! schemathesis makes up requests from the OpenAPI document and holds the answers to it: no 5xx, no status, body
//! or content type that the document doesn't tell of.

use crate::common;

use common::{Bench, Server, finish_within};
use reqwest::Method;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};
use steward_testkit::is_thorough;
use steward_testkit::model_server::{Behaviour, Script};

const EMAIL: &str = "ada@example.org";
const PASSWORD: &str = "a heron stands in the reeds";

/// Endless by design, or ends what the test itself needs: the stream of notices never ends; the others take
/// away the session, the password, or the key.
///
/// An exam asks whatever address an earlier request made up for minutes, and answers 503 for it.
const NOT_WITH_TOKEN: [&str; 7] =
    ["examineConnection", "watchAll", "logout", "changePassword", "endSession", "endUserSessions", "removeApiKey"];

struct House {
    bench: Bench,
    server: Server,
}

impl House {
    fn new(script: Script) -> Self {
        let bench = Bench::new(script);
        bench.work.write("a.txt", "old").unwrap();
        let admin = [
            ("STEWARD_ADMIN_EMAIL", EMAIL),
            ("STEWARD_ADMIN_PASSWORD", PASSWORD),
            // Made-up connections must not reach beyond this machine: nothing listens there.
            ("HTTPS_PROXY", "http://127.0.0.1:9"),
            ("HTTP_PROXY", "http://127.0.0.1:9"),
        ];
        let server = Server::start_with(&bench, &admin);
        Self { bench, server }
    }

    fn call(&self, method: Method, path: &str, token: Option<&str>, body: Option<&Value>) -> Value {
        let (status, answer) = self.server.request(&self.bench, method, path, token, body);
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    fn token(&self) -> String {
        let body = json!({"email": EMAIL, "password": PASSWORD});
        let session = self.call(Method::POST, "/api/auth/login", None, Some(&body));
        session["access_token"].as_str().unwrap().to_owned()
    }

    /// Runs it and fails with its report. `settings`: its configuration file; `examples`: random requests for each
    /// operation, besides those of the limits of its schema; `more`: further arguments.
    fn check(&self, settings: &str, examples: u32, more: &[&str]) {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("schemathesis.toml");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(steward_testkit::set_up("venv-schemathesis/bin/schemathesis"));
        command
            .args(["--no-color", "--config-file"])
            .arg(&file)
            .arg("run")
            .arg(format!("{}/api/openapi.json", self.server.url))
            .args([
                "--checks",
                "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
            ])
            // The gate tries what the limits of each schema say; made-up requests come at full length.
            .args(["--phases", if is_thorough() { "examples,coverage,fuzzing" } else { "examples,coverage" }])
            .args(["--max-examples", &examples.to_string()])
            // The same requests each time: what fails once is found again.
            .args(["--seed", "20261121", "--generation-database", "none"])
            // For what hangs: an answer takes some ms, and seconds while a busy machine writes to its disk.
            .args(["--request-timeout", "120", "--warnings", "off", "--continue-on-failure"])
            .args(more)
            .current_dir(place.path())
            .env("HOME", place.path())
            .env("NO_PROXY", "*");
        let begun = Instant::now();
        // Some minutes alone; several times as long beside the other tests.
        let done = finish_within(command, Duration::from_mins(40));
        let summary = done.out.lines().rev().take(12).collect::<Vec<_>>();
        println!("{:?}: {summary:#?}", begun.elapsed());
        assert_eq!(done.code, Some(0), "{}\n{}", done.out, done.err);
        assert!(done.out.contains(" passed"), "nothing was tried: {}", done.out);
        // It still works after all that.
        self.call(Method::GET, "/api/auth/status", None, None);
        assert!(!self.server.said().contains("panicked"), "{}", self.server.said());
    }
}

fn talkative() -> Script {
    Script::always(Behaviour::text("Hello there."))
}

#[test]
fn prove_strangers_get_what_the_document_says() {
    // Nearly all of it ends at the door, whatever is in it.
    House::new(talkative()).check("", 3, &[]);
}

/// In `make prove`, as it takes minutes: the gate has each operation tried by `api`'s own tests of rights and of the document.
#[test]
fn prove_an_administrator_gets_what_the_document_says() {
    let house = House::new(talkative());
    let header = format!("Authorization: Bearer {}", house.token());
    let mut arguments = vec!["--header", &header];
    for operation in NOT_WITH_TOKEN {
        arguments.extend(["--exclude-operation-id", operation]);
    }
    house.check("", 8, &arguments);
}

/// With ids that exist, so that what is answered is more than 404.
#[test]
fn long_what_is_there_is_as_the_document_says() {
    let write = json!({"path": "a.txt", "content": "new"});
    let house = House::new(talkative().when("Write it", Behaviour::calls([("write", write)])));
    let token = house.token();
    let get = |path: &str| house.call(Method::GET, path, Some(&token), None);
    let post = |path: &str, body: Value| house.call(Method::POST, path, Some(&token), Some(&body));
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();

    let agent = id(&get("/api/agents")["items"][0]);
    let connection = id(&get("/api/connections")["items"][0]);
    let chat = format!("/api/chat/{agent}");
    let said = post(&chat, json!({"message": "Say hello"}));
    let asked = post(&chat, json!({"message": "Write it"}));
    let run = said["run_id"].as_str().unwrap();
    let begun = Instant::now();
    while get(&format!("/api/runs/{run}"))["status"] != "finished"
        || get("/api/approvals?status=open")["items"].as_array().is_none_or(Vec::is_empty)
    {
        assert!(begun.elapsed() < Duration::from_mins(5), "no end: {asked}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let approval = id(&get("/api/approvals?status=open")["items"][0]);
    post(&format!("/api/runs/{run}/keep"), json!({"name": "hello"}));

    // Deleting would leave nothing for the others; new connections would lead away from this machine.
    let conversation = said["conversation_id"].as_str().unwrap();
    let known = [
        (agent.as_str(), "getAgent replaceAgent restoreAgent chat"),
        (run, "getRun getRunLog watchRun stopRun steerRun resumeRun forkRun replayRun undoRun keepRun"),
        (conversation, "getConversation renameConversation restoreConversation forkConversation"),
        (approval.as_str(), "getApproval decideApproval"),
        (connection.as_str(), "defaultConnection testConnection"),
    ];
    let lists =
        "listAgents listRuns listConversations listApprovals listKept listTools listConnections runKept about me";
    let header = format!("Authorization: Bearer {token}");
    let mut arguments = vec!["--header", &header];
    let mut settings = String::new();
    for (id, operations) in known {
        for operation in operations.split(' ') {
            let name = if operation == "chat" { "agent_id" } else { "id" };
            writeln!(
                settings,
                "[[operations]]\ninclude-operation-id = \"{operation}\"\nparameters = {{ \"path.{name}\" = \"{id}\" }}"
            )
            .unwrap();
        }
    }
    let operations = known.iter().flat_map(|(_, names)| names.split(' '));
    for operation in operations.chain(lists.split(' ')) {
        arguments.extend(["--include-operation-id", operation]);
    }
    house.check(&settings, 20, &arguments);
    let runs = get("/api/runs?limit=100");
    let runs = runs["items"].as_array().unwrap().len();
    // Made-up requests start some; those of the limits alone are refused.
    assert!(!is_thorough() || runs > 2, "the ids were not used: no run was added");
}
