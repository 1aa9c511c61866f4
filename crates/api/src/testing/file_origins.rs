//! Where the files of the workspace come from: operators see it, and clear an entry.

use super::{Bed, bed};
use serde_json::{Value, json};
use steward_core::event::{EventBody, Origin};
use steward_core::governance::{Classification, Classified};
use steward_core::hash::sha256;
use steward_core::model::Purpose;
use steward_core::ports::{Role, RunRow, RunStatus, RunStore as _, SideWrite, User, Users as _};
use steward_core::provenance::Provenance;
use steward_core::run::FileProvenance;
use steward_core::{AgentId, RunId, TenantId, Timestamp, UserId};
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;
const PEOPLE: [(&str, Role); 3] = [("dan", Role::Developer), ("olga", Role::Operator), ("ada", Role::Admin)];

async fn house() -> Bed {
    let bed = bed().await;
    for (number, (name, role)) in (100_u128..).zip(PEOPLE) {
        let id = UserId(Uuid::from_u128(number));
        let known = User::new(id, format!("{name}@example.org"), name, role, Timestamp(0));
        let key = sha256(format!("sk-steward-{name}").as_bytes());
        bed.store.create_user(TENANT, &User { api_key_hash: Some(key), ..known }).await.unwrap();
    }
    let level =
        Classified { classification: Classification::Confidential, label: "hr".to_owned(), source: "hr".to_owned() };
    let page = Provenance::from_outside("https://example.org");
    let pay = Provenance { level: Some(level), ..Provenance::default() };
    let mark = |path: &str, provenance| SideWrite::FileProvenance {
        workspace: "/nowhere".to_owned(),
        file: FileProvenance { path: path.to_owned(), provenance },
    };
    let row = RunRow {
        id: RunId(Uuid::from_u128(1)),
        tenant: TENANT,
        agent: AgentId(Uuid::nil()),
        conversation: None,
        title: String::new(),
        status: RunStatus::Parked,
        outcome: None,
        answer: None,
        origin: Origin::Chat,
        user: None,
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
    let side = vec![mark("", page.clone()), mark("notes/page.md", page), mark("pay.md", pay)];
    bed.store.create_run(row, vec![first], side, "test", Timestamp(1)).await.unwrap();
    bed
}

async fn call(bed: &Bed, name: &str, line: &str) -> (u16, Value) {
    let answer = bed.send(line, &[&format!("authorization: Bearer sk-steward-{name}")], "").await;
    (answer.status, serde_json::from_str(&answer.text).unwrap_or_default())
}

#[tokio::test]
async fn operators_clear_what_they_have_read_and_administrators_what_is_confidential() {
    let bed = house().await;
    let list = "GET /api/files/origins";
    assert_eq!(call(&bed, "dan", list).await.0, 403);
    let (status, found) = call(&bed, "olga", list).await;
    assert_eq!(status, 200, "{found}");
    assert_eq!(
        (&found[0]["path"], &found[1]["path"]),
        (&json!(""), &json!("notes/page.md")),
        "the whole workspace first"
    );
    assert_eq!(found[1]["origins"], json!(["https://example.org"]));
    assert_eq!(found[2]["level"]["classification"], "confidential");
    for (name, path, status) in [
        ("dan", "notes/page.md", 403),
        ("olga", "notes", 404),
        ("olga", "pay.md", 403),
        ("olga", "notes/page.md", 204),
        ("olga", "notes/page.md", 404),
        ("olga", "", 204),
        ("ada", "pay.md", 204),
    ] {
        let line = format!("DELETE /api/files/origins?path={path}");
        assert_eq!(call(&bed, name, &line).await.0, status, "{name} {path}");
    }
    assert_eq!(call(&bed, "ada", list).await.1, json!([]));
    let (_, trail) = call(&bed, "ada", "GET /api/audit?limit=100").await;
    let of_page = |entry: &&Value| entry["target"] == "notes/page.md" && entry["result"] == "ok";
    let entry = trail["items"].as_array().unwrap().iter().find(of_page);
    assert_eq!(entry.unwrap()["actor"], "olga@example.org", "{trail}");
}
