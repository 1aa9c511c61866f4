//! How many bytes of requests' bodies are in memory at a time. One sender alone may take all of them; once others wait,
//! what becomes free is theirs first, and bodies still on their way of whoever has more than a share are given up.

use futures::task::AtomicWaker;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::Context;
use std::time::Duration;
use steward_core::locks::lock;
use steward_core::{TenantId, UserId};
use tokio::sync::oneshot;

/// Bytes of bodies of those whom nobody knows yet: logins.
const STRANGERS: usize = 4 << 20;
/// Bytes of short bodies of those who are known, so that large ones don't keep chats and clicks from being read.
const SHORT: usize = 16 << 20;
/// Bytes of all other bodies: three of the longest that models are sent.
const LONG: usize = 96 << 20;
/// Longest short body, bytes.
const MAX_SHORT: usize = 64 << 10;
/// Longest wait for room.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most bodies of one sender that wait for room.
const MAX_WAITING: usize = 64;

/// Whose bodies count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BodyOwner {
    User(UserId),
    /// The identity provider of an organisation.
    Provider(TenantId),
    /// A network, of whoever is not known yet.
    Stranger(IpAddr),
}

/// Why a body is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyRefusal {
    /// Its sender has more than a share, and others wait.
    OverShare,
    /// Nothing became free in time.
    Full,
}

#[derive(Debug)]
pub(crate) struct BodyBudget {
    strangers: Arc<Pool>,
    short: Arc<Pool>,
    long: Arc<Pool>,
}

impl BodyBudget {
    /// The one of this process, however many routers it has.
    pub fn of_this_process() -> Arc<Self> {
        static ONE: LazyLock<Arc<BodyBudget>> = LazyLock::new(|| Arc::new(BodyBudget::new(STRANGERS, SHORT, LONG)));
        Arc::clone(&ONE)
    }

    /// With so many bytes for strangers, for short bodies and for long ones.
    pub fn new(strangers: usize, short: usize, long: usize) -> Self {
        Self { strangers: Pool::new(strangers), short: Pool::new(short), long: Pool::new(long) }
    }

    /// Waits until a body of `bytes` may be read.
    pub async fn take(&self, owner: BodyOwner, bytes: usize) -> Result<BodyTicket, BodyRefusal> {
        let pool = match owner {
            BodyOwner::Stranger(_) => &self.strangers,
            _ if bytes <= MAX_SHORT => &self.short,
            _ => &self.long,
        };
        pool.take(owner, bytes, PATIENCE).await
    }

    /// Bytes that are taken.
    #[cfg(test)]
    pub fn taken(&self) -> usize {
        [&self.strangers, &self.short, &self.long].into_iter().map(|pool| lock(&pool.places).taken).sum()
    }
}

/// Room for one body, given back when this is dropped.
#[derive(Debug)]
pub(crate) struct BodyTicket {
    pool: Arc<Pool>,
    id: u64,
    eviction: Arc<Eviction>,
}

impl BodyTicket {
    /// Whether the body is given up for others; if not, `context` is woken once it is.
    pub fn is_given_up(&self, context: &Context<'_>) -> bool {
        self.eviction.waker.register(context.waker());
        self.eviction.given_up.load(Ordering::Acquire)
    }

    /// All of it has come, so it stays until it is dropped.
    pub fn keep(&self) {
        if let Some(given) = lock(&self.pool.places).given.get_mut(&self.id) {
            given.coming = false;
        }
    }

    /// Room for `more` bytes, if there is some and nobody waits for it.
    pub fn grow(&self, more: usize) -> bool {
        lock(&self.pool.places).grow(self.id, more, self.pool.total)
    }
}

impl Drop for BodyTicket {
    fn drop(&mut self) {
        let mut places = lock(&self.pool.places);
        places.release(self.id);
        places.give(self.pool.total);
    }
}

#[derive(Debug, Default)]
struct Eviction {
    given_up: AtomicBool,
    waker: AtomicWaker,
}

#[derive(Debug)]
struct Pool {
    total: usize,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    taken: usize,
    next: u64,
    given: HashMap<u64, Given>,
    /// Bytes of each owner in `given`.
    owners: HashMap<BodyOwner, usize>,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Given {
    owner: BodyOwner,
    bytes: usize,
    /// Whether some of it has yet to come.
    coming: bool,
    eviction: Arc<Eviction>,
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    owner: BodyOwner,
    bytes: usize,
    eviction: Arc<Eviction>,
    granted: oneshot::Sender<()>,
}

impl Pool {
    fn new(total: usize) -> Arc<Self> {
        Arc::new(Self { total, places: Mutex::default() })
    }

    async fn take(
        self: &Arc<Self>,
        owner: BodyOwner,
        bytes: usize,
        patience: Duration,
    ) -> Result<BodyTicket, BodyRefusal> {
        // What is longer than all that there is comes alone.
        let bytes = bytes.min(self.total);
        let (ticket, mut told) = {
            let mut places = lock(&self.places);
            if places.waiting.iter().filter(|waiting| waiting.owner == owner).count() >= MAX_WAITING {
                return Err(BodyRefusal::OverShare);
            }
            let id = places.next;
            places.next += 1;
            let eviction = Arc::<Eviction>::default();
            let (granted, told) = oneshot::channel();
            places.waiting.push(Waiting { id, owner, bytes, eviction: Arc::clone(&eviction), granted });
            places.give(self.total);
            (BodyTicket { pool: Arc::clone(self), id, eviction }, told)
        };
        if told.try_recv().is_ok() || matches!(tokio::time::timeout(patience, told).await, Ok(Ok(()))) {
            return Ok(ticket);
        }
        let places = lock(&self.places);
        let over = places.of(owner) > places.share(owner, self.total);
        drop(places);
        Err(if over { BodyRefusal::OverShare } else { BodyRefusal::Full })
    }
}

impl Places {
    fn of(&self, owner: BodyOwner) -> usize {
        self.owners.get(&owner).copied().unwrap_or(0)
    }

    /// What each has if all who have or want something had the same, `owner` included.
    fn share(&self, owner: BodyOwner, total: usize) -> usize {
        total / (self.owners.len() + usize::from(!self.owners.contains_key(&owner)))
    }

    /// Gives room to those who wait: to whoever has least first, then to who came first.
    fn give(&mut self, total: usize) {
        loop {
            let turn = |(_, one): &(usize, &Waiting)| (self.of(one.owner), one.id);
            let Some((at, next)) = self.waiting.iter().enumerate().min_by_key(turn) else { return };
            if self.taken + next.bytes > total {
                return self.make_room(next.owner, next.bytes, total);
            }
            let Waiting { id, owner, bytes, eviction, granted } = self.waiting.swap_remove(at);
            self.taken += bytes;
            *self.owners.entry(owner).or_default() += bytes;
            self.given.insert(id, Given { owner, bytes, coming: true, eviction });
            // Whoever went away meanwhile drops their ticket.
            let _gone = granted.send(());
        }
    }

    /// Gives up bodies of those who have more than a share until there is room for `bytes` of `owner`, who has less.
    fn make_room(&self, owner: BodyOwner, bytes: usize, total: usize) {
        let share = self.share(owner, total);
        if self.of(owner) > 0 && self.of(owner) + bytes > share {
            return;
        }
        let given_up = |given: &&Given| given.eviction.given_up.load(Ordering::Acquire);
        let leaving = |of: BodyOwner| -> usize {
            self.given.values().filter(|one| one.owner == of).filter(given_up).map(|one| one.bytes).sum()
        };
        let mut free = total.saturating_sub(self.taken);
        free += self.given.values().filter(given_up).map(|one| one.bytes).sum::<usize>();
        while free < bytes {
            let others = self.given.values().filter(|one| one.coming && one.owner != owner && !given_up(one));
            let left = |one: &&Given| self.of(one.owner) - leaving(one.owner);
            let over = others.filter(|one| left(one) > share);
            let Some(most) = over.max_by_key(|one| (left(one), one.bytes)) else { return };
            most.eviction.given_up.fetch_or(true, Ordering::Release);
            most.eviction.waker.wake();
            free += most.bytes;
        }
    }

    fn grow(&mut self, id: u64, more: usize, total: usize) -> bool {
        if self.taken + more > total || !self.waiting.is_empty() {
            return false;
        }
        let Some(given) = self.given.get_mut(&id) else { return false };
        given.bytes += more;
        self.taken += more;
        *self.owners.entry(given.owner).or_default() += more;
        true
    }

    fn release(&mut self, id: u64) {
        self.waiting.retain(|one| one.id != id);
        let Some(given) = self.given.remove(&id) else { return };
        self.taken -= given.bytes;
        if let Some(held) = self.owners.get_mut(&given.owner) {
            *held -= given.bytes;
            if *held == 0 {
                self.owners.remove(&given.owner);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{BodyOwner, BodyRefusal, BodyTicket, MAX_WAITING, Pool};
    use futures::FutureExt as _;
    use std::sync::Arc;
    use std::task::{Context, Waker};
    use std::time::Duration;
    use steward_core::UserId;
    use steward_core::locks::lock;
    use uuid::Uuid;

    fn user(number: u128) -> BodyOwner {
        BodyOwner::User(UserId(Uuid::from_u128(number)))
    }

    /// At once, or not at all.
    fn now(pool: &Arc<Pool>, owner: BodyOwner, bytes: usize) -> Option<BodyTicket> {
        pool.take(owner, bytes, Duration::from_mins(1)).now_or_never().map(Result::unwrap)
    }

    fn is_given_up(ticket: &BodyTicket) -> bool {
        ticket.is_given_up(&Context::from_waker(Waker::noop()))
    }

    #[tokio::test]
    async fn one_alone_takes_all_and_gives_way_once_another_comes() {
        let pool = Pool::new(100);
        let held: Vec<_> = (0..10).map(|_| now(&pool, user(1), 10).unwrap()).collect();
        assert!(held.iter().all(|one| !is_given_up(one)), "nobody else wants any");
        let mut other = Box::pin(pool.take(user(2), 30, Duration::from_mins(1)));
        assert!((&mut other).now_or_never().is_none());
        assert_eq!(held.iter().filter(|one| is_given_up(one)).count(), 3, "as many as are needed");
        drop(held.into_iter().filter(|one| !is_given_up(one)).collect::<Vec<_>>());
        let theirs = (&mut other).now_or_never().unwrap().unwrap();
        assert!(!is_given_up(&theirs));
        drop(theirs);
        let places = lock(&pool.places);
        assert_eq!((places.taken, places.owners.len()), (0, 0));
    }

    #[tokio::test]
    async fn what_has_come_whole_and_what_is_within_a_share_stays() {
        let pool = Pool::new(100);
        let (whole, coming) = (now(&pool, user(1), 60).unwrap(), now(&pool, user(2), 40).unwrap());
        whole.keep();
        assert!(now(&pool, user(3), 40).is_none());
        // A third of a hundred is a share now.
        assert!(!is_given_up(&whole) && is_given_up(&coming));
        let pool = Pool::new(100);
        let (first, second) = (now(&pool, user(1), 50).unwrap(), now(&pool, user(2), 50).unwrap());
        assert!(now(&pool, user(2), 10).is_none(), "more than their share");
        assert!(!is_given_up(&first) && !is_given_up(&second));
    }

    #[tokio::test]
    async fn turns_go_to_whoever_has_least() {
        let pool = Pool::new(100);
        let all = now(&pool, user(1), 100).unwrap();
        all.keep();
        let mut again = Box::pin(pool.take(user(1), 80, Duration::from_mins(1)));
        let mut other = Box::pin(pool.take(user(2), 80, Duration::from_mins(1)));
        assert!((&mut again).now_or_never().is_none() && (&mut other).now_or_never().is_none());
        let half = now(&pool, user(1), 1);
        assert!(half.is_none());
        drop(all);
        assert!((&mut again).now_or_never().is_some(), "nobody has any, so who came first");
        assert!((&mut other).now_or_never().is_some());
    }

    #[tokio::test]
    async fn who_waits_in_vain_or_too_often_is_refused() {
        let pool = Pool::new(100);
        let all = now(&pool, user(1), 100).unwrap();
        all.keep();
        assert!(!all.grow(1), "there is no more");
        let never = Duration::ZERO;
        assert_eq!(pool.take(user(2), 10, never).await.unwrap_err(), BodyRefusal::Full);
        assert_eq!(pool.take(user(1), 10, never).await.unwrap_err(), BodyRefusal::Full, "alone it has its share");
        let many: Vec<_> = (0..MAX_WAITING)
            .map(|_| {
                let mut waiting = Box::pin(pool.take(user(2), 10, Duration::from_mins(1)));
                assert!((&mut waiting).now_or_never().is_none());
                waiting
            })
            .collect();
        assert_eq!(pool.take(user(2), 10, never).await.unwrap_err(), BodyRefusal::OverShare);
        drop(many);
        drop(all);
        let longer = now(&pool, user(3), 1000).unwrap();
        assert!(!longer.grow(1));
        drop(longer);
        assert_eq!(lock(&pool.places).taken, 0);
    }
}
