use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use secrecy::SecretString;
use steward_core::credential::CredentialKind;
use steward_core::ports::{CredentialRows, Vault, VaultError};
use steward_core::{CredentialId, TenantId};
use uuid::Uuid;

use super::bed::{Bed, TENANT, secret, token};
use crate::vault::sealing::{Owner, open, seal};
use crate::vault::{FileKeys, FixedKeys, KeySource, PassphraseKeys, VaultKey};

#[expect(clippy::needless_pass_by_value, reason = "for what a call returns")]
fn key_error<T: std::fmt::Debug>(result: Result<T, VaultError>, word: &str) {
    assert!(matches!(&result, Err(VaultError::Key(text)) if text.contains(word)), "{result:?}");
}

#[test]
fn keys_are_read_in_three_ways() {
    let hex = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let key = VaultKey::parse(&format!(" {hex}\n"), "X").unwrap();
    for same in [
        hex.to_uppercase().as_str(),
        "ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8=",
        "ABEiM0RVZneImaq7zN3u_wARIjNEVWZ3iJmqu8zd7v8",
    ] {
        assert_eq!(VaultKey::parse(same, "X").unwrap().id(), key.id());
    }
    assert_ne!(VaultKey::random().id(), VaultKey::random().id());
    assert!(!format!("{key:?}").contains("00112233"));
    for wrong in ["", "00", &hex[2..], "not a key", "ABEiM0RVZneImaq7zN3u"] {
        key_error(VaultKey::parse(wrong, "STEWARD_VAULT_KEY"), "STEWARD_VAULT_KEY");
    }
}

#[test]
fn what_is_sealed_is_bound_to_its_owner_and_key() {
    let (key, other) = (VaultKey::random(), VaultKey::random());
    let owner = Owner { tenant: TENANT, credential: CredentialId(Uuid::from_u128(9)), kind: CredentialKind::Token };
    let fields = super::bed::fields(&[("token", "s3cret\nline"), ("empty", ""), ("ü", "ß")]);
    let sealed = seal(&key, owner, &fields).unwrap();
    assert_ne!(sealed, seal(&key, owner, &fields).unwrap(), "a new nonce each");
    let text = String::from_utf8_lossy(&sealed).into_owned();
    assert!(!text.contains("s3cret") && !text.contains("token"));
    let again = open(&key, owner, &sealed).unwrap();
    assert!(again.keys().eq(fields.keys()));
    for wrong in [
        Owner { tenant: TenantId(Uuid::from_u128(2)), ..owner },
        Owner { credential: CredentialId(Uuid::from_u128(8)), ..owner },
        Owner { kind: CredentialKind::ApiKey, ..owner },
    ] {
        assert!(open(&key, wrong, &sealed).is_none());
    }
    assert!(open(&other, owner, &sealed).is_none());
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert!(open(&key, owner, &changed).is_none(), "byte {at}");
        assert!(open(&key, owner, &sealed[..at]).is_none());
    }
}

#[tokio::test]
async fn a_file_of_keys_is_private_and_whole() {
    let bed = Bed::new().await;
    let file = bed.file();
    let path = bed.dir.path().join("vault.key");
    assert!(file.keys().await.unwrap().is_empty() && !path.exists());
    let first = file.add().await.unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = file.add().await.unwrap();
    let ids = async || {
        let keys = file.keys().await.unwrap();
        keys.iter().map(|key| key.id().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids().await, [first.id(), second.id()], "the newest last");
    // What a crash left behind is in nobody's way.
    let left = bed.dir.path().join("vault.key.new");
    std::fs::write(left, "half").unwrap();
    file.retire(&[first.id().to_owned()]).await.unwrap();
    file.retire(&[first.id().to_owned()]).await.unwrap();
    assert_eq!(ids().await, [second.id()]);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let names = std::fs::read_dir(bed.dir.path()).unwrap();
    assert_eq!(names.count(), 2, "the file and its lock");

    std::fs::write(&path, "\n").unwrap();
    key_error(file.keys().await, "is empty");
    key_error(file.add().await, "is empty");
    std::fs::write(&path, "nonsense\n").unwrap();
    key_error(file.keys().await, "vault.key");
    let nowhere = FileKeys::new(bed.dir.path().join("no/vault.key"));
    key_error(nowhere.add().await, "STEWARD_VAULT_KEY_FILE");
}

#[tokio::test]
async fn two_first_uses_agree_on_one_key() {
    let bed = Bed::new().await;
    let (first, second) = (bed.vault(), bed.vault());
    let (one, two) =
        futures::join!(first.keep(TENANT, token("one", "s3cret 1")), second.keep(TENANT, token("two", "s3cret 2")),);
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(bed.rows.credential_keys().await.unwrap().len(), 1);
    let later = bed.vault();
    later.check().await.unwrap();
    assert_eq!(secret(&later, &one, "token").await, "s3cret 1");
    assert_eq!(secret(&later, &two, "token").await, "s3cret 2");
}

#[tokio::test]
async fn keys_of_others_are_rotated_by_their_owner() {
    let bed = Bed::new().await;
    let (old, new) = (VaultKey::random(), VaultKey::random());
    let vault = |text: &str| {
        let keys = FixedKeys::parse(&SecretString::from(text), "STEWARD_VAULT_KEY").unwrap();
        bed.vault_of(Arc::new(keys), bed.rows.clone())
    };
    let (old, new) = (old.hexadecimal(), new.hexadecimal());
    let before = vault(&old);
    let one = before.keep(TENANT, token("one", "s3cret")).await.unwrap();
    key_error(before.rotate(TENANT).await, "a comma");
    assert_eq!(secret(&before, &one, "token").await, "s3cret");
    let both = vault(&format!("{},{}", *old, *new));
    both.check().await.unwrap();
    assert_eq!(secret(&both, &one, "token").await, "s3cret");
    assert_eq!(both.rotate(TENANT).await.unwrap(), 1);
    let after = vault(&new);
    after.check().await.unwrap();
    assert_eq!(secret(&after, &one, "token").await, "s3cret");
    let late = vault(&old);
    key_error(late.check().await, "not the one");
    let refused = super::bed::open(&late, &one).await;
    assert!(matches!(&refused, Err(VaultError::Sealed(name)) if name == "one"));
    let refused = late.keep(TENANT, token("two", "s3cret")).await;
    assert!(matches!(refused, Err(VaultError::Sealed(_))), "{refused:?}");
    key_error(FixedKeys::parse(&SecretString::from("00,"), "STEWARD_VAULT_KEY"), "STEWARD_VAULT_KEY");
}

#[tokio::test]
async fn a_passphrase_opens_what_it_sealed() {
    let bed = Bed::new().await;
    let vault = |text: &str| {
        let keys = PassphraseKeys::new(bed.rows.clone(), SecretString::from(text));
        bed.vault_of(Arc::new(keys), bed.rows.clone())
    };
    let first = vault("correct horse battery");
    let one = first.keep(TENANT, token("one", "s3cret")).await.unwrap();
    let two = first.keep(TENANT, token("two", "s3cret 2")).await.unwrap();
    let ids = bed.rows.credential_keys().await.unwrap();
    assert_eq!(ids.len(), 1);
    let again = vault("correct horse battery");
    again.check().await.unwrap();
    assert_eq!(secret(&again, &one, "token").await, "s3cret");
    assert_eq!(again.rotate(TENANT).await.unwrap(), 2);
    assert_ne!(bed.rows.credential_keys().await.unwrap(), ids, "another salt");
    assert_eq!(secret(&first, &two, "token").await, "s3cret 2");
    assert_eq!(secret(&vault("correct horse battery"), &two, "token").await, "s3cret 2");
    key_error(vault("correct horse batterx").check().await, "PASSPHRASE");
    let fresh = Bed::new().await;
    let keys = PassphraseKeys::new(fresh.rows.clone(), SecretString::from("short"));
    let refused = fresh.vault_of(Arc::new(keys), fresh.rows.clone());
    key_error(refused.keep(TENANT, token("one", "s3cret")).await, "12");
}
