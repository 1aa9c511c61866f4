//! What calls through the gateway took, written behind the answers: a client never waits for it, and an orderly stop
//! loses none of it.

use crate::home::Home;
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
/// Tries before one is given up.
const TRIES: u32 = 4;

/// One call that is over.
#[derive(Debug)]
pub(super) struct Settlement {
    /// Tenant.
    pub(super) tenant: TenantId,
    /// What was set aside for it.
    pub(super) reservation: Option<ReservationId>,
    /// What it took.
    pub(super) record: SpentRecord,
}

enum Word {
    Settle(Box<Settlement>),
    Flush(oneshot::Sender<()>),
}

/// Takes settlements at once and writes them soon.
pub struct Ledger {
    limits: Arc<dyn SpendLimits>,
    /// Where the writer works: a lane may end before it.
    home: Home,
    /// To the writer, which begins with the first call.
    words: OnceLock<mpsc::UnboundedSender<Word>>,
    /// Calls that are not settled yet.
    open: AtomicUsize,
    closing: watch::Sender<bool>,
    limiter: Arc<RateLimiter>,
}

impl Ledger {
    /// Writes to `limits`; `limiter` counts what virtual keys take a minute, here and in runs.
    pub fn new(limits: Arc<dyn SpendLimits>, limiter: Arc<RateLimiter>) -> Self {
        Self {
            limits,
            home: Home(Handle::try_current().ok()),
            words: OnceLock::new(),
            open: AtomicUsize::new(0),
            closing: watch::Sender::new(false),
            limiter,
        }
    }

    /// What virtual keys take a minute.
    pub(crate) fn limiter(&self) -> &RateLimiter {
        &self.limiter
    }

    /// Where budgets are reserved.
    pub(super) fn limits(&self) -> &Arc<dyn SpendLimits> {
        &self.limits
    }

    fn writer(&self) -> &mpsc::UnboundedSender<Word> {
        self.words.get_or_init(|| {
            let (words, heard) = mpsc::unbounded_channel();
            let writing = write_all(heard, Arc::clone(&self.limits));
            match &self.home.0 {
                Some(home) => drop(home.spawn(writing)),
                None => drop(tokio::spawn(writing)),
            }
            words
        })
    }

    /// A call begins, which will be settled.
    pub(super) fn opened(&self) {
        self.open.fetch_add(1, Ordering::SeqCst);
    }

    /// Done when calls are to end since the program stops.
    pub(super) fn closing(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut closing = self.closing.subscribe();
        async move {
            if closing.wait_for(|closing| *closing).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
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
    pub(super) fn settle(&self, settlement: Settlement) {
        if let Some(key) = settlement.record.spender.key {
            let (usage, at) = (&settlement.record.usage, settlement.record.at);
            let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
            self.limiter.took(key, tokens, at);
        }
        let word = Word::Settle(Box::new(settlement));
        if self.writer().send(word).is_err() {
            tracing::error!("usage came after the end of its writer");
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    /// Returns when all that was taken so far is written.
    pub async fn flush(&self) {
        let Some(words) = self.words.get() else {
            return;
        };
        let (done, written) = oneshot::channel();
        if words.send(Word::Flush(done)).is_ok() {
            let _writer_gone = written.await;
        }
    }
}

async fn write_all(mut heard: mpsc::UnboundedReceiver<Word>, limits: Arc<dyn SpendLimits>) {
    while let Some(first) = heard.recv().await {
        let mut batch = Vec::new();
        let mut waiting = Vec::new();
        take(first, &mut batch, &mut waiting);
        // What has piled up already is not made to wait: else more would come than is ever written.
        if waiting.is_empty() && heard.len() < AT_ONCE {
            tokio::time::sleep(GATHER).await;
        }
        while batch.len() < AT_ONCE
            && let Ok(word) = heard.try_recv()
        {
            take(word, &mut batch, &mut waiting);
        }
        let lots = lots(batch);
        join_all(lots.iter().map(|lot| write(&*limits, lot))).await;
        for done in waiting {
            let _nobody_waits = done.send(());
        }
    }
}

fn take(word: Word, batch: &mut Vec<Settlement>, waiting: &mut Vec<oneshot::Sender<()>>) {
    match word {
        Word::Settle(one) => batch.push(*one),
        Word::Flush(done) => waiting.push(done),
    }
}

/// Calls of one spender, model and day: one write.
#[derive(Debug)]
struct Lot {
    tenant: TenantId,
    reservations: Vec<ReservationId>,
    records: Vec<SpentRecord>,
}

impl Lot {
    fn takes(&self, one: &Settlement) -> bool {
        let (new, known) = (&one.record, self.records.first());
        self.tenant == one.tenant
            && known.is_some_and(|known| {
                known.spender == new.spender && known.model == new.model && known.at.day() == new.at.day()
            })
    }
}

fn lots(batch: Vec<Settlement>) -> Vec<Lot> {
    let mut lots: Vec<Lot> = Vec::new();
    for one in batch {
        let known = lots.iter().position(|lot| lot.takes(&one));
        let at = known.unwrap_or_else(|| {
            lots.push(Lot { tenant: one.tenant, reservations: Vec::new(), records: Vec::new() });
            lots.len() - 1
        });
        let lot = &mut lots[at];
        lot.reservations.extend(one.reservation);
        lot.records.push(one.record);
    }
    lots
}

async fn write(limits: &dyn SpendLimits, lot: &Lot) {
    for attempt in 1..=TRIES {
        let written = limits.settle_all(lot.tenant, &lot.reservations, &lot.records);
        match written.await {
            Ok(()) => return,
            Err(error) if attempt == TRIES => {
                let (calls, model) = (lot.records.len(), lot.records.first().map(|one| &one.model));
                tracing::error!(%error, calls, model, "usage is lost");
            }
            Err(_) => tokio::time::sleep(GATHER * 5 * attempt).await,
        }
    }
}
