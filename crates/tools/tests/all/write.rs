use crate::fakes::Bench;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use steward_core::ports::Tools as _;

#[tokio::test]
async fn creates_overwrites_appends_with_receipts() {
    let bench = Bench::new();
    let new = bench.ok("write", json!({"path": "a/b/c.txt", "content": "one"})).await;
    assert_eq!(new.content, "created a/b/c.txt (3 bytes)");
    let receipt = new.receipt.clone().unwrap();
    assert_eq!((receipt.action.as_str(), receipt.object.as_str()), ("created", "a/b/c.txt"));
    assert!(receipt.evidence.unwrap().starts_with("sha256:"));
    let over = bench.ok("write", json!({"path": "a/b/c.txt", "content": "two!"})).await;
    assert_eq!(over.content, "wrote 4 bytes to a/b/c.txt, replacing 3 bytes");
    let more = bench.ok("write", json!({"path": "a/b/c.txt", "content": "three", "mode": "append"})).await;
    assert_eq!(bench.text("a/b/c.txt"), "two!\nthree\n");
    assert!(more.content.starts_with("appended 7 bytes to a/b/c.txt (was 4"), "{}", more.content);
    bench.ok("write", json!({"path": "a/b/c.txt", "content": "four\n", "mode": "append"})).await;
    assert_eq!(bench.text("a/b/c.txt"), "two!\nthree\nfour\n");
    bench.ok("write", json!({"path": "new.txt", "content": "x", "mode": "append"})).await;
    assert_eq!(bench.text("new.txt"), "x\n");
    bench.ok("write", json!({"path": "only.txt", "content": "x", "mode": "create"})).await;
    let error = bench.refused("write", json!({"path": "only.txt", "content": "y", "mode": "create"})).await;
    assert!(error.contains("exists already; use mode overwrite"), "{error}");
    assert_eq!(bench.text("only.txt"), "x");
}

#[tokio::test]
async fn a_file_keeps_its_line_ends_and_its_encoding() {
    let bench = Bench::new();
    bench.put("ledger.csv", "date,item\r\n2025-03-01,nails\r\n");
    let more = bench.ok("write", json!({"path": "ledger.csv", "content": "2025-03-05,rope\n", "mode": "append"})).await;
    assert_eq!(bench.text("ledger.csv"), "date,item\r\n2025-03-01,nails\r\n2025-03-05,rope\r\n");
    assert!(more.content.starts_with("appended 17 bytes"), "{}", more.content);
    assert!(bench.undo(&more).await.unwrap().contains("restored"));
    // The whole file, as a model that changed a line of it writes it.
    let over = json!({"path": "ledger.csv", "content": "date,item\n2025-03-01,tacks\n"});
    let seen = bench.preview("write", over.clone()).await.detail.unwrap();
    assert!(!seen.contains("-date,item"), "{seen}");
    let done = bench.ok("write", over).await;
    assert_eq!(bench.text("ledger.csv"), "date,item\r\n2025-03-01,tacks\r\n");
    assert!(done.content.ends_with("its lines end in CRLF as before"), "{}", done.content);
    // Who writes CRLF, or makes a new file, says how lines end.
    bench.ok("write", json!({"path": "ledger.csv", "content": "a\r\nb\n"})).await;
    assert_eq!(bench.text("ledger.csv"), "a\r\nb\n");
    bench.put("wide.txt", b"\xff\xfea\0\r\0\n\0");
    bench.ok("write", json!({"path": "wide.txt", "content": "b", "mode": "append"})).await;
    assert_eq!(bench.bytes("wide.txt"), b"\xff\xfea\0\r\0\n\0b\0\r\0\n\0");
}

#[tokio::test]
async fn no_file_gets_two_encodings() {
    let bench = Bench::new();
    let old = b"Gr\xf6\xdfe: 5\r\nStra\xdfe: Nord\r\n";
    bench.put("alt.txt", old);
    let seen = bench.ok("read", json!({"path": "alt.txt"})).await.content;
    assert!(seen.contains("written in windows-1252") && seen.contains("Größe: 5"), "{seen}");
    let args = json!({"path": "alt.txt", "content": "Höhe: 7", "mode": "append"});
    let preview = bench.preview("write", args.clone()).await;
    assert!(preview.summary.ends_with("in windows-1252 as it is"), "{}", preview.summary);
    assert!(preview.detail.unwrap().contains("+Höhe: 7"));
    let more = bench.ok("write", args).await;
    assert_eq!(bench.bytes("alt.txt"), [&old[..], b"H\xf6he: 7\r\n"].concat());
    assert!(more.content.ends_with("it is in windows-1252 as before"), "{}", more.content);
    for mode in ["append", "overwrite"] {
        let error = bench.refused("write", json!({"path": "alt.txt", "content": "会議", "mode": mode})).await;
        assert!(error.contains("windows-1252, which has no `会`"), "{error}");
    }
    assert!(bench.undo(&more).await.unwrap().contains("restored"));
    assert_eq!(bench.bytes("alt.txt"), old);
    // The whole file, as a model that changed a line of it writes it.
    bench.ok("write", json!({"path": "alt.txt", "content": "Größe: 6\nStraße: Nord\n"})).await;
    assert_eq!(bench.bytes("alt.txt"), b"Gr\xf6\xdfe: 6\r\nStra\xdfe: Nord\r\n");
    bench.put("wide.txt", b"\xff\xfeG\0r\0\xfc\0n\0\n\0");
    let seen = bench.ok("read", json!({"path": "wide.txt"})).await.content;
    assert!(seen.ends_with("Grün\n"), "{seen}");
    bench.ok("write", json!({"path": "wide.txt", "content": "é\n"})).await;
    assert_eq!(bench.bytes("wide.txt"), b"\xff\xfe\xe9\0\n\0");
    bench.put("mixed.txt", b"Gr\xf6\xdfe, Stra\xdfe, H\xc3\xb6he\n");
    let error = bench.refused("write", json!({"path": "mixed.txt", "content": "ö", "mode": "append"})).await;
    assert!(error.contains("more than one encoding"), "{error}");
}

#[tokio::test]
async fn undo_restores_bit_for_bit() {
    let bench = Bench::new();
    let odd: Vec<u8> = (0..=255).collect();
    let big: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
    for (name, before) in [("text", "a\nb".as_bytes()), ("odd", &odd), ("big", &big), ("empty", b"")] {
        bench.put(name, before);
        std::fs::set_permissions(bench.path(name), std::fs::Permissions::from_mode(0o640)).unwrap();
        for mode in ["overwrite", "append"] {
            let content = if mode == "append" { "new\r\n\u{0}e" } else { "new\r\n\u{0}é" };
            let arguments = json!({"path": name, "content": content, "mode": mode});
            let done = bench.ok("write", arguments).await;
            assert_ne!(bench.bytes(name), before, "{name} {mode}");
            let said = bench.undo(&done).await.unwrap();
            assert!(said.contains("restored"), "{said}");
            assert_eq!(bench.bytes(name), before, "{name} {mode}");
            let kept = std::fs::metadata(bench.path(name)).unwrap().permissions().mode() & 0o777;
            assert_eq!(kept, 0o640, "{name} {mode}");
        }
    }
    assert_eq!(bench.blobs.count(), 1, "only the big one is a blob");
    let made = bench.ok("write", json!({"path": "fresh", "content": "x"})).await;
    assert!(bench.undo(&made).await.unwrap().contains("removed fresh"));
    assert!(!bench.path("fresh").exists());
}

#[tokio::test]
async fn a_name_with_blanks_at_its_ends_is_written_and_restored_as_it_is() {
    let bench = Bench::new();
    // What lies under the trimmed name is another file.
    for other in ["n.txt", "folder/ n.txt"] {
        bench.put(other, "other");
    }
    for (path, name) in [("./ n.txt", " n.txt"), ("n.txt /.", "n.txt "), (" ./\u{a0}n.txt ", "\u{a0}n.txt")] {
        let made = bench.ok("write", json!({"path": path, "content": "one"})).await;
        assert_eq!(bench.text(name), "one", "{name:?}");
        let over = bench.ok("write", json!({"path": path, "content": "two"})).await;
        assert_eq!(bench.text(name), "two", "{name:?}");
        assert!(bench.undo(&over).await.unwrap().contains("restored"));
        assert_eq!(bench.text(name), "one", "{name:?}");
        let more = bench.ok("write", json!({"path": path, "content": "three", "mode": "append"})).await;
        assert!(bench.undo(&more).await.unwrap().contains("restored"));
        assert_eq!(bench.text(name), "one", "{name:?}");
        assert!(bench.undo(&made).await.unwrap().contains("removed"));
        assert!(!bench.path(name).exists(), "{name:?}");
    }
    for other in ["n.txt", "folder/ n.txt"] {
        assert_eq!(bench.text(other), "other");
    }
}

#[tokio::test]
async fn undo_refuses_what_changed_since() {
    let bench = Bench::new();
    bench.put("f", "before");
    let done = bench.ok("write", json!({"path": "f", "content": "ours"})).await;
    bench.put("f", "theirs");
    let error = bench.undo(&done).await.unwrap_err().to_string();
    assert!(error.contains("f has changed since"), "{error}");
    assert_eq!(bench.text("f"), "theirs");
    std::fs::remove_file(bench.path("f")).unwrap();
    assert!(bench.undo(&done).await.is_err() && !bench.path("f").exists());
}

#[tokio::test]
async fn preview_tells_before_anything_happens() {
    let bench = Bench::new();
    bench.put("notes.md", "a\nb\nc\n");
    let over = bench.preview("write", json!({"path": "notes.md", "content": "a\nB\nc\n"})).await;
    assert_eq!(over.summary, "overwrites notes.md (6 bytes) with 6 bytes");
    let diff = over.detail.unwrap();
    assert!(diff.contains("--- a/notes.md") && diff.contains("-b\n+B\n"), "{diff}");
    assert!(over.reversible && over.count == Some(1));
    let add = bench.preview("write", json!({"path": "notes.md", "content": "d", "mode": "append"})).await;
    assert_eq!(add.summary, "appends 2 bytes to notes.md (6 bytes)");
    assert!(add.detail.unwrap().contains("+d"));
    let new = bench.preview("write", json!({"path": "x/new.md", "content": "d"})).await;
    assert_eq!(new.summary, "creates x/new.md (1 bytes)");
    let same = bench.preview("write", json!({"path": "notes.md", "content": "a\nb\nc\n"})).await;
    assert!(same.summary.contains("already") && same.detail.is_none());
    let bad = bench.preview("write", json!({"path": "../x", "content": "d"})).await;
    assert!(bad.summary.contains("would fail") && !bad.reversible, "{}", bad.summary);
    assert_eq!(bench.text("notes.md"), "a\nb\nc\n");
    assert!(!bench.path("x").exists());
}

#[tokio::test]
async fn nothing_outside_is_written() {
    let bench = Bench::new();
    for path in bench.escapes() {
        for mode in ["create", "overwrite", "append"] {
            let error = bench.refused("write", json!({"path": path, "content": "pwned", "mode": mode})).await;
            assert!(!error.is_empty());
        }
    }
    let error = bench.refused("write", json!({"path": "linkdir/made.txt", "content": "x"})).await;
    assert!(error.contains("outside"), "{error}");
    let error = bench.refused("write", json!({"path": "notes", "content": "x"})).await;
    assert!(error.contains("is a folder"), "{error}");
    let error = bench.refused("write", json!({"path": ".", "content": "x"})).await;
    assert!(!error.is_empty());
    let outside = std::fs::read_to_string(bench.outside().join("secret.txt")).unwrap();
    assert_eq!(outside, "SECRET-OUTSIDE\n");
    assert!(!bench.outside().join("made.txt").exists());
    // A snapshot that was tampered with leads nowhere either.
    let done = bench.ok("write", json!({"path": "f", "content": "x"})).await;
    let mut undo = serde_json::to_value(done.undo.unwrap()).unwrap();
    undo["snapshot"]["path"] = json!("../secret.txt");
    let undo = serde_json::from_value(undo).unwrap();
    assert!(bench.tools.undo(&undo, &bench.scope).await.is_err());
    assert!(bench.outside().join("secret.txt").exists());
}

#[tokio::test]
async fn a_full_or_read_only_place_gives_a_clear_error() {
    let bench = Bench::new();
    let error = bench.refused("write", json!({"path": "big", "content": "x".repeat(9 << 20)})).await;
    assert!(error.contains("too large"), "{error}");
    assert!(!bench.path("big").exists());
    bench.put("huge", vec![b'x'; 9 << 20]);
    let error = bench.refused("write", json!({"path": "huge", "content": "x"})).await;
    assert!(error.contains("too many to keep for undo"), "{error}");
    assert_eq!(bench.bytes("huge").len(), 9 << 20);
}
