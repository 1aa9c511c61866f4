//! Nothing crosses from one tenant to another: every operation of the OpenAPI document is tried by an administrator of
//! one with the ids of all that another has. Their answers never hold a word that only stands in the other's things.

mod planted;
mod this_machine;

use super::permissions::Table;
use super::{Answer, Bed, EMAIL, PASSWORD, bearer, bed};
use axum::body::Body;
use axum::http::{Request, header};
use futures::StreamExt as _;
use planted::{MARK, NAME, THING, delta, plant, seen};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use steward_core::event::Event;
use steward_core::ports::{AuditFilter, AuditOrder, UserFilter, Users as _};
use steward_core::{RunId, TenantId, Timestamp};
use tower::ServiceExt as _;
use uuid::Uuid;

/// Who administers a tenant.
struct Admin {
    tenant: TenantId,
    token: String,
    bearer: String,
}

impl Bed {
    /// Makes a tenant, and its administrator with the usual password.
    async fn tenant(&self, slug: &str, email: &str) -> Admin {
        let home = bearer(&self.admin().await);
        let body = json!({"slug": slug, "name": slug.to_uppercase(), "administrator": email});
        let made = self.json("POST /api/tenants", &[&home], &body).await;
        assert_eq!(made.status, 201, "{}", made.text);
        let made = made.json();
        let body = json!({"token": made["invitation"]["token"], "password": PASSWORD});
        let accepted = self.json("POST /api/auth/invitation", &[], &body).await;
        assert_eq!(accepted.status, 200, "{}", accepted.text);
        let token = accepted.json()["access_token"].as_str().unwrap().to_owned();
        let tenant = made["tenant"]["id"].as_str().unwrap().parse().unwrap();
        Admin { tenant, bearer: format!("authorization: Bearer {token}"), token }
    }

    async fn login(&self, tenant: Option<&str>, email: &str, password: &str) -> Answer {
        let body = json!({"email": email, "password": password, "tenant": tenant});
        self.json("POST /api/auth/login", &[], &body).await
    }

    async fn status_of(&self, line: &str, bearer: &str) -> u16 {
        self.send(line, &[bearer], "").await.status
    }

    async fn change_tenant(&self, home: &str, tenant: TenantId, body: Value) -> Answer {
        self.json(&format!("PATCH /api/tenants/{tenant}"), &[home], &body).await
    }
}

/// A value that a schema takes, with `id` wherever it takes one, be it needed or not.
fn with_ids(table: &Table, schema: &Value, id: Uuid, depth: usize) -> Value {
    let mut value = table.example(schema, depth);
    let text = value.to_string().replace(&Uuid::nil().to_string(), &id.to_string());
    value = serde_json::from_str(&text).unwrap();
    let resolved = resolved(table, schema);
    let (Some(properties), Some(fields)) = (resolved["properties"].as_object(), value.as_object_mut()) else {
        return value;
    };
    for (name, field) in properties {
        let ids = [&resolved_choice(table, field), &resolved_choice(table, &field["items"])]
            .map(|one| one["format"] == "uuid");
        match ids {
            [true, _] => drop(fields.insert(name.clone(), json!(id))),
            [_, true] => drop(fields.insert(name.clone(), json!([id]))),
            _ => {}
        }
    }
    value
}

fn resolved(table: &Table, schema: &Value) -> Value {
    match schema["$ref"].as_str() {
        Some(name) => table.document.pointer(name.trim_start_matches('#')).cloned().unwrap_or_default(),
        None => schema.clone(),
    }
}

/// Of a value or null, the value.
fn resolved_choice(table: &Table, schema: &Value) -> Value {
    let schema = resolved(table, schema);
    let choices = ["oneOf", "anyOf"].into_iter().find_map(|choice| schema[choice].as_array().cloned());
    let some = choices.and_then(|all| all.into_iter().find(|one| one["type"] != "null"));
    some.map_or(schema, |some| resolved(table, &some))
}

/// The path with `id` for all that it names, and every parameter of its query. Whether any takes an id.
fn addressed(path: &str, operation: &Value, id: Uuid, needed_only: bool) -> (String, bool) {
    let (mut full, mut query, mut takes_id) = (path.to_owned(), Vec::new(), false);
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap();
        let is_id = parameter["schema"]["format"] == "uuid" || parameter["schema"]["$ref"].is_string();
        let value = match &parameter["schema"]["type"] {
            _ if name == "kind" => "agent".to_owned(),
            _ if is_id => id.to_string(),
            kind if kind == "integer" => "1".to_owned(),
            kind if kind == "boolean" => "true".to_owned(),
            _ => NAME.to_owned(),
        };
        if parameter["in"] == "path" {
            takes_id |= is_id;
            full = full.replace(&format!("{{{name}}}"), &value);
        } else if parameter["in"] == "query" && (parameter["required"] == true || !needed_only) {
            query.push(format!("{name}={value}"));
        }
    }
    (if query.is_empty() { full } else { format!("{full}?{}", query.join("&")) }, takes_id)
}

/// What an operation answers to the administrator of another tenant. A stream is read for a moment.
async fn tried(table: &Table, bearer: &str, line: (&str, &str), operation: &Value, id: Uuid) -> (u16, String) {
    let (method, path) = line;
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:8800");
    request = request.header(header::AUTHORIZATION, bearer.trim_start_matches("authorization: "));
    let content = operation.pointer("/requestBody/content").and_then(Value::as_object);
    let body = match content.and_then(|content| content.iter().next()) {
        Some((kind, media)) if kind == "application/json" => {
            request = request.header(header::CONTENT_TYPE, kind);
            with_ids(table, &media["schema"], id, 0).to_string()
        }
        Some((kind, _)) => {
            let boundary = if kind.starts_with("multipart/") { "; boundary=x" } else { "" };
            request = request.header(header::CONTENT_TYPE, format!("{kind}{boundary}"));
            "--x--\r\n".to_owned()
        }
        None => String::new(),
    };
    let response = table.bed.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let mut pieces = response.into_body().into_data_stream();
    let mut text = Vec::new();
    while let Ok(Some(Ok(piece))) = tokio::time::timeout(Duration::from_millis(300), pieces.next()).await {
        text.extend_from_slice(&piece);
        if text.len() > 5_000_000 {
            break;
        }
    }
    (status, String::from_utf8_lossy(&text).into_owned())
}

/// Operations whose answer to an id that is not there is no refusal, with why.
const GOOD_ANYWAY: [&str; 0] = [];
/// They end what the attacker needs for the rest.
const LEFT_OUT: [(&str, &str); 3] =
    [("POST", "/api/auth/logout"), ("DELETE", "/api/auth/api-key"), ("POST", "/api/auth/password")];

async fn nothing_crosses(victim: Option<&str>) {
    let bed = bed().await;
    let attacker = bed.tenant("other", "eve@example.org").await;
    let victim = match victim {
        Some(slug) => bed.tenant(slug, "ann@example.org").await.tenant,
        None => TenantId::DEFAULT,
    };
    let mut ids = plant(&bed, victim).await;
    ids.insert(0, THING);
    let before = seen(&bed, victim).await;
    let table = Table::of(bed);
    let (mut wrong, mut requests, mut operations) = (BTreeSet::new(), 0, 0);
    let mut statuses: BTreeMap<u16, u32> = BTreeMap::new();
    for (method, path, operation) in table.operations() {
        if LEFT_OUT.contains(&(method.as_str(), path.as_str())) {
            continue;
        }
        operations += 1;
        for needed_only in [true, false] {
            for id in &ids {
                let (line, names) = addressed(&path, &operation, *id, needed_only);
                let request = (method.as_str(), line.as_str());
                let (status, text) = tried(&table, &attacker.bearer, request, &operation, *id).await;
                requests += 1;
                *statuses.entry(status).or_default() += 1;
                let good = (200..300).contains(&status) && names;
                let line = format!("{method} {path}");
                if text.contains(MARK) {
                    wrong.insert(format!("{line}: {status} tells {}", text.chars().take(300).collect::<String>()));
                }
                if good && !GOOD_ANYWAY.contains(&line.as_str()) {
                    wrong.insert(format!("{line}: {status} {}", text.chars().take(200).collect::<String>()));
                }
            }
        }
    }
    println!("{operations} operations, {requests} requests, {statuses:?}");
    // They were in all the time, and most of what names no id was answered.
    assert_eq!(table.bed.status_of("GET /api/auth/me", &attacker.bearer).await, 200);
    assert!(statuses[&200] > 100 && statuses[&404] > 100 && statuses.get(&401) < Some(&40), "{statuses:?}");
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen(&table.bed, victim).await, before);
}

#[tokio::test]
async fn nothing_crosses_between_two_tenants() {
    nothing_crosses(Some("acme")).await;
}

#[tokio::test]
async fn nothing_crosses_from_the_default_tenant() {
    nothing_crosses(None).await;
}

#[tokio::test]
async fn programs_of_one_tenant_get_nothing_of_another() {
    let bed = bed().await;
    let eve = bed.tenant("other", "eve@example.org").await;
    let acme = bed.tenant("acme", "ann@example.org").await;
    plant(&bed, acme.tenant).await;
    let models = bed.send("GET /v1/models", &[&eve.bearer], "").await;
    assert!(models.status == 200 && !models.text.contains(NAME), "{}", models.text);
    for (path, body) in [
        ("/v1/chat/completions", json!({"model": NAME, "messages": [{"role": "user", "content": "hello"}]})),
        ("/v1/responses", json!({"model": NAME, "input": "hello"})),
        ("/v1/responses", json!({"model": "steward", "input": "x", "previous_response_id": format!("resp_{THING}")})),
        ("/v1/responses", json!({"model": "steward", "input": "x", "previous_response_id": THING})),
    ] {
        let answer = bed.json(&format!("POST {path}"), &[&eve.bearer], &body).await;
        assert!((400..500).contains(&answer.status) && !answer.text.contains(MARK), "{path} {body}: {}", answer.text);
    }
    // A stream of all events has those of its own tenant only.
    let (ours, theirs) = (bed.state.tenants.of(eve.tenant).unwrap(), bed.state.tenants.of(acme.tenant).unwrap());
    let (mut own, mut other) = (ours.watch_all(), theirs.watch_all());
    let event = Event { run_id: RunId(THING), seq: 1, at: Timestamp(0), epoch: 1, body: delta() };
    theirs.runs.deps().bus.publish(&event);
    assert_eq!(other.next().await.map(|event| event.run_id), Some(RunId(THING)));
    assert!(tokio::time::timeout(Duration::from_millis(50), own.next()).await.is_err());
    let mut watched = ours.watch(RunId(THING), 0);
    let first = tokio::time::timeout(Duration::from_millis(50), watched.next()).await;
    assert!(!matches!(first, Ok(Some(Ok(_)))), "not even by a handler that forgot to look");
}

/// The token with other claims, under the same signature.
fn changed(token: &str, change: impl FnOnce(&mut Value)) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

    let parts: Vec<&str> = token.split('.').collect();
    let mut claims: Value = serde_json::from_slice(&BASE64.decode(parts[1]).unwrap()).unwrap();
    change(&mut claims);
    format!("{}.{}.{}", parts[0], BASE64.encode(claims.to_string()), parts[2])
}

#[tokio::test]
async fn tokens_open_their_own_tenant_only() {
    let bed = bed().await;
    let (eve, acme) = (bed.tenant("other", "eve@example.org").await, bed.tenant("acme", "ann@example.org").await);
    let me = "GET /api/auth/me";
    assert_eq!(bed.send(me, &[&acme.bearer], "").await.json()["email"], "ann@example.org");
    for tenant in [json!(eve.tenant), json!(TenantId::DEFAULT), json!(Uuid::from_u128(77)), Value::Null] {
        let token = changed(&acme.token, |claims| claims["tid"] = tenant.clone());
        assert_eq!(bed.status_of(me, &format!("authorization: Bearer {token}")).await, 401, "{tenant}");
    }
    // The header names a tenant to tokens of other programs only.
    let named = bed.send(me, &[&acme.bearer, "x-steward-tenant: other"], "").await;
    assert_eq!(named.json()["email"], "ann@example.org");

    let key = bed.json("POST /api/auth/api-key", &[&acme.bearer], &json!({})).await.json();
    let key = key["api_key"].as_str().unwrap().to_owned();
    assert_eq!(bed.status_of(me, &format!("authorization: Bearer {key}")).await, 200);
    let digits = acme.tenant.0.simple().to_string();
    assert!(key.contains(&digits));
    for other in [eve.tenant.0.simple().to_string(), Uuid::from_u128(77).simple().to_string()] {
        let moved = key.replace(&digits, &other);
        assert_eq!(bed.status_of(me, &format!("authorization: Bearer {moved}")).await, 401);
    }
    let bare = key.replace(&format!("t{digits}-"), "");
    assert_eq!(bed.status_of(me, &format!("authorization: Bearer {bare}")).await, 401);

    // A login's cookie goes on where it was begun.
    let login = bed.login(Some("acme"), "ann@example.org", PASSWORD).await;
    let cookie = login.cookie().unwrap().to_owned();
    let refresh = |cookie: String| {
        let bed = &bed;
        async move {
            let cookie = format!("cookie: steward_refresh={cookie}");
            bed.send("POST /api/auth/refresh", &[&cookie, "x-steward: 1"], "").await.status
        }
    };
    assert_eq!(refresh(cookie.replace(&digits, &eve.tenant.0.simple().to_string())).await, 401);
    assert_eq!(refresh(cookie.replace(&format!("t{digits}-"), "")).await, 401);
    assert_eq!(refresh(cookie).await, 200);
}

#[tokio::test]
async fn a_tenant_that_is_disabled_or_deleted_opens_nothing() {
    let bed = bed().await;
    let acme = bed.tenant("acme", "ann@example.org").await;
    let other = bed.tenant("other", "eve@example.org").await;
    let home = bearer(&bed.admin().await);
    let key = bed.json("POST /api/auth/api-key", &[&acme.bearer], &json!({})).await.json();
    let key = format!("authorization: Bearer {}", key["api_key"].as_str().unwrap());
    let app = bed.state.tenants.of(acme.tenant).unwrap();
    let mut stream = app.watch_all();
    let me = "GET /api/auth/me";
    assert_eq!((bed.status_of(me, &acme.bearer).await, bed.status_of(me, &key).await), (200, 200));

    assert_eq!(bed.change_tenant(&home, acme.tenant, json!({"disabled": true})).await.status, 200);
    assert_eq!((bed.status_of(me, &acme.bearer).await, bed.status_of(me, &key).await), (401, 401));
    let ended = tokio::time::timeout(Duration::from_mins(5), stream.next()).await;
    assert!(matches!(ended, Ok(None)), "its streams end");
    assert_eq!(bed.login(Some("acme"), "ann@example.org", PASSWORD).await.status, 401);
    assert_eq!(bed.status_of(me, &other.bearer).await, 200, "the others don't notice");

    assert_eq!(bed.change_tenant(&home, acme.tenant, json!({"disabled": false})).await.status, 200);
    assert_eq!(bed.status_of(me, &acme.bearer).await, 401, "its logins have ended for good");
    assert_eq!(bed.status_of(me, &key).await, 200);
    assert_eq!(bed.login(Some("acme"), "ann@example.org", PASSWORD).await.status, 200);

    // Deletion: only of what is disabled, and only with its slug.
    let line = format!("DELETE /api/tenants/{}", acme.tenant);
    let (right, wrong) = (json!({"slug": "acme"}), json!({"slug": "other"}));
    assert_eq!(bed.json(&line, &[&home], &right).await.status, 409);
    bed.change_tenant(&home, acme.tenant, json!({"disabled": true})).await;
    assert_eq!(bed.json(&line, &[&home], &wrong).await.status, 422);
    let deleted = bed.json(&line, &[&home], &right).await;
    assert_eq!(deleted.status, 200, "{}", deleted.text);
    let tables = deleted.json()["tables"].clone();
    let users = tables.as_array().unwrap().iter().find(|one| one["table"] == "users").unwrap().clone();
    assert_eq!(users["rows"], 1);
    assert_eq!((bed.status_of(me, &key).await, bed.json(&line, &[&home], &right).await.status), (401, 404));
    let left = bed.store.users(acme.tenant, &UserFilter::default(), None, 10).await.unwrap();
    assert_eq!(left.items, []);
    bed.store.seal_audit(TenantId::DEFAULT, 100).await.unwrap();
    let filter = AuditFilter::default();
    let audit = bed.store.audit_entries(TenantId::DEFAULT, &filter, AuditOrder::NewestBefore(None), 50).await.unwrap();
    let proof = audit.items.iter().find(|entry| entry.entry.action == "tenants.deleted").unwrap();
    assert_eq!(json!(proof.entry.detail)["rows"]["users"], 1);

    // The slug is free again, and nothing of the former is there.
    let anew = bed.tenant("acme", "ann@example.org").await;
    assert_ne!(anew.tenant, acme.tenant);
    let default = format!("/api/tenants/{}", TenantId::DEFAULT);
    assert_eq!(bed.change_tenant(&home, TenantId::DEFAULT, json!({"disabled": true})).await.status, 409);
    assert_eq!(bed.json(&format!("DELETE {default}"), &[&home], &json!({"slug": "default"})).await.status, 409);
}

#[tokio::test]
async fn the_same_email_is_somebody_else_in_another_tenant() {
    let bed = bed().await;
    // The default one's administrator has this email, too.
    let acme = bed.tenant("acme", EMAIL).await;
    let body = json!({"current": PASSWORD, "new": "another horse battery"});
    assert_eq!(bed.json("POST /api/auth/password", &[&acme.bearer], &body).await.status, 204);
    for (tenant, password, status) in [
        (None, PASSWORD, 200),
        (Some("default"), PASSWORD, 200),
        (Some("acme"), "another horse battery", 200),
        (Some("acme"), PASSWORD, 401),
        (None, "another horse battery", 401),
        (Some("nowhere"), PASSWORD, 401),
        (Some("ACME"), "another horse battery", 401),
    ] {
        assert_eq!(bed.login(tenant, EMAIL, password).await.status, status, "{tenant:?} {password}");
    }
    let wrong = bed.login(Some("acme"), EMAIL, PASSWORD).await;
    let nowhere = bed.login(Some("nowhere"), EMAIL, PASSWORD).await;
    assert_eq!(wrong.text, nowhere.text, "a slug can't be found out");
    // Failures here lock nobody out there.
    for _ in 0..5 {
        bed.login(Some("acme"), EMAIL, "wrong wrong wrong").await;
    }
    assert_eq!(bed.login(Some("acme"), EMAIL, "another horse battery").await.status, 429);
    assert_eq!(bed.login(None, EMAIL, PASSWORD).await.status, 200);
    // Their logins stand in their own trail.
    for (tenant, expect) in [(acme.tenant, 3), (TenantId::DEFAULT, 3)] {
        bed.store.seal_audit(tenant, 100).await.unwrap();
        let filter = AuditFilter { action: Some("auth.login".to_owned()), ..AuditFilter::default() };
        let page = bed.store.audit_entries(tenant, &filter, AuditOrder::NewestBefore(None), 100).await.unwrap();
        assert!(page.items.len() >= expect, "{tenant}: {}", page.items.len());
    }
    let status = bed.send("GET /api/auth/status", &[], "").await;
    assert!(status.json()["several_tenants"] == true && !status.text.contains("acme"), "{}", status.text);
}

#[tokio::test]
async fn only_administrators_of_the_installation_have_tenants() {
    let bed = bed().await;
    let acme = bed.tenant("acme", "ann@example.org").await;
    let home = bearer(&bed.admin().await);
    for line in [
        "GET /api/tenants".to_owned(),
        format!("GET /api/tenants/{}", acme.tenant),
        "GET /api/admin/config".to_owned(),
        "POST /api/admin/restart-hint".to_owned(),
        "GET /api/admin/health".to_owned(),
        "GET /metrics".to_owned(),
    ] {
        let refused = bed.send(&line, &[&acme.bearer], "").await;
        assert_eq!(refused.status, 403, "{line}: {}", refused.text);
        assert!(refused.text.contains("installation"), "{}", refused.text);
        assert_eq!(bed.send(&line, &[&home], "").await.status, 200, "{line}");
    }
    let body = json!({"slug": "mine", "administrator": "eve@example.org"});
    assert_eq!(bed.json("POST /api/tenants", &[&acme.bearer], &body).await.status, 403);
    let about = bed.send("GET /api/about", &[&acme.bearer], "").await.json();
    assert_eq!((about["data_dir"].as_str(), about["workspace"].as_str()), (Some(""), Some("")));
    assert_eq!(bed.send("GET /api/auth/me", &[&acme.bearer], "").await.json()["installation"], false);
    assert_eq!(bed.send("GET /api/auth/me", &[&home], "").await.json()["installation"], true);
    for (body, field) in [
        (json!({"slug": "acme", "administrator": "a@b.example"}), "slug"),
        (json!({"slug": "A b", "administrator": "a@b.example"}), "slug"),
        (json!({"slug": "fine", "administrator": "nobody"}), "administrator"),
        (json!({"slug": "fine", "administrator": "a@b.example", "name": ""}), "name"),
        (json!({"slug": "fine", "administrator": "a@b.example", "colour": 1}), "colour"),
    ] {
        let answer = bed.json("POST /api/tenants", &[&home], &body).await;
        assert!((400..500).contains(&answer.status), "{body}: {}", answer.text);
        assert_eq!(answer.json()["field"], field, "{body}: {}", answer.text);
    }
    // Nothing stays of one that could not be made.
    let list = bed.send("GET /api/tenants", &[&home], "").await.json();
    let slugs: Vec<&str> = list["items"].as_array().unwrap().iter().map(|one| one["slug"].as_str().unwrap()).collect();
    assert_eq!(slugs, ["acme", "default"]);
}
