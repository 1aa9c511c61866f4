use std::time::Duration;

use steward_core::CredentialId;
use steward_core::credential::CredentialKind as Kind;
use steward_core::ports::{CredentialChange, CredentialRows, NewCredential, StoreError, Vault, VaultError};
use uuid::Uuid;

use super::bed::{Bed, TENANT, fields, new, open, secret, token, used};

/// Kind, fields, and a word of the answer.
type Case = (Kind, &'static [(&'static str, &'static str)], &'static str);
type Good = (Kind, &'static [(&'static str, &'static str)]);

const PEM: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\n";

#[expect(clippy::needless_pass_by_value, reason = "for what a call returns")]
fn invalid<T: std::fmt::Debug>(result: Result<T, VaultError>, word: &str) {
    assert!(matches!(&result, Err(VaultError::Invalid(text)) if text.contains(word)), "{word}: {result:?}");
}

#[tokio::test]
async fn secrets_are_shown_to_nobody() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    let of = [("username", "deploy"), ("private_key", PEM), ("passphrase", ""), ("note", "canary 1")];
    let made = vault.keep(TENANT, new("web", Kind::SshKey, &of)).await.unwrap();
    assert_eq!(made.shown.get("username").map(String::as_str), Some("deploy"));
    assert_eq!(made.shown.len(), 1);
    assert_eq!(made.secret, ["note", "private_key"], "an empty one is none");
    let listed = vault.credentials(TENANT, None, 0).await.unwrap().items;
    assert_eq!(listed, std::slice::from_ref(&made));
    assert_eq!(vault.credential(TENANT, made.id).await.unwrap(), made);
    let row = bed.rows.credential_row(TENANT, made.id).await.unwrap();
    let text = format!("{row:?}{}", String::from_utf8_lossy(&row.sealed));
    assert!(!text.contains("canary") && !text.contains("b3BlbnNz"), "{text}");
    let opened = open(&vault, &made).await.unwrap();
    let printed = format!("{opened:?}");
    assert!(!printed.contains("canary") && !printed.contains("b3BlbnNz"), "{printed}");
    assert_eq!(opened.fields.len(), 3);
    assert_eq!(secret(&vault, &made, "private_key").await, PEM);
    let taken = vault.keep(TENANT, token("web", "x")).await;
    assert!(matches!(taken, Err(VaultError::Store(StoreError::Conflict(_)))));
}

#[tokio::test]
async fn what_can_not_be_is_refused() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    let cases: &[Case] = &[
        (Kind::Password, &[("username", "u")], "the field password"),
        (Kind::Password, &[("username", " "), ("password", "p")], "username"),
        (Kind::ApiKey, &[], "its fields are key, header"),
        (Kind::ApiKey, &[("key", "k"), ("header", "X Y")], "X-Api-Key"),
        (Kind::SshKey, &[("username", "u"), ("private_key", "abc")], "PEM"),
        (Kind::Token, &[("token", "")], "the field token"),
        (Kind::Token, &[("token", "t"), ("Bad", "x")], "\"Bad\""),
        (Kind::Oauth2, &[("client_id", "c"), ("token_url", "x")], "https://"),
        (Kind::Certificate, &[("certificate", PEM), ("private_key", PEM)], "certificate"),
        (Kind::Database, &[], "url"),
        (Kind::Database, &[("engine", "postgres")], "host"),
        (Kind::Database, &[("engine", "mysql"), ("host", "h"), ("port", "0")], "65535"),
    ];
    for (kind, of, word) in cases {
        invalid(vault.keep(TENANT, new("x", *kind, of)).await, word);
    }
    for name in ["", " x", "a\nb", &"x".repeat(129)] {
        invalid(vault.keep(TENANT, token(name, "t")).await, "no name");
    }
    let long = "x".repeat(64 * 1024 + 1);
    invalid(vault.keep(TENANT, token("x", &long)).await, "65536");
    let ended = NewCredential { expires_at: Some(steward_testkit::FakeClock::START), ..token("x", "t") };
    invalid(vault.keep(TENANT, ended).await, "expires_at");
    assert!(!bed.dir.path().join("vault.key").exists(), "no key for nothing");
    let good: &[Good] = &[
        (Kind::Database, &[("url", "postgres://u:p@h/d")]),
        (Kind::Database, &[("engine", "sqlite"), ("database", "/d")]),
        (Kind::Oauth2, &[("client_id", "c"), ("token_url", "https://a/t")]),
    ];
    for (number, (kind, of)) in good.iter().enumerate() {
        let new = new(&number.to_string(), *kind, of);
        vault.keep(TENANT, new).await.unwrap();
    }
}

#[tokio::test]
async fn a_change_keeps_what_it_does_not_name() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    let of = [("username", "u"), ("password", "one"), ("sudo_password", "s")];
    let made = vault.keep(TENANT, new("a", Kind::Password, &of)).await.unwrap();
    let renamed =
        CredentialChange { name: Some("b".to_owned()), discoverable: Some(true), ..CredentialChange::default() };
    let changed = vault.change(TENANT, made.id, renamed).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.changed_at), ("b", made.changed_at));
    assert_eq!(secret(&vault, &made, "password").await, "one");
    let set = CredentialChange {
        fields: fields(&[("password", "two"), ("sudo_password", "")]),
        ..CredentialChange::default()
    };
    let changed = vault.change(TENANT, made.id, set.clone()).await.unwrap();
    assert!(changed.changed_at > made.changed_at, "though the clock stood still");
    assert_eq!(changed.secret, ["password"], "an empty field is taken away");
    assert_eq!(secret(&vault, &made, "password").await, "two");
    assert_eq!(secret(&vault, &made, "username").await, "u");
    let gone = CredentialChange { fields: fields(&[("password", "")]), ..CredentialChange::default() };
    invalid(vault.change(TENANT, made.id, gone).await, "password");
    assert_eq!(secret(&vault, &made, "password").await, "two");

    // Rows that were swapped behind its back open nothing.
    let other = vault.keep(TENANT, new("c", Kind::Password, &of)).await.unwrap();
    let mut row = bed.rows.credential_row(TENANT, made.id).await.unwrap();
    row.sealed = bed.rows.credential_row(TENANT, other.id).await.unwrap().sealed;
    bed.rows.save_credential(TENANT, &row).await.unwrap();
    invalid(open(&vault, &made).await, "damaged");
    invalid(vault.change(TENANT, made.id, set).await, "damaged");
    let anew =
        CredentialChange { fields: fields(&[("username", "u"), ("password", "three")]), ..CredentialChange::default() };
    vault.change(TENANT, made.id, anew).await.unwrap();
    assert_eq!(secret(&vault, &made, "password").await, "three");
}

#[tokio::test]
async fn a_use_is_written_down_before_the_secret_is_out() {
    let bed = Bed::new().await;
    let vault = bed.vault();
    let ends = bed.clock_plus(60);
    let made = vault.keep(TENANT, NewCredential { expires_at: Some(ends), ..token("a", "t") }).await.unwrap();
    open(&vault, &made).await.unwrap();
    let uses = vault.uses(TENANT, made.id, None, 0).await.unwrap();
    assert_eq!(uses.items, [used(made.id)]);
    // What names another credential is written down for this one.
    let stranger = used(CredentialId(Uuid::from_u128(77)));
    vault.open(TENANT, made.id, stranger).await.unwrap();
    let uses = vault.uses(TENANT, made.id, None, 0).await.unwrap();
    assert_eq!(uses.items.len(), 2);
    bed.clock.advance(Duration::from_mins(1));
    invalid(open(&vault, &made).await, "ended at 2026-");
    let uses = vault.uses(TENANT, made.id, None, 0).await.unwrap();
    assert_eq!(uses.items.len(), 2, "nothing was used");
    steward_testkit::database::hide_table(bed.data.path(), "credentials");
    let failed = open(&vault, &made).await;
    assert!(matches!(failed, Err(VaultError::Store(_))), "{failed:?}");
    steward_testkit::database::show_table(bed.data.path(), "credentials");
    vault.remove(TENANT, made.id).await.unwrap();
    for error in [
        open(&vault, &made).await.err(),
        vault.credential(TENANT, made.id).await.err(),
        vault.remove(TENANT, made.id).await.err(),
        vault.change(TENANT, made.id, CredentialChange::default()).await.err(),
    ] {
        assert!(matches!(error, Some(VaultError::Unknown(_))), "{error:?}");
    }
}
