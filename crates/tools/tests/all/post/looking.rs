use super::world::{PASSWORD, Servers, bench, letter, names};
use serde_json::json;
use steward_core::policy::RiskClass;
use steward_core::ports::Tools as _;
use steward_core::provenance::Provenance;
use steward_core::tool::EffectClass;

const HTML: &[u8] = b"From: \"Shop\" <offers@shop.example>\r\nTo: ann@example.org\r\nSubject: =?UTF-8?Q?Angebot_f=C3=BCr_Sie?=\r\n\
Date: Fri, 20 Nov 2026 22:30:00 -0500\r\nMessage-ID: <m1@shop.example>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
--b\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n\
<html><head><style>p{}</style></head><body><h1>Heute</h1><p>Preis: 5 \xa4, gr\xfcn</p><script>steal()</script><a href=\"https://shop.example/x\">Mehr</a></body></html>\r\n\
--b\r\nContent-Type: application/pdf; name=\"offer.pdf\"\r\nContent-Disposition: attachment; filename=\"offer.pdf\"\r\nContent-Transfer-Encoding: base64\r\n\r\n\
JVBERi0xLjQKSEVMTE8=\r\n--b--\r\n";

#[tokio::test]
async fn what_was_sent_is_found_and_read() {
    let servers = Servers::start().await;
    let (bench, rows) = bench(&servers.usual());
    let mut own = letter("Grüße an alle");
    own["to"] = json!("ann@example.org");
    let sent = bench.ok("mail_send", own).await;
    let listed = bench.ok("mail_list", json!({})).await;
    assert_eq!(
        listed.content,
        "1 of 1 messages in INBOX, newest first\n[1] 2026-11-21 09:00  Ann Lée <ann@example.org>: Grüße an alle (unread)"
    );
    assert_eq!(listed.provenance, Provenance::from_outside("mail from ann@example.org"));
    let read = bench.ok("mail_read", json!({"uid": 1})).await;
    let id = sent.receipt.unwrap().evidence.unwrap();
    assert_eq!(
        read.content,
        format!(
            "From: Ann Lée <ann@example.org>\nTo: ann@example.org\nDate: 2026-11-21 09:00\nSubject: Grüße an alle\nMessage-ID: {id}\n\nHello\n.\nBye"
        )
    );
    assert_eq!(read.provenance, Provenance::from_outside("mail from ann@example.org"));
    // Looking changes nothing, not even whether a message was seen.
    assert!(bench.ok("mail_list", json!({"unread": true})).await.content.contains("[1]"));
    let all = bench.tools.catalogue();
    for name in ["mail_list", "mail_search", "mail_read"] {
        let spec = all.iter().find(|spec| spec.name == name).unwrap();
        assert_eq!((spec.risk, spec.effect), (RiskClass::Read, EffectClass::Read));
    }
    let tools: Vec<String> = rows.uses.lock().unwrap().iter().map(|one| one.tool.clone()).collect();
    assert_eq!(tools, ["mail_send", "mail_list", "mail_read", "mail_list"]);
}

#[tokio::test]
async fn pages_become_text_and_attachments_stay_closed() {
    let servers = Servers::start().await;
    servers.put("", "1.html", HTML);
    let (bench, _) = bench(&servers.usual());
    let read = bench.ok("mail_read", json!({"uid": 1})).await;
    for part in [
        "From: Shop <offers@shop.example>\n",
        "Date: 2026-11-21 04:30\n",
        "Subject: Angebot für Sie\n",
        "Attachment, not opened: offer.pdf (application/pdf, 14 bytes)\n",
        "\n\n# Heute\nPreis: 5 ¤, grün\n\nMehr\n\nLinks:\nMehr: https://shop.example/x",
    ] {
        assert!(read.content.contains(part), "{part}\n{}", read.content);
    }
    assert!(!read.content.contains("steal") && !read.content.contains("HELLO"), "{}", read.content);
    assert_eq!(read.data.unwrap()["attachments"][0]["bytes"], 14);
}

#[tokio::test]
async fn a_page_that_says_more_than_the_plain_text_is_read() {
    let servers = Servers::start().await;
    let mail = |plain: &str| {
        format!(
            "From: shop@shop.example\r\nSubject: Offer\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n\
             --b\r\nContent-Type: text/plain\r\n\r\n{plain}\r\n\
             --b\r\nContent-Type: text/html\r\n\r\n<p>Price: 5 EUR, <a href=\"https://shop.example/x\">more</a></p>\r\n--b--\r\n"
        )
    };
    servers.put("", "1.html", mail("View this in a browser.").as_bytes());
    servers.put("", "2.html", mail("Price: 5 EUR, more").as_bytes());
    let (bench, _) = bench(&servers.usual());
    let read = bench.ok("mail_read", json!({"uid": 1})).await.content;
    assert!(read.contains("Price: 5 EUR") && !read.contains("browser"), "{read}");
    let read = bench.ok("mail_read", json!({"uid": 2})).await.content;
    assert!(!read.contains("https://shop.example/x"), "{read}");
}

#[tokio::test]
async fn mail_is_searched_in_any_mailbox() {
    let servers = Servers::start().await;
    let message = |from: &str, subject: &str, day: u32, text: &str| {
        format!(
            "From: {from}\r\nTo: ann@example.org\r\nSubject: {subject}\r\nDate: Sun, {day} Nov 2026 10:00:00 +0000\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{text}\r\n"
        )
    };
    for (at, (from, subject, text)) in [
        ("bob@example.net", "invoice 7", "to be paid"),
        ("bob@example.net", "lunch", "Käsespätzle heute"),
        ("carl@example.net", "invoice 8", "paid \"twice\" \\ already"),
    ]
    .into_iter()
    .enumerate()
    {
        servers.put("", &format!("{at}.x"), message(from, subject, 1, text).as_bytes());
    }
    servers.put(".Entw&APw-rfe", "1.x", message("ann@example.org", "half done", 2, "…").as_bytes());
    let (bench, _) = bench(&servers.usual());
    for (arguments, expect) in [
        (json!({"from": "bob", "subject": "invoice"}), "1 of 1 messages that fit"),
        (json!({"subject": "invoice"}), "2 of 2 messages that fit"),
        (json!({"text": "käsespätzle"}), ": lunch"),
        (json!({"text": "\"twice\" \\"}), ": invoice 8"),
        (json!({"subject": "invoice", "count": 1}), "1 of 2 messages that fit"),
        (json!({"text": "nowhere to be found"}), "INBOX has no messages that fit"),
        (json!({"before": "2001-01-01"}), "INBOX has no messages that fit"),
        (json!({"since": "2001-01-01"}), "3 of 3 messages that fit"),
        (json!({"unread": true, "from": "carl"}), "1 of 1 messages that fit"),
        (json!({"subject": "half", "mailbox": "Entwürfe"}), "1 of 1 messages that fit in Entwürfe"),
    ] {
        let found = bench.ok("mail_search", arguments.clone()).await;
        assert!(found.content.contains(expect), "{arguments}: {}", found.content);
    }
    for (arguments, expect) in [
        (json!({}), "say what to search for"),
        (json!({"since": "monday"}), "is no day"),
        (json!({"text": "a\r\nb"}), "single line"),
        (json!({"text": "x", "mailbox": "Nope"}), "Entwürfe"),
    ] {
        let error = bench.refused("mail_search", arguments).await;
        assert!(error.contains(expect), "{error}");
    }
    for count in [1, 2] {
        let listed = bench.ok("mail_list", json!({"count": count})).await;
        assert!(listed.content.starts_with(&format!("{count} of 3 messages")), "{}", listed.content);
    }
    let listed = bench.ok("mail_list", json!({})).await;
    assert_eq!(listed.provenance, Provenance::from_outside("mail from bob@example.net, carl@example.net"));
    assert_eq!(bench.ok("mail_list", json!({"mailbox": "Entwürfe"})).await.data.unwrap()["total"], 1);
}

#[tokio::test]
async fn every_way_in_works_and_a_wrong_password_does_not() {
    let servers = Servers::start().await;
    servers.put("", "1.x", b"From: a@b.c\r\nSubject: s\r\n\r\nb\r\n");
    let place = |scheme: &str, port: u16| servers.account("x", &format!("imap = '{scheme}://localhost:{port}'"));
    let plain = place("imap+plain", servers.imap.port);
    for settings in [place("imaps", servers.imap.secure), place("imap", servers.imap.port), plain] {
        let (bench, _) = bench(&settings);
        assert_eq!(names(&bench), ["mail_draft", "mail_list", "mail_search", "mail_read"]);
        assert!(bench.ok("mail_list", json!({})).await.content.contains(": s (unread)"));
    }
    let good = place("imaps", servers.imap.secure);
    let stranger =
        good.lines().filter(|line| !line.starts_with("ca")).fold(String::new(), |all, line| all + line + "\n");
    for (settings, expect) in [
        (good.replace("'post'", "'wrong'"), "does not let the account x in"),
        (good.replace("'post'", "'token'"), "takes a password"),
        (stranger, "check its name and its certificate"),
        (place("imaps", servers.imap.port), "no safe connection"),
        (place("imaps", 1), "can't be reached"),
    ] {
        let (bench, _) = bench(&settings);
        let error = bench.refused("mail_list", json!({})).await;
        assert!(error.contains(expect), "{expect}: {error}");
        assert!(!error.contains(PASSWORD) && !error.contains("canary"), "{error}");
    }
    let (bench, _) = bench(&good);
    let error = bench.refused("mail_read", json!({"uid": 77})).await;
    assert!(error.contains("INBOX has no message 77"), "{error}");
    let error = bench.refused("mail_read", json!({"uid": 1, "mailbox": "x\r\ny"})).await;
    assert!(error.contains("single line"), "{error}");
}
