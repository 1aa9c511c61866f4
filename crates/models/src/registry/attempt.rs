//! Asks one connection after the other until one answers.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use steward_core::ConnectionId;
use steward_core::model::{Connection, ModelError, ModelErrorClass};
use steward_core::ports::NoAnswer;
use steward_core::routing::{Attempt, Routing};
use tokio::time::{Instant, sleep_until, timeout};

use super::board::{Board, Permit};
use super::policy::{Next, next, worth_repeating};
use super::queue::Queue;
use super::words;

/// Longest message of an attempt, characters.
const MESSAGE: usize = 300;

/// How targets are tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// How many connections are asked at most.
    pub most: usize,
    /// After so long without an answer the next one is asked as well.
    pub hedge_after: Option<Duration>,
    /// For all attempts, and for the whole answer.
    pub deadline: Duration,
}

impl Plan {
    /// As the agent's routing says.
    pub fn new(routing: &Routing, deadline_ms: u64) -> Self {
        Self {
            most: usize::from(routing.max_fallback_attempts.max(1)),
            hedge_after: routing.hedge_after_ms.map(Duration::from_millis),
            // A day is for ever, and no overflow.
            deadline: Duration::from_millis(deadline_ms).min(Duration::from_hours(24)),
        }
    }
}

/// Who answered, and what.
pub(crate) struct Answered<T> {
    /// The connection.
    pub connection: Connection,
    /// All that were asked, the one that answers last.
    pub attempts: Vec<Attempt>,
    /// What the attempt returned.
    pub value: T,
    /// Keep it as long as the answer comes in, then say `completed()` or `failed(error)`; dropped,
    /// it says nothing, as is right when the client goes away.
    pub permit: Permit,
}

impl<T> std::fmt::Debug for Answered<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answered")
            .field("connection", &self.connection.name)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

/// Asks `targets` in order until an attempt is `Ok`, which means that it has its first content.
///
/// `attempt` is given a connection and the time that is left for the whole answer; it is called anew
/// for each try. What comes after an error depends on its class (see `policy`): mostly the next target.
/// Targets whose circuit is open are passed over, unless all are. A target that is the only one is
/// asked once more after a passing fault, if what the endpoint asks to wait is short; else the error
/// comes back with `retry_after_ms`. With `plan.hedge_after` the next target is asked as well when the
/// one before is slow; the first to answer is taken and the other dropped.
///
/// Dropping the future drops the attempts that run, and with them the upstream requests. Breakers and
/// health are kept by this function up to the first content, and by [`Answered::permit`] from there on.
pub(crate) async fn try_targets<T, F, Fut>(
    board: &Arc<Board>,
    targets: &[Connection],
    plan: Plan,
    attempt: F,
) -> Result<Answered<T>, NoAnswer>
where
    T: Send,
    F: Fn(Connection, Duration) -> Fut + Send + Sync,
    Fut: Future<Output = Result<T, ModelError>> + Send,
{
    let mut call = Call {
        board,
        queue: Queue::new(Arc::clone(board), targets, plan.most),
        deadline: Instant::now() + plan.deadline,
        attempt: &attempt,
        running: FuturesUnordered::new(),
        open: Vec::new(),
        attempts: Vec::new(),
        errors: Vec::new(),
    };
    call.ask_next();
    let hedge = plan.hedge_after.unwrap_or(plan.deadline);
    let mut hedge_at = Instant::now() + hedge;
    let mut repeated = false;
    while !call.running.is_empty() {
        let done = tokio::select! {
            biased;
            Some(done) = call.running.next() => done,
            () = sleep_until(hedge_at), if plan.hedge_after.is_some() => {
                call.ask_next();
                hedge_at = Instant::now() + hedge;
                continue;
            }
        };
        let error = match done.outcome {
            Ok(value) => return Ok(call.won(done.asked, value)),
            Err(error) => error,
        };
        let connection = call.lost(done.asked, &error);
        match next(error.class) {
            Next::Nobody => break,
            Next::Larger => call.queue.needs_more_than(connection.capabilities.window),
            Next::Anyone => {}
        }
        if call.ask_next() {
            hedge_at = Instant::now() + hedge;
        } else if call.attempts.len() == 1 && call.running.is_empty() && !repeated {
            repeated = call.repeat(connection, &error);
        }
    }
    Err(call.nobody())
}

/// A connection that is being asked.
struct Asked {
    slot: usize,
    connection: Connection,
    permit: Permit,
}

struct Done<T> {
    asked: Asked,
    outcome: Result<T, ModelError>,
}

/// What is known of an attempt that runs.
struct Open {
    slot: usize,
    connection: ConnectionId,
    since: Instant,
}

struct Call<'a, T, F> {
    board: &'a Arc<Board>,
    queue: Queue,
    deadline: Instant,
    attempt: &'a F,
    running: FuturesUnordered<BoxFuture<'a, Done<T>>>,
    open: Vec<Open>,
    attempts: Vec<Attempt>,
    errors: Vec<ModelError>,
}

impl<'a, T, F, Fut> Call<'a, T, F>
where
    T: Send + 'a,
    F: Fn(Connection, Duration) -> Fut + Send + Sync,
    Fut: Future<Output = Result<T, ModelError>> + Send + 'a,
{
    /// Whether there was somebody to ask, and time for it.
    fn ask_next(&mut self) -> bool {
        if !self.attempts.is_empty() && self.left().is_zero() {
            return false;
        }
        let Some((connection, permit)) = self.queue.next() else {
            return false;
        };
        self.ask(connection, Some(permit), Duration::ZERO);
        true
    }

    /// Asks the same one again, if its fault may pass soon.
    fn repeat(&mut self, connection: Connection, error: &ModelError) -> bool {
        let options = &self.board.options;
        let wait = error.retry_after_ms.map_or(options.retry_wait, Duration::from_millis);
        let soon = wait <= options.longest_retry_wait && wait < self.left();
        if soon && worth_repeating(error.class) {
            self.ask(connection, None, wait);
        }
        true
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn ask(&mut self, connection: Connection, permit: Option<Permit>, wait: Duration) {
        let slot = self.attempts.len() + self.open.len();
        self.open.push(Open { slot, connection: connection.id, since: Instant::now() + wait });
        let (attempt, deadline, board) = (self.attempt, self.deadline, self.board);
        self.running.push(Box::pin(async move {
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            let permit = permit.unwrap_or_else(|| board.force(connection.id));
            let left = deadline.saturating_duration_since(Instant::now());
            let outcome = match timeout(left, attempt(connection.clone(), left)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(words::out_of_time(&connection)),
            };
            let asked = Asked { slot, connection, permit };
            Done { asked, outcome }
        }));
    }

    fn over(&mut self, slot: usize) {
        self.open.retain(|open| open.slot != slot);
    }

    /// Takes the failure down; returns who failed.
    fn lost(&mut self, asked: Asked, error: &ModelError) -> Connection {
        self.over(asked.slot);
        self.attempts.push(Attempt {
            connection: asked.connection.id,
            class: Some(error.class),
            message: error.message.chars().take(MESSAGE).collect(),
            ms: asked.permit.ms(),
        });
        self.errors.push(error.clone());
        // Whoever is asked last gets what time the others left.
        let hurried = asked.slot > 0 && error.class == ModelErrorClass::Timeout && self.left().is_zero();
        if hurried {
            asked.permit.hurried(error);
        } else {
            asked.permit.failed(error);
        }
        asked.connection
    }

    fn won(mut self, asked: Asked, value: T) -> Answered<T> {
        let Asked { slot, connection, mut permit } = asked;
        permit.answered();
        self.over(slot);
        // Closes the upstream requests of the others.
        self.running.clear();
        for (connection, ms) in self.dropped("another connection answered sooner") {
            self.board.overtaken(connection, ms);
        }
        self.attempts.push(Attempt { connection: connection.id, class: None, message: String::new(), ms: permit.ms() });
        Answered { connection, attempts: self.attempts, value, permit }
    }

    fn nobody(mut self) -> NoAnswer {
        self.running.clear();
        self.dropped("the request itself was refused elsewhere");
        NoAnswer { error: words::worth_telling(self.errors), attempts: self.attempts }
    }

    /// Takes down those that were still being asked; returns who, and for how long.
    fn dropped(&mut self, why: &str) -> Vec<(ConnectionId, u64)> {
        let mut dropped = Vec::new();
        for other in std::mem::take(&mut self.open) {
            let ms = u64::try_from(other.since.elapsed().as_millis()).unwrap_or(u64::MAX);
            dropped.push((other.connection, ms));
            self.attempts.push(Attempt {
                connection: other.connection,
                class: Some(ModelErrorClass::Cancelled),
                message: why.to_owned(),
                ms,
            });
        }
        dropped
    }
}
