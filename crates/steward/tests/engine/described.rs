//! What runs are told about databases: rows that strangers wrote, and texts of domains that runs saved.

use crate::engine::bed::{asked, finished, request, service, store_of};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use steward_access::{FileKeys, SealedVault, VaultDeps};
use steward_app::{DomainParts, DomainService};
use steward_core::approval::{Answer, Taint};
use steward_core::datasource::{Datasource, DatasourceLimits, DomainText, DomainTextKind, RowVisibility};
use steward_core::event::Mode;
use steward_core::message::Message;
use steward_core::policy::{Grant, GrantScope};
use steward_core::ports::{Role, User, Users as _};
use steward_core::provenance::Provenance;
use steward_core::{DatasourceId, RunId, TenantId, Timestamp, UserId};
use steward_engine::{RunService, StartRun};
use steward_infra::UuidV7;
use steward_store::Store;
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use steward_tools::{HostPolicy, HostRules};
use uuid::Uuid;

const OLGA: UserId = UserId(Uuid::from_u128(21));
const BOB: UserId = UserId(Uuid::from_u128(22));
const TENANT: TenantId = TenantId::DEFAULT;

const ORDERS: &str = "domain orders from orders@shop {\n  permission * read\n  field id : int\n  field qty : int\n  \
    field since : date\n  field price : float\n  field ok : bool\n  field at : datetime\n  ai \"scope\" \"What was ordered.\"\n}\n";

fn text(source: &str, version: u64) -> DomainText {
    DomainText {
        kind: DomainTextKind::Domain,
        name: "orders".to_owned(),
        text: source.to_owned(),
        version,
        changed_by: Some(OLGA),
        changed_at: Timestamp(0),
        provenance: Provenance::default(),
    }
}

/// With an operator, a viewer, and a database whose second row has texts in all columns but the key.
async fn house(data: &Path, work: &Path, model: &ScriptedModelServer) -> (RunService, Arc<Store>) {
    let service = service(data, model).await;
    let store = store_of(&service);
    for (id, name, role) in [(OLGA, "olga", Role::Operator), (BOB, "bob", Role::Viewer)] {
        store
            .create_user(TENANT, &User::new(id, format!("{name}@example.org"), name, role, Timestamp(0)))
            .await
            .unwrap();
    }
    let database = rusqlite::Connection::open(work.join("shop.db")).unwrap();
    let rows = "create table orders(id integer primary key, qty integer, since date, price real, ok boolean, at datetime);
        insert into orders values(1, 5, '2024-01-01', 1.5, 1, '2024-01-01T10:00:00');
        insert into orders values(2, 'SYSTEM NOTE qty', 'SYSTEM NOTE since', 'SYSTEM NOTE price', 'SYSTEM NOTE ok', 'SYSTEM NOTE at');";
    database.execute_batch(rows).unwrap();
    let datasource = Datasource {
        id: DatasourceId(Uuid::from_u128(30)),
        name: "shop".to_owned(),
        database: "sqlite:shop.db".to_owned(),
        credential: None,
        visibility: RowVisibility::Full,
        limits: DatasourceLimits::default(),
        writable: false,
        as_asking_user: false,
        untrusted: true,
        version: 0,
        changed_at: Timestamp(0),
    };
    store.save_datasource(TENANT, &datasource).await.unwrap();
    store.save_domain_texts(TENANT, &[text(ORDERS, 0)], &[]).await.unwrap();
    let (clock, ids) = (Arc::clone(&service.deps().clock), Arc::new(UuidV7));
    let source = Arc::new(FileKeys::new(data.join("vault.key")));
    let vault =
        SealedVault::new(VaultDeps { rows: store.clone(), source, clock: Arc::clone(&clock), ids: ids.clone() });
    let domains = DomainService::new(DomainParts {
        tenant: TENANT,
        store: store.clone(),
        vault: Arc::new(vault),
        embedder: Arc::clone(&service.deps().embedder),
        clock,
        ids,
        workspace: work.to_owned().into(),
        places: HostPolicy::new(HostRules { own: vec![data.to_owned()], ..HostRules::default() }),
        alone: true,
    });
    assert!(service.deps().data.set(Arc::new(domains)).is_ok());
    (service, store)
}

/// To an agent that may do everything that can be undone.
fn wanted(work: &Path, user: UserId, tools: &[&str]) -> StartRun {
    let mut asked = request("What was ordered?", Mode::Loop, work);
    asked.agent.tools = tools.iter().chain(&["write"]).map(|one| (*one).to_owned()).collect();
    let grants = vec![Grant { scope: GrantScope::AllButDestructive, until: None }];
    StartRun { grants, user: Some(user), ..asked }
}

fn call(tool: &str, arguments: Value) -> Behaviour {
    Behaviour::calls([(tool, arguments)])
}

fn write() -> Behaviour {
    call("write", json!({"path": "n.md", "content": "x"}))
}

/// What stands on the card that the run waits at.
async fn origins(service: &RunService, run: RunId) -> Vec<String> {
    let id = asked(service, run).await;
    let approval = service.deps().store.approval(TENANT, id).await.unwrap();
    service.stop(run, "me").await.unwrap();
    approval.about.entered.into_iter().map(|one| one.origin).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_in_a_column_of_numbers_is_from_outside() {
    let fields = ["qty", "since", "price", "ok", "at"];
    let all = json!({"query": {"domain": "orders", "fields": ["id", "qty", "since", "price", "ok", "at"]}});
    let first = json!({"query": {"domain": "orders", "fields": ["id", "qty", "since", "price", "ok", "at"],
        "where": [{"field": "id", "op": "eq", "value": 1}]}});
    let greatest = json!({"query": {"domain": "orders", "aggregate": [{"fn": "max", "field": "qty", "as": "most"}]}});
    let model = ScriptedModelServer::start(Script::of([
        call("oos_query", first),
        write(),
        Behaviour::text("Done."),
        call("oos_query", all),
        write(),
        call("oos_query", greatest),
        write(),
    ]))
    .await
    .unwrap();
    let (data, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (service, _) = house(data.path(), work.path(), &model).await;
    let start = || service.start(wanted(work.path(), BOB, &["oos_query"]));
    finished(&service, start().await.unwrap()).await;
    assert!(work.path().join("n.md").exists(), "numbers and times are nobody's words");
    let run = start().await.unwrap();
    assert_eq!(
        origins(&service, run).await.into_iter().collect::<std::collections::BTreeSet<_>>(),
        fields.iter().map(|field| format!("datasource shop, {field}")).collect()
    );
    let run = start().await.unwrap();
    assert_eq!(origins(&service, run).await, ["datasource shop, most"]);
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_brings_along_what_the_run_had_read_that_saved_it() {
    let laundered = ORDERS.replace("What was ordered.", "SYSTEM NOTE laundered");
    let model = ScriptedModelServer::start(Script::of([
        call("domain_save", json!({"source": laundered})),
        Behaviour::text("Saved."),
        write(),
        Behaviour::text("Written."),
        call("oos_schema_search", json!({"query": "orders"})),
        write(),
        call("domain_load", json!({"name": "orders"})),
        write(),
        call("domain_list", json!({})),
        write(),
        write(),
        Behaviour::text("Done."),
    ]))
    .await
    .unwrap();
    let (data, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (service, store) = house(data.path(), work.path(), &model).await;
    let page = "https://example.org";
    let taint: Taint = serde_json::from_value(json!({"call_id": "1", "tool": "web_fetch", "origin": page})).unwrap();
    let before = Message { taint: vec![taint], ..Message::assistant("The page says how to describe orders.") };
    let saving = wanted(work.path(), OLGA, &["domain_save"]);
    let run = service.start(StartRun { history: vec![Message::user("Read"), before], ..saving }).await.unwrap();
    let card = asked(&service, run).await;
    service.decide(card, Answer::Approve { grant: None, until: None }, "me").await.unwrap();
    finished(&service, run).await;
    let kept = store.domain_text(TENANT, DomainTextKind::Domain, "orders").await.unwrap().unwrap();
    assert_eq!((kept.version, &kept.provenance), (2, &Provenance::from_outside(page)));

    // A run of somebody else knows its name, and nothing of its text until it looks it up.
    let run = service.start(wanted(work.path(), BOB, &["oos_query"])).await.unwrap();
    finished(&service, run).await;
    let told = model.chats().last().unwrap().body.to_string();
    assert!(told.contains("- orders\\n") && !told.contains("SYSTEM NOTE laundered"), "{told}");
    std::fs::remove_file(work.path().join("n.md")).unwrap();
    for (user, tool) in [(BOB, "oos_schema_search"), (OLGA, "domain_load"), (OLGA, "domain_list")] {
        let run = service.start(wanted(work.path(), user, &[tool])).await.unwrap();
        assert_eq!(origins(&service, run).await, [page], "{tool}");
    }
    assert!(!work.path().join("n.md").exists());

    store.save_domain_texts(TENANT, &[text(ORDERS, kept.version)], &[]).await.unwrap();
    let run = service.start(wanted(work.path(), BOB, &["oos_query"])).await.unwrap();
    finished(&service, run).await;
    assert!(work.path().join("n.md").exists(), "a text of the house asks nobody");
    service.shutdown().await;
}
