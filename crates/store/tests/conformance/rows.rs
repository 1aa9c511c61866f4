use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, append, id, row, started, text};
use serde_json::json;
use steward_core::agent::{Agent, KeptFor, Tuning};
use steward_core::budget::Preset;
use steward_core::governance::{Classification, Classified};
use steward_core::model::{Auth, Capabilities, Connection, Provider};
use steward_core::policy::Policy;
use steward_core::ports::{
    Agents, Facts, Memory, Note, Reminder, Role, RunRow, RunStore, Settings, StoreError, User, Users,
};
use steward_core::provenance::Provenance;
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
        auto_link_uploads: false,
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

fn seen() -> Provenance {
    let (label, source) = ("people".to_owned(), "hr/pay.csv".to_owned());
    let level = Some(Classified { classification: Classification::Confidential, label, source });
    Provenance { level, ..Provenance::from_outside("https://example.org") }
}

pub async fn memory_is_versioned_for_each_owner(bed: Bed) {
    let store = bed.store();
    let (agent, user, other) = (AgentId(id()), KeptFor::User(UserId(id())), KeptFor::User(UserId(id())));
    let memory =
        |text: &str, version: u64| Memory { text: text.to_owned(), version, provenance: Provenance::default() };
    for of in [user, other, KeptFor::Everybody] {
        assert_eq!(store.memory(TENANT, agent, of).await.unwrap(), memory("", 0));
        store.save_memory(TENANT, agent, of, &memory(&format!("of {of:?}"), 0)).await.unwrap();
        for stale in [0, 2, 9] {
            let refused = store.save_memory(TENANT, agent, of, &memory("lost", stale)).await;
            assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
        }
    }
    let confidential = |memory: Memory| Memory { provenance: seen(), ..memory };
    store.save_memory(TENANT, agent, user, &confidential(memory("likes mate", 1))).await.unwrap();
    assert_eq!(store.memory(TENANT, agent, user).await.unwrap(), confidential(memory("likes mate", 2)));
    for of in [other, KeptFor::Everybody] {
        assert_eq!(store.memory(TENANT, agent, of).await.unwrap(), memory(&format!("of {of:?}"), 1));
    }
}

pub async fn database_docs_are_versioned_for_each_owner(bed: Bed) {
    let store = bed.store();
    let (agent, user, other) = (AgentId(id()), KeptFor::User(UserId(id())), KeptFor::User(UserId(id())));
    let doc = |text: &str, version: u64| Memory { text: text.to_owned(), version, provenance: Provenance::default() };
    for of in [KeptFor::Everybody, user, other] {
        assert_eq!(store.database_doc(TENANT, agent, of).await.unwrap(), doc("", 0));
        store.save_database_doc(TENANT, agent, of, &doc(&format!("of {of:?}"), 0)).await.unwrap();
        for stale in [0, 2] {
            let refused = store.save_database_doc(TENANT, agent, of, &doc("lost", stale)).await;
            assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
        }
    }
    let confidential = Memory { provenance: seen(), ..doc("again", 1) };
    store.save_database_doc(TENANT, agent, user, &confidential).await.unwrap();
    let now = Memory { version: 2, ..confidential };
    assert_eq!(store.database_docs_of(TENANT, user).await.unwrap(), [(agent, now)]);
    assert_eq!(store.database_doc(TENANT, agent, other).await.unwrap().version, 1);
    assert_eq!(store.database_doc(TENANT, agent, KeptFor::Everybody).await.unwrap().version, 1);
}

pub async fn notes_and_reminders(bed: Bed) {
    let store = bed.store();
    let (agent, other) = (AgentId(id()), AgentId(id()));
    let (mine, theirs) = (KeptFor::User(UserId(id())), KeptFor::User(UserId(id())));
    let note = |title: &str, text: &str| Note {
        title: title.to_owned(),
        text: text.to_owned(),
        updated_at: NOW,
        provenance: seen(),
    };
    assert_eq!(store.save_note(TENANT, agent, mine, &note("b", "1")).await.unwrap(), None);
    store.save_note(TENANT, agent, mine, &note("a", "2")).await.unwrap();
    let before = store.save_note(TENANT, agent, mine, &note("b", "3")).await.unwrap();
    assert_eq!(before, Some(note("b", "1")));
    assert_eq!(store.notes(TENANT, agent, mine).await.unwrap(), [note("a", "2"), note("b", "3")]);
    assert!(store.notes(TENANT, other, mine).await.unwrap().is_empty());
    for of in [theirs, KeptFor::Everybody] {
        assert!(store.notes(TENANT, agent, of).await.unwrap().is_empty());
        let missing = store.remove_note(TENANT, agent, of, "a").await;
        assert!(matches!(missing, Err(StoreError::NotFound(_))));
        assert_eq!(store.save_note(TENANT, agent, of, &note("a", "theirs")).await.unwrap(), None);
    }
    store.remove_note(TENANT, agent, mine, "a").await.unwrap();
    let gone = store.remove_note(TENANT, agent, mine, "a").await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))));
    assert_eq!(store.notes_of(TENANT, mine).await.unwrap(), [(agent, note("b", "3"))]);
    assert_eq!(store.notes(TENANT, agent, theirs).await.unwrap(), [note("a", "theirs")]);

    let provenance = Provenance::default();
    let reminder = |id: &str, at, done| Reminder {
        id: id.to_owned(),
        at,
        text: "call".to_owned(),
        done,
        provenance: provenance.clone(),
    };
    let (late, early) = (reminder("k1", LATER, false), reminder("k2", NOW, true));
    store.save_reminder(TENANT, agent, mine, &late).await.unwrap();
    store.save_reminder(TENANT, agent, mine, &early).await.unwrap();
    assert_eq!(store.reminders(TENANT, agent, mine).await.unwrap(), [early.clone(), late.clone()]);
    assert!(store.reminders(TENANT, agent, theirs).await.unwrap().is_empty());
    let done = reminder("k1", LATER, true);
    store.save_reminder(TENANT, agent, mine, &done).await.unwrap();
    let missing = store.remove_reminder(TENANT, agent, theirs, "k2").await;
    assert!(matches!(missing, Err(StoreError::NotFound(_))));
    store.remove_reminder(TENANT, agent, mine, "k2").await.unwrap();
    assert_eq!(store.reminders(TENANT, agent, mine).await.unwrap(), std::slice::from_ref(&done));
    let gone = store.remove_reminder(TENANT, agent, mine, "k2").await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))));
    let elsewhere = Reminder { provenance: seen(), ..reminder("k1", NOW, false) };
    store.save_reminder(TENANT, other, mine, &elsewhere).await.unwrap();
    assert_eq!(store.reminders_of(TENANT, mine).await.unwrap(), [(other, elsewhere), (agent, done)]);
    assert!(store.reminders_of(TENANT, theirs).await.unwrap().is_empty());
    // Saved again, it is there again.
    store.save_reminder(TENANT, agent, mine, &early).await.unwrap();
    assert_eq!(store.reminders(TENANT, agent, mine).await.unwrap().len(), 2);
}

pub async fn what_is_kept_goes_with_its_user(bed: Bed) {
    let store = bed.store();
    let agent = AgentId(id());
    let (ann, bob) = (UserId(id()), UserId(id()));
    let text = Memory { text: "likes tea".to_owned(), ..Memory::default() };
    let note = Note { title: "n".into(), text: "t".into(), updated_at: NOW, provenance: Provenance::default() };
    let reminder =
        Reminder { id: "k".into(), at: NOW, text: "t".into(), done: false, provenance: Provenance::default() };
    let all = [KeptFor::User(ann), KeptFor::User(bob), KeptFor::Everybody];
    for of in all {
        store.save_memory(TENANT, agent, of, &text).await.unwrap();
        store.save_database_doc(TENANT, agent, of, &text).await.unwrap();
        store.save_note(TENANT, agent, of, &note).await.unwrap();
        store.save_reminder(TENANT, agent, of, &reminder).await.unwrap();
    }
    assert_eq!(store.delete_kept_of(TENANT, ann).await.unwrap(), 4);
    let known = User::new(bob, "bob@example.org", "Bob", Role::Developer, NOW);
    store.create_user(TENANT, &User { disabled_at: Some(NOW), ..known }).await.unwrap();
    store.remove_user(TENANT, bob).await.unwrap();
    for (of, count) in all.into_iter().zip([0, 0, 1]) {
        assert_eq!(store.memories_of(TENANT, of).await.unwrap().len(), count, "{of:?}");
        assert_eq!(store.database_docs_of(TENANT, of).await.unwrap().len(), count, "{of:?}");
        assert_eq!(store.notes_of(TENANT, of).await.unwrap().len(), count, "{of:?}");
        assert_eq!(store.reminders_of(TENANT, of).await.unwrap().len(), count, "{of:?}");
    }
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
    store
        .save_memory(
            TENANT,
            AgentId(id()),
            KeptFor::Everybody,
            &Memory { text: "a\0b".to_owned(), ..Memory::default() },
        )
        .await
        .unwrap();
}
