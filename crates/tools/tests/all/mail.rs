use crate::fakes::Bench;
use serde_json::json;

#[tokio::test]
async fn a_draft_is_a_message_in_a_file() {
    let bench = Bench::new();
    let arguments =
        json!({"to": "Ann Lee <ann@example.org>, bob@example.org", "subject": "Größe & Co.", "body": "Hällo\n\nBye"});
    let preview = bench.preview("mail_draft", arguments.clone()).await;
    assert!(preview.summary.contains("nothing is sent"), "{}", preview.summary);
    assert!(!bench.path("drafts").exists());
    let done = bench.keyed("mail_draft", arguments.clone(), "k").await.unwrap();
    assert!(done.content.contains("it was not sent"), "{}", done.content);
    let path = "drafts/größe-co.eml";
    let text = bench.text(path);
    for part in [
        "To: Ann Lee <ann@example.org>,\r\n bob@example.org\r\n",
        "Subject: =?UTF-8?Q?Gr=C3=B6=C3=9Fe_=26_Co=2E?=\r\n",
        "Date: Sat, 21 Nov 2026 09:00:00 +0100\r\n",
        "Content-Transfer-Encoding: 8bit\r\n\r\nHällo\r\n\r\nBye\r\n",
        "X-Unsent: 1\r\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The same call again, after a crash, is the same draft; another call is another one.
    bench.keyed("mail_draft", arguments.clone(), "k").await.unwrap();
    assert!(!bench.path("drafts/größe-co-2.eml").exists());
    let other = bench.keyed("mail_draft", arguments, "k2").await.unwrap();
    assert!(other.receipt.as_ref().unwrap().object.ends_with("-2.eml"));
    assert!(bench.undo(&other).await.unwrap().contains("removed"));
    assert!(!bench.path("drafts/größe-co-2.eml").exists() && bench.path(path).exists());
}

#[tokio::test]
async fn headers_cannot_be_smuggled_in() {
    let bench = Bench::new();
    for (to, subject, expect) in [
        ("nobody", "x", "no mail address"),
        ("a@b.c\r\nBcc: d@e.f", "x", "single lines"),
        ("a@b.c", "x\r\nBcc: d@e.f", "single lines"),
        (",,,", "x", "names nobody"),
    ] {
        let arguments = json!({"to": to, "subject": subject, "body": "b"});
        let error = bench.refused("mail_draft", arguments.clone()).await;
        assert!(error.contains(expect), "{arguments}: {error}");
        assert!(bench.preview("mail_draft", arguments).await.summary.contains("would fail"));
    }
    assert!(!bench.path("drafts").exists());
    bench.escapes();
    std::os::unix::fs::symlink("..", bench.path("drafts")).unwrap();
    let error = bench.refused("mail_draft", json!({"to": "a@b.c", "subject": "s", "body": "b"})).await;
    assert!(error.contains("outside"), "{error}");
    assert!(!bench.outside().join("s.eml").exists());
}
