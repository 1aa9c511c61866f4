mod postgres;
mod sqlite;

use crate::tx::Tx;
use futures::FutureExt;
use futures::future::BoxFuture;
use steward_core::ports::{StoreError, StoreResult};
use tokio::sync::oneshot;

pub(crate) use postgres::Postgres;
pub(crate) use sqlite::Sqlite;

pub(crate) enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// A plain function of its arguments, so that it can be done again in a transaction of its own.
pub(crate) type OpFn<A, T> = for<'a, 'c> fn(&'a A, &'a mut Tx<'c>) -> BoxFuture<'a, StoreResult<T>>;

pub(crate) trait QueuedCall: Send {
    /// Does it once; says whether it worked.
    fn attempt(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Answers the caller: how it went, or how the transaction failed.
    fn settle(self: Box<Self>, failure: Option<&StoreError>);
}

pub(crate) struct Call<A, T> {
    pub args: A,
    pub op: OpFn<A, T>,
    pub outcome: Option<StoreResult<T>>,
    pub reply: oneshot::Sender<StoreResult<T>>,
}

impl<A: Send, T: Send> QueuedCall for Call<A, T> {
    fn attempt(&mut self, tx: &mut Tx<'_>) -> bool {
        let outcome = ready((self.op)(&self.args, tx));
        let worked = outcome.is_ok();
        self.outcome = Some(outcome);
        worked
    }

    fn settle(self: Box<Self>, failure: Option<&StoreError>) {
        let outcome = match (failure, self.outcome) {
            // What the call was refused for is true whatever became of the transaction.
            (_, Some(Err(refused))) => Err(refused),
            (Some(failure), _) => Err(failure.clone()),
            (None, Some(Ok(value))) => Ok(value),
            (None, None) => Err(gone()),
        };
        // The caller may have stopped waiting; what is written is written.
        drop(self.reply.send(outcome));
    }
}

/// The result of a future over a SQLite connection, which never has to wait.
pub(crate) fn ready<T>(future: BoxFuture<'_, StoreResult<T>>) -> StoreResult<T> {
    future.now_or_never().unwrap_or_else(|| {
        Err(StoreError::Backend("a statement waited where it must not; please report this".to_owned()))
    })
}

pub(crate) fn gone() -> StoreError {
    StoreError::Backend("the store's writer has stopped; restart steward".to_owned())
}

/// Places where tests stop or fail the program; nothing without the feature `failpoints`. At the two commit points the
/// action `return` means sudden death of the process.
mod failpoints {
    use steward_core::ports::StoreResult;

    pub(crate) fn before_commit() {
        fail::fail_point!("store.commit.before", |_| std::process::abort());
    }

    pub(crate) fn after_commit() {
        fail::fail_point!("store.commit.after", |_| std::process::abort());
    }

    /// The action `return` makes writes fail as on a full disk.
    #[allow(clippy::unnecessary_wraps, reason = "fails only with the feature `failpoints`")]
    pub(crate) fn disk_full() -> StoreResult<()> {
        fail::fail_point!("store.disk_full", |_| Err(steward_core::ports::StoreError::Full(
            "injected by a fail point".to_owned()
        )));
        Ok(())
    }
}
