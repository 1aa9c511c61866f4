use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, watch};

use super::child::Running;
use super::crashes::{Crashes, Verdict};
use super::health::{self, Health};
use super::{ChildCommand, Endpoint, Phase, SupervisorOptions};
use crate::local::LocalModelError;

/// The keeper of one model server.
pub struct Supervisor {
    command: ChildCommand,
    options: SupervisorOptions,
    /// Held during a start, which makes starts single flight.
    state: Mutex<State>,
    phase: watch::Sender<Phase>,
}

#[derive(Default)]
struct State {
    running: Option<Running>,
    crashes: Crashes,
    last_words: Vec<String>,
    starts: u64,
}

const POLL: Duration = Duration::from_millis(15);

impl Supervisor {
    /// A supervisor that has started nothing yet.
    pub fn new(command: ChildCommand, options: SupervisorOptions) -> Self {
        Self { command, options, state: Mutex::new(State::default()), phase: watch::Sender::new(Phase::Stopped) }
    }

    /// What the child is doing, as it changes; the progress of a start among it.
    pub fn phases(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// A ready server's endpoint; starts the child if it is not running. Concurrent calls share
    /// one start. A child may end by itself when idle: on a refused connection, ask again.
    ///
    /// # Errors
    /// The child can't be started, ends early, is not ready in time, or crashed too often.
    pub async fn endpoint(&self) -> Result<Endpoint, LocalModelError> {
        let mut state = self.state.lock().await;
        self.notice_end(&mut state).await;
        if state.running.is_none() {
            self.wait_for_turn(&state).await?;
            let result = self.start(&mut state).await;
            self.phase.send_replace(match &result {
                Ok(()) => Phase::Ready,
                Err(error) => Phase::Failed(error.to_string()),
            });
            result?;
        }
        let socket_path = state.running.as_ref().map(|running| running.socket_path.clone()).unwrap_or_default();
        Ok(Endpoint { socket_path, token: self.options.token.clone() })
    }

    /// As [`Self::endpoint`], telling each phase on the way.
    ///
    /// # Errors
    /// As [`Self::endpoint`].
    pub async fn endpoint_with(&self, mut progress: impl FnMut(&Phase) + Send) -> Result<Endpoint, LocalModelError> {
        let mut phases = self.phases();
        let work = self.endpoint();
        tokio::pin!(work);
        loop {
            tokio::select! {
                result = &mut work => return result,
                Ok(()) = phases.changed() => progress(&phases.borrow_and_update()),
            }
        }
    }

    /// Stops the child if it runs; the next [`Self::endpoint`] starts it again.
    pub async fn stop(&self) {
        let mut state = self.state.lock().await;
        state.crashes.reset();
        if let Some(running) = state.running.take() {
            running.stop(self.options.stop_grace).await;
        }
        self.phase.send_replace(Phase::Stopped);
    }

    /// The child's process id, if it runs.
    pub async fn process_id(&self) -> Option<u32> {
        let mut state = self.state.lock().await;
        self.notice_end(&mut state).await;
        state.running.as_ref().and_then(Running::id)
    }

    /// Bytes that the child holds in memory, if it runs.
    pub async fn resident_bytes(&self) -> Option<u64> {
        let id = self.process_id().await?;
        let text = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }

    async fn notice_end(&self, state: &mut State) {
        let Some(running) = &mut state.running else {
            return;
        };
        let Some(status) = running.ended() else {
            return;
        };
        let lived = running.since.elapsed();
        state.last_words = running.last_words().await;
        state.running = None;
        if status.success() {
            tracing::debug!("model server ended when idle");
            state.crashes.reset();
        } else {
            tracing::warn!(status = describe(status), "model server crashed");
            state.crashes.note(lived, Instant::now(), &self.options);
        }
        self.phase.send_replace(Phase::Stopped);
    }

    async fn wait_for_turn(&self, state: &State) -> Result<(), LocalModelError> {
        match state.crashes.verdict(Instant::now(), &self.options) {
            Verdict::After(wait) => {
                tokio::time::sleep(wait).await;
                Ok(())
            }
            Verdict::Refuse(rest) => Err(LocalModelError::CrashLoop {
                times: state.crashes.in_row(),
                retry_after_secs: rest.as_secs().max(1),
                stderr: state.last_words.clone(),
            }),
        }
    }

    async fn start(&self, state: &mut State) -> Result<(), LocalModelError> {
        self.phase.send_replace(Phase::Starting(0.0));
        state.starts += 1;
        let socket_path = self.socket_path(state.starts)?;
        let mut running = Running::start(&self.command, &self.options, socket_path).await?;
        match self.wait_until_ready(&mut running).await {
            Ok(()) => {
                tracing::debug!(ms = running.since.elapsed().as_millis(), "model server is ready");
                state.running = Some(running);
                Ok(())
            }
            Err(error) => {
                state.crashes.note(running.since.elapsed(), Instant::now(), &self.options);
                state.last_words = running.last_words().await;
                running.stop(Duration::ZERO).await;
                Err(error)
            }
        }
    }

    async fn wait_until_ready(&self, running: &mut Running) -> Result<(), LocalModelError> {
        let deadline = Instant::now() + self.options.start_timeout;
        loop {
            if let Some(status) = running.ended() {
                return Err(LocalModelError::EndedEarly {
                    status: describe(status),
                    stderr: running.last_words().await,
                });
            }
            match health::ask(&running.socket_path, &self.options.token).await {
                Health::Ready => return Ok(()),
                Health::Loading(share) => {
                    self.phase.send_replace(Phase::Starting(share));
                }
                Health::Silent => {}
            }
            if Instant::now() >= deadline {
                return Err(LocalModelError::StartTimeout {
                    seconds: self.options.start_timeout.as_secs(),
                    stderr: Vec::new(),
                });
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// A name of its own for each start: an old child may still be about to end.
    fn socket_path(&self, number: u64) -> Result<PathBuf, LocalModelError> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.options.run_dir)
            .map_err(|source| LocalModelError::Socket { path: self.options.run_dir.clone(), source })?;
        let name = format!("model-{}-{number}.sock", std::process::id());
        Ok(self.options.run_dir.join(name))
    }
}

impl std::fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Supervisor")
            .field("command", &self.command)
            .field("phase", &*self.phase.borrow())
            .finish_non_exhaustive()
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        _ => "unknown status".to_owned(),
    }
}
