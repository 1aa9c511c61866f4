use super::rows::{COLLECTION, Resource, object, print_facts, text, texts, time};
use crate::client::{Client, with_query};
use crate::term::{Exit, Term};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Documents and their collections: list, show, read again, remove.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward documents\n  steward documents list --failed\n  steward documents collections\n  steward documents remove handbook.pdf"
)]
pub enum DocumentsAction {
    /// List them, the newest first.
    List(Filter),
    /// Show one.
    Show {
        /// The name, or the beginning or end of the id.
        document: String,
    },
    /// Read, cut and embed it again.
    Process {
        /// The name, or the beginning or end of the id.
        document: String,
    },
    /// Remove it for good, with its chunks and the file that was sent.
    Remove {
        /// The name, or the beginning or end of the id.
        document: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// List the collections.
    Collections,
    /// Make a collection.
    Create {
        /// Its name.
        name: String,
        /// For people.
        #[arg(long, value_name = "TEXT", default_value = "")]
        description: String,
        /// Everybody may search it; else only those with a grant.
        #[arg(long)]
        open: bool,
        /// The model of its vectors: `MODEL@CONNECTION`, `MODEL@auto`, or a folder of the models' folder.
        #[arg(long, value_name = "MODEL")]
        embedding_model: Option<String>,
    },
    /// Change a collection.
    Change {
        /// Its name, or the beginning or end of the id.
        collection: String,
        /// The model of its vectors. They are made anew; those that there are answer meanwhile.
        #[arg(long, value_name = "MODEL")]
        embedding_model: Option<String>,
        /// What may put into a better order what is found: off, local or auto.
        #[arg(long, value_name = "WHAT", value_parser = ["off", "local", "auto"])]
        rerank: Option<String>,
    },
    /// Remove a collection for good, with all its documents.
    Drop {
        /// Its name, or the beginning or end of the id.
        collection: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

/// Which documents.
#[derive(Debug, Clone, Default, Args)]
pub struct Filter {
    /// Only of this collection.
    #[arg(long, value_name = "NAME")]
    collection: Option<String>,
    /// Whose name, title or path holds this text.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only those that failed.
    #[arg(long)]
    failed: bool,
}

const DOCUMENT: Resource = Resource { path: "/api/documents", what: "document", list: "steward documents" };

pub async fn run(client: &Client, action: Option<DocumentsAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or_else(|| DocumentsAction::List(Filter::default())) {
        DocumentsAction::List(filter) => list(client, filter, term).await,
        DocumentsAction::Show { document } => show(client, &document, term).await,
        DocumentsAction::Process { document } => {
            let found = DOCUMENT.find(client, &document).await?;
            let now: Value = client.act(&format!("{}/process", DOCUMENT.path_of(&found))).await?;
            Ok(term.changed(&now, &format!("`{}` is read again", text(&now, "name"))))
        }
        DocumentsAction::Remove { document, yes } => {
            let found = DOCUMENT.find(client, &document).await?;
            let what = format!("`{}` with its {} chunks", text(&found, "name"), found["chunks"]);
            if !term.removal_confirmed(yes, &what, "")? {
                return Ok(Exit::Refused);
            }
            client.delete(&DOCUMENT.path_of(&found)).await?;
            Ok(term.changed(&found, &format!("removed {what}")))
        }
        DocumentsAction::Collections => collections(client, term).await,
        DocumentsAction::Create { name, description, open, embedding_model } => {
            let mut body = json!({"name": name, "description": description, "open": open});
            if let Some(model) = embedding_model {
                body["embedding_model"] = model.into();
            }
            let made: Value = client.post(COLLECTION.path, &body).await?;
            let said = format!("made `{name}`; fill it with: steward ingest PATH --collection \"{name}\"");
            Ok(term.changed(&made, &said))
        }
        DocumentsAction::Change { collection, embedding_model, rerank } => {
            let found = COLLECTION.find(client, &collection).await?;
            let body =
                object([("embedding_model", embedding_model.map(Value::from)), ("rerank", rerank.map(Value::from))]);
            let changed: Value = client.patch(&COLLECTION.path_of(&found), &Value::Object(body)).await?;
            let said = format!("changed `{}`{}", text(&changed, "name"), way_of(&changed));
            Ok(term.changed(&changed, &said))
        }
        DocumentsAction::Drop { collection, yes } => {
            let found = COLLECTION.find(client, &collection).await?;
            let what = format!("the collection `{}` with its {} documents", text(&found, "name"), found["documents"]);
            if !term.removal_confirmed(yes, &what, "")? {
                return Ok(Exit::Refused);
            }
            client.delete(&COLLECTION.path_of(&found)).await?;
            Ok(term.changed(&found, &format!("removed {what}")))
        }
    }
}

async fn list(client: &Client, filter: Filter, term: Term) -> anyhow::Result<Exit> {
    let mut collection = None;
    if let Some(name) = &filter.collection {
        collection = Some(text(&COLLECTION.find(client, name).await?, "id").to_owned());
    }
    let status = filter.failed.then(|| "failed".to_owned());
    let parts = [("collection", collection), ("search", filter.search), ("status", status)];
    let path = with_query(DOCUMENT.path, parts);
    let rows = client.rows(&path).await?;
    let empty = if path == DOCUMENT.path {
        "There are no documents. Add some with: steward ingest PATH"
    } else {
        "No document is like that; `steward documents` shows all."
    };
    Ok(term.listed(&rows, empty, |document| {
        let status = text(document, "status");
        let status = match status {
            "failed" => term.red(&format!("{status:<9}")),
            "ready" => format!("{status:<9}"),
            _ => term.yellow(&format!("{status:<9}")),
        };
        let problem = text(&document["problem"], "message");
        let chunks = document["chunks"].as_u64().unwrap_or_default();
        println!("{status} {chunks:>6}  {}  {}", text(document, "name"), term.dim(problem));
    }))
}

async fn show(client: &Client, wanted: &str, term: Term) -> anyhow::Result<Exit> {
    let found = DOCUMENT.find(client, wanted).await?;
    Ok(term.shown(&found, || {
        println!("{}  {}", term.bold(text(&found, "name")), term.dim(text(&found, "id")));
        let (facts, problem) = (&found["facts"], &found["problem"]);
        print_facts([
            ("status", text(&found, "status").to_owned()),
            ("problem", text(problem, "message").to_owned()),
            ("", text(problem, "hint").to_owned()),
            ("title", text(facts, "title").to_owned()),
            ("kind", text(facts, "doc_type").to_owned()),
            ("pages", facts["pages"].to_string()),
            ("chunks", format!("{}, {} of them with vectors", found["chunks"], found["embedded"])),
            ("from", format!("{} {}", text(&found, "origin"), text(&found, "source"))),
            ("added", time(&found, "added_at")),
        ]);
        for warning in texts(facts, "warnings") {
            println!("{:<12} {warning}", term.yellow("note"));
        }
    }))
}

async fn collections(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(COLLECTION.path).await?;
    Ok(term.listed(&rows, "There are no collections. `steward ingest PATH` makes one.", |row| {
        let (documents, chunks) = (&row["documents"], &row["chunks"]);
        let counts = format!("{documents:>6} documents {chunks:>8} chunks");
        let model = text(row, "embedding_model");
        let about = format!("{model}{}  {}", way_of(row), text(row, "description"));
        println!("{:<32} {counts}  {}", text(row, "name"), term.dim(about.trim()));
    }))
}

/// How far a collection is on its way to another embedding model.
fn way_of(collection: &Value) -> String {
    let way = &collection["re_embedding"];
    if way.is_null() {
        return String::new();
    }
    format!(", {} of {} documents are embedded by {}", way["done"], way["documents"], text(way, "model"))
}
