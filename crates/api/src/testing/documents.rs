//! Collections and documents to try things on, and what the API says of them.

use super::{Bed, bearer, bed, with_parts};
use crate::router::router;
use serde_json::{Value, json};
use std::time::Duration;
use steward_app::OriginalsProgress;
use steward_core::document::{
    Chunking, Collection, DocumentOrigin, IngestJob, JobProgress, JobState, Rerank, SearchWeights,
};
use steward_core::hash::sha256;
use steward_core::ports::NewDocument;
use steward_core::{CollectionId, DocumentId, IngestJobId, TenantId, Timestamp};
use steward_store::Store;
use uuid::Uuid;

/// A collection with a document and a job that all have this id.
pub(super) async fn plant(store: &Store, tenant: TenantId, id: Uuid, name: &str, text: &str) {
    let collection = Collection {
        id: CollectionId(id),
        name: name.to_owned(),
        description: text.to_owned(),
        chunking: Chunking::default(),
        weights: SearchWeights::default(),
        embedding_model: None,
        embedding_dimension: None,
        re_embedding: None,
        rerank: Rerank::default(),
        classification: None,
        created_by: None,
        created_at: Timestamp(0),
        documents: 0,
        chunks: 0,
    };
    store.create_collection(tenant, &collection).await.unwrap();
    let job = IngestJob {
        id: IngestJobId(id),
        collection: collection.id,
        label: text.to_owned(),
        state: JobState::Running,
        created_by: None,
        created_at: Timestamp(0),
        progress: JobProgress::default(),
    };
    store.create_job(tenant, &job).await.unwrap();
    let document = NewDocument {
        id: DocumentId(id),
        collection: collection.id,
        name: text.to_owned(),
        origin: DocumentOrigin::Upload,
        source: sha256(text.as_bytes()),
        bytes: text.len() as u64,
        sha256: sha256(text.as_bytes()),
        classification: None,
        job: Some(job.id),
        added_by: None,
        at: Timestamp(0),
    };
    store.add_document(tenant, &document).await.unwrap();
}

/// Where the file of a document lies that says this.
pub(super) fn keep_file(bed: &Bed, text: &str) {
    let hash = sha256(text.as_bytes());
    let folder = bed.dir.path().join("documents").join(&hash[..2]);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(hash), text).unwrap();
}

async fn upload(bed: &Bed, bearer: &str, query: &str, body: &str) -> (u16, Value) {
    let line = format!("POST /api/documents/upload?{query}");
    let answer = bed.send(&line, &[bearer, "content-type: application/octet-stream"], body).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn a_file_is_taken_in_once_and_goes_with_every_trace() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    let made = bed.json("POST /api/collections", &[&admin], &json!({"name": "Contracts"})).await;
    assert_eq!(made.status, 201);
    let collection = made.json()["id"].as_str().unwrap().to_owned();
    let (status, added) =
        upload(&bed, &admin, "collection=contracts&name=dir/a.txt", "The notice period is 30 days.").await;
    assert_eq!((status, &added["added"], &added["document"]["name"]), (201, &json!("new"), &json!("a.txt")));
    let (_, again) =
        upload(&bed, &admin, &format!("collection={collection}&name=b.txt"), "The notice period is 30 days.").await;
    assert_eq!((&again["added"], &again["document"]["id"]), (&json!("unchanged"), &added["document"]["id"]));
    let id = added["document"]["id"].as_str().unwrap();
    let content = bed.send(&format!("GET /api/documents/{id}/content"), &[&admin], "").await;
    assert_eq!((content.status, content.text.as_str()), (200, "The notice period is 30 days."));
    let listed = bed.send("GET /api/documents?search=A.TXT&status=waiting", &[&admin], "").await.json();
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
    let hash = added["document"]["sha256"].as_str().unwrap();
    let file = bed.dir.path().join("documents").join(&hash[..2]).join(hash);
    assert!(file.is_file());
    assert_eq!(bed.send(&format!("DELETE /api/documents/{id}"), &[&admin], "").await.status, 204);
    assert!(!file.exists());
    assert_eq!(bed.send(&format!("GET /api/documents/{id}"), &[&admin], "").await.status, 404);
    assert_eq!(bed.send(&format!("DELETE /api/collections/{collection}"), &[&admin], "").await.status, 204);
    let left = std::fs::read_dir(bed.dir.path().join("documents")).unwrap().flatten();
    assert!(left.filter(|entry| entry.path().is_file()).count() == 0, "nothing half received stays");
}

/// A form as programs send it: text fields and files, in this order.
fn form(fields: &[(&str, Option<&str>, &str)]) -> String {
    let mut body = String::new();
    for (name, file, text) in fields {
        let file = file.map(|file| format!("; filename=\"{file}\"\r\nContent-Type: text/plain")).unwrap_or_default();
        body.push_str("--xyz\r\nContent-Disposition: form-data; name=\"");
        body.push_str(&[name, "\"", &file, "\r\n\r\n", text, "\r\n"].concat());
    }
    body + "--xyz--\r\n"
}

#[tokio::test]
async fn a_file_of_a_form_is_the_file_and_not_the_form() {
    let bed = bed().await;
    let workspace = tempfile::tempdir().unwrap();
    let state = with_parts(&bed, |parts| parts.workspace = workspace.path().display().to_string().into());
    let bed = Bed { router: router(state.clone()), state, ..bed };
    let admin = bearer(&bed.admin().await);
    let kind = "content-type: multipart/form-data; boundary=xyz";
    let send = async |line: &str, body: String| {
        let answer = bed.send(line, &[&admin, kind], &body).await;
        (answer.status, answer.json())
    };
    // As `curl -F file=@dir/lease.txt` does, on a fresh installation.
    let text = "The notice period is 30 days.";
    let (status, added) = send("POST /api/documents/upload", form(&[("file", Some("dir/lease.txt"), text)])).await;
    assert_eq!((status, &added["document"]["name"]), (201, &json!("lease.txt")), "{added}");
    let id = added["document"]["id"].as_str().unwrap();
    assert_eq!(bed.send(&format!("GET /api/documents/{id}/content"), &[&admin], "").await.text, text);
    let collections = bed.send("GET /api/collections", &[&admin], "").await.json();
    assert!(collections.to_string().contains("\"Documents\""), "{collections}");
    // Fields after the file, a name of another field, the same collection by name.
    bed.json("POST /api/collections", &[&admin], &json!({"name": "Contracts"})).await;
    let late =
        form(&[("upload", Some("x.txt"), "A lease."), ("collection", None, "contracts"), ("name", None, "b.txt")]);
    let (status, added) = send("POST /api/documents/upload", late).await;
    assert_eq!((status, &added["document"]["name"]), (201, &json!("b.txt")), "{added}");
    let (status, kept) = send("POST /api/files", form(&[("file", Some("table.csv"), "a,b\n1,2\n")])).await;
    assert_eq!((status, &kept["path"]), (201, &json!("uploads/table.csv")), "{kept}");
    let content = bed.send("GET /api/files?path=uploads/table.csv", &[&admin], "").await;
    assert_eq!(content.text, "a,b\n1,2\n");

    for (line, body, place) in [
        ("POST /api/documents/upload", form(&[("collection", None, "contracts")]), "file"),
        ("POST /api/documents/upload", form(&[("file", Some("a.txt"), "a"), ("file", Some("b.txt"), "b")]), "file"),
        ("POST /api/documents/upload", form(&[("titel", None, "a"), ("file", Some("b.txt"), "b")]), "titel"),
        (
            "POST /api/documents/upload",
            form(&[("file", Some("b.txt"), "b"), ("collection", None, "none")]),
            "collection",
        ),
        ("POST /api/files", form(&[("file", Some("a.txt"), "a"), ("file", Some("b.txt"), "b")]), "file"),
        ("POST /api/files", form(&[("file", None, "a")]), "name"),
    ] {
        let (status, problem) = send(line, body).await;
        assert_eq!((status, &problem["field"]), (422, &json!(place)), "{line}: {problem}");
    }
    let raw = bed.send("POST /api/documents/upload", &[&admin, "content-type: text/plain"], "a").await;
    assert_eq!(raw.status, 422, "a body has no name of its own");
    let listed = bed.send("GET /api/documents", &[&admin], "").await.json();
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(2), "nothing of what was refused");
    let files = bed.send("GET /api/files/uploads", &[&admin], "").await.json();
    assert_eq!(files["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn equal_content_that_is_sent_while_another_is_removed_keeps_its_file() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    for name in ["One", "Two"] {
        bed.json("POST /api/collections", &[&admin], &json!({"name": name})).await;
    }
    for round in 0..20 {
        let text = format!("The notice period of round {round} is 30 days.");
        let first = upload(&bed, &admin, "collection=One&name=a.txt", &text).await.1;
        let remove = format!("DELETE /api/documents/{}", first["document"]["id"].as_str().unwrap());
        let headers = [admin.as_str()];
        let (removed, second) =
            tokio::join!(bed.send(&remove, &headers, ""), upload(&bed, &admin, "collection=Two&name=b.txt", &text));
        assert_eq!((removed.status, second.0), (204, 201));
        let id = second.1["document"]["id"].as_str().unwrap();
        let content = bed.send(&format!("GET /api/documents/{id}/content"), &headers, "").await;
        assert_eq!((content.status, content.text), (200, text), "round {round}");
    }
    let left = std::fs::read_dir(bed.dir.path().join("documents")).unwrap().flatten();
    assert_eq!(left.filter(|entry| entry.path().is_file()).count(), 0, "nothing is half removed");
}

#[tokio::test]
async fn files_without_documents_go_and_documents_without_files_are_told() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    bed.json("POST /api/collections", &[&admin], &json!({"name": "One"})).await;
    let (_, kept) = upload(&bed, &admin, "collection=One&name=kept.txt", "kept").await;
    let (_, lost) = upload(&bed, &admin, "collection=One&name=lost.txt", "lost").await;
    let documents = bed.app().documents.clone();
    let look = async |grace| {
        let mut progress = OriginalsProgress::default();
        for _ in 0..256 {
            documents.compare_some_originals(&mut progress, grace).await.unwrap();
        }
    };
    // As a kill between the removal of a row and that of its file leaves it.
    keep_file(&bed, "gone");
    let place = |text: &str| {
        let hash = sha256(text.as_bytes());
        bed.dir.path().join("documents").join(&hash[..2]).join(hash)
    };
    look(Duration::from_hours(1)).await;
    assert!(place("gone").exists(), "somebody may be about to note it");
    std::fs::remove_file(place("lost")).unwrap();
    look(Duration::ZERO).await;
    assert!(!place("gone").exists() && place("kept").exists());
    let document = async |one: &Value| {
        let line = format!("GET /api/documents/{}", one["document"]["id"].as_str().unwrap());
        bed.send(&line, &[&admin], "").await.json()
    };
    assert_eq!(document(&kept).await["problem"], Value::Null);
    let problem = document(&lost).await["problem"].clone();
    assert!(problem["message"].as_str().unwrap().contains("lost.txt that was sent is missing"), "{problem}");
    assert_eq!(bed.store.lost_documents(TenantId::DEFAULT).await.unwrap(), 1);
    let (status, _) = upload(&bed, &admin, "collection=One&name=lost.txt", "lost").await;
    assert_eq!(status, 201);
    look(Duration::ZERO).await;
    assert_eq!(document(&lost).await["problem"], Value::Null);
}

#[tokio::test]
async fn bad_input_is_told() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    bed.json("POST /api/collections", &[&admin], &json!({"name": "Contracts"})).await;
    for (query, body, field) in [
        ("collection=nothing&name=a.txt", "text", "collection"),
        ("collection=Contracts&name=a.txt", "", "body"),
        ("collection=Contracts&name=%20/", "text", "name"),
        ("collection=Contracts&name=a.txt&agent_id=nobody", "text", "agent_id"),
    ] {
        let (status, problem) = upload(&bed, &admin, query, body).await;
        assert_eq!((status, &problem["field"]), (422, &json!(field)), "{problem}");
    }
    for (line, body, field) in [
        ("POST /api/collections", json!({"name": "contracts"}), None),
        ("POST /api/collections", json!({"name": "x", "chunking": {"max_chars": 10}}), Some("chunking.max_chars")),
        ("POST /api/collections", json!({"name": "x", "weights": {"text": 0, "vectors": 0}}), Some("weights")),
        ("POST /api/documents/search", json!({"query": "  "}), Some("query")),
        ("POST /api/documents/search", json!({"query": "x", "collections": ["nothing"]}), Some("collection")),
        ("POST /api/documents/search", json!({"query": "x", "upload_date_from": "soon"}), Some("upload_date_from")),
        ("POST /api/documents/batch-scan", json!({"path": "here", "collection": "Contracts"}), Some("path")),
        ("POST /api/documents/register-path", json!({"path": "/no/where", "collection": "Contracts"}), Some("path")),
    ] {
        let answer = bed.json(line, &[&admin], &body).await;
        let problem = answer.json();
        assert!(matches!(answer.status, 409 | 422), "{line}: {problem}");
        assert_eq!(problem["field"].as_str(), field, "{line}: {problem}");
        assert!(problem["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{line}: {problem}");
    }
}
