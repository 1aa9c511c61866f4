use super::world::{World, agent, id, skill};
use async_trait::async_trait;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::ports::{Role, ToolScope, Tools as _};
use steward_core::skill::{Skill, SkillKind};
use steward_core::tool::{Preview, Receipt, ToolError, ToolOutput, Undo};
use steward_tools::skills::{Executor, SkillCall};
use steward_tools::{Context, ToolsError};

/// Repeats what it is given, secrets included, as a careless server would.
#[derive(Default)]
struct Echo {
    undone: AtomicUsize,
}

#[async_trait]
impl Executor for Echo {
    fn kind(&self) -> SkillKind {
        SkillKind::Http
    }

    fn check(&self, _: &Skill) -> Result<(), String> {
        Ok(())
    }

    async fn preview(&self, skill: &Skill, _: &Value, _: &ToolScope) -> Result<Preview, ToolsError> {
        Ok(Preview { summary: format!("version {}", skill.version), ..Preview::default() })
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let secret = job
            .secret
            .and_then(|opened| opened.fields.values().next_back())
            .map_or("none", |secret| secret.expose_secret())
            .to_owned();
        context.learned("session", "learned-session-token".to_owned().into());
        let encoded = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &secret);
        let all = format!("{secret} {encoded} learned-session-token");
        match job.arguments["how"].as_str() {
            Some("fail") => return Err(ToolsError::Refused(format!("refused: {all}"))),
            Some("fatal") => return Err(ToolError::Fatal(all).into()),
            Some("panic") => panic!("{all}"),
            Some("hang") => std::future::pending::<()>().await,
            Some("late") => {
                while !context.halted() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                return Ok(ToolOutput::text("ended by itself"));
            }
            _ => {}
        }
        Ok(ToolOutput {
            data: Some(json!({"id": 42, "deep": [{"x": all}], "version": job.skill.version})),
            receipt: Some(Receipt { action: "called".into(), object: all.clone(), evidence: Some(all.clone()) }),
            undo: job.arguments["how"].as_str().filter(|how| how.contains("snapshot")).map(|how| Undo::Snapshot {
                tool: "x".into(),
                snapshot: json!({"before": if how == "snapshot" { &all } else { "it" }}),
            }),
            provenance: steward_core::provenance::Provenance::from_outside(&all),
            ..ToolOutput::text(all)
        })
    }

    async fn undo(&self, job: SkillCall<'_>, snapshot: &Value, _: &ToolScope) -> Result<String, ToolsError> {
        self.undone.fetch_add(1, Ordering::Relaxed);
        let secret = job.secret.unwrap().fields.values().next_back().unwrap();
        Ok(format!("restored {} with {}", snapshot["before"], secret.expose_secret()))
    }
}

const CANARY: &str = "canary-Zq9/+&x";

fn world() -> World {
    let world = World::new(vec![Arc::new(Echo::default())]);
    world.credential("api", CredentialKind::Token, &[("token", CANARY)]);
    world
}

fn echo(number: u64, name: &str, rest: Value) -> Skill {
    let mut all = json!({
        "type": "http", "config": {"method": "GET", "url": "https://x.example/"}, "credential": {},
        "parameters": {"type": "object", "properties": {"how": {"type": "string"}}, "additionalProperties": false},
    });
    for (key, value) in rest.as_object().unwrap() {
        all[key] = value.clone();
    }
    skill(number, name, all)
}

fn clean(text: &str) {
    let encoded = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, CANARY);
    for bad in [CANARY, encoded.as_str(), "learned-session-token", "canary"] {
        assert!(!text.contains(bad), "{bad} in {text}");
    }
}

#[tokio::test]
async fn nothing_leaves_with_a_secret() {
    let world = world();
    let call = echo(20, "call_api", json!({"risk": "external", "effect": "write"}));
    let call = world.add(call);
    for how in ["work", "snapshot"] {
        let output = world.ok(&call, json!({"how": how})).await;
        clean(&serde_json::to_string(&output).unwrap());
        assert!(output.provenance.is_from_outside() && output.content.contains("api.token"), "{}", output.content);
    }
    for how in ["fail", "fatal", "panic"] {
        let error = world.call(&call, json!({"how": how})).await.unwrap_err();
        clean(&error.to_string());
    }
    // A snapshot without its secret would put something else back.
    let snapshot = world.ok(&call, json!({"how": "snapshot"})).await;
    let Some(Undo::Impossible { reason }) = &snapshot.undo else {
        panic!("{:?}", snapshot.undo);
    };
    assert!(reason.contains("holds a secret"), "{reason}");
    let plain = world.ok(&call, json!({"how": "plain snapshot"})).await;
    let undone = world.undo(&plain).await.unwrap();
    clean(&undone);
    assert!(undone.contains("restored"));
    let uses = world.rows.uses.lock().unwrap();
    assert_eq!(uses.len(), 8);
    assert!(uses.iter().all(|used| used.tool == "call_api"));
    let roles = world.rows.roles.lock().unwrap();
    assert!(roles.iter().all(|role| *role == Some(Role::Operator)));
}

#[tokio::test]
async fn a_package_takes_the_tools_that_it_does_not_work_with() {
    let world = world();
    let prompt =
        json!({"type": "internal", "config": {"prompt": "Look.", "tools": ["read", "grep"]}, "package": "kit"});
    world.add(skill(20, "kit", prompt));
    world.add(echo(21, "call_api", json!({})));
    let mut agent = agent();
    agent.skills = serde_json::from_value(json!([id(20), id(21)])).unwrap();
    let names = async |agent: &steward_core::agent::Agent| {
        let found = world.tools.of_agent(world.scope.tenant, agent).await.unwrap();
        found.tools.into_iter().map(|spec| spec.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&agent).await, ["read", "grep", "call_api"]);
    // What a person named for the agent stays.
    agent.tools = vec!["read".into(), "write".into()];
    assert_eq!(names(&agent).await, ["read", "write", "call_api"]);
    agent.tools.clear();
    agent.skills.remove(0);
    assert!(names(&agent).await.contains(&"write".to_owned()));
}

#[tokio::test]
async fn a_skill_without_a_credential_opens_none() {
    let world = world();
    let call = world.add(echo(20, "open_call", json!({"credential": null})));
    let output = world.ok(&call, json!({})).await;
    assert!(output.content.starts_with("none "), "{}", output.content);
    assert!(world.rows.uses.lock().unwrap().is_empty());
    // Unless its agent names one for it.
    let mut agent = agent();
    agent.credentials.insert("open_call".into(), id(100).parse().unwrap());
    *world.rows.agent.lock().unwrap() = Some(agent);
    world.ok(&call, json!({})).await;
    assert_eq!(world.rows.uses.lock().unwrap().len(), 1);
    // One that needs a credential says so.
    let other = world.add(echo(21, "needs", json!({"credential": {"kind": "api_key"}})));
    assert!(world.refused(&other, json!({})).await.contains("no credential suits"));
}

#[tokio::test]
async fn agents_have_their_skills_without_a_restart() {
    let world = world();
    // The last one is an id that no skill has any more.
    let attached: Vec<Value> = (20..=26).map(|number| json!(id(number))).collect();
    let mut agent = agent();
    agent.skills = serde_json::from_value(json!(attached)).unwrap();
    let names = async || {
        let found = world.tools.of_agent(world.scope.tenant, &agent).await.unwrap();
        let skills = found.tools.into_iter().filter(|spec| spec.skill.is_some());
        (skills.map(|spec| spec.name).collect::<Vec<_>>(), found.prompts)
    };
    assert!(names().await.0.is_empty());
    let call = world.add(echo(20, "one", json!({})));
    world.add(skill(21, "house", json!({"type": "internal", "config": {"prompt": "Be brief."}})));
    world.add(skill(22, "ask_other", json!({"type": "agent_delegation", "config": {"agent": "b"}})));
    world.add(echo(23, "read", json!({})));
    world.add(skill(24, "sh", json!({"type": "shell", "config": {"command": ["ls"]}})));
    world.add(echo(25, "off", json!({"enabled": false})));
    let (tools, prompts) = names().await;
    // `read` is a built-in name, nothing here carries out shell skills, `off` is switched off.
    assert_eq!(tools, ["one", "ask_other"]);
    assert_eq!((prompts.len(), prompts[0].text.as_str()), (1, "Be brief."));
    // A run keeps its version ...
    world.add(Skill { version: 2, ..call.clone() });
    let output = world.ok(&call, json!({})).await;
    assert_eq!(output.data.unwrap()["version"], 1);
    assert_eq!(world.preview(&call, json!({})).await.summary, "version 1, with the credential api");
    // ... unless the skill is switched off or gone.
    world.add(Skill { version: 3, enabled: false, ..call.clone() });
    assert!(world.refused(&call, json!({})).await.contains("switched off"));
    assert!(world.preview(&call, json!({})).await.summary.contains("switched off"));
    world.rows.skills.lock().unwrap().retain(|one| one.id != call.id);
    assert!(world.refused(&call, json!({})).await.contains("was removed"));
}

#[tokio::test]
async fn arguments_are_checked_and_names_are_bound() {
    let world = world();
    let call = world.add(echo(20, "one", json!({})));
    let other = world.add(echo(21, "two", json!({})));
    assert!(world.refused(&call, json!({"how": 1})).await.contains("`how`"));
    assert!(world.refused(&call, json!({"x": 1})).await.contains('x'));
    assert!(world.preview(&call, json!({"how": 1})).await.summary.contains("would fail"));
    let error = world.call_in(&call, json!({}), &world.scope_of(&other)).await.unwrap_err();
    assert!(error.to_string().contains("`one` is not the skill `two`"), "{error}");
    let error = world.call_in(&call, json!({}), &world.scope).await.unwrap_err();
    assert!(error.to_string().contains("there is no tool `one`"), "{error}");
    let delegation = world.add(skill(22, "ask_other", json!({"type": "agent_delegation", "config": {"agent": "b"}})));
    assert!(world.refused(&delegation, json!({})).await.contains("only a run can delegate"));
}

#[tokio::test]
async fn limits_and_stops() {
    let world = world();
    let limits = json!({"timeout_ms": 50, "result_chars": 1000});
    let read = world.add(echo(20, "reads", json!({"limits": limits})));
    assert!(world.refused(&read, json!({"how": "hang"})).await.contains("after 50 ms"));
    let write = json!({"limits": limits, "risk": "write", "effect": "write"});
    let write = world.add(echo(21, "writes", write));
    let error = world.refused(&write, json!({"how": "hang"})).await;
    assert!(error.contains("may or may not have taken effect"), "{error}");
    // One that looks at its context ends by itself, and its outcome is known.
    assert_eq!(world.ok(&write, json!({"how": "late"})).await.content, "ended by itself");
    world.stop();
    assert!(world.refused(&read, json!({})).await.contains("stopped"));
}

#[tokio::test]
async fn effects_are_taken_back_by_the_skill_that_is_named() {
    let world = world();
    let removal = json!({
        "risk": "external", "effect": "write",
        "parameters": {"type": "object", "properties": {"how": {"type": "string"}, "id": {"type": "integer"}}, "required": ["id"]},
    });
    world.add(echo(21, "remove", removal));
    let creation = json!({
        "risk": "external", "effect": "write",
        "compensation": {"skill": "remove", "arguments": {"id": "{{result.id}}", "how": "{{how}}"}},
    });
    let creation = world.add(echo(20, "create", creation));
    assert!(world.preview(&creation, json!({"how": "x"})).await.reversible);
    let output = world.ok(&creation, json!({"how": "x"})).await;
    let Some(Undo::Snapshot { tool, snapshot }) = &output.undo else {
        panic!("{:?}", output.undo);
    };
    assert_eq!((tool.as_str(), &snapshot["arguments"]), ("create", &json!({"id": 42, "how": "x"})));
    let text = world.undo(&output).await.unwrap();
    assert!(text.starts_with("remove: called"), "{text}");
    clean(&text);
    assert_eq!(world.rows.uses.lock().unwrap().last().unwrap().tool, "remove");
    // What is missing is said rather than guessed.
    let blind = world.ok(&creation, json!({})).await;
    assert!(matches!(blind.undo, Some(Undo::Impossible { reason }) if reason.contains("`how`")));
    // Without a way back, that is said too; a read needs none.
    let final_one = world.add(echo(22, "final", json!({"risk": "external", "effect": "write"})));
    let output = world.ok(&final_one, json!({})).await;
    assert!(matches!(output.undo, Some(Undo::Impossible { .. })));
    let read = world.add(echo(23, "look", json!({})));
    assert_eq!(world.ok(&read, json!({})).await.undo, None);
    // The other one may be gone by then.
    world.rows.skills.lock().unwrap().retain(|one| one.name != "remove");
    let output = world.ok(&creation, json!({"how": "x"})).await;
    assert!(world.undo(&output).await.unwrap_err().to_string().contains("remove"));
}

#[test]
fn what_makes_no_sense_is_not_saved() {
    let world = world();
    for (rest, expect) in [
        (json!({"name": "Bad-Name"}), "name"),
        (json!({"description": " "}), "description"),
        (json!({"parameters": {"type": "array"}}), "parameters"),
        (json!({"parameters": {"type": "object", "properties": {"x": {"type": "nonsense"}}}}), "parameters"),
        (json!({"parameters": {"type": "object", "properties": {"credential": {}}}}), "credential"),
        (json!({"limits": {"timeout_ms": 0}}), "timeout_ms"),
        (json!({"limits": {"result_chars": 0}}), "result_chars"),
        (json!({"compensation": {"skill": "x", "arguments": {}}}), "its own effect"),
        (json!({"compensation": {"skill": "y", "arguments": {"a": "{{nope}}"}}}), "nope"),
        (json!({"compensation": {"skill": "y", "arguments": {"a": "{{credential.token}}"}}}), "compensation"),
    ] {
        let error = world.runtime.check(&echo(20, "x", rest.clone())).unwrap_err();
        assert!(error.contains(expect), "{rest}: {error}");
    }
}
