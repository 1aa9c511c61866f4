//! Changes of records: proposed by anyone who may, written once a person confirms, taken back if they wish.

use super::queries::{no_datasource, refused};
use super::sources::{dialect, failed};
use super::{DataResult, DomainService, Known, Reader};
use fail::fail_point;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;
use steward_core::datasource::{Datasource, RecordChange, RecordChangeState};
use steward_core::ports::{DataCaller, DataError};
use steward_core::{RecordChangeId, UserId};
use steward_domains::change::{Change, CheckedChange, CurrentRow, Difference, Options, validate};
use steward_domains::model::{Domain, Meta};
use steward_domains::query::Dialect;
use steward_domains::registry::Right;
use steward_tools::datasource::{DatasourceAccess, StagedChange, WriteState};

/// Most values of a list of choices.
const MOST_OPTIONS: usize = 1000;

/// A change with what it would do, field by field.
#[derive(Debug, Clone)]
pub(crate) struct ProposedChange {
    pub change: RecordChange,
    pub difference: Vec<Difference>,
}

/// A change and where it goes.
struct Target {
    checked: CheckedChange,
    datasource: Datasource,
    access: DatasourceAccess,
    dialect: Dialect,
}

impl DomainService {
    /// Checks a change and keeps it for a person to decide. Nothing is written.
    pub(crate) async fn propose(&self, caller: DataCaller, change: &Value) -> DataResult<ProposedChange> {
        let target = self.target(caller, change).await?;
        let current = self.current_row(&target).await?;
        let difference = target.checked.difference(current.as_ref());
        if difference.is_empty() {
            return Err(DataError::Refused("nothing would change: the record is so already".to_owned()));
        }
        let change = RecordChange {
            id: RecordChangeId(self.parts.ids.next()),
            domain: target.checked.domain().to_owned(),
            change: change.clone(),
            before: current.as_ref().map(|current| current.values.clone()),
            state: RecordChangeState::Proposed,
            owner: caller.user,
            run: caller.run,
            agent: caller.agent,
            proposed_at: self.parts.clock.now(),
            decided_by: None,
            decided_at: None,
            outcome: None,
            current: current.as_ref().and_then(|current| serde_json::to_value(current).ok()),
            written: None,
            version: 1,
        };
        self.parts.store.add_record_change(self.parts.tenant, &change).await?;
        Ok(ProposedChange { change, difference })
    }

    /// Names of the domains that the roles of who asks may read.
    pub(crate) async fn readable_domains(&self, caller: DataCaller) -> DataResult<BTreeSet<String>> {
        let known = self.known().await?;
        let roles = self.roles(caller).await?;
        Ok(known.domains.seen_by(&roles).iter().map(|known| known.domain.name.clone()).collect())
    }

    /// Whether the roles of who asks may read the domain of a change. Nobody may read one that is gone.
    pub(crate) async fn may_see(&self, caller: DataCaller, change: &RecordChange) -> DataResult<bool> {
        Ok(self.readable_domains(caller).await?.contains(&change.domain))
    }

    /// What a change would do or has done, field by field. Where the database itself decides who sees which rows, only
    /// who proposed it sees the record.
    pub(crate) async fn with_difference(&self, caller: DataCaller, change: RecordChange) -> DataResult<ProposedChange> {
        let known = self.known().await?;
        let datasource = known.domains.get(&change.domain).and_then(|domain| known.datasource(&domain.datasource));
        if change.owner != caller.user && datasource.is_some_and(|datasource| datasource.as_asking_user) {
            return Ok(ProposedChange { change: RecordChange { before: None, ..change }, difference: Vec::new() });
        }
        let fields: Vec<_> = known.domains.get(&change.domain).map_or_else(Vec::new, |domain| {
            domain.fields.iter().map(|field| (field.name.clone(), field.kind)).collect()
        });
        let before = change.before.clone().unwrap_or_default();
        let mut after = if change.change["change"] == "delete" { Map::new() } else { before.clone() };
        for (name, value) in change.change["set"].as_object().into_iter().flatten() {
            after.insert(name.clone(), value.clone());
        }
        let difference = steward_domains::change::difference(&fields, &before, &after);
        Ok(ProposedChange { change, difference })
    }

    /// Writes a proposed change, with the rights of who confirms it. Somebody who was faster wins: then nothing is
    /// written, and the change says so.
    pub(crate) async fn confirm(&self, by: UserId, change: RecordChange) -> DataResult<RecordChange> {
        let caller = DataCaller { user: Some(by), ..DataCaller::default() };
        let target = self.target(caller, &change.change).await?;
        if !target.datasource.writable {
            return Err(DataError::Refused(format!(
                "the datasource `{}` is only read; an operator can open it for changes",
                target.datasource.name
            )));
        }
        let current: Option<CurrentRow> = change.current.clone().and_then(|row| serde_json::from_value(row).ok());
        let lowered = target.checked.lower(current.as_ref(), target.dialect);
        let (sql, values) = lowered.map_err(|error| DataError::Refused(error.to_string()))?;
        let confirmed = RecordChange {
            state: RecordChangeState::Confirmed,
            decided_by: Some(by),
            decided_at: Some(self.parts.clock.now()),
            ..change
        };
        // Of two who confirm at once, one gets here.
        let confirmed = self.parts.store.save_record_change(self.parts.tenant, &confirmed).await?;
        fail_point!("app.change.confirmed");
        let (store, tenant, staging) = (Arc::clone(&self.parts.store), self.parts.tenant, confirmed.clone());
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let before_commit = move |staged: StagedChange| async move {
            let written = serde_json::to_value(&staged).map_err(|error| error.to_string())?;
            let staging = RecordChange { written: Some(written), ..staging };
            let saved = store.save_record_change(tenant, &staging).await.map_err(|error| error.to_string())?;
            let _ = tell.send(saved);
            fail_point!("app.change.staged");
            Ok(())
        };
        let done = self.databases.change(&target.access, sql, values, before_commit).await;
        fail_point!("app.change.committed");
        let latest = told.try_recv().unwrap_or(confirmed);
        let (state, outcome) = match done {
            Ok(staged) if staged.count == 1 => (RecordChangeState::Done, written_text(&staged)),
            Ok(_) => (
                RecordChangeState::Failed,
                "Somebody else has changed or deleted the record since it was shown; nothing was written. Look at it \
                 again and propose the change anew."
                    .to_owned(),
            ),
            Err(error) => {
                let why = failed(&target.datasource, &error).to_string();
                return self.after_error(latest, &target, &why).await;
            }
        };
        let outcome = Some(outcome);
        Ok(self.parts.store.save_record_change(self.parts.tenant, &RecordChange { state, outcome, ..latest }).await?)
    }

    pub(crate) async fn discard(&self, by: UserId, change: RecordChange) -> DataResult<RecordChange> {
        let discarded = RecordChange {
            state: RecordChangeState::Discarded,
            decided_by: Some(by),
            decided_at: Some(self.parts.clock.now()),
            ..change
        };
        Ok(self.parts.store.save_record_change(self.parts.tenant, &discarded).await?)
    }

    /// Puts the record back as it was.
    pub(crate) async fn take_back(&self, by: UserId, change: RecordChange) -> DataResult<RecordChange> {
        let cannot = || DataError::Refused("it can't be taken back: the rows before it were not kept".to_owned());
        let snapshot = staged(&change).and_then(|staged| staged.undo).ok_or_else(cannot)?;
        let caller = DataCaller { user: Some(by), ..DataCaller::default() };
        self.may_undo(caller, &change).await?;
        let reader = self.reader(caller).await?;
        let (datasource, access) = self.place_of(&change.domain, Some(&reader)).await?;
        let done = self.databases.undo(&access, snapshot).await.map_err(|error| failed(&datasource, &error));
        done.map_err(|error| DataError::Refused(error.to_string()))?;
        let outcome = Some("It was taken back: the record is as it was before.".to_owned());
        let undone = RecordChange { state: RecordChangeState::Undone, outcome, ..change };
        Ok(self.parts.store.save_record_change(self.parts.tenant, &undone).await?)
    }

    /// Finds out what became of a change that was cut off while it was written.
    pub(crate) async fn settle(&self, change: RecordChange) -> DataResult<RecordChange> {
        let staged = staged(&change);
        let outcome = match &staged {
            // Nothing was sent to be committed.
            None => WriteState::NotDone,
            Some(staged) => {
                let (datasource, access) = self.place_of(&change.domain, None).await?;
                self.databases.outcome(&access, staged).await.map_err(|error| failed(&datasource, &error))?
            }
        };
        let settled = match (outcome, &staged) {
            (WriteState::Done, Some(staged)) => {
                RecordChange { state: RecordChangeState::Done, outcome: Some(written_text(staged)), ..change }
            }
            (WriteState::NotDone, _) => RecordChange {
                state: RecordChangeState::Proposed,
                decided_by: None,
                decided_at: None,
                written: None,
                ..change
            },
            _ => RecordChange {
                state: RecordChangeState::Failed,
                outcome: Some(
                    "The program ended while it was written, and the record does not tell whether it was. Look at it."
                        .to_owned(),
                ),
                ..change
            },
        };
        Ok(self.parts.store.save_record_change(self.parts.tenant, &settled).await?)
    }

    async fn after_error(&self, change: RecordChange, target: &Target, why: &str) -> DataResult<RecordChange> {
        let staged = staged(&change);
        // Where the commit itself failed, it may have been done.
        let done = match &staged {
            Some(staged) => self.databases.outcome(&target.access, staged).await.ok(),
            None => Some(WriteState::NotDone),
        };
        let (state, outcome) = match (done, staged) {
            (Some(WriteState::Done), Some(staged)) => (RecordChangeState::Done, written_text(&staged)),
            (Some(WriteState::NotDone), _) => (RecordChangeState::Failed, format!("Nothing was written: {why}")),
            // It is found out later.
            _ => return Ok(change),
        };
        let ended = RecordChange { state, outcome: Some(outcome), ..change };
        Ok(self.parts.store.save_record_change(self.parts.tenant, &ended).await?)
    }

    async fn target(&self, caller: DataCaller, change: &Value) -> DataResult<Target> {
        let change: Change = serde_json::from_value(change.clone()).map_err(|error| {
            DataError::Refused(format!(
                "the change is not as it should be ({error}); write {{\"change\": \"update\", \"domain\": …, \"key\": …, \
                 \"set\": {{…}}}}, \"insert\" without a key, or \"delete\" without a set"
            ))
        })?;
        let known = self.known().await?;
        let reader = self.reader(caller).await?;
        let visible = known.domains.seen_by(&reader.roles);
        let options = match visible.domain(change.domain()) {
            Some(domain) => self.options(&known, domain.domain, &reader).await?,
            None => Options::default(),
        };
        let checked = validate(&change, &known.domains, &reader.roles, &options).map_err(|errors| refused(&errors))?;
        let (datasource, access) = self.place_of(checked.domain(), Some(&reader)).await?;
        let dialect = dialect(&access);
        Ok(Target { checked, datasource, access, dialect })
    }

    /// `reader`: for whose statements; `None`: to find out what became of one.
    async fn place_of(&self, domain: &str, reader: Option<&Reader>) -> DataResult<(Datasource, DatasourceAccess)> {
        let known = self.known().await?;
        let gone = || DataError::Refused(format!("there is no domain `{domain}` any more"));
        let domain = known.domains.get(domain).ok_or_else(gone)?;
        let datasource = known.datasource(&domain.datasource).ok_or_else(|| no_datasource(&domain.datasource))?;
        let access = match reader {
            Some(reader) => self.access_for(datasource, reader).await?,
            None => self.access(datasource).await?,
        };
        Ok((datasource.clone(), access))
    }

    /// Taking back a change takes the same right as making its opposite.
    async fn may_undo(&self, caller: DataCaller, change: &RecordChange) -> DataResult<()> {
        let known = self.known().await?;
        let roles = self.roles(caller).await?;
        let wanted = if change.change["change"] == "insert" { Right::Delete } else { Right::Write };
        let allowed = known.domains.get(&change.domain).is_some_and(|domain| {
            let visible = known.domains.seen_by(&roles);
            visible.allows(domain, Right::Read) && visible.allows(domain, wanted)
        });
        if allowed {
            return Ok(());
        }
        Err(DataError::Refused(format!("your roles may not take this change of `{}` back", change.domain)))
    }

    /// The row as it is; `None` for one that is to be made.
    async fn current_row(&self, target: &Target) -> DataResult<Option<CurrentRow>> {
        let Some(read) = target.checked.read(target.dialect) else { return Ok(None) };
        let rows = self.databases.read(&target.access, read.sql.clone(), read.values.clone()).await;
        let rows = rows.map_err(|error| failed(&target.datasource, &error))?;
        match rows.rows.first() {
            Some(row) => Ok(Some(read.row(row))),
            None => Err(DataError::Refused(format!(
                "there is no such record of `{}`; look for its key first",
                target.checked.domain()
            ))),
        }
    }

    /// The choices of all fields of a domain that have some.
    pub(crate) async fn options(&self, known: &Known, domain: &Domain, reader: &Reader) -> DataResult<Options> {
        let mut options = Options::default();
        for field in &domain.fields {
            let meta = field.options.as_ref().and_then(|name| domain.metas.iter().find(|meta| meta.name == *name));
            let Some(meta) = meta else { continue };
            let rows = self.choices(known, domain, meta, reader).await?;
            options.add(&domain.name, &field.name, rows.into_iter().map(|(key, _)| key).collect());
        }
        Ok(options)
    }

    /// Keys and labels of a list of choices.
    pub(crate) async fn choices(
        &self,
        known: &Known,
        domain: &Domain,
        meta: &Meta,
        reader: &Reader,
    ) -> DataResult<Vec<(Value, String)>> {
        let datasource = known.datasource(&domain.datasource).ok_or_else(|| no_datasource(&domain.datasource))?;
        let access = self.access_for(datasource, reader).await?;
        let (sql, values) = steward_domains::choices::statement(meta, MOST_OPTIONS, dialect(&access));
        let rows = self.databases.read(&access, sql, values).await.map_err(|error| failed(datasource, &error))?;
        let pair = |mut row: Vec<Value>| {
            let label = row.get(1).map(text).unwrap_or_default();
            (row.swap_remove(0), label)
        };
        Ok(rows.rows.into_iter().filter(|row| !row.is_empty()).map(pair).collect())
    }
}

/// What was handed to the database, if that was come to.
fn staged(change: &RecordChange) -> Option<StagedChange> {
    change.written.clone().and_then(|written| serde_json::from_value(written).ok())
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn written_text(staged: &StagedChange) -> String {
    if staged.undo.is_some() {
        "It was written, and can be taken back.".to_owned()
    } else {
        "It was written. It can't be taken back: the database does not say which row it was.".to_owned()
    }
}
