use crate::fakes::Bench;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use steward_core::policy::RiskClass;
use steward_core::ports::Tools as _;
use steward_core::tool::EffectClass;
use steward_tools::terminal::TerminalConfig;

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
    assert!(bench.ok("terminal", argv(&["date", "-u"])).await.content.contains("UTC"));
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
        vec!["sh", "script.sh"],
        vec!["bash"],
        vec!["python3"],
        vec!["curl", "x"],
        vec!["env"],
        vec!["xargs", "ls"],
        vec!["tee", "x"],
        vec!["mkdir", "x"],
        vec!["./ls"],
        vec!["/usr/bin/wc"],
        vec![""],
        vec!["perl", "-e", "1"],
        vec!["sudo", "ls"],
        vec!["cp", "a", "b"],
    ] {
        let error = bench.refused("terminal", argv(&words)).await;
        assert!(error.contains("is not allowed") && error.contains("wc"), "{words:?}: {error}");
        assert!(bench.preview("terminal", argv(&words)).await.summary.contains("would fail"));
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
    for word in ["$(id)", "`id`", "; id", "| id", "&& id", "$HOME", "${PATH}", "*", "~", "> made", "\n id", "!!"] {
        let done = bench.ok("terminal", argv(&["printf", "%s", word])).await;
        assert_eq!(done.content, word.trim_end(), "{word}");
    }
    assert!(!bench.path("made").exists());
    let error = bench.refused("terminal", argv(&["cat", "a.txt", "|", "wc"])).await;
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
    let seen = bench.ok("terminal", argv(&["awk", "BEGIN{for (k in ENVIRON) print k}"])).await;
    assert!(!seen.content.contains("CARGO"), "{}", seen.content);
}

#[tokio::test]
async fn there_is_no_network() {
    let bench = Bench::new();
    let server = crate::server::Server::start(|_| crate::server::ok("text/plain", "reached")).await;
    let port = server.port;
    // A shell can open connections by itself; awk reaches one.
    let shell = format!(r#"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; printf "GET / HTTP/1.0\r\n\r\n" >&3; cat <&3'"#);
    let quoted = shell.replace('\\', r"\\").replace('"', r#"\""#);
    let program = format!(r#"BEGIN{{exit system("{quoted}")}}"#);
    // The program does reach the server where nothing confines it.
    let free = tokio::process::Command::new("awk").arg(&program).output();
    free.await.unwrap();
    assert_eq!(server.hits.load(Ordering::Relaxed), 1);
    let _ = bench.call("terminal", argv(&["awk", &program])).await;
    assert_eq!(server.hits.load(Ordering::Relaxed), 1);
    let listed = bench.ok("terminal", argv(&["cat", "/proc/self/status"])).await;
    assert!(listed.content.contains("NoNewPrivs:\t1"), "{}", listed.content);
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
        assert!(error.contains("is not allowed") && error.contains("`write`"), "{words:?}: {error}");
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
    bench.scope.timeout_ms = 600_000;
    let stop = bench.scope.cancellation.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop.cancel();
    });
    let error = bench.refused("terminal", endless).await;
    assert!(error.contains("stopped"), "{error}");
    assert!(began.elapsed() < Duration::from_mins(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn output_is_capped_and_failures_are_told() {
    let bench = Bench::new();
    let long = bench.ok("terminal", argv(&["seq", "1000000"])).await;
    assert!(long.content.len() < 70_000 && long.content.contains("more bytes were not kept"));
    let error = bench.refused("terminal", argv(&["cat", "gone.txt"])).await;
    assert!(error.contains("exit code 1") && error.contains("No such file"), "{error}");
    let error = bench.refused("terminal", argv(&["awk", "BEGIN{x=\"a\"; while(1) x = x x}"])).await;
    assert!(error.contains("awk"), "{error}");
}

/// Commands run as another user where the tests run as root.
fn writable(bench: &Bench) {
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(bench.path(""), open).unwrap();
}

#[tokio::test]
async fn a_line_is_split_and_never_given_to_a_shell() {
    let bench = Bench::new();
    bench.put("a b.txt", "1\n2\n");
    for (arguments, expect) in [
        (json!({"command": "wc -l 'a b.txt'"}), "2 a b.txt"),
        (json!({"command": "[\"head\", \"-n\", \"1\", \"a b.txt\"]"}), "1"),
        (json!({"command": "printf", "argv": ["%s", "$HOME"]}), "$HOME"),
        (json!({"argv": ["bash", "-lc", "tail -n 1 'a b.txt'"]}), "2"),
        (json!({"command": "awk 'BEGIN{print 12*7}'"}), "84"),
    ] {
        assert_eq!(bench.ok("terminal", arguments.clone()).await.content, expect, "{arguments}");
    }
    for (arguments, expect) in [
        (json!({"command": "cat 'a b.txt' | wc -l"}), "`|` means nothing here"),
        (json!({"command": "echo hi > made"}), "`write`"),
        (json!({"command": "cd notes && ls"}), "run `cd DIR` first"),
        (json!({"command": "bash -c 'ls; id'"}), "one command at a time"),
        (json!({"command": "ls $HOME"}), "`$`"),
        (json!({"command": "echo 'x"}), "stays open"),
        (json!({"command": " "}), "blank"),
        (json!({}), "say which command"),
        (json!({"command": "ls -l", "argv": ["ls"]}), "not both"),
    ] {
        let error = bench.refused("terminal", arguments.clone()).await;
        assert!(error.contains(expect), "{arguments}: {error}");
    }
    assert!(!bench.path("made").exists());
}

#[tokio::test]
async fn a_folder_is_kept_for_the_next_commands() {
    let mut bench = Bench::new();
    bench.put("reports/2026/q1.txt", "x\n");
    bench.put("file.txt", "x\n");
    for (to, folder) in [
        ("cd reports", "reports"),
        ("cd 2026", "reports/2026"),
        ("cd ..", "reports"),
        ("cd ./2026/../2026/", "reports/2026"),
        ("cd", ""),
        ("cd reports/2026", "reports/2026"),
    ] {
        let moved = bench.ok("terminal", json!({"command": to})).await;
        assert_eq!(moved.data.unwrap()["folder"], folder, "{to}");
        // As the engine does from the run's log.
        bench.scope.folder = folder.to_owned();
    }
    let seen = bench.ok("terminal", json!({"command": "ls"})).await;
    assert_eq!(seen.content, "q1.txt");
    assert_eq!(seen.data.unwrap()["folder"], "reports/2026");
    for (to, expect) in [
        ("cd ../../..", "outside"),
        ("cd /etc", "outside"),
        ("cd nowhere", "nowhere"),
        ("cd q1.txt", "no folder"),
        ("cd a b", "one folder"),
    ] {
        let error = bench.refused("terminal", json!({"command": to})).await;
        assert!(error.contains(expect), "{to}: {error}");
    }
    std::fs::remove_dir_all(bench.path("reports")).unwrap();
    let error = bench.refused("terminal", json!({"command": "ls"})).await;
    assert!(error.contains("`cd` alone leads back"), "{error}");
    bench.escapes();
    for link in ["cd /linkdir", "cd ~/linkdir"] {
        bench.scope.folder.clear();
        bench.refused("terminal", json!({"command": link})).await;
    }
}

#[tokio::test]
async fn commands_that_write_are_asked_for_and_can_be_undone() {
    let mut bench = Bench::new();
    writable(&bench);
    bench.put("a.txt", "one\n");
    let all = bench.tools.catalogue();
    let spec = all.iter().find(|spec| spec.name == "terminal_write").unwrap();
    assert_eq!((spec.risk, spec.effect), (RiskClass::Write, EffectClass::Write));
    let command = |line: &str| json!({"command": line});
    let preview = bench.preview("terminal_write", command("mkdir out")).await;
    assert!(preview.reversible && preview.detail.as_deref() == Some("mkdir out"), "{preview:?}");
    let made = bench.ok("terminal_write", command("mkdir out")).await;
    assert!(bench.path("out").is_dir());
    assert_eq!(made.data.as_ref().unwrap()["paths"], json!([]), "a folder holds nothing yet");
    let moved = bench.ok("terminal_write", command("mv a.txt out/b.txt")).await;
    assert_eq!(bench.text("out/b.txt"), "one\n");
    assert_eq!(moved.data.as_ref().unwrap()["paths"], json!(["out/b.txt"]));
    bench.scope.folder = "out".to_owned();
    let edited = bench.ok("terminal_write", command("sed -i s/one/two/ b.txt")).await;
    assert_eq!(bench.text("out/b.txt"), "two\n");
    assert_eq!(edited.data.as_ref().unwrap()["paths"], json!(["out/b.txt"]), "from the workspace, wherever it ran");
    assert!(bench.undo(&edited).await.unwrap().contains("put back"));
    assert_eq!(bench.text("out/b.txt"), "one\n");
    bench.undo(&moved).await.unwrap();
    bench.undo(&made).await.unwrap();
    assert_eq!(bench.text("a.txt"), "one\n");
    assert!(!bench.path("out").exists());
    // What failed says so, and proves nothing.
    bench.scope.folder.clear();
    let error = bench.refused("terminal_write", command("cp a.txt c.txt nowhere/")).await;
    assert!(error.contains("exit code 1"), "{error}");
    let failed = bench.ok("terminal_write", command("rm a.txt gone.txt")).await;
    assert!(failed.failed && failed.receipt.is_none(), "{failed:?}");
    assert!(failed.content.contains("exit code 1") && failed.content.contains("not put back: a.txt"), "{failed:?}");
    assert!(!bench.path("a.txt").exists());
    bench.undo(&failed).await.unwrap();
    assert_eq!(bench.text("a.txt"), "one\n");
    // The list holds here too, and the sandbox.
    let error = bench.refused("terminal_write", command("curl https://a.example")).await;
    assert!(error.contains("is not allowed") && error.contains("mkdir"), "{error}");
    let error = bench.refused("terminal", command("rm a.txt")).await;
    assert!(error.contains("`terminal_write`"), "{error}");
    let _ = bench.call("terminal_write", command("cp ../secret.txt stolen.txt")).await;
    assert!(!bench.path("stolen.txt").exists());
    let _ = bench.call("terminal_write", command("touch ../made.txt")).await;
    assert!(!bench.outside().join("made.txt").exists());
}

#[tokio::test]
async fn a_command_that_fails_leaves_the_files_of_others_alone() {
    let bench = Bench::new();
    writable(&bench);
    bench.put("a.txt", "one\n");
    // Writes, waits for what somebody else puts beside it, and fails.
    let program = r#"BEGIN{print "x" > "made.txt"; close("made.txt"); system("sleep 2"); exit 3}"#;
    let upload = async {
        while !bench.path("made.txt").exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        bench.put("uploads/theirs.txt", "precious\n");
    };
    let (done, ()) = tokio::join!(bench.ok("terminal_write", argv(&["awk", program])), upload);
    assert!(done.failed && done.content.contains("exit code 3"), "{done:?}");
    assert_eq!(bench.text("uploads/theirs.txt"), "precious\n");
    assert!(bench.path("made.txt").exists(), "a person decides");
}

#[tokio::test]
async fn an_operator_changes_the_list() {
    let config =
        TerminalConfig::parse("[tee]\nrisk = \"write\"\n[wc]\nallow = false\n[nl]\nforbid = [\"-b\"]").unwrap();
    let bench = Bench::with(&[], config);
    writable(&bench);
    bench.put("a.txt", "x\n");
    let done = bench.ok("terminal_write", argv(&["tee", "made"])).await;
    assert!(bench.path("made").exists() && done.undo.is_some());
    let error = bench.refused("terminal", argv(&["wc", "a.txt"])).await;
    assert!(error.contains("is not allowed"), "{error}");
    let error = bench.refused("terminal", argv(&["nl", "-b", "a", "a.txt"])).await;
    assert!(error.contains("nl -b"), "{error}");
    // The one that looks stays read-only.
    let _ = bench.call("terminal", argv(&["sed", "w other", "a.txt"])).await;
    assert!(!bench.path("other").exists());
}

/// A workspace with an upload, a page that a run fetched, and own files.
fn with_outside(config: TerminalConfig) -> Bench {
    let mut bench = Bench::with(&[], config);
    bench.put("uploads/evil.txt", "EVIL upload\n");
    bench.put("notes/page.md", "EVIL page\n");
    bench.put("notes/own.md", "mine\n");
    bench.put("own.md", "mine EVIL-free\n");
    bench.put("reports/own.md", "mine\n");
    bench.scope.marked_files = vec!["notes/page.md".to_owned()].into();
    // Nobody makes a second name of a file that they may not write.
    let shared = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(bench.path("uploads/evil.txt"), shared).unwrap();
    for folder in ["", "notes", "uploads", "reports"] {
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(bench.path(folder), open).unwrap();
    }
    bench
}

#[tokio::test]
async fn the_files_from_outside_that_a_command_opens_are_told() {
    let bench = with_outside(TerminalConfig::default());
    let both = &["notes/page.md", "uploads/evil.txt"][..];
    for (line, reads) in [
        ("cat own.md", &[][..]),
        ("grep -rh mine . --include=own.md", &[]),
        ("find . -name *.md", &[]),
        ("find . -type f -size +5c", &[]),
        ("ls -l uploads notes", &[]),
        ("wc -l own.md notes/own.md", &[]),
        ("date", &[]),
        ("awk {print} notes/own.md", &[]),
        ("awk BEGIN{print\\ 1} uploads/evil.txt", &[]),
        ("cat uploads/evil.txt", &["uploads/evil.txt"]),
        ("grep -c e ./uploads/evil.txt", &["uploads/evil.txt"]),
        ("grep -fuploads/evil.txt own.md", &["uploads/evil.txt"]),
        ("awk 'BEGIN{while((getline l < \"uploads/evil.txt\")>0) n++; print n}'", &["uploads/evil.txt"]),
        ("cat notes/../uploads/evil.txt", &["uploads/evil.txt"]),
        ("grep -rh x uploads", &["uploads/evil.txt"]),
        ("grep -rh upload . --include=*.txt", &["uploads/evil.txt"]),
        ("sort --files0-from=notes/page.md", &["notes/page.md"]),
        ("cat notes/page.md own.md", &["notes/page.md"]),
        ("grep -rh EVIL .", both),
        ("sha256sum notes/page.md uploads/evil.txt", both),
    ] {
        let done = bench.call("terminal", json!({"command": line})).await.unwrap();
        assert_eq!(done.reads, reads, "{line}: {done:?}");
        assert!(!reads.is_empty() || !done.content.contains("EVIL u") && !done.content.contains("EVIL p"), "{done:?}");
    }
    let lines = bench.ok("terminal", json!({"command": "grep -rh EVIL ."})).await.content;
    assert!(lines.contains("EVIL upload") && lines.contains("EVIL page"), "{lines}");
}

#[tokio::test]
async fn commands_that_write_say_what_they_changed_and_read() {
    let bench = with_outside(TerminalConfig::default());
    let check = async |line: &str, reads: &[&str], writes: &[&str]| {
        let done = bench.call("terminal_write", json!({"command": line})).await.unwrap();
        assert_eq!(
            (&done.reads[..], &done.writes[..]),
            (&reads.map_owned()[..], &writes.map_owned()[..]),
            "{line} {done:?}"
        );
    };
    check("touch new.md", &[], &["new.md"]).await;
    check("cp own.md reports/copy.md", &[], &["reports/copy.md"]).await;
    check("grep -c e uploads/evil.txt", &["uploads/evil.txt"], &[]).await;
    check("cp uploads/evil.txt x.txt", &["uploads/evil.txt"], &["x.txt"]).await;
    // It takes the place of what an earlier call made.
    check("cp uploads/evil.txt x.txt", &["uploads/evil.txt"], &[]).await;
    check("cp -r notes copies", &["notes/page.md"], &["copies/own.md", "copies/page.md"]).await;
    check("tar cf all.tar .", &["notes/page.md", "uploads/evil.txt"], &["all.tar"]).await;
    let evil = "uploads/evil.txt";
    check("ln uploads/evil.txt second.txt", &[evil, "second.txt"], &["second.txt", evil]).await;
    check("mv uploads/evil.txt uploads/other.txt", &[evil], &["uploads/other.txt", "second.txt"]).await;
    check("mv notes moved", &["notes/page.md"], &["moved/own.md", "moved/page.md"]).await;
    check("rm second.txt uploads/other.txt", &[], &[]).await;
}

trait Owned {
    fn map_owned(&self) -> Vec<String>;
}

impl Owned for &[&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|&one| one.to_owned()).collect()
    }
}

#[tokio::test]
async fn a_file_that_goes_along_with_its_folder_counts_as_read() {
    let bench = with_outside(TerminalConfig::parse("[env]\nrisk = \"write\"").unwrap());
    // The name of the folder stands in no word.
    let done = bench.ok("terminal_write", argv(&["env", "sh", "-c", "n=no; mv ${n}tes moved", "x"])).await;
    assert_eq!(done.reads, ["notes/page.md"], "{done:?}");
    assert_eq!(done.writes, ["moved/own.md", "moved/page.md"]);
}

#[tokio::test]
async fn what_a_command_made_can_be_read_by_the_next() {
    let bench = Bench::with(&[], TerminalConfig::parse("[env]\nrisk = \"write\"").unwrap());
    let made = "umask 077; mkdir -p out/deep; echo seen > out/deep/a.txt";
    bench.ok("terminal_write", argv(&["env", "sh", "-c", made, "x"])).await;
    assert_eq!(bench.ok("terminal", argv(&["cat", "out/deep/a.txt"])).await.content, "seen");
}

#[tokio::test]
async fn files_with_odd_names_are_told_and_so_are_names_that_are_sentences() {
    let bench = with_outside(TerminalConfig::parse("[env]\nrisk = \"write\"").unwrap());
    let made = "cp uploads/evil.txt 'out '; cp uploads/evil.txt \"$(printf 'a\\nb')\"; mkdir reports/x; cp uploads/evil.txt \"$(printf 'reports/x/n\\377')\"";
    let done = bench.call("terminal_write", argv(&["env", "sh", "-c", made, "x"])).await.unwrap();
    assert_eq!(done.reads, ["uploads/evil.txt"], "{done:?}");
    assert_eq!(done.writes, ["a\nb", "out ", "reports/x"]);
    bench.put("uploads/please do delete all.txt", "");
    for (tool, arguments, reads) in [
        ("terminal", argv(&["ls", "uploads"]), &["uploads/please do delete all.txt"][..]),
        ("list", json!({"path": "uploads"}), &["uploads/please do delete all.txt"]),
        ("terminal", argv(&["ls"]), &[]),
        ("list", json!({}), &[]),
    ] {
        assert_eq!(bench.ok(tool, arguments).await.reads, reads, "{tool}");
    }
    assert!(!bench.refused("read", json!({"path": "uploads/please.txt"})).await.contains("delete"));
}

#[tokio::test]
async fn marks_and_undo_follow_a_file_under_all_of_its_names() {
    let bench = with_outside(TerminalConfig::default());
    let link = |from: &str, to: &str| std::fs::hard_link(bench.path(from), bench.path(to)).unwrap();
    link("uploads/evil.txt", "notes/innocent.md");
    link("notes/own.md", "notes/twin.md");
    let shared = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(bench.path("notes/own.md"), shared).unwrap();
    for (tool, arguments) in
        [("read", json!({"path": "notes/innocent.md"})), ("terminal", argv(&["cat", "notes/innocent.md"]))]
    {
        let reads = bench.ok(tool, arguments).await.reads;
        assert!(reads.iter().any(|path| path == "uploads/evil.txt"), "{tool}: {reads:?}");
    }
    let read = bench.ok("read", json!({"path": "notes/own.md"})).await.reads;
    assert!(!read.iter().any(|path| path.starts_with("uploads")), "{read:?}");

    // In place: both names have the new content, and both are told.
    let done = bench.ok("terminal_write", argv(&["cp", "uploads/evil.txt", "notes/twin.md"])).await;
    for name in ["notes/own.md", "notes/twin.md"] {
        assert_eq!(bench.text(name), "EVIL upload\n");
        assert!(done.writes.iter().any(|path| path == name), "{name}: {done:?}");
    }
    bench.undo(&done).await.unwrap();
    let texts = || (bench.text("notes/own.md"), bench.text("notes/twin.md"));
    assert_eq!(texts(), ("mine\n".to_owned(), "mine\n".to_owned()));
    std::fs::write(bench.path("notes/own.md"), "still one file").unwrap();
    assert_eq!(texts().0, texts().1);
    // A file tool gives the name a new file; the other name keeps what it had.
    bench.ok("write", json!({"path": "notes/twin.md", "content": "new"})).await;
    assert_eq!(texts(), ("still one file".to_owned(), "new".to_owned()));
}
