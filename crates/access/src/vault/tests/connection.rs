use std::collections::BTreeMap;

use secrecy::ExposeSecret;
use steward_core::ConnectionId;
use steward_core::ports::{ConnectionKeys, CredentialChange, Vault, VaultError};
use uuid::Uuid;

use super::bed::{Bed, TENANT, fields, open, token};

const WORK: ConnectionId = ConnectionId(Uuid::from_u128(77));

#[tokio::test]
async fn a_connections_key_is_kept_replaced_and_removed_with_it_and_opens_for_nobody_else() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    let key = |value| fields(&[("key", value)]);
    let opened = async || {
        let opened = vault.open_key(TENANT, WORK).await?;
        Ok::<_, VaultError>(opened.fields["key"].expose_secret().to_owned())
    };
    assert!(matches!(opened().await, Err(VaultError::Missing(_))));
    vault.keep_key(TENANT, WORK, "work", key("sk-first")).await.unwrap();
    assert_eq!(opened().await.unwrap(), "sk-first");
    vault.keep_key(TENANT, WORK, "office", BTreeMap::new()).await.unwrap();
    assert_eq!(opened().await.unwrap(), "sk-first", "a new name only");
    vault.keep_key(TENANT, WORK, "office", key("sk-second")).await.unwrap();
    assert_eq!(opened().await.unwrap(), "sk-second");

    let listed = vault.credentials(TENANT, None, 10).await.unwrap().items;
    let [credential] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!(credential.name, "connection office");
    assert!(!format!("{listed:?}").contains("sk-"));
    let id = credential.id;
    let uses = vault.uses(TENANT, id, None, 10).await.unwrap().items;
    assert_eq!(uses.len(), 3);
    for refused in [
        open(&vault, credential).await.map(|_| ()),
        vault.remove(TENANT, id).await,
        vault.change(TENANT, id, CredentialChange::default()).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(VaultError::OfConnection(_))), "{refused:?}");
    }

    vault.rotate(TENANT).await.unwrap();
    assert_eq!(opened().await.unwrap(), "sk-second", "sealed anew with the others");
    vault.remove_key(TENANT, WORK).await.unwrap();
    vault.remove_key(TENANT, WORK).await.unwrap();
    assert!(matches!(opened().await, Err(VaultError::Missing(_))));
    vault.keep(TENANT, token("other", "t")).await.unwrap();
}
