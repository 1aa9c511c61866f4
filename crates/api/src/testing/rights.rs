//! Rights hang on ids: a new name changes none, and what is made again under an old name has none of the old one's.

use super::permissions::api_key;
use super::{Bed, bed};
use serde_json::{Value, json};
use steward_core::datasource::{DomainGroup, DomainText, DomainTextKind};
use steward_core::event::Origin;
use steward_core::hash::sha256;
use steward_core::ports::{ExternalGroups, Groups as _, Role, User, Users as _};
use steward_core::provenance::Provenance;
use steward_core::{AgentId, GroupId, TenantId, Timestamp, UserId};
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;
const RULES: &str = "/api/policies/tools";
const LABELS: &str = "/api/data-governance/policies";

/// People of these roles by number, each with a key of their own.
async fn house(roles: &[Role]) -> Bed {
    let bed = bed().await;
    bed.admin().await;
    for (number, role) in roles.iter().enumerate() {
        let id = person(number);
        let user = User {
            api_key_hash: Some(sha256(api_key(id).as_bytes())),
            ..User::new(id, format!("p{number}@example.org"), "P", *role, Timestamp(0))
        };
        bed.store.create_user(TENANT, &user).await.unwrap();
    }
    bed
}

fn person(number: usize) -> UserId {
    UserId(Uuid::from_u128(0xaaa0 + number as u128))
}

async fn ask(bed: &Bed, who: usize, line: &str, body: Option<&Value>) -> (u16, Value) {
    let bearer = format!("authorization: Bearer {}", api_key(person(who)));
    let answer = match body {
        Some(body) => bed.json(line, &[&bearer], body).await,
        None => bed.send(line, &[&bearer], "").await,
    };
    (answer.status, serde_json::from_str(&answer.text).unwrap_or_default())
}

async fn done(bed: &Bed, who: usize, line: &str, body: Value) -> Value {
    let (status, answer) = ask(bed, who, line, Some(&body)).await;
    assert!((200..300).contains(&status), "{line}: {status} {answer}");
    answer
}

async fn shown(bed: &Bed, path: &str) -> Value {
    let (status, answer) = ask(bed, 0, &format!("GET {path}"), None).await;
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

fn agent_id(number: u128) -> AgentId {
    AgentId(Uuid::from_u128(0xbbb0 + number))
}

async fn save_agent(bed: &Bed, number: u128, name: &str) -> AgentId {
    let id = agent_id(number);
    let agent = json!({"id": id, "name": name, "instructions": ""});
    bed.store.save_agent(TENANT, &serde_json::from_value(agent).unwrap()).await.unwrap();
    id
}

/// The names of the rules over runs of an agent.
async fn rules_over(bed: &Bed, id: AgentId) -> Vec<String> {
    use steward_core::ports::Agents as _;
    let agent = bed.store.agent(TENANT, id).await.unwrap();
    let rules = bed.app().runs.tool_rules(&agent, Origin::Chat, person(0)).await.unwrap();
    rules.into_iter().map(|rule| rule.name).collect()
}

#[tokio::test]
async fn rules_labels_and_keys_stay_with_an_agent_whatever_it_is_called() {
    let bed = house(&[Role::Admin]).await;
    let shop = save_agent(&bed, 1, "shop").await;
    let rule = json!({"name": "no writes", "risks": ["write"], "agents": ["shop"], "decision": "deny"});
    let kept = done(&bed, 0, &format!("PUT {RULES}"), json!({"version": 0, "rules": [rule]})).await;
    assert_eq!(kept["rules"][0]["agents"], json!([{"id": shop, "name": "shop"}]));
    let label = json!({"name": "sales", "classification": "confidential", "agents": [shop]});
    done(&bed, 0, &format!("PUT {LABELS}"), json!({"version": 0, "labels": [label]})).await;
    let key = done(&bed, 0, "POST /api/keys", json!({"name": "k", "agents": ["shop"]})).await;
    assert_eq!(key["agents"], json!([{"id": shop, "name": "shop"}]));
    let models = async || {
        let bearer = format!("authorization: Bearer {}", key["secret"].as_str().unwrap());
        let listed = bed.send("GET /v1/models", &[&bearer], "").await.json();
        listed["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let check = async |agent: &str| {
        let said = done(&bed, 0, "POST /api/data-governance/check", json!({"agent": agent})).await;
        !said["classified"].is_null()
    };
    assert_eq!((rules_over(&bed, shop).await.len(), check("shop").await), (1, true));
    assert!(models().await.contains(&"shop".to_owned()), "{:?}", models().await);

    // Renamed: still under the rule; what takes the name isn't.
    save_agent(&bed, 1, "shop 2").await;
    let other = save_agent(&bed, 2, "shop").await;
    assert_eq!((rules_over(&bed, shop).await.len(), rules_over(&bed, other).await.len()), (1, 0));
    assert_eq!((check("shop 2").await, check("shop").await), (true, false));
    let listed = models().await;
    assert!(listed.contains(&"shop 2".to_owned()) && !listed.contains(&"shop".to_owned()), "{listed:?}");
    assert_eq!(shown(&bed, RULES).await["rules"][0]["agents"], json!([{"id": shop, "name": "shop 2"}]));

    // Deleted: it is shown as that, may stay in the list, and its name means another one.
    bed.store.delete_agent(TENANT, shop, bed.clock_now()).await.unwrap();
    save_agent(&bed, 3, "shop 2").await;
    let gone = json!([{"id": shop, "name": null}]);
    assert_eq!(shown(&bed, RULES).await["rules"][0]["agents"], gone);
    assert_eq!(shown(&bed, LABELS).await["labels"][0]["agents"], gone);
    assert_eq!(shown(&bed, "/api/keys").await["items"][0]["agents"], gone);
    assert!(rules_over(&bed, agent_id(3)).await.is_empty() && !check("shop 2").await);
    assert!(!models().await.contains(&"shop 2".to_owned()));
    let rule = json!({"name": "no writes", "agents": [shop], "decision": "deny"});
    let again = done(&bed, 0, &format!("PUT {RULES}"), json!({"version": 1, "rules": [rule.clone()]})).await;
    assert_eq!(again["rules"][0]["agents"], gone);
    let unknown = json!({"version": 2, "rules": [{"name": "x", "agents": [person(0)], "decision": "deny"}]});
    assert_eq!(ask(&bed, 0, &format!("PUT {RULES}"), Some(&unknown)).await.1["field"], "rules.0.agents");
    let late = json!({"version": 1, "rules": [rule]});
    assert_eq!(ask(&bed, 0, &format!("PUT {RULES}"), Some(&late)).await.1["code"], "changed_meanwhile");
}

#[tokio::test]
async fn of_two_changes_from_one_version_one_counts() {
    let bed = house(&[Role::Admin]).await;
    let put = async |name: &str| {
        let rules = json!({"version": 0, "rules": [{"name": name, "decision": "deny"}]});
        ask(&bed, 0, &format!("PUT {RULES}"), Some(&rules)).await.0
    };
    let (one, other) = tokio::join!(put("a"), put("b"));
    let mut both = [one, other];
    both.sort_unstable();
    assert_eq!(both, [200, 409]);
    assert_eq!(shown(&bed, RULES).await["version"], 1);
}

#[tokio::test]
async fn budgets_of_others_are_shown_to_who_sets_them() {
    let bed = house(&[Role::Admin, Role::Operator, Role::Developer, Role::Viewer]).await;
    let budget = |scope: Value| json!({"scope": scope, "period": "day", "tokens": 5});
    for scope in [
        json!({"kind": "installation"}),
        json!({"kind": "user", "id": person(2)}),
        json!({"kind": "user", "id": person(3)}),
    ] {
        done(&bed, 0, "POST /api/budgets", budget(scope)).await;
    }
    done(&bed, 2, "POST /api/keys", json!({"name": "mine", "budget": {"period": "day", "tokens": 1}})).await;
    for (who, expect) in [
        (0, vec!["installation", "mine", "p2@example.org", "p3@example.org"]),
        (1, vec!["installation", "mine", "p2@example.org", "p3@example.org"]),
        (2, vec!["mine", "p2@example.org"]),
        (3, vec!["p3@example.org"]),
    ] {
        let (_, page) = ask(&bed, who, "GET /api/budgets", None).await;
        let mut labels: Vec<&str> =
            page["items"].as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap()).collect();
        labels.sort_unstable();
        assert_eq!(labels, expect, "{who}");
    }
}

#[tokio::test]
async fn groups_of_two_sources_are_two_groups() {
    let bed = house(&[Role::Admin, Role::Developer, Role::Developer]).await;
    let local = done(&bed, 0, "POST /api/groups", json!({"name": "Staff"})).await;
    let told = |source: &str| ExternalGroups { source: source.to_owned(), names: vec!["staff".to_owned()] };
    bed.app().access.sync_memberships(person(1), &told("sso")).await.unwrap();
    bed.app().access.sync_memberships(person(2), &told("ldap")).await.unwrap();
    let members = shown(&bed, &format!("/api/groups/{}", local["id"].as_str().unwrap())).await;
    assert_eq!(members["members"], 0, "no login fills a group that is kept here");

    let (mut seen, mut path) = (Vec::new(), "/api/groups?limit=1".to_owned());
    loop {
        let page = shown(&bed, &path).await;
        seen.extend(page["items"].as_array().unwrap().iter().map(|one| one["source"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/api/groups?limit=1&cursor={cursor}");
    }
    assert_eq!(seen, [Value::Null, json!("ldap"), json!("sso")], "each once, page by page");

    let agent = save_agent(&bed, 1, "shop").await;
    done(&bed, 0, &format!("PUT /api/access/agent/{agent}"), json!({"restricted": true})).await;
    let grants = format!("POST /api/access/agent/{agent}/grants");
    let uses = async |who: usize| ask(&bed, who, &format!("GET /api/agents/{agent}"), None).await.0;
    done(&bed, 0, &grants, json!({"group": "staff", "level": "use"})).await;
    assert_eq!([uses(1).await, uses(2).await], [403, 403], "the one that is kept here");
    done(&bed, 0, &grants, json!({"group": "sso/staff", "level": "use"})).await;
    assert_eq!([uses(1).await, uses(2).await], [200, 403]);
    // Without the one that is kept here nobody can tell which of the others is meant.
    assert_eq!(ask(&bed, 0, &format!("DELETE /api/groups/{}", local["id"].as_str().unwrap()), None).await.0, 204);
    let which = ask(&bed, 0, &grants, Some(&json!({"group": "staff", "level": "use"}))).await;
    assert_eq!((which.0, &which.1["field"]), (422, &json!("group")), "{}", which.1);
}

fn text_of(name: &str, permission: &str) -> DomainText {
    DomainText {
        kind: DomainTextKind::Domain,
        name: name.to_owned(),
        text: format!("domain {name} from {name}@db {{\n  permission {permission} read\n  field id : int\n}}\n"),
        version: 0,
        changed_by: None,
        changed_at: Timestamp(0),
        provenance: Provenance::default(),
    }
}

#[tokio::test]
async fn a_domain_is_for_the_group_that_was_meant_and_for_no_name() {
    let bed = house(&[Role::Admin, Role::Viewer, Role::Viewer]).await;
    let group = async |name: &str, member: usize| -> GroupId {
        let made = done(&bed, 0, "POST /api/groups", json!({"name": name})).await;
        let id: GroupId = serde_json::from_value(made["id"].clone()).unwrap();
        bed.store.set_member(TENANT, id, person(member), true).await.unwrap();
        id
    };
    let (sales, _) = (group("sales", 1).await, group("admin", 2).await);
    let texts = [text_of("pay", "role:admin"), text_of("orders", "group:sales"), text_of("wages", "admin")];
    let meant = DomainGroup { domain: "orders".to_owned(), name: "sales".to_owned(), group: sales };
    bed.store.save_domain_texts(TENANT, &texts, &[meant]).await.unwrap();
    let sees = async |who: usize| -> Vec<String> {
        let (_, page) = ask(&bed, who, "GET /api/domains", None).await;
        let all = page["items"].as_array().or(page.as_array()).unwrap();
        all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(sees(0).await, ["pay", "wages"], "a bare name is a role");
    assert_eq!(sees(1).await, ["orders"]);
    assert_eq!(sees(2).await, Vec::<String>::new(), "a group called admin is no administrator");

    let rename = json!({"name": "sales EU"});
    done(&bed, 0, &format!("PATCH /api/groups/{sales}"), rename).await;
    group("sales", 2).await;
    assert_eq!(
        (sees(1).await, sees(2).await),
        (vec!["orders".to_owned()], Vec::new()),
        "it is the group, not its name"
    );
    assert_eq!(ask(&bed, 0, &format!("DELETE /api/groups/{sales}"), None).await.0, 204);
    group("sales EU", 2).await;
    assert_eq!((sees(1).await, sees(2).await), (Vec::new(), Vec::new()), "a new one has none of its rights");
}
