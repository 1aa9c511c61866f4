//! What is looked at: by `doctor`, by `/readyz` and the page About, and by `/api/admin/health`.

use crate::compose::{Composition, browser_config, python_config, sandbox_helper};
use crate::settings::{MAIL, Settings};
use std::sync::Arc;
use steward_app::{Check, Found, checks};
use steward_core::live::Live;
use steward_core::ports::Embedder;
use steward_infra::close_data_dir;
use steward_sandbox::process::{Check as Line, Sandbox};
use steward_sandbox::python::PythonPool;
use steward_tools::browser::Browsers;
use steward_tools::mail::{MailAccounts, MailConfig, MailPorts};

/// What can be looked at without the data directory.
pub fn of_machine(settings: &Settings, embedder: Arc<dyn Embedder>) -> Vec<Check> {
    let (helper, python, all) = (sandbox_helper(settings), python_config(settings), settings.clone());
    let confined = helper.clone();
    vec![
        several("sandbox:", move || {
            let sandbox = Sandbox::new(confined.clone());
            async move { sandbox.doctor().await }
        }),
        several("python:", move || {
            let pool = PythonPool::new(helper.clone(), python.clone());
            async move { pool.doctor().await }
        }),
        checks::browser(move || browser_config(&all, &Live::default()).map(Browsers::new), settings.chromium.is_some()),
        checks::embeddings(embedder, &settings.embedding_dir),
    ]
}

fn several<F>(name: &'static str, doctor: impl Fn() -> F + Send + Sync + 'static) -> Check
where
    F: Future<Output = Vec<Line>> + Send + 'static,
{
    let line = |Line { name, ok, detail, hint }| {
        let found = if ok { Found::ok(detail) } else { Found::down(detail, hint.unwrap_or_default()) };
        found.named(name)
    };
    Check::new(name, move || {
        let looked = doctor();
        async move { looked.await.into_iter().map(line).collect() }
    })
    .within(checks::PROGRAMS)
}

/// What an opened installation has besides.
pub fn of_installation(parts: &Composition) -> Vec<Check> {
    let (shared, settings, tenant) = (&parts.shared, parts.settings.get(), parts.tenant);
    let probe = format!("probe-{}", shared.ids.next());
    let for_mail = MailPorts { vault: shared.vault_keys.clone(), users: shared.store.clone() };
    let accounts =
        Arc::new(MailAccounts::new(MailConfig { allow: shared.web_allow.copy(), ..settings.mail.clone() }, for_mail));
    vec![
        checks::database(shared.store.clone(), tenant),
        checks::data_folder(settings.data_dir.clone(), probe, |folder| close_data_dir(folder, "workspace")),
        checks::originals(shared.store.clone(), tenant),
        checks::deletions(shared.store.clone(), tenant),
        checks::vault(shared.vault_keys.clone(), tenant),
        checks::model(parts.models.clone()),
        checks::roles(parts.connections.clone()),
        checks::embedding_endpoints(parts.embedding_status.clone()),
        checks::connections(parts.connections.clone()),
        checks::local_model(settings.model.clone(), shared.local.clone(), parts.connections.clone()),
        checks::mcp(parts.mcp.clone(), tenant),
        checks::web_search(settings.search.clone(), shared.vault_keys.clone(), shared.clock.clone(), tenant),
        checks::mail(accounts, settings.data_dir.join(MAIL), shared.clock.clone(), tenant),
    ]
}

/// What a tenant beside the default one has of its own.
pub fn of_tenant(parts: &Composition) -> Vec<Check> {
    vec![
        checks::database(parts.shared.store.clone(), parts.tenant),
        checks::originals(parts.shared.store.clone(), parts.tenant),
        checks::deletions(parts.shared.store.clone(), parts.tenant),
        checks::model(parts.models.clone()),
        checks::embedding_endpoints(parts.embedding_status.clone()),
    ]
}
