//! What is confidential stays in the house: a connection outside records all that it is sent, and sees none of it, whichever
//! way a run would take there.

use crate::engine::bed::{OTHER, connection, finished, kinds, request, service_with, store_of, untrusted};
use crate::engine::outcome;
use crate::engine::skilled::asking;
use serde_json::{Value, json};
use std::path::Path;
use steward_core::agent::Agent;
use steward_core::budget::Preset;
use steward_core::event::{Event, EventBody, Mode, Outcome};
use steward_core::governance::{Classification, Classified, DATA_RULES_SETTING};
use steward_core::model::{Capabilities, Connection, ModelErrorClass, Purpose};
use steward_core::ports::{Conversation, Role, Settings as _, User, Users as _};
use steward_core::{AgentId, ConnectionId, ConversationId, RunId, TenantId, Timestamp, UserId};
use steward_engine::{ForkRun, RunService, StartRun};
use steward_testkit::model_server::{Behaviour, Reply, Rule, Script, ScriptedModelServer};
use tempfile::TempDir;
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;
const ASKING: UserId = UserId(Uuid::from_u128(11));
/// The id of the connection that is asked first.
const OUTSIDE: ConnectionId = ConnectionId(Uuid::from_u128(5));
const SECRET: &str = "canary-93000-a-year";

struct House {
    dir: TempDir,
    _data: TempDir,
    outside: ScriptedModelServer,
    inside: ScriptedModelServer,
    service: RunService,
}

fn rule(role: &str, contains: &str, then: Behaviour) -> Rule {
    Rule { contains: contains.to_owned(), role: Some(role.to_owned()), times: None, then }
}

fn call(tool: &str, arguments: Value) -> Behaviour {
    Behaviour::calls([(tool, arguments)])
}

/// Both models do the same, whoever is asked.
fn script() -> Script {
    let copy = json!({"path": "notes/copy.md", "content": format!("Ann: {SECRET}")});
    let once = Rule { times: Some(1), ..rule("tool", "for the copy", call("write", copy)) };
    Script {
        rules: vec![
            once,
            rule("user", "Look at the pay", call("read", json!({"path": "hr/pay.csv"}))),
            rule("user", "Look at the copy", call("read", json!({"path": "notes/copy.md"}))),
            rule("user", "Look at the shop", call("read", json!({"path": "shop.csv"}))),
            rule("user", "Have it copied", call("read", json!({"path": "hr/pay.csv"}))),
            rule("user", "Look at the note", call("notes_read", json!({"title": "pay"}))),
            rule("user", "Let the helper look", call("ask_helper", json!({"task": "Look at the pay"}))),
            rule("tool", SECRET, Behaviour::text(format!("Ann gets {SECRET}."))),
        ],
        otherwise: Some(Behaviour::text("Fine.")),
        ..Script::default()
    }
}

async fn house(action: &str) -> House {
    house_of(action, 32_768, script(), script()).await
}

async fn house_of(action: &str, window: u32, outside: Script, inside: Script) -> House {
    let (dir, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(dir.path().join("hr")).unwrap();
    std::fs::create_dir(dir.path().join("notes")).unwrap();
    std::fs::write(dir.path().join("hr/pay.csv"), format!("name,pay\nAnn,{SECRET}\n")).unwrap();
    std::fs::write(dir.path().join("shop.csv"), "item,price\ntea,3\n").unwrap();
    let outside = ScriptedModelServer::start(outside).await.unwrap();
    let inside = ScriptedModelServer::start(inside).await.unwrap();
    let capabilities = Capabilities { window, ..untrusted() };
    let remote = Connection { in_house: Some(false), ..connection(&outside, capabilities.clone()) };
    let local = Connection { id: OTHER, name: "local".into(), ..connection(&inside, capabilities) };
    let (service, store) = service_with(data.path(), vec![remote, local]).await;
    let rules = json!({
        "version": 1,
        "labels": [{"name": "people", "classification": "confidential", "paths": ["hr/**"], "marks": ["VERTRAULICH"]},
            {"name": "accounts", "classification": "restricted", "personal": ["iban"]}],
        "policies": [{"name": "stays here", "from": "confidential", "action": action}],
    });
    store.set_setting(TENANT, DATA_RULES_SETTING, &rules).await.unwrap();
    let ann = User::new(ASKING, "ann@example.org", "Ann", Role::Operator, Timestamp(0));
    store.create_user(TENANT, &ann).await.unwrap();
    House { dir, _data: data, outside, inside, service }
}

impl House {
    /// An agent of the connection outside, with the one in the house to fall back to.
    fn ask(&self, input: &str) -> StartRun {
        let mut wanted = request(input, Mode::Loop, self.dir.path());
        wanted.user = Some(ASKING);
        wanted.agent.connection = Some(OUTSIDE);
        wanted.agent.routing.fallback_chain = vec![OTHER];
        wanted.agent.policy.write = steward_core::policy::Decision::Allow;
        wanted
    }

    async fn run(&self, wanted: StartRun) -> (RunId, Vec<Event>) {
        let run = self.service.start(wanted).await.unwrap();
        (run, finished(&self.service, run).await)
    }

    /// How many requests each has had; the one outside has never seen the secret.
    fn asked(&self) -> (usize, usize) {
        for one in self.outside.requests() {
            assert!(!one.body.to_string().contains(SECRET), "sent outside: {}", one.body);
        }
        (self.outside.chats().len(), self.inside.chats().len())
    }
}

fn classified(events: &[Event]) -> Option<&Classified> {
    events.iter().find_map(|event| match &event.body {
        EventBody::DataClassified { classified } => Some(classified),
        EventBody::RunStarted { setup, .. } => setup.classified.as_ref(),
        _ => None,
    })
}

fn agent(name: &str, id: u128) -> Agent {
    Agent { id: AgentId(Uuid::from_u128(id)), name: name.to_owned(), ..request("x", Mode::Loop, Path::new("/")).agent }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_goes_on_in_the_house() {
    let house = house("local_only").await;
    let (_, events) = house.run(house.ask("Look at the shop")).await;
    assert_eq!((classified(&events), house.asked()), (None, (2, 0)));
    let (_, events) = house.run(house.ask("Look at the pay")).await;
    assert_eq!(outcome(&events), (Outcome::Completed, format!("Ann gets {SECRET}.")));
    let seen = classified(&events).unwrap();
    assert_eq!((seen.classification, seen.source.as_str()), (Classification::Confidential, "hr/pay.csv"));
    let kinds = kinds(&events);
    let at = |kind| kinds.iter().position(|one| *one == kind).unwrap();
    assert_eq!(at("data.classified") + 1, at("tool.result"), "both or neither");
    assert_eq!(house.asked(), (3, 1), "the first question has nothing confidential in it");
    // A mark in the request itself, or an account: not even that is sent outside.
    house.run(house.ask("VERTRAULICH: who left?")).await;
    let (_, events) = house.run(house.ask("Whose is DE89 3704 0044 0532 0130 00?")).await;
    assert_eq!(classified(&events).map(|seen| seen.classification), Some(Classification::Restricted));
    assert_eq!(house.asked(), (3, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_connection_in_the_house_the_run_ends() {
    for action in ["local_only", "block"] {
        let house = house(action).await;
        let mut wanted = house.ask("Look at the pay");
        if action == "local_only" {
            wanted.agent.routing.fallback_chain.clear();
        }
        let (_, events) = house.run(wanted).await;
        let Some(EventBody::ModelFailed { error, .. }) =
            events.iter().map(|event| &event.body).find(|body| matches!(body, EventBody::ModelFailed { .. }))
        else {
            panic!("{:?}", kinds(&events))
        };
        assert_eq!(error.class, ModelErrorClass::BlockedByPolicy);
        assert!(error.message.contains("stays here") && error.message.contains("hr/pay.csv"), "{error}");
        assert!(!matches!(outcome(&events).0, Outcome::Completed), "{:?}", outcome(&events));
        assert_eq!(house.asked(), (1, 0), "{action}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_and_its_forks_stay_in_the_house() {
    let house = house("local_only").await;
    let deps = house.service.deps();
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
    store_of(&house.service).create_conversation(TENANT, &header).await.unwrap();
    let said = |input: &str| StartRun { conversation: Some(id), ..house.ask(input) };
    let (first, events) = house.run(said("Look at the pay")).await;
    assert_eq!(house.asked(), (1, 1));
    let (_, later) = house.run(said("And what was that?")).await;
    assert_eq!(classified(&later).map(|seen| seen.source.as_str()), Some("hr/pay.csv"));
    assert_eq!(house.asked(), (1, 2), "the history has it");
    let copy = Conversation { id: ConversationId(Uuid::from_u128(12)), forked_from: Some(id), ..header };
    store_of(&house.service).fork_conversation(TENANT, id, None, &copy).await.unwrap();
    house.run(StartRun { conversation: Some(copy.id), ..house.ask("Once more?") }).await;
    assert_eq!(house.asked(), (1, 3));
    // From the second question on, after the file was read.
    let point = house.service.forkable(first).await.unwrap();
    let seq = point.iter().map(|point| point.seq).max();
    assert!(seq > Some(events[0].seq), "{point:?}");
    let fork = ForkRun { run: first, seq, start: house.ask("") };
    let fork = house.service.fork(fork).await.unwrap();
    finished(&house.service, fork).await;
    house.asked();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_agent_saw_stays_in_the_house_too() {
    let house = house("local_only").await;
    let asking = asking(&house.service, &[("a", "helper")]);
    let mut helper = agent("helper", 60);
    helper.connection = Some(OUTSIDE);
    helper.routing.fallback_chain = vec![OTHER];
    store_of(&asking).save_agent(TENANT, &helper).await.unwrap();
    let run = asking.start(house.ask("Let the helper look")).await.unwrap();
    let events = finished(&asking, run).await;
    assert!(outcome(&events).1.contains(SECRET), "{:?}", outcome(&events));
    // Outside: the first question of each. In the house: what followed the file, for the helper and for who asked it.
    assert_eq!(house.asked(), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_wrote_is_as_confidential_as_what_it_saw() {
    let house = house("local_only").await;
    let file = house.dir.path().join("hr/pay.csv");
    std::fs::write(file, format!("name,pay for the copy\nAnn,{SECRET}\n")).unwrap();
    let (_, events) = house.run(house.ask("Have it copied")).await;
    assert!(house.dir.path().join("notes/copy.md").exists(), "{:?}", kinds(&events));
    let before = house.asked();
    let (_, events) = house.run(house.ask("Look at the copy")).await;
    let seen = classified(&events).unwrap();
    assert!(seen.source.starts_with("notes/copy.md"), "{seen:?}");
    let after = house.asked();
    assert_eq!((after.0 - before.0, after.1 - before.1), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_notes_is_as_confidential_as_what_it_saw() {
    let note = call("notes_create", json!({"title": "pay", "text": format!("Ann: {SECRET}")}));
    let remember = call("save_memory", json!({"text": format!("Ann gets {SECRET}.")}));
    let inside = |then: [Behaviour; 2]| {
        let [one, two] = then;
        let mut script = script();
        script.rules.insert(0, Rule { times: Some(1), ..rule("tool", SECRET, one) });
        script.rules.insert(1, Rule { times: Some(1), ..rule("tool", SECRET, two) });
        script
    };
    let house = house_of("local_only", 32_768, script(), inside([note, Behaviour::text("Noted.")])).await;
    let (_, events) = house.run(house.ask("Look at the pay")).await;
    assert_eq!(outcome(&events).1, "Noted.", "{:?}", kinds(&events));
    let before = house.asked();
    let (_, events) = house.run(house.ask("Look at the note")).await;
    assert_eq!(classified(&events).map(|seen| seen.source.as_str()), Some("hr/pay.csv"));
    let after = house.asked();
    assert_eq!((after.0 - before.0, after.1 - before.1), (1, 1), "{:?}", kinds(&events));

    // What it remembers is part of each of its runs.
    let house = house_of("local_only", 32_768, script(), inside([remember, Behaviour::text("Remembered.")])).await;
    house.run(house.ask("Look at the pay")).await;
    let (_, events) = house.run(house.ask("Who are you?")).await;
    assert_eq!(classified(&events).map(|seen| seen.source.as_str()), Some("hr/pay.csv"));
    assert_eq!(house.asked().0, 1, "{:?}", kinds(&events));
}

#[tokio::test(flavor = "multi_thread")]
async fn summaries_are_made_in_the_house() {
    let read = |n: usize| call("read", json!({"path": format!("hr/{n}.txt")}));
    let inside = Script::of((1..6).map(read).chain([Behaviour::text("All are of herons.")]));
    let inside = inside.when("[called read", Behaviour::text("SUMMARY: herons, so far"));
    let house = house_of("local_only", 4096, Script::of([read(0)]), inside).await;
    for n in 0..6 {
        let text = format!("{n} {SECRET} {}", "heron ".repeat(400));
        std::fs::write(house.dir.path().join(format!("hr/{n}.txt")), text).unwrap();
    }
    let mut wanted = house.ask("What are the files about?");
    wanted.agent.tools = vec!["read".into()];
    wanted.agent.budget = Preset::Plan;
    let (_, events) = house.run(wanted).await;
    let summed_up =
        events.iter().any(|event| matches!(&event.body, EventBody::ModelRequested { purpose: Purpose::Compact, .. }));
    assert!(summed_up, "{:?}", kinds(&events));
    assert_eq!(house.asked().0, 1);
}

/// What must not be seen outside, in whatever a run sends there.
const MAIL: &str = "ann.lee@example.org";

#[tokio::test(flavor = "multi_thread")]
async fn models_outside_see_tokens_for_personal_data() {
    let people = format!("name,pay,mail\nAnn,93000,{MAIL}\n");
    let write = call("write", json!({"path": "notes/to.md", "content": "To: [email-1]"}));
    let outside = Script {
        rules: vec![
            Rule { times: Some(1), ..rule("tool", "[email-1]", write) },
            rule("tool", "", Behaviour::Reply(Reply::text("I wrote to [email-1] and not to [email-9].").pieces(3, 0))),
            rule("user", "Look at the pay", call("read", json!({"path": "hr/pay.csv"}))),
        ],
        otherwise: Some(Behaviour::text("Known: [email-1].")),
        ..Script::default()
    };
    let house = house_of("mask", 32_768, outside, script()).await;
    std::fs::write(house.dir.path().join("hr/pay.csv"), &people).unwrap();
    let (_, events) = house.run(house.ask("Look at the pay")).await;
    let (end, answer) = outcome(&events);
    assert_eq!(
        (end, answer.as_str()),
        (Outcome::Completed, format!("I wrote to {MAIL} and not to [email-9].").as_str())
    );
    let written = std::fs::read_to_string(house.dir.path().join("notes/to.md")).unwrap();
    assert_eq!(written, format!("To: {MAIL}"), "the tool got the real one");
    assert_eq!((house.outside.chats().len(), house.inside.chats().len()), (3, 0));
    for one in house.outside.requests() {
        assert!(!one.body.to_string().contains(MAIL), "sent outside: {}", one.body);
    }
    let masked: Vec<_> = events.iter().filter(|event| matches!(event.body, EventBody::DataMasked { .. })).collect();
    assert_eq!(masked.len(), 2, "the first question had nothing confidential in it: {:?}", kinds(&events));
    let deltas = events.iter().any(|event| serde_json::to_string(event).unwrap().contains("[email-1]"));
    assert!(!deltas, "tokens are for the model only");
    let shown = events.iter().filter_map(|event| match &event.body {
        EventBody::ModelDelta { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(shown.collect::<String>(), answer, "also in pieces");
    // Whoever is asked in the house sees what it is about.
    let mut wanted = house.ask("Look at the pay");
    wanted.agent.connection = Some(OTHER);
    let (_, events) = house.run(wanted).await;
    assert!(house.inside.requests().iter().any(|one| one.body.to_string().contains(MAIL)), "{:?}", kinds(&events));
    assert!(!events.iter().any(|event| matches!(event.body, EventBody::DataMasked { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn fallbacks_see_what_they_may() {
    let mut gone = script();
    gone.rules.insert(0, rule("tool", "", Behaviour::server_error(503)));
    let house = house_of("mask", 32_768, gone, script()).await;
    let person = format!("name,pay,mail\nAnn,{SECRET},{MAIL}\n");
    std::fs::write(house.dir.path().join("hr/pay.csv"), person).unwrap();
    let (_, events) = house.run(house.ask("Look at the pay")).await;
    assert_eq!(outcome(&events), (Outcome::Completed, format!("Ann gets {SECRET}.")));
    assert!(house.outside.requests().iter().all(|one| !one.body.to_string().contains(MAIL)));
    assert!(house.inside.requests().iter().any(|one| one.body.to_string().contains(MAIL)));
    let masked = events.iter().any(|event| matches!(event.body, EventBody::DataMasked { .. }));
    assert!(masked, "{:?}", kinds(&events));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_to_the_outside_are_refused_once_it_was_seen() {
    let fetch = call("web_fetch", json!({"url": "https://example.org/?q=pay"}));
    let look = call("read", json!({"path": "hr/pay.csv"}));
    let outside = Script::of([look, fetch, Behaviour::text("I may not.")]);
    let house = house_of("deny_outside", 32_768, outside, script()).await;
    let mut wanted = house.ask("Look it up");
    wanted.agent.policy.external = steward_core::policy::Decision::Allow;
    let (_, events) = house.run(wanted).await;
    let refused = events.iter().any(|event| {
        matches!(&event.body, EventBody::ToolRejected { tool, message, .. } if tool == "web_fetch" && message.contains("stays here"))
    });
    assert!(refused, "{:?}", kinds(&events));
}
