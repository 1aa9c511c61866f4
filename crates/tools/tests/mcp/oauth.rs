//! Logins at a server that has a login server.

use crate::world::{START, Served, TENANT, World, refusal, user};
use secrecy::ExposeSecret as _;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;
use steward_core::Cancellation;
use steward_core::credential::CredentialKind;
use steward_core::mcp::{McpServer, McpTransport};
use steward_tools::mcp::{LoginAnswer, LoginRequest, LoginStarted, LoginStatus};

const BACK: &str = "http://127.0.0.1:8800/api/mcp/login";

fn request(server: &McpServer) -> LoginRequest {
    LoginRequest { tenant: TENANT, server: server.id, user: user(1), redirect_uri: BACK.to_owned(), client_url: None }
}

/// What the browser brings back: code, state, issuer.
async fn visit(begun: &LoginStarted) -> (String, String, String) {
    let browser = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let page = browser.get(&begun.url).send().await.unwrap();
    let location = page.headers()["location"].to_str().unwrap().to_owned();
    let back = url::Url::parse(&location).unwrap();
    assert!(location.starts_with(BACK), "{location}");
    let part = |name: &str| {
        let pair = back.query_pairs().find(|(key, _)| key == name);
        pair.unwrap().1.into_owned()
    };
    (part("code"), part("state"), part("iss"))
}

fn log(notes: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(notes.join("oauth.log")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_logs_in_and_the_token_is_renewed() {
    let notes = tempfile::tempdir().unwrap();
    let python = Served::start("server.py", &["--http", "--oauth", "--notes", notes.path().to_str().unwrap()]);
    let world = World::new();
    let server = world.server(python.transport()).await;
    let shut = world.hub.check(TENANT, server.id, None).await.unwrap();
    assert!(shut.error.unwrap().contains("wants a login"));

    let begun = world.hub.begin_login(request(&server)).await.unwrap();
    assert!(begun.url.contains("code_challenge_method=S256"), "{}", begun.url);
    let (code, state, issuer) = visit(&begun).await;
    assert_eq!(state, begun.state);
    let status = |who| world.hub.login_status(user(who), &begun.id);
    assert_eq!(status(1), Some(LoginStatus::Waiting));
    assert_eq!(status(2), None, "it is somebody else's");
    let answer = LoginAnswer::Code { code: &code, issuer: Some(&issuer) };
    let guessed = world.hub.complete_login("guessed", answer).await;
    assert!(guessed.unwrap_err().to_string().contains("not under way"));
    world.hub.complete_login(&state, answer).await.unwrap();
    assert_eq!(status(1), Some(LoginStatus::Done));
    let twice = world.hub.complete_login(&state, answer).await;
    assert!(twice.unwrap_err().to_string().contains("not under way"));

    world.accept_all().await;
    let context = World::context(Duration::from_mins(1), &Cancellation::default());
    let said = world.call_in("echo", json!({"text": "in"}), &context).await.unwrap();
    assert_eq!(said.content, "echo: in");
    let token = |world: &World| {
        let kept = world.vault.kept.lock().unwrap();
        let (credential, fields) = kept.values().next().unwrap();
        assert_eq!(credential.name, "mcp_t");
        fields["access_token"].expose_secret().to_owned()
    };
    let first = token(&world);
    let learned = context.learned_secrets();
    assert!(learned.iter().any(|(_, secret)| secret.expose_secret() == first));
    assert_eq!(log(notes.path()), ["registered Steward", "authorization_code"]);

    // Its hour is over.
    world.now.0.store(START + 2 * 3_600_000, Ordering::SeqCst);
    assert!(world.call("echo", json!({"text": "x"})).await.is_ok());
    let second = token(&world);
    assert_ne!(first, second);
    // The server forgets it early.
    std::fs::write(notes.path().join("revoke"), "").unwrap();
    assert!(world.call("echo", json!({"text": "x"})).await.is_ok());
    assert_ne!(token(&world), second);
    // Steward starts again, later: what is in the vault is enough.
    let world = world.again();
    let later = START + 9 * 3_600_000;
    world.now.0.store(later, Ordering::SeqCst);
    assert!(world.call("echo", json!({"text": "x"})).await.is_ok());
    let grants = log(notes.path());
    assert_eq!(grants[2..], ["refresh_token"; 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_ends_a_login() {
    let notes = tempfile::tempdir().unwrap();
    let folder = notes.path().to_str().unwrap();
    let python = Served::start("server.py", &["--http", "--oauth", "--notes", folder]);
    let world = World::new();
    let server = world.server(python.transport()).await;
    let begun = world.hub.begin_login(request(&server)).await.unwrap();
    let answer = LoginAnswer::Refused { error: "access_denied" };
    let refused = world.hub.complete_login(&begun.state, answer).await;
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("access_denied"), "{why}");
    let status = world.hub.login_status(user(1), &begun.id);
    assert_eq!(status, Some(LoginStatus::Failed(why)));
    let (code, state, issuer) = visit(&begun).await;
    let late = LoginAnswer::Code { code: &code, issuer: Some(&issuer) };
    assert!(world.hub.complete_login(&state, late).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_logs_in_for_itself() {
    let notes = tempfile::tempdir().unwrap();
    let python = Served::start("server.py", &["--http", "--oauth", "--notes", notes.path().to_str().unwrap()]);
    let world = World::new();
    let server = world.server(python.transport()).await;
    let token_url = format!("http://127.0.0.1:{}/token", python.port);
    let mut fields = [("client_id", "robot"), ("client_secret", "canary-161803"), ("token_url", &token_url)];
    world.vault.put("robot", CredentialKind::Oauth2, &fields).await;
    world.credential("robot").await;
    world.accept_all().await;
    assert!(world.call("echo", json!({"text": "x"})).await.is_ok());
    assert!(world.call("add", json!({"a": 1, "b": 1})).await.is_ok());
    assert_eq!(log(notes.path()), ["client_credentials"], "one token serves until it ends");

    fields[1].1 = "wrong";
    world.vault.put("thief", CredentialKind::Oauth2, &fields).await;
    world.credential("thief").await;
    let shut = refusal(world.call("echo", json!({"text": "x"})).await);
    assert!(shut.contains("wants a login") && shut.contains("invalid_client"), "{shut}");

    // A login server in the house is as closed as everything else there.
    let elsewhere = Served::start("server.py", &["--http", "--oauth"]);
    let inside = format!("http://127.0.0.1:{}/token", elsewhere.port);
    fields[1].1 = "canary-161803";
    fields[2].1 = &inside;
    world.vault.put("inside", CredentialKind::Oauth2, &fields).await;
    world.credential("inside").await;
    let shut = world.hub.check(TENANT, server.id, None).await.unwrap();
    let error = shut.error.unwrap();
    assert!(error.contains("not on the public internet"), "{error}");
}

/// Logs in with what the browser brings back.
async fn log_in(world: &World, server: &McpServer) {
    let begun = world.hub.begin_login(request(server)).await.unwrap();
    let (code, state, issuer) = visit(&begun).await;
    let answer = LoginAnswer::Code { code: &code, issuer: Some(&issuer) };
    world.hub.complete_login(&state, answer).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_says_with_its_refusals_is_what_a_login_asks_for() {
    // Once after a check, once without: the server is asked then.
    for checked in [true, false] {
        let notes = tempfile::tempdir().unwrap();
        let folder = notes.path().to_str().unwrap();
        let python = Served::start("server.py", &["--http", "--oauth", "--hidden", "--notes", folder]);
        let world = World::new();
        let server = world.server(python.transport()).await;
        if checked {
            let shut = world.hub.check(TENANT, server.id, None).await.unwrap();
            assert!(shut.error.unwrap().contains("wants a login"));
        }
        log_in(&world, &server).await;
        assert_eq!(log(notes.path())[1], "asked for pages:read");
        world.accept_all().await;
        let lacks = refusal(world.call("echo", json!({"text": "x"})).await);
        assert!(lacks.contains("rights that its login lacks (scope pages:write)"), "{lacks}");
        assert!(lacks.contains("log in again") && !lacks.contains("::"), "{lacks}");
        // A call with the same login is no better; the next login keeps what was granted and asks for the rest.
        refusal(world.call("echo", json!({"text": "x"})).await);
        log_in(&world, &server).await;
        assert_eq!(log(notes.path())[4], "asked for pages:write pages:read");
        let said = world.call("echo", json!({"text": "in"})).await.unwrap();
        assert_eq!(said.content, "echo: in");
        world.now.0.store(START + 2 * 3_600_000, Ordering::SeqCst);
        assert!(world.call("echo", json!({"text": "x"})).await.is_ok(), "a renewed token keeps its rights");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_goes_by_basic_authentication_where_nothing_else_is_taken() {
    let notes = tempfile::tempdir().unwrap();
    let folder = notes.path().to_str().unwrap();
    let python = Served::start("server.py", &["--http", "--oauth", "--hidden", "--notes", folder]);
    let world = World::new();
    world.server(python.transport()).await;
    let token_url = format!("http://127.0.0.1:{}/token", python.port);
    let fields = [
        ("client_id", "robot"),
        ("client_secret", "canary-161803"),
        ("token_url", &token_url),
        ("scope", "pages:write"),
    ];
    world.vault.put("robot", CredentialKind::Oauth2, &fields).await;
    world.credential("robot").await;
    world.accept_all().await;
    assert!(world.call("echo", json!({"text": "x"})).await.is_ok());
    assert_eq!(log(notes.path()), ["client_credentials"], "the secret was in no body");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_login_says_so() {
    let python = Served::start("server.py", &["--http"]);
    let world = World::new();
    let server = world.server(python.transport()).await;
    let none = world.hub.begin_login(request(&server)).await.unwrap_err().to_string();
    assert!(none.contains("no login server"), "{none}");
    let local = McpTransport::Stdio {
        command: vec!["true".to_owned()],
        secret_variable: None,
        env: BTreeMap::new(),
        secrets: BTreeMap::new(),
        network: false,
        read: Vec::new(),
        write: Vec::new(),
    };
    let server = world.server(local).await;
    let none = world.hub.begin_login(request(&server)).await.unwrap_err().to_string();
    assert!(none.contains("local program"), "{none}");
}
