//! Supervises the model server's child process: starts it at first use, notices its end, restarts it, stops it.

use super::LocalModelError;
use super::child::{self, ChildCommand, ChildProcess, Endpoint};
use super::fit::resident_bytes;
use secrecy::SecretString;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};
use steward_core::live::Live;
use tokio::sync::Mutex;

pub struct Supervisor {
    command: Live<ChildCommand>,
    options: SupervisorOptions,
    /// Locked during a start, so that there is only one at a time.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Option<ChildProcess>,
    crashes: CrashCounter,
    stderr_tail: Vec<String>,
    starts: u64,
}

const POLL: Duration = Duration::from_millis(15);
/// How long a child that another one takes over from goes on with its calls.
const RETIREMENT: Duration = Duration::from_mins(2);

impl Supervisor {
    pub fn new(command: ChildCommand, options: SupervisorOptions) -> Self {
        Self { command: Live::new(command), options, state: Mutex::default() }
    }

    /// For the next call. A child that is at work gets the time that a call takes, and then ends.
    pub async fn change(&self, command: ChildCommand) {
        let mut state = self.state.lock().await;
        self.command.replace(command);
        state.crashes.reset();
        let Some(mut retired) = state.running.take() else { return };
        let grace = self.options.stop_grace;
        tokio::spawn(async move {
            let until = Instant::now() + RETIREMENT;
            while retired.ended().is_none() && Instant::now() < until {
                tokio::time::sleep(grace).await;
            }
            retired.stop(grace).await;
        });
    }

    pub fn command(&self) -> Arc<ChildCommand> {
        self.command.get()
    }

    /// Starts the child if it is not running, once for concurrent calls. An idle child may end: ask again if refused.
    pub async fn endpoint(&self) -> Result<Endpoint, LocalModelError> {
        let mut state = self.state.lock().await;
        self.notice_end(&mut state).await;
        if state.running.is_none() {
            self.wait_for_turn(&state).await?;
            self.start(&mut state).await?;
        }
        let socket_path = state.running.as_ref().map(|running| running.socket_path.clone()).unwrap_or_default();
        Ok(Endpoint { socket_path, token: self.options.token.clone() })
    }

    /// The next [`Self::endpoint`] starts it again.
    pub async fn stop(&self) {
        let mut state = self.state.lock().await;
        state.crashes.reset();
        if let Some(running) = state.running.take() {
            running.stop(self.options.stop_grace).await;
        }
    }

    /// `None` if it is not running.
    pub async fn process_id(&self) -> Option<u32> {
        let mut state = self.state.lock().await;
        self.notice_end(&mut state).await;
        state.running.as_ref().and_then(ChildProcess::id)
    }

    /// Resident memory of the child; `None` if it is not running.
    pub async fn resident_bytes(&self) -> Option<u64> {
        let id = self.process_id().await?;
        resident_bytes(&id.to_string())
    }

    async fn notice_end(&self, state: &mut State) {
        let Some(running) = &mut state.running else {
            return;
        };
        let Some(status) = running.ended() else {
            return;
        };
        let lived = running.since.elapsed();
        state.stderr_tail = running.stderr_tail().await;
        state.running = None;
        if status.success() {
            tracing::debug!("model server ended when idle");
            state.crashes.reset();
        } else {
            tracing::warn!(status = describe(status), "model server crashed");
            state.crashes.count(lived, Instant::now(), &self.options);
        }
    }

    async fn wait_for_turn(&self, state: &State) -> Result<(), LocalModelError> {
        let wait = state.crashes.restart(Instant::now(), &self.options);
        let refused = |rest: Duration| LocalModelError::CrashLoop {
            times: state.crashes.in_row,
            retry_after_secs: rest.as_secs().max(1),
            stderr: state.stderr_tail.clone(),
        };
        tokio::time::sleep(wait.map_err(refused)?).await;
        Ok(())
    }

    async fn start(&self, state: &mut State) -> Result<(), LocalModelError> {
        state.starts += 1;
        let socket_path = self.socket_path(state.starts)?;
        let mut running = ChildProcess::start(&self.command.get(), &self.options.token, socket_path).await?;
        match self.wait_until_ready(&mut running).await {
            Ok(()) => {
                tracing::debug!(ms = running.since.elapsed().as_millis(), "model server is ready");
                state.running = Some(running);
                Ok(())
            }
            Err(error) => {
                state.crashes.count(running.since.elapsed(), Instant::now(), &self.options);
                state.stderr_tail = running.stderr_tail().await;
                running.stop(Duration::ZERO).await;
                Err(error)
            }
        }
    }

    async fn wait_until_ready(&self, running: &mut ChildProcess) -> Result<(), LocalModelError> {
        let deadline = Instant::now() + self.options.start_timeout;
        loop {
            if let Some(status) = running.ended() {
                return Err(LocalModelError::EndedEarly {
                    status: describe(status),
                    stderr: running.stderr_tail().await,
                });
            }
            if child::is_ready(&running.socket_path, &self.options.token).await {
                return Ok(());
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

    /// Different for each start, since an old child may still be about to end.
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

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        _ => "unknown status".to_owned(),
    }
}

#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// Private folder for the socket, created with mode 0700 if missing. Its path must be short.
    pub run_dir: PathBuf,
    pub token: SecretString,
    /// Until the child is ready.
    pub start_timeout: Duration,
    /// Until the child is killed.
    pub stop_grace: Duration,
    /// A child that ended sooner crashed fast.
    pub fast_crash: Duration,
    /// Fast crashes in a row after which it is not started for `cooldown`.
    pub max_crashes: u32,
    /// Wait before the first restart after a fast crash; four times longer each time.
    pub backoff: Duration,
    /// See `max_crashes`.
    pub cooldown: Duration,
}

impl SupervisorOptions {
    pub fn new(run_dir: impl Into<PathBuf>, token: SecretString) -> Self {
        Self {
            run_dir: run_dir.into(),
            token,
            start_timeout: Duration::from_mins(2),
            stop_grace: Duration::from_secs(2),
            fast_crash: Duration::from_secs(10),
            max_crashes: 3,
            backoff: Duration::from_millis(200),
            cooldown: Duration::from_mins(1),
        }
    }
}

/// Counts fast crashes in a row and decides when the next start is allowed.
#[derive(Debug, Default)]
struct CrashCounter {
    in_row: u32,
    last: Option<Instant>,
}

impl CrashCounter {
    /// For a child that ended by itself after `lived`, and not as idle.
    pub fn count(&mut self, lived: Duration, now: Instant, options: &SupervisorOptions) {
        if lived >= options.fast_crash {
            self.in_row = 0;
        }
        self.in_row += 1;
        self.last = Some(now);
    }

    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// How long to wait before the next start; the error: how long there is none.
    pub fn restart(&self, now: Instant, options: &SupervisorOptions) -> Result<Duration, Duration> {
        let Some(last) = self.last else {
            return Ok(Duration::ZERO);
        };
        let since = now.saturating_duration_since(last);
        if self.in_row >= options.max_crashes {
            return match options.cooldown.checked_sub(since) {
                Some(rest) if rest > Duration::ZERO => Err(rest),
                // One more attempt; another fast crash refuses again.
                _ => Ok(Duration::ZERO),
            };
        }
        let factor = 4_u32.saturating_pow(self.in_row.saturating_sub(1));
        Ok(options.backoff.saturating_mul(factor).saturating_sub(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_then_it_is_left_alone() {
        let options = SupervisorOptions::new("/x", "t".to_owned().into());
        let now = Instant::now();
        let mut crashes = CrashCounter::default();
        assert_eq!(crashes.restart(now, &options), Ok(Duration::ZERO));
        crashes.count(Duration::ZERO, now, &options);
        assert_eq!(crashes.restart(now, &options), Ok(options.backoff));
        crashes.count(Duration::ZERO, now, &options);
        assert_eq!(crashes.restart(now, &options), Ok(options.backoff * 4));
        crashes.count(Duration::ZERO, now, &options);
        assert_eq!(crashes.restart(now, &options), Err(options.cooldown));
        let later = now + options.cooldown;
        assert_eq!(crashes.restart(later, &options), Ok(Duration::ZERO));
        crashes.count(Duration::ZERO, later, &options);
        assert_eq!(crashes.restart(later, &options), Err(options.cooldown));
        crashes.count(options.fast_crash, later, &options);
        assert_eq!(crashes.restart(later, &options), Ok(options.backoff));
    }
}
