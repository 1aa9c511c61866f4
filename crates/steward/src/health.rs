//! What is looked at: by `doctor`, by `/readyz` and the page About, and by `/api/admin/health`.

use crate::compose::{Composition, python_config, sandbox_helper};
use crate::integrations;
use crate::settings::Settings;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use steward_app::dto::about::PartStatus;
use steward_app::{Check, Found};
use steward_core::model::{ModelErrorClass, Provider};
use steward_core::ports::{Embedder, Models as _, RunFilter, Vault as _};
use steward_models::embed::LazyMiniLm;
use steward_models::local::fit;
use steward_sandbox::process::Sandbox;
use steward_sandbox::python::PythonPool;
use steward_tools::mail::MailPorts;

/// For checks that start programs.
const PROGRAMS: Duration = Duration::from_secs(20);
/// For an answer of another server.
const SERVERS: Duration = Duration::from_secs(6);
/// With less room than this something will fail soon, bytes.
const ROOM: u64 = 1 << 30;

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
    vec![
        database(parts),
        data_dir(parts),
        vault(parts),
        model(parts),
        embedding_endpoints(parts),
        connections(parts),
        local_model(parts),
        mcp(parts),
        others(parts),
    ]
}

/// What a tenant beside the default one has of its own.
pub fn of_tenant(parts: &Composition) -> Vec<Check> {
    vec![database(parts), model(parts), embedding_endpoints(parts)]
}

fn database(parts: &Composition) -> Check {
    let (store, tenant) = (Arc::clone(&parts.store), parts.tenant);
    let probe = move || {
        let store = Arc::clone(&store);
        async move {
            let read = store.runs(tenant, RunFilter { limit: 1, ..RunFilter::default() }).await;
            let described = match read {
                Ok(_) => store.describe().await,
                Err(error) => Err(error),
            };
            vec![match described {
                Ok((name, version)) => Found::ok(format!("{name} {version} answers")),
                Err(error) => Found::down(error.to_string(), "look at the database and its log"),
            }]
        }
    };
    Check::new("database", probe.clone()).quick(probe).needed()
}

fn data_dir(parts: &Composition) -> Check {
    let (folder, name) = (parts.data_dir.clone(), format!("probe-{}", parts.ids.next()));
    Check::new("data folder", move || {
        let (folder, name) = (folder.clone(), name.clone());
        async move {
            let tried = tokio::task::spawn_blocking(move || write_and_read(&folder, &name)).await;
            vec![tried.unwrap_or_else(|error| Found::down(error.to_string(), ""))]
        }
    })
    .needed()
}

fn write_and_read(folder: &Path, name: &str) -> Found {
    let path = folder.join(name);
    let tried = std::fs::write(&path, name).and_then(|()| std::fs::read(&path));
    let removed = std::fs::remove_file(&path);
    match tried {
        Ok(bytes) if bytes == name.as_bytes() && removed.is_ok() => {}
        Ok(_) => return Found::down(format!("{} does not keep what is written", folder.display()), "check the disk"),
        Err(error) => {
            return Found::down(format!("{}: {error}", folder.display()), "make room, or give the folder to this user");
        }
    }
    let room = rustix::fs::statvfs(folder).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize));
    let detail = format!("{} can be written; {} MB are free", folder.display(), room >> 20);
    if room >= ROOM {
        return Found::ok(detail);
    }
    Found { hint: "make room on the disk".to_owned(), ..Found::new(PartStatus::Degraded, detail) }
}

fn vault(parts: &Composition) -> Check {
    let (keys, tenant) = (Arc::clone(&parts.vault_keys), parts.tenant);
    Check::new("vault", move || {
        let keys = Arc::clone(&keys);
        async move {
            let place = keys.place();
            let tried = match keys.check().await {
                Ok(()) => keys.credentials(tenant, None, 1).await,
                Err(error) => Err(error),
            };
            vec![match tried {
                Ok(page) if page.items.is_empty() => Found::ok(format!("no credential yet; its key: {place}")),
                Ok(_) => Found::ok(format!("its key opens the credentials: {place}")),
                Err(error) => Found::down(error.to_string(), ""),
            }]
        }
    })
}

/// Embedding models at endpoints, as they did when documents or questions needed them.
fn embedding_endpoints(parts: &Composition) -> Check {
    let status = Arc::clone(&parts.embedding_status);
    let probe = move || {
        let all = status.all();
        let found = all.iter().map(|(model, health)| {
            let found = match &health.problem {
                None => Found::ok("answered when it was last asked"),
                Some(problem) => Found {
                    hint: "documents are found by words meanwhile; look at its connection on the page Models"
                        .to_owned(),
                    ..Found::new(PartStatus::Degraded, problem.clone())
                },
            };
            found.named(format!("embeddings: {model}"))
        });
        let found: Vec<Found> = found.collect();
        std::future::ready(if found.is_empty() {
            vec![Found::off("none was asked since the start").named("embedding endpoints".to_owned())]
        } else {
            found
        })
    };
    Check::new("embeddings:", probe.clone()).quick(probe)
}

fn model(parts: &Composition) -> Check {
    let models = Arc::clone(&parts.models);
    let probe = move || {
        let models = Arc::clone(&models);
        async move {
            vec![match models.select(None).await {
                Ok(chosen) => Found::ok(format!("{} ({})", chosen.name, chosen.model)),
                Err(error) => Found::down(error.message, error.hint),
            }]
        }
    };
    Check::new("model", probe.clone()).quick(probe)
}

/// Each connection but the built-in model is asked for its models.
fn connections(parts: &Composition) -> Check {
    let registry = Arc::clone(&parts.connections);
    Check::new("connection", move || {
        let registry = Arc::clone(&registry);
        async move {
            let tried = registry.probe(SERVERS).await;
            tried
                .into_iter()
                .map(|(name, tried)| {
                    let found = match tried {
                        Ok(detail) => Found::ok(detail),
                        Err(error) => Found { hint: error.hint, ..Found::new(reached(error.class), error.message) },
                    };
                    found.named(name)
                })
                .collect()
        }
    })
    .within(SERVERS * 2)
}

/// A server that answers something else than its models may still do its work.
fn reached(class: ModelErrorClass) -> PartStatus {
    match class {
        ModelErrorClass::Connect | ModelErrorClass::Timeout | ModelErrorClass::Auth => PartStatus::Down,
        _ => PartStatus::Degraded,
    }
}

fn local_model(parts: &Composition) -> Check {
    let (file, local, registry) =
        (parts.settings.model.clone(), Arc::clone(&parts.local), Arc::clone(&parts.connections));
    Check::new("local model", move || {
        let (file, local, registry) = (file.clone(), Arc::clone(&local), Arc::clone(&registry));
        async move {
            let found = match fit(&file) {
                Ok(fit) => match local.process_id().await {
                    Some(pid) => Found::ok(format!("{fit}; at work as process {pid}")),
                    None => Found::ok(format!("{fit}; it starts when it is first asked")),
                },
                Err(error) => {
                    let others = registry.known().iter().any(|known| known.connection.provider != Provider::Local);
                    let hint = "run `make setup`, or give --model FILE";
                    let status = if others { PartStatus::Off } else { PartStatus::Down };
                    Found { hint: hint.to_owned(), ..Found::new(status, error.to_string()) }
                }
            };
            vec![found]
        }
    })
}

/// Each server is asked for its tools; those where each user logs in can't be asked for all.
fn mcp(parts: &Composition) -> Check {
    let (hub, tenant) = (Arc::clone(&parts.mcp), parts.tenant);
    Check::new("MCP server", move || {
        let hub = Arc::clone(&hub);
        async move {
            let servers = match hub.servers().mcp_servers(tenant).await {
                Ok(servers) => servers,
                Err(error) => return vec![Found::down(error.to_string(), "")],
            };
            let asked = servers.into_iter().map(|server| {
                let hub = Arc::clone(&hub);
                async move {
                    let found = if !server.enabled {
                        Found::off("switched off")
                    } else if server.per_user {
                        Found::ok("each user has a login of their own, so it is not asked here")
                    } else {
                        match tokio::time::timeout(SERVERS, hub.check(tenant, server.id, None)).await {
                            Ok(Ok(seen)) => match seen.error {
                                None => Found::ok(format!("{} tools", seen.tools.len())),
                                Some(why) => Found::down(why, ""),
                            },
                            Ok(Err(error)) => Found::down(error.to_string(), ""),
                            Err(_) => Found::down(format!("there was no answer within {} s", SERVERS.as_secs()), ""),
                        }
                    };
                    found.named(server.name)
                }
            });
            futures::future::join_all(asked).await
        }
    })
    .within(SERVERS * 2)
}

/// Web search and mail.
fn others(parts: &Composition) -> Check {
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
