//! Sessions: begun, prolonged, stolen, ended.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use secrecy::SecretBox;
use std::sync::Arc;
use std::time::Duration;
use steward_access::{
    Access, AccessDeps, AccessError, FileKeys, FirstStart, LogIn, LoginLimits, OpenSession, SealedVault, VaultDeps,
};
use steward_core::TenantId;
use steward_core::ports::{Clock, LoginError, Role};
use steward_infra::FileBlobs;
use steward_store::{Store, StoreConfig};
use steward_testkit::{FakeClock, SeqIds, database};
use tempfile::TempDir;

const EMAIL: &str = "ada@example.org";
const PASSWORD: &str = "correct horse battery";

struct Bed {
    access: Access,
    clock: Arc<FakeClock>,
    dir: TempDir,
}

/// Nobody has an account yet.
async fn empty_bed() -> Bed {
    let clock = Arc::new(FakeClock::default());
    let dir = TempDir::new().unwrap();
    let blobs = Arc::new(FileBlobs::new(dir.path()));
    let store = Arc::new(Store::open(StoreConfig::sqlite(dir.path()), blobs).await.unwrap());
    let vault = Arc::new(SealedVault::new(VaultDeps {
        rows: store.clone(),
        source: Arc::new(FileKeys::new(dir.path().join("vault.key"))),
        clock: clock.clone(),
        ids: Arc::new(SeqIds::new(1)),
    }));
    let access = Access::new(AccessDeps {
        tenant: TenantId::DEFAULT,
        users: store.clone(),
        sessions: store.clone(),
        groups: store.clone(),
        grants: store.clone(),
        settings: store.clone(),
        external: store.clone(),
        scim: store.clone(),
        second_factors: store.clone(),
        login_secrets: vault,
        keys: store,
        clock: clock.clone(),
        ids: Arc::new(SeqIds::default()),
        limits: LoginLimits::default(),
        signing_key: SecretBox::new(Box::new(vec![7; 32])),
    });
    Bed { access, clock, dir }
}

async fn bed() -> Bed {
    let bed = empty_bed().await;
    let made = bed.access.first_start(Some((EMAIL, PASSWORD))).await.unwrap();
    assert!(matches!(made, FirstStart::Made { .. }));
    bed
}

impl Bed {
    async fn try_login(&self, password: &str, client: &str) -> Result<OpenSession, LoginError> {
        self.login_as(EMAIL, password, client).await
    }

    async fn login_as(&self, email: &str, password: &str, client: &str) -> Result<OpenSession, LoginError> {
        let login = LogIn { email, password, client: Some(client.parse().unwrap()), label: "Firefox on Linux" };
        self.access.log_in(login).await
    }

    async fn login(&self) -> OpenSession {
        self.try_login(PASSWORD, "203.0.113.1").await.unwrap()
    }

    async fn alive(&self, open: &OpenSession) -> bool {
        self.access.identify(&open.access_token).await.is_ok()
    }
}

fn token(open: &OpenSession) -> &str {
    open.refresh_token.as_deref().expect("a new refresh token")
}

#[tokio::test]
async fn a_login_gives_a_token_that_dies_after_15_minutes_and_with_its_session() {
    let bed = bed().await;
    let open = bed.login().await;
    let who = bed.access.identify(&open.access_token).await.unwrap();
    assert_eq!((who.email.as_str(), who.principal.role), (EMAIL, Role::Admin));
    assert_eq!(who.session, Some(open.id));
    assert_eq!(open.expires_in, 900);
    bed.clock.advance(Duration::from_secs(901));
    assert!(!bed.alive(&open).await, "15 minutes are over");

    let again = bed.login().await;
    assert!(bed.alive(&again).await);
    bed.access.log_out(token(&again)).await.unwrap();
    assert!(!bed.alive(&again).await, "logged out");
    assert!(bed.access.refresh(token(&again)).await.is_err());
    bed.access.log_out(token(&again)).await.expect("twice is once");
}

#[tokio::test]
async fn a_refresh_turns_the_token_over_and_keeps_the_session() {
    let bed = bed().await;
    let first = bed.login().await;
    bed.clock.advance(Duration::from_mins(14));
    let second = bed.access.refresh(token(&first)).await.unwrap();
    assert_eq!(first.id, second.id);
    assert_ne!(token(&first), token(&second));
    bed.clock.advance(Duration::from_mins(14));
    let third = bed.access.refresh(token(&second)).await.unwrap();
    assert!(bed.alive(&third).await);
}

#[tokio::test]
async fn an_old_refresh_token_is_another_tab_for_10_seconds_and_theft_after() {
    let bed = bed().await;
    let first = bed.login().await;
    let second = bed.access.refresh(token(&first)).await.unwrap();
    bed.clock.advance(Duration::from_secs(10));
    let tab = bed.access.refresh(token(&first)).await.unwrap();
    assert!(tab.refresh_token.is_none(), "no second rotation");
    assert!(bed.alive(&tab).await && bed.alive(&second).await);

    bed.clock.advance(Duration::from_secs(1));
    let stolen = bed.access.refresh(token(&first)).await;
    assert!(matches!(stolen, Err(LoginError::Stolen { user, .. }) if user == first.user.id));
    assert!(!bed.alive(&second).await, "the session has ended");
    assert!(bed.access.refresh(token(&second)).await.is_err());
}

#[tokio::test]
async fn tabs_that_refresh_at_the_same_time_turn_the_token_over_once() {
    let bed = bed().await;
    let first = bed.login().await;
    let all = futures::future::join_all((0..8).map(|_| bed.access.refresh(token(&first)))).await;
    let all: Vec<OpenSession> = all.into_iter().map(Result::unwrap).collect();
    let turned = all.iter().filter(|one| one.refresh_token.is_some()).count();
    assert_eq!(turned, 1);
    for open in &all {
        assert!(bed.alive(open).await);
    }
}

#[tokio::test]
async fn a_session_that_nobody_uses_ends_after_30_days() {
    let bed = bed().await;
    let open = bed.login().await;
    let mut newest = open;
    for _ in 0..3 {
        bed.clock.advance(Duration::from_hours(29 * 24));
        newest = bed.access.refresh(token(&newest)).await.expect("used");
    }
    bed.clock.advance(Duration::from_hours(30 * 24));
    assert!(matches!(bed.access.refresh(token(&newest)).await, Err(LoginError::Token)));
}

#[tokio::test]
async fn five_wrong_passwords_close_an_email_to_their_network_even_for_the_right_one() {
    let bed = bed().await;
    for _ in 0..5 {
        let refused = bed.try_login("wrong password", "203.0.113.1").await;
        assert!(matches!(refused, Err(LoginError::Wrong)));
    }
    let closed = bed.try_login(PASSWORD, "203.0.113.1").await;
    assert!(matches!(closed, Err(LoginError::TooMany { seconds: 900 })));
    let open = bed.try_login(PASSWORD, "203.0.113.2").await.expect("strangers lock nobody out");
    let user = open.user.id;
    bed.access
        .change_password(user, Some(open.id), PASSWORD, PASSWORD)
        .await
        .expect("nor keep them from a new password");
    bed.clock.advance(Duration::from_mins(15));
    assert!(bed.try_login(PASSWORD, "203.0.113.1").await.is_ok());
}

#[tokio::test]
async fn guesses_from_many_networks_close_an_email_to_those_that_are_not_known() {
    let bed = bed().await;
    bed.login().await;
    for number in 0..50 {
        let refused = bed.try_login("wrong password", &format!("198.51.100.{number}")).await;
        assert!(matches!(refused, Err(LoginError::Wrong)), "{number}");
    }
    let closed = bed.try_login(PASSWORD, "203.0.113.9").await;
    assert!(matches!(closed, Err(LoginError::TooMany { .. })));
    assert!(bed.try_login(PASSWORD, "203.0.113.1").await.is_ok(), "it has logged in before");
}

#[tokio::test]
async fn many_wrong_passwords_from_one_network_close_it_for_every_email() {
    let bed = bed().await;
    for number in 0..30 {
        let email = format!("user{number}@example.org");
        let client = format!("2001:db8:1:2::{number:x}");
        let refused = bed.login_as(&email, "wrong password", &client).await;
        assert!(matches!(refused, Err(LoginError::Wrong)), "{number}");
    }
    let closed = bed.try_login(PASSWORD, "2001:db8:1:2::ffff").await;
    assert!(matches!(closed, Err(LoginError::TooMany { .. })));
    assert!(bed.try_login(PASSWORD, "2001:db8:1:3::1").await.is_ok());
}

#[tokio::test]
async fn guesses_made_side_by_side_count_too() {
    let bed = bed().await;
    let guesses = (0..24).map(|_| bed.try_login("wrong password", "203.0.113.1"));
    let all = futures::future::join_all(guesses).await;
    let tried = all.iter().filter(|one| matches!(one, Err(LoginError::Wrong))).count();
    assert!((5..=8).contains(&tried), "{tried} were tried");
}

#[tokio::test]
async fn another_password_ends_the_other_sessions() {
    let bed = bed().await;
    let (here, there) = (bed.login().await, bed.login().await);
    let user = here.user.id;
    let change = async |current: &str, new: &str| bed.access.change_password(user, Some(here.id), current, new).await;
    let new = "another long password";
    assert!(matches!(change("wrong password", new).await, Err(AccessError::CurrentPassword)));
    assert!(matches!(change(PASSWORD, "short").await, Err(AccessError::Invalid { .. })));
    assert!(bed.alive(&there).await, "nothing has changed yet");
    change(PASSWORD, new).await.unwrap();
    assert!(bed.alive(&here).await && !bed.alive(&there).await);
    assert!(bed.try_login(PASSWORD, "203.0.113.1").await.is_err());
    assert!(bed.try_login(new, "203.0.113.1").await.is_ok());
}

#[tokio::test]
async fn sessions_are_listed_and_ended_by_their_own_user_only() {
    let bed = bed().await;
    let (one, two) = (bed.login().await, bed.login().await);
    let mine = bed.access.sessions(one.user.id).await.unwrap();
    assert_eq!(mine.len(), 2);
    assert_eq!(mine[0].id, two.id, "newest first");
    assert_eq!(mine[0].label, "Firefox on Linux");
    let stranger = steward_core::UserId(uuid::Uuid::from_u128(9));
    assert!(!bed.access.end_session(stranger, one.id).await.unwrap());
    assert!(bed.alive(&one).await);
    assert!(bed.access.end_session(one.user.id, one.id).await.unwrap());
    assert!(!bed.alive(&one).await && bed.alive(&two).await);
}

#[tokio::test]
async fn the_oldest_of_too_many_sessions_ends() {
    let bed = bed().await;
    let first = bed.login().await;
    for _ in 0..50 {
        bed.clock.advance(Duration::from_secs(1));
        bed.login().await;
    }
    assert!(!bed.alive(&first).await);
    assert_eq!(bed.access.sessions(first.user.id).await.unwrap().len(), 50);
}

#[tokio::test]
async fn api_keys_are_replaced_and_removed() {
    let bed = bed().await;
    let user = bed.login().await.user.id;
    let old = bed.access.make_api_key(user).await.unwrap();
    assert!(old.starts_with("sk-steward-"));
    let who = bed.access.identify(&old).await.unwrap();
    assert_eq!((who.principal.user, who.session), (user, None));
    let new = bed.access.make_api_key(user).await.unwrap();
    assert!(bed.access.identify(&old).await.is_err());
    assert!(bed.access.identify(&new).await.is_ok());
    bed.access.remove_api_key(user).await.unwrap();
    assert!(bed.access.identify(&new).await.is_err());
}

#[tokio::test]
async fn the_one_time_token_makes_one_administrator_with_a_name() {
    let Bed { access, clock, dir: _dir } = empty_bed().await;
    let FirstStart::Token(token) = access.first_start(None).await.unwrap() else {
        panic!("a token");
    };
    assert!(access.needs_set_up().await.unwrap());
    let login = |email| LogIn { email, password: PASSWORD, client: None, label: "a program" };
    let wrong = access.set_up("wrong", None, login(EMAIL)).await;
    assert!(matches!(wrong, Err(AccessError::SetupToken)));
    for bad in ["", "ada", "@example.org", "a@b@c", "a b@c"] {
        let refused = access.set_up(&token, None, login(bad)).await;
        assert!(matches!(refused, Err(AccessError::Invalid { .. })), "{bad}");
    }
    let both = futures::future::join(
        access.set_up(&token, Some("Ada"), login("Ada@Example.org")),
        access.set_up(&token, None, login("eve@example.org")),
    )
    .await;
    let open = both.0.expect("the first");
    assert_eq!((open.user.name.as_str(), open.user.email.as_str()), ("Ada", EMAIL));
    assert!(matches!(both.1, Err(AccessError::SetupToken)));
    assert!(access.identify(&open.access_token).await.is_ok());
    assert!(!access.needs_set_up().await.unwrap());
    assert_eq!(access.first_start(None).await.unwrap(), FirstStart::Ready);
    assert!(clock.now() == FakeClock::START);
}

#[tokio::test]
async fn a_store_that_fails_lets_nobody_in() {
    let bed = bed().await;
    let open = bed.login().await;
    database::hide_table(bed.dir.path(), "users");
    let refused = bed.access.identify(&open.access_token).await;
    assert!(matches!(refused, Err(LoginError::Unavailable(_))));
    let refused = bed.try_login(PASSWORD, "203.0.113.1").await;
    assert!(matches!(refused, Err(LoginError::Unavailable(_))));
    database::show_table(bed.dir.path(), "users");
    assert!(bed.alive(&open).await);
}
