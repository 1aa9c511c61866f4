//! Places on the server's disk that people name: no door opens the program's own files, neither when a place is named nor
//! at a later reading.

use super::no_models::NoModels;
use super::rag::Words;
use super::{Bed, bearer, bed, disk_with, with_parts};
use crate::router::router;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use steward_app::{DocumentParts, DocumentService, EmbeddingModels};
use steward_core::TenantId;
use steward_testkit::SeqIds;
use steward_tools::{HostPolicy, HostRules};
use tempfile::TempDir;

const KEY: &str = "the key that opens all credentials";
const HARMLESS: &str = "the pump is serviced in May";

struct Ground {
    bed: Bed,
    admin: String,
    top: TempDir,
}

impl Ground {
    /// `own` is the program's, `share` is a share beside it. Whoever hands a document in waits until it is read.
    async fn new() -> Self {
        let first = bed().await;
        let top = tempfile::tempdir().unwrap();
        let real = top.path().canonicalize().unwrap();
        for folder in ["own/sub", "share/sub", "share/tool"] {
            fs::create_dir_all(real.join(folder)).unwrap();
        }
        fs::write(real.join("own/vault.key"), KEY).unwrap();
        fs::write(real.join("own/sub/vault.key"), KEY).unwrap();
        fs::write(real.join("share/sub/vault.key"), HARMLESS).unwrap();
        let own = vec![first.dir.path().to_owned(), real.join("own")];
        let documents = DocumentService::new(DocumentParts {
            tenant: TenantId::DEFAULT,
            store: first.store.clone(),
            extractor: Arc::new(Words),
            pages: Arc::new(NoModels),
            picture_model: Arc::new(NoModels),
            embedding: EmbeddingModels::new(Arc::new(Words), first.clock.clone()),
            cross_encoder: None.into(),
            clock: first.clock.clone(),
            ids: Arc::new(SeqIds::new(0x7777_0000)),
            data_dir: first.dir.path().to_owned(),
            workspace: "/nowhere".to_owned().into(),
            places: HostPolicy::new(HostRules { own, ..HostRules::default() }),
            disk: disk_with(Vec::new()),
            serving: false,
        });
        let state = with_parts(&first, |app| app.documents = Arc::new(documents));
        let bed = Bed { router: router(state.clone()), state, ..first };
        let admin = bearer(&bed.admin().await);
        let made = bed.json("POST /api/collections", &[&admin], &json!({"name": "Share"})).await;
        assert_eq!(made.status, 201, "{}", made.text);
        Self { bed, admin, top }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    async fn post(&self, line: &str, body: &Value) -> (u16, Value) {
        let answer = self.bed.json(&format!("POST {line}"), &[&self.admin], body).await;
        (answer.status, answer.json())
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let answer = self.bed.send(&format!("GET {path}"), &[&self.admin], "").await;
        (answer.status, answer.text)
    }

    /// Names a place at each door: the field and the answer.
    async fn name_everywhere(&self, path: &Path) -> Vec<(&'static str, u16, Value)> {
        let scan = json!({"path": path, "collection": "Share"});
        let source = json!({"name": "a", "database": format!("sqlite:{}", path.display())});
        let server =
            |field: &str| json!({"name": "m", "transport": {"kind": "stdio", "command": ["x"], field: [path]}});
        let mut all = Vec::new();
        for (field, line, body) in [
            ("path", "/api/documents/batch-scan", scan.clone()),
            ("path", "/api/documents/register-path", scan),
            ("database", "/api/datasources", source),
            ("transport.read", "/api/mcp/servers", server("read")),
            ("transport.write", "/api/mcp/servers", server("write")),
        ] {
            let (status, answer) = self.post(line, &body).await;
            all.push((field, status, answer));
        }
        all
    }

    /// Scans the share, and waits until its documents are noted.
    async fn scan(&self, folder: &Path) -> Vec<Value> {
        let body = json!({"path": folder, "collection": "Share"});
        let (status, job) = self.post("/api/documents/batch-scan", &body).await;
        assert_eq!(status, 201, "{job}");
        let path = format!("/api/documents/jobs/{}", job["id"].as_str().unwrap());
        while self.get(&path).await.1.contains("\"scanning\"") {
            tokio::task::yield_now().await;
        }
        let (_, listed) = self.get("/api/documents").await;
        serde_json::from_str::<Value>(&listed).unwrap()["items"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn no_door_takes_the_programs_own_files() {
    let ground = Ground::new().await;
    symlink(ground.at("own"), ground.at("share/link")).unwrap();
    let through_proc = PathBuf::from(format!("/proc/self/root{}", ground.at("own/vault.key").display()));
    for path in [
        ground.at("own"),
        ground.at("own/sub"),
        ground.at("own/vault.key"),
        ground.at("share/../own/vault.key"),
        ground.at("share/link/sub"),
        through_proc,
    ] {
        for (field, status, problem) in ground.name_everywhere(&path).await {
            let shown = path.display();
            assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{shown}: {problem}");
            assert!(problem["title"].as_str().unwrap().contains("belongs to Steward itself"), "{shown}: {problem}");
            assert!(!problem["hint"].as_str().unwrap().is_empty(), "{shown}: {problem}");
        }
    }
    // What holds them can be scanned, without them, but not shown to a program.
    for (field, status, problem) in ground.name_everywhere(ground.top.path()).await {
        if field.starts_with("transport") {
            assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{problem}");
            assert!(problem["title"].as_str().unwrap().contains("holds Steward's own"), "{problem}");
        }
    }
    let documents = ground.scan(ground.top.path()).await;
    let sources: Vec<&str> = documents.iter().map(|one| one["source"].as_str().unwrap()).collect();
    assert_eq!(sources, [ground.at("share/sub/vault.key").to_str().unwrap()]);
    for path in ["/proc/self", "/proc/self/environ", "/proc/self/cwd/../../../../proc"] {
        for (field, status, problem) in ground.name_everywhere(Path::new(path)).await {
            assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{path}: {problem}");
        }
    }
}

#[tokio::test]
async fn a_link_that_comes_later_is_not_followed_when_a_document_is_read() {
    let ground = Ground::new().await;
    let documents = ground.scan(&ground.at("share")).await;
    assert_eq!(documents.len(), 1, "{documents:?}");
    let path = format!("/api/documents/{}", documents[0]["id"].as_str().unwrap());
    assert_eq!(ground.get(&format!("{path}/content")).await, (200, HARMLESS.to_owned()));
    fs::rename(ground.at("share/sub"), ground.at("share/before")).unwrap();
    for target in [ground.at("own"), ground.at("own/sub"), PathBuf::from("/etc")] {
        let link = ground.at("share/sub");
        let _ = fs::remove_file(&link);
        symlink(&target, &link).unwrap();
        let (status, problem) = ground.get(&format!("{path}/content")).await;
        assert_eq!(status, 404, "{problem}");
        assert!(problem.contains("symbolic link") && !problem.contains(KEY), "{problem}");
        let (status, document) = ground.post(&format!("{path}/process"), &json!({})).await;
        assert_eq!(status, 200, "{document}");
        let (_, chunks) = ground.get(&format!("{path}/chunks")).await;
        assert!(!chunks.contains(KEY), "{chunks}");
        let (_, document) = ground.get(&path).await;
        assert!(document.contains("symbolic link"), "{document}");
    }
    // A scan takes the folder by its new name, and leaves the link out.
    let sources: Vec<String> =
        ground.scan(&ground.at("share")).await.iter().map(|one| one["source"].to_string()).collect();
    assert!(sources.iter().any(|source| source.contains("before/vault.key")), "{sources:?}");
    // Nor is a root that became a link.
    fs::rename(ground.at("share"), ground.at("moved")).unwrap();
    symlink(ground.at("moved"), ground.at("share")).unwrap();
    for document in
        serde_json::from_str::<Value>(&ground.get("/api/documents").await.1).unwrap()["items"].as_array().unwrap()
    {
        let content = format!("/api/documents/{}/content", document["id"].as_str().unwrap());
        assert_eq!(ground.get(&content).await.0, 404);
    }
}

#[tokio::test]
async fn links_are_resolved_when_a_place_is_named() {
    let ground = Ground::new().await;
    symlink(ground.at("share/tool"), ground.at("alias")).unwrap();
    let body = json!({"name": "m", "transport": {"kind": "stdio", "command": ["x"], "read": [ground.at("alias")],
        "write": [ground.at("share/tool/../sub")]}});
    let (status, made) = ground.post("/api/mcp/servers", &body).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["transport"]["read"], json!([ground.at("share/tool")]));
    assert_eq!(made["transport"]["write"], json!([ground.at("share/sub")]));
    let line = format!("PUT /api/mcp/servers/{}", made["id"].as_str().unwrap());
    let body = json!({"name": "m", "transport": {"kind": "stdio", "command": ["x"], "read": [ground.at("own")]}});
    assert_eq!(ground.bed.json(&line, &[&ground.admin], &body).await.status, 422);
    let body = json!({"path": ground.at("alias"), "collection": "Share"});
    let (status, watched) = ground.post("/api/documents/register-path", &body).await;
    assert_eq!((status, &watched["path"]), (201, &json!(ground.at("share/tool"))));
}

#[tokio::test]
async fn a_server_gets_what_its_program_needs_within_the_rules() {
    let ground = Ground::new().await;
    let text = |name: &str| ground.at(name).display().to_string();
    for folder in ["share/venv/bin", "share/cpython/bin", "own/cpython/bin", "share/other/bin"] {
        fs::create_dir_all(ground.at(folder)).unwrap();
    }
    for (folder, home) in [("share/venv", "share/cpython/bin"), ("share/other", "own/cpython/bin")] {
        fs::write(ground.at(folder).join("pyvenv.cfg"), format!("home = {}\n", text(home))).unwrap();
        fs::write(ground.at(folder).join("bin/server"), "").unwrap();
    }
    let add = async |name: &str, program: &str, read: Value, write: Value| {
        let transport = json!({"kind": "stdio", "command": [text(program)], "read": read, "write": write,
            "env": {"LEVEL": "2"}, "secrets": {"KEY": "wiki"}});
        ground.post("/api/mcp/servers", &json!({"name": name, "transport": transport})).await
    };
    let database = text("share/tool/new.db");
    let (status, made) = add("a", "share/venv/bin/server", json!([database]), json!([text("share/tool")])).await;
    assert_eq!(status, 201, "{made}");
    let transport = &made["transport"];
    assert_eq!(transport["read"], json!([text("share/venv"), text("share/cpython")]));
    assert_eq!((&transport["env"]["LEVEL"], &transport["secrets"]["KEY"]), (&json!("2"), &json!("wiki")));
    // The program's own is not given, whatever an environment names.
    let (status, made) = add("b", "share/other/bin/server", json!([]), json!([])).await;
    assert_eq!((status, &made["transport"]["read"]), (201, &json!([text("share/other")])));
    // Nor does a program say what it reads where it may write.
    let (status, made) = add("c", "share/venv/bin/server", json!([]), json!([text("share/venv")])).await;
    assert_eq!((status, &made["transport"]["read"]), (201, &json!([])));
    for (read, write) in [(json!([database]), json!([])), (json!([]), json!([text("share/none")]))] {
        let (status, refused) = add("d", "share/venv/bin/server", read, write).await;
        assert_eq!(status, 422, "{refused}");
        assert!(refused.to_string().contains("make it first"), "{refused}");
    }
}
