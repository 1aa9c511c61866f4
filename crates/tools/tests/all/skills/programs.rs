//! ansible and python skills, with the real ansible and the real interpreter.

use super::world::{World, skill};
use crate::fakes::helper;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;
use steward_core::skill::Skill;
use steward_sandbox::python::{PythonConfig, PythonPool};
use steward_tools::skills::{AnsibleExecutor, Programs, PythonExecutor, PythonProgram, PythonReply, PythonRunner};
use tokio_util::sync::CancellationToken;

/// The venv that `scripts/setup.sh test` makes.
fn ansible() -> World {
    let programs = steward_testkit::set_up("venv-ansible/bin");
    let programs = Programs {
        search: vec![programs.clone(), "/usr/bin".into(), "/bin".into()],
        own: vec![programs],
        ..Programs::default()
    };
    let world = World::new(vec![Arc::new(AnsibleExecutor::new(programs, helper()))]);
    fs::set_permissions(world.workspace(), fs::Permissions::from_mode(0o777)).unwrap();
    world
}

fn playbook(number: u64, tasks: &str, rest: Value) -> Skill {
    let playbook = format!("- hosts: localhost\n  gather_facts: false\n  tasks:\n{tasks}");
    let mut all = json!({
        "type": "ansible", "config": {"playbook": playbook, "inventory": "localhost\n"}, "risk": "destructive", "effect": "write",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": false},
        "limits": {"timeout_ms": 600_000, "result_chars": 4000},
    });
    for (key, value) in rest.as_object().unwrap() {
        all[key] = value.clone();
    }
    skill(number, &format!("play{number}"), all)
}

#[tokio::test]
async fn playbooks_against_this_machine() {
    let mut world = ansible();
    world.scope.timeout_ms = 600_000;
    let file = world.workspace().join("made.txt");
    let tasks = format!("    - copy: {{dest: {}, content: \"{{{{ text }}}}\"}}\n", file.display());
    let play = world.add(playbook(30, &tasks, json!({})));
    let nasty = "x: y\n- hosts: all {% raw %} {{ lookup('pipe', 'id') }} $(id) '\" \u{7f}\u{85} 日本 \\";
    let preview = world.preview(&play, json!({"text": nasty})).await;
    assert_eq!(preview.count, Some(1), "{preview:?}");
    assert!(!file.exists());
    let output = world.ok(&play, json!({"text": nasty})).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), nasty);
    let receipt = output.receipt.unwrap();
    assert_eq!(receipt.evidence.unwrap(), "ok=1 changed=1");
    assert_eq!(output.data.unwrap()["recap"]["changed"], 1);
    let bad = world.add(playbook(31, "    - fail: {msg: \"so it is: {{ text }}\"}\n", json!({})));
    let error = world.refused(&bad, json!({"text": "told"})).await;
    assert!(error.contains("so it is: told") && error.contains("exit status 2"), "{error}");
    let left: Vec<_> = fs::read_dir(world.workspace()).unwrap().map(|item| item.unwrap().file_name()).collect();
    assert!(left.len() <= 2, "{left:?}");
}

#[tokio::test]
async fn playbooks_end_in_time_and_when_stopped() {
    let mut world = ansible();
    world.scope.timeout_ms = 600_000;
    let started = world.workspace().join("started");
    let tasks = format!("    - command: sh -c 'touch {}; sleep 60'\n", started.display());
    let play = playbook(30, &tasks, json!({}));
    let quick = Skill { limits: serde_json::from_value(json!({"timeout_ms": 1500})).unwrap(), ..play.clone() };
    let quick = world.add(quick);
    let error = world.refused(&quick, json!({})).await;
    assert!(["too long", "may or may not", "was stopped"].iter().any(|one| error.contains(one)), "{error}");
    let _ = fs::remove_file(&started);
    let play = world.add(Skill { id: super::world::id(31).parse().unwrap(), name: "play31".into(), ..play });
    let stop = async {
        while !started.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        world.stop();
    };
    let (error, ()) = tokio::join!(world.refused(&play, json!({})), stop);
    assert!(error.contains("was stopped") || error.contains("may or may not"), "{error}");
    for (config, rest, expect) in [
        (json!({"playbook": " ", "inventory": "x"}), json!({}), "config.playbook"),
        (json!({"playbook": "x", "inventory": ""}), json!({}), "config.inventory"),
        (json!({"playbook": "x", "inventory": "x"}), json!({"credential": {}}), "needs none"),
        (json!({"playbook": "x", "inventory": "x"}), json!({"effect": "read"}), "effect"),
        (json!({"playbook": "x", "inventory": "x"}), json!({"parameters": {"type": "object"}}), "additionalProperties"),
        (
            json!({"playbook": "x", "inventory": "x"}),
            json!({"parameters": {"type": "object", "properties": {"ansible_host": {}}, "additionalProperties": false}}),
            "ansible's own",
        ),
    ] {
        let mut all = rest.clone();
        all["config"] = config;
        let error = world.runtime.check(&playbook(32, "", all)).unwrap_err();
        assert!(error.contains(expect), "{rest}: {error}");
    }
}

/// Stands in for the sandbox's interpreter, whose own tests are in its room.
struct Runner;

#[async_trait]
impl PythonRunner for Runner {
    async fn run(&self, program: &PythonProgram<'_>, cancel: &CancellationToken) -> Result<PythonReply, String> {
        let PythonProgram { payload, wall, memory_mib, .. } = *program;
        let reply = |result, stdout: &str| PythonReply { result, stdout: stdout.to_owned(), stderr: String::new() };
        match payload["how"].as_str() {
            Some("fail") => Ok(reply(Err("ValueError: no such day (line 3)".into()), "so far\n")),
            Some("none") => Err("programs cannot be confined on this machine".into()),
            Some("hang") => {
                cancel.cancelled().await;
                Ok(reply(Err("the call was cancelled".into()), ""))
            }
            _ => Ok(reply(
                Ok(json!({"payload": payload, "ms": u64::try_from(wall.as_millis()).unwrap(), "mib": memory_mib})),
                "hi\n",
            )),
        }
    }
}

#[tokio::test]
async fn python_functions() {
    let world = World::new(vec![Arc::new(PythonExecutor::new(Arc::new(Runner)))]);
    let rest = json!({
        "type": "python", "config": {"code": "def run(payload):\n    return payload\n", "timeout_ms": 1000, "memory_mib": 64},
        "parameters": {"type": "object", "properties": {"how": {"type": "string"}}},
    });
    let call = world.add(skill(30, "compute", rest.clone()));
    let output = world.ok(&call, json!({"how": "x"})).await;
    assert_eq!(output.data, Some(json!({"payload": {"how": "x"}, "ms": 1000, "mib": 64})));
    assert!(
        output.content.ends_with("[printed] hi") && !output.provenance.is_from_outside() && output.receipt.is_none()
    );
    let error = world.refused(&call, json!({"how": "fail"})).await;
    assert!(error.contains("line 3") && error.contains("so far"), "{error}");
    assert!(world.refused(&call, json!({"how": "none"})).await.contains("cannot be confined"));
    assert!(world.preview(&call, json!({})).await.detail.unwrap().contains("def run"));
    for (field, value, expect) in [
        ("code", json!("print(1)"), "no function"),
        ("timeout_ms", json!(0), "timeout_ms"),
        ("memory_mib", json!(1), "memory_mib"),
    ] {
        let mut rest = rest.clone();
        rest["config"][field] = value;
        assert!(world.runtime.check(&skill(31, "x", rest)).unwrap_err().contains(expect));
    }
    let stop = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        world.stop();
    };
    let (error, ()) = tokio::join!(world.refused(&call, json!({"how": "hang"})), stop);
    assert!(error.contains("stopped") || error.contains("cancelled"), "{error}");
}

#[tokio::test]
async fn python_in_the_sandbox() {
    let config = PythonConfig { search: vec!["/usr/bin".into(), "/usr/local/bin".into()], ..PythonConfig::default() };
    let pool = PythonPool::new(helper(), config);
    let world = World::new(vec![Arc::new(PythonExecutor::new(Arc::new(pool)))]);
    let python = |number: u64, body: &str| {
        let rest = json!({
            "type": "python", "config": {"code": format!("import math\ndef run(payload):\n{body}"), "timeout_ms": 2000},
            "parameters": {"type": "object", "properties": {"n": {"type": "number"}}},
        });
        world.add(skill(number, &format!("python{number}"), rest))
    };
    let root = python(30, "    print('seen')\n    return {'root': math.sqrt(payload['n'])}\n");
    let output = world.ok(&root, json!({"n": 2.25})).await;
    assert_eq!(output.data, Some(json!({"root": 1.5})));
    assert!(output.content.ends_with("[printed] seen"), "{}", output.content);
    let raises = python(31, "    return 1 / 0\n");
    assert!(world.refused(&raises, json!({})).await.contains("ZeroDivisionError"));
    let opens = python(32, "    return open('/etc/hostname').read()\n");
    assert!(!world.refused(&opens, json!({})).await.is_empty());
    let hangs = python(33, "    while True: pass\n");
    world.refused(&hangs, json!({})).await;
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        world.stop();
    };
    let (error, ()) = tokio::join!(world.refused(&hangs, json!({})), stop);
    assert!(!error.is_empty());
}
