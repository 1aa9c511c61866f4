use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

use super::activity::Activity;
use super::routes::{self, App};
use crate::local::infer::{self, LoadRequest, Shared};
use crate::local::{GgufHeader, LocalModelError, ServeOptions, ServeTuning};

/// Jobs that may wait.
const QUEUE: usize = 32;
/// Bytes of a Unix socket path, without its terminator.
const PATH_LIMIT: usize = 107;
/// How long the inference thread may take to notice the end.
const END_GRACE: Duration = Duration::from_secs(3);

/// Serves until the end is asked for; blocks.
pub(in crate::local) fn run(options: ServeOptions) -> Result<(), LocalModelError> {
    infer::check_processor()?;
    // Before anything else, so that a wrong path is told at once.
    GgufHeader::read(&options.model_path)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| LocalModelError::Io { doing: "starting the runtime", source })?;
    let socket = options.socket_path.clone();
    let result = runtime.block_on(serve(options));
    // A leftover socket would look like a server to the next one; missing is fine.
    let _ = std::fs::remove_file(&socket);
    runtime.shutdown_background();
    result
}

async fn serve(options: ServeOptions) -> Result<(), LocalModelError> {
    let ServeOptions { model_path, socket_path, token, tuning } = options;
    let listener = bind(&socket_path)?;
    let shared = Arc::new(Shared::default());
    let (jobs, queue) = mpsc::channel(QUEUE);
    let (ended_sender, mut ended) = oneshot::channel();
    let request = LoadRequest { path: model_path, threads: tuning.threads, context_tokens: tuning.context_tokens };
    let theirs = Arc::clone(&shared);
    std::thread::Builder::new()
        .name("inference".to_owned())
        .spawn(move || {
            let _ = ended_sender.send(infer::run(&request, &theirs, queue));
        })
        .map_err(|source| LocalModelError::Io { doing: "starting the inference thread", source })?;
    let activity = Activity::new();
    let app = Arc::new(App {
        token,
        alias: tuning.alias.clone(),
        started_at_unix: tuning.started_at_unix,
        started: Instant::now(),
        counter: AtomicU64::new(1),
        jobs,
        shared: Arc::clone(&shared),
        activity: activity.clone(),
    });
    let result = tokio::select! {
        () = accept(listener, app) => Ok(()),
        reason = leave(&tuning, &activity) => {
            tracing::debug!(reason, "model server ends");
            Ok(())
        }
        outcome = &mut ended => return outcome.unwrap_or(Ok(())),
    };
    shared.end();
    let _ = tokio::time::timeout(END_GRACE, ended).await;
    result
}

fn bind(path: &Path) -> Result<UnixListener, LocalModelError> {
    let length = path.as_os_str().as_bytes().len();
    if length > PATH_LIMIT {
        return Err(LocalModelError::SocketPathTooLong { path: path.into(), length, limit: PATH_LIMIT });
    }
    let fail = |source| LocalModelError::Socket { path: path.into(), source };
    // Of a server that was killed; a living one has a name of its own.
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(fail(e)),
        _ => {}
    }
    // The mask closes the gap between making the socket and setting its mode; this process has
    // no other threads yet that make files.
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
                // Out of descriptors, most likely: wait for some to be closed.
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

/// Waits for a reason to end, and names it.
async fn leave(tuning: &ServeTuning, activity: &Activity) -> &'static str {
    let signalled = async {
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => drop(terminate.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    let orphaned = async {
        if tuning.exit_on_stdin_eof {
            stdin_end().await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = signalled => "asked by signal",
        () = orphaned => "parent gone",
        reason = unused(tuning, activity) => reason,
    }
}

/// A thread that reads: standard input has no other portable way to tell its end.
///
/// Preferred to a parent-death signal, which fires when the *thread* that started the child ends.
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

async fn unused(tuning: &ServeTuning, activity: &Activity) -> &'static str {
    let mut tick = tokio::time::interval(Duration::from_millis(250));
    loop {
        tick.tick().await;
        let Some(idle) = activity.idle() else {
            continue;
        };
        if tuning.idle_exit.is_some_and(|limit| idle >= limit) {
            return "idle";
        }
        let full = tuning.max_resident_bytes.is_some_and(|limit| resident_bytes().is_some_and(|now| now > limit));
        if full && idle >= Duration::from_secs(1) {
            return "over its memory limit";
        }
    }
}

fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
