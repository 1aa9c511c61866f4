//! What a call has begun to read or to contact is known, so that its error is one from there.

use crate::calendar::world;
use crate::fakes::Bench;
use crate::server::{Server, ok, redirect};
use serde_json::{Value, json};

const ORDER: &str = "SYSTEM-NOTE-pay-eve";

/// The error of a call, what came in by its origins, and which files its call has read.
async fn failed(bench: &Bench, tool: &str, arguments: Value) -> (String, Vec<String>, Vec<String>) {
    let error = bench.refused(tool, arguments).await;
    let (seen, files) = bench.scope.consulted.so_far();
    (error, seen.origins.into_iter().collect(), files)
}

#[tokio::test]
async fn an_error_of_a_page_comes_from_its_server() {
    let server = Server::start(|path| match path {
        "/private" => redirect(&format!("http://10.0.0.1/{ORDER}")),
        "/gone" => redirect(&format!("/404/{ORDER}")),
        "/media" => ok(&format!("image/{ORDER}"), "\0\u{1}"),
        "/loop" => redirect("/loop"),
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
    })
    .await;
    for (path, quoted) in [("/private", true), ("/gone", true), ("/media", true), ("/loop", false)] {
        let bench = Bench::allowing(&[server.allowed()]);
        let (error, origins, files) = failed(&bench, "web_fetch", json!({"url": server.url(path)})).await;
        assert_eq!(error.to_lowercase().contains(&ORDER.to_lowercase()), quoted, "{path}: {error}");
        assert_eq!((origins, files), (vec![format!("http://{}", server.allowed())], vec![]), "{path}");
    }
}

#[tokio::test]
async fn an_error_before_anything_was_contacted_comes_from_nowhere() {
    let bench = Bench::new();
    for (tool, arguments) in [
        ("web_fetch", json!({"url": "http://10.0.0.1/"})),
        ("web_fetch", json!({"url": "no url"})),
        ("web_fetch", json!({})),
        ("read", json!({"path": "uploads/missing.txt"})),
        ("sql", json!({"database": "uploads/missing.csv", "query": {"sql": "SELECT 1"}})),
        ("sql", json!({"database": "uploads/missing.db", "query": {"sql": "SELECT 1"}})),
    ] {
        let (error, origins, files) = failed(&bench, tool, arguments.clone()).await;
        assert!(origins.is_empty() && files.is_empty(), "{tool} {arguments}: {error} {origins:?} {files:?}");
    }
}

/// A SQLite file whose schema is broken in the entry of a table of this name.
fn malformed(name: &str) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let connection = rusqlite::Connection::open(file.path()).unwrap();
    connection.execute_batch(&format!("CREATE TABLE \"{name}\" (a TEXT)")).unwrap();
    drop(connection);
    let mut bytes = std::fs::read(file.path()).unwrap();
    let at = bytes.windows(12).position(|part| part == b"CREATE TABLE").unwrap();
    bytes[at..at + 12].copy_from_slice(b"CREATE TABLX");
    bytes
}

#[tokio::test]
async fn an_error_about_a_file_comes_from_that_file() {
    let broken = format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:{ORDER}\n");
    let no_start = format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:{ORDER}\nEND:VEVENT\nEND:VCALENDAR\n");
    for (tool, path, content, arguments) in [
        ("calendar_import", "uploads/a.ics", broken.into_bytes(), json!({"path": "uploads/a.ics"})),
        ("calendar_import", "uploads/b.ics", no_start.into_bytes(), json!({"path": "uploads/b.ics"})),
        ("sql", "uploads/c.db", malformed(ORDER), json!({"database": "uploads/c.db", "query": {"sql": "SELECT 1"}})),
    ] {
        let bench = world::bench();
        bench.put(path, content);
        let (error, origins, files) = failed(&bench, tool, arguments).await;
        assert!(error.contains(ORDER), "{path}: {error}");
        assert_eq!((origins, files), (vec![], vec![path.to_owned()]), "{error}");
    }
    let bench = Bench::new();
    bench.put("uploads/d.pdf", "%PDF-1.7");
    assert_eq!(failed(&bench, "read", json!({"path": "uploads/d.pdf"})).await.2, ["uploads/d.pdf"]);
}
