use crate::args::{DocumentsAction, DocumentsArgs};
use crate::client::{Client, encoded};
use crate::commands::picked::{pick, text, time};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use http::Method;
use serde_json::{Value, json};

pub async fn run(client: &Client, args: DocumentsArgs, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    let all = DocumentsAction::List { collection: None, search: None, failed: false };
    match args.action.unwrap_or(all) {
        DocumentsAction::List { collection, search, failed } => {
            list(client, collection.as_deref(), search.as_deref(), failed, as_json, term).await
        }
        DocumentsAction::Show { document } => show(client, &document, as_json, term).await,
        DocumentsAction::Process { document } => {
            let found = find(client, &document).await?;
            let now: Value = client.act(&format!("{}/process", path_of(&found))).await?;
            Ok(term.changed(&now, as_json, &format!("`{}` is read again", text(&now, "name"))))
        }
        DocumentsAction::Remove { document, yes } => {
            let found = find(client, &document).await?;
            let what = format!("`{}` with its {} chunks", text(&found, "name"), found["chunks"]);
            if !confirmed(&what, yes, term)? {
                return Ok(Exit::Refused);
            }
            client.delete(&path_of(&found)).await?;
            Ok(term.changed(&found, as_json, &format!("removed {what}")))
        }
        DocumentsAction::Collections => collections(client, as_json, term).await,
        DocumentsAction::Create { name, description, open, embedding_model } => {
            let mut body = json!({"name": name, "description": description, "open": open});
            if let Some(model) = embedding_model {
                body["embedding_model"] = model.into();
            }
            let made: Value = client.post("/api/collections", &body).await?;
            let said = format!("made `{name}`; fill it with: steward ingest PATH --collection \"{name}\"");
            Ok(term.changed(&made, as_json, &said))
        }
        DocumentsAction::Change { collection, embedding_model, rerank } => {
            let found = find_collection(client, &collection).await?;
            let mut body = json!({});
            for (field, value) in [("embedding_model", embedding_model), ("rerank", rerank)] {
                if let Some(value) = value {
                    body[field] = value.into();
                }
            }
            let path = format!("/api/collections/{}", text(&found, "id"));
            let changed: Value = client.request(Method::PATCH, &path, Some(&body)).await?;
            let said = format!("changed `{}`{}", text(&changed, "name"), way_of(&changed));
            Ok(term.changed(&changed, as_json, &said))
        }
        DocumentsAction::Drop { collection, yes } => {
            let found = find_collection(client, &collection).await?;
            let what = format!("the collection `{}` with its {} documents", text(&found, "name"), found["documents"]);
            if !confirmed(&what, yes, term)? {
                return Ok(Exit::Refused);
            }
            client.delete(&format!("/api/collections/{}", text(&found, "id"))).await?;
            Ok(term.changed(&found, as_json, &format!("removed {what}")))
        }
    }
}

async fn list(
    client: &Client,
    collection: Option<&str>,
    search: Option<&str>,
    failed: bool,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let mut params = Vec::new();
    if let Some(collection) = collection {
        params.push(format!("collection={}", text(&find_collection(client, collection).await?, "id")));
    }
    params.extend(search.map(|text| format!("search={}", encoded(text))));
    if failed {
        params.push("status=failed".to_owned());
    }
    let rows = client.rows(&format!("/api/documents?{}", params.join("&"))).await?;
    let empty = if params.is_empty() {
        "There are no documents. Add some with: steward ingest PATH"
    } else {
        "No document is like that; `steward documents` shows all."
    };
    if term.listed(&rows, as_json, empty) {
        return Ok(Exit::Done);
    }
    for document in &rows {
        let status = text(document, "status");
        let status = match status {
            "failed" => term.red(&format!("{status:<9}")),
            "ready" => format!("{status:<9}"),
            _ => term.yellow(&format!("{status:<9}")),
        };
        let problem = document["problem"]["message"].as_str().unwrap_or_default();
        let chunks = document["chunks"].as_u64().unwrap_or_default();
        println!("{status} {chunks:>6}  {}  {}", text(document, "name"), term.dim(problem));
    }
    Ok(Exit::Done)
}

async fn show(client: &Client, wanted: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let found = find(client, wanted).await?;
    if as_json {
        println!("{found}");
        return Ok(Exit::Done);
    }
    println!("{}  {}", term.bold(text(&found, "name")), term.dim(text(&found, "id")));
    let facts = &found["facts"];
    let rows = [
        ("status", text(&found, "status").to_owned()),
        ("problem", found["problem"]["message"].as_str().unwrap_or_default().to_owned()),
        ("", found["problem"]["hint"].as_str().unwrap_or_default().to_owned()),
        ("title", text(facts, "title").to_owned()),
        ("kind", text(facts, "doc_type").to_owned()),
        ("pages", facts["pages"].to_string()),
        ("chunks", format!("{}, {} of them with vectors", found["chunks"], found["embedded"])),
        ("from", format!("{} {}", text(&found, "origin"), text(&found, "source"))),
        ("added", time(&found, "added_at")),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        println!("{name:<12} {value}");
    }
    for warning in facts["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        println!("{:<12} {warning}", term.yellow("note"));
    }
    Ok(Exit::Done)
}

async fn collections(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows("/api/collections").await?;
    if term.listed(&rows, as_json, "There are no collections. `steward ingest PATH` makes one.") {
        return Ok(Exit::Done);
    }
    for row in &rows {
        let (documents, chunks) = (&row["documents"], &row["chunks"]);
        let counts = format!("{documents:>6} documents {chunks:>8} chunks");
        let model = text(row, "embedding_model");
        let about = format!("{model}{}  {}", way_of(row), text(row, "description"));
        println!("{:<32} {counts}  {}", text(row, "name"), term.dim(about.trim()));
    }
    Ok(Exit::Done)
}

/// How far a collection is on its way to another embedding model.
fn way_of(collection: &Value) -> String {
    let way = &collection["re_embedding"];
    if way.is_null() {
        return String::new();
    }
    format!(", {} of {} documents are embedded by {}", way["done"], way["documents"], text(way, "model"))
}

pub(super) fn confirmed(what: &str, yes: bool, term: Term) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !term.can_ask {
        bail!("{what} would be gone for good; add -y if that is meant");
    }
    let agreed = term.agrees(&format!("Remove {what} for good? [y/N]"));
    if !agreed {
        term.say("nothing was removed");
    }
    Ok(agreed)
}

fn path_of(document: &Value) -> String {
    format!("/api/documents/{}", text(document, "id"))
}

async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let rows = client.rows("/api/documents").await?;
    pick(rows, wanted, "document", "steward documents")
}

async fn find_collection(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let rows = client.rows("/api/collections").await?;
    pick(rows, wanted, "collection", "steward documents collections")
}
