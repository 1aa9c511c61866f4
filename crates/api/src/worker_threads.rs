//! Threads that each serve some of the connections, with a runtime of their own. A request that is passed on, its
//! connection to the model and its answer stay on one thread, so no piece of an answer wakes another one.

use crate::connection::{Serving, serve_one};
use crate::connection_places::ConnectionPlace;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

/// Most threads: passing on is cheap, and each one keeps connections to models of its own.
const MOST: usize = 8;
/// Most further threads of one that may block, such as for a host's address.
const BLOCKING: usize = 16;

/// The threads; dropped, they end with all their connections.
#[derive(Debug)]
pub struct WorkerThreads {
    all: Vec<WorkerThread>,
    stopping: watch::Sender<bool>,
    _over: watch::Sender<()>,
    /// Every open connection holds one of these.
    alive: mpsc::Sender<()>,
    gone: mpsc::Receiver<()>,
}

#[derive(Debug)]
struct WorkerThread {
    open: Arc<AtomicUsize>,
    arrivals: mpsc::UnboundedSender<Arrival>,
}

struct Arrival {
    stream: std::net::TcpStream,
    peer: SocketAddr,
    open: Open,
}

struct Open {
    count: Arc<AtomicUsize>,
    _place: ConnectionPlace,
    _alive: mpsc::Sender<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl WorkerThreads {
    pub(crate) fn start(serving: &Serving) -> io::Result<Self> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let (stopping, stopped) = watch::channel(false);
        let (over, ended) = watch::channel(());
        let (alive, gone) = mpsc::channel(1);
        let threads = (0..processors.min(MOST))
            .map(|number| WorkerThread::start(number, serving, &stopped, &ended))
            .collect::<io::Result<_>>()?;
        Ok(Self { all: threads, stopping, _over: over, alive, gone })
    }

    /// Gives a new connection to the thread with the fewest. Its place is given back when it ends.
    pub(crate) fn take(&self, stream: TcpStream, peer: SocketAddr, place: ConnectionPlace) -> io::Result<()> {
        let fewest = |thread: &&WorkerThread| thread.open.load(Ordering::Relaxed);
        let Some(thread) = self.all.iter().min_by_key(fewest) else {
            return Ok(());
        };
        let stream = stream.into_std()?;
        thread.open.fetch_add(1, Ordering::Relaxed);
        let open = Open { count: Arc::clone(&thread.open), _place: place, _alive: self.alive.clone() };
        let arrival = Arrival { stream, peer, open };
        let sent = thread.arrivals.send(arrival);
        sent.map_err(|_| io::Error::other("a thread that serves connections has ended"))
    }

    /// Done when all connections have ended that were asked to.
    pub(crate) async fn stop(&mut self) {
        self.stopping.send_replace(true);
        // Ours would keep it from ending.
        self.alive = mpsc::channel(1).0;
        while self.gone.recv().await.is_some() {}
    }
}

impl WorkerThread {
    fn start(
        number: usize,
        serving: &Serving,
        stopped: &watch::Receiver<bool>,
        ended: &watch::Receiver<()>,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING)
            .thread_name(format!("worker-{number}-aux"))
            .build()?;
        let (arrivals, arriving) = mpsc::unbounded_channel();
        let (serving, stopped, mut ended) = (serving.clone(), stopped.clone(), ended.clone());
        std::thread::Builder::new().name(format!("worker-{number}")).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve_all(arriving, serving, stopped) => {}
                    _gone = ended.changed() => {}
                }
            });
            // A host's address that is still being looked up must not hold this up.
            runtime.shutdown_background();
        })?;
        Ok(Self { open: Arc::default(), arrivals })
    }
}

async fn serve_all(mut arriving: mpsc::UnboundedReceiver<Arrival>, serving: Serving, stopped: watch::Receiver<bool>) {
    while let Some(Arrival { stream, peer, open }) = arriving.recv().await {
        match TcpStream::from_std(stream) {
            Ok(stream) => {
                let served = serve_one(stream, peer, serving.clone(), stopped.clone());
                tokio::spawn(async move {
                    served.await;
                    drop(open);
                });
            }
            Err(error) => tracing::warn!(%error, "a connection could not be served"),
        }
    }
}
