//! The model server: HTTP/1.1 on a Unix socket in front of the inference thread.

mod chat;
mod request;
mod routes;

use super::infer::{self, Job, LoadRequest, Refusal, Shared};
use super::{Endpoint, GgufHeader, LocalModelError, ServeTuning};
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use secrecy::SecretString;
use std::convert::Infallible;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

const QUEUE: usize = 32;
/// Longest Unix socket path, bytes without the terminator.
const PATH_LIMIT: usize = 107;
const END_GRACE: Duration = Duration::from_secs(3);

struct App {
    token: SecretString,
    alias: String,
    started: Instant,
    /// When it started, since 1970 UTC. The ids of its answers begin with it, so that none comes twice.
    born: Duration,
    counter: AtomicU64,
    jobs: mpsc::Sender<Job>,
    shared: Arc<Shared>,
    activity: Activity,
}

/// At once, or events as they come.
type ReplyBody = UnsyncBoxBody<Bytes, Infallible>;

impl App {
    /// No name means this model.
    fn check_model(&self, asked: Option<&str>) -> Result<(), Refusal> {
        match asked {
            None | Some("") => Ok(()),
            Some(name) if name == self.alias => Ok(()),
            Some(name) => {
                let message = format!("no model `{name}` here; this server has `{}`", self.alias);
                Err(Refusal::invalid("model", message).with(404, "model_not_found"))
            }
        }
    }

    fn submit(&self, job: Job) -> Result<(), Refusal> {
        self.jobs.try_send(job).map_err(|e| match e {
            mpsc::error::TrySendError::Full(_) => {
                Refusal::internal("too many requests wait for the local model; try again later").with(503, "queue_full")
            }
            mpsc::error::TrySendError::Closed(_) => self.ended(),
        })
    }

    #[expect(clippy::unused_self, reason = "belongs to the server's words")]
    fn ended(&self) -> Refusal {
        Refusal::internal("the model server is ending; ask again").with(503, "ending")
    }
}

/// Blocks until the end is asked for.
pub(crate) fn run(model: PathBuf, endpoint: Endpoint, tuning: ServeTuning) -> Result<(), LocalModelError> {
    infer::check_processor()?;
    // First, so that a wrong path is reported at once.
    GgufHeader::read(&model)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| LocalModelError::Io { doing: "starting the runtime", source })?;
    let socket = endpoint.socket_path.clone();
    let result = runtime.block_on(serve(model, endpoint, tuning));
    // A leftover socket would look like a server to the next one; missing is fine.
    let _ = std::fs::remove_file(&socket);
    runtime.shutdown_background();
    result
}

async fn serve(model: PathBuf, endpoint: Endpoint, tuning: ServeTuning) -> Result<(), LocalModelError> {
    let listener = bind(&endpoint.socket_path)?;
    let shared = Arc::new(Shared::default());
    let (jobs, queue) = mpsc::channel(QUEUE);
    let (ended_sender, mut ended) = oneshot::channel();
    let request = LoadRequest { path: model, threads: tuning.threads, context_tokens: tuning.context_tokens };
    let theirs = Arc::clone(&shared);
    std::thread::Builder::new()
        .name("inference".to_owned())
        .spawn(move || {
            let _ = ended_sender.send(infer::run(&request, &theirs, queue));
        })
        .map_err(|source| LocalModelError::Io { doing: "starting the inference thread", source })?;
    let activity = Activity::new();
    let app = Arc::new(App {
        token: endpoint.token,
        alias: tuning.alias,
        started: Instant::now(),
        born: now(),
        counter: AtomicU64::new(1),
        jobs,
        shared: Arc::clone(&shared),
        activity: activity.clone(),
    });
    let result = tokio::select! {
        () = accept(listener, app) => Ok(()),
        reason = leave(tuning.idle_exit, &activity) => {
            tracing::debug!(reason, "model server ends");
            Ok(())
        }
        outcome = &mut ended => return outcome.unwrap_or(Ok(())),
    };
    shared.end();
    let _ = tokio::time::timeout(END_GRACE, ended).await;
    result
}

#[expect(clippy::disallowed_methods, reason = "a process of its own, which no run is replayed in")]
fn now() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

fn bind(path: &Path) -> Result<UnixListener, LocalModelError> {
    let length = path.as_os_str().as_bytes().len();
    if length > PATH_LIMIT {
        return Err(LocalModelError::SocketPathTooLong { path: path.into(), length, limit: PATH_LIMIT });
    }
    let fail = |source| LocalModelError::Socket { path: path.into(), source };
    // Left by a server that was killed; a running one has a name of its own.
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(fail(e)),
        _ => {}
    }
    // The mask closes the gap between creating the socket and setting its mode; no other thread of this process
    // creates files yet.
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(before);
    let listener = listener.map_err(fail)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(fail)?;
    Ok(listener)
}

async fn accept(listener: UnixListener, app: Arc<App>) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Probably out of descriptors: wait for some to be closed.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let app = Arc::clone(&app);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let app = Arc::clone(&app);
                async move { Ok::<_, std::convert::Infallible>(routes::handle(app, request).await) }
            });
            let served =
                http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await;
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
}

async fn leave(idle_exit: Option<Duration>, activity: &Activity) -> &'static str {
    let signalled = async {
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => drop(terminate.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = signalled => "asked by signal",
        () = stdin_end() => "parent gone",
        () = unused(idle_exit, activity) => "idle",
    }
}

/// Reads in a thread, since there is no other portable way to notice the end of standard input. A parent-death signal
/// would fire when the *thread* that started the child ends.
async fn stdin_end() {
    let (sender, receiver) = oneshot::channel::<()>();
    let started = std::thread::Builder::new().name("parent-watch".to_owned()).spawn(move || {
        let mut scratch = [0; 64];
        while matches!(std::io::stdin().read(&mut scratch), Ok(n) if n > 0) {}
        let _ = sender.send(());
    });
    if started.is_ok() {
        let _ = receiver.await;
    }
}

async fn unused(idle_exit: Option<Duration>, activity: &Activity) {
    let Some(limit) = idle_exit else {
        return std::future::pending().await;
    };
    let mut tick = tokio::time::interval(Duration::from_millis(250));
    loop {
        tick.tick().await;
        if activity.idle().is_some_and(|idle| idle >= limit) {
            return;
        }
    }
}

#[derive(Clone)]
struct Activity {
    state: Arc<Mutex<State>>,
}

struct State {
    open: usize,
    /// When the last request ended, at first when somebody saw that the model is loaded: until then it isn't idle.
    since: Option<Instant>,
}

struct Busy(Activity);

impl Activity {
    pub fn new() -> Self {
        Self { state: Arc::new(Mutex::new(State { open: 0, since: None })) }
    }

    pub fn begin(&self) -> Busy {
        self.change(|open| open + 1);
        Busy(self.clone())
    }

    /// The model is loaded, and who started the server knows.
    pub fn seen_ready(&self) {
        lock(&self.state).since.get_or_insert_with(Instant::now);
    }

    /// Time since the last request ended; `None` while there is one, and before anybody knows that there can be.
    pub fn idle(&self) -> Option<Duration> {
        let state = lock(&self.state);
        state.since.filter(|_| state.open == 0).map(|since| since.elapsed())
    }

    fn change(&self, by: impl FnOnce(usize) -> usize) {
        let mut state = lock(&self.state);
        state.open = by(state.open);
        state.since = Some(Instant::now());
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.change(|open| open.saturating_sub(1));
    }
}
