//! `/scim/v2` as Okta, Entra and Keycloak use it, from the files beside this one, and what follows from it.

use super::{Answer, Bed, EMAIL, bearer, bed};
use serde_json::{Value, json};
use std::collections::HashMap;
use steward_access::LOCAL_USER;
use steward_core::ports::{Role, User, Users as _};
use steward_core::{TenantId, Timestamp, UserId};
use uuid::Uuid;

struct World {
    bed: Bed,
    admin: String,
    token: String,
}

async fn world() -> World {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    let made = bed.json("POST /api/identity/scim/tokens", &[&admin], &json!({"name": "okta"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let token = format!("authorization: Bearer {}", text(&made.json()["secret"]));
    World { bed, admin, token }
}

impl World {
    /// A request below `/scim/v2`.
    async fn send(&self, line: &str, body: &str) -> Answer {
        let line = line.replacen(" /", " /scim/v2/", 1);
        self.bed.send(&line, &[&self.token, "content-type: application/scim+json"], body).await
    }

    async fn made(&self, place: &str, body: Value) -> String {
        let answer = self.send(&format!("POST /{place}"), &body.to_string()).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        assert_eq!(answer.header("location"), text(&answer.json()["meta"]["location"]));
        text(&answer.json()["id"])
    }

    async fn patch(&self, line: &str, operations: Value) -> u16 {
        self.send(&format!("PATCH /{line}"), &json!({"Operations": operations}).to_string()).await.status
    }

    async fn role(&self, id: &str) -> String {
        let answer = self.bed.send(&format!("GET /api/users/{id}"), &[&self.admin], "").await;
        text(&answer.json()["role"])
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn filled(text: &str, kept: &HashMap<String, String>) -> String {
    kept.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// Plays a recorded sequence; what is kept of an answer stands in braces in later steps.
async fn play(file: &str) {
    let world = world().await;
    let steps: Vec<Value> = serde_json::from_str(file).unwrap();
    let mut kept = HashMap::new();
    for step in &steps {
        let line = filled(&text(&step["send"]), &kept);
        let body = if step["body"].is_null() { String::new() } else { filled(&step["body"].to_string(), &kept) };
        let answer = world.send(&line, &body).await;
        assert_eq!(u64::from(answer.status), step["status"].as_u64().unwrap(), "{line}: {}", answer.text);
        if answer.status == 204 {
            assert!(answer.text.is_empty());
            continue;
        }
        assert_eq!(answer.header("content-type"), "application/scim+json", "{line}");
        let found = answer.json();
        for (pointer, expect) in step["expect"].as_object().into_iter().flatten() {
            // URNs have no slashes, so that they are steps of a pointer as they are.
            let expect: Value = serde_json::from_str(&filled(&expect.to_string(), &kept)).unwrap();
            assert_eq!(found.pointer(pointer).unwrap_or(&Value::Null), &expect, "{line} {pointer}: {found}");
        }
        for (name, pointer) in step["keep"].as_object().into_iter().flatten() {
            kept.insert(name.clone(), text(found.pointer(pointer.as_str().unwrap()).unwrap()));
        }
    }
    assert!(steps.len() > 10);
}

#[tokio::test]
async fn requests_of_entra_are_answered_as_it_expects() {
    play(include_str!("scim/entra.json")).await;
}

#[tokio::test]
async fn requests_of_okta_are_answered_as_it_expects() {
    play(include_str!("scim/okta.json")).await;
}

#[tokio::test]
async fn requests_of_keycloak_are_answered_as_it_expects() {
    play(include_str!("scim/keycloak.json")).await;
}

#[tokio::test]
async fn bad_requests_are_refused_in_the_words_of_scim_and_change_nothing() {
    let world = world().await;
    world.bed.state.installation().access.service_user(LOCAL_USER, "local").await.unwrap();
    let ben = world.made("Users", json!({"userName": "ben@example.org"})).await;
    let local = world.bed.json("POST /api/groups", &[&world.admin], &json!({"name": "local"})).await.json();
    world.made("Groups", json!({"displayName": "staff"})).await;
    let me = world.bed.send("GET /api/auth/me", &[&world.admin], "").await.json();
    let kept = HashMap::from([
        ("ben".to_owned(), ben.clone()),
        ("local".to_owned(), text(&local["id"])),
        ("admin".to_owned(), text(&me["id"])),
    ]);
    let before = (world.send("GET /Users", "").await.json(), world.send("GET /Groups", "").await.json());
    let cases: Vec<(String, Option<String>, u16, Option<String>)> =
        serde_json::from_str(include_str!("scim/bad.json")).unwrap();
    for (line, body, status, scim_type) in cases {
        let answer = world.send(&filled(&line, &kept), &body.clone().unwrap_or_default()).await;
        assert_eq!(answer.status, status, "{line} {body:?}: {}", answer.text);
        let error = answer.json();
        assert_eq!(error["schemas"][0], "urn:ietf:params:scim:api:messages:2.0:Error", "{line}: {error}");
        assert_eq!(error["scimType"].as_str(), scim_type.as_deref(), "{line} {body:?}: {error}");
        assert_eq!(error["status"], status.to_string(), "{line}: {error}");
        assert!(!text(&error["detail"]).is_empty());
    }
    let after = (world.send("GET /Users", "").await.json(), world.send("GET /Groups", "").await.json());
    assert_eq!(before, after);
}

#[tokio::test]
async fn what_is_removed_is_gone_and_a_search_comes_as_a_body() {
    let world = world().await;
    let ann = json!({"userName": "ann@example.org", "displayName": "Ann Example", "active": false});
    let ann = world.made("Users", ann).await;
    world.made("Users", json!({"userName": "ben@example.org"})).await;
    world.made("Groups", json!({"displayName": "staff"})).await;
    let line = format!("Users/{ann}");
    let removed = async |path: &str| world.patch(&line, json!([{"op": "remove", "path": path}])).await;
    let read = async || world.send(&format!("GET /{line}"), "").await.json();
    assert_eq!(read().await["displayName"], "Ann Example");
    assert_eq!((removed("displayName").await, &read().await["displayName"]), (200, &Value::Null));
    let here = world.bed.send(&format!("GET /api/users/{ann}"), &[&world.admin], "").await.json();
    assert_eq!(here["name"], "ann", "as somebody who never had a name");
    assert_eq!((removed("active").await, &read().await["active"]), (200, &json!(true)), "as who never said it");
    assert_eq!(removed("userName").await, 400);
    // What was never set does not change what people here have set.
    assert_eq!(world.patch(&line, json!([{"op": "add", "path": "title", "value": "Dr"}])).await, 200);
    let schemas = world.send("GET /Schemas", "").await.text;
    assert!(schemas.contains("An email address, unless one is among `emails`"), "{schemas}");

    let search = async |line: &str, body: Value| world.send(line, &body.to_string()).await;
    let total = async |line: &str, body: Value| {
        let answer = search(line, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let found = answer.json();
        let names = found["Resources"].as_array().unwrap().iter();
        let names: Vec<String> = names.map(|one| text(one.get("userName").unwrap_or(&one["displayName"]))).collect();
        (found["totalResults"].as_u64().unwrap(), names.join(" "))
    };
    let by_name = json!({"filter": "userName eq \"ben@example.org\"", "attributes": ["userName"]});
    assert_eq!(total("POST /Users/.search", by_name.clone()).await, (1, "ben@example.org".to_owned()));
    assert_eq!(total("POST /.search", by_name).await, (1, "ben@example.org".to_owned()));
    assert_eq!(total("POST /Groups/.search", json!({"count": 10})).await, (1, "staff".to_owned()));
    let (all, names) = total("POST /.search", json!({})).await;
    assert!(all == 4 && names.ends_with("staff"), "{all} {names}");
    for start in 1..=4 {
        let (counted, name) = total("POST /.search", json!({"startIndex": start, "count": 1})).await;
        assert_eq!((counted, name.as_str()), (4, names.split(' ').nth(start - 1).unwrap()));
    }
    for (line, body, status) in [
        ("POST /.search", json!({"filter": "nothing eq 1"}), 400),
        ("POST /.search", json!([]), 400),
        ("POST /Users/.search", json!({"count": "many"}), 400),
    ] {
        assert_eq!(search(line, body).await.status, status, "{line}");
    }
    assert_eq!(world.send("GET /Users/.search", "").await.status, 405);
}

#[tokio::test]
async fn a_token_opens_scim_and_nothing_else_until_it_is_revoked() {
    let world = world().await;
    let bed = &world.bed;
    for wrong in ["", "authorization: Bearer sk-steward-scim-wrong", &world.admin] {
        let answer = bed.send("GET /scim/v2/Users", &[wrong], "").await;
        assert_eq!((answer.status, answer.header("www-authenticate")), (401, "Bearer"), "{wrong}");
        assert_eq!(answer.json()["status"], "401");
    }
    for line in ["GET /api/users", "GET /api/auth/me", "POST /api/users", "GET /v1/models"] {
        let answer = bed.send(line, &[&world.token], "").await;
        assert!(matches!(answer.status, 401 | 403), "{line}: {}", answer.text);
    }
    let refused = bed.send("GET /api/users", &[&world.token], "").await.json();
    assert_eq!(refused["code"], "scim_token");

    let listed = bed.send("GET /api/identity/scim/tokens", &[&world.admin], "").await.json();
    let token = &listed["items"][0];
    assert_eq!(
        (&token["name"], &token["created_by"], &token["last_used_at"]),
        (&json!("okta"), &json!(EMAIL), &Value::Null)
    );
    assert!(!listed.to_string().contains(&world.token["authorization: Bearer ".len()..]));
    assert_eq!(world.send("GET /Users", "").await.status, 200);
    let listed = bed.send("GET /api/identity/scim/tokens", &[&world.admin], "").await.json();
    assert_eq!(listed["items"][0]["last_used_at"], bed.clock_now().0);
    let again = bed.json("POST /api/identity/scim/tokens", &[&world.admin], &json!({"name": "Okta"})).await;
    assert_eq!((again.status, &again.json()["field"]), (422, &json!("name")));

    let revoke = format!("DELETE /api/identity/scim/tokens/{}", text(&token["id"]));
    assert_eq!(bed.send(&revoke, &[&world.admin], "").await.status, 204);
    assert_eq!(world.send("GET /Users", "").await.status, 401);
    assert_eq!(bed.send(&revoke, &[&world.admin], "").await.status, 404);
}

#[tokio::test]
async fn what_a_provider_does_is_in_the_audit_trail_under_the_name_of_its_token() {
    let world = world().await;
    let ann = world.made("Users", json!({"userName": "ann@example.org"})).await;
    assert_eq!(world.send(&format!("DELETE /Users/{ann}"), "").await.status, 204);
    assert_eq!(world.send(&format!("DELETE /Users/{ann}"), "").await.status, 404);
    let entries = world.bed.send("GET /api/audit?actor=scim:okta", &[&world.admin], "").await.json();
    let entries = entries["items"].as_array().unwrap();
    let found: Vec<_> =
        entries.iter().map(|entry| (text(&entry["action"]), text(&entry["target"]), text(&entry["result"]))).collect();
    let entry = |action: &str, result: &str| (action.to_owned(), ann.clone(), result.to_owned());
    let expect =
        [entry("scim.users.delete", "failed"), entry("scim.users.delete", "ok"), entry("scim.users.create", "ok")];
    assert_eq!(found, expect);
}

#[tokio::test]
async fn somebody_disabled_by_a_provider_is_out_at_once() {
    let world = world().await;
    let bed = &world.bed;
    let ann = world.made("Users", json!({"userName": "ann@example.org", "displayName": "Ann"})).await;
    let id = UserId(ann.parse().unwrap());
    let key = bed.state.installation().access.make_api_key(id).await.unwrap();
    let key = format!("authorization: Bearer {key}");
    assert_eq!(bed.send("GET /api/auth/me", &[&key], "").await.json()["name"], "Ann");
    assert_eq!(world.patch(&format!("Users/{ann}"), json!([{"op": "replace", "value": {"active": false}}])).await, 200);
    assert_eq!(bed.send("GET /api/auth/me", &[&key], "").await.status, 401);
    assert_eq!(world.patch(&format!("Users/{ann}"), json!([{"op": "replace", "value": {"active": true}}])).await, 200);
    assert_eq!(bed.send("GET /api/auth/me", &[&key], "").await.status, 200);

    // Removed is disabled, and kept; whoever an administrator enables again is there again.
    assert_eq!(world.send(&format!("DELETE /Users/{ann}"), "").await.status, 204);
    let kept = bed.send(&format!("GET /api/users/{ann}"), &[&world.admin], "").await.json();
    assert_eq!(kept["state"], "disabled");
    assert_eq!(world.send(&format!("GET /Users/{ann}"), "").await.status, 404);
    let enabled = bed.json(&format!("PATCH /api/users/{ann}"), &[&world.admin], &json!({"disabled": false})).await;
    assert_eq!(enabled.status, 200, "{}", enabled.text);
    assert_eq!(world.send(&format!("GET /Users/{ann}"), "").await.status, 200);
}

#[tokio::test]
async fn roles_follow_the_groups_of_the_provider() {
    let world = world().await;
    let (bed, admin) = (&world.bed, &world.admin);
    let settings = json!({"roles": [{"group": "Ops", "role": "operator"}], "default_role": "viewer"});
    let saved = bed.json("PUT /api/identity/scim", &[admin], &settings).await;
    assert_eq!((saved.status, saved.json()), (200, settings), "{}", saved.text);
    let ann = world.made("Users", json!({"userName": "ann@example.org"})).await;
    assert_eq!(world.role(&ann).await, "viewer");
    let ops = world.made("Groups", json!({"displayName": "ops", "members": [{"value": ann}]})).await;
    assert_eq!(world.role(&ann).await, "operator");
    let group = bed.send(&format!("GET /api/groups/{ops}"), &[admin], "").await.json();
    assert_eq!((&group["source"], &group["members"]), (&json!("scim"), &json!(1)));
    let by_hand = bed.send(&format!("DELETE /api/groups/{ops}/members/{ann}"), &[admin], "").await;
    assert_eq!((by_hand.status, &by_hand.json()["code"]), (409, &json!("kept_elsewhere")), "{}", by_hand.text);

    let rename = |name: &str| json!([{"op": "replace", "path": "displayName", "value": name}]);
    assert_eq!(world.patch(&format!("Groups/{ops}"), rename("others")).await, 204);
    assert_eq!(world.role(&ann).await, "viewer");
    assert_eq!(world.patch(&format!("Groups/{ops}"), rename("Ops")).await, 204);
    assert_eq!(world.role(&ann).await, "operator");
    let settings = json!({"roles": [{"group": "Ops", "role": "developer"}], "default_role": "viewer"});
    assert_eq!(bed.json("PUT /api/identity/scim", &[admin], &settings).await.status, 200);
    assert_eq!(world.role(&ann).await, "developer", "at once");
    assert_eq!(world.send(&format!("DELETE /Groups/{ops}"), "").await.status, 204);
    assert_eq!(world.role(&ann).await, "viewer");

    // The last administrator stays one, although a provider has written them.
    let me = text(&bed.send("GET /api/auth/me", &[admin], "").await.json()["id"]);
    assert_eq!(world.patch(&format!("Users/{me}"), json!([{"op": "add", "path": "title", "value": "Dr"}])).await, 200);
    assert_eq!(world.role(&me).await, "admin");
    for bad in [json!({"default_role": "root"}), json!({"roles": [{"group": " ", "role": "viewer"}]}), json!({"x": 1})]
    {
        assert_eq!(bed.json("PUT /api/identity/scim", &[admin], &bad).await.status, 422, "{bad}");
    }
}

#[tokio::test]
async fn more_than_a_thousand_users_come_in_pages() {
    let world = world().await;
    for number in 0..1_050_u128 {
        let id = UserId(Uuid::from_u128(0xabc_0000 + number));
        let user = User::new(id, format!("user{number}@example.org"), "User", Role::Viewer, Timestamp(0));
        world.bed.store.create_user(TenantId::DEFAULT, &user).await.unwrap();
    }
    let mut seen = std::collections::HashSet::new();
    for start in [1, 401, 801, 1201] {
        let page = world.send(&format!("GET /Users?startIndex={start}&count=400&attributes=userName"), "").await.json();
        assert_eq!((&page["totalResults"], &page["startIndex"]), (&json!(1051), &json!(start)));
        let all = page["Resources"].as_array().unwrap();
        assert_eq!(page["itemsPerPage"], all.len());
        seen.extend(all.iter().map(|user| text(&user["userName"])));
    }
    assert_eq!(seen.len(), 1051);
    let none = world.send("GET /Users?count=0", "").await.json();
    assert_eq!((&none["totalResults"], &none["Resources"]), (&json!(1051), &json!([])));
    let most = world.send("GET /Users?count=5000", "").await.json();
    assert_eq!(most["itemsPerPage"], 1000);
    let late = world.send("GET /Users?startIndex=9999", "").await.json();
    assert_eq!((&late["totalResults"], &late["Resources"]), (&json!(1051), &json!([])));

    // All of them in a group, taken out again one by one and at once.
    let all: Vec<Value> =
        (0..1_050_u128).map(|number| json!({"value": Uuid::from_u128(0xabc_0000 + number)})).collect();
    let group = world.made("Groups", json!({"displayName": "everybody", "members": all})).await;
    let members = async || {
        let group = world.send(&format!("GET /Groups/{group}"), "").await.json();
        group["members"].as_array().unwrap().len()
    };
    assert_eq!(members().await, 1050);
    let path = format!("members[value eq \"{}\"]", Uuid::from_u128(0xabc_0000));
    assert_eq!(world.patch(&format!("Groups/{group}"), json!([{"op": "remove", "path": path}])).await, 204);
    assert_eq!(members().await, 1049);
    assert_eq!(world.patch(&format!("Groups/{group}"), json!([{"op": "remove", "path": "members"}])).await, 204);
    assert_eq!(members().await, 0);
}
