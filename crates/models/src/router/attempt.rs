use super::errors::{self, Next, next};
use super::health::{HealthTracker, Permit};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::model::{Connection, ModelError, ModelErrorClass};
use steward_core::ports::NoAnswer;
use steward_core::routing::{Attempt, Routing};
use tokio::time::{Instant, sleep_until, timeout};

/// Longest message stored with an attempt, characters.
const MESSAGE: usize = 300;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub most: usize,
    /// After so long without an answer the next connection is asked as well.
    pub hedge_after: Option<Duration>,
    /// For all attempts together, including the whole answer.
    pub deadline: Duration,
}

impl Plan {
    pub fn new(routing: &Routing, deadline_ms: u64) -> Self {
        Self {
            most: usize::from(routing.max_fallback_attempts.max(1)),
            hedge_after: routing.hedge_after_ms.map(Duration::from_millis),
            // A day is as good as unlimited, and does not overflow.
            deadline: Duration::from_millis(deadline_ms).min(Duration::from_hours(24)),
        }
    }
}

pub(crate) struct Answered<T> {
    pub connection: Connection,
    /// All attempts, the successful one last.
    pub attempts: Vec<Attempt>,
    pub value: T,
    /// Kept while the answer comes in, then `completed()` or `failed(error)`; if dropped, nothing is recorded.
    pub permit: Permit,
}

/// Asks `targets` in order until an attempt is `Ok`, which means that it has its first content.
///
/// `attempt` gets a connection and the time left for the whole answer. What follows an error depends on its class
/// (see [`super::errors`]): mostly the next target. Targets with an open circuit are skipped, unless all are. Nobody is
/// asked twice: runs try again by themselves, and so do other programs, and tries multiply.
/// With `plan.hedge_after` the next target is asked as well when one is slow; the first to answer wins and the other
/// is dropped.
///
/// Dropping the future drops running attempts and their upstream requests. Health is recorded here up to the first
/// content, then by [`Answered::permit`].
pub(crate) async fn try_targets<T, F, Fut>(
    health: &Arc<HealthTracker>,
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
        health,
        queue: Queue::new(Arc::clone(health), targets, plan.most),
        deadline: Instant::now() + plan.deadline,
        attempt: &attempt,
        running: FuturesUnordered::new(),
        open: BTreeMap::new(),
        attempts: Vec::new(),
        errors: Vec::new(),
    };
    call.ask_next();
    let hedge = plan.hedge_after.unwrap_or(plan.deadline);
    let mut hedge_at = Instant::now() + hedge;
    while !call.running.is_empty() {
        let (asked, outcome) = tokio::select! {
            biased;
            Some(done) = call.running.next() => done,
            () = sleep_until(hedge_at), if plan.hedge_after.is_some() => {
                call.ask_next();
                hedge_at = Instant::now() + hedge;
                continue;
            }
        };
        let error = match outcome {
            Ok(value) => return Ok(call.finish(asked, value)),
            Err(error) => error,
        };
        let connection = call.record_failure(asked, &error);
        match next(error.class) {
            Next::Nobody => break,
            Next::Larger => call.queue.window_over = call.queue.window_over.max(connection.capabilities.window),
            Next::Anyone => {}
        }
        if call.ask_next() {
            hedge_at = Instant::now() + hedge;
        }
    }
    Err(call.no_answer())
}

struct Asked {
    slot: usize,
    connection: Connection,
    permit: Permit,
}

struct Call<'a, T, F> {
    health: &'a Arc<HealthTracker>,
    queue: Queue,
    deadline: Instant,
    attempt: &'a F,
    running: FuturesUnordered<BoxFuture<'a, (Asked, Result<T, ModelError>)>>,
    /// The running attempts by their number: which connection is asked, and since when.
    open: BTreeMap<usize, (ConnectionId, Instant)>,
    attempts: Vec<Attempt>,
    errors: Vec<ModelError>,
}

impl<'a, T, F, Fut> Call<'a, T, F>
where
    T: Send + 'a,
    F: Fn(Connection, Duration) -> Fut + Send + Sync,
    Fut: Future<Output = Result<T, ModelError>> + Send + 'a,
{
    /// False if nobody is left to ask, or no time.
    fn ask_next(&mut self) -> bool {
        if !self.attempts.is_empty() && self.left().is_zero() {
            return false;
        }
        let Some((connection, permit)) = self.queue.next() else {
            return false;
        };
        self.ask(connection, permit);
        true
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn ask(&mut self, connection: Connection, permit: Permit) {
        let slot = self.attempts.len() + self.open.len();
        self.open.insert(slot, (connection.id, Instant::now()));
        let (attempt, deadline) = (self.attempt, self.deadline);
        self.running.push(Box::pin(async move {
            let left = deadline.saturating_duration_since(Instant::now());
            let outcome = timeout(left, attempt(connection.clone(), left)).await;
            let outcome = outcome.unwrap_or_else(|_| Err(errors::out_of_time(&connection)));
            (Asked { slot, connection, permit }, outcome)
        }));
    }

    fn record_failure(&mut self, asked: Asked, error: &ModelError) -> Connection {
        self.open.remove(&asked.slot);
        self.attempts.push(Attempt {
            connection: asked.connection.id,
            class: Some(error.class),
            message: error.message.chars().take(MESSAGE).collect(),
            ms: asked.permit.ms(),
        });
        self.errors.push(error.clone());
        // The last connection asked only had the time that the others left.
        let ran_out_of_time = asked.slot > 0 && error.class == ModelErrorClass::Timeout && self.left().is_zero();
        if ran_out_of_time {
            asked.permit.ran_out_of_time(error);
        } else {
            asked.permit.failed(error);
        }
        asked.connection
    }

    fn finish(mut self, asked: Asked, value: T) -> Answered<T> {
        let Asked { slot, connection, mut permit } = asked;
        permit.answered();
        self.open.remove(&slot);
        // Closes the other upstream requests.
        self.running.clear();
        for (connection, ms) in self.record_dropped("another connection answered sooner") {
            self.health.overtaken(connection, ms);
        }
        self.attempts.push(Attempt { connection: connection.id, class: None, message: String::new(), ms: permit.ms() });
        Answered { connection, attempts: self.attempts, value, permit }
    }

    fn no_answer(mut self) -> NoAnswer {
        self.running.clear();
        self.record_dropped("the request itself was refused elsewhere");
        NoAnswer { error: errors::worth_telling(self.errors), attempts: self.attempts }
    }

    /// Records the attempts that were still running; returns their connections and times in milliseconds.
    fn record_dropped(&mut self, why: &str) -> Vec<(ConnectionId, u64)> {
        let mut dropped = Vec::new();
        for (connection, since) in std::mem::take(&mut self.open).into_values() {
            let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            dropped.push((connection, ms));
            let class = Some(ModelErrorClass::Cancelled);
            self.attempts.push(Attempt { connection, class, message: why.to_owned(), ms });
        }
        dropped
    }
}

/// The targets of one call that were not asked yet, in order.
struct Queue {
    health: Arc<HealthTracker>,
    waiting: Vec<Connection>,
    /// How many may still be asked.
    left: usize,
    asked_any: bool,
    /// Only models with a larger window (tokens) are of use.
    window_over: u32,
}

impl Queue {
    pub fn new(health: Arc<HealthTracker>, targets: &[Connection], most: usize) -> Self {
        Self { health, waiting: targets.to_vec(), left: most.max(1), asked_any: false, window_over: 0 }
    }

    /// The next target with a closed circuit; if all are open and nobody was asked, the one that is ready first.
    pub fn next(&mut self) -> Option<(Connection, Permit)> {
        if self.left == 0 {
            return None;
        }
        let over = self.window_over;
        self.waiting.retain(|one| over == 0 || one.capabilities.window > over);
        let admitted = self.waiting.iter().enumerate().find_map(|(at, one)| Some((at, self.health.admit(one.id)?)));
        let (at, permit) = match admitted {
            Some(found) => found,
            None if self.asked_any => return None,
            None => {
                let (at, one) = self.waiting.iter().enumerate().min_by_key(|(_, one)| self.health.ready_at(one.id))?;
                (at, self.health.force(one.id))
            }
        };
        self.left -= 1;
        self.asked_any = true;
        Some((self.waiting.remove(at), permit))
    }
}
