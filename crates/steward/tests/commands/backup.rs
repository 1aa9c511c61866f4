//! `steward backup` and `steward restore`, by the real program.

use super::{Bench, Done, with_input};
use crate::common::{Server, finish, plan_and_answer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use steward_testkit::{Workspace, repetitions};
use tempfile::TempDir;

const PASSPHRASE: &str = "a heron stands in the reeds\n";
const PASSWORD: &str = "correct horse battery";
const EMAIL: &str = "ada@example.org";

/// Where backups go: neither data nor workspace.
fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A command with a passphrase behind its standard input, as descriptor 0.
fn sealed(bench: &Bench, args: &[&str], passphrase: &str) -> Done {
    let args = [args, &["--passphrase-fd", "0"]].concat();
    with_input(bench, &args, passphrase)
}

/// An installation with a run that is kept, a document, a credential, a calendar, a private database and files.
fn installation() -> Bench {
    let args = json!({"path": "notes.txt", "content": "new\n"});
    let bench = Bench::with(plan_and_answer("write", &args, "It is written."), Workspace::empty().unwrap());
    bench.work.write("notes.txt", "three lines\n".repeat(9000).as_str()).unwrap();
    bench.work.write("lease.md", "# Lease\n\nThe notice period is three months.").unwrap();
    // What it said before is a large body.
    bench.run(&["ask", "-y", "--json", "Write new into the file notes.txt."]).exits(0);
    let run = bench.runs()[0]["id"].as_str().unwrap().to_owned();
    bench.run(&["runs", "keep", &run, "weekly report"]).exits(0);
    bench.run(&["ingest", "lease.md", "--collection", "Contracts"]).exits(0);
    with_input(&bench, &["credential", "add", "shop", "--kind", "token"], "canary-token").exits(0);
    let data = bench.data();
    std::fs::create_dir_all(data.join("workspace/reports")).unwrap();
    std::fs::write(data.join("workspace/reports/may.txt"), "May").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", data.join("workspace/link")).unwrap();
    let own = data.join("agent-databases/0199f2a4-0000-7000-8000-000000000001");
    std::fs::create_dir_all(&own).unwrap();
    let database = rusqlite::Connection::open(own.join("shared.db")).unwrap();
    database.execute_batch("create table ai_notes (text text); insert into ai_notes values ('kept');").unwrap();
    bench
}

/// SHA-256 of all files that a backup has, by path, without the databases.
fn files(data: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![data.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = text(path.strip_prefix(data).unwrap());
            let of_backup = ["blobs", "documents", "calendars", "workspace"].iter().any(|kind| name.starts_with(kind));
            if path.is_symlink() || name.ends_with("looked-at.json") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if of_backup || path.extension().is_some_and(|end| end == "key") {
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// All rows of these tables, as text.
fn rows(data: &Path) -> BTreeMap<String, Vec<String>> {
    let database = rusqlite::Connection::open(data.join("steward.db")).unwrap();
    let all = "select name from sqlite_master where type = 'table' and name not in ('audit_entries', 'audit_ends', 'settings',
               'audit_pending', 'usage', 'runs', 'sqlite_sequence') order by name";
    let names: Vec<String> =
        database.prepare(all).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let table = |name: &String| {
        let mut statement = database.prepare(&format!("select * from \"{name}\"")).unwrap();
        let columns = statement.column_count();
        let read = |row: &rusqlite::Row<'_>| {
            Ok((0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap())).collect::<Vec<_>>().join("|"))
        };
        let mut rows: Vec<String> = statement.query_map([], read).unwrap().map(Result::unwrap).collect();
        rows.sort();
        rows
    };
    names.iter().map(|name| (name.clone(), table(name))).collect()
}

/// What a backup is restored into, as an installation of its own.
fn at<'a>(bench: &'a Bench, data: &Path) -> impl Fn(&[&str]) -> Done + 'a {
    let data = text(data);
    move |args| {
        let mut command = bench.command(args);
        command.env("STEWARD_DATA", &data);
        finish(command)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_installation_is_backed_up_checked_and_restored() {
    let bench = installation();
    let place = folder();
    let (backup, restored) = (text(&place.path().join("monday.backup")), place.path().join("restored"));
    let made = sealed(&bench, &["backup", &backup, "--json"], PASSPHRASE).exits(0).json();
    assert_eq!((&made["sealed"], &made["path"]), (&json!(true), &json!(backup)), "{made}");
    let told = made["left_out"].to_string();
    assert!(told.contains("workspace/link") && !told.contains("vault.key"), "{made}");
    let whole = std::fs::read(&backup).unwrap();
    assert!(!whole.windows(6).any(|part| part == b"canary" || part == b"notice"), "it is sealed");
    assert_eq!(names(place.path()), ["monday.backup"]);

    let listed = bench.run(&["backup", "list", "--json"]).exits(0).json();
    assert_eq!((&listed[0]["path"], &listed[0]["error"]), (&json!(backup), &Value::Null), "{listed}");
    let trail = bench.run(&["audit", "--action", "backups", "--json"]).exits(0).json();
    let actions: Vec<&str> =
        trail["entries"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["backups.created", "backups.create"], "{trail}");

    let checked = sealed(&bench, &["backup", "verify", &backup, "--json"], PASSPHRASE).exits(0).json();
    let of_default = &checked["organisations"][0];
    assert_eq!((&checked["ok"], &of_default["kept_runs"]), (&json!(true), &json!(1)), "{checked}");
    assert!(of_default["files"].as_u64() >= Some(1) && of_default["audit_entries"].as_u64() > Some(3), "{checked}");

    let to = text(&restored);
    let args = ["--data-dir", to.as_str(), "restore", &backup];
    sealed(&bench, &args, PASSPHRASE).exits(0);
    assert_eq!(files(&restored), files(&bench.data()));
    assert_eq!(rows(&restored), rows(&bench.data()));
    let own = "agent-databases/0199f2a4-0000-7000-8000-000000000001/shared.db";
    let database = rusqlite::Connection::open(restored.join(own)).unwrap();
    let kept: String = database.query_row("select text from ai_notes", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "kept");
    let run = at(&bench, &restored);
    assert_eq!(run(&["credential", "show", "shop", "--json"]).exits(0).json()["secret"], json!(["token"]));
    run(&["audit", "verify"]).exits(0);
    assert!(run(&["documents"]).exits(0).out.contains("lease.md"));
    assert!(run(&["audit", "--action", "backups.restored"]).exits(0).out.contains("backups.restored"));
    sealed(&bench, &args, PASSPHRASE).exits(1).tells(&["isn't empty", "--data-dir"]);
    assert_eq!(names(place.path()), ["monday.backup", "restored"]);
}

#[test]
fn without_keys_a_restore_names_what_must_be_entered_again() {
    let bench = installation();
    let place = folder();
    let (backup, restored) = (text(&place.path().join("plain.backup")), place.path().join("deep/restored"));
    let made = bench.run(&["backup", &backup, "--without-keys"]).exits(0);
    assert!(made.out.contains("It is not sealed") && made.out.contains("left out: vault.key"), "{made:?}");
    assert!(bench.run(&["backup", "verify", &backup]).exits(0).out.contains("The backup is whole"));
    let done = bench.run(&["--data-dir", &text(&restored), "restore", &backup]).exits(0);
    assert!(done.out.contains("enter them again in the vault: shop"), "{done:?}");
    assert!(!restored.join("vault.key").exists() && !restored.join("signing.key").exists());
    at(&bench, &restored)(&["runs", "--json"]).exits(0);
}

#[test]
fn a_running_server_makes_one_while_it_is_written_to() {
    let bench = installation();
    let place = folder();
    let server = Server::start(&bench);
    let ask = |path: &str, token: Option<&str>, body: &Value| {
        let (status, answer) = server.request(&bench, reqwest::Method::POST, path, token, Some(body));
        assert!(status.is_success(), "{path}: {answer}");
        answer
    };
    let setup = json!({"token": server.setup_token(), "email": EMAIL, "password": PASSWORD});
    let session = ask("/api/auth/setup", None, &setup);
    let token = session["access_token"].as_str().unwrap().to_owned();
    let key = ask("/api/auth/api-key", Some(&token), &json!({}))["api_key"].as_str().unwrap().to_owned();
    let backup = text(&place.path().join("busy.backup"));

    bench.run(&["backup", &backup, "--without-keys"]).exits(1).tells(&["only an administrator", "STEWARD_API_KEY"]);
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) {
                ask("/api/agents", Some(&key), &json!({"name": format!("agent {count}"), "instructions": "x"}));
                count += 1;
            }
            count
        });
        std::thread::sleep(Duration::from_millis(300));
        let mut command = bench.command(&["backup", &backup, "--passphrase-fd", "0"]);
        command.env("STEWARD_API_KEY", &key).stdin(input(PASSPHRASE));
        finish(command).exits(0);
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert!(written > 1, "{written} writes in {:?}", begun.elapsed());
    // A server keeps the folder that it works in.
    let here = text(&bench.data());
    sealed(&bench, &["--data-dir", &here, "restore", &backup], PASSPHRASE).exits(1).tells(&["stop it"]);
    drop(server);

    let restored = place.path().join("restored");
    sealed(&bench, &["--data-dir", &text(&restored), "restore", &backup], PASSPHRASE).exits(0);
    let before = files(&bench.data());
    assert!(files(&restored).iter().all(|(name, content)| before.get(name) == Some(content)));
    let (then, now) = (rows(&restored), rows(&bench.data()));
    assert!(then["agents"].iter().all(|row| now["agents"].contains(row)));
    assert!(then["agents"].len() <= now["agents"].len() && !then["events"].is_empty());
    assert_eq!(then["events"], now["events"]);
    let server = Server::start_with(&bench, &[("STEWARD_DATA", &text(&restored))]);
    let log_in = json!({"email": EMAIL, "password": PASSWORD});
    let (status, answer) = server.request(&bench, reqwest::Method::POST, "/api/auth/login", None, Some(&log_in));
    assert!(status.is_success(), "{answer}");
    let (status, kept) = server.request(&bench, reqwest::Method::POST, "/api/kept/run", Some(&key), Some(&json!({})));
    assert!(status.is_success() && kept["items"][0]["same"] == json!(true), "{kept}");
}

fn input(text: &str) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.rewind().unwrap();
    file
}

#[test]
fn what_is_wrong_is_told_and_leaves_nothing() {
    let bench = Bench::new(steward_testkit::model_server::Script::default());
    bench.run(&["agents", "add", "reporter", "--instructions", "You write reports."]).exits(0);
    let place = folder();
    let there = |name: &str| text(&place.path().join(name));
    let plain = |args: &[&str]| bench.run(&[&["backup"], args, &["--without-keys"]].concat());
    plain(&[&there("x.txt")]).exits(1).tells(&[".backup"]);
    plain(&[&there("none/x.backup")]).exits(1).tells(&["can't be opened"]);
    plain(&[&text(&bench.data().join("x.backup"))]).exits(1).tells(&["Steward itself"]);
    std::fs::create_dir(bench.data().join("workspace")).ok();
    plain(&[&text(&bench.data().join("workspace/x.backup"))]).exits(1);
    plain(&["/etc/cron.d/x.backup"]).exits(1);
    plain(&["/proc/x.backup"]).exits(1);
    bench.run(&["backup", &there("x.backup")]).exits(1).tells(&["--passphrase-fd", "--without-keys"]);
    sealed(&bench, &["backup", &there("x.backup")], "short\n").exits(1).tells(&["12 characters"]);
    sealed(&bench, &["backup", &there("x.backup")], "\n").exits(1).tells(&["gives no passphrase"]);
    assert!(names(place.path()).is_empty(), "{:?}", names(place.path()));

    plain(&[&there("a.backup")]).exits(0);
    plain(&[&there("a.backup")]).exits(1).tells(&["is there already"]);
    sealed(&bench, &["backup", &there("s.backup")], PASSPHRASE).exits(0);
    let restore = |file: &str| bench.run(&["--data-dir", &there("new"), "restore", file]);
    sealed(&bench, &["--data-dir", &there("new"), "restore", &there("s.backup")], "another one of mine\n")
        .exits(1)
        .tells(&["isn't that of this backup"]);
    restore(&there("s.backup")).exits(1).tells(&["--passphrase-fd"]);
    restore(&there("none.backup")).exits(1).tells(&["can't be opened"]);
    restore(&text(place.path())).exits(1).tells(&["no file"]);
    std::fs::write(there("text.backup"), "no backup").unwrap();
    restore(&there("text.backup")).exits(1).tells(&["no backup of Steward", "`steward backup`"]);
    let mut command = bench.command(&[
        "--database",
        "postgres://x@localhost/x",
        "--data-dir",
        &there("new"),
        "restore",
        &there("a.backup"),
    ]);
    command.env_remove("STEWARD_DATA");
    finish(command).exits(1).tells(&["pg_restore"]);
    std::fs::create_dir(there("full")).unwrap();
    std::fs::write(place.path().join("full/x"), "x").unwrap();
    bench.run(&["--data-dir", &there("full"), "restore", &there("a.backup")]).exits(1).tells(&["isn't empty"]);
    assert!(!place.path().join("new").exists());
    assert_eq!(names(place.path()), ["a.backup", "full", "s.backup", "text.backup"]);
    std::fs::create_dir(there("new")).unwrap();
    restore(&there("a.backup")).exits(0);
    assert!(place.path().join("new/steward.db").is_file(), "an empty folder is taken");
}

#[test]
fn damaged_backups_are_refused_wherever_they_are_damaged() {
    let bench = Bench::new(steward_testkit::model_server::Script::default());
    bench.run(&["agents", "add", "reporter", "--instructions", "You write reports."]).exits(0);
    let place = folder();
    let good = place.path().join("good.backup");
    bench.run(&["backup", &text(&good), "--without-keys"]).exits(0);
    let whole = std::fs::read(&good).unwrap();
    let (bad, new) = (place.path().join("bad.backup"), place.path().join("new"));
    // The room of the container tries every byte; here the whole way is looked at.
    let count = repetitions(12, 200);
    for number in 0..count {
        let at = whole.len() * number / count;
        let mut damaged = whole.clone();
        if number % 3 == 0 {
            damaged.truncate(at);
        } else {
            damaged[at] ^= 0x10;
        }
        std::fs::write(&bad, damaged).unwrap();
        let done = bench.run(&["--data-dir", &text(&new), "restore", &text(&bad)]).exits(1);
        assert!(done.err.contains("damaged") || done.err.contains("no backup"), "at {at}: {done:?}");
        assert!(!new.exists(), "at {at}");
    }
    assert_eq!(names(place.path()), ["bad.backup", "good.backup"]);
}

#[test]
fn a_kill_leaves_neither_half_a_backup_nor_half_a_folder() {
    let bench = Bench::new(steward_testkit::model_server::Script::default());
    bench.run(&["agents", "add", "reporter", "--instructions", "You write reports."]).exits(0);
    let place = folder();
    let killed = |args: &[&str], point: &str| {
        let mut command = bench.command(args);
        command.env("STEWARD_KILL_AT", point);
        let done = finish(command);
        assert_eq!(done.code, None, "{point} was not reached: {done:?}");
    };
    let backup = text(&place.path().join("a.backup"));
    for point in ["backup.copied", "backup.database", "backup.written"] {
        killed(&["backup", &backup, "--without-keys"], point);
        assert!(!Path::new(&backup).exists(), "{point}");
    }
    bench.run(&["backup", &backup, "--without-keys"]).exits(0);
    assert_eq!(names(place.path()), ["a.backup"], "the next one takes over what was left");
    assert!(!bench.data().join("backup-copy").exists());
    let kept = text(&place.path().join("kept.backup"));
    killed(&["backup", &kept, "--without-keys"], "backup.kept");
    bench.run(&["backup", "verify", &kept]).exits(0);

    let new = place.path().join("new");
    let args = ["--data-dir", &text(&new), "restore", &backup];
    let remains = || names(place.path()).into_iter().filter(|name| name.starts_with(".new.restoring-")).count();
    for (number, point) in ["restore.file", "restore.unpacked", "restore.checked"].into_iter().enumerate() {
        killed(&args, point);
        assert!(!new.exists(), "{point}");
        assert_eq!(remains(), number + 1);
    }
    bench.run(&args).exits(0).tells(&["interrupted", "delete it"]);
    assert!(new.join("steward.db").is_file());
    let placed = place.path().join("placed");
    killed(&["--data-dir", &text(&placed), "restore", &backup], "restore.placed");
    at(&bench, &placed)(&["agents", "show", "reporter"]).exits(0);
}

#[test]
fn who_was_erased_since_is_erased_again() {
    let bench = Bench::new(steward_testkit::model_server::Script::default());
    let place = folder();
    let server = Server::start_with(&bench, &[]);
    let ask = |method: reqwest::Method, path: &str, token: Option<&str>, body: Option<&Value>| {
        let (status, answer) = server.request(&bench, method, path, token, body);
        assert!(status.is_success(), "{path}: {answer}");
        answer
    };
    let post = reqwest::Method::POST;
    let setup = json!({"token": server.setup_token(), "email": EMAIL, "password": PASSWORD});
    let session = ask(post.clone(), "/api/auth/setup", None, Some(&setup));
    let token = session["access_token"].as_str().unwrap().to_owned();
    let body = json!({"email": "ben@example.org", "role": "developer"});
    let invited = ask(post.clone(), "/api/users", Some(&token), Some(&body));
    let ben = invited["id"].as_str().or(invited["user"]["id"].as_str()).unwrap().to_owned();
    let key = ask(post.clone(), "/api/auth/api-key", Some(&token), Some(&json!({})))["api_key"].clone();
    let with_key = |args: &[&str]| {
        let mut command = bench.command(args);
        command.env("STEWARD_API_KEY", key.as_str().unwrap());
        finish(command)
    };
    let there = |name: &str| text(&place.path().join(name));
    with_key(&["backup", &there("older.backup"), "--without-keys"]).exits(0);
    let path = format!("/api/users/{ben}/erasure");
    let preview = ask(reqwest::Method::GET, &path, Some(&token), None);
    let confirmation = json!({"confirmation": preview["preview"]["confirmation"]});
    ask(post.clone(), &path, Some(&token), Some(&confirmation));
    let begun = Instant::now();
    while ask(reqwest::Method::GET, &path, Some(&token), None)["erasure"]["done_at"].is_null() {
        assert!(begun.elapsed() < Duration::from_mins(3), "it wasn't erased");
        std::thread::sleep(Duration::from_millis(200));
    }
    let list = with_key(&["backup", "erasures"]).exits(0).out;
    assert!(list.contains(&ben), "{list}");
    std::fs::write(there("erased.jsonl"), &list).unwrap();
    with_key(&["backup", &there("newer.backup"), "--without-keys"]).exits(0);
    drop(server);
    for (number, from) in ["erased.jsonl", "newer.backup"].into_iter().enumerate() {
        let data = place.path().join(format!("restored-{number}"));
        let args = ["--data-dir", &text(&data), "restore", &there("older.backup"), "--erasures", &there(from)];
        let done = bench.run(&args).exits(0);
        assert!(done.out.contains("1 people were erased again"), "{done:?}");
        assert!(!at(&bench, &data)(&["user", "list"]).exits(0).out.contains("ben@example.org"));
    }
    std::fs::write(there("erased.jsonl"), "nobody\n").unwrap();
    let args = ["--data-dir", &there("x"), "restore", &there("older.backup"), "--erasures", &there("erased.jsonl")];
    bench.run(&args).exits(1).tells(&["neither a backup nor a list"]);
}
