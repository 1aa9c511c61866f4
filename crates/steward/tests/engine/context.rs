//! Small windows: tools are deferred and found, old messages cut and summed up.

use crate::engine::bed::{connection, finished, kinds, request, service_over, store_of, untrusted};
use crate::engine::outcome;
use serde_json::{Value, json};
use steward_core::budget::Preset;
use steward_core::event::{Event, EventBody, Mode, Outcome, ToolResult};
use steward_core::message::Message;
use steward_core::model::{Capabilities, Purpose, Strategy};
use steward_core::ports::Conversation;
use steward_core::tool::TOOL_SEARCH;
use steward_core::{AgentId, ConversationId};
use steward_engine::{RunService, StartRun};
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use uuid::Uuid;

fn names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array();
    tools.into_iter().flatten().filter_map(|tool| tool["function"]["name"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn deferred_tools_are_found_and_then_called() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "one\ntwo heron\n").unwrap();
    let model = ScriptedModelServer::start(Script::of([
        Behaviour::calls([(TOOL_SEARCH, json!({"query": "read the text of a file"}))]),
        Behaviour::calls([("read", json!({"path": "a.txt"}))]),
        Behaviour::text("In a.txt."),
    ]))
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let few = Capabilities { max_tools: 3, ..untrusted() };
    let service = service_over(data.path(), vec![connection(&model, few)]).await;
    let mut wanted = request("Remember that I like tea", Mode::Loop, dir.path());
    wanted.intent_filter = true;
    let run = service.start(wanted).await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "In a.txt.".into()), "{events:#?}");
    let chats = model.chats();
    let first = names(&chats[0].body);
    assert!(first.contains(&TOOL_SEARCH) && !first.contains(&"read"), "{first:?}");
    assert!(first.len() <= 6, "{first:?}");
    let second = names(&chats[1].body);
    assert!(second.contains(&"read"), "{second:?}");
    assert_eq!(second[..first.len()], first[..], "the beginning stays");
    assert!(kinds(&events).contains(&"tools.found"));
    model.assert_clean();
    service.shutdown().await;
}

/// Reads so many files, one a step.
async fn long_run(capabilities: Capabilities) -> Vec<Event> {
    const FILES: usize = 6;
    let dir = tempfile::tempdir().unwrap();
    for n in 0..FILES {
        let text = format!("{n} {}", "heron ".repeat(400));
        std::fs::write(dir.path().join(format!("{n}.txt")), text).unwrap();
    }
    let reads = (0..FILES).map(|n| Behaviour::calls([("read", json!({"path": format!("{n}.txt")}))]));
    let answer = [Behaviour::text("All are of herons.")];
    let script = Script::of(reads.chain(answer)).when("[called read", Behaviour::text("SUMMARY: herons, so far"));
    let model = ScriptedModelServer::start(script).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service_over(data.path(), vec![connection(&model, capabilities)]).await;
    let mut wanted = request("What are the files about?", Mode::Loop, dir.path());
    wanted.agent.tools = vec!["read".into()];
    wanted.agent.budget = Preset::Plan;
    let run = service.start(wanted).await.unwrap();
    let events = finished(&service, run).await;
    model.assert_clean();
    service.shutdown().await;
    events
}

/// Prompts of the loop begin with the one before, unless older messages were compacted in between.
/// How often they were.
fn stable(events: &[Event]) -> usize {
    let mut before: Option<Vec<Message>> = None;
    let (mut changed, mut times) = (false, 0);
    for event in events {
        match &event.body {
            EventBody::ContextCompacted { .. } => {
                changed = true;
                times += 1;
            }
            EventBody::ModelRequested { purpose: Purpose::Reply, prompt, .. } => {
                if let Some(before) = before.filter(|_| !changed) {
                    assert_eq!(prompt[..before.len()], before[..], "event {}", event.seq);
                }
                changed = false;
                before = Some(prompt.clone());
            }
            _ => {}
        }
    }
    times
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_is_summed_up_by_the_model_and_goes_on() {
    let events = long_run(Capabilities { window: 4096, ..untrusted() }).await;
    let times = stable(&events);
    assert!((1..6).contains(&times), "{times}: {:?}", kinds(&events));
    let by: Vec<&str> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ContextCompacted { by, .. } => Some(by.as_str()),
            _ => None,
        })
        .collect();
    assert!(by.contains(&"model"), "{by:?}");
    let used = events.iter().any(|event| {
        matches!(&event.body, EventBody::ModelRequested { purpose: Purpose::Reply, prompt, .. } if prompt.iter().any(|message| message.text.contains("SUMMARY: herons")))
    });
    assert!(used, "the summary stands in later prompts");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_cannot_sum_up_is_not_asked_for_a_summary() {
    let events = long_run(Capabilities { window: 4096, summarises: false, ..untrusted() }).await;
    assert!(stable(&events) >= 1);
    let asked =
        events.iter().any(|event| matches!(&event.body, EventBody::ModelRequested { purpose: Purpose::Compact, .. }));
    assert!(!asked);
    assert!(outcome(&events).1.contains("heron"), "composed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tiny_window_gets_short_results_and_few_words() {
    let events = long_run(Capabilities { window: 2048, ..untrusted() }).await;
    stable(&events);
    let longest = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolResult { result: ToolResult::Ok { content, .. }, .. } => Some(content),
            _ => None,
        })
        .max_by_key(|content| content.len())
        .unwrap();
    assert!(longest.contains("[truncated: "), "{longest}");
    assert!(longest.len() < 1700, "{}", longest.len());
}

async fn conversation(service: &RunService) -> ConversationId {
    let deps = service.deps();
    let id = ConversationId(Uuid::from_u128(11));
    let header = Conversation {
        id,
        agent: AgentId(Uuid::from_u128(6)),
        user: None,
        title: "t".into(),
        created_at: deps.clock.now(),
        updated_at: deps.clock.now(),
        deleted_at: None,
        forked_from: None,
    };
    store_of(service).create_conversation(deps.tenant, &header).await.unwrap();
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prompts_of_a_conversation_begin_with_the_same_tools() {
    for strategy in [Strategy::Native, Strategy::React] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), "heron").unwrap();
        let (said, read) = match strategy {
            Strategy::Native => (Behaviour::text("Fine."), Behaviour::calls([("read", json!({"path": "a.txt"}))])),
            _ => (
                Behaviour::text("Final Answer: Fine."),
                Behaviour::text("Action: read\nAction Input: {\"path\": \"a.txt\"}"),
            ),
        };
        let script = Script::of([said.clone(), read, said.clone(), said]);
        let model = ScriptedModelServer::start(script).await.unwrap();
        let data = tempfile::tempdir().unwrap();
        let few = Capabilities { max_tools: 3, strategy, ..untrusted() };
        let service = service_over(data.path(), vec![connection(&model, few)]).await;
        let talk = conversation(&service).await;
        for input in ["Remember that I like tea", "Read the text of the file a.txt", "Remember that I like coffee"] {
            let run = service
                .start(StartRun {
                    conversation: Some(talk),
                    intent_filter: true,
                    ..request(input, Mode::Loop, dir.path())
                })
                .await
                .unwrap();
            let events = finished(&service, run).await;
            assert!(outcome(&events).1.contains("Fine."), "{events:#?}");
        }
        let chats = model.chats();
        assert_eq!(chats.len(), 4);
        let first = names(&chats[0].body);
        for chat in &chats {
            assert_eq!(names(&chat.body)[..first.len()], first[..]);
        }
        let explained = |at: usize| &chats[at].body["messages"][0];
        assert_eq!(explained(0), explained(1), "another request, the same beginning");
        if strategy == Strategy::React {
            assert!(
                explained(0).to_string().contains("warm it is in Oslo"),
                "the form is shown once: {}",
                explained(0)
            );
        }
        assert_eq!(explained(1), explained(2));
        if strategy == Strategy::Native {
            assert_eq!(names(&chats[3].body)[first.len()], "read", "what was called joins");
        }
        let second = chats[1].body.to_string();
        assert!(second.contains("a.txt") && second.contains("read"), "{second}");
        service.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_summed_up_stays_so_in_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModelServer::start(Script::always(Behaviour::text("Noted."))).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let small = Capabilities { window: 4096, ..untrusted() };
    let service = service_over(data.path(), vec![connection(&model, small)]).await;
    let talk = conversation(&service).await;
    let mut compacted = Vec::new();
    for n in 0..10 {
        let mut wanted = request(&format!("{n} {}", "heron ".repeat(300)), Mode::Loop, dir.path());
        wanted.agent.tools = vec!["read".into()];
        let run = service.start(StartRun { conversation: Some(talk), ..wanted }).await.unwrap();
        let events = finished(&service, run).await;
        compacted.push(kinds(&events).contains(&"context.compacted"));
        let summed_up = |event: &Event| matches!(&event.body, EventBody::ModelRequested { prompt, .. } if prompt.iter().any(|one| one.text.contains("[End of the summary]")));
        if compacted.iter().any(|yes| *yes) {
            assert!(events.iter().any(summed_up), "run {n} knows what was said before");
        }
    }
    let times = compacted.iter().filter(|yes| **yes).count();
    assert!((1..=4).contains(&times), "{compacted:?}");
    assert!(!compacted.windows(2).any(|two| two == [true, true]), "it is not done again in each run: {compacted:?}");
    service.shutdown().await;
}
