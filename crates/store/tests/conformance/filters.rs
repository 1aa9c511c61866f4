use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, append, conversation, id, row, text};
use steward_core::budget::Limit;
use steward_core::event::{Origin, Outcome};
use steward_core::ports::{RunFilter, RunRow, RunStatus, RunStore, SideWrite, StoreError};
use steward_core::receipts::Verdict;
use steward_core::{AgentId, RunId, TenantId, Timestamp, UserId};
use steward_store::Store;

struct Made {
    title: &'static str,
    origin: Origin,
    user: Option<UserId>,
    end: Option<(Outcome, &'static str, Verdict)>,
}

async fn make(store: &Store, agent: AgentId, made: Made) -> RunId {
    let row = RunRow { agent, title: made.title.to_owned(), origin: made.origin, user: made.user, ..row() };
    let lease = store.create_run(row, vec![text("first")], vec![], "a", LATER).await.unwrap();
    if let Some((outcome, answer, verdict)) = made.end {
        let side = vec![SideWrite::Status {
            status: RunStatus::Finished,
            outcome: Some(outcome),
            answer: Some(answer.to_owned()),
            tokens: 1,
            cost_micros: 1,
            verdict: Some(verdict),
        }];
        store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    }
    lease.run
}

/// Five runs and what they have in common.
struct Runs {
    ids: Vec<RunId>,
    ours: AgentId,
    theirs: AgentId,
    ann: UserId,
}

async fn five(store: &Store) -> Runs {
    let (ours, theirs) = (AgentId(id()), AgentId(id()));
    let (ann, bob) = (UserId(id()), UserId(id()));
    let failed = Outcome::Failed { message: "no model; completed nothing".to_owned() };
    let limited = Outcome::Limited { limit: Limit::Tokens, message: String::new() };
    let end = |outcome, answer, verdict| Some((outcome, answer, verdict));
    let made = |title, origin, user, end| Made { title, origin, user, end };
    let fast = end(Outcome::Completed, "Fünf ÖLE_fässer", Verdict::Verified);
    let none = end(failed, "", Verdict::NoClaims);
    let half = end(limited, "half", Verdict::Unverified);
    let no = end(Outcome::Rejected, "failed", Verdict::NoClaims);
    let list = [
        (ours, made("Über 100% Ärger", Origin::Cli, None, None)),
        (ours, made("count", Origin::Chat, Some(ann), fast)),
        (theirs, made("count", Origin::Api, Some(bob), none)),
        (theirs, made("write", Origin::Chat, Some(ann), half)),
        (ours, made("plan", Origin::Schedule, None, no)),
    ];
    let mut ids = Vec::new();
    for (agent, made) in list {
        ids.push(make(store, agent, made).await);
    }
    Runs { ids, ours, theirs, ann }
}

impl Runs {
    /// Whether `filter` finds these, by their place in the list.
    async fn check(&self, store: &Store, filter: RunFilter, expected: &[usize]) {
        let page = store.runs(TENANT, filter.clone()).await.unwrap();
        let found: Vec<_> = page.items.iter().map(|row| row.id).collect();
        let expected: Vec<_> = expected.iter().map(|at| self.ids[*at]).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

fn find(words: &str) -> RunFilter {
    RunFilter { text: Some(words.to_owned()), ..RunFilter::default() }
}

pub async fn runs_are_found_by_what_they_are(bed: Bed) {
    let store = bed.store();
    let runs = five(&store).await;
    let check = async |filter, expected| runs.check(&store, filter, expected).await;
    let any = RunFilter::default;
    let agent = |agent| RunFilter { agent: Some(agent), ..any() };
    check(agent(runs.ours), &[4, 1, 0]).await;
    check(agent(AgentId(id())), &[]).await;
    let ann = RunFilter { user: Some(runs.ann), ..any() };
    check(ann, &[3, 1]).await;
    let origin = |origin| RunFilter { origin: Some(origin), ..any() };
    check(origin(Origin::Chat), &[3, 1]).await;
    check(origin(Origin::Delegation), &[]).await;
    let verdict = |verdict| RunFilter { verdict: Some(verdict), ..any() };
    check(verdict(Verdict::NoClaims), &[4, 2]).await;
    check(verdict(Verdict::Unverified), &[3]).await;
    for (word, expected) in [
        ("failed", vec![2]),
        ("completed", vec![1]),
        ("limited", vec![3]),
        ("rejected", vec![4]),
        ("stopped", vec![]),
        ("\"failed\"", vec![]),
    ] {
        let outcome = RunFilter { outcome: Some(word.to_owned()), ..any() };
        runs.check(&store, outcome, &expected).await;
    }
    let rest = RunFilter { before: Some(runs.ids[4]), limit: 1, ..agent(runs.ours) };
    let page = store.runs(TENANT, rest).await.unwrap();
    assert_eq!((page.items[0].id, page.more), (runs.ids[1], true));
}

pub async fn runs_are_counted_by_time_and_end(bed: Bed) {
    let store = bed.store();
    let runs = five(&store).await;
    let late = RunRow { created_at: Timestamp(NOW.0 + 2_500), user: Some(runs.ann), ..row() };
    store.create_run(late, vec![text("first")], vec![], "a", LATER).await.unwrap();
    let of = async |from: i64, to: i64, user| {
        let counted = store.run_counts(TENANT, Timestamp(NOW.0 + from), Timestamp(NOW.0 + to), 1_000, user).await;
        let seen = counted.unwrap().into_iter().map(|one| (one.step, one.ended_as.unwrap_or_default(), one.runs));
        let mut seen: Vec<_> = seen.collect();
        seen.sort();
        seen
    };
    let word = |step, word: &str, runs| (step, word.to_owned(), runs);
    let first = ["", "completed", "failed", "limited", "rejected"].map(|end| word(0, end, 1));
    assert_eq!(of(0, 2_500, None).await, first, "the end is not part of it");
    assert_eq!(of(0, 2_501, None).await, [&first[..], &[word(2, "", 1)]].concat());
    assert_eq!(of(-1_000, 1, runs.ann.into()).await, [word(1, "completed", 1), word(1, "limited", 1)]);
    assert_eq!(of(1, 2_000, None).await, []);
    let nobody = store.run_counts(TenantId::from(id()), Timestamp(0), LATER, 1_000, None).await.unwrap();
    assert_eq!(nobody, []);
}

pub async fn runs_are_found_by_their_text(bed: Bed) {
    let store = bed.store();
    let runs = five(&store).await;
    for (words, expected) in [
        ("ärger", vec![0]),
        ("fÜNF", vec![1]),
        ("%", vec![0]),
        ("_", vec![1]),
        ("COUNT", vec![2, 1]),
        ("failed", vec![4]),
        ("", vec![4, 3, 2, 1, 0]),
    ] {
        runs.check(&store, find(words), &expected).await;
    }
    // All that is named must hold.
    let all = RunFilter {
        outcome: Some("completed".to_owned()),
        verdict: Some(Verdict::Verified),
        origin: Some(Origin::Chat),
        agent: Some(runs.ours),
        user: Some(runs.ann),
        status: Some(RunStatus::Finished),
        ..find("öle")
    };
    runs.check(&store, all.clone(), &[1]).await;
    for wrong in [
        RunFilter { agent: Some(runs.theirs), ..all.clone() },
        RunFilter { status: Some(RunStatus::Parked), ..all.clone() },
        RunFilter { text: Some("half".to_owned()), ..all.clone() },
        RunFilter { before: Some(runs.ids[1]), ..all },
    ] {
        runs.check(&store, wrong, &[]).await;
    }
    let endless = store.runs(TENANT, find(&"é".repeat(30_000))).await;
    assert!(matches!(endless, Err(StoreError::Conflict(_))), "{endless:?}");
}

pub async fn an_answer_taken_back_is_not_found(bed: Bed) {
    let store = bed.store();
    let talk = conversation(&store).await;
    let lease = crate::conformance::fixtures::started_in(&store, talk).await;
    let stand = |answer: Option<&str>, verdict| SideWrite::Status {
        status: RunStatus::Running,
        outcome: None,
        answer: answer.map(str::to_owned),
        tokens: 1,
        cost_micros: 1,
        verdict,
    };
    let find = RunFilter { text: Some("first try".to_owned()), ..RunFilter::default() };
    let side = vec![stand(Some("First TRY"), Some(Verdict::Verified))];
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    let page = store.runs(TENANT, find.clone()).await.unwrap();
    assert_eq!(page.items[0].verdict, Some(Verdict::Verified));
    let side = vec![stand(None, None)];
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    assert!(store.runs(TENANT, find).await.unwrap().items.is_empty());
    let read = store.run(TENANT, lease.run).await.unwrap();
    assert_eq!((read.verdict, read.outcome), (None, None));
}
