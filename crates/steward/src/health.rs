//! What is looked at: by `doctor`, by `/readyz` and the page About, and by `/api/admin/health`.

use crate::compose::{Composition, python_config, sandbox_helper};
use crate::integrations;
use crate::settings::Settings;
use std::sync::Arc;
use std::time::Duration;
use steward_app::{Check, Found, checks};
use steward_core::ports::Embedder;
use steward_models::embed::LazyMiniLm;
use steward_sandbox::process::Sandbox;
use steward_sandbox::python::PythonPool;
use steward_tools::mail::MailPorts;

/// For checks that start programs.
const PROGRAMS: Duration = Duration::from_secs(20);

/// What can be looked at without the data directory.
pub fn of_machine(settings: &Settings, embedder: Option<Arc<dyn Embedder>>) -> Vec<Check> {
    let embedder = embedder.unwrap_or_else(|| Arc::new(LazyMiniLm::new(&settings.embedding_dir)));
    let file = settings.embedding_dir.join("model.onnx");
    let all = || settings.clone();
    let (sandbox, python, browsers) = (all(), all(), all());
    vec![
        Check::new("sandbox:", move || {
            let helper = sandbox_helper(&sandbox);
            async move {
                Sandbox::new(helper)
                    .doctor()
                    .await
                    .into_iter()
                    .map(|check| line(check.name, check.ok, check.detail, check.hint))
                    .collect()
            }
        })
        .within(PROGRAMS),
        Check::new("python:", move || {
            let (helper, config) = (sandbox_helper(&python), python_config(&python));
            async move {
                PythonPool::new(helper, config)
                    .doctor()
                    .await
                    .into_iter()
                    .map(|check| line(check.name, check.ok, check.detail, check.hint))
                    .collect()
            }
        })
        .within(PROGRAMS),
        Check::new("browser", move || {
            let settings = browsers.clone();
            async move { vec![browser(&settings).await] }
        })
        .within(PROGRAMS),
        Check::new("embeddings", move || {
            let embedder = Arc::clone(&embedder);
            async move {
                vec![match embedder.embed(&["a probe".to_owned()]).await {
                    Ok(vectors) => Found::ok(format!("all-MiniLM-L6-v2, {} numbers", vectors[0].len())),
                    Err(error) => Found::down(error.to_string(), "run `make setup`"),
                }]
            }
        })
        .within(PROGRAMS)
        .quick(move || {
            let found = if file.is_file() {
                Found::ok("all-MiniLM-L6-v2, loaded when first used")
            } else {
                Found::down(format!("{} is missing", file.display()), "run `make setup`")
            };
            std::future::ready(vec![found])
        }),
    ]
}

fn line(name: String, ok: bool, detail: String, hint: Option<String>) -> Found {
    let found = if ok { Found::ok(detail) } else { Found::down(detail, hint.unwrap_or_default()) };
    found.named(name)
}

/// Agents can do without a browser, so its absence is no fault; a broken one is.
async fn browser(settings: &Settings) -> Found {
    let why = match integrations::browsers(settings, sandbox_helper(settings), &[]) {
        Some(browsers) => match browsers.check().await {
            Ok(how) => return Found::ok(how),
            Err(error) => error.to_string(),
        },
        None => integrations::browser_program(settings).err().unwrap_or_default(),
    };
    if settings.chromium.is_some() {
        return Found::down(why, integrations::BROWSER_HINT);
    }
    Found::off(format!("agents have none: {why}; to give them one, {}", integrations::BROWSER_HINT))
}

/// What an opened installation has besides.
pub fn of_installation(parts: &Composition) -> Vec<Check> {
    let (tenant, registry) = (parts.tenant, || Arc::clone(&parts.connections));
    let probe = format!("probe-{}", parts.ids.next());
    vec![
        checks::database(Arc::clone(&parts.store), tenant),
        checks::data_folder(parts.data_dir.clone(), probe),
        checks::vault(Arc::clone(&parts.vault_keys), tenant),
        checks::model(parts.models.clone()),
        checks::embedding_endpoints(Arc::clone(&parts.embedding_status)),
        checks::connections(registry()),
        checks::local_model(parts.settings.model.clone(), Arc::clone(&parts.local), registry()),
        checks::mcp(Arc::clone(&parts.mcp), tenant),
        search_and_mail(parts),
    ]
}

/// What a tenant beside the default one has of its own.
pub fn of_tenant(parts: &Composition) -> Vec<Check> {
    vec![
        checks::database(Arc::clone(&parts.store), parts.tenant),
        checks::model(parts.models.clone()),
        checks::embedding_endpoints(Arc::clone(&parts.embedding_status)),
    ]
}

fn search_and_mail(parts: &Composition) -> Check {
    let settings = parts.settings.clone();
    let (vault, users) = (Arc::clone(&parts.vault), Arc::clone(&parts.store));
    let (clock, tenant) = (Arc::clone(&parts.clock), parts.tenant);
    Check::new("", move || {
        let (settings, clock) = (settings.clone(), Arc::clone(&clock));
        let mail = MailPorts { vault: Arc::clone(&vault), users: users.clone() };
        async move {
            let lines = integrations::doctor(&settings, mail, clock.as_ref(), tenant).await;
            lines
                .into_iter()
                .map(|(name, tried)| {
                    let found = match tried {
                        Ok(detail) if detail.starts_with("not set up") => Found::off(detail),
                        Ok(detail) => Found::ok(detail),
                        Err(error) => Found::down(error, "see docs/mail-and-calendar.md"),
                    };
                    found.named(name)
                })
                .collect()
        }
    })
    .within(PROGRAMS)
}
