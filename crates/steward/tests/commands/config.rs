use super::{Bench, Done, both, with_input};
use crate::common::finish;
use steward_testkit::model_server::Script;

fn prints(done: &Done, parts: &[&str]) {
    for part in parts {
        assert!(done.out.contains(part), "no `{part}` in {done:#?}");
    }
}

#[test]
fn settings_are_listed_shown_changed_and_taken_back() {
    let bench = Bench::new(Script::default());
    prints(&bench.run(&["config"]).exits(0), &["App server", "LOG_LEVEL", "Storage", "NFS_BASE_PATH", "STEWARD_DATA"]);
    bench.run(&["config", "set", "MAX_RUNS=64", "BROWSERS=2"]).exits(0).tells(&["MAX_RUNS is 64", "saved"]);
    prints(&bench.run(&["config", "list", "--set"]).exits(0), &["MAX_RUNS", "BROWSERS"]);
    prints(&bench.run(&["config", "get", "MAX_RUNS"]).exits(0), &["64", "at once"]);
    let port = bench.run(&["config", "get", "API_PORT"]).exits(0);
    prints(&port, &["8800", "after a restart: connections to the address before are open"]);
    with_input(&bench, &["config", "set", "METRICS_TOKEN=-"], "0123456789abcdef\n").exits(0).tells(&["••••••••"]);
    bench.run(&["config", "unset", "MAX_RUNS", "BROWSERS", "METRICS_TOKEN"]).exits(0).tells(&["256"]);
    bench.run(&["config", "get", "NOPE"]).exits(1).tells(&["no setting `NOPE`", "steward config"]);
    bench.run(&["config", "set", "MAX_RUNS"]).exits(1).tells(&["NAME=VALUE"]);
    bench.run(&["config", "set", "MAX_RUNS=0"]).exits(1).tells(&["from 1 to"]);
}

#[test]
fn at_a_running_server_an_administrator_is_wanted() {
    both(|bench, served| {
        let done = bench.run(&["config"]);
        if served {
            done.exits(1).tells(&["only an administrator", "STEWARD_API_KEY"]);
        } else {
            done.exits(0);
        }
        prints(&bench.run(&["health"]).exits(0), &["database", "data folder", "sandbox"]);
    });
}

#[test]
fn wrong_variables_end_the_start_with_their_name() {
    let bench = Bench::new(Script::default());
    for (name, value, tells) in [
        ("STEWARD_METRICS_TOKEN", "short", "16 characters"),
        ("STEWARD_AUTH_SECRET_KEY", "too-short-to-sign", "32 characters"),
        ("STEWARD_BROWSERS", "many", "from 1 to 100"),
        ("STEWARD_LLM_BASE_URL", "http://127.0.0.1:1/v1", "LLM_DEFAULT_MODEL"),
        ("STEWARD_CONFIG", "/nowhere/steward.toml", "can't be read"),
    ] {
        let mut command = bench.command(&["config"]);
        command.env(name, value);
        finish(command).exits(1).tells(&[tells]);
    }
}
