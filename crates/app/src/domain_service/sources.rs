use super::{DataResult, DomainService, Reader};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use steward_core::credential::CredentialUse;
use steward_core::datasource::{Datasource, RowVisibility};
use steward_core::locks::lock;
use steward_core::ports::{DataError, OpenedCredential};
use steward_core::{CredentialId, DatasourceId};
use steward_domains::init::{Samples, form_counts};
use steward_domains::query::Dialect;
use steward_tools::datasource::{DatabaseKind, DatasourceAccess, DatasourceError, SAMPLES, check_credential};

pub(super) type Opened = HashMap<(DatasourceId, u64), (Instant, DatasourceAccess)>;

/// How long what opens a datasource is kept.
const OPENED_FOR: Duration = Duration::from_mins(5);
/// Columns whose values are looked at for a first description; the rest is described without.
const MOST_SAMPLED: usize = 2_000;
/// Rows of a table up to which its values are looked at.
const MOST_ROWS: u64 = 200_000;
/// How long values are looked at in all.
const LONGEST: Duration = Duration::from_secs(30);

impl DomainService {
    /// What opens a datasource. Kept for a few minutes, so that its credential is not opened for each query.
    pub(crate) async fn access(&self, datasource: &Datasource) -> DataResult<DatasourceAccess> {
        if let Some((at, access)) = lock(&self.opened).get(&(datasource.id, datasource.version))
            && at.elapsed() < OPENED_FOR
        {
            return Ok(access.clone());
        }
        let access = self.open_access(datasource).await?;
        let mut opened = lock(&self.opened);
        opened.retain(|(id, _), (at, _)| *id != datasource.id && at.elapsed() < OPENED_FOR);
        opened.insert((datasource.id, datasource.version), (Instant::now(), access.clone()));
        Ok(access)
    }

    /// Files of a folder that are no tables, each with the reason.
    pub(crate) async fn left_out_of(&self, datasource: &Datasource) -> Vec<String> {
        let Ok(access) = self.access(datasource).await else { return Vec::new() };
        tokio::task::spawn_blocking(move || access.left_out()).await.unwrap_or_default()
    }

    /// The same for statements of somebody.
    pub(crate) async fn access_for(&self, datasource: &Datasource, reader: &Reader) -> DataResult<DatasourceAccess> {
        if datasource.as_asking_user && reader.email.is_none() {
            return Err(DataError::Refused(format!(
                "the datasource `{}` runs queries as the person who asks, and nobody does; ask with a key of a user",
                datasource.name
            )));
        }
        let access = self.access(datasource).await?;
        Ok(access.on_behalf_of(reader.email.clone(), datasource.as_asking_user))
    }

    async fn open_access(&self, datasource: &Datasource) -> DataResult<DatasourceAccess> {
        let failed = |why: String| {
            let unusable = DataError::Unusable { datasource: datasource.name.clone(), why };
            if datasource.is_file() { unusable } else { DataError::Failed(unusable.to_string()) }
        };
        let secret = match datasource.credential {
            None => None,
            Some(id) => Some(self.open_credential(datasource, id).await.map_err(failed)?),
        };
        DatasourceAccess::new(datasource, secret.as_ref(), &self.parts.workspace.get(), &self.parts.places)
            .map_err(|error| failed(error.to_string()))
    }

    /// Opened only if it may be sent to the database's server.
    async fn open_credential(&self, datasource: &Datasource, id: CredentialId) -> Result<OpenedCredential, String> {
        let (vault, tenant) = (&self.parts.vault, self.parts.tenant);
        let credential = vault.credential(tenant, id).await.map_err(|error| error.to_string())?;
        check_credential(&datasource.database, &credential).map_err(|error| error.to_string())?;
        let used = CredentialUse {
            credential: id,
            run: None,
            agent: None,
            tool: format!("datasource {}", datasource.name),
            at: self.parts.clock.now(),
        };
        vault.open(tenant, id, used).await.map_err(|error| error.to_string())
    }

    /// What the columns hold, and a few values of those of small tables, where their values may be shown.
    pub(crate) async fn samples_of(&self, datasource: &Datasource) -> DataResult<Samples> {
        let schema = self.schema_of(datasource).await.map_err(DataError::Failed)?;
        let access = self.access(datasource).await?;
        let (mut samples, mut looked, begun) = (Samples::default(), 0, Instant::now());
        if access.kind() == DatabaseKind::Sqlite {
            for table in &schema.tables {
                for (sql, columns) in form_counts(table) {
                    if begun.elapsed() > LONGEST {
                        break;
                    }
                    // A table that can't be looked at is described as it is declared.
                    let Ok(read) = self.databases.read(&access, sql, Vec::new()).await else { continue };
                    if let Some(row) = read.rows.first() {
                        samples.add_forms(table, &columns, row);
                    }
                }
            }
        }
        // Values stand in the texts as examples, which models read.
        if datasource.visibility != RowVisibility::Full {
            return Ok(samples);
        }
        for table in schema.tables.iter().filter(|table| table.row_estimate.is_some_and(|rows| rows <= MOST_ROWS)) {
            for column in &table.columns {
                looked += 1;
                if looked > MOST_SAMPLED || begun.elapsed() > LONGEST {
                    return Ok(samples);
                }
                // A column that can't be looked at is described without examples.
                let Ok(values) = self.databases.samples(&access, &table.name, &column.name).await else { continue };
                let distinct = (values.len() < SAMPLES).then_some(values.len() as u64);
                let of_table = samples.tables.entry(table.name.clone()).or_default();
                let sample = of_table.entry(column.name.clone()).or_default();
                (sample.values, sample.distinct) = (values, distinct);
            }
        }
        Ok(samples)
    }
}

pub(super) fn dialect(access: &DatasourceAccess) -> Dialect {
    match access.kind() {
        DatabaseKind::Sqlite => Dialect::Sqlite,
        DatabaseKind::Postgres => Dialect::Postgres,
        DatabaseKind::MySql => Dialect::MySql,
    }
}

/// What the database says about a statement of ours is mostly for people. It may quote a value that it can't work with.
pub(super) fn failed(datasource: &Datasource, error: &DatasourceError) -> DataError {
    if datasource.is_file() && error.is_about_opening() {
        return DataError::Unusable { datasource: datasource.name.clone(), why: error.to_string() };
    }
    if datasource.untrusted {
        return DataError::Quoted { datasource: datasource.name.clone(), why: error.to_string() };
    }
    DataError::Failed(format!("the datasource `{}`: {error}", datasource.name))
}
