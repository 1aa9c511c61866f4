//! shell skills in the real OS sandbox.

use super::world::{World, skill};
use crate::fakes::{MemoryBlobs, helper};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use steward_core::skill::Skill;
use steward_core::tool::Undo;
use steward_tools::skills::{Programs, ShellExecutor};

fn world() -> World {
    let blobs = Arc::new(MemoryBlobs::default());
    let world = World::new(vec![Arc::new(ShellExecutor::new(Programs::default(), helper(), blobs))]);
    // The program may run as another user.
    fs::set_permissions(world.workspace(), fs::Permissions::from_mode(0o777)).unwrap();
    world
}

fn shell(number: u64, config: Value, rest: Value) -> Skill {
    let mut all = json!({
        "type": "shell", "config": config, "limits": {"timeout_ms": 20_000, "result_chars": 1000},
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}, "script": {"type": "string"}}},
    });
    for (key, value) in rest.as_object().unwrap() {
        all[key] = value.clone();
    }
    skill(number, &format!("shell{number}"), all)
}

fn script(number: u64) -> Skill {
    let config = json!({"command": ["sh", "-c", "{{script}}"], "writes": true});
    shell(number, config, json!({"risk": "write", "effect": "write"}))
}

#[tokio::test]
async fn arguments_are_words_and_the_workspace_is_read_only() {
    let world = world();
    fs::write(world.workspace().join("f.txt"), "content\n").unwrap();
    let show = world.add(shell(30, json!({"command": ["printf", "%s|", "{{a}}", "end"]}), json!({})));
    for nasty in ["; touch x", "$(touch x)", "a b", "*", "'\"", "`id`"] {
        let output = world.ok(&show, json!({"a": nasty})).await;
        assert_eq!(output.content, format!("{nasty}|end|"));
        assert_eq!(output.receipt.unwrap().evidence.unwrap(), "exit status 0");
        assert_eq!(output.undo, None);
    }
    assert!(world.refused(&show, json!({"a": "-v"})).await.contains("may not begin with `-`"));
    let cat = world.add(shell(31, json!({"command": ["cat"], "stdin": "in: {{a}}"}), json!({})));
    assert_eq!(world.ok(&cat, json!({"a": "x\ny"})).await.content, "in: x\ny");
    let touch = world.add(shell(32, json!({"command": ["touch", "new.txt"]}), json!({})));
    let error = world.refused(&touch, json!({})).await;
    assert!(error.contains("ended with exit status 1"), "{error}");
    assert!(!world.workspace().join("new.txt").exists());
    let outside = world.add(shell(33, json!({"command": ["cat", "../secret.txt"]}), json!({})));
    let error = world.refused(&outside, json!({})).await;
    assert!(error.contains("No such file") && !error.contains("SECRET"), "{error}");
    let quiet = world.add(shell(34, json!({"command": ["false"], "success": [0, 1]}), json!({})));
    assert!(world.ok(&quiet, json!({})).await.content.contains("exit status 1"));
    let missing = world.add(shell(35, json!({"command": ["no-such-program"]}), json!({})));
    assert!(world.refused(&missing, json!({})).await.contains("no-such-program"));
    let preview = world.preview(&show, json!({"a": "x y"})).await;
    assert_eq!(preview.detail.unwrap(), "printf '%s|' 'x y' end");
    assert!(preview.reversible);
    for (config, rest, expect) in [
        (json!({"command": []}), json!({}), "the program"),
        (json!({"command": ["{{a}}"]}), json!({}), "the program"),
        (json!({"command": ["ls", "{{b}}"]}), json!({}), "no input"),
        (json!({"command": ["ls", "{{credential.token}}"]}), json!({}), "config.command"),
        (json!({"command": ["ls"], "writes": true}), json!({}), "is no read"),
        (json!({"command": ["ls"], "success": []}), json!({}), "config.success"),
    ] {
        let error = world.runtime.check(&shell(36, config, rest)).unwrap_err();
        assert!(error.contains(expect), "{error}");
    }
}

#[tokio::test]
async fn time_and_stops_end_it() {
    let world = world();
    let limits = json!({"limits": {"timeout_ms": 700, "result_chars": 1000}});
    let slow = world.add(shell(30, json!({"command": ["sleep", "60"]}), limits));
    let error = world.refused(&slow, json!({})).await;
    assert!(error.contains("too long") || error.contains("after 700 ms"), "{error}");
    let write = script(31);
    let write = world.add(write);
    let started = world.workspace().join("started");
    let stop = async {
        while !started.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        world.stop();
    };
    let call = world.refused(&write, json!({"script": "touch started; sleep 60; touch late"}));
    let (error, ()) = tokio::join!(call, stop);
    assert!(error.contains("was stopped") || error.contains("may or may not"), "{error}");
    assert!(!world.workspace().join("late").exists());
}

/// Everything of a folder: kind, mode, content.
fn picture(root: &Path) -> Vec<(String, String)> {
    fn look(root: &Path, at: &Path, into: &mut Vec<(String, String)>) {
        for item in fs::read_dir(at).unwrap() {
            let path = item.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            let mode = about.permissions().mode() & 0o7777;
            let what = if about.is_symlink() {
                format!("link {}", fs::read_link(&path).unwrap().display())
            } else if about.is_dir() {
                look(root, &path, into);
                format!("folder {mode:o}")
            } else {
                format!("file {mode:o} {}", hex::encode(fs::read(&path).unwrap()))
            };
            into.push((path.strip_prefix(root).unwrap().display().to_string(), what));
        }
    }
    let mut all = Vec::new();
    look(root, root, &mut all);
    all.sort();
    all
}

fn prepare(root: &Path) {
    fs::create_dir_all(root.join("d/e")).unwrap();
    fs::write(root.join("a"), "text\n").unwrap();
    fs::write(root.join("b"), [0, 159, 255, 10]).unwrap();
    fs::write(root.join("d/c"), "x".repeat(5000)).unwrap();
    fs::write(root.join("d/e/f"), "").unwrap();
    symlink("../a", root.join("d/link")).unwrap();
    for (path, mode) in [("a", 0o666), ("b", 0o646), ("d", 0o777), ("d/c", 0o666), ("d/e", 0o777), ("d/e/f", 0o755)] {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// One change of a random run, as a line of a script.
fn step() -> impl Strategy<Value = String> {
    let place = prop::sample::select(vec!["a", "b", "d/c", "d/e/f", "d/link", "d/e", "d", "n", "n/o", "d/e/p", "q"]);
    (0..10u8, place.clone(), place, "[a-z\\\\x00-9]{0,12}").prop_map(|(what, one, two, text)| match what {
        0 => format!("printf '{text}' > {one}"),
        1 => format!("printf '{text}' >> {one}"),
        2 => format!("rm -rf {one}"),
        3 => format!("mkdir -p {one}"),
        4 => format!("mv {one} {two}"),
        5 => format!("chmod 70{} {one}", text.len() % 8),
        6 => format!("ln -s {two} {one}"),
        7 => format!("cp -r {one} {two}"),
        8 => format!("rm -f {one}; mkdir -p {one}; printf x > {one}/y"),
        _ => format!("head -c 3000 /dev/zero > {one}"),
    })
}

#[test]
fn undo_restores_a_tree_bit_for_bit() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = world();
    let skill = world.add(script(30));
    let root = world.workspace().to_owned();
    let changed = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config::with_cases(100));
    let steps = prop::collection::vec(step(), 1..8);
    runner
        .run(&steps, |steps| {
            for item in fs::read_dir(&root).unwrap() {
                let path = item.unwrap().path();
                if fs::symlink_metadata(&path).unwrap().is_dir() {
                    fs::remove_dir_all(path).unwrap();
                } else {
                    fs::remove_file(path).unwrap();
                }
            }
            prepare(&root);
            let before = picture(&root);
            let script = format!("{}; true", steps.join("\n"));
            let output = runtime.block_on(world.ok(&skill, json!({"script": script})));
            changed.set(changed.get() + usize::from(picture(&root) != before));
            runtime.block_on(world.undo(&output)).unwrap();
            prop_assert_eq!(picture(&root), before, "{}", script);
            Ok(())
        })
        .unwrap();
    // proptest counts for itself what it has tried; most of it must have changed something.
    assert!(changed.get() >= 50, "{changed:?}");
}

#[tokio::test]
async fn undo_refuses_what_has_changed_since_and_what_is_too_much() {
    let world = world();
    let root = world.workspace();
    fs::write(root.join("a"), "old").unwrap();
    fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o666)).unwrap();
    let skill = world.add(script(30));
    let output = world.ok(&skill, json!({"script": "echo new > a"})).await;
    fs::write(root.join("a"), "newer").unwrap();
    let error = world.undo(&output).await.unwrap_err().to_string();
    assert!(error.contains("a has changed since"), "{error}");
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "newer");
    let outside = root.parent().unwrap().join("secret.txt");
    let output = world.ok(&skill, json!({"script": "mkdir deep; echo x > deep/secret.txt"})).await;
    fs::remove_dir_all(root.join("deep")).unwrap();
    symlink("..", root.join("deep")).unwrap();
    world.undo(&output).await.unwrap_err();
    assert_eq!(fs::read_to_string(outside).unwrap(), "SECRET-OUTSIDE\n");
    fs::remove_file(root.join("deep")).unwrap();
    let big = fs::File::create(root.join("big")).unwrap();
    big.set_len(70 << 20).unwrap();
    assert!(!world.preview(&skill, json!({"script": "true"})).await.reversible);
    let output = world.ok(&skill, json!({"script": "true"})).await;
    assert!(matches!(output.undo, Some(Undo::Impossible { reason }) if reason.contains("64 MB")));
}

#[tokio::test]
async fn what_a_failed_program_has_changed_can_be_undone() {
    let world = world();
    let skill = world.add(script(30));
    let output = world.ok(&skill, json!({"script": "echo x > made; exit 4"})).await;
    assert!(output.failed && output.receipt.is_none(), "{output:?}");
    assert!(output.content.contains("exit status 4") && output.content.contains("made"), "{}", output.content);
    assert!(world.workspace().join("made").exists());
    assert_eq!(output.data.as_ref().unwrap()["paths"], json!(["made"]));
    world.undo(&output).await.unwrap();
    assert!(!world.workspace().join("made").exists());
    let failed = world.ok(&skill, json!({"script": "exit 4"})).await;
    assert!(failed.failed && failed.undo.is_none() && failed.content.contains("exit status 4"), "{failed:?}");
}

#[tokio::test]
async fn an_operators_own_programs_are_found_and_nothing_beside_them_is_shown() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let own = home.path().join("tools");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("greet"), "#!/bin/sh\necho hello $1\n").unwrap();
    fs::set_permissions(own.join("greet"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(home.path().join("letter"), "private").unwrap();
    let programs = Programs { own: vec![own.clone()], ..Programs::default() };
    let blobs = Arc::new(MemoryBlobs::default());
    let shell_of = ShellExecutor::new(programs, helper(), blobs);
    let world = World::new(vec![Arc::new(shell_of)]);
    fs::set_permissions(world.workspace(), fs::Permissions::from_mode(0o777)).unwrap();
    let greet = world.add(shell(60, json!({"command": ["greet", "{{a}}"]}), json!({})));
    let output = world.ok(&greet, json!({"a": "ada"})).await;
    assert_eq!(output.content.trim_end(), "hello ada");
    assert_eq!(output.receipt.unwrap().object, "greet ada");
    let letter = home.path().join("letter").display().to_string();
    let read = world.add(shell(61, json!({"command": ["cat", letter]}), json!({})));
    assert!(world.refused(&read, json!({})).await.contains("No such file"),);
    // The system's programs are as without.
    let echo = world.add(shell(62, json!({"command": ["echo", "{{a}}"]}), json!({})));
    assert_eq!(world.ok(&echo, json!({"a": "x"})).await.content.trim_end(), "x");
}
