//! What calls through the gateway took, written behind the answers; an orderly stop loses none of it.

use futures::future::join_all;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use steward_core::ports::{SpendLimits, SpentRecord};
use steward_core::rate_limit::RateLimiter;
use steward_core::{ReservationId, TenantId};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};

/// How long settlements are gathered, so that many are one transaction.
const GATHER: Duration = Duration::from_millis(20);
/// Most that are written at once.
const AT_ONCE: usize = 1024;
/// How long calls that are told to end may take to do so.
const ENDING: Duration = Duration::from_secs(2);
const TRIES: u32 = 4;

#[derive(Debug)]
pub(crate) struct Settlement {
    pub(crate) tenant: TenantId,
    pub(crate) reservation: Option<ReservationId>,
    pub(crate) record: SpentRecord,
}

enum Message {
    Settle(Box<Settlement>),
    Flush(oneshot::Sender<()>),
}

pub struct UsageWriter {
    limits: Arc<dyn SpendLimits>,
    /// Where the writer works: the thread of a connection may end before it.
    runtime: Option<Handle>,
    /// To the writing task, which begins with the first call.
    messages: OnceLock<mpsc::UnboundedSender<Message>>,
    open: AtomicUsize,
    closing: watch::Sender<bool>,
    limiter: Arc<RateLimiter>,
}

impl UsageWriter {
    /// Writes to `limits`; `limiter` counts what virtual keys take a minute, here and in runs.
    pub fn new(limits: Arc<dyn SpendLimits>, limiter: Arc<RateLimiter>) -> Self {
        Self {
            limits,
            runtime: Handle::try_current().ok(),
            messages: OnceLock::new(),
            open: AtomicUsize::new(0),
            closing: watch::Sender::new(false),
            limiter,
        }
    }

    pub fn limiter(&self) -> &RateLimiter {
        &self.limiter
    }

    pub(crate) fn limits(&self) -> &Arc<dyn SpendLimits> {
        &self.limits
    }

    fn writer(&self) -> &mpsc::UnboundedSender<Message> {
        self.messages.get_or_init(|| {
            let (messages, received) = mpsc::unbounded_channel();
            let writing = write_all(received, Arc::clone(&self.limits));
            match &self.runtime {
                Some(runtime) => drop(runtime.spawn(writing)),
                None => drop(tokio::spawn(writing)),
            }
            messages
        })
    }

    pub(crate) fn opened(&self) {
        self.open.fetch_add(1, Ordering::SeqCst);
    }

    /// Done when calls are to end since the program stops.
    pub fn closing(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut closing = self.closing.subscribe();
        async move {
            if closing.wait_for(|closing| *closing).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    pub fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Ends the calls that are open, and returns when everything is written.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        let begun = Instant::now();
        while self.open.load(Ordering::SeqCst) > 0 && begun.elapsed() < ENDING {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.flush().await;
    }

    /// Takes what an opened call took; returns at once.
    pub(crate) fn settle(&self, settlement: Settlement) {
        if let Some(key) = settlement.record.spender.key {
            let (usage, at) = (&settlement.record.usage, settlement.record.at);
            let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
            self.limiter.took(key, tokens, at);
        }
        let message = Message::Settle(Box::new(settlement));
        if self.writer().send(message).is_err() {
            tracing::error!("usage came after the end of its writer");
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    /// Returns when all that was taken so far is written.
    pub async fn flush(&self) {
        let Some(messages) = self.messages.get() else {
            return;
        };
        let (done, written) = oneshot::channel();
        if messages.send(Message::Flush(done)).is_ok() {
            let _writer_gone = written.await;
        }
    }
}

async fn write_all(mut received: mpsc::UnboundedReceiver<Message>, limits: Arc<dyn SpendLimits>) {
    while let Some(first) = received.recv().await {
        let mut settlements = Vec::new();
        let mut waiting = Vec::new();
        take(first, &mut settlements, &mut waiting);
        // What has piled up already is not made to wait: else more would come than is ever written.
        if waiting.is_empty() && received.len() < AT_ONCE {
            tokio::time::sleep(GATHER).await;
        }
        while settlements.len() < AT_ONCE
            && let Ok(message) = received.try_recv()
        {
            take(message, &mut settlements, &mut waiting);
        }
        let batches = grouped(settlements);
        join_all(batches.iter().map(|batch| write(&*limits, batch))).await;
        for done in waiting {
            let _nobody_waits = done.send(());
        }
    }
}

fn take(message: Message, settlements: &mut Vec<Settlement>, waiting: &mut Vec<oneshot::Sender<()>>) {
    match message {
        Message::Settle(one) => settlements.push(*one),
        Message::Flush(done) => waiting.push(done),
    }
}

/// Calls of one spender, model and day: one write.
#[derive(Debug)]
struct Batch {
    tenant: TenantId,
    reservations: Vec<ReservationId>,
    records: Vec<SpentRecord>,
}

impl Batch {
    fn takes(&self, one: &Settlement) -> bool {
        let (new, known) = (&one.record, self.records.first());
        self.tenant == one.tenant
            && known.is_some_and(|known| {
                known.spender == new.spender && known.model == new.model && known.at.day() == new.at.day()
            })
    }
}

fn grouped(settlements: Vec<Settlement>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for one in settlements {
        let known = batches.iter().position(|batch| batch.takes(&one));
        let at = known.unwrap_or_else(|| {
            batches.push(Batch { tenant: one.tenant, reservations: Vec::new(), records: Vec::new() });
            batches.len() - 1
        });
        let batch = &mut batches[at];
        batch.reservations.extend(one.reservation);
        batch.records.push(one.record);
    }
    batches
}

async fn write(limits: &dyn SpendLimits, batch: &Batch) {
    for attempt in 1..=TRIES {
        let written = limits.settle_all(batch.tenant, &batch.reservations, &batch.records);
        match written.await {
            Ok(()) => return,
            Err(error) if attempt == TRIES => {
                let (calls, model) = (batch.records.len(), batch.records.first().map(|one| &one.model));
                tracing::error!(%error, calls, model, "usage is lost");
            }
            Err(_) => tokio::time::sleep(GATHER * 5 * attempt).await,
        }
    }
}
