#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// `data` with a key, a workspace and folders; `cache`; `share` beside them.
struct Ground {
    top: TempDir,
    policy: HostPolicy,
}

impl Ground {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().canonicalize().unwrap().join(name);
        for folder in
            ["data/tenants/b", "data/documents/ab", "data/workspace/notes", "cache/models", "bin", "share/sub"]
        {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["data/vault.key", "data/documents/ab/abc", "data/workspace/notes/a.txt", "cache/models/m.gguf"] {
            fs::write(at(file), "own").unwrap();
        }
        for file in ["share/one.txt", "share/sub/vault.key", "bin/docker", "settings.toml"] {
            fs::write(at(file), "text").unwrap();
        }
        let policy = HostPolicy::new(HostRules {
            own: vec![at("data"), at("cache"), at("settings.toml"), at("not/there")],
            open: vec![at("data/workspace")],
            secret: vec![at("home/.ssh"), at("home/.netrc"), at("machine"), at("none/.ssh")],
            programs: vec![at("bin")],
        });
        Self { top, policy }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    fn resolve(&self, name: &str) -> Result<HostPath, HostPathError> {
        self.policy.resolve(self.at(name).to_str().unwrap())
    }

    fn refuses(&self, name: &str) -> bool {
        matches!(self.resolve(name), Err(HostPathError::Own(_)))
    }
}

#[test]
fn what_is_the_programs_own_is_refused_however_it_is_spelled() {
    let ground = Ground::new();
    for own in
        ["data", "data/vault.key", "data/documents/ab/abc", "data/tenants/b", "cache/models/m.gguf", "settings.toml"]
    {
        assert!(ground.refuses(own), "{own}");
        assert!(ground.refuses(&format!("share/../{own}")), "{own}");
        let real = ground.at(own);
        let through = format!("/proc/self/root{}", real.display());
        assert!(matches!(ground.policy.resolve(&through), Err(HostPathError::Own(_))), "{through}");
        let held = File::open(&real).unwrap();
        let descriptor = format!("/dev/fd/{}", held.as_raw_fd());
        assert!(matches!(ground.policy.resolve(&descriptor), Err(HostPathError::Own(_))), "{own}");
    }
    symlink(ground.at("data"), ground.at("share/linked")).unwrap();
    symlink("../data/vault.key", ground.at("share/key")).unwrap();
    fs::hard_link(ground.at("data/vault.key"), ground.at("share/hard")).unwrap();
    for own in ["share/linked", "share/linked/documents/ab/abc", "share/key", "share/hard"] {
        assert!(ground.refuses(own), "{own}");
    }
    for open in ["share", "share/one.txt", "data/workspace", "data/workspace/notes/a.txt", "bin"] {
        let found = ground.resolve(open).unwrap();
        assert_eq!(found.path(), ground.at(open));
        assert_eq!(found.is_folder(), !open.contains(".txt"));
    }
}

#[test]
fn a_moved_part_of_the_data_is_still_its_own() {
    let ground = Ground::new();
    // An administrator moved a folder of the data to a larger disk.
    fs::create_dir(ground.at("disk")).unwrap();
    fs::rename(ground.at("data/documents"), ground.at("disk/documents")).unwrap();
    symlink(ground.at("disk/documents"), ground.at("data/documents")).unwrap();
    assert!(ground.refuses("disk/documents/ab/abc"));
    let disk = ground.resolve("disk").unwrap();
    assert!(disk.entries().unwrap().next().is_none());
    assert!(matches!(disk.mount(false), Err(HostPathError::HoldsOwn(_))));
}

#[test]
fn no_link_is_followed_that_came_after_a_place_was_named() {
    let ground = Ground::new();
    let named =
        [ground.at("share"), ground.at("share/sub"), ground.at("share/sub/vault.key"), ground.at("share/one.txt")];
    for place in &named {
        ground.policy.open(place).unwrap();
    }
    let held = ground.policy.open(&named[2]).unwrap();
    fs::rename(ground.at("share/sub"), ground.at("share/before")).unwrap();
    symlink("../data", ground.at("share/sub")).unwrap();
    for place in &named[1..3] {
        assert!(matches!(ground.policy.open(place), Err(HostPathError::Link(_))), "{}", place.display());
    }
    // What was opened before stays what it was.
    assert_eq!(io::read_to_string(held.open_file().unwrap()).unwrap(), "text");
    fs::remove_file(ground.at("share/one.txt")).unwrap();
    symlink("/etc/passwd", ground.at("share/one.txt")).unwrap();
    assert!(matches!(ground.policy.open(&named[3]), Err(HostPathError::Link(_))));
    // So does a root that becomes a link, even to a harmless place.
    fs::rename(ground.at("share"), ground.at("moved")).unwrap();
    symlink(ground.at("moved"), ground.at("share")).unwrap();
    assert!(matches!(ground.policy.open(&named[0]), Err(HostPathError::Link(_))));
    assert_eq!(ground.policy.resolve(named[0].to_str().unwrap()).unwrap().path(), ground.at("moved"));
}

#[test]
fn a_file_that_is_exchanged_between_check_and_opening_is_refused() {
    let ground = Ground::new();
    let found = ground.resolve("share/one.txt").unwrap();
    fs::rename(ground.at("data/vault.key"), ground.at("share/one.txt")).unwrap();
    assert!(matches!(found.open_file(), Err(HostPathError::Unreadable { .. })));
}

#[test]
fn a_scan_leaves_out_what_is_the_programs_own() {
    let ground = Ground::new();
    symlink(ground.at("data"), ground.at("link")).unwrap();
    fs::hard_link(ground.at("data/vault.key"), ground.at("share/hard")).unwrap();
    let names = |folder: &HostPath| {
        let mut names: Vec<String> = folder.entries().unwrap().map(|entry| entry.name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let top = ground.policy.resolve(ground.top.path().to_str().unwrap()).unwrap();
    assert_eq!(names(&top), ["bin", "share"]);
    let share = top.enter(OsStr::new("share")).unwrap();
    assert_eq!(names(&share), ["one.txt", "sub"]);
    let file = share.enter(OsStr::new("one.txt")).unwrap();
    assert_eq!((file.path(), file.entry().unwrap().bytes), (ground.at("share/one.txt").as_path(), 4));
    assert!(matches!(top.enter(OsStr::new("data")), Err(HostPathError::Own(_))));
    assert!(matches!(top.enter(OsStr::new("link")), Err(HostPathError::Link(_))));
    assert!(matches!(share.enter(OsStr::new("hard")), Err(HostPathError::Own(_))));
}

#[test]
fn a_mount_holds_nothing_of_the_programs_own() {
    let ground = Ground::new();
    for holding in ["", "/"] {
        let path = if holding == "/" { PathBuf::from("/") } else { ground.at(holding) };
        let found = ground.policy.resolve(path.to_str().unwrap()).unwrap();
        for write in [false, true] {
            assert!(matches!(found.mount(write), Err(HostPathError::HoldsOwn(_))), "{}", path.display());
        }
    }
    for fine in ["share", "share/one.txt", "data/workspace"] {
        let found = ground.resolve(fine).unwrap();
        assert!(found.mount(false).is_ok() && found.mount(true).is_ok(), "{fine}");
    }
    for programs in ["bin", "bin/docker"] {
        let found = ground.resolve(programs).unwrap();
        assert!(found.mount(false).is_ok(), "{programs}");
        assert!(matches!(found.mount(true), Err(HostPathError::Programs(_))), "{programs}");
    }
}

#[test]
fn what_the_kernel_makes_up_and_what_is_no_file_is_refused() {
    let ground = Ground::new();
    for path in ["/proc", "/proc/self/environ", "/proc/self/task", "/sys"] {
        assert!(matches!(ground.policy.resolve(path), Err(HostPathError::Kernel(_))), "{path}");
    }
    let root = ground.policy.resolve("/").unwrap();
    assert!(matches!(root.enter(OsStr::new("proc")), Err(HostPathError::Kernel(_))));
    assert!(matches!(ground.policy.resolve("/dev/null"), Err(HostPathError::Kind(_))));
    for relative in ["share", "", "./x", "sqlite:/x"] {
        assert!(matches!(ground.policy.resolve(relative), Err(HostPathError::Relative(_))), "{relative}");
    }
    let missing = ground.resolve("share/none").unwrap_err();
    assert!(matches!(missing, HostPathError::Unreadable { .. }) && !missing.hint().is_empty());
    assert!(matches!(ground.policy.open(&ground.at("share/../data")), Err(HostPathError::Relative(_))));
}

#[test]
fn what_is_not_there_yet_counts_by_where_it_would_be() {
    let top = tempfile::tempdir().unwrap();
    let at = |name: &str| top.path().canonicalize().unwrap().join(name);
    for folder in ["home/work", "var/spool", "keys", "conf/here", "opt", "linked"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    symlink("../keys/bin", at("linked/bin")).unwrap();
    symlink("loop", at("opt/loop")).unwrap();
    let policy = HostPolicy::new(HostRules {
        own: vec![at("conf/mail/mail.toml"), PathBuf::new()],
        secret: vec![at("home/.config/gcloud"), at("opt/loop")],
        programs: vec![at("home/.profile"), at("var/spool/cron/root"), at("linked/bin/tool"), PathBuf::from("bin")],
        ..HostRules::default()
    });
    let refusal = |name: &str, write: bool| policy.resolve(at(name).to_str().unwrap()).unwrap().mount(write).err();
    for (name, read, write) in [("conf", "own", "own"), ("home", "secret", "secret"), ("opt", "secret", "secret")] {
        for (mode, expect) in [(false, read), (true, write)] {
            let kind = match refusal(name, mode) {
                Some(HostPathError::HoldsOwn(_)) => "own",
                Some(HostPathError::HoldsSecret(_)) => "secret",
                _ => "none",
            };
            assert_eq!(kind, expect, "{name} {mode}");
        }
    }
    // `keys`: a link leads into it that leads nowhere yet.
    for name in ["var", "var/spool", "keys"] {
        assert!(refusal(name, false).is_none(), "{name}");
        assert!(matches!(refusal(name, true), Some(HostPathError::Programs(_))), "{name}");
    }
    for name in ["home/work", "conf/here"] {
        assert!(refusal(name, false).is_none() && refusal(name, true).is_none(), "{name}");
    }
    // Only what is there is left out of a scan, and nothing is refused because of what isn't.
    assert_eq!(policy.resolve(at("home").to_str().unwrap()).unwrap().entries().unwrap().count(), 1);
}

#[test]
fn secrets_of_the_machine_are_given_to_nobody() {
    let ground = Ground::new();
    for folder in ["home/.ssh", "home/notes", "machine/sub"] {
        fs::create_dir_all(ground.at(folder)).unwrap();
    }
    for file in ["home/.ssh/id", "home/.netrc", "machine/sub/key", "home/notes/a.txt"] {
        fs::write(ground.at(file), "secret").unwrap();
    }
    symlink(ground.at("machine"), ground.at("share/way")).unwrap();
    fs::hard_link(ground.at("home/.netrc"), ground.at("share/copy")).unwrap();
    for secret in ["home/.ssh", "home/.ssh/id", "home/.netrc", "machine/sub/key", "share/way/sub", "share/copy"] {
        assert!(matches!(ground.resolve(secret), Err(HostPathError::Secret(_))), "{secret}");
    }
    let home = ground.resolve("home").unwrap();
    let names: Vec<OsString> = home.entries().unwrap().map(|entry| entry.name).collect();
    assert_eq!(names, ["notes"]);
    assert!(matches!(home.enter(OsStr::new(".ssh")), Err(HostPathError::Secret(_))));
    assert!(matches!(home.mount(false), Err(HostPathError::HoldsSecret(_))));
    assert!(ground.resolve("home/notes").unwrap().mount(true).is_ok());
}

#[test]
fn a_file_that_may_be_the_programs_own_under_another_name_is_refused() {
    let ground = Ground::new();
    fs::hard_link(ground.at("data/documents/ab/abc"), ground.at("share/deep")).unwrap();
    let refused = ground.resolve("share/deep").unwrap_err();
    assert!(matches!(refused, HostPathError::Linked(_)) && refused.hint().contains("copy"), "{refused}");
    let share = ground.resolve("share").unwrap();
    let linked: Vec<OsString> = share.entries().unwrap().filter(|entry| entry.linked).map(|entry| entry.name).collect();
    assert_eq!(linked, ["deep"]);
    assert!(matches!(share.enter(OsStr::new("deep")), Err(HostPathError::Linked(_))));
    // With one name again it is just a file.
    fs::remove_file(ground.at("data/documents/ab/abc")).unwrap();
    assert!(ground.resolve("share/deep").unwrap().mount(false).is_ok());
}
