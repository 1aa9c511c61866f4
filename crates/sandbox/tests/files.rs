//! The workspace boundary for in-process file tools.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;

use steward_sandbox::files::{Before, EntryKind, FileLimits, FilesError, Workspace};

struct Fixture {
    _dir: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
    ws: Workspace,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let (root, outside) = (dir.path().join("ws"), dir.path().join("outside"));
    fs::create_dir_all(root.join("docs/deep")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), "TOP").unwrap();
    fs::write(root.join("readme.md"), "hello").unwrap();
    fs::write(root.join("docs/a.txt"), "a").unwrap();
    symlink("docs/a.txt", root.join("inner")).unwrap();
    symlink("../../readme.md", root.join("docs/deep/up")).unwrap();
    symlink("../outside/secret.txt", root.join("relative-out")).unwrap();
    symlink(outside.join("secret.txt"), root.join("absolute-out")).unwrap();
    symlink(&outside, root.join("dir-out")).unwrap();
    symlink("/proc/self/root", root.join("magic")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    let limits = FileLimits { read_bytes: 1000, write_bytes: 1000, entries: 50 };
    let ws = Workspace::open(&root, limits).unwrap();
    Fixture { root, outside, ws, _dir: dir }
}

#[test]
fn reads_inside_and_only_inside() {
    let f = fixture();
    let absolute = f.root.join("readme.md").display().to_string();
    for (path, content) in [
        ("readme.md", "hello"),
        ("./docs/../readme.md", "hello"),
        ("docs//a.txt", "a"),
        (" readme.md ", "hello"),
        ("inner", "a"),
        ("docs/deep/up", "hello"),
        (absolute.as_str(), "hello"),
    ] {
        assert_eq!(f.ws.read(path).unwrap(), content.as_bytes(), "{path}");
    }
    let outside = f.outside.join("secret.txt").display().to_string();
    for path in [
        "..",
        "../outside/secret.txt",
        "docs/../../outside/secret.txt",
        "/etc/passwd",
        outside.as_str(),
        "relative-out",
        "absolute-out",
        "dir-out/secret.txt",
        "magic/etc/passwd",
        "loop",
        "/",
    ] {
        let error = f.ws.read(path).unwrap_err();
        assert!(matches!(error, FilesError::Outside { .. }), "{path}: {error}");
        assert!(error.to_string().contains(path), "{error}");
    }
    let sibling = format!("{}-other/x", f.root.display());
    assert!(matches!(f.ws.read(&sibling), Err(FilesError::Outside { .. })));
}

#[test]
fn nothing_outside_is_written_or_removed() {
    let f = fixture();
    for path in
        ["../outside/secret.txt", "dir-out/new.txt", "dir-out/deep/new.txt", "/tmp/steward-escape", "docs/../../x"]
    {
        assert!(f.ws.write_atomic(path, b"x").is_err(), "{path}");
        assert!(f.ws.stage(path, b"x", "t").is_err(), "{path}");
        assert!(f.ws.remove(path).is_err(), "{path}");
        assert!(f.ws.create_dir_all(path).is_err() || path.contains("tmp"), "{path}");
    }
    // A link is neither written through nor replaced.
    for path in ["absolute-out", "relative-out", "inner", "dir-out", "loop"] {
        assert!(matches!(f.ws.write_atomic(path, b"x"), Err(FilesError::Kind { .. })), "{path}");
        assert!(matches!(f.ws.stage(path, b"x", "t"), Err(FilesError::Kind { .. })), "{path}");
    }
    assert_eq!(fs::read_to_string(f.outside.join("secret.txt")).unwrap(), "TOP");
    assert_eq!(fs::read_dir(&f.outside).unwrap().count(), 1);
    // Removing a link removes the link.
    f.ws.remove("absolute-out").unwrap();
    assert!(f.outside.join("secret.txt").exists() && !f.root.join("absolute-out").is_symlink());
}

#[test]
fn special_files_and_bad_names_are_refused_at_once() {
    let f = fixture();
    let fifo = f.root.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(f.root.join("socket")).unwrap();
    for path in ["fifo", "socket", "docs", "."] {
        assert!(matches!(f.ws.read(path), Err(FilesError::Kind { .. })), "{path}");
        assert!(matches!(f.ws.write_atomic(path, b"x"), Err(FilesError::Kind { .. })), "{path}");
        assert!(matches!(f.ws.stage(path, b"x", "t"), Err(FilesError::Kind { .. })), "{path}");
    }
    for path in ["", "  ", "a\0b", &"x".repeat(300), &"x/".repeat(3000)] {
        assert!(matches!(f.ws.read(path), Err(FilesError::Invalid { .. })), "{path:?}");
    }
    assert!(matches!(f.ws.read("readme.md/x"), Err(FilesError::Kind { .. })));
    assert!(matches!(f.ws.remove("docs"), Err(FilesError::Kind { .. })));
}

#[test]
fn writes_are_whole_and_can_be_undone() {
    let f = fixture();
    fs::set_permissions(f.root.join("readme.md"), fs::Permissions::from_mode(0o640)).unwrap();
    let written = f.ws.write_atomic("readme.md", b"changed").unwrap();
    assert_eq!(written.before, Before::File { bytes: b"hello".to_vec(), mode: 0o640 });
    assert_eq!((written.path.to_str().unwrap(), written.size), ("readme.md", 7));
    assert_eq!(f.root.join("readme.md").metadata().unwrap().mode() & 0o777, 0o640);
    f.ws.restore("readme.md", &written.before).unwrap();
    assert_eq!(f.ws.read("readme.md").unwrap(), b"hello");

    let created = f.ws.write_atomic("new/deep/file.txt", b"x").unwrap();
    assert_eq!(created.before, Before::Absent);
    f.ws.restore("new/deep/file.txt", &created.before).unwrap();
    f.ws.restore("new/deep/file.txt", &created.before).unwrap();
    assert!(!f.ws.exists("new/deep/file.txt").unwrap());

    f.ws.write_atomic("docs/a.txt", b"abc").unwrap();
    f.ws.restore("docs/a.txt", &Before::Size { size: 1 }).unwrap();
    assert_eq!(f.ws.read("docs/a.txt").unwrap(), b"a");

    let removed = f.ws.remove("readme.md").unwrap();
    f.ws.restore("readme.md", &removed.before).unwrap();
    assert_eq!(f.ws.read("readme.md").unwrap(), b"hello");
    assert_eq!(f.ws.snapshot("nowhere/x").unwrap(), Before::Absent);
    // No temporary file is left.
    assert!(fs::read_dir(&f.root).unwrap().all(|e| !e.unwrap().file_name().to_string_lossy().ends_with(".tmp")));
}

#[test]
fn what_is_staged_waits_until_it_is_placed_left_or_dropped() {
    let f = fixture();
    let staged = |tag: &str| f.ws.staged("new/a.txt", tag).unwrap();
    let one = f.ws.stage("new/a.txt", b"one", "1").unwrap();
    assert_eq!((one.before.clone(), staged("1")), (Before::Absent, Some(b"one".to_vec())));
    assert!(!f.ws.exists("new/a.txt").unwrap());
    drop(one);
    assert_eq!(staged("1"), None);
    let mut two = f.ws.stage("new/a.txt", b"two", "2").unwrap();
    two.leave();
    drop(two);
    assert_eq!(staged("2").as_deref(), Some(&b"two"[..]));
    // The same attempt again takes its place.
    let again = f.ws.stage("new/a.txt", b"three", "2").unwrap();
    assert_eq!(staged("2").as_deref(), Some(&b"three"[..]));
    again.place().unwrap();
    assert_eq!((f.ws.read("new/a.txt").unwrap(), staged("2")), (b"three".to_vec(), None));
    // What was not there when it was staged is not replaced.
    let late = f.ws.stage("b.txt", b"ours", "3").unwrap();
    fs::write(f.root.join("b.txt"), "theirs").unwrap();
    assert!(matches!(late.place(), Err(FilesError::Exists { .. })));
    assert_eq!(f.ws.read("b.txt").unwrap(), b"theirs");
    assert_eq!(f.ws.staged("b.txt", "3").unwrap(), None);
}

#[test]
fn sizes_are_bounded_and_a_failed_write_changes_nothing() {
    let f = fixture();
    fs::write(f.root.join("big"), vec![b'x'; 1001]).unwrap();
    assert!(matches!(f.ws.read("big"), Err(FilesError::TooLarge { size: 1001, max: 1000, .. })));
    assert!(matches!(f.ws.write_atomic("readme.md", &[0; 1001]), Err(FilesError::TooLarge { .. })));
    assert_eq!(f.ws.read("readme.md").unwrap(), b"hello");
    let replaced = f.ws.write_atomic("big", b"small").unwrap();
    assert!(matches!(replaced.before, Before::TooLarge { size: 1001, .. }));
    assert!(f.ws.restore("big", &replaced.before).is_err());
}

#[test]
fn errors_name_what_is_near() {
    let f = fixture();
    let text = |path: &str| f.ws.read(path).unwrap_err().to_string();
    assert!(text("README.md").contains("did you mean readme.md?"), "{}", text("README.md"));
    assert!(text("docs/b.txt").contains("docs/a.txt"), "{}", text("docs/b.txt"));
    assert!(text("doc/a.txt").contains("did you mean docs?"), "{}", text("doc/a.txt"));
    assert!(text("zzzzzzzz").ends_with("does not exist in the workspace"), "{}", text("zzzzzzzz"));
}

#[test]
fn lists_with_kinds_and_a_limit() {
    let f = fixture();
    let (entries, more) = f.ws.list(".").unwrap();
    let kind = |name: &str| entries.iter().find(|e| e.name == name).unwrap().kind;
    assert_eq!(
        (kind("docs"), kind("readme.md"), kind("dir-out")),
        (EntryKind::Folder, EntryKind::File, EntryKind::Link)
    );
    assert!(!more && entries.is_sorted_by(|a, b| a.name <= b.name));
    assert!(matches!(f.ws.list("dir-out"), Err(FilesError::Outside { .. })));
    assert!(matches!(f.ws.list("readme.md"), Err(FilesError::Kind { .. })));
    for i in 0..60 {
        fs::write(f.root.join(format!("docs/{i}")), "").unwrap();
    }
    let (entries, more) = f.ws.list("docs").unwrap();
    assert!(entries.len() == 50 && more);
}

/// One thread swaps a folder for a link to the outside, another reads and writes through it.
#[test]
fn a_race_with_links_never_reaches_outside() {
    let f = fixture();
    let (folder, link) = (f.root.join("docs/deep"), f.root.join("spare"));
    fs::write(folder.join("secret.txt"), "inside").unwrap();
    symlink(&f.outside, &link).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    &folder,
                    rustix::fs::CWD,
                    &link,
                    rustix::fs::RenameFlags::EXCHANGE,
                )
                .unwrap();
            }
        });
        for i in 0..2000 {
            if let Ok(mut file) = f.ws.open_read("docs/deep/secret.txt") {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                assert!(text == "inside" || text == "written", "{text}");
            }
            if i % 20 == 0 {
                let _ = f.ws.write_atomic("docs/deep/secret.txt", b"written");
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(f.outside.join("secret.txt")).unwrap(), "TOP");
    assert_eq!(fs::read_dir(&f.outside).unwrap().count(), 1);
}

#[test]
fn a_workspace_must_be_a_folder() {
    let f = fixture();
    assert!(matches!(Workspace::open(f.root.join("none"), FileLimits::default()), Err(FilesError::NotFound { .. })));
    assert!(matches!(Workspace::open(f.root.join("readme.md"), FileLimits::default()), Err(FilesError::Kind { .. })));
}
