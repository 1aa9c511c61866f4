//! `steward serve`: the API, and the runs behind it.

use crate::cli;
use crate::compose::{App, Options};
use crate::exit::Exit;
use crate::keys;
use crate::settings::{Settings, workspace};
use crate::term::Term;
use anyhow::{Context, anyhow};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use steward_access::{Access, AccessDeps, FirstStart};
use steward_api::{ApiState, Health, Listening, Probe};
use steward_core::ports::{Models as _, RunStore as _};

/// The user behind programs of this machine's owner.
const LOCAL_USER: &str = "local@steward";

/// Runs the command until SIGINT or SIGTERM.
pub async fn run(settings: Settings, args: cli::Serve, term: Term) -> anyhow::Result<Exit> {
    let begun = Instant::now();
    // The port first: a taken one must not touch the data directory.
    let listening = Listening::bind(&args.listen)
        .await
        .map_err(|why| anyhow!(why))?;
    let address = listening.address;
    let options = Options {
        web_allow: args.allow.clone(),
    };
    let app = App::open(&settings, options).await?;
    let folder = if let Some(dir) = &args.workspace {
        workspace(Some(dir))?
    } else {
        let own = settings.data_dir.join("workspace");
        std::fs::create_dir_all(&own).with_context(|| format!("cannot make {}", own.display()))?;
        workspace(Some(&own))?
    };
    app.default_agent().await?;
    let access = Arc::new(Access::new(AccessDeps {
        tenant: app.tenant,
        users: app.store.clone(),
        settings: app.store.clone(),
        clock: app.clock.clone(),
        ids: app.ids.clone(),
        signing_key: keys::signing_key(&settings.data_dir)?,
    }));
    let admin = settings
        .admin
        .as_ref()
        .map(|(email, password)| (email.as_str(), password.as_str()));
    let first = access.first_start(admin).await?;
    let key_file = local_key(&access, &settings.data_dir).await?;
    #[cfg(feature = "failpoints")]
    crate::crash::testify(&app.runs.deps().bus);
    fail::fail_point!("start.opened");
    app.runs.serve();
    fail::fail_point!("start.resumed");
    let state = ApiState {
        runs: app.runs.clone(),
        access,
        health: Arc::new(health(&app)),
        workspace: folder.display().to_string(),
        grants: Vec::new(),
    };
    tracing::info!(%address, ms = begun.elapsed().as_millis(), "serving");
    welcome(term, &address.to_string(), &first, &key_file, &app).await;
    steward_api::serve(listening, state, stopped()).await?;
    term.say("stopping; open runs go on at the next start");
    app.close().await;
    Ok(Exit::Done)
}

/// Resolves on SIGINT or SIGTERM.
async fn stopped() {
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(error) => {
                tracing::warn!(%error, "SIGTERM cannot be caught");
                std::future::pending::<()>().await;
            }
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

/// A key for programs of this machine's owner, in a file that only they can read.
async fn local_key(access: &Access, data_dir: &Path) -> anyhow::Result<std::path::PathBuf> {
    let path = data_dir.join("api-key");
    if path.exists() {
        return Ok(path);
    }
    access.service_user(LOCAL_USER, "local").await?;
    let key = access.new_api_key(LOCAL_USER).await?;
    keys::write_private(&path, &key)?;
    Ok(path)
}

fn health(app: &App) -> Health {
    let store = app.store.clone();
    let tenant = app.tenant;
    let database: Probe = Box::new(move || {
        let store = store.clone();
        Box::pin(async move {
            let filter = steward_core::ports::RunFilter {
                limit: 1,
                ..Default::default()
            };
            store
                .runs(tenant, filter)
                .await
                .map(|_| "answers".to_owned())
                .map_err(|error| error.to_string())
        })
    });
    let models = app.models.clone();
    let model: Probe = Box::new(move || {
        let models = models.clone();
        Box::pin(async move {
            models
                .select(None)
                .await
                .map(|connection| format!("{} ({})", connection.name, connection.model))
                .map_err(|error| error.to_string())
        })
    });
    let folder = app.embedding_dir.clone();
    let embeddings: Probe = Box::new(move || {
        let file = folder.join("model.onnx");
        Box::pin(async move {
            if file.is_file() {
                Ok("all-MiniLM-L6-v2, loaded when first used".to_owned())
            } else {
                Err(format!("{} is missing; run `make setup`", file.display()))
            }
        })
    });
    Health {
        probes: vec![
            ("database", true, database),
            ("model", false, model),
            ("embeddings", false, embeddings),
        ],
    }
}

async fn welcome(term: Term, address: &str, first: &FirstStart, key_file: &Path, app: &App) {
    let url = format!("http://{address}");
    term.say(&format!(
        "{} serves at {}",
        term.bold("Steward"),
        term.bold(&url)
    ));
    let default = app.models.select(None).await.ok();
    for known in &app.connections {
        let mark = if default
            .as_ref()
            .is_some_and(|one| one.id == known.connection.id)
        {
            "▸"
        } else {
            " "
        };
        term.say(&format!(
            "  {mark} model {} — {} ({})",
            known.connection.name, known.connection.model, known.from
        ));
    }
    match first {
        FirstStart::Ready => term.say(&format!(
            "Log in:  curl {url}/api/auth/login -H 'content-type: application/json' -d '{{\"email\": \"…\", \"password\": \"…\"}}'"
        )),
        FirstStart::Made { email } => term.say(&format!("Administrator {email} was made from the environment.")),
        FirstStart::Token(token) => term.say(&format!(
            "There is no administrator yet. Make one, once, with this token:\n  curl {url}/api/auth/setup -H 'content-type: application/json' -d '{{\"token\": \"{token}\", \"email\": \"you@example.org\", \"password\": \"…\"}}'"
        )),
    }
    term.say(&format!(
        "Ask:     curl {url}/v1/chat/completions -H \"authorization: Bearer $(cat {})\" -H 'content-type: application/json' \\\n           -d '{{\"model\": \"steward\", \"messages\": [{{\"role\": \"user\", \"content\": \"List the files.\"}}]}}'\n  or:    steward ask \"…\"   (another terminal, its own --data-dir)",
        key_file.display()
    ));
}
