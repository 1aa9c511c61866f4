use crate::api_state::{Front, ServerChecks, state};
use crate::application::{Tokens, access, signing_key};
use crate::cli;
use crate::compose::{Composition, Options};
use crate::nats;
use crate::reconfigure::{NatsParts, ServerParts, hosts, open_tls};
use crate::serving::Serving;
use crate::settings::Settings;
use crate::term::{Exit, Term};
use anyhow::{Context, anyhow};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use steward_access::{Access, FirstStart, LOCAL_USER, LoginLimits};
use steward_api::{Listening, certificate_check, keep_certificate};
use steward_app::config::keep_config;
use steward_app::{keep_tenants, work_in_background};
use steward_core::live::Live;
use steward_core::ports::Models as _;
use steward_models::memory;

/// After so long all parts have started.
const STARTED: Duration = Duration::from_secs(5);

/// Runs until SIGINT or SIGTERM.
pub async fn run(settings: Settings, args: cli::Serve, term: Term) -> anyhow::Result<Exit> {
    let begun = Instant::now();
    let settings = settings.serving(&args)?;
    // The server's own certificate, before anything else is touched.
    let tls = Live::new(open_tls(&settings)?);
    // The port first: if it is taken, the data directory must not be touched. Only the database may name another one.
    let early = if settings.listen_is_given() { Some(listen(&settings, &args).await?) } else { None };
    let app = Arc::new(Composition::open(&settings, Options { serving: true, ..Options::default() }).await?);
    let settings = &*app.settings.get();
    let listening = match early {
        Some(listening) => listening,
        None => listen(settings, &args).await?,
    };
    let listening = listening.with_tls(tls.clone());
    let address = listening.address;
    let folder = app.workspace()?;
    let shown = folder.display();
    if args.sample {
        let added = steward_tools::sample::add(&shown.to_string()).context("the sample workspace can't be added")?;
        term.say(&format!("{} sample files were added to {shown}", added.done.len()));
    }
    app.default_agent().await?;
    let tokens = Tokens { limits: LoginLimits::default(), signing_key: signing_key(settings)? };
    let access = access(&app, &tokens);
    let admin = settings.admin.as_ref().map(|(email, password)| (email.as_str(), password.as_str()));
    let first = access.first_start(admin).await?;
    let key_file = local_key(&access, &settings.data_dir).await?;
    #[cfg(feature = "failpoints")]
    crate::crash::testify(&app.runs.deps().bus);
    fail::fail_point!("start.opened");
    app.runs.serve();
    fail::fail_point!("start.resumed");
    let (opened, nats) = (nats::open(settings).await?, Live::default());
    let clock = app.shared.clock.clone();
    let (of_tls, of_nats) = (tls.clone(), nats.clone());
    let checks: ServerChecks =
        Box::new(move || vec![certificate_check(of_tls.clone(), clock.clone()), nats::check(of_nats.clone())]);
    let (hosts, parts) = (Live::new(hosts(address, settings)), Arc::new(OnceLock::new()));
    let front =
        Front { access, tokens, workspace: &folder, hosts: hosts.clone(), server: Arc::downgrade(&parts), checks };
    let state = state(&app, front).await?;
    let (tenants, home) = (state.tenants.clone(), state.tenants.installation().clone());
    let usage_writer = home.usage_writer.clone();
    app.warm_up();
    tracing::info!(%address, ms = begun.elapsed().as_millis(), "serving");
    let stop = steward_infra::stopped()?;
    // Other commands of the same owner find this server by the file.
    let fingerprint = tls.get().as_ref().as_ref().map(|tls| tls.status().fingerprint);
    let serving = Arc::new(Serving::announce(&settings.data_dir, address, fingerprint.as_deref())?);
    let url = format!("{}://{address}", if fingerprint.is_some() { "https" } else { "http" });
    welcome(term, &url, &first, &key_file, &app).await;
    if app.runs.deps().intent.files(&folder).is_empty() {
        term.say(&format!("Files:   {shown} is empty; put yours there, or try with a sample: steward sample add"));
    } else {
        term.say(&format!("Files:   {shown}"));
    }
    let mut background = work_in_background(&home, app.connections.clone());
    background.push(tokio::spawn(keep_config(home.clone())));
    background.push(tokio::spawn(give_back_memory()));
    if !app.shared.in_process {
        // Only other nodes may change them.
        background.push(tokio::spawn(keep_tenants(tenants.clone())));
    }
    let nats = NatsParts { connection: nats, answering: Arc::default(), state: state.clone() };
    nats.change(opened, settings.nats_act_as.as_deref()).await;
    let announced = serving.clone();
    let of_server = ServerParts { address, hosts, tls: tls.clone(), nats: nats.clone(), announced: announced.clone() };
    let _ = parts.set(of_server);
    let renewed = move |fingerprint: &str| announced.renew(Some(fingerprint));
    let certificate = tokio::spawn(keep_certificate(tls, home, renewed));
    let served = steward_api::serve(listening, state, stop).await;
    nats.stop().await;
    // They hold the application.
    drop((nats, parts));
    for task in &background {
        task.abort();
    }
    // It holds what announces the server.
    certificate.abort();
    let _ended = certificate.await;
    tenants.close_all().await;
    usage_writer.close().await;
    // Now the last connections end.
    drop(served?);
    drop(serving);
    term.say("stopping; open runs go on at the next start");
    app.close().await;
    Ok(Exit::Done)
}

/// What the start took for a moment.
async fn give_back_memory() {
    tokio::time::sleep(STARTED).await;
    // Nobody waits for it.
    drop(tokio::task::spawn_blocking(memory::give_back));
}

async fn listen(settings: &Settings, args: &cli::Serve) -> anyhow::Result<Listening> {
    let address = args.listen.clone().unwrap_or_else(|| settings.listen());
    Listening::bind(&address).await.map_err(|why| anyhow!(why))
}

/// A key for programs of this machine's owner, in a file that only they can read.
async fn local_key(access: &Access, data_dir: &Path) -> anyhow::Result<std::path::PathBuf> {
    let path = data_dir.join("api-key");
    if path.exists() {
        return Ok(path);
    }
    access.service_user(LOCAL_USER, "local").await?;
    let key = access.new_api_key(LOCAL_USER).await?;
    steward_infra::write_private(&path, &key)?;
    Ok(path)
}

async fn welcome(term: Term, url: &str, first: &FirstStart, key_file: &Path, app: &Composition) {
    term.say(&format!("{} serves at {}", term.bold("Steward"), term.bold(url)));
    let default = app.models.select(None).await.ok();
    for known in app.connections.known() {
        let mark = if default.as_ref().is_some_and(|one| one.id == known.connection.id) { "▸" } else { " " };
        term.say(&format!("  {mark} model {} — {} ({})", known.connection.name, known.connection.model, known.from));
    }
    match first {
        FirstStart::Ready => term.say(&format!("Log in:  {url}/login")),
        FirstStart::Made { email } => {
            term.say(&format!("Administrator {email} was made from the environment. Log in: {url}/login"));
        }
        // After the #, so that it appears in no log of a server or proxy.
        FirstStart::Token(token) => {
            term.say("There is no administrator yet. Open this link once and become it:");
            term.say(&format!("  {}", term.bold(&format!("{url}/setup#token={token}"))));
        }
    }
    let key = key_file.display();
    term.say(&format!(
        "Ask:     curl {url}/v1/chat/completions -H \"authorization: Bearer $(cat {key})\" -H 'content-type: application/json' \\"
    ));
    let question = r#"{"model": "steward", "messages": [{"role": "user", "content": "List the files."}]}"#;
    term.say(&format!("           -d '{question}'"));
    term.say("  or:    steward ask \"…\"   (another terminal)");
}
