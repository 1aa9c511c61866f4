//! The checks of what an installation has, whichever program opens it.

use super::{Check, Found};
use crate::app::AppError;
use crate::connections::ConnectionRegistry;
use crate::disk_room::DiskRoom;
use crate::document_service::EmbeddingStatus;
use crate::dto::about::PartStatus;
use crate::retention::held_back;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use steward_access::SealedVault;
use steward_core::TenantId;
use steward_core::model::{ModelErrorClass, Provider};
use steward_core::ports::{Clock, Embedder, Models, RunFilter, Vault};
use steward_models::local::{Supervisor, fit};
use steward_store::Store;
use steward_tools::browser::Browsers;
use steward_tools::mail::MailAccounts;
use steward_tools::mcp::McpHub;
use steward_tools::search::{SearchConfig, probe_search};

/// For checks that start programs.
pub const PROGRAMS: Duration = Duration::from_secs(20);
/// For an answer of another server.
const SERVERS: Duration = Duration::from_secs(6);
/// With less room than this something will fail soon, bytes.
const ROOM: u64 = 1 << 30;

const BROWSER_HINT: &str = "install Chromium (package `chromium`), or name a Chromium or Chrome in STEWARD_CHROMIUM";

pub fn database(store: Arc<Store>, tenant: TenantId) -> Check {
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

/// Closes what lies in a folder to others, and answers with its mode if others may enter it.
pub type CloseFolder = fn(&Path) -> std::io::Result<Option<u32>>;

/// `probe`: name of a file that is written, read and removed.
pub fn data_folder(folder: PathBuf, probe: String, close: CloseFolder) -> Check {
    Check::new("data folder", move || {
        let (folder, name) = (folder.clone(), probe.clone());
        async move {
            let tried = tokio::task::spawn_blocking(move || write_and_read(&folder, &name, close)).await;
            vec![tried.unwrap_or_else(|error| Found::down(error.to_string(), ""))]
        }
    })
    .needed()
}

fn write_and_read(folder: &Path, name: &str, close: CloseFolder) -> Found {
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
    // Folders that were made since the start are closed here.
    if let Ok(Some(mode)) = close(folder) {
        return Found {
            hint: "chmod 700 keeps them out (StateDirectoryMode=0700 of systemd)".to_owned(),
            ..Found::new(PartStatus::Degraded, format!("{detail}; other users may enter it (mode {mode:o})"))
        };
    }
    if room >= ROOM {
        return Found::ok(detail);
    }
    Found { hint: "make room on the disk".to_owned(), ..Found::new(PartStatus::Degraded, detail) }
}

/// Whether more than the reserve is free; uploads, documents and new runs are refused else.
pub fn disk_room(disk: Arc<DiskRoom>) -> Check {
    let look = move || {
        std::future::ready(vec![match disk.shortage() {
            None => Found::ok("there is room for uploads, documents and runs"),
            Some(shortage) => {
                let error = AppError::from(shortage);
                Found::down(error.detail.title, "uploads, documents and new runs are refused; make room on the disk")
            }
        }])
    };
    Check::new("disk", look.clone()).quick(look).needed()
}

/// Whether a deletion by age waits for an administrator.
pub fn deletions(store: Arc<Store>, tenant: TenantId) -> Check {
    Check::new("deletion of old data", move || {
        let store = Arc::clone(&store);
        async move {
            match held_back(&store, tenant).await {
                Ok(held) if held.is_empty() => vec![Found::ok("nothing waits for an administrator")],
                Ok(held) => {
                    let waits = held.into_iter().map(|one| Found {
                        hint: format!("{} (studio: Governance; `steward audit deletions --agree`)", one.hint),
                        ..Found::new(PartStatus::Degraded, format!("{}: nothing is deleted: {}", one.by, one.message))
                    });
                    waits.collect()
                }
                Err(error) => vec![Found::down(error.to_string(), "look at the database and its log")],
            }
        }
    })
}

/// Whether the files that were sent are all there.
pub fn originals(store: Arc<Store>, tenant: TenantId) -> Check {
    Check::new("documents", move || {
        let store = Arc::clone(&store);
        async move {
            vec![match store.lost_documents(tenant).await {
                Ok(0) => Found::ok("no file of a document is missing"),
                Ok(lost) => Found {
                    hint: "send them again, or put them back from a backup of the data folder; the documents say which"
                        .to_owned(),
                    ..Found::new(PartStatus::Degraded, format!("the files of {lost} documents are missing"))
                },
                Err(error) => Found::down(error.to_string(), "look at the database and its log"),
            }]
        }
    })
}

pub fn vault(keys: Arc<SealedVault>, tenant: TenantId) -> Check {
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
pub fn embedding_endpoints(status: Arc<EmbeddingStatus>) -> Check {
    let probe = move || {
        let all = status.all();
        let found = all.iter().map(|(model, health)| {
            let found = match &health.problem {
                None => Found::ok("answered when it was last asked"),
                Some(problem) => Found {
                    hint: "documents are found by words meanwhile; look at its connection on the page Connections"
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

/// The model that a run is given by default.
pub fn model(models: Arc<dyn Models>) -> Check {
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

/// The connections that settings name for planning and for the rest; nothing where they name none.
pub fn roles(registry: Arc<ConnectionRegistry>) -> Check {
    let probe = move || {
        let found = registry.roles().into_iter().map(|(role, named)| {
            let found = match named {
                Ok(chosen) => Found::ok(format!("{} ({}), by {}", chosen.name, chosen.model, role.setting())),
                Err(error) => Found::down(format!("{}; runs that need it are refused", error.message), error.hint),
            };
            found.named(role.name())
        });
        std::future::ready(found.collect())
    };
    Check::new("", probe.clone()).quick(probe)
}

/// Each connection but the built-in model is asked for its models.
pub fn connections(registry: Arc<ConnectionRegistry>) -> Check {
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

pub fn local_model(file: PathBuf, local: Arc<Supervisor>, registry: Arc<ConnectionRegistry>) -> Check {
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
                    let hint = "run `make setup`, or give --model-file FILE";
                    let status = if others { PartStatus::Off } else { PartStatus::Down };
                    Found { hint: hint.to_owned(), ..Found::new(status, error.to_string()) }
                }
            };
            vec![found]
        }
    })
}

/// Each server is asked for its tools; those where each user logs in can't be asked for all.
pub fn mcp(hub: Arc<McpHub>, tenant: TenantId) -> Check {
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

/// `find`: the browser, or why there is none. Agents can do without one, so its absence is no fault unless it is `wanted`.
pub fn browser(find: impl Fn() -> Result<Browsers, String> + Send + Sync + 'static, wanted: bool) -> Check {
    Check::new("browser", move || {
        let found = find();
        async move {
            let tried = match found {
                Ok(browsers) => browsers.check().await.map_err(|error| error.to_string()),
                Err(why) => Err(why),
            };
            vec![match tried {
                Ok(how) => Found::ok(how),
                Err(why) if wanted => Found::down(why, BROWSER_HINT),
                Err(why) => Found::off(format!("agents have none: {why}; to give them one, {BROWSER_HINT}")),
            }]
        }
    })
    .within(PROGRAMS)
}

/// The embedding model of this program, whose files are in `folder`.
pub fn embeddings(embedder: Arc<dyn Embedder>, folder: &Path) -> Check {
    let file = folder.join("model.onnx");
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
    })
}

/// Asks the operator's own search engine for a connection; a search is not made.
pub fn web_search(
    config: Option<SearchConfig>,
    vault: Arc<dyn Vault>,
    clock: Arc<dyn Clock>,
    tenant: TenantId,
) -> Check {
    Check::new("web search", move || {
        let (config, vault, now) = (config.clone(), Arc::clone(&vault), clock.now());
        async move {
            vec![match &config {
                Some(config) => {
                    tried(probe_search(config, vault.as_ref(), tenant, now).await, "see docs/web-search.md")
                }
                None => Found::off("not set up; choose an engine with STEWARD_SEARCH=searxng, brave or duckduckgo"),
            }]
        }
    })
}

/// Mail accounts are tried by logging in. `file`: where they are described.
pub fn mail(accounts: Arc<MailAccounts>, file: PathBuf, clock: Arc<dyn Clock>, tenant: TenantId) -> Check {
    Check::new("mail", move || {
        let (accounts, now) = (Arc::clone(&accounts), clock.now());
        let missing = format!("not set up; describe an account in {}", file.display());
        async move {
            let all = accounts.probe(tenant, now).await;
            if all.is_empty() {
                return vec![Found::off(missing)];
            }
            all.into_iter().map(|(name, found)| tried(found, "see docs/mail-and-calendar.md").named(name)).collect()
        }
    })
    .within(PROGRAMS)
}

fn tried(found: Result<String, String>, hint: &str) -> Found {
    found.map_or_else(|why| Found::down(why, hint), Found::ok)
}
