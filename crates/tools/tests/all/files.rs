use crate::fakes::Bench;
use serde_json::json;
use std::fmt::Write as _;

#[tokio::test]
async fn read_shows_lines_with_a_heading() {
    let bench = Bench::new();
    let mut text = String::new();
    for number in 1..=561 {
        let _ = writeln!(text, "line {number}");
    }
    bench.put("notes/x.md", &text);
    let all = bench.ok("read", json!({"path": "notes/x.md"})).await;
    assert!(all.content.starts_with("notes/x.md, lines 1-561 of 561\nline 1\n"));
    assert!(all.content.ends_with("line 561\n") && all.receipt.is_none() && !all.provenance.is_from_outside());
    let some = bench.ok("read", json!({"path": "notes/x.md", "start": 3, "lines": 2})).await;
    assert_eq!(some.content, "notes/x.md, lines 3-4 of 561\nline 3\nline 4\n");
    let error = bench.refused("read", json!({"path": "notes/x.md", "start": 562})).await;
    assert!(error.contains("only 561 lines"), "{error}");

    bench.put("unfinished", "a\nb");
    let read = bench.ok("read", json!({"path": "unfinished"})).await;
    assert_eq!(read.content, "unfinished, lines 1-2 of 2\na\nb");
    bench.put("empty", "");
    assert_eq!(bench.ok("read", json!({"path": "empty"})).await.content, "empty is empty");
    bench.put("latin1", b"gr\xfc\xdfe\n");
    assert!(bench.ok("read", json!({"path": "latin1"})).await.content.contains("gr\u{fc}\u{df}e"));
}

#[tokio::test]
async fn read_caps_what_is_too_much() {
    let bench = Bench::new();
    bench.put("wide", "x".repeat(3 << 20) + "\nnext\n");
    let wide = bench.ok("read", json!({"path": "wide"})).await;
    assert!(wide.content.starts_with("wide, lines 1-1 of 2\n"));
    assert!(wide.content.len() < (256 << 10) + 200 && wide.content.contains("[cut here"));
    let next = bench.ok("read", json!({"path": "wide", "start": 2})).await;
    assert_eq!(next.content, "wide, lines 2-2 of 2\nnext\n");
    bench.put("long", "y\n".repeat(5000));
    let long = bench.ok("read", json!({"path": "long"})).await;
    assert!(long.content.starts_with("long, lines 1-2000 of 5000\n"));
}

#[tokio::test]
async fn read_refuses_with_a_hint() {
    let bench = Bench::new();
    bench.put("shop.db", b"SQLite format 3\0\x10\0");
    bench.put("blob", b"abc\0def");
    bench.put("doc.pdf", b"%PDF-1.7 ...");
    bench.put("notes/handover.md", "x");
    for (path, expect) in [
        ("shop.db", "`sql`"),
        ("blob", "binary"),
        ("doc.pdf", "PDF"),
        ("notes", "`list`"),
        ("notes/handovr.md", "did you mean notes/handover.md?"),
        ("nowhere/at/all", "does not exist"),
        ("a\0b", "NUL"),
    ] {
        let error = bench.refused("read", json!({"path": path})).await;
        assert!(error.contains(expect), "{path}: {error}");
    }
}

#[tokio::test]
async fn nothing_outside_the_workspace_is_seen() {
    let bench = Bench::new();
    for path in bench.escapes() {
        for tool in ["read", "list", "grep"] {
            let mut arguments = json!({"path": path});
            if tool == "grep" {
                arguments["pattern"] = json!(".");
            }
            let error = bench.refused(tool, arguments).await;
            assert!(!error.contains("SECRET"), "{tool} {path}: {error}");
        }
    }
    // Links are met on the way, too.
    let found = bench.ok("grep", json!({"pattern": "SECRET"})).await;
    assert!(found.content.starts_with("no line matches"), "{}", found.content);
    let listed = bench.ok("list", json!({"depth": 5})).await;
    assert!(!listed.content.contains("secret"), "{}", listed.content);
}

#[tokio::test]
async fn list_shows_folders_patterns_and_depth() {
    let bench = Bench::new();
    bench.put("a.csv", "x".repeat(1500));
    bench.put("notes/b.md", "b");
    bench.put("notes/deep/c.md", "c");
    bench.put(".hidden", "h");
    let flat = bench.ok("list", json!({})).await;
    assert_eq!(flat.content, "2 entries in the workspace; 1 hidden left out\na.csv  1.5 kB\nnotes/\n");
    assert_eq!(flat.data.unwrap()[0]["bytes"], json!(1500));
    let deep = bench.ok("list", json!({"depth": 2})).await;
    assert!(deep.content.contains("notes/deep/\n") && !deep.content.contains("c.md"));
    let names = bench.ok("list", json!({"pattern": "*.md"})).await;
    assert_eq!(
        names.content,
        "2 entries matching *.md in the workspace; 1 hidden left out\nnotes/b.md  1 B\nnotes/deep/c.md  1 B\n"
    );
    let paths = bench.ok("list", json!({"pattern": "notes/*.md"})).await;
    assert!(paths.content.starts_with("1 entry matching"), "{}", paths.content);
    let below = bench.ok("list", json!({"path": "notes", "pattern": "**/c.*"})).await;
    assert!(below.content.contains("notes/deep/c.md"), "{}", below.content);
    for (arguments, expect) in [
        (json!({"pattern": "["}), "use * for any name"),
        (json!({"path": "a.csv"}), "folder"),
        (json!({"path": "gone"}), "does not exist"),
        (json!({"depth": 6}), "`depth`"),
    ] {
        let error = bench.refused("list", arguments.clone()).await;
        assert!(error.contains(expect), "{arguments}: {error}");
    }
}

#[tokio::test]
async fn grep_finds_lines_and_counts() {
    let bench = Bench::new();
    bench.put("log/app.log", "ok\nERROR one\nwarn\nerror two\r\n");
    bench.put("b.txt", "a.b\naxb\n");
    bench.put("shop.db", b"SQLite format 3\0 ERROR \n");
    let found = bench.ok("grep", json!({"pattern": "ERROR"})).await;
    assert_eq!(
        found.content,
        "1 matching line in 1 file; 1 binary file not searched (shop.db)\nlog/app.log:2: ERROR one\n"
    );
    let both = bench.ok("grep", json!({"pattern": "error", "ignore_case": true, "path": "log"})).await;
    assert!(both.content.contains("log/app.log:4: error two\n"), "{}", both.content);
    let regex = bench.ok("grep", json!({"pattern": "a.b", "path": "b.txt"})).await;
    assert!(regex.content.starts_with("2 matching lines in 1 file\n"));
    let fixed = bench.ok("grep", json!({"pattern": "a.b", "path": "./b.txt", "fixed": true})).await;
    assert_eq!(fixed.content, "1 matching line in 1 file\nb.txt:1: a.b\n");
    let none = bench.ok("grep", json!({"pattern": "zzz", "path": "b.txt"})).await;
    assert_eq!(none.content, "no line matches zzz in b.txt (1 files searched)\n");

    bench.put("many.txt", "hit\n".repeat(1000));
    let many = bench.ok("grep", json!({"pattern": "hit"})).await;
    assert!(many.content.starts_with("1000 matching lines in 1 file, the first 200 shown"));
    assert_eq!(many.content.matches("many.txt:").count(), 200);
    bench.put("wide.txt", "w".repeat(100_000));
    let wide = bench.ok("grep", json!({"pattern": "w", "path": "wide.txt"})).await;
    assert!(wide.content.len() < 500);
    let error = bench.refused("grep", json!({"pattern": "a("})).await;
    assert!(error.contains("`fixed`"), "{error}");
    let error = bench.refused("grep", json!({"pattern": "x", "path": "gone"})).await;
    assert!(error.contains("does not exist"), "{error}");
}
