//! Every file of attempts, each expected to end as its first line says, on each tier of this machine.

use crate::python_support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use python_support::{describe, pools, run};
use steward_sandbox::python::{PythonLimits, PythonPool};
use tokio::task::JoinSet;

/// `# expect: ok-or-blocked` → `["ok", "blocked"]`.
fn expected(code: &str) -> Vec<String> {
    let first = code.lines().next().unwrap();
    let words = first.strip_prefix("# expect: ").expect("the first line");
    words.trim().split("-or-").map(str::to_owned).collect()
}

async fn all(folder: &str, least: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= least, "{} attempts", files.len());
    let mut tiers = JoinSet::new();
    for (tier, pool) in pools().await {
        let files = files.clone();
        tiers.spawn(async move { (tier, wrong(&pool, &files).await) });
    }
    assert!(!tiers.is_empty(), "no tier can be used here");
    for (tier, wrong) in tiers.join_all().await {
        assert!(wrong.is_empty(), "{tier:?}\n{}", wrong.join("\n"));
    }
}

/// The attempts that ended otherwise. One at a time: each meets an interpreter that all before it have tried to spoil.
async fn wrong(pool: &PythonPool, files: &[PathBuf]) -> Vec<String> {
    let mut wrong = Vec::new();
    for file in files {
        let code = std::fs::read_to_string(file).unwrap();
        let expected = expected(&code);
        // What can only be waited for need not be waited for long.
        let limits = PythonLimits {
            wall: match expected.iter().any(|word| word == "timeout") {
                true if expected.len() == 1 => Duration::from_millis(500),
                true => Duration::from_secs(5),
                false => Duration::from_mins(2),
            },
            ..PythonLimits::default()
        };
        let outcome = run(pool, &code, serde_json::json!({}), &limits).await;
        println!("{} {}", file.file_name().unwrap().display(), describe(&outcome));
        if !expected.iter().any(|e| e == outcome.word()) {
            wrong.push(format!("{}: {}", file.display(), describe(&outcome)));
        }
    }
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn the_given_attempts_end_as_expected() {
    all("python-attempts", 37).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_attempts_end_as_expected() {
    all("python-attempts-more", 40).await;
}
