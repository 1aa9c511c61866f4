//! Who may call what: each operation of the OpenAPI document is tried by nobody and by each role, on what is their own and
//! on what is another's. The table is `docs/permissions.md`; a route without a rule shows as a changed line.

use super::{Bed, bed, hooks, schedules};
use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;
use steward_core::approval::{About, Approval, Subject};
use steward_core::event::{EventBody, Origin};
use steward_core::hash::sha256;
use steward_core::model::Purpose;
use steward_core::permission::{AccessLevel, Grantee, ResourceGrant, ResourceKind, ResourceRef};
use steward_core::ports::{
    Conversation, Role, RunRow, RunStatus, RunStore as _, SideWrite, Skills as _, User, Users as _, VirtualKey,
    VirtualKeys as _,
};
use steward_core::{
    AgentId, ApprovalId, ConversationId, DeliveryId, DispatchId, HookId, KeyId, RunId, ScheduleId, SubscriptionId,
    TenantId, Timestamp, UserId,
};
use tower::ServiceExt as _;
use uuid::Uuid;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/permissions.md");
const INTRODUCTION: &str = "# Who may call what

This page is made by a test that calls every operation of the API as nobody and as each role (`the_page_of_permissions_is_this_one`).
`anybody`: it takes no login. `yes`: the role and the ownership allow it. `no`: 403, with the role that is needed. `log in`: 401. `hidden`: 404, as if it were not
there. Rows of what somebody owns are tried on one's own and on another's. Agents, skills, credentials and collections (with their
documents and jobs) are tried open, restricted, and restricted with each level of a [grant](groups-and-grants.md); `/api/access` is tried on agents.

Beyond this table: what a developer may change of a skill depends on what the skill reaches ([skills](skills.md)); keys of programs
open only `/v1` and `/mcp`, and there only what they name.

";
const SCIM: &str = "
## Providers (SCIM)
`/scim/v2` has its own tokens, which open nothing else ([SCIM](single-sign-on.md#users-and-groups-kept-by-a-provider-scim)).

| operation | nobody | viewer | developer | operator | admin | token for SCIM |
|---|---|---|---|---|---|---|
";
const SCIM_OPERATIONS: [&str; 14] = [
    "GET ServiceProviderConfig",
    "GET ResourceTypes",
    "GET Schemas",
    "GET Users",
    "POST Users",
    "GET Users/{id}",
    "PUT Users/{id}",
    "PATCH Users/{id}",
    "DELETE Users/{id}",
    "GET Groups",
    "POST Groups",
    "PUT Groups/{id}",
    "PATCH Groups/{id}",
    "DELETE Groups/{id}",
];
/// Whose runs the schedules and webhooks start.
const AGENT: Uuid = Uuid::from_u128(0xa9e7_0000);
const ROLES: [Role; 4] = [Role::Viewer, Role::Developer, Role::Operator, Role::Admin];

pub(super) struct Table {
    pub bed: Bed,
    pub document: Value,
    people: u128,
    things: u128,
}

#[tokio::test]
async fn the_page_of_permissions_is_this_one() {
    let mut table = Table::of(bed().await);
    table.bed.admin().await;
    let mut page = INTRODUCTION.to_owned();
    page += "| operation | nobody | viewer | developer | operator | admin |\n|---|---|---|---|---|---|\n";
    for (method, path, operation) in table.operations() {
        if let Some(kind) = granted(&path) {
            for state in Granted::ALL {
                let row = table.row(&method, &path, &operation, Tried::Granted(kind, state)).await;
                writeln!(page, "| {method} {path}, {} | {row} |", state.named()).unwrap();
            }
        } else if let Some(kind) = Owned::of(&path) {
            for (whose, own) in [("own", true), ("another's", false)] {
                let row = table.row(&method, &path, &operation, Tried::Owned(kind, own)).await;
                writeln!(page, "| {method} {path}, {whose} | {row} |").unwrap();
            }
        } else {
            let row = table.row(&method, &path, &operation, Tried::Anything).await;
            writeln!(page, "| {method} {path} | {row} |").unwrap();
        }
    }
    page += SCIM;
    for operation in SCIM_OPERATIONS {
        let row = table.scim_row(operation).await;
        writeln!(page, "| {} | {row} |", operation.replacen(' ', " /scim/v2/", 1)).unwrap();
    }
    if std::env::var_os("STEWARD_UPDATE_OPENAPI").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let kept = std::fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    let differs: Vec<&str> = page.lines().filter(|line| !kept.lines().any(|other| other == *line)).collect();
    assert!(
        kept == page,
        "docs/permissions.md is not what this API does; if that is meant, run this test with STEWARD_UPDATE_OPENAPI=1:\n{}",
        differs.join("\n")
    );
}

/// What belongs to a person.
#[derive(Debug, Clone, Copy)]
enum Owned {
    Run,
    Conversation,
    Approval,
    Key,
    Schedule,
    Hook,
    Subscription,
}

impl Owned {
    fn of(path: &str) -> Option<Self> {
        let kinds = [
            ("/api/runs/{id}", Self::Run),
            ("/api/conversations/{id}", Self::Conversation),
            ("/api/approvals/{id}", Self::Approval),
            ("/api/keys/{id}", Self::Key),
            ("/api/schedules/{id}", Self::Schedule),
            ("/api/hooks/{id}", Self::Hook),
            ("/api/subscriptions/{id}", Self::Subscription),
        ];
        kinds.into_iter().find(|(begin, _)| path.starts_with(begin)).map(|(_, kind)| kind)
    }
}

/// What an operation is tried on.
#[derive(Debug, Clone, Copy)]
enum Tried {
    Anything,
    Owned(Owned, bool),
    Granted(ResourceKind, Granted),
}

/// How a resource stands to whoever tries.
#[derive(Debug, Clone, Copy)]
enum Granted {
    Open,
    Restricted,
    To(AccessLevel),
}

impl Granted {
    const ALL: [Self; 5] = [
        Self::Open,
        Self::Restricted,
        Self::To(AccessLevel::Use),
        Self::To(AccessLevel::Edit),
        Self::To(AccessLevel::Share),
    ];

    fn named(self) -> String {
        match self {
            Self::Open => "open".to_owned(),
            Self::Restricted => "restricted".to_owned(),
            Self::To(level) => format!("restricted, with `{}`", level.as_str()),
        }
    }
}

/// The kind of what a path names, where grants are given for it.
fn granted(path: &str) -> Option<ResourceKind> {
    let kinds = [
        ("/api/agents/{id}", ResourceKind::Agent),
        ("/api/universal-agents/{id}", ResourceKind::Agent),
        ("/api/chat/{agent_id}", ResourceKind::Agent),
        ("/api/rag/debug/{agent_id}", ResourceKind::Agent),
        ("/api/access/{kind}/{id}", ResourceKind::Agent),
        ("/api/skills/{id}", ResourceKind::Skill),
        ("/api/credentials/{id}", ResourceKind::Credential),
        ("/api/collections/{id}", ResourceKind::Collection),
        ("/api/documents/{id}", ResourceKind::Collection),
        ("/api/documents/jobs/{id}", ResourceKind::Collection),
    ];
    kinds.into_iter().find(|(begin, _)| path.starts_with(begin)).map(|(_, kind)| kind)
}

impl Table {
    pub fn of(bed: Bed) -> Self {
        Self { bed, document: serde_json::to_value(crate::document()).unwrap(), people: 0, things: 0 }
    }

    pub fn operations(&self) -> Vec<(String, String, Value)> {
        let mut all = Vec::new();
        for (path, item) in self.document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                if operation["responses"].is_object() {
                    all.push((method.to_uppercase(), path.clone(), operation.clone()));
                }
            }
        }
        all
    }

    /// The cells of an operation. Each is tried by a new person on new things, since a try may change both.
    async fn row(&mut self, method: &str, path: &str, operation: &Value, tried: Tried) -> String {
        let mut statuses = Vec::new();
        for role in [None].into_iter().chain(ROLES.map(Some)) {
            let person = self.person(role.unwrap_or(Role::Viewer)).await;
            let id = match tried {
                Tried::Owned(kind, true) => self.thing(kind, person).await,
                Tried::Owned(kind, false) => {
                    let other = self.person(Role::Developer).await;
                    self.thing(kind, other).await
                }
                Tried::Granted(kind, state) => self.resource(kind, state, person).await,
                Tried::Anything => Uuid::nil(),
            };
            let path = with_parameters(path, operation, id);
            statuses.push(self.status(method, &path, operation, role.map(|_| person)).await);
        }
        // Whoever tries: a log-in that fails answers 401, a wrong token 403.
        if statuses.iter().all(|status| *status == statuses[0]) {
            return ["anybody"; 5].join(" | ");
        }
        let cells = statuses.into_iter().map(|status| match status {
            401 => "log in",
            403 => "no",
            404 if matches!(tried, Tried::Owned(..) | Tried::Granted(ResourceKind::Collection, _)) => "hidden",
            _ => "yes",
        });
        cells.collect::<Vec<_>>().join(" | ")
    }

    /// The cells of an operation of SCIM. Whether what it is tried on is there makes no difference.
    async fn scim_row(&mut self, operation: &str) -> String {
        let mut keys = vec![None];
        for role in ROLES {
            keys.push(Some(api_key(self.person(role).await)));
        }
        let token = match self.bed.state.installation().access.make_scim_token(operation, "a test").await {
            Ok((token, secret)) => {
                keys.push(Some(secret));
                token.id
            }
            Err(error) => panic!("{error}"),
        };
        let line = operation.replacen(' ', " /scim/v2/", 1).replace("{id}", &Uuid::nil().to_string());
        let mut cells = Vec::new();
        for key in keys {
            let header = key.map_or_else(String::new, |key| format!("authorization: Bearer {key}"));
            let answer = self.bed.send(&line, &[&header], "{}").await;
            cells.push(if answer.status == 401 { "log in" } else { "yes" });
        }
        self.bed.state.installation().access.remove_scim_token(token).await.unwrap();
        cells.join(" | ")
    }

    async fn person(&mut self, role: Role) -> UserId {
        self.people += 1;
        let id = UserId(Uuid::from_u128(0xfeed_0000 + self.people));
        let user = User {
            api_key_hash: Some(sha256(api_key(id).as_bytes())),
            ..User::new(id, format!("person{}@example.org", self.people), "Person", role, Timestamp(0))
        };
        self.bed.store.create_user(TenantId::DEFAULT, &user).await.unwrap();
        id
    }

    async fn thing(&mut self, kind: Owned, owner: UserId) -> Uuid {
        self.things += 1;
        let (store, tenant, id) = (&self.bed.store, TenantId::DEFAULT, Uuid::from_u128(0xbeef_0000 + self.things));
        match kind {
            Owned::Run => self.run(RunId(id), owner, Vec::new()).await,
            Owned::Approval => {
                let run = RunId(Uuid::from_u128(0xcafe_0000 + self.things));
                let question = Approval {
                    id: ApprovalId(id),
                    run_id: run,
                    subject: Subject::Question { call_id: "c".to_owned(), text: "Which?".to_owned() },
                    about: About::default(),
                    asked_at: Timestamp(0),
                    answer: None,
                    decided_by: None,
                    decided_at: None,
                };
                self.run(run, owner, vec![SideWrite::Approval(question)]).await;
            }
            Owned::Conversation => {
                let conversation = Conversation {
                    id: ConversationId(id),
                    agent: AgentId(Uuid::nil()),
                    user: Some(owner),
                    title: "talk".to_owned(),
                    created_at: Timestamp(0),
                    updated_at: Timestamp(0),
                    deleted_at: None,
                    forked_from: None,
                };
                store.create_conversation(tenant, &conversation).await.unwrap();
            }
            Owned::Key => {
                let key = json!({
                    "id": KeyId(id), "name": id.to_string(), "user": owner, "prefix": "", "connections": [],
                    "agents": null, "created_at": 0,
                });
                let key: VirtualKey = serde_json::from_value(key).unwrap();
                store.save_key(tenant, &key, Some(&id.to_string())).await.unwrap();
            }
            Owned::Schedule => {
                let agent = json!({"id": AGENT, "name": "scheduled", "instructions": ""});
                store.save_agent(tenant, &serde_json::from_value(agent).unwrap()).await.unwrap();
                let row = schedules::row(ScheduleId(id), owner, AgentId(AGENT), "nightly");
                store.create_schedule(tenant, &row).await.unwrap();
            }
            Owned::Hook => {
                let agent = json!({"id": AGENT, "name": "scheduled", "instructions": ""});
                store.save_agent(tenant, &serde_json::from_value(agent).unwrap()).await.unwrap();
                let row = hooks::row(HookId(id), owner, AgentId(AGENT), "pushed");
                store.create_hook(tenant, &row).await.unwrap();
                let delivery = hooks::delivery(HookId(id), DeliveryId(id), "pushed");
                store.accept_delivery(tenant, delivery).await.unwrap();
            }
            Owned::Subscription => {
                let row = hooks::subscription(SubscriptionId(id), owner, "told");
                store.create_subscription(tenant, &row).await.unwrap();
                let dispatch = hooks::dispatch(SubscriptionId(id), DispatchId(id), "told");
                store.make_dispatch(tenant, Timestamp(0), dispatch).await.unwrap();
            }
        }
        id
    }

    async fn resource(&mut self, kind: ResourceKind, state: Granted, person: UserId) -> Uuid {
        self.things += 1;
        let (store, tenant, id) = (&self.bed.store, TenantId::DEFAULT, Uuid::from_u128(0xface_0000 + self.things));
        let name = format!("thing-{}", self.things);
        let id = match kind {
            ResourceKind::Skill => {
                let skill = json!({
                    "id": id, "name": name, "version": 1, "description": "Adds.", "parameters": {"type": "object"},
                    "type": "python", "config": {"code": "def run(p): return 1"}, "risk": "read", "effect": "read",
                    "at": 0,
                });
                store.save_skill(tenant, &serde_json::from_value(skill).unwrap()).await.unwrap().id.0
            }
            ResourceKind::Credential => {
                let new = json!({"name": name, "kind": "token", "fields": {"token": "x"}});
                let new = serde_json::from_value(new).unwrap();
                self.bed.app().vault.keep(tenant, new).await.unwrap().id.0
            }
            ResourceKind::Collection => {
                super::documents::plant(store, tenant, id, &name, &name).await;
                super::documents::keep_file(&self.bed, &name);
                id
            }
            ResourceKind::Agent | ResourceKind::Connection => {
                let agent = json!({"id": id, "name": name, "instructions": ""});
                store.save_agent(tenant, &serde_json::from_value(agent).unwrap()).await.unwrap();
                id
            }
        };
        let resource = ResourceRef { kind, id };
        if !matches!(state, Granted::Open) {
            store.set_restricted(tenant, resource, true).await.unwrap();
        }
        if let Granted::To(level) = state {
            let (grantee, given_by) = (Grantee::User(person), "a test".to_owned());
            let grant = ResourceGrant { grantee, level, given_by, given_at: Timestamp(0) };
            store.give_grant(tenant, resource, &grant).await.unwrap();
        }
        id
    }

    async fn run(&self, id: RunId, owner: UserId, side: Vec<SideWrite>) {
        let row = RunRow {
            id,
            tenant: TenantId::DEFAULT,
            agent: AgentId(Uuid::nil()),
            conversation: None,
            title: "List the files".to_owned(),
            status: RunStatus::Parked,
            outcome: None,
            answer: None,
            origin: Origin::Chat,
            user: Some(owner),
            model: "m".to_owned(),
            verdict: None,
            forked_from: None,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
            last_seq: 1,
            tokens: 0,
            cost_micros: 0,
        };
        let text = String::new();
        let first = EventBody::ModelDelta {
            step: 1,
            purpose: Purpose::Reply,
            text: text.clone(),
            reasoning: text,
            provisional: false,
            retracts: false,
        };
        self.bed.store.create_run(row, vec![first], side, "test", Timestamp(1)).await.unwrap();
    }

    /// The status alone: the body of a stream has no end.
    async fn status(&self, method: &str, path: &str, operation: &Value, person: Option<UserId>) -> u16 {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:8800");
        if let Some(person) = person {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", api_key(person)));
        }
        let content = operation.pointer("/requestBody/content").and_then(Value::as_object);
        let body = match content.and_then(|content| content.iter().next()) {
            Some((kind, media)) if kind == "application/json" => {
                request = request.header(header::CONTENT_TYPE, kind);
                self.example(&media["schema"], 0).to_string()
            }
            Some((kind, _)) if kind.starts_with("multipart/") => {
                request = request.header(header::CONTENT_TYPE, format!("{kind}; boundary=x"));
                "--x--\r\n".to_owned()
            }
            Some((kind, _)) => {
                request = request.header(header::CONTENT_TYPE, kind);
                "x".to_owned()
            }
            None => String::new(),
        };
        let response = self.bed.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        response.status().as_u16()
    }

    /// The smallest value that a schema takes.
    pub fn example(&self, schema: &Value, depth: usize) -> Value {
        if depth > 12 {
            return Value::Null;
        }
        if let Some(name) = schema["$ref"].as_str() {
            let pointer = name.trim_start_matches('#');
            return self.example(self.document.pointer(pointer).unwrap(), depth + 1);
        }
        for known in ["const", "default", "example"] {
            if !schema[known].is_null() {
                return schema[known].clone();
            }
        }
        if let Some(first) = schema["enum"].get(0) {
            return first.clone();
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(first) = schema[choice].get(0) {
                return self.example(first, depth + 1);
            }
        }
        if let Some(all) = schema["allOf"].as_array() {
            let mut whole = Map::new();
            for part in all {
                if let Value::Object(part) = self.example(part, depth + 1) {
                    whole.extend(part);
                }
            }
            return Value::Object(whole);
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.first().cloned().unwrap_or_default(),
            kind => kind.clone(),
        };
        match kind.as_str() {
            Some("string") if schema["format"] == "uuid" => json!(Uuid::nil()),
            Some("string") => json!("x".repeat(usize::try_from(schema["minLength"].as_u64().unwrap_or(1)).unwrap())),
            Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
            Some("boolean") => json!(false),
            Some("array") => match schema["minItems"].as_u64() {
                Some(1..) => json!([self.example(&schema["items"], depth + 1)]),
                _ => json!([]),
            },
            Some("object") | None => {
                let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let fields =
                    required.map(|name| (name.to_owned(), self.example(&schema["properties"][name], depth + 1)));
                Value::Object(fields.collect())
            }
            _ => Value::Null,
        }
    }
}

pub(super) fn api_key(person: UserId) -> String {
    format!("sk-steward-{}", person.0.simple())
}

/// The path with `id` for what it names, and its required query.
fn with_parameters(path: &str, operation: &Value, id: Uuid) -> String {
    let mut full = path.to_owned();
    let mut query = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap();
        let is_id = parameter["schema"]["format"] == "uuid" || parameter["schema"]["$ref"].is_string();
        let value = match parameter["schema"]["type"].as_str() {
            _ if name == "kind" => "agent".to_owned(),
            _ if is_id => id.to_string(),
            Some("integer") => "1".to_owned(),
            _ => "x".to_owned(),
        };
        if parameter["in"] == "path" {
            full = full.replace(&format!("{{{name}}}"), &value);
        } else if parameter["in"] == "query" && parameter["required"] == true {
            query.push(format!("{name}={value}"));
        }
    }
    if query.is_empty() { full } else { format!("{full}?{}", query.join("&")) }
}
