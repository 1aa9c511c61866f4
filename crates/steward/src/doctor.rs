use crate::compose::{Composition, Options};
use crate::health;
use crate::settings::Settings;
use crate::term::{Exit, Term, print_json, print_line};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use steward_app::dto::about::{Part, PartStatus};
use steward_app::{Check, Found, Health};
use steward_core::ports::StoreError;
use steward_models::embed::LazyMiniLm;

pub async fn run(settings: Settings, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    term.status("trying the sandbox, Python, the browser and the embedding model…");
    let embedder = Arc::new(LazyMiniLm::new(&settings.embedding_dir));
    let mut parts = Health::new(health::of_machine(&settings, embedder)).all().await;
    term.status("trying the database and the models…");
    parts.extend(installation(&settings).await);
    term.clear();
    let good = parts.iter().all(|part| part.status != PartStatus::Down);
    if as_json {
        let shown = |part: &Part| {
            let ok = part.status != PartStatus::Down;
            json!({"name": part.name, "ok": ok, "status": part.status, "detail": part.detail, "ms": part.ms})
        };
        let checks: Vec<Value> = parts.iter().map(shown).collect();
        print_json(&json!({"ok": good, "checks": checks}));
    } else {
        for part in &parts {
            let mark = match part.status {
                PartStatus::Ok | PartStatus::Off => term.green("✓"),
                PartStatus::Degraded => term.yellow("!"),
                PartStatus::Down => term.red("✗"),
            };
            print_line(format_args!("{mark} {}: {}", part.name, part.detail));
        }
    }
    Ok(if good { Exit::Done } else { Exit::Failed })
}

async fn installation(settings: &Settings) -> Vec<Part> {
    let parts = match Composition::open(settings, Options::default()).await {
        Ok(parts) => parts,
        Err(error) => {
            // A directory in use is no fault: a server works there.
            let in_use =
                error.downcast_ref::<StoreError>().is_some_and(|error| matches!(error, StoreError::InUse { .. }));
            let detail = format!("{error:#}");
            let found = if in_use {
                Found::ok(format!("{detail}; `steward health` asks it how it is"))
            } else {
                Found::down(detail, "")
            };
            return Health::new(vec![Check::new("database", move || std::future::ready(vec![found.clone()]))])
                .all()
                .await;
        }
    };
    let store = parts.shared.store.clone();
    let pages = Check::new("database pages", move || {
        let store = store.clone();
        async move {
            vec![match store.check().await {
                Ok(()) => Found::ok("every page was checked"),
                Err(error) => Found::down(error.to_string(), "restore a backup"),
            }]
        }
    });
    let mut checks = health::of_installation(&parts);
    checks.push(pages.within(Duration::from_mins(10)));
    let found = Health::new(checks).all().await;
    parts.close().await;
    found
}
