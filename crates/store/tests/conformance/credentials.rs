use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, id};
use std::collections::BTreeMap;
use steward_core::credential::{Credential, CredentialKind, CredentialUse};
use steward_core::ports::{CredentialRows, SealedCredential, StoreError};
use steward_core::{CredentialId, RunId, TenantId, Timestamp};
use steward_store::Store;
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

fn row(name: &str) -> SealedCredential {
    SealedCredential {
        credential: Credential {
            id: CredentialId(id()),
            name: name.to_owned(),
            kind: CredentialKind::Token,
            description: String::new(),
            shown: BTreeMap::new(),
            secret: vec!["token".to_owned()],
            roles: Vec::new(),
            discoverable: false,
            hosts: Vec::new(),
            connection: None,
            created_at: NOW,
            changed_at: NOW,
            used_at: None,
            expires_at: None,
        },
        key_id: "k1".to_owned(),
        sealed: vec![0, 1, 254, 255],
    }
}

fn resealed(row: &SealedCredential) -> SealedCredential {
    SealedCredential { key_id: "k2".to_owned(), sealed: vec![9], ..row.clone() }
}

async fn same(store: &Store, row: &SealedCredential) {
    let kept = store.credential_row(TENANT, row.credential.id).await;
    let kept = kept.unwrap();
    assert_eq!(kept.credential, row.credential);
    assert_eq!((&kept.key_id, &kept.sealed), (&row.key_id, &row.sealed));
}

pub async fn rows_are_kept_by_name(bed: Bed) {
    let store = bed.store();
    let (db, api) = (row("Ärger_db"), row("api key"));
    for one in [&db, &api] {
        store.save_credential(TENANT, one).await.unwrap();
        same(&store, one).await;
    }
    let taken = store.save_credential(TENANT, &row("api key")).await;
    assert!(matches!(&taken, Err(StoreError::Conflict(text)) if text.contains("api key")), "{taken:?}");
    store.save_credential(OTHER, &row("api key")).await.unwrap();
    let names = async |after, limit| {
        let page = store.credential_rows(TENANT, after, limit).await.unwrap();
        let names = page.items.into_iter().map(|row| row.credential.name);
        (names.collect::<Vec<_>>(), page.more)
    };
    let both = vec!["api key".to_owned(), "Ärger_db".to_owned()];
    assert_eq!(names(None, 0).await, (both.clone(), false));
    assert_eq!(names(None, 1).await, (both[..1].to_vec(), true));
    assert_eq!(names(Some("api key"), 1).await, (both[1..].to_vec(), false));
    let mut changed = api.clone();
    "other".clone_into(&mut changed.credential.name);
    changed.sealed = Vec::new();
    store.save_credential(TENANT, &changed).await.unwrap();
    same(&store, &changed).await;
    store.remove_credential(TENANT, api.credential.id).await.unwrap();
    for error in [
        store.credential_row(TENANT, api.credential.id).await.err(),
        store.credential_row(OTHER, db.credential.id).await.err(),
        store.remove_credential(TENANT, api.credential.id).await.err(),
    ] {
        assert!(matches!(error, Some(StoreError::NotFound(_))), "{error:?}");
    }
}

pub async fn one_key_seals_them_all(bed: Bed) {
    let store = bed.store();
    assert!(store.credential_keys().await.unwrap().is_empty());
    let one = row("one");
    store.save_credential(TENANT, &one).await.unwrap();
    for wrong in [resealed(&row("two")), resealed(&one)] {
        let refused = store.save_credential(TENANT, &wrong).await;
        assert!(matches!(&refused, Err(StoreError::Conflict(text)) if text.contains("another key")), "{refused:?}");
    }
    same(&store, &one).await;
    let theirs = resealed(&row("one"));
    store.save_credential(OTHER, &theirs).await.unwrap();
    let mut keys = store.credential_keys().await.unwrap();
    keys.sort();
    assert_eq!(keys, ["k1", "k2"]);
    store.remove_credential(TENANT, one.credential.id).await.unwrap();
    store.save_credential(TENANT, &resealed(&one)).await.unwrap();
    assert_eq!(store.credential_keys().await.unwrap(), ["k2"]);
}

pub async fn resealing_is_all_or_nothing(bed: Bed) {
    let store = bed.store();
    let rows = [row("a"), row("b"), row("c")];
    for one in &rows {
        store.save_credential(TENANT, one).await.unwrap();
    }
    let theirs = row("a");
    store.save_credential(OTHER, &theirs).await.unwrap();
    let new: Vec<_> = rows.iter().map(resealed).collect();
    let twice = vec![new[0].clone(), new[1].clone(), new[1].clone()];
    let stranger = vec![new[0].clone(), new[1].clone(), resealed(&row("x"))];
    let mut outdated = new.clone();
    outdated[2].credential.changed_at = Timestamp(NOW.0 - 1);
    let more = [&new[..], &[resealed(&row("x"))]].concat();
    for (from, wrong) in
        [("k1", &new[..2]), ("k1", &twice), ("k1", &stranger), ("k1", &outdated), ("k1", &more), ("k0", &new)]
    {
        let refused = store.reseal(TENANT, from, wrong).await;
        assert!(matches!(&refused, Err(StoreError::Conflict(text)) if text.contains("rotate")), "{refused:?}");
        for one in &rows {
            same(&store, one).await;
        }
    }
    store.reseal(TENANT, "k1", &new).await.unwrap();
    for one in &new {
        same(&store, one).await;
    }
    let kept = store.credential_row(OTHER, theirs.credential.id).await;
    assert_eq!(kept.unwrap().key_id, "k1", "another tenant's stay");
}

/// A new credential, used once; its id.
pub async fn used_in(store: &Store, run: Option<RunId>) -> String {
    let one = row(&id().to_string());
    store.save_credential(TENANT, &one).await.unwrap();
    let credential = one.credential.id;
    let used = CredentialUse { credential, run, agent: None, tool: "t".to_owned(), at: LATER };
    store.credential_used(TENANT, &used, id()).await.unwrap();
    credential.to_string()
}

pub async fn uses_are_written_down(bed: Bed) {
    let store = bed.store();
    let one = row("one");
    store.save_credential(TENANT, &one).await.unwrap();
    let used = |tool: &str, at| CredentialUse {
        credential: one.credential.id,
        run: Some(RunId(id())),
        agent: None,
        tool: tool.to_owned(),
        at: Timestamp(at),
    };
    // Three of one instant, written at once.
    let three = ["a", "b", "c"].map(|tool| used(tool, 5));
    let written = three.iter().map(|one| store.credential_used(TENANT, one, id()));
    for done in futures::future::join_all(written).await {
        done.unwrap();
    }
    for one in [used("old", 1), used("new", 9)] {
        store.credential_used(TENANT, &one, id()).await.unwrap();
    }
    let tools = async |before: Option<i64>, limit| {
        let page = store.credential_uses(TENANT, one.credential.id, before.map(Timestamp), limit).await.unwrap();
        let tools = page.items.into_iter().map(|one| one.tool);
        (tools.collect::<Vec<_>>(), page.more)
    };
    let (all, more) = tools(None, 0).await;
    assert!(!more && all.len() == 5 && all[0] == "new" && all[4] == "old", "{all:?}");
    assert_eq!(tools(None, 1).await, (vec!["new".to_owned()], true));
    let (same, more) = tools(Some(9), 1).await;
    assert!(more && same.len() == 3, "an instant is not cut: {same:?}");
    assert_eq!(tools(Some(5), 2).await, (vec!["old".to_owned()], false));
    assert_eq!(tools(Some(1), 2).await, (Vec::new(), false));

    let kept = store.credential_row(TENANT, one.credential.id).await.unwrap();
    assert_eq!(kept.credential.used_at, Some(Timestamp(9)));
    // A change that knows of no use takes none back.
    store.save_credential(TENANT, &one).await.unwrap();
    store.credential_used(TENANT, &used("early", 2), id()).await.unwrap();
    let kept = store.credential_row(TENANT, one.credential.id).await.unwrap();
    assert_eq!(kept.credential.used_at, Some(Timestamp(9)));

    let stranger = CredentialUse { credential: CredentialId(id()), at: LATER, ..used("x", 1) };
    for (tenant, wrong) in [(TENANT, &stranger), (OTHER, &used("x", 1))] {
        let refused = store.credential_used(tenant, wrong, id()).await;
        assert!(matches!(refused, Err(StoreError::NotFound(_))), "{refused:?}");
    }
    store.remove_credential(TENANT, one.credential.id).await.unwrap();
    assert_eq!(tools(None, 0).await.0.len(), 6, "uses outlive the credential");
}
