//! Commands as models are used to give them, over the tools that the program ships.

use crate::engine::bed::{asked, connection, finished, request, service_over, untrusted};
use crate::engine::outcome;
use serde_json::{Value, json};
use steward_core::approval::Answer;
use steward_core::event::{Event, EventBody, Mode, Outcome, ToolResult};
use steward_core::model::{Capabilities, Strategy};
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};

fn results(events: &[Event]) -> Vec<(String, String)> {
    events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolResult { tool, result, .. } => Some((
                tool.clone(),
                match result {
                    ToolResult::Ok { content, .. } => content.clone(),
                    ToolResult::Error { message, .. } => format!("error: {message}"),
                    ToolResult::Dry { preview } => preview.clone(),
                },
            )),
            _ => None,
        })
        .collect()
}

fn react(tool: &str, arguments: &Value) -> Behaviour {
    Behaviour::text(format!("Thought: next\nAction: {tool}\nAction Input: {arguments}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_of_a_run_is_in_its_log() {
    let dir = tempfile::tempdir().unwrap();
    // Commands may run as another user, who must be able to walk here and write.
    let open: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::create_dir_all(dir.path().join("reports/2026")).unwrap();
    for folder in ["", "reports", "reports/2026"] {
        std::fs::set_permissions(dir.path().join(folder), open.clone()).unwrap();
    }
    std::fs::write(dir.path().join("reports/2026/q1.txt"), "x\n").unwrap();
    let model = ScriptedModelServer::start(Script::of([
        react("exec", &json!({"command": "cd reports"})),
        react("bash", &json!({"cmd": "cd 2026"})),
        react("shell", &json!({"command": "ls"})),
        react("exec", &json!({"command": "cat q1.txt | wc -l"})),
        react("exec", &json!({"command": "cp q1.txt q2.txt"})),
        react("terminal_write", &json!({"command": "cp q1.txt q2.txt"})),
        react("exec", &json!({"command": "ls"})),
        react("exec", &json!({"command": "ls"})),
        Behaviour::text("Thought: done\nFINAL ANSWER: There are two."),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let capabilities = Capabilities { strategy: Strategy::React, ..untrusted() };
    let connections = vec![connection(&model, capabilities)];
    let service = service_over(data.path(), connections.clone()).await;
    let mut wanted = request("Copy q1 in reports/2026.", Mode::Loop, dir.path());
    wanted.agent.budget = steward_core::budget::Preset::Agent;
    let run = service.start(wanted).await.unwrap();
    let id = asked(&service, run).await;
    // The program ends while a person thinks; the next one knows the folder from the log.
    service.shutdown().await;
    drop(service);
    let service = service_over(data.path(), connections).await;
    let yes = Answer::Approve { grant: None, until: None };
    service.decide(id, yes, "test").await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events).0, Outcome::Completed, "{:?}", results(&events));
    let all = results(&events);
    let seen: Vec<&str> = all.iter().map(|(_, content)| content.as_str()).collect();
    assert!(seen[0].contains("reports/") && seen[1].contains("reports/2026/"), "{seen:?}");
    assert_eq!(seen[2], "q1.txt");
    assert!(seen[3].contains("no shell"), "{}", seen[3]);
    assert!(seen[4].contains("`terminal_write`"), "{}", seen[4]);
    assert_eq!(all[5].0, "terminal_write");
    assert_eq!((seen[6], seen[7]), ("q1.txt\nq2.txt", "q1.txt\nq2.txt"), "a second call is kept");
    assert!(dir.path().join("reports/2026/q2.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_phrase_that_runs_a_command_runs_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "1\n2\n").unwrap();
    let model = ScriptedModelServer::start(Script::of([
        Behaviour::text("I would run the command 'wc -l a.txt'"),
        Behaviour::text("Thought: done\nFINAL ANSWER: It has 2 lines."),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let capabilities = Capabilities { strategy: Strategy::React, ..untrusted() };
    let service = service_over(data.path(), vec![connection(&model, capabilities)]).await;
    let run = service.start(request("How many lines has a.txt?", Mode::Loop, dir.path())).await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(results(&events)[0], ("terminal".to_owned(), "2 a.txt".to_owned()));
}
