use crate::browser;
use crate::compose::{Composition, Options, python_config, sandbox_helper};
use crate::exit::Exit;
use crate::integrations;
use crate::settings::Settings;
use crate::term::Term;
use serde::Serialize;
use serde_json::json;
use steward_core::ports::{Embedder, Models, RunStore, StoreError};
use steward_sandbox::process::Sandbox;
use steward_sandbox::python::PythonPool;
use steward_tools::mail::MailPorts;

#[derive(Debug, Serialize)]
struct Finding {
    name: String,
    ok: bool,
    detail: String,
    hint: String,
}

impl Finding {
    fn good(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), ok: true, detail: detail.into(), hint: String::new() }
    }

    fn bad(name: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name: name.to_owned(), ok: false, detail: detail.into(), hint: hint.into() }
    }
}

pub async fn run(settings: Settings, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let mut findings = Vec::new();
    term.status("trying the sandbox…");
    for check in Sandbox::new(sandbox_helper(&settings)).doctor().await {
        findings.push(Finding {
            name: format!("sandbox: {}", check.name),
            ok: check.ok,
            detail: check.detail,
            hint: check.hint.unwrap_or_default(),
        });
    }
    term.status("trying inline Python…");
    let pool = PythonPool::new(sandbox_helper(&settings), python_config(&settings));
    for check in pool.doctor().await {
        findings.push(Finding {
            name: format!("python: {}", check.name),
            ok: check.ok,
            detail: check.detail,
            hint: check.hint.unwrap_or_default(),
        });
    }
    term.status("trying the browser…");
    findings.push(browser(&settings).await);
    term.status("trying the embedding model…");
    findings.push(embeddings(&settings).await);
    term.status("trying the database and the models…");
    data(&settings, &mut findings).await;
    term.clear();
    let good = findings.iter().all(|finding| finding.ok);
    if as_json {
        println!("{}", json!({"ok": good, "checks": findings}));
    } else {
        for finding in &findings {
            let mark = if finding.ok { term.green("✓") } else { term.red("✗") };
            println!("{mark} {}: {}", finding.name, finding.detail);
            if !finding.ok && !finding.hint.is_empty() {
                println!("    {}", finding.hint);
            }
        }
    }
    Ok(if good { Exit::Done } else { Exit::Failed })
}

/// Agents can do without a browser, so its absence is no fault; a broken one is.
async fn browser(settings: &Settings) -> Finding {
    match browser::open(settings, &[]) {
        Some(browsers) => match browsers.check().await {
            Ok(how) => Finding::good("browser", how),
            Err(error) => absent(settings, &error.to_string()),
        },
        None => absent(settings, &browser::program(settings).err().unwrap_or_default()),
    }
}

fn absent(settings: &Settings, why: &str) -> Finding {
    if settings.chromium.is_some() {
        return Finding::bad("browser", why, browser::HINT);
    }
    let hint = browser::HINT;
    Finding::good("browser", format!("agents have none: {why}; to give them one, {hint}"))
}

async fn embeddings(settings: &Settings) -> Finding {
    let embedder = steward_models::embed::LazyMiniLm::new(&settings.embedding_dir);
    match embedder.embed(&["a probe".to_owned()]).await {
        Ok(vectors) => Finding::good("embeddings", format!("all-MiniLM-L6-v2, {} numbers", vectors[0].len())),
        Err(error) => Finding::bad("embeddings", error.to_string(), "run `make setup`"),
    }
}

async fn data(settings: &Settings, findings: &mut Vec<Finding>) {
    let app = match Composition::open(settings, Options::default()).await {
        Ok(app) => app,
        Err(error) => {
            // A directory in use is no fault: a server works there.
            let in_use =
                error.downcast_ref::<StoreError>().is_some_and(|error| matches!(error, StoreError::InUse { .. }));
            findings.push(if in_use {
                Finding::good("database", format!("{error:#}"))
            } else {
                Finding::bad("database", format!("{error:#}"), "see the message")
            });
            return;
        }
    };
    findings.push(match app.store.check().await {
        Ok(()) => Finding::good("database", "every page was checked"),
        Err(error) => Finding::bad("database", error.to_string(), "restore a backup"),
    });
    findings.push(vault(&app).await);
    let ports = MailPorts { vault: app.vault.clone(), users: app.store.clone() };
    for (name, tried) in integrations::doctor(settings, ports, app.clock.as_ref(), app.tenant).await {
        findings.push(match tried {
            Ok(detail) => Finding::good(&name, detail),
            Err(error) => Finding::bad(&name, error, "see docs/mail-and-calendar.md"),
        });
    }
    for known in &app.connections.known() {
        let name = format!("model {}", known.connection.name);
        findings.push(Finding::good(&name, format!("{} ({})", known.connection.model, known.from)));
    }
    if let Err(error) = app.models.select(None).await {
        findings.push(Finding::bad("model", error.message, error.hint));
    }
    match steward_models::local::fit(&settings.model) {
        Ok(fit) => findings.push(Finding::good("local model", fit.note)),
        Err(error) => {
            findings.push(Finding::bad("local model", error.to_string(), "run `make setup`, or give --model FILE"));
        }
    }
    app.close().await;
}

async fn vault(app: &Composition) -> Finding {
    let key = app.vault_keys.place();
    if let Err(error) = app.vault_keys.check().await {
        return Finding::bad("vault", error.to_string(), "see the message");
    }
    match app.vault.credentials(app.tenant, None, 1).await {
        Ok(page) if page.items.is_empty() => Finding::good("vault", format!("no credential yet; its key: {key}")),
        Ok(_) => Finding::good("vault", format!("its key opens the credentials: {key}")),
        Err(error) => Finding::bad("vault", error.to_string(), "see the message"),
    }
}
