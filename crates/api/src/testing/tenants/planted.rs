//! One of everything in a tenant, under one id and with one word that stands nowhere else.

use crate::testing::Bed;
use crate::testing::permissions::api_key;
use crate::testing::{hooks, schedules};
use serde_json::json;
use std::time::Duration;
use steward_core::agent::KeptFor;
use steward_core::approval::{About, Approval, Subject};
use steward_core::event::{EventBody, Origin};
use steward_core::hash::sha256;
use steward_core::message::Message;
use steward_core::model::{Purpose, Usage};
use steward_core::permission::{AccessLevel, Grantee, ResourceGrant, ResourceKind, ResourceRef};
use steward_core::ports::{
    Agents as _, Conversation, Conversations as _, Facts as _, Grants as _, Group, Groups as _, McpServers as _, Note,
    Reminder, Role, RunRow, RunStatus, RunStore as _, SideWrite, Skills as _, SpendLimits as _, Spender, SpentRecord,
    User, Users as _, VirtualKey, VirtualKeys as _,
};
use steward_core::provenance::Provenance;
use steward_core::upload::UploadedFile;
use steward_core::{
    AgentId, ApprovalId, CollectionId, ConversationId, DeliveryId, DispatchId, DocumentId, GroupId, HookId,
    IngestJobId, KeyId, McpServerId, RunId, ScheduleId, SkillId, SubscriptionId, TenantId, Timestamp, UserId,
};
use uuid::Uuid;

/// Stands in every text of the other tenant, and nowhere else.
pub(super) const MARK: &str = "quartzsecret";
/// What its things are called, where a path takes a name.
pub(super) const NAME: &str = "zebra";
/// All its things have one id, each in its own table.
pub(super) const THING: Uuid = Uuid::from_u128(0x0193_5a5a_5a5a_7a5a_8a5a_5a5a_5a5a_5a5a);

/// Puts one of everything into a tenant. Returns the ids besides [`THING`].
#[expect(clippy::too_many_lines, reason = "one thing after the other")]
pub(super) async fn plant(bed: &Bed, tenant: TenantId) -> Vec<Uuid> {
    let store = &bed.store;
    let user = UserId(THING);
    let email = format!("{NAME}@{MARK}.example");
    let ann = User {
        password_hash: Some("$argon2id$x".to_owned()),
        ..User::new(user, email.as_str(), MARK, Role::Developer, Timestamp(0))
    };
    let ann = User { api_key_hash: Some(sha256(api_key(user).as_bytes())), ..ann };
    store.create_user(tenant, &ann).await.unwrap();
    let group = Group {
        id: GroupId(THING),
        name: NAME.to_owned(),
        description: MARK.to_owned(),
        source: String::new(),
        external_id: None,
        created_at: Timestamp(0),
        members: 0,
    };
    store.create_group(tenant, &group).await.unwrap();
    store.set_member(tenant, group.id, user, true).await.unwrap();
    let upload = UploadedFile { path: format!("uploads/{MARK}"), user_id: user, bytes: 1, at: Timestamp(0) };
    store.note_upload(tenant, &upload).await.unwrap();
    let agent = json!({"id": THING, "name": NAME, "instructions": MARK, "metadata": {"description": MARK}});
    store.save_agent(tenant, &serde_json::from_value(agent).unwrap()).await.unwrap();
    let skill = json!({
        "id": THING, "name": NAME, "version": 1, "description": MARK, "parameters": {"type": "object"},
        "type": "python", "config": {"code": format!("def run(p): return '{MARK}'")}, "risk": "read",
        "effect": "read", "at": 0,
    });
    store.save_skill(tenant, &serde_json::from_value(skill).unwrap()).await.unwrap();
    let server = json!({
        "id": THING, "name": NAME, "transport": {"kind": "http", "url": format!("https://{MARK}.example/mcp")},
        "enabled": false, "error": MARK,
    });
    store.save_mcp_server(tenant, &serde_json::from_value(server).unwrap()).await.unwrap();
    let talk = Conversation {
        id: ConversationId(THING),
        agent: AgentId(THING),
        user: Some(user),
        title: MARK.to_owned(),
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        deleted_at: None,
        forked_from: None,
    };
    store.create_conversation(tenant, &talk).await.unwrap();
    let question = Approval {
        id: ApprovalId(THING),
        run_id: RunId(THING),
        subject: Subject::Question { call_id: "c".to_owned(), text: MARK.to_owned() },
        about: About::default(),
        asked_at: Timestamp(0),
        answer: None,
        decided_by: None,
        decided_at: None,
    };
    let row = RunRow {
        id: RunId(THING),
        tenant,
        agent: AgentId(THING),
        conversation: Some(talk.id),
        title: MARK.to_owned(),
        status: RunStatus::Parked,
        outcome: None,
        answer: Some(MARK.to_owned()),
        origin: Origin::Chat,
        user: Some(user),
        model: MARK.to_owned(),
        verdict: None,
        forked_from: None,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        last_seq: 1,
        tokens: 0,
        cost_micros: 0,
    };
    let said = SideWrite::Messages(talk.id, vec![Message::user(MARK), Message::assistant(MARK)]);
    let side = vec![SideWrite::Approval(question), said];
    store.create_run(row, vec![delta()], side, "test", Timestamp(1)).await.unwrap();
    let key = json!({
        "id": THING, "name": MARK, "user": user, "prefix": "sk-steward-v-", "connections": [THING], "agents": null,
        "created_at": 0,
    });
    let key: VirtualKey = serde_json::from_value(key).unwrap();
    store.save_key(tenant, &key, Some(&sha256(b"sk-steward-v-00ff"))).await.unwrap();
    let limit =
        json!({"id": THING, "scope": {"kind": "user", "id": user}, "period": "day", "tokens": 7, "cost_micros": null});
    store.save_spend_limit(tenant, &serde_json::from_value(limit).unwrap()).await.unwrap();
    let spender = Spender { user: Some(user), agent: Some(AgentId(THING)), connection: None, key: None };
    let spent = SpentRecord {
        spender,
        model: MARK.to_owned(),
        at: bed.clock_now(),
        usage: Usage { prompt_tokens: 7, ..Usage::default() },
        failed: false,
        priced: false,
    };
    store.settle(tenant, None, &spent).await.unwrap();
    let at = bed.clock_now().plus(Duration::from_mins(1));
    let reminder =
        Reminder { id: NAME.to_owned(), at, text: MARK.to_owned(), done: false, provenance: Provenance::default() };
    store.save_reminder(tenant, AgentId(THING), KeptFor::User(user), &reminder).await.unwrap();
    let (title, text, provenance) = (NAME.to_owned(), MARK.to_owned(), Provenance::default());
    let note = Note { title, text, updated_at: Timestamp(0), provenance };
    store.save_note(tenant, AgentId(THING), KeptFor::User(user), &note).await.unwrap();
    let schedule = schedules::row(ScheduleId(THING), user, AgentId(THING), MARK);
    store.create_schedule(tenant, &schedule).await.unwrap();
    let hook = hooks::row(HookId(THING), user, AgentId(THING), MARK);
    store.create_hook(tenant, &hook).await.unwrap();
    store.accept_delivery(tenant, hooks::delivery(HookId(THING), DeliveryId(THING), MARK)).await.unwrap();
    let subscription = hooks::subscription(SubscriptionId(THING), user, MARK);
    store.create_subscription(tenant, &subscription).await.unwrap();
    let dispatch = hooks::dispatch(SubscriptionId(THING), DispatchId(THING), MARK);
    store.make_dispatch(tenant, Timestamp(0), dispatch).await.unwrap();
    let grant = json!({
        "id": THING, "agent": THING, "grant": {"scope": {"kind": "tool", "name": MARK}}, "by": MARK, "created_at": 0,
    });
    store.save_grant(tenant, &serde_json::from_value(grant).unwrap()).await.unwrap();
    let kept = json!({"name": NAME, "run_id": THING, "by": MARK, "created_at": 0});
    store.keep_run(tenant, &serde_json::from_value(kept).unwrap()).await.unwrap();
    for kind in [ResourceKind::Agent, ResourceKind::Skill] {
        let resource = ResourceRef { kind, id: THING };
        store.set_restricted(tenant, resource, true).await.unwrap();
        let (grantee, given_by) = (Grantee::User(user), MARK.to_owned());
        let grant = ResourceGrant { grantee, level: AccessLevel::Use, given_by, given_at: Timestamp(0) };
        store.give_grant(tenant, resource, &grant).await.unwrap();
    }
    crate::testing::documents::plant(store, tenant, THING, NAME, MARK).await;
    let app = bed.state.tenants.of(tenant).unwrap();
    let entry = app.audit_fact(MARK).by(MARK, None).on(MARK).with("name", MARK);
    store.record_audit(tenant, &entry).await.unwrap();
    let new = json!({"name": NAME, "kind": "token", "description": MARK, "fields": {"token": MARK}});
    let credential = app.vault.keep(tenant, serde_json::from_value(new).unwrap()).await.unwrap().id.0;
    vec![credential]
}

pub(super) fn delta() -> EventBody {
    EventBody::ModelDelta {
        step: 1,
        purpose: Purpose::Reply,
        text: MARK.to_owned(),
        reasoning: MARK.to_owned(),
        provisional: false,
        retracts: false,
    }
}

/// What is planted, as it is now: nobody else may change it either.
pub(super) async fn seen(bed: &Bed, tenant: TenantId) -> Vec<String> {
    let store = &bed.store;
    let talk = store.messages(tenant, ConversationId(THING)).await.unwrap().len();
    let run = store.run(tenant, RunId(THING)).await.unwrap();
    vec![
        format!("{:?}", store.user(tenant, UserId(THING)).await.unwrap()),
        format!("{:?}", store.group(tenant, GroupId(THING)).await.unwrap()),
        format!("{:?}", store.uploads(tenant, None, None, 9).await.unwrap().items),
        format!("{:?}", store.agent(tenant, AgentId(THING)).await.unwrap()),
        format!("{:?}", store.skill(tenant, SkillId(THING)).await.unwrap()),
        format!("{:?}", store.mcp_server(tenant, McpServerId(THING)).await.unwrap()),
        format!("{:?} {talk}", store.conversation(tenant, ConversationId(THING)).await.unwrap()),
        format!("{:?} {} {}", run.status, run.last_seq, store.commands(tenant, RunId(THING)).await.unwrap().len()),
        format!("{:?}", store.key(tenant, KeyId(THING)).await.unwrap()),
        format!("{:?}", store.reminders_of(tenant, KeptFor::User(UserId(THING))).await.unwrap()),
        format!("{:?}", store.schedule(tenant, ScheduleId(THING)).await.unwrap()),
        format!("{:?}", store.hook(tenant, HookId(THING)).await.unwrap()),
        format!("{:?}", store.subscription(tenant, SubscriptionId(THING)).await.unwrap()),
        format!("{:?}", store.dispatch(tenant, SubscriptionId(THING), DispatchId(THING)).await.unwrap()),
        format!("{:?}", store.deliveries(tenant, HookId(THING), None, 9).await.unwrap()),
        format!("{:?}", store.grants(tenant, None, Timestamp(0)).await.unwrap()),
        format!("{:?}", store.kept_runs(tenant).await.unwrap()),
        format!("{:?}", store.collection(tenant, CollectionId(THING)).await.unwrap()),
        format!("{:?}", store.document(tenant, DocumentId(THING)).await.unwrap()),
        format!("{:?}", store.job(tenant, IngestJobId(THING)).await.unwrap()),
    ]
}
