use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, append, id, row, started, text};
use serde_json::json;
use steward_core::agent::{Agent, Tuning};
use steward_core::budget::Preset;
use steward_core::governance::{Classification, Classified};
use steward_core::model::{Auth, Capabilities, Connection, Provider};
use steward_core::policy::Policy;
use steward_core::ports::{Agents, Facts, Memory, Note, Reminder, RunRow, RunStore, Settings, StoreError};
use steward_core::{AgentId, ConnectionId, TenantId, UserId};
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

pub fn agent(name: &str) -> Agent {
    Agent {
        id: AgentId(id()),
        name: name.to_owned(),
        instructions: "Be brief.".to_owned(),
        tools: vec!["list".to_owned()],
        connection: None,
        policy: Policy::default(),
        budget: Preset::default(),
        tuning: Tuning::default(),
        deep: steward_core::agent::Deep::default(),
        own_data: steward_core::agent::OwnData::default(),
        routing: steward_core::routing::Routing::default(),
        credentials: std::collections::BTreeMap::new(),
        metadata: serde_json::Map::new(),
        skills: Vec::new(),
    }
}

pub async fn agents_have_unique_names(bed: Bed) {
    let store = bed.store();
    let (zoe, adam) = (agent("zoe"), agent("Adam"));
    store.save_agent(TENANT, &zoe).await.unwrap();
    store.save_agent(TENANT, &adam).await.unwrap();
    assert_eq!(store.agents(TENANT).await.unwrap(), [adam.clone(), zoe.clone()]);
    let taken = store.save_agent(TENANT, &agent("zoe")).await;
    assert!(matches!(&taken, Err(StoreError::Conflict(text)) if text.contains("zoe")), "{taken:?}");
    store.save_agent(OTHER, &agent("zoe")).await.unwrap();
    let renamed = Agent { name: "zoë".to_owned(), ..zoe.clone() };
    store.save_agent(TENANT, &renamed).await.unwrap();
    assert_eq!(store.agent(TENANT, zoe.id).await.unwrap(), renamed);
    assert_eq!(store.agent_by_name(TENANT, "zoe").await.unwrap(), None);
    assert_eq!(store.agent_by_name(TENANT, "zoë").await.unwrap(), Some(renamed));
    let unknown = store.agent(TENANT, AgentId(id())).await;
    assert!(matches!(unknown, Err(StoreError::NotFound(_))));
}

pub async fn agents_are_deleted_and_restored(bed: Bed) {
    let store = bed.store();
    let (zoe, adam) = (agent("zoe"), agent("adam"));
    for agent in [&zoe, &adam] {
        store.save_agent(TENANT, agent).await.unwrap();
    }
    store.delete_agent(TENANT, zoe.id, NOW).await.unwrap();
    assert_eq!(store.agents(TENANT).await.unwrap(), std::slice::from_ref(&adam));
    assert_eq!(store.agent_by_name(TENANT, "zoe").await.unwrap(), None);
    for gone in [
        store.agent(TENANT, zoe.id).await.map(drop),
        store.delete_agent(TENANT, zoe.id, NOW).await,
        store.delete_agent(OTHER, adam.id, NOW).await,
        store.restore_agent(TENANT, AgentId(id())).await.map(drop),
    ] {
        assert!(matches!(gone, Err(StoreError::NotFound(_))), "{gone:?}");
    }
    let changed = store.save_agent(TENANT, &zoe).await;
    assert!(matches!(&changed, Err(StoreError::Conflict(text)) if text.contains("restore")), "{changed:?}");
    // Its name is free, and in the way once it is used.
    let second = agent("zoe");
    store.save_agent(TENANT, &second).await.unwrap();
    let refused = store.restore_agent(TENANT, zoe.id).await;
    assert!(matches!(&refused, Err(StoreError::Conflict(text)) if text.contains("zoe")), "{refused:?}");
    store.delete_agent(TENANT, second.id, LATER).await.unwrap();
    for _ in 0..2 {
        assert_eq!(store.restore_agent(TENANT, zoe.id).await.unwrap(), zoe);
    }
    assert_eq!(store.agents(TENANT).await.unwrap(), [adam, zoe.clone()]);
    assert_eq!(store.agent_by_name(TENANT, "zoe").await.unwrap(), Some(zoe));
}

pub async fn settings_are_replaced(bed: Bed) {
    let store = bed.store();
    assert_eq!(store.setting(TENANT, "theme").await.unwrap(), None);
    for value in [json!({"a": [1, null, "ü"]}), json!(null), json!("dark")] {
        store.set_setting(TENANT, "theme", &value).await.unwrap();
        assert_eq!(store.setting(TENANT, "theme").await.unwrap(), Some(value));
    }
    assert_eq!(store.setting(OTHER, "theme").await.unwrap(), None);
}

pub async fn connections_have_unique_names(bed: Bed) {
    let store = bed.store();
    let connection = |name: &str| Connection {
        id: ConnectionId(id()),
        name: name.to_owned(),
        provider: Provider::Compatible,
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        model: "m".to_owned(),
        auth: Auth::None,
        capabilities: Capabilities::default(),
        price: None,
        weight: 1,
        in_house: None,
        by_hand: Vec::new(),
        wire: None,
    };
    let (two, one) = (connection("two"), connection("one"));
    store.save_connection(TENANT, &two).await.unwrap();
    store.save_connection(TENANT, &one).await.unwrap();
    assert_eq!(store.connections(TENANT).await.unwrap(), [one.clone(), two.clone()]);
    let taken = store.save_connection(TENANT, &connection("one")).await;
    assert!(matches!(taken, Err(StoreError::Conflict(_))), "{taken:?}");
    let moved = Connection { model: "n".to_owned(), ..one.clone() };
    store.save_connection(TENANT, &moved).await.unwrap();
    store.remove_connection(TENANT, two.id).await.unwrap();
    assert_eq!(store.connections(TENANT).await.unwrap(), [moved]);
    let gone = store.remove_connection(TENANT, two.id).await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))));
}

fn seen() -> Classified {
    Classified { classification: Classification::Confidential, label: "people".into(), source: "hr/pay.csv".into() }
}

pub async fn memory_is_versioned(bed: Bed) {
    let store = bed.store();
    let agent = AgentId(id());
    let memory = |text: &str, version: u64| Memory { text: text.to_owned(), version, classified: None };
    assert_eq!(store.memory(TENANT, agent).await.unwrap(), memory("", 0));
    store.save_memory(TENANT, agent, &memory("likes tea", 0)).await.unwrap();
    assert_eq!(store.memory(TENANT, agent).await.unwrap(), memory("likes tea", 1));
    for stale in [0, 2, 9] {
        let refused = store.save_memory(TENANT, agent, &memory("lost", stale)).await;
        assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    }
    let confidential = |memory: Memory| Memory { classified: Some(seen()), ..memory };
    store.save_memory(TENANT, agent, &confidential(memory("likes mate", 1))).await.unwrap();
    assert_eq!(store.memory(TENANT, agent).await.unwrap(), confidential(memory("likes mate", 2)));
}

pub async fn database_docs_are_versioned_for_each_owner(bed: Bed) {
    let store = bed.store();
    let (agent, user, other) = (AgentId(id()), UserId(id()), UserId(id()));
    let doc = |text: &str, version: u64| Memory { text: text.to_owned(), version, classified: None };
    for owner in [None, Some(user), Some(other)] {
        assert_eq!(store.database_doc(TENANT, agent, owner).await.unwrap(), doc("", 0));
        store.save_database_doc(TENANT, agent, owner, &doc(&format!("of {owner:?}"), 0)).await.unwrap();
        for stale in [0, 2] {
            let refused = store.save_database_doc(TENANT, agent, owner, &doc("lost", stale)).await;
            assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
        }
    }
    let confidential = Memory { classified: Some(seen()), ..doc("again", 1) };
    store.save_database_doc(TENANT, agent, Some(user), &confidential).await.unwrap();
    let now = Memory { version: 2, ..confidential };
    assert_eq!(store.database_docs_of(TENANT, user).await.unwrap(), [(agent, now)]);
    assert_eq!(store.delete_database_docs_of(TENANT, user).await.unwrap(), 1);
    assert_eq!(store.database_docs_of(TENANT, user).await.unwrap(), []);
    assert_eq!(store.database_doc(TENANT, agent, Some(other)).await.unwrap().version, 1);
    assert_eq!(store.database_doc(TENANT, agent, None).await.unwrap().version, 1);
}

pub async fn notes_and_reminders(bed: Bed) {
    let store = bed.store();
    let (agent, other) = (AgentId(id()), AgentId(id()));
    let note = |title: &str, text: &str| Note {
        title: title.to_owned(),
        text: text.to_owned(),
        updated_at: NOW,
        classified: Some(seen()),
    };
    assert_eq!(store.save_note(TENANT, agent, &note("b", "1")).await.unwrap(), None);
    store.save_note(TENANT, agent, &note("a", "2")).await.unwrap();
    let before = store.save_note(TENANT, agent, &note("b", "3")).await.unwrap();
    assert_eq!(before, Some(note("b", "1")));
    assert_eq!(store.notes(TENANT, agent).await.unwrap(), [note("a", "2"), note("b", "3")]);
    assert!(store.notes(TENANT, other).await.unwrap().is_empty());
    store.remove_note(TENANT, agent, "a").await.unwrap();
    let gone = store.remove_note(TENANT, agent, "a").await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))));
    assert_eq!(store.notes(TENANT, agent).await.unwrap(), [note("b", "3")]);

    let reminder =
        |id: &str, at, done| Reminder { id: id.to_owned(), at, text: "call".to_owned(), done, classified: None };
    let (late, early) = (reminder("k1", LATER, false), reminder("k2", NOW, true));
    store.save_reminder(TENANT, agent, &late).await.unwrap();
    store.save_reminder(TENANT, agent, &early).await.unwrap();
    assert_eq!(store.reminders(TENANT, agent).await.unwrap(), [early.clone(), late.clone()]);
    let done = reminder("k1", LATER, true);
    store.save_reminder(TENANT, agent, &done).await.unwrap();
    store.remove_reminder(TENANT, agent, "k2").await.unwrap();
    assert_eq!(store.reminders(TENANT, agent).await.unwrap(), std::slice::from_ref(&done));
    let gone = store.remove_reminder(TENANT, agent, "k2").await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))));
    let theirs = reminder("k1", NOW, false);
    store.save_reminder(TENANT, other, &theirs).await.unwrap();
    assert_eq!(store.all_reminders(TENANT).await.unwrap(), [(other, theirs), (agent, done)]);
    // What was removed is only marked: saved again, it is there again.
    store.save_reminder(TENANT, agent, &early).await.unwrap();
    assert_eq!(store.reminders(TENANT, agent).await.unwrap().len(), 2);
}

pub async fn odd_text_comes_back(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let odd = "'; drop table runs; -- \u{1F600} \\ \" $1 ?1 %s\r\n\t\u{7f}";
    store.commit(append(&lease, 1, vec![text(odd), text("nul \0 inside")], vec![])).await.unwrap();
    let read = crate::conformance::fixtures::texts(&store, &lease).await;
    assert_eq!(read[1..], [odd, "nul \0 inside"]);
    let title = RunRow { title: odd.to_owned(), ..row() };
    let run = title.id;
    store.create_run(title, vec![text("x")], vec![], "a", LATER).await.unwrap();
    assert_eq!(store.run(TENANT, run).await.unwrap().title, odd);
    // PostgreSQL has no U+0000 in text; there it becomes a replacement character, not an error.
    store.save_memory(TENANT, AgentId(id()), &Memory { text: "a\0b".to_owned(), ..Memory::default() }).await.unwrap();
}
