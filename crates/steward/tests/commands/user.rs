use crate::commands::on_terminal;
use crate::common::{Bench, Done, Server, finish};
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

const ADMIN: [(&str, &str); 2] =
    [("STEWARD_ADMIN_EMAIL", "ada@example.org"), ("STEWARD_ADMIN_PASSWORD", "a heron stands in the reeds")];
const ANN: &str = "ann@example.org";

fn invite(run: &impl Fn(&[&str]) -> Done) -> Value {
    let done = run(&["user", "invite", ANN, "--role", "viewer", "--name", "Ann", "--json"]).exits(0);
    let invited = done.json();
    assert_eq!(invited["user"]["state"], "invited");
    assert!(invited["invitation"]["token"].is_string());
    invited
}

/// What the owner of the data and an administrator can do alike.
fn manage(run: impl Fn(&[&str]) -> Done) {
    let invited = invite(&run);
    run(&["user", "invite", ANN, "--role", "viewer"]).exits(1).tells(&["ann@example.org is in use", "new link"]);
    run(&["user", "invite", "nobody", "--role", "viewer"]).exits(1).tells(&["not an email address"]);
    run(&["user", "invite", "x@example.org", "--role", "root"]).exits(2);

    let link = run(&["user", "link", "Ann@example.org"]).exits(0).tells(&["only time"]);
    assert!(link.out.contains("/invitation#token=") && link.out.contains("email=ann%40example.org"), "{link:?}");
    let id = invited["user"]["id"].as_str().unwrap();
    run(&["user", "role", &id[id.len() - 8..], "developer"]).exits(0).tells(&["is developer"]);
    run(&["user", "rename", ANN, "Ann B."]).exits(0).tells(&["Ann B."]);
    let shown = run(&["user", "show", ANN, "--json"]).exits(0).json();
    assert_eq!(
        (&shown["name"], &shown["role"], &shown["sessions"]),
        (&json!("Ann B."), &json!("developer"), &json!(0))
    );
    run(&["user", "show", ANN]).exits(0);
    run(&["user", "end-sessions", ANN]).exits(0).tells(&["ended: 0"]);
    run(&["user", "role", "local@steward", "admin"]).exits(1).tells(&["can't be changed"]);

    run(&["user", "disable", ANN]).exits(0).tells(&["steward user enable ann@example.org"]);
    run(&["user", "link", ANN]).exits(1).tells(&["enable them first"]);
    let found = |args: &[&str]| {
        let args: Vec<&str> = ["user", "list", "--json"].iter().chain(args).copied().collect();
        run(&args).exits(0).json().as_array().unwrap().len()
    };
    assert_eq!(found(&["--state", "disabled", "--role", "developer", "--search", "ann b"]), 1);
    assert_eq!(found(&["--state", "invited"]), 0);
    run(&["user", "list", "--search", "nobody"]).exits(0).tells(&["steward user invite"]);
    run(&["user", "remove", ANN]).exits(1).tells(&["-y"]);
    run(&["user", "enable", ANN]).exits(0);
    run(&["user", "remove", ANN, "-y"]).exits(0).tells(&["their runs stay"]);
    run(&["user", "show", ANN]).exits(1).tells(&["steward user list"]);
    run(&["user", "show", "abc"]).exits(1).tells(&["too short"]);
}

#[test]
fn the_owner_of_the_data_manages_users_and_a_server_wants_an_administrator() {
    let bench = Bench::new(Script::default());
    manage(|args| bench.run(args));
    on_terminal(&bench, &["user", "invite", ANN, "--role", "viewer"], &[]).exits(0);
    on_terminal(&bench, &["user", "remove", ANN], &[("[y/N]", "n\n")]).exits(4);
    on_terminal(&bench, &["user", "remove", ANN], &[("[y/N]", "y\n")]).exits(0);

    let server = Server::start_with(&bench, &ADMIN);
    bench.run(&["user"]).exits(1).tells(&["administrator", "STEWARD_API_KEY", "stop the server"]);
    let call = |path: &str, token: Option<&str>, body: Option<&Value>| {
        let (status, answer) = server.request(&bench, reqwest::Method::POST, path, token, body);
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    };
    let login = json!({"email": ADMIN[0].1, "password": ADMIN[1].1});
    let session = call("/api/auth/login", None, Some(&login));
    let key = call("/api/auth/api-key", session["access_token"].as_str(), None);
    let with_key = |key: &str, args: &[&str]| {
        let mut command = bench.command(args);
        command.env("STEWARD_API_KEY", key);
        finish(command)
    };
    let key = key["api_key"].as_str().unwrap();
    with_key("sk-steward-wrong", &["user"]).exits(1).tells(&["STEWARD_API_KEY"]);
    manage(|args| with_key(key, args));
    with_key(key, &["user", "disable", ADMIN[0].1]).exits(1).tells(&["another administrator"]);

    // Whoever is invited accepts at the server.
    let invited = invite(&|args: &[&str]| with_key(key, args));
    let accept = json!({"token": invited["invitation"]["token"], "password": "a coot nests by the mill"});
    let session = call("/api/auth/invitation", None, Some(&accept));
    assert_eq!((&session["user"]["email"], &session["user"]["name"]), (&json!(ANN), &json!("Ann")));
}
