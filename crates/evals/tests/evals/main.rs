//! `steward-evals` against a scripted model server and with the real local model.
#![allow(clippy::unwrap_used, reason = "tests")]

mod asks;
mod bad_input;
mod deep;

use std::path::{Path, PathBuf};
use steward_testkit::Workspace;
use steward_testkit::model_server::Script;
use steward_testkit::program::Bench;

fn bench(script: Script) -> Bench {
    Bench::new(env!("CARGO_BIN_EXE_steward-evals"), script, Workspace::empty().unwrap())
}

fn data_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn every_suite_has_help() {
    let bench = bench(Script::default());
    let top = bench.run(&["--help"]).exits(0);
    assert!(top.out.contains("Examples:") && !top.out.contains("sandbox-exec"), "{top:?}");
    for suite in ["asks", "answers", "deep", "bfcl", "gateway", "local-model"] {
        let done = bench.run(&[suite, "--help"]).exits(0);
        assert!(done.out.contains(&format!("steward-evals {suite}")), "{done:?}");
        assert!(top.out.contains(suite), "{top:?}");
    }
}
