//! Documents are read in a process of their own, and whatever becomes of it is an error of the document.

use std::path::{Path, PathBuf};
use std::time::Duration;
use steward_core::extracted::{ExtractFailure, ExtractFailureKind, Extracted};
use steward_core::ports::Extractor as _;
use steward_knowledge::confined::ConfinedExtractor;
use steward_knowledge::extract::ExtractLimits;
use steward_sandbox::process::{Helper, Limits, Tier};

fn extractor() -> ConfinedExtractor {
    ConfinedExtractor::new(Helper {
        program: env!("CARGO_BIN_EXE_steward").into(),
        prefix: vec!["sandbox-exec".into()],
    })
}

fn process() -> Limits {
    Limits { memory_bytes: 3 << 29, processes: 4, file_bytes: 4096, output_bytes: 64 << 20, ..Limits::default() }
}

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn add(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A program that does this, whatever it is asked.
    fn script(&self, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let name = format!("script-{}", std::fs::read_dir(self.0.path()).unwrap().count());
        let path = self.add(&name, format!("#!/bin/sh\n{script}\n").as_bytes());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

async fn kind(extractor: &ConfinedExtractor, file: &Path) -> ExtractFailureKind {
    let failure = extractor.extract(file, "file.txt").await.unwrap_err();
    assert!(!failure.message.is_empty() && failure.hint.ends_with('.'), "{failure:?}");
    failure.kind
}

fn text(found: Result<Extracted, ExtractFailure>) -> String {
    found.unwrap().pages[0].blocks[0].text.clone()
}

#[tokio::test]
async fn documents_are_read_and_refused() {
    let (files, extractor) = (Files::new(), extractor());
    let page = files.add("page.bin", b"<html><head><title>T</title></head><body><h1>H\xc3\xa4user</h1></body></html>");
    let found = extractor.extract(&page, "-odd \"name\".html").await.unwrap();
    assert_eq!((found.doc_type.as_str(), found.title.as_deref()), ("html", Some("T")));
    assert_eq!(text(Ok(found)), "Häuser");
    assert_eq!(kind(&extractor, &files.add("none", b"")).await, ExtractFailureKind::Empty);
    assert_eq!(kind(&extractor, &files.add("cut.pdf", b"%PDF-1.7\ncut")).await, ExtractFailureKind::Broken);
    assert_eq!(kind(&extractor, &files.add("any", &[0, 1, 2, 3])).await, ExtractFailureKind::UnknownFormat);
    assert_eq!(kind(&extractor, &files.0.path().join("missing")).await, ExtractFailureKind::Unreadable);
    assert_eq!(kind(&extractor, files.0.path()).await, ExtractFailureKind::Unreadable);
    // After all that the next one is read.
    assert_eq!(text(extractor.extract(&files.add("a.txt", b"words"), "a.txt").await), "words");
}

/// A tier that this machine lacks refuses, and so does Landlock for root where processes can't be counted.
#[tokio::test]
async fn each_tier_reads_or_refuses() {
    let files = Files::new();
    let file = files.add("a.txt", b"words");
    for tier in [Tier::Namespaces, Tier::Landlock] {
        match extractor().confined_by(tier).extract(&file, "a.txt").await {
            Ok(found) => assert_eq!(text(Ok(found)), "words", "{tier:?}"),
            Err(failure) => {
                println!("{tier:?}: {failure}");
                assert_eq!(failure.kind, ExtractFailureKind::Unavailable, "{tier:?}: {failure:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_large_file_goes_through() {
    let (files, extractor) = (Files::new(), extractor());
    let much = "A line of words.\n\n".repeat(100_000);
    let found = extractor.extract(&files.add("much.txt", much.as_bytes()), "much.txt").await.unwrap();
    assert_eq!(found.pages[0].blocks.len(), 100_000);
}

#[tokio::test]
async fn limits_are_held_and_told() {
    let files = Files::new();
    let much = files.add("much.txt", "word ".repeat(1 << 22).as_bytes());
    let small = ExtractLimits { input_bytes: 1 << 20, ..ExtractLimits::default() };
    let with = |limits: ExtractLimits, process: Limits| extractor().with_limits(limits, process);
    assert_eq!(kind(&with(small, process()), &much).await, ExtractFailureKind::TooLarge);
    let limits = ExtractLimits::default;
    let memory = Limits { memory_bytes: 300 << 20, ..process() };
    let hungry = files.add("hungry.txt", "word ".repeat(1 << 25).as_bytes());
    assert_eq!(kind(&with(limits(), memory), &hungry).await, ExtractFailureKind::OutOfMemory);
    // Long enough to set the sandbox up, also on a busy machine.
    let wall = Limits { wall: Duration::from_secs(3), ..process() };
    let sleeping = with(limits(), wall).running(files.script("sleep 600"));
    assert_eq!(kind(&sleeping, &much).await, ExtractFailureKind::TimedOut);
    let output = Limits { output_bytes: 1000, ..process() };
    assert_eq!(kind(&with(limits(), output), &much).await, ExtractFailureKind::TooLarge);
}

#[tokio::test]
async fn a_crash_is_an_error_of_the_document() {
    let files = Files::new();
    let file = files.add("a.txt", b"words");
    // Programs that end otherwise than ours does: with a code, with nonsense, by a signal.
    for script in ["exit 1", "echo nonsense", "kill -SEGV $$"] {
        let failure = extractor().running(files.script(script)).extract(&file, "a.txt").await.unwrap_err();
        assert_eq!(failure.kind, ExtractFailureKind::Crashed, "{script}: {failure:?}");
    }
    let hungry = files.script("echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$");
    assert_eq!(kind(&extractor().running(hungry), &file).await, ExtractFailureKind::OutOfMemory);
    let busy = Limits { cpu_s: 1, ..process() };
    let busy = extractor().with_limits(ExtractLimits::default(), busy).running(files.script("while :; do :; done"));
    assert_eq!(kind(&busy, &file).await, ExtractFailureKind::TimedOut);
    let missing = extractor().running("/usr/bin/no-such-program").extract(&file, "a.txt").await.unwrap_err();
    assert_eq!(missing.kind, ExtractFailureKind::Unavailable, "{missing:?}");
}

#[tokio::test]
async fn without_a_sandbox_nothing_is_read() {
    let files = Files::new();
    let helper = Helper { program: "/usr/bin/false".into(), prefix: Vec::new() };
    let file = files.add("a.txt", b"words");
    let failure = ConfinedExtractor::new(helper).extract(&file, "a.txt").await.unwrap_err();
    assert_eq!(failure.kind, ExtractFailureKind::Unavailable);
    assert!(failure.hint.contains("doctor") && failure.kind.may_pass(), "{failure:?}");
}

#[tokio::test]
async fn giving_up_ends_the_process() {
    let files = Files::new();
    let file = files.add("a.txt", b"words");
    let marker = format!("77{}", std::process::id());
    let running = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| line.ends_with(format!("sleep\0{marker}\0").as_bytes())).count()
    };
    let extractor = extractor().running(files.script(&format!("exec sleep {marker}")));
    tokio::select! {
        found = extractor.extract(&file, "a.txt") => panic!("{found:?}"),
        () = async { while running() == 0 { tokio::time::sleep(Duration::from_millis(10)).await } } => {}
    }
    // The future is dropped here.
    while running() > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
