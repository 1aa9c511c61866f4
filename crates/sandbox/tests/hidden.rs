//! What a program doesn't see of its workspace, whatever it does to find it.

use crate::sandbox_support;

use sandbox_support::{open_up, run, shell, tiers, workspace};
use std::path::Path;
use steward_sandbox::process::{Access, CommandSpec, Exit, Tier};

fn filled() -> tempfile::TempDir {
    let dir = workspace();
    for (path, text) in [
        ("own.md", "mine"),
        ("notes/own.md", "mine"),
        ("notes/page.md", "EVIL page"),
        ("uploads/evil.txt", "EVIL upload"),
        ("uploads/deep/other.txt", "EVIL other"),
    ] {
        let file = dir.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    for folder in ["notes", "uploads", "uploads/deep"] {
        open_up(&dir.path().join(folder));
    }
    std::os::unix::fs::symlink("uploads/evil.txt", dir.path().join("link")).unwrap();
    dir
}

fn looking(script: &str, dir: &Path, shown: &[&str]) -> CommandSpec {
    let mut spec = shell(script, dir);
    spec.access = Access::ReadOnly;
    spec.hidden = ["uploads", "notes/page.md", "link", "gone.md", "../elsewhere"].map(Into::into).to_vec();
    spec.shown = shown.iter().map(Into::into).collect();
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_is_not_found() {
    for (tier, sandbox) in tiers().await {
        let dir = filled();
        // All ways at once: each of these read what its command did not name.
        let script = "X=up; cat ${X}loads/* notes/* u*/deep/* link; grep -rh EVIL .; find . -type f -exec cat {} +; \
             find . -type f | xargs cat; tar cf - . | grep -a EVIL; cp -r . /tmp/copy; cat /tmp/copy/notes/*; \
             python3 -c 'import glob; [print(open(f).read()) for f in glob.glob(\"**/*.*\", recursive=True)]'; \
             cat /proc/self/root/$PWD/uploads/evil.txt; echo end";
        let outcome = run(&sandbox, looking(script, dir.path(), &[])).await;
        let said = outcome.stdout.text().into_owned();
        assert!(said.contains("mine") && said.ends_with("end\n"), "{tier:?} {said}");
        assert_eq!(outcome.hid(), tier == Tier::Namespaces);
        assert_eq!(said.contains("EVIL"), !outcome.hid(), "{tier:?} {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_named_is_seen_and_nothing_beside_it() {
    for (tier, sandbox) in tiers().await {
        if tier != Tier::Namespaces {
            continue;
        }
        let dir = filled();
        let script = "cat uploads/deep/other.txt; cat uploads/evil.txt; ls uploads; echo x > uploads/new";
        let outcome = run(&sandbox, looking(script, dir.path(), &["uploads/deep/other.txt"])).await;
        assert_eq!(outcome.stdout.text(), "EVIL otherdeep\n", "{}", outcome.stderr.text());
        assert!(!dir.path().join("uploads/new").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_write_finds_it_closed_and_loses_nothing() {
    for (tier, sandbox) in tiers().await {
        if tier != Tier::Namespaces {
            continue;
        }
        let dir = filled();
        for script in
            ["cat notes/page.md", "echo x > notes/page.md", "ls uploads", "echo x > uploads/y", "rm -r uploads"]
        {
            let mut spec = looking(script, dir.path(), &[]);
            spec.access = Access::ReadWrite;
            let outcome = run(&sandbox, spec).await;
            assert!(!matches!(outcome.exit, Exit::Exited(0)), "{script}");
            assert_eq!(outcome.stdout.text(), "", "{script}");
        }
        let mut spec = looking("echo x > notes/new.md; mv own.md notes/moved.md", dir.path(), &[]);
        spec.access = Access::ReadWrite;
        assert_eq!(run(&sandbox, spec).await.exit, Exit::Exited(0));
        assert!(dir.path().join("notes/moved.md").exists() && dir.path().join("notes/new.md").exists());
        assert_eq!(std::fs::read_to_string(dir.path().join("uploads/evil.txt")).unwrap(), "EVIL upload");
        assert_eq!(std::fs::read_to_string(dir.path().join("notes/page.md")).unwrap(), "EVIL page");
    }
}
