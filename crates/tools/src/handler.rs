use crate::catalogue;
use crate::error::ToolsError;
use async_trait::async_trait;
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use steward_core::ports::{Interrupted, Stage, ToolScope};
use steward_core::tool::{Preview, Settled, Staged, ToolError, ToolOutput, ToolSpec};
use steward_core::{Cancellation, hash};
use tokio_util::sync::CancellationToken;

/// How much later than the deadline [`Context::halt`] ends, so that work with the same deadline reports it by itself.
const DEADLINE_MARGIN: Duration = Duration::from_millis(25);

#[derive(Debug, Clone)]
pub struct Context {
    pub scope: ToolScope,
    /// Stable over repeats of this call after a crash.
    pub idempotency_key: String,
    pub deadline: Instant,
    /// Cancelled when this call is given up, while the run goes on.
    pub(crate) cancellation: Cancellation,
    learned: Arc<Mutex<Vec<(String, SecretString)>>>,
    stage: Option<Arc<dyn Stage>>,
}

impl Context {
    /// The context of a call that begins now and may take `limit`.
    pub fn new(scope: ToolScope, idempotency_key: String, limit: Duration) -> Self {
        Self {
            scope,
            idempotency_key,
            deadline: Instant::now() + limit,
            cancellation: Cancellation::default(),
            learned: Arc::default(),
            stage: None,
        }
    }

    /// With `stage` told what is about to be done.
    #[must_use]
    pub fn with_stage(mut self, stage: Option<Arc<dyn Stage>>) -> Self {
        self.stage = stage;
        self
    }

    pub(crate) fn stage_of(&self) -> Option<Arc<dyn Stage>> {
        self.stage.clone()
    }

    /// Announces what the call returns once it is done, and the `proof` by which that is recognised after a crash. Call
    /// it when all is ready, right before the effect; do nothing after an error.
    pub async fn stage(&self, output: &ToolOutput, proof: Value) -> Result<(), ToolsError> {
        self.check()?;
        let Some(stage) = &self.stage else {
            return Ok(());
        };
        let staged = Staged { output: output.clone(), proof };
        stage.stage(staged).await?;
        self.check()
    }

    /// The first `chars` digits of a hash of the idempotency key: an id that is the same when the call is repeated.
    pub(crate) fn stable_id(&self, chars: usize) -> String {
        hash::sha256(self.idempotency_key.as_bytes()).chars().take(chars).collect()
    }

    /// Registers a secret that came up during the call, to be scrubbed from the result; `name` replaces it.
    pub fn learned(&self, name: impl Into<String>, secret: SecretString) {
        self.learned_all([(name.into(), secret)]);
    }

    pub(crate) fn learned_all(&self, secrets: impl IntoIterator<Item = (String, SecretString)>) {
        lock(&self.learned).extend(secrets);
    }

    pub fn learned_secrets(&self) -> Vec<(String, SecretString)> {
        lock(&self.learned).clone()
    }

    /// The run was stopped, or the time is up. Blocking work checks it often, and always right before an effect.
    pub fn halted(&self) -> bool {
        self.scope.stopped() || self.cancellation.is_cancelled() || Instant::now() >= self.deadline
    }

    pub async fn halt(&self) {
        while !self.halted() {
            tokio::select! {
                () = self.scope.cancellation.cancelled() => {}
                () = self.cancellation.cancelled() => {}
                () = tokio::time::sleep(self.left() + DEADLINE_MARGIN) => {}
            }
        }
    }

    /// Waits for `work`; once [`Self::halted`], cancels it and waits for its end.
    pub async fn or_cancel<T>(&self, cancel: &CancellationToken, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        tokio::select! {
            done = &mut work => done,
            () = self.halt() => {
                cancel.cancel();
                work.await
            }
        }
    }

    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// [`Self::halted`] as an error, for `?`.
    pub fn check(&self) -> Result<(), ToolsError> {
        if self.halted() { Err(ToolsError::refused("stopped before anything was changed")) } else { Ok(()) }
    }
}

/// One tool. Arguments have passed the schema of [`Self::spec`] before any method gets them.
pub trait ToolHandler: Send + Sync + 'static {
    type Args: DeserializeOwned + Send + 'static;
    /// Its entry in `data/tools.toml`; empty for a tool that describes itself in [`Self::spec`].
    const NAME: &'static str = "";

    fn spec(&self) -> ToolSpec {
        catalogue::spec(Self::NAME)
    }

    /// What a call would change; an error says why it would fail. The default suits tools that change nothing.
    fn preview(
        &self,
        _args: Self::Args,
        _scope: &ToolScope,
    ) -> impl Future<Output = Result<Preview, ToolsError>> + Send {
        async { Ok(Preview { summary: "changes nothing".to_owned(), reversible: true, ..Preview::default() }) }
    }

    fn run(&self, args: Self::Args, context: &Context) -> impl Future<Output = Result<ToolOutput, ToolsError>> + Send;

    /// Whether an interrupted call has happened, by its proof for [`Context::stage`]. Changes nothing.
    fn settle(&self, call: Interrupted, _scope: &ToolScope) -> impl Future<Output = Settled> + Send {
        let why = format!("`{}` leaves nothing that shows it", call.call.name);
        async { Settled::Unknown(why) }
    }

    /// Undoes an effect from the snapshot that [`Self::run`] returned; says what was restored.
    fn undo(&self, _snapshot: &Value, _scope: &ToolScope) -> impl Future<Output = Result<String, ToolsError>> + Send {
        async { Err(ToolsError::NoUndo("this tool keeps no snapshot".to_owned())) }
    }
}

/// The arguments of a tool that takes none.
#[derive(Debug, Deserialize)]
pub struct NoArgs {}

pub(crate) fn would_fail(error: impl Display) -> Preview {
    Preview { summary: format!("would fail: {error}"), ..Preview::default() }
}

#[async_trait]
pub(crate) trait DynHandler: Send + Sync {
    async fn preview(&self, arguments: Value, scope: &ToolScope) -> Result<Preview, ToolError>;
    async fn run(&self, arguments: Value, context: &Context) -> Result<ToolOutput, ToolError>;
    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled;
    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolError>;
}

fn parse<A: DeserializeOwned>(arguments: Value) -> Result<A, ToolError> {
    serde_json::from_value(arguments)
        .map_err(|error| ToolError::RespondToModel(format!("the arguments don't fit: {error}")))
}

#[async_trait]
impl<H: ToolHandler> DynHandler for H {
    async fn preview(&self, arguments: Value, scope: &ToolScope) -> Result<Preview, ToolError> {
        Ok(ToolHandler::preview(self, parse(arguments)?, scope).await?)
    }

    async fn run(&self, arguments: Value, context: &Context) -> Result<ToolOutput, ToolError> {
        Ok(ToolHandler::run(self, parse(arguments)?, context).await?)
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        ToolHandler::settle(self, call, scope).await
    }

    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolError> {
        Ok(ToolHandler::undo(self, snapshot, scope).await?)
    }
}
