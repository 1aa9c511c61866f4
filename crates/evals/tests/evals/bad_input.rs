//! What goes wrong from outside: each case says what happened and what to do. `docs/bad-input.md` is the same as a table.

use crate::bench;
use serde_json::json;
use steward_testkit::model_server::Script;
use steward_testkit::program::{Done, finish};

fn refused(done: Done, tells: &[&str]) {
    done.exits(1).tells(tells);
}

#[test]
fn unreadable_asks() {
    let bench = bench(Script::default());
    let eval = |file: &str| bench.run(&["asks", file, "-w", "."]);
    refused(eval("nowhere.jsonl"), &["cannot read the requests of nowhere.jsonl"]);
    bench.work.write("empty.jsonl", "\n").unwrap();
    refused(eval("empty.jsonl"), &["empty.jsonl has no requests"]);
    bench.work.write("broken.jsonl", "{\"id\": 1").unwrap();
    refused(eval("broken.jsonl"), &["broken.jsonl line 1", "\"ask\""]);
}

#[test]
fn function_calls_that_cannot_be_measured() {
    let bench = bench(Script::default());
    bench.run(&["bfcl", "--category", "simple"]).exits(2).tells(&["possible values", "simple_python", "live_multiple"]);
    bench.run(&["bfcl"]).exits(2).tells(&["--category"]);
    bench.run(&["bfcl", "--category", "multiple", "--strategy", "magic"]).exits(2).tells(&["react", "schema", "best"]);
}

/// Without Python there is no package, without a package no measurement.
#[test]
fn function_calls_without_the_package() {
    let bench = bench(Script::default());
    let mut command = bench.command(&["bfcl", "--category", "parallel", "--limit", "1"]);
    command.env("STEWARD_CACHE", bench.work.path().join("no-cache")).env("PATH", "");
    finish(command).exits(1).tells(&["no Python environment could be made", "install python3"]);
}

/// With a package of our own making in the cache, the command is seen through without any index.
#[test]
fn function_calls_past_the_end() {
    use std::os::unix::fs::PermissionsExt;
    let bench = bench(Script::default());
    let cache = bench.work.path().join("cache");
    let venv = cache.join("bfcl").join("bfcl-eval-2026.3.23");
    std::fs::create_dir_all(venv.join("bin")).unwrap();
    let python = venv.join("bin").join("python");
    let case = json!([{"id": "p_0", "question": [[{"role": "user", "content": "Hi"}]], "function": []}]);
    std::fs::write(&python, format!("#!/bin/sh\necho '{case}'\n")).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(venv.join("installed"), "").unwrap();
    for (arguments, tells) in [
        (["--offset", "7"], "parallel has 1 cases; choose an --offset below that"),
        (["--limit", "0"], "choose at least 1"),
    ] {
        let mut all = vec!["bfcl", "--category", "parallel"];
        all.extend(arguments);
        let mut command = bench.command(&all);
        command.env("STEWARD_CACHE", &cache);
        finish(command).exits(1).tells(&[tells]);
    }
    std::fs::write(&python, "#!/bin/sh\necho broken >&2\nexit 3\n").unwrap();
    let mut command = bench.command(&["bfcl", "--category", "parallel"]);
    command.env("STEWARD_CACHE", &cache);
    finish(command).exits(1).tells(&["remove", "to install it anew", "broken"]);
}
