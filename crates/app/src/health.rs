//! What the program needs, and whether it answers: for `/readyz`, the page About, `/api/admin/health` and `doctor`.

pub mod checks;

use crate::dto::about::{Part, PartStatus};
use futures::future::{BoxFuture, join_all};
use std::path::Path;
use std::time::{Duration, Instant};
use steward_core::Timestamp;
use steward_core::live::Live;
use steward_store::{SCHEMA_VERSION, Store};
use tokio::sync::Mutex;

/// Longest time for one check, unless it says otherwise.
const LIMIT: Duration = Duration::from_secs(5);
/// How long a finding is as good as a new one: some checks start programs.
const FRESH: Duration = Duration::from_secs(2);

/// What a check found about one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which, of several that a check looks at.
    pub name: Option<String>,
    pub status: PartStatus,
    pub detail: String,
    /// What to do; empty if there is nothing to do.
    pub hint: String,
}

impl Found {
    pub fn new(status: PartStatus, detail: impl Into<String>) -> Self {
        Self { name: None, status, detail: detail.into(), hint: String::new() }
    }

    pub fn ok(detail: impl Into<String>) -> Self {
        Self::new(PartStatus::Ok, detail)
    }

    pub fn down(detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..Self::new(PartStatus::Down, detail) }
    }

    /// Not there, and not missed.
    pub fn off(detail: impl Into<String>) -> Self {
        Self::new(PartStatus::Off, detail)
    }

    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

pub type Probe = Box<dyn Fn() -> BoxFuture<'static, Vec<Found>> + Send + Sync>;

/// A thing that is looked at.
pub struct Check {
    /// Empty: each finding has its own.
    name: &'static str,
    /// Whether nothing works without it.
    needed: bool,
    limit: Duration,
    probe: Probe,
    /// A look that costs nothing, for who asks every few seconds.
    quick: Option<Probe>,
}

impl Check {
    pub fn new<F>(name: &'static str, probe: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Vec<Found>> + Send + 'static,
    {
        Self { name, needed: false, limit: LIMIT, probe: boxed(probe), quick: None }
    }

    #[must_use]
    pub fn needed(mut self) -> Self {
        self.needed = true;
        self
    }

    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    #[must_use]
    pub fn quick<F>(mut self, probe: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Vec<Found>> + Send + 'static,
    {
        self.quick = Some(boxed(probe));
        self
    }

    async fn run(&self, probe: &Probe) -> Vec<Part> {
        let begun = Instant::now();
        let found = tokio::time::timeout(self.limit, probe()).await.unwrap_or_else(|_| {
            let detail = format!("there was no answer within {} s", self.limit.as_secs_f32());
            vec![Found::down(detail, "see whether it hangs, and restart it")]
        });
        let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        found.into_iter().map(|found| self.part(found, ms)).collect()
    }

    fn part(&self, found: Found, ms: u64) -> Part {
        let Found { name, status, detail, hint } = found;
        let name = name.map_or_else(|| self.name.to_owned(), |name| format!("{} {name}", self.name).trim().to_owned());
        let detail = if hint.is_empty() || status == PartStatus::Ok { detail } else { format!("{detail}; {hint}") };
        Part { name, status, detail, needed: self.needed, ms }
    }
}

fn boxed<F>(probe: impl Fn() -> F + Send + Sync + 'static) -> Probe
where
    F: Future<Output = Vec<Found>> + Send + 'static,
{
    Box::new(move || Box::pin(probe()))
}

#[derive(Default)]
pub struct Health {
    checks: Live<Vec<Check>>,
    /// The last findings of all checks. Held while they run, so that they run once however many ask.
    last: Mutex<Option<(Instant, Vec<Part>)>>,
}

impl Health {
    pub fn new(checks: Vec<Check>) -> Self {
        Self { checks: Live::new(checks), last: Mutex::default() }
    }

    /// Looks at these from now on.
    pub async fn change(&self, checks: Vec<Check>) {
        self.checks.replace(checks);
        *self.last.lock().await = None;
    }

    /// What costs nothing to know.
    pub async fn quick(&self) -> Vec<Part> {
        let checks = self.checks.get();
        let quick = checks.iter().filter_map(|check| Some(check.run(check.quick.as_ref()?)));
        join_all(quick).await.into_iter().flatten().collect()
    }

    /// All checks at the same time. Takes as long as the slowest.
    pub async fn all(&self) -> Vec<Part> {
        let mut last = self.last.lock().await;
        if let Some((at, parts)) = &*last
            && at.elapsed() < FRESH
        {
            return parts.clone();
        }
        let checks = self.checks.get();
        let found = join_all(checks.iter().map(|check| check.run(&check.probe))).await;
        let parts: Vec<Part> = found.into_iter().flatten().collect();
        *last = Some((Instant::now(), parts.clone()));
        parts
    }
}

#[derive(Debug, Clone)]
pub struct AboutFacts {
    pub version: String,
    pub commit: Option<String>,
    /// `sqlite` or `postgresql`.
    pub database: String,
    pub database_version: String,
    pub schema_version: Option<i64>,
    pub data_dir: String,
    pub started_at: Timestamp,
}

impl AboutFacts {
    /// `commit` is that of the build, `now` the start of this process.
    pub async fn read(store: &Store, data_dir: &Path, commit: Option<&str>, now: Timestamp) -> Self {
        let (database, database_version) = match store.describe().await {
            Ok((name, version)) => (name.to_owned(), version),
            Err(error) => ("unknown".to_owned(), error.to_string()),
        };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: commit.filter(|text| !text.is_empty()).map(str::to_owned),
            database,
            database_version,
            schema_version: Some(SCHEMA_VERSION),
            data_dir: data_dir.display().to_string(),
            started_at: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Check, Found, Health};
    use crate::dto::about::PartStatus;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::{Duration, Instant};

    #[tokio::test]
    async fn checks_run_side_by_side_each_within_its_limit() {
        let slow = |name| {
            Check::new(name, || async {
                tokio::time::sleep(Duration::from_millis(200)).await;
                vec![Found::ok("slow")]
            })
        };
        let hangs = Check::new("hangs", std::future::pending).within(Duration::from_millis(200)).needed();
        let many =
            Check::new("mail", || async { vec![Found::off("none").named("a"), Found::down("no", "do it").named("b")] });
        let health = Health::new(vec![slow("one"), slow("two"), hangs, many]);
        let begun = Instant::now();
        let parts = health.all().await;
        assert!(begun.elapsed() < Duration::from_millis(380), "{:?}", begun.elapsed());
        let seen: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.status, part.needed)).collect();
        assert_eq!(
            seen,
            [
                ("one", PartStatus::Ok, false),
                ("two", PartStatus::Ok, false),
                ("hangs", PartStatus::Down, true),
                ("mail a", PartStatus::Off, false),
                ("mail b", PartStatus::Down, false),
            ]
        );
        assert!(parts[2].detail.contains("no answer within 0.2 s") && parts[0].ms >= 200, "{parts:?}");
        assert_eq!(parts[4].detail, "no; do it");
    }

    #[tokio::test]
    async fn who_asks_at_the_same_time_gets_the_same_findings() {
        let runs = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&runs);
        let check = Check::new("one", move || {
            count.fetch_add(1, Ordering::SeqCst);
            async { vec![Found::ok("")] }
        });
        let health = Health::new(vec![check.quick(|| async { vec![Found::ok("quick")] })]);
        let (first, second) = futures::join!(health.all(), health.all());
        assert_eq!((first, runs.load(Ordering::SeqCst)), (second, 1));
        assert_eq!(health.quick().await[0].detail, "quick");
    }
}
