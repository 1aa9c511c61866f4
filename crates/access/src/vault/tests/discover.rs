use std::collections::BTreeMap;
use std::time::Duration;

use steward_core::agent::Agent;
use steward_core::credential::{Credential, CredentialKind as Kind};
use steward_core::permission::{AccessLevel, Permissions};
use steward_core::ports::{NewCredential, Role, RunUser, Vault, VaultError};
use steward_core::skill::{CredentialWanted, SkillKind};
use steward_core::{AgentId, CredentialId};
use uuid::Uuid;

use super::bed::{Bed, TENANT, new, token};
use crate::vault::SealedVault;

fn agent(credentials: &[(&str, CredentialId)]) -> Agent {
    let pairs = credentials.iter().map(|(key, id)| ((*key).to_owned(), *id));
    let credentials: BTreeMap<_, _> = pairs.collect();
    serde_json::from_value(serde_json::json!({
        "id": AgentId(Uuid::from_u128(1)),
        "name": "zoe",
        "instructions": "",
        "credentials": credentials,
    }))
    .unwrap()
}

async fn keep(vault: &SealedVault, name: &str, roles: &[Role], discoverable: bool) -> Credential {
    let new = NewCredential { roles: roles.to_vec(), discoverable, ..token(name, "s3cret") };
    vault.keep(TENANT, new).await.unwrap()
}

fn named(name: &str) -> CredentialWanted {
    CredentialWanted { name: Some(name.to_owned()), ..CredentialWanted::default() }
}

/// For the skill `fetch` of kind http.
async fn find(
    vault: &SealedVault,
    agent: &Agent,
    role: Option<Role>,
    wanted: &CredentialWanted,
) -> Result<Option<String>, VaultError> {
    let kinds = SkillKind::Http.credentials();
    let user = role.map(|role| RunUser { role, permissions: Permissions::default() });
    let found = vault.discover(TENANT, agent, user.as_ref(), "fetch", kinds, wanted);
    Ok(found.await?.map(|found| found.name))
}

#[expect(clippy::needless_pass_by_value, reason = "for what a call returns")]
fn missing(result: Result<Option<String>, VaultError>, word: &str) {
    assert!(matches!(&result, Err(VaultError::Missing(text)) if text.contains(word)), "{result:?}");
}

#[tokio::test]
async fn the_agent_comes_first_then_the_role_then_the_kind() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    let any = CredentialWanted::default();
    let open = keep(&vault, "open", &[], true).await;
    let bound = keep(&vault, "bound", &[Role::Operator], false).await;
    let own = keep(&vault, "own", &[], false).await;
    let special = keep(&vault, "special", &[], false).await;
    let (nobody, role) = (agent(&[]), Some(Role::Operator));
    let by_kind = agent(&[("token", own.id)]);
    let by_skill = agent(&[("token", own.id), ("fetch", special.id)]);
    let found = async |agent, role| find(&vault, agent, role, &any).await.unwrap();
    assert_eq!(found(&by_skill, role).await.unwrap(), special.name);
    assert_eq!(found(&by_kind, role).await.unwrap(), own.name);
    assert_eq!(found(&nobody, role).await.unwrap(), bound.name);
    assert_eq!(found(&nobody, None).await.unwrap(), open.name);
    assert_eq!(found(&nobody, Some(Role::Viewer)).await.unwrap(), open.name);

    // By name.
    let found = async |agent, name: &str| find(&vault, agent, None, &named(name)).await;
    assert_eq!(found(&nobody, "open").await.unwrap(), Some(open.name));
    missing(found(&nobody, "own").await, "\"own\"");
    missing(found(&nobody, "bound").await, "steward credential list");
    assert_eq!(found(&by_kind, "own").await.unwrap(), Some(own.name), "what stands under a kind serves who names it");
    missing(found(&by_kind, "other").await, "\"other\"");
    assert_eq!(
        found(&by_skill, "other").await.unwrap(),
        Some(special.name),
        "what stands under the skill was meant for it"
    );
}

#[tokio::test]
async fn several_are_not_chosen_among() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    let any = CredentialWanted::default();
    let nobody = agent(&[]);
    missing(find(&vault, &nobody, None, &any).await, "api_key or token");
    let optional = CredentialWanted { optional: true, ..CredentialWanted::default() };
    assert_eq!(find(&vault, &nobody, None, &optional).await.unwrap(), None);
    let ends = NewCredential { discoverable: true, expires_at: Some(bed.clock_plus(60)), ..token("ending", "t") };
    vault.keep(TENANT, ends).await.unwrap();
    keep(&vault, "two", &[], true).await;
    let several = find(&vault, &nobody, None, &optional).await;
    assert!(matches!(&several, Err(VaultError::Ambiguous(names)) if names == "ending, two"), "{several:?}");
    let found = find(&vault, &nobody, None, &named("ending")).await;
    assert_eq!(found.unwrap().as_deref(), Some("ending"));
    bed.clock.advance(Duration::from_mins(1));
    let found = find(&vault, &nobody, None, &any).await.unwrap();
    assert_eq!(found.as_deref(), Some("two"), "one that has ended is none");
    let found = find(&vault, &nobody, None, &named("ending")).await;
    assert_eq!(found.unwrap().as_deref(), Some("ending"), "opening says why");

    let ssh = [("username", "u"), ("password", "p")];
    let other = NewCredential { discoverable: true, ..new("login", Kind::Database, &[("url", "sqlite:x")]) };
    vault.keep(TENANT, other).await.unwrap();
    let found = find(&vault, &nobody, None, &any).await.unwrap();
    assert_eq!(found.as_deref(), Some("two"), "another kind does not suit");
    let password = NewCredential { discoverable: true, ..new("pass", Kind::Password, &ssh) };
    vault.keep(TENANT, password).await.unwrap();
    let wanted = CredentialWanted { kind: Some(Kind::Password), ..CredentialWanted::default() };
    let found = find(&vault, &nobody, None, &wanted).await.unwrap();
    assert_eq!(found.as_deref(), Some("pass"));
}

#[tokio::test]
async fn what_an_agent_names_must_be_there_and_suit() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    let any = CredentialWanted::default();
    let gone = CredentialId(Uuid::from_u128(404));
    let text = find(&vault, &agent(&[("fetch", gone)]), None, &any).await;
    missing(text, "credentials.fetch");
    let other = new("db", Kind::Database, &[("url", "sqlite:x")]);
    let other = vault.keep(TENANT, other).await.unwrap();
    let text = find(&vault, &agent(&[("fetch", other.id)]), None, &any).await;
    missing(text, "kind database");
    let text = find(&vault, &agent(&[("token", other.id)]), None, &any).await;
    missing(text, "needs a credential");
}

#[tokio::test]
async fn all_pages_are_looked_at() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    for number in 0..501 {
        keep(&vault, &format!("n{number:03}"), &[], false).await;
    }
    let last = keep(&vault, "zz", &[], true).await;
    let found = find(&vault, &agent(&[]), None, &CredentialWanted::default()).await;
    assert_eq!(found.unwrap(), Some(last.name));
    assert_eq!(vault.rotate(TENANT).await.unwrap(), 502);
}

#[tokio::test]
async fn a_grant_opens_a_credential_to_the_runs_of_its_user() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    let any = CredentialWanted::default();
    let granted = keep(&vault, "granted", &[], false).await;
    let agent = agent(&[]);
    missing(find(&vault, &agent, Some(Role::Developer), &any).await, "fetch");
    let mut user = RunUser { role: Role::Developer, permissions: Permissions::default() };
    user.permissions.grant(granted.id.into(), AccessLevel::Use);
    let found = vault.discover(TENANT, &agent, Some(&user), "fetch", SkillKind::Http.credentials(), &any).await;
    assert_eq!(found.unwrap().map(|found| found.name).as_deref(), Some("granted"));
}
