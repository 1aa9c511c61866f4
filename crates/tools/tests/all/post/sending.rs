use super::world::{PASSWORD, Servers, bench, letter, names};
use crate::catalogue;
use crate::search::credential;
use serde_json::json;
use std::fs;
use steward_core::credential::CredentialKind;
use steward_core::policy::RiskClass;
use steward_core::ports::Tools as _;
use steward_core::tool::{EffectClass, Undo};

/// The only message of a user, as it was delivered.
fn message(servers: &Servers, user: &str) -> String {
    let folder = servers.folder.path().join("mail").join(user).join("new");
    let mut all = fs::read_dir(folder).unwrap();
    fs::read_to_string(all.next().unwrap().unwrap().path()).unwrap()
}

#[tokio::test]
async fn mail_is_sent_and_proved() {
    let servers = Servers::start().await;
    let (bench, rows) = bench(&servers.usual());
    catalogue::check(&bench.tools.catalogue());
    assert_eq!(names(&bench), ["mail_draft", "mail_send", "mail_list", "mail_search", "mail_read"]);
    let all = bench.tools.catalogue();
    let spec = all.iter().find(|spec| spec.name == "mail_send").unwrap();
    assert_eq!((spec.risk, spec.effect), (RiskClass::Destructive, EffectClass::Write));
    let takes_data_out = |name: &&&str| all.iter().any(|spec| spec.name == **name && spec.takes_data_out());
    let mail = ["mail_draft", "mail_send", "mail_list", "mail_search", "mail_read"];
    assert_eq!(mail.iter().filter(takes_data_out).collect::<Vec<_>>(), [&"mail_send"]);
    assert!(spec.parameters["properties"].get("account").is_none());
    let arguments = json!({
        "to": "Bob <bob@example.net>, carl@example.net", "cc": "dora@example.net", "bcc": "eve@example.net",
        "subject": "Größe", "body": "Hällo\n.\n..two dots\nBye", "in_reply_to": "abc@example.net",
    });
    let preview = bench.preview("mail_send", arguments.clone()).await;
    assert!(preview.summary.contains("eve@example.net") && !preview.reversible, "{preview:?}");
    assert!(preview.detail.unwrap().contains("From: Ann Lée <ann@example.org>\n"));
    assert_eq!(servers.delivered("bob"), 0);
    let sent = bench.keyed("mail_send", arguments, "k").await.unwrap();
    for user in ["bob", "carl", "dora", "eve"] {
        assert_eq!(servers.delivered(user), 1, "{user}");
    }
    let text = message(&servers, "bob").replace("\r\n", "\n");
    let receipt = sent.receipt.as_ref().unwrap();
    let id = receipt.evidence.as_deref().unwrap();
    for part in [
        "Return-Path: <ann@example.org>\n",
        "From: =?UTF-8?Q?Ann_L=C3=A9e?= <ann@example.org>\n",
        "To: Bob <bob@example.net>,\n carl@example.net\n",
        "Cc: dora@example.net\n",
        "Subject: =?UTF-8?Q?Gr=C3=B6=C3=9Fe?=\n",
        "Date: Sat, 21 Nov 2026 09:00:00 +0100\n",
        &format!("Message-ID: {id}\n"),
        "In-Reply-To: <abc@example.net>\n",
        "\n\nH=C3=A4llo\n.\n..two dots\nBye\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("eve@example.net") && id.ends_with("@example.org>"), "{text}");
    assert_eq!(receipt.action, "sent");
    assert!(matches!(sent.undo, Some(Undo::Impossible { .. })));
    let error = bench.undo(&sent).await.unwrap_err().to_string();
    assert!(error.contains("can't be called back"), "{error}");
    assert_eq!(rows.uses.lock().unwrap()[0].tool, "mail_send");
    assert!(!serde_json::to_string(&sent).unwrap().contains(PASSWORD));
}

#[tokio::test]
async fn every_way_in_works_and_none_without_its_protection() {
    let servers = Servers::start().await;
    let of = |kind: &str, rest: &str| servers.account(kind, &format!("smtp = '{}'\n{rest}", servers.smtp(kind)));
    for kind in ["starttls", "tls", "plain"] {
        let (bench, _) = bench(&of(kind, ""));
        bench.ok("mail_send", letter("hello")).await;
    }
    assert_eq!(servers.delivered("bob"), 3);
    let (port_of_plain, port_of_tls) = (servers.smtp("plain"), servers.smtp("tls"));
    let stranger = servers
        .usual()
        .lines()
        .filter(|line| !line.starts_with("ca"))
        .fold(String::new(), |all, line| all + line + "\n");
    for (settings, expect) in [
        (stranger, "can't be spoken to safely"),
        (
            servers.account("x", &format!("smtp = '{}'", port_of_plain.replace("smtp+plain", "smtp"))),
            "offers no STARTTLS",
        ),
        (
            servers.account("x", &format!("smtp = '{}'", port_of_plain.replace("smtp+plain", "smtps"))),
            "can't be reached over TLS",
        ),
        (
            servers.account("x", &format!("smtp = '{}'", port_of_tls.replace("localhost", "127.0.0.2"))),
            "can't be reached over TLS",
        ),
        (servers.account("x", "smtp = 'smtps://localhost:1'"), "localhost:1"),
    ] {
        let (bench, _) = bench(&settings);
        let error = bench.refused("mail_send", letter("hello")).await;
        assert!(error.contains(expect), "{error}");
        assert!(!error.contains(PASSWORD), "{error}");
    }
    assert_eq!(servers.delivered("bob"), 3);
}

#[tokio::test]
async fn refusals_send_nothing() {
    let servers = Servers::start().await;
    let (usual, rows) = bench(&servers.usual());
    for (arguments, expect) in [
        (
            json!({"to": "bob@example.net, nobody@example.net", "subject": "s", "body": "b"}),
            "refuses the recipient nobody@example.net",
        ),
        (letter("refuse me"), "looks like spam"),
        (json!({"to": "nobody", "subject": "s", "body": "b"}), "no mail address"),
        (json!({"to": "a@b.c", "subject": "s\r\nBcc: d@e.f", "body": "b"}), "single lines"),
        (json!({"to": "a@b.c", "cc": "x@y.z\r\nBcc: d@e.f", "subject": "s", "body": "b"}), "single lines"),
        (json!({"to": "a@b.c", "subject": "s", "body": "b", "in_reply_to": "<a> b@c"}), "no Message-ID"),
        (json!({"to": vec!["a@b.c"; 51].join(","), "subject": "s", "body": "b"}), "more than 50"),
    ] {
        let error = usual.refused("mail_send", arguments.clone()).await;
        assert!(error.contains(expect), "{arguments}: {error}");
    }
    credential(&rows, "later", CredentialKind::Password, &[("username", "ann"), ("password", "x")]);
    for (name, expect) in [
        ("wrong", "does not let the account work in"),
        ("token", "takes a password"),
        ("missing", "no credential `missing`"),
    ] {
        let (bench, _) = bench(&servers.usual().replace("'post'", &format!("'{name}'")));
        let error = bench.refused("mail_send", letter("hello")).await;
        assert!(error.contains(expect) && !error.contains("canary"), "{error}");
    }
    for user in ["bob", "a", "nobody"] {
        assert_eq!(servers.delivered(user), 0, "{user}");
    }
}

#[tokio::test]
async fn an_account_is_for_its_users() {
    let servers = Servers::start().await;
    let other = servers.usual().replace("accounts.work", "accounts.home");
    let settings = format!("default = 'work'\n{}\nusers = ['O@example.org']\n{other}", servers.usual());
    let (mut bench, _) = bench(&settings);
    let account = &bench.tools.catalogue().into_iter().find(|spec| spec.name == "mail_send").unwrap().parameters["properties"]
        ["account"];
    assert_eq!(account["enum"], json!(["work", "home"]));
    let with = |name: &str| {
        let mut arguments = letter("hello");
        arguments["account"] = json!(name);
        arguments
    };
    // A run of nobody may use what is open to all, and gets it if it names none.
    bench.scope.user = None;
    let error = bench.refused("mail_send", with("work")).await;
    assert!(error.contains("not for the user of this run"), "{error}");
    let sent = bench.ok("mail_send", letter("hello")).await;
    assert_eq!(sent.data.unwrap()["account"], "home");
    bench.scope.user = Some("00000000-0000-0000-0000-000000000009".parse().unwrap());
    let sent = bench.ok("mail_send", letter("hello")).await;
    assert_eq!(sent.data.unwrap()["account"], "work");
}

#[tokio::test]
async fn what_became_of_a_message_is_never_guessed() {
    let servers = Servers::start().await;
    let (mut bench, _) = bench(&servers.usual());
    let error = bench.refused("mail_send", letter("drop the line")).await;
    assert!(error.contains("may or may not have been sent"), "{error}");
    bench.scope.timeout_ms = 2000;
    let error = bench.refused("mail_send", letter("hang on")).await;
    assert!(error.contains("may or may not have taken effect"), "{error}");
}

#[tokio::test]
async fn a_silent_server_ends_with_the_call_or_the_run() {
    let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let settings = format!("[accounts.x]\nfrom = 'a@b.c'\nsmtp = 'smtp+plain://127.0.0.1:{port}'\n");
    let (mut bench, _) = bench(&settings);
    bench.scope.timeout_ms = 300;
    let error = bench.refused("mail_send", letter("hello")).await;
    assert!(error.contains("nothing was sent"), "{error}");
    bench.scope.timeout_ms = 60_000;
    let stop = bench.scope.cancellation.clone();
    tokio::spawn(async move {
        // Once from the first call, once from the second.
        let _first = silent.accept().await;
        let _second = silent.accept().await;
        stop.cancel();
        std::future::pending::<()>().await;
    });
    let error = bench.refused("mail_send", letter("hello")).await;
    assert!(error.contains("nothing was sent"), "{error}");
}
