//! Documents are read in a process of their own, and whatever becomes of it is an error of the document.

use std::path::{Path, PathBuf};
use std::time::Duration;
use steward::extractor::ConfinedExtractor;
use steward_core::extracted::{ExtractFailure, ExtractFailureKind, Extracted};
use steward_core::ports::Extractor as _;
use steward_knowledge::extract::ExtractLimits;
use steward_sandbox::process::{Helper, Limits};

fn extractor() -> ConfinedExtractor {
    ConfinedExtractor::new(Helper {
        program: env!("CARGO_BIN_EXE_steward").into(),
        prefix: vec!["sandbox-exec".into()],
    })
}

fn process() -> Limits {
    Limits { memory_bytes: 3 << 29, processes: 4, file_bytes: 0, output_bytes: 64 << 20, ..Limits::default() }
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
    // After all that the next one is read.
    assert_eq!(text(extractor.extract(&files.add("a.txt", b"words"), "a.txt").await), "words");
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
    let wall = Limits { wall: Duration::from_millis(1), ..process() };
    assert_eq!(kind(&with(limits(), wall), &much).await, ExtractFailureKind::TimedOut);
    let output = Limits { output_bytes: 1000, ..process() };
    assert_eq!(kind(&with(limits(), output), &much).await, ExtractFailureKind::TooLarge);
}

#[tokio::test]
async fn a_crash_is_an_error_of_the_document() {
    let files = Files::new();
    let file = files.add("a.txt", b"words");
    // Programs that end otherwise than ours does: with a code, with nonsense, by a signal.
    let folder = Path::new("/usr/bin");
    for program in ["false", "echo"] {
        let failure = extractor().running(folder.join(program)).extract(&file, "a.txt").await.unwrap_err();
        assert_eq!(failure.kind, ExtractFailureKind::Crashed, "{program}: {failure:?}");
    }
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
    // Reads its input for ever, since nobody ends it.
    let pipe = files.0.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
        .unwrap();
    let writer = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let extractor = extractor();
    let marker = format!("given-up-{}", std::process::id());
    let running = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| memchr::memmem::find(line, marker.as_bytes()).is_some()).count()
    };
    let work = extractor.extract(&pipe, &marker);
    tokio::select! {
        found = work => panic!("{found:?}"),
        () = async { while running() == 0 { tokio::time::sleep(Duration::from_millis(10)).await } } => {}
    }
    // The future is dropped here.
    while running() > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(writer);
}
