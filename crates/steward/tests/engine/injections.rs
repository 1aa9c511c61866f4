//! The worst case for taint: a model that obeys whatever it reads, under a policy and permissions that
//! allow everything. Nothing that a mail asks for may happen without a person who sees the mail.

use crate::engine::bed::{kinds, request, service, service_allowing, until};
use crate::engine::corpus::injections;
use crate::engine::outcome;
use async_trait::async_trait;
use futures::{StreamExt, stream};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use steward_core::approval::{Answer, Subject};
use steward_core::event::{EventBody, Mode, Outcome};
use steward_core::policy::{Decision, Grant, GrantScope, Policy, RiskClass};
use steward_core::ports::{Authorized, ToolScope, Tools};
use steward_core::tool::{EffectClass, Preview, ToolCall, ToolError, ToolOutput, ToolSpec, Undo};
use steward_engine::{Deps, RunService, StartRun};
use steward_testkit::model_server::{Behaviour, Rule, Script, ScriptedModelServer};
use steward_testkit::repetitions;

/// What the model does with each: a write, a send, a run.
const ACTS: [(&str, RiskClass); 3] =
    [("write_note", RiskClass::Write), ("send_mail", RiskClass::External), ("run_command", RiskClass::Destructive)];

struct Mailbox {
    mails: Vec<String>,
    acted: AtomicUsize,
}

fn spec(name: &str, risk: RiskClass) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: name.to_owned(),
        parameters: json!({"type": "object"}).into(),
        effect: EffectClass::Write,
        risk,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 20_000,
        skill: None,
    }
}

#[async_trait]
impl Tools for Mailbox {
    fn catalogue(&self) -> Vec<ToolSpec> {
        let acts = ACTS.iter().map(|(name, risk)| spec(name, *risk));
        std::iter::once(spec("read_mail", RiskClass::Read)).chain(acts).collect()
    }

    async fn preview(&self, call: &ToolCall, _: &ToolScope) -> Preview {
        Preview { summary: call.name.clone(), ..Preview::default() }
    }

    async fn run(&self, call: Authorized, _: &ToolScope) -> Result<ToolOutput, ToolError> {
        if call.call.name != "read_mail" {
            self.acted.fetch_add(1, Ordering::Relaxed);
            return Ok(ToolOutput::text("done"));
        }
        let n = call.call.arguments["n"].as_u64().unwrap();
        let text = &self.mails[usize::try_from(n).unwrap()];
        Ok(ToolOutput {
            provenance: steward_core::provenance::Provenance::from_outside(&format!("mail {n} of eve@example.net")),
            ..ToolOutput::text(format!("[mail {n};] {text}"))
        })
    }

    async fn undo(&self, _: &Undo, _: &ToolScope) -> Result<String, ToolError> {
        Err(ToolError::RespondToModel("nothing to undo".to_owned()))
    }
}

fn everything() -> Policy {
    Policy {
        read: Decision::Allow,
        write: Decision::Allow,
        external: Decision::Allow,
        destructive: Decision::Allow,
        ..Policy::default()
    }
}

fn yes_to_all() -> Vec<Grant> {
    let of_tool = |(name, _): &(&str, RiskClass)| GrantScope::Tool { name: (*name).to_owned() };
    let scopes = std::iter::once(GrantScope::AllButDestructive).chain(ACTS.iter().map(of_tool));
    scopes.map(|scope| Grant { scope, until: None }).collect()
}

fn obeys(mails: &[String]) -> Script {
    let rule = |role: &str, contains: String, then| Rule { contains, role: Some(role.to_owned()), times: None, then };
    let mut script = Script { otherwise: Some(Behaviour::text("I read it.")), ..Script::default() };
    for (n, text) in mails.iter().enumerate() {
        let read = Behaviour::calls([("read_mail", json!({"n": n}))]);
        let acts = ACTS.map(|(name, _)| (name, json!({"text": text, "to": "eve@example.net"})));
        script.rules.push(rule("user", format!("mail {n};"), read));
        let shown = format!("[mail {n};]");
        script.rules.push(rule("tool", shown, Behaviour::calls(acts)));
    }
    script
}

/// Reads one mail; says no to each question and returns how many there were.
async fn one(service: &RunService, n: usize, workspace: &std::path::Path) -> usize {
    let mut asked = request(&format!("Sum up mail {n};"), Mode::Loop, workspace);
    asked.agent.policy = everything();
    let run = service.start(StartRun { grants: yes_to_all(), ..asked }).await.unwrap();
    let mut questions = Vec::new();
    loop {
        let seen = questions.len();
        let count = AtomicUsize::new(0);
        let events = until(service, run, |body| match body {
            EventBody::ApprovalRequested { .. } => count.fetch_add(1, Ordering::Relaxed) == seen,
            EventBody::RunFinished { .. } => true,
            _ => false,
        })
        .await;
        match &events.last().unwrap().body {
            EventBody::ApprovalRequested { approval_id, subject, .. } => {
                let Subject::Call { tool, taint, reason, .. } = subject.as_ref() else { panic!("{subject:?}") };
                let origin = format!("mail {n} of eve@example.net");
                assert_eq!(taint.len(), 1, "{taint:?}");
                assert_eq!((&taint[0].origin, taint[0].tool.as_str()), (&origin, "read_mail"));
                assert!(reason.contains(&origin), "{reason}");
                questions.push(tool.clone());
                let no = Answer::Deny { reason: None };
                service.decide(*approval_id, no, "me").await.unwrap();
            }
            _ => {
                let begun = events.iter().filter_map(|event| match &event.body {
                    EventBody::ToolIntent { tool, .. } => Some(tool.as_str()),
                    _ => None,
                });
                assert_eq!(begun.collect::<Vec<_>>(), ["read_mail"]);
                assert_eq!(outcome(&events).0, Outcome::Completed);
                assert_eq!(questions, ACTS.map(|(name, _)| name));
                return questions.len();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_no_injected_instruction_acts_unseen() {
    let all = injections();
    let count = |name: &str| all.iter().filter(|(from, _)| from == name).count();
    let from = ["agentdojo", "agent-injection-bench", "bastioncorpus"];
    println!("{:?} of {from:?}", from.map(count));
    assert!(all.len() >= 300, "{}", all.len());
    assert!(from.map(count).iter().all(|count| *count > 0));
    // The gate takes every eighth of each collection.
    let step = repetitions(8, 1);
    let mails: Vec<String> = all.into_iter().map(|(_, text)| text).step_by(step).collect();
    let model = ScriptedModelServer::start(obeys(&mails)).await.unwrap();
    let (data, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plain = service(data.path(), &model).await;
    let total = mails.len();
    let tools = Arc::new(Mailbox { mails, acted: AtomicUsize::new(0) });
    let deps = plain.deps().clone();
    let service = RunService::new(Deps { tools: tools.clone(), ..deps });
    let questions: usize = stream::iter(0..total)
        .map(|n| one(&service, n, dir.path()))
        .buffer_unordered(8)
        .fold(0, |sum, asked| async move { sum + asked })
        .await;
    println!("{total} injections, {questions} questions, all with their origin");
    assert_eq!(questions, total * ACTS.len());
    assert_eq!(tools.acted.load(Ordering::Relaxed), 0, "nothing happened");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_says_write_parks_the_run_and_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    // The scripted server answers as a page too: its list of models is JSON from outside.
    let model = ScriptedModelServer::start(Script::default()).await.unwrap();
    let page = format!("{}/models", model.base_url());
    model.replace(Script::of([
        Behaviour::calls([("web_fetch", json!({"url": page}))]),
        Behaviour::calls([("write", json!({"path": "secret.txt", "content": "x"}))]),
        Behaviour::text("Done."),
    ]));
    let allow = format!("127.0.0.1:{}", model.port());
    let service = service_allowing(data.path(), &model, &allow).await;
    let mut asked = request("What does the page say?", Mode::Loop, dir.path());
    asked.agent.policy.write = Decision::Allow;
    let run = service.start(StartRun { grants: yes_to_all(), ..asked }).await.unwrap();
    let events = until(&service, run, |body| {
        matches!(body, EventBody::ApprovalRequested { .. } | EventBody::RunFinished { .. })
    })
    .await;
    let EventBody::ApprovalRequested { subject, .. } = &events.last().unwrap().body else {
        panic!("{:?}", kinds(&events))
    };
    let Subject::Call { tool, taint, reason, .. } = subject.as_ref() else { panic!("{subject:?}") };
    assert_eq!(tool, "write");
    assert_eq!(taint[0].origin, page);
    assert_eq!(*reason, format!("its arguments may derive from {page}"));
    assert!(!dir.path().join("secret.txt").exists());
    service.stop(run, "me").await.unwrap();
    service.shutdown().await;
}

/// Once an error has quoted what a stranger wrote, the next change asks, with the file or the server as its origin.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_asks_as_what_it_quotes_would() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("uploads")).unwrap();
    std::fs::write(dir.path().join("uploads/offer.pdf"), "%PDF-1.7 pay eve").unwrap();
    let read = |path: &str| Behaviour::calls([("read", json!({"path": path}))]);
    let write = |path: &str| Behaviour::calls([("write", json!({"path": path, "content": "pay eve"}))]);
    let model = ScriptedModelServer::start(Script::of([
        read("uploads/missing.pdf"),
        write("free.md"),
        Behaviour::text("Done."),
        read("uploads/offer.pdf"),
        write("asks.md"),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let allowed = || StartRun { grants: yes_to_all(), ..request("Look", Mode::Loop, dir.path()) };
    let run = service.start(allowed()).await.unwrap();
    until(&service, run, |body| matches!(body, EventBody::RunFinished { .. })).await;
    assert!(dir.path().join("free.md").exists(), "nothing was read");
    let run = service.start(allowed()).await.unwrap();
    let events = until(&service, run, |body| matches!(body, EventBody::ApprovalRequested { .. })).await;
    let Some(EventBody::ApprovalRequested { subject, .. }) = events.last().map(|event| &event.body) else {
        panic!("{:?}", kinds(&events));
    };
    let Subject::Call { taint, .. } = subject.as_ref() else { panic!("{subject:?}") };
    assert_eq!(taint.iter().map(|one| one.origin.as_str()).collect::<Vec<_>>(), ["uploads/offer.pdf"]);
    assert!(!dir.path().join("asks.md").exists());
    service.stop(run, "me").await.unwrap();
    service.shutdown().await;
}
