use crate::fakes::Bench;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use steward_core::policy::RiskClass;
use steward_core::ports::Tools as _;
use steward_core::tool::{EffectClass, Undo};
use steward_tools::terminal::{Command, Risk, TerminalConfig};

fn argv(words: &[&str]) -> Value {
    json!({"argv": words})
}

#[tokio::test]
async fn commands_look_at_the_workspace() {
    let bench = Bench::new();
    bench.put("a.txt", "b\na\nc\n");
    bench.put("x.json", r#"{"k":[1,2]}"#);
    for (words, expect) in [
        (vec!["wc", "-l", "a.txt"], "3 a.txt"),
        (vec!["sort", "a.txt"], "a\nb\nc"),
        (vec!["head", "-n", "1", "a.txt"], "b"),
        (vec!["awk", "BEGIN{printf \"%.2f\", 2.5*3}"], "7.50"),
        (vec!["expr", "6", "*", "7"], "42"),
        (vec!["seq", "3"], "1\n2\n3"),
        (vec!["sed", "-n", "2p", "a.txt"], "a"),
        (vec!["find", ".", "-name", "*.json"], "./x.json"),
    ] {
        let done = bench.ok("terminal", argv(&words)).await;
        assert_eq!(done.content, expect, "{words:?}");
        let receipt = done.receipt.unwrap();
        assert_eq!(receipt.action, "ran");
        assert!(receipt.object.starts_with(words[0]));
        assert!(done.undo.is_none());
    }
    assert!(
        bench
            .ok("terminal", argv(&["date", "-u"]))
            .await
            .content
            .contains("UTC")
    );
    let quiet = bench.ok("terminal", argv(&["grep", "zzz", "a.txt"])).await;
    assert_eq!(quiet.content, "(the command printed nothing, exit code 1)");
    let preview = bench.preview("terminal", argv(&["wc", "a b.txt"])).await;
    assert_eq!(preview.detail.as_deref(), Some("wc 'a b.txt'"));
}

#[tokio::test]
async fn what_is_not_on_the_list_is_refused() {
    let bench = Bench::new();
    for words in [
        vec!["rm", "-rf", "."],
        vec!["sh", "-c", "ls"],
        vec!["bash"],
        vec!["python3"],
        vec!["curl", "x"],
        vec!["env"],
        vec!["xargs", "ls"],
        vec!["tee", "x"],
        vec!["./ls"],
        vec!["/usr/bin/wc"],
        vec![""],
        vec!["perl", "-e", "1"],
        vec!["sudo", "ls"],
        vec!["cp", "a", "b"],
    ] {
        let error = bench.refused("terminal", argv(&words)).await;
        assert!(
            error.contains("is not allowed") && error.contains("wc"),
            "{words:?}: {error}"
        );
        assert!(
            bench
                .preview("terminal", argv(&words))
                .await
                .summary
                .contains("would fail")
        );
    }
    let error = bench.refused("terminal", json!({"argv": []})).await;
    assert!(error.contains("`argv`"), "{error}");
    let error = bench.refused("terminal", json!({"argv": "ls"})).await;
    assert!(error.contains("`argv`"), "{error}");
}

#[tokio::test]
async fn metacharacters_are_just_characters() {
    let bench = Bench::new();
    bench.put("a.txt", "1\n");
    for word in [
        "$(id)", "`id`", "; id", "| id", "&& id", "$HOME", "${PATH}", "*", "~", "> made", "\n id",
        "!!",
    ] {
        let done = bench.ok("terminal", argv(&["printf", "%s", word])).await;
        assert_eq!(done.content, word.trim_end(), "{word}");
    }
    assert!(!bench.path("made").exists());
    let error = bench
        .refused("terminal", argv(&["cat", "a.txt", "|", "wc"]))
        .await;
    assert!(error.contains("there is no shell"), "{error}");
    let error = bench.refused("terminal", argv(&["cat", "*.txt"])).await;
    assert!(error.contains("wildcards"), "{error}");
}

#[tokio::test]
async fn the_sandbox_holds() {
    let bench = Bench::new();
    bench.put("a.txt", "b\na\n");
    let secret = bench.outside().join("secret.txt").display().to_string();
    for path in [secret.as_str(), "../secret.txt"] {
        let error = bench.refused("terminal", argv(&["cat", path])).await;
        assert!(!error.contains("SECRET"), "{error}");
    }
    // Writing by whatever means fails, the workspace being read-only.
    for words in [
        vec!["awk", "BEGIN{print \"x\" > \"made\"}"],
        vec!["sed", "w made", "a.txt"],
        vec!["uniq", "a.txt", "made"],
        vec!["awk", "BEGIN{exit system(\"touch made || exit 9\")}"],
    ] {
        let _ = bench.call("terminal", argv(&words)).await;
        assert!(!bench.path("made").exists(), "{words:?}");
    }
    assert_eq!(bench.text("a.txt"), "b\na\n");
    // The environment is ours, not the program's.
    let seen = bench
        .ok(
            "terminal",
            argv(&["awk", "BEGIN{for (k in ENVIRON) print k}"]),
        )
        .await;
    assert!(!seen.content.contains("CARGO"), "{}", seen.content);
}

#[tokio::test]
async fn there_is_no_network() {
    let bench = Bench::new();
    let server = crate::server::Server::start(|_| crate::server::ok("text/plain", "reached")).await;
    let port = server.port;
    // A shell can open connections by itself; awk reaches one.
    let shell = format!(
        r#"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; printf "GET / HTTP/1.0\r\n\r\n" >&3; cat <&3'"#
    );
    let quoted = shell.replace('\\', r"\\").replace('"', r#"\""#);
    let program = format!(r#"BEGIN{{exit system("{quoted}")}}"#);
    // The program does reach the server where nothing confines it.
    let free = tokio::process::Command::new("awk").arg(&program).output();
    free.await.unwrap();
    assert_eq!(server.hits.load(Ordering::Relaxed), 1);
    let _ = bench.call("terminal", argv(&["awk", &program])).await;
    assert_eq!(server.hits.load(Ordering::Relaxed), 1);
    let listed = bench
        .ok("terminal", argv(&["cat", "/proc/self/status"]))
        .await;
    assert!(
        listed.content.contains("NoNewPrivs:\t1"),
        "{}",
        listed.content
    );
}

#[tokio::test]
async fn forbidden_options_name_the_way_out() {
    let bench = Bench::new();
    bench.put("a.txt", "x\n");
    for words in [
        vec!["find", ".", "-delete"],
        vec!["find", ".", "-exec", "cat", "{}", ";"],
        vec!["sed", "-i", "s/x/y/", "a.txt"],
        vec!["sort", "-o", "b", "a.txt"],
        vec!["tail", "-f", "a.txt"],
    ] {
        let error = bench.refused("terminal", argv(&words)).await;
        assert!(
            error.contains("is not allowed") && error.contains("`write`"),
            "{words:?}: {error}"
        );
    }
    assert_eq!(bench.text("a.txt"), "x\n");
}

#[tokio::test]
async fn too_long_and_stopped_commands_end() {
    let mut bench = Bench::new();
    let endless = argv(&["awk", "BEGIN{while(1){}}"]);
    bench.scope.timeout_ms = 700;
    let began = Instant::now();
    let error = bench.refused("terminal", endless.clone()).await;
    assert!(error.contains("stopped"), "{error}");
    bench.scope.timeout_ms = 60_000;
    let stop = bench.scope.stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop.store(true, Ordering::Relaxed);
    });
    let error = bench.refused("terminal", endless).await;
    assert!(error.contains("stopped"), "{error}");
    assert!(
        began.elapsed() < Duration::from_secs(4),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn output_is_capped_and_failures_are_told() {
    let bench = Bench::new();
    let long = bench.ok("terminal", argv(&["seq", "1000000"])).await;
    assert!(long.content.len() < 70_000 && long.content.contains("more bytes were not kept"));
    let error = bench.refused("terminal", argv(&["cat", "gone.txt"])).await;
    assert!(
        error.contains("exit code 1") && error.contains("No such file"),
        "{error}"
    );
    let error = bench
        .refused(
            "terminal",
            argv(&["awk", "BEGIN{x=\"a\"; while(1) x = x x}"]),
        )
        .await;
    assert!(error.contains("awk"), "{error}");
}

#[tokio::test]
async fn an_operator_adds_a_command_that_writes() {
    let touch = Command {
        risk: Risk::Write,
        ..Command::default()
    };
    let config = TerminalConfig {
        extra: [("touch".to_owned(), touch)].into(),
    };
    let bench = Bench::with(&[], config);
    let all = bench.tools.catalogue();
    let spec = all.iter().find(|spec| spec.name == "terminal").unwrap();
    assert_eq!(
        (spec.risk, spec.effect),
        (RiskClass::Destructive, EffectClass::Write)
    );
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(bench.path(""), open).unwrap();
    let preview = bench.preview("terminal", argv(&["touch", "made"])).await;
    assert!(!preview.reversible);
    let done = bench.ok("terminal", argv(&["touch", "made"])).await;
    assert!(bench.path("made").exists());
    assert!(matches!(done.undo, Some(Undo::Impossible { .. })));
    // The others stay read-only.
    let _ = bench
        .call("terminal", argv(&["sed", "w other", "made"]))
        .await;
    assert!(!bench.path("other").exists());
}
