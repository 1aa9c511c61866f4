use crate::commands::{both, on_terminal, with_input};
use crate::common::Bench;
use serde_json::json;
use std::path::Path;

const CANARY: &str = "canary-5b1e77d0aa-do-not-tell";

/// Whether a file below `folder` holds the secret.
fn holds(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes())
    })
}

fn add(bench: &Bench, name: &str) {
    let add = ["credential", "add", name, "--kind", "token"];
    let done = with_input(bench, &add, &format!("{CANARY}\n")).exits(0);
    assert!(!format!("{done:?}").contains(CANARY), "{done:?}");
}

#[test]
fn a_secret_goes_in_by_standard_input_and_nothing_shows_it() {
    both(|bench, _| {
        bench.run(&["credential"]).exits(0).tells(&["credential add"]);
        add(bench, "shop");
        let shown = bench.run(&["credential", "show", "shop", "--json"]).exits(0);
        assert_eq!(shown.json()["secret"], json!(["token"]));
        for args in [
            &["credential", "list"][..],
            &["credential", "list", "--json"],
            &["credential", "show", "shop"],
            &["credential", "uses", "shop"],
        ] {
            let done = bench.run(args).exits(0);
            assert!(!format!("{done:?}").contains(CANARY), "{done:?}");
        }
        assert!(!holds(&bench.data()), "it stands in a file as it is");
        let twice = ["credential", "add", "shop", "--kind", "token"];
        let twice = with_input(bench, &twice, CANARY).exits(1);
        assert!(!twice.err.contains(CANARY), "{twice:?}");

        bench.run(&["credential", "remove", "shop"]).exits(1).tells(&["-y"]);
        bench.run(&["credential", "remove", "shop", "-y"]).exits(0);
        let gone = bench.run(&["credential", "show", "shop"]);
        gone.exits(1).tells(&["steward credential list"]);
    });
}

#[test]
fn fields_come_from_files_and_never_from_the_command() {
    both(|bench, _| {
        let secret = format!("token={CANARY}");
        let argv = ["credential", "add", "a", "--kind", "token", "--set", &secret];
        let done = bench.run(&argv).exits(1).tells(&["--from token=FILE"]);
        assert!(!done.err.contains(CANARY), "{done:?}");
        let none = ["credential", "add", "a", "--kind", "password"];
        bench.run(&none).exits(1).tells(&["--set username=VALUE"]);
        bench.run(&["credential", "add", "a", "--kind", "spell"]).exits(2);

        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n";
        bench.work.write("key", key).unwrap();
        let add = [
            "credential",
            "add",
            "web1",
            "--kind",
            "ssh_key",
            "--set",
            "username=deploy",
            "--from",
            "private_key=key",
            "--description",
            "the web server",
            "--role",
            "developer",
            "--for",
            "7d",
            "--json",
        ];
        let kept = bench.run(&add).exits(0).json();
        assert_eq!(kept["shown"], json!({"username": "deploy"}));
        assert_eq!(kept["roles"], json!(["developer"]));
        assert!(kept["expires_at"].is_i64());
        let change = ["credential", "change", "web1", "--set", "username=root", "--discoverable", "true"];
        bench.run(&change).exits(0);
        let shown = bench.run(&["credential", "show", "web1", "--json"]).exits(0).json();
        assert_eq!(shown["shown"], json!({"username": "root"}));
        assert_eq!(shown["discoverable"], true);
        bench.run(&["credential", "change", "web1"]).exits(1).tells(&["nothing to change"]);
        let whole = ["credential", "add", "db", "--kind", "database", "--fields", "-"];
        let fields = json!({"engine": "postgres", "host": "db1", "port": 5432, "username": "a", "password": CANARY});
        with_input(bench, &whole, &fields.to_string()).exits(0);
        let shown = bench.run(&["credential", "show", "db"]).exits(0);
        assert!(shown.out.contains("5432") && !shown.out.contains(CANARY), "{shown:?}");
    });
}

#[test]
fn a_terminal_is_asked_and_shows_no_secret() {
    let bench = Bench::new(steward_testkit::model_server::Script::default());
    let add = ["credential", "add", "web1", "--kind", "password"];
    let typed = format!("{CANARY}\n");
    let answers = [("username:", "ada\n"), ("password:", typed.as_str())];
    let done = on_terminal(&bench, &add, &answers).exits(0);
    assert!(done.out.contains("ada") && !done.out.contains(CANARY), "{done:?}");
    let shown = bench.run(&["credential", "show", "web1", "--json"]).exits(0);
    assert_eq!(shown.json()["shown"], json!({"username": "ada"}));
    let key = ["credential", "add", "web2", "--kind", "token"];
    let long = [("token:", "-----BEGIN OPENSSH PRIVATE KEY-----\n")];
    let done = on_terminal(&bench, &key, &long).exits(1);
    assert!(done.out.contains("--from token=FILE"), "{done:?}");
    let done = on_terminal(&bench, &key, &[("token:", "\u{3}")]).exits(1);
    assert!(done.out.contains("stopped"), "{done:?}");
    let remove = ["credential", "remove", "web1"];
    on_terminal(&bench, &remove, &[("[y/N]", "n\n")]).exits(4);
    on_terminal(&bench, &remove, &[("[y/N]", "y\n")]).exits(0);
    assert_eq!(bench.run(&["credential", "--json"]).json(), json!([]));
}

#[test]
fn kinds_need_no_data() {
    let bench = Bench::new(steward_testkit::model_server::Script::default());
    let kinds = bench.run(&["credential", "kinds"]).exits(0);
    assert!(kinds.out.contains("ssh_key") && kinds.out.contains("private_key (secret)"));
    assert!(!bench.data().exists());
}

#[test]
fn the_owner_of_the_data_seals_anew_and_a_server_wants_an_administrator() {
    both(|bench, server| {
        add(bench, "shop");
        let rotate = bench.run(&["credential", "rotate"]);
        if server {
            rotate.exits(1).tells(&["administrator", "stop the server"]);
        } else {
            rotate.exits(0).tells(&["1 sealed"]);
        }
    });
}
