use crate::codec::{from_json, from_word, page_size, pattern, status_of, to_word};
use crate::error::{DbError, on_duplicate, require_changed};
use crate::store::Store;
use crate::tx::{Row, args};
use steward_core::ports::{KeptRun, Page, RunFilter, RunRow, RunStatus, StoreError, StoreResult};
use steward_core::{AgentId, ConversationId, RunId, TenantId, Timestamp, UserId};

macro_rules! columns {
    () => {
        "r.id, r.agent_id, r.conversation_id, r.title, r.status, r.outcome, r.answer,
         r.created_at, r.updated_at, r.tokens, r.cost_micros,
         (select max(e.seq) from events e
          where e.tenant_id = r.tenant_id and e.run_id = r.id),
         (select e.at from events e
          where e.tenant_id = r.tenant_id and e.run_id = r.id
          order by e.seq desc limit 1),
         r.origin, r.user_id, r.model, r.verdict, r.forked_from"
    };
}

/// The list. An engine that plans without knowing the arguments can use no index for
/// `$n is null or …`; `$narrow` says again, without the `or`, what the filter surely holds.
macro_rules! list {
    ($narrow:literal) => {
        concat!(
            "select ",
            columns!(),
            " from runs r where r.tenant_id = $1 ",
            $narrow,
            " and ($2 is null or r.status = $2)
              and ($3 is null or r.conversation_id = $3)
              and ($4 is null or r.agent_id = $4)
              and ($5 is null or r.user_id = $5)
              and ($6 is null or r.origin = $6)
              and ($7 is null or r.verdict = $7)
              and ($8 is null or r.ended_as = $8)
              and ($9 is null or r.folded_title like $9 escape '\\'
                              or r.folded_answer like $9 escape '\\')
              and ($10 is null or r.id < $10)
              order by r.id desc limit $11"
        )
    };
}

pub(super) async fn one(store: &Store, tenant: TenantId, run: RunId) -> StoreResult<RunRow> {
    let sql = concat!("select ", columns!(), " from runs r where r.tenant_id = $1 and r.id = $2");
    let found = store.first(sql, args![tenant, run], |row| run_row(tenant, row)).await?;
    found.ok_or_else(|| StoreError::NotFound(format!("run {run}")))
}

fn statement(filter: &RunFilter) -> &'static str {
    if filter.conversation.is_some() {
        list!("and r.conversation_id = $3")
    } else if matches!(filter.status, Some(RunStatus::Running | RunStatus::Parked)) {
        list!("and r.status <> 'finished'")
    } else if filter.user.is_some() {
        list!("and r.user_id = $5")
    } else if filter.agent.is_some() {
        list!("and r.agent_id = $4")
    } else if filter.verdict.is_some() {
        list!("and r.verdict = $7")
    } else if filter.outcome.is_some() {
        list!("and r.ended_as = $8")
    } else {
        list!("")
    }
}

pub(super) async fn page(store: &Store, tenant: TenantId, filter: &RunFilter) -> StoreResult<Page<RunRow>> {
    let limit = page_size(filter.limit);
    let args = args![
        tenant,
        filter.status.map(<&'static str>::from),
        filter.conversation,
        filter.agent,
        filter.user,
        filter.origin.as_ref().map(to_word).transpose()?,
        filter.verdict.as_ref().map(to_word).transpose()?,
        filter.outcome.as_deref(),
        pattern(filter.text.as_deref())?,
        filter.before,
        limit + 1
    ];
    store.page(statement(filter), args, limit, |row| run_row(tenant, row)).await
}

fn run_row(tenant: TenantId, row: &Row) -> StoreResult<RunRow> {
    let outcome = row.opt_text(5)?;
    let verdict = row.opt_text(16)?;
    let moved = row.opt_int(12)?.map_or(Timestamp(i64::MIN), Timestamp);
    Ok(RunRow {
        id: RunId(row.id(0)?),
        tenant,
        agent: AgentId(row.id(1)?),
        conversation: row.opt_id(2)?.map(ConversationId),
        title: row.text(3)?,
        status: status_of(&row.text(4)?)?,
        outcome: outcome.map(|text| from_json("a run's outcome", &text)).transpose()?,
        answer: row.opt_text(6)?,
        origin: from_word("a run's origin", row.text(13)?)?,
        user: row.opt_id(14)?.map(UserId),
        model: row.text(15)?,
        verdict: verdict.map(|word| from_word("a run's verdict", word)).transpose()?,
        forked_from: row.opt_id(17)?.map(RunId),
        created_at: row.time(7)?,
        updated_at: row.time(8)?.max(moved),
        last_seq: row.opt_int(11)?.unwrap_or(0).cast_unsigned(),
        tokens: row.count(9)?,
        cost_micros: row.count(10)?,
    })
}

impl Store {
    /// Keeps one; a name that another has is a conflict.
    pub async fn keep_run(&self, tenant: TenantId, it: &KeptRun) -> StoreResult<()> {
        let sql = "insert into kept_runs (tenant_id, name, run_id, kept_by, created_at) values ($1, $2, $3, $4, $5)";
        let kept = self.execute(sql, args![tenant, &it.name, it.run, &it.by, it.created_at]).await;
        kept.map_err(|e| match e {
            DbError::MissingParent => StoreError::NotFound(format!("run {}", it.run)),
            other => {
                on_duplicate(other, || format!("another run is kept under the name {:?}; choose another", it.name))
            }
        })?;
        Ok(())
    }

    /// All, by name.
    pub async fn kept_runs(&self, tenant: TenantId) -> StoreResult<Vec<KeptRun>> {
        let sql = "select name, run_id, kept_by, created_at from kept_runs where tenant_id = $1";
        self.all_by_name(sql, args![tenant], kept_of, |kept| kept.name.as_str()).await
    }

    /// Lets go of one; the run stays.
    pub async fn drop_kept(&self, tenant: TenantId, name: &str) -> StoreResult<()> {
        let sql = "delete from kept_runs where tenant_id = $1 and name = $2";
        require_changed(self.execute(sql, args![tenant, name]).await?, || format!("kept run {name:?}"))
    }
}

fn kept_of(row: &Row) -> StoreResult<KeptRun> {
    Ok(KeptRun { name: row.text(0)?, run: RunId(row.id(1)?), by: row.text(2)?, created_at: row.time(3)? })
}
