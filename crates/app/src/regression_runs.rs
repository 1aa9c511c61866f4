use crate::app::{Action, App, AppError, Caller, Resource, authorize, listed_owner};
use crate::dto::runs::KeptReport;
use steward_core::ports::{KeptRun, RunStore as _};

impl App {
    /// Those whose run the caller may see, by name.
    pub async fn kept_runs(&self, caller: &Caller) -> Result<Vec<KeptRun>, AppError> {
        authorize(caller, Action::Read, Resource::Runs)?;
        let all = self.store.kept_runs(self.tenant()).await?;
        if listed_owner(caller, Resource::Runs).is_none() {
            return Ok(all);
        }
        let mut mine = Vec::new();
        for kept in all {
            let row = self.store.run(self.tenant(), kept.run).await?;
            if authorize(caller, Action::Read, Resource::Run { id: row.id, owner: row.user }).is_ok() {
                mine.push(kept);
            }
        }
        Ok(mine)
    }

    /// Decides all of them again from their logs, without models or tools, and compares.
    pub async fn replay_kept_runs(&self, caller: &Caller) -> Result<Vec<KeptReport>, AppError> {
        authorize(caller, Action::Operate, Resource::Runs)?;
        let mut reports = Vec::new();
        for kept in self.kept_runs(caller).await? {
            let report = self.runs.replay(kept.run).await?;
            reports.push(KeptReport {
                name: kept.name,
                run_id: kept.run,
                same: report.same,
                differences: report.differences,
            });
        }
        Ok(reports)
    }

    /// Lets go of one; the run stays.
    pub async fn drop_kept_run(&self, caller: &Caller, name: &str) -> Result<(), AppError> {
        authorize(caller, Action::Operate, Resource::Runs)?;
        let known = self.kept_runs(caller).await?;
        let Some(kept) = known.into_iter().find(|kept| kept.name == name) else {
            return Err(AppError::not_found(format!("the kept run `{name}`")));
        };
        // Its run, so that somebody else's is theirs to let go.
        self.run_of(caller, Action::Operate, kept.run).await?;
        Ok(self.store.drop_kept(self.tenant(), &kept.name).await?)
    }
}
