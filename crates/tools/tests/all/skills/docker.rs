//! docker skills. No docker daemon runs where tests do, so docker is a program that writes down what it
//! is asked.

use super::world::{World, skill};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::skill::Skill;
use steward_core::tool::Undo;
use steward_tools::skills::{DockerExecutor, Programs};
use tempfile::TempDir;

/// Writes its arguments and its configuration down, and behaves as its last argument says.
const DOCKER: &str = r#"#!/bin/sh
here=$(dirname "$0")
{ for word in "$@"; do printf '%s\n' "$word"; done; echo --; } >> "$here/calls"
env > "$here/env"
[ -e "$HOME/.docker/config.json" ] && cp "$HOME/.docker/config.json" "$here/config.json"
for last in "$@"; do :; done
case "$1:$last" in
  ps:*) echo '{"Names":"web","Image":"nginx","Status":"Up 2 hours"}'; echo '{"Names":"db","Image":"postgres","Status":"Exited"}' ;;
  *:fail) echo "no such thing" >&2; exit 125 ;;
  run:hang) exec sleep 60 ;;
  *) echo "did $1" ;;
esac
"#;

struct Docker {
    dir: TempDir,
    world: World,
}

impl Docker {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("docker");
        fs::write(&file, DOCKER).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let programs =
            Programs { search: vec![dir.path().to_owned(), "/usr/bin".into(), "/bin".into()], ..Programs::default() };
        Self { world: World::new(vec![Arc::new(DockerExecutor::new(programs))]), dir }
    }

    fn calls(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.dir.path().join("calls")).unwrap_or_default();
        // `--` is an argument too: only the one before the next call or the end is the end of a call.
        let (mut all, mut one) = (Vec::new(), Vec::new());
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let ends = *line == "--" && lines.get(at + 1).is_none_or(|next| VERBS.contains(next));
            if ends {
                all.push(std::mem::take(&mut one));
            } else {
                one.push((*line).to_owned());
            }
        }
        all
    }

    fn add(&self, number: u64, config: Value, rest: Value) -> Skill {
        let mut all = json!({
            "type": "docker", "config": config, "risk": "destructive", "effect": "write",
            "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
            "limits": {"timeout_ms": 10_000, "result_chars": 1000},
        });
        for (key, value) in rest.as_object().unwrap() {
            all[key] = value.clone();
        }
        self.world.add(skill(number, &format!("docker{number}"), all))
    }
}

const VERBS: &[&str] = &["run", "ps", "logs", "restart", "stop", "start", "kill"];

#[tokio::test]
async fn containers_run_without_rights() {
    let docker = Docker::new();
    let run = docker.add(
        30,
        json!({"action": "run", "image": "alpine:3.22", "command": ["echo", "{{a}}"], "memory_mib": 64}),
        json!({}),
    );
    let output = docker.world.ok(&run, json!({"a": "; rm -rf / $(id)"})).await;
    assert_eq!(output.content, "did run");
    assert_eq!(output.receipt.unwrap().object, "alpine:3.22");
    assert!(matches!(output.undo, Some(Undo::Impossible { .. })));
    let args = docker.calls().remove(0);
    let at = args.iter().position(|word| word == "alpine:3.22").unwrap();
    assert_eq!(args[at - 1..], ["--", "alpine:3.22", "echo", "; rm -rf / $(id)"]);
    for wanted in [
        vec!["--rm"],
        vec!["--network", "none"],
        vec!["--read-only"],
        vec!["--cap-drop", "ALL"],
        vec!["--security-opt", "no-new-privileges"],
        vec!["--pids-limit", "128"],
        vec!["--memory", "64m"],
        vec!["--memory-swap", "64m"],
    ] {
        assert!(args[..at].windows(wanted.len()).any(|some| some == wanted.as_slice()), "{wanted:?}: {args:?}");
    }
    let env = fs::read_to_string(docker.dir.path().join("env")).unwrap();
    for line in env.lines() {
        let name = line.split('=').next().unwrap();
        assert!(["PATH", "HOME", "LANG", "PWD", "OLDPWD", "SHLVL", "_"].contains(&name), "{line}");
    }
    assert!(docker.world.refused(&run, json!({"a": "--privileged"})).await.contains("may not begin"));
    let preview = docker.world.preview(&run, json!({"a": "x"})).await;
    assert!(preview.detail.unwrap().contains("--network none") && !preview.reversible);
    assert_eq!(docker.calls().len(), 1);
}

#[tokio::test]
async fn containers_are_listed_and_stopped_and_started_again() {
    let docker = Docker::new();
    let list = docker.add(30, json!({"action": "list"}), json!({"risk": "read", "effect": "read"}));
    let output = docker.world.ok(&list, json!({})).await;
    assert_eq!(output.content, "name | image | status\nweb | nginx | Up 2 hours\ndb | postgres | Exited");
    assert_eq!(output.data.unwrap()[1]["Names"], "db");
    let stop = docker.add(31, json!({"action": "stop", "container": "{{a}}"}), json!({}));
    let output = docker.world.ok(&stop, json!({"a": "web"})).await;
    assert_eq!(docker.world.undo(&output).await.unwrap(), "started web again");
    assert_eq!(docker.calls()[1..], [vec!["stop", "--", "web"], vec!["start", "--", "web"]]);
    for bad in ["", "-f", "--all", "a b", "../x", "a;b", "a\nb"] {
        let error = docker.world.refused(&stop, json!({"a": bad})).await;
        assert!(error.contains("no name of a container"), "{bad}: {error}");
    }
    let error = docker.world.refused(&stop, json!({"a": "fail"})).await;
    assert!(error.contains("no such thing"), "{error}");
    let logs = docker.add(
        32,
        json!({"action": "logs", "container": "web", "lines": 5}),
        json!({"risk": "read", "effect": "read"}),
    );
    let output = docker.world.ok(&logs, json!({})).await;
    assert!(output.provenance.origins.contains("the log of web"));
}

#[tokio::test]
async fn a_container_ends_with_its_call() {
    let docker = Docker::new();
    let limits = json!({"limits": {"timeout_ms": 400, "result_chars": 1000}});
    let hang = docker.add(30, json!({"action": "run", "image": "alpine", "command": ["hang"]}), limits);
    let error = docker.world.refused(&hang, json!({})).await;
    assert!(error.contains("stopped") || error.contains("may or may not"), "{error}");
    let calls = docker.calls();
    let name = &calls[0][calls[0].iter().position(|word| word == "--name").unwrap() + 1];
    assert_eq!(calls[1], ["kill", name]);
    let long = docker.add(31, json!({"action": "run", "image": "alpine", "command": ["hang"]}), json!({}));
    let stop = async {
        while docker.calls().len() < 2 || !docker.dir.path().join("env").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        docker.world.stop();
    };
    let (error, ()) = tokio::join!(docker.world.refused(&long, json!({})), stop);
    assert!(error.contains("stopped") || error.contains("may or may not"), "{error}");
}

#[tokio::test]
async fn registries_see_their_credential_and_nobody_else_does() {
    let docker = Docker::new();
    docker.world.credential("reg", CredentialKind::Password, &[("username", "u"), ("password", "canary-pw")]);
    let run = docker.add(30, json!({"action": "run", "image": "reg.example:5000/x/y"}), json!({"credential": {}}));
    let output = docker.world.ok(&run, json!({})).await;
    assert!(!serde_json::to_string(&output).unwrap().contains("canary"));
    let config = fs::read_to_string(docker.dir.path().join("config.json")).unwrap();
    assert_eq!(config, r#"{"auths":{"reg.example:5000":{"auth":"dTpjYW5hcnktcHc="}}}"#);
    assert!(!format!("{:?}", docker.calls()).contains("canary"));
    for (config, expect) in [
        (json!({"action": "run", "image": "--privileged"}), "config.image"),
        (json!({"action": "run", "image": "{{a}}"}), "config.image"),
        (json!({"action": "run", "image": "x", "command": ["{{b}}"]}), "config.command"),
        (json!({"action": "run", "image": "x", "memory_mib": 1}), "config.memory_mib"),
        (json!({"action": "stop", "container": "{{b}}"}), "config.container"),
    ] {
        let all = json!({"type": "docker", "config": config, "effect": "write", "parameters": {"type": "object", "properties": {"a": {}}}});
        let error = docker.world.runtime.check(&skill(31, "x", all)).unwrap_err();
        assert!(error.contains(expect), "{error}");
    }
    let none = World::new(vec![Arc::new(DockerExecutor::new(Programs::default()))]);
    let list = none.add(skill(30, "containers", json!({"type": "docker", "config": {"action": "list"}})));
    assert!(none.refused(&list, json!({})).await.contains("no docker on this machine"));
}
