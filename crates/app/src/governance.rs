//! Labels and policies over data, and the standards that they serve.

mod masked_texts;
mod personal_data;
mod policy_report;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::data_rules::read_data_rules;
use crate::dto::governance::{
    Clause, DataCheck, DataChecked, DataLabelInput, DataLabelView, DataRulesInput, DataRulesView, ResolvedPolicy,
    ResolvedReference, Standard,
};
use crate::inputs::is_trimmed_line;
use crate::settings::save_changed;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use steward_core::AgentId;
use steward_core::governance::{
    Classification, DATA_RULES_SETTING, DataAction, DataLabel, DataPolicy, DataRules, Seen,
};

const MAX_LABELS: usize = 200;
const MAX_POLICIES: usize = 100;
/// Entries of one list of a label.
const MAX_ENTRIES: usize = 200;
/// In characters.
const MAX_NAME: usize = 80;
const MAX_ENTRY: usize = 500;

const ADDRESS: &str = "/api/data-governance/policies";

static STANDARDS: LazyLock<Vec<Standard>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        standard: Vec<Standard>,
    }
    let file = toml::from_str::<File>(include_str!("../data/standards.toml"));
    file.map(|file| file.standard).unwrap_or_default()
});

impl App {
    pub async fn data_rules(&self, caller: &Caller) -> AppResult<DataRulesView> {
        authorize(caller, Action::Read, Resource::Policies)?;
        let rules = self.kept_data_rules().await?;
        self.show_data_rules(rules).await
    }

    /// Replaces labels and policies. They hold for runs that begin from now on; runs at work keep theirs.
    pub async fn set_data_rules(&self, caller: &Caller, wanted: DataRulesInput) -> AppResult<DataRulesView> {
        authorize(caller, Action::Administer, Resource::Policies)?;
        check_lengths(&wanted)?;
        let before = self.kept_data_rules().await?;
        let kept: BTreeSet<AgentId> = before.labels.iter().flat_map(|label| label.agents.iter().copied()).collect();
        let DataRulesInput { version, labels: wanted, policies } = wanted;
        let mut labels = Vec::with_capacity(wanted.len());
        for (index, label) in wanted.into_iter().enumerate() {
            labels.push(self.label_meant(index, label, &kept).await?);
        }
        let rules = DataRules { version: version + 1, labels, policies };
        check_rules(&rules)?;
        save_changed(&self.store, self.tenant(), DATA_RULES_SETTING, &rules, (before.version, version), ADDRESS)
            .await?;
        self.data_rules_cache.forget();
        tracing::info!(
            by = caller.by(),
            version = rules.version,
            labels = rules.labels.len(),
            policies = rules.policies.len(),
            "data rules were changed"
        );
        self.show_data_rules(rules).await
    }

    /// `kept`: agents that may stay in a label though they were deleted.
    async fn label_meant(&self, index: usize, label: DataLabelInput, kept: &BTreeSet<AgentId>) -> AppResult<DataLabel> {
        let DataLabelInput { name, classification, paths, tools, tables, marks, agents, personal } = label;
        let agents = self.agents_meant(&format!("labels.{index}.agents"), &agents, kept).await?;
        Ok(DataLabel { name, classification, paths, tools, tables, marks, agents, personal })
    }

    async fn show_data_rules(&self, rules: DataRules) -> AppResult<DataRulesView> {
        let agents = rules.labels.iter().flat_map(|label| label.agents.iter().copied()).collect();
        let names = self.agent_names(agents).await?;
        let labels = rules.labels.into_iter().map(|label| DataLabelView {
            agents: names.refs(&label.agents),
            name: label.name,
            classification: label.classification,
            paths: label.paths,
            tools: label.tools,
            tables: label.tables,
            marks: label.marks,
            personal: label.personal,
        });
        Ok(DataRulesView { version: rules.version, labels: labels.collect(), policies: resolved(rules.policies) })
    }

    pub fn standards(&self, caller: &Caller) -> AppResult<Vec<Standard>> {
        authorize(caller, Action::Read, Resource::Policies)?;
        Ok(STANDARDS.clone())
    }

    /// What the rules say of something that a run would meet. Nothing is done.
    pub async fn check_data(&self, caller: &Caller, check: DataCheck) -> AppResult<DataChecked> {
        authorize(caller, Action::Read, Resource::Policies)?;
        let rules = self.kept_data_rules().await?;
        let arguments = json!(check.argument);
        let personal = self.personal_data_in(caller, &check.text).await?;
        let agents = self.store.agents(self.tenant()).await?;
        let agent = agents.iter().find(|agent| agent.name == check.agent || agent.id.to_string() == check.agent);
        let seen = Seen {
            agent: agent.map(|agent| (agent.id, agent.name.as_str())),
            tool: &check.tool,
            arguments: Some(&arguments),
            text: &check.text,
            workspace: &self.workspace.get(),
            folder: "",
            files: &[],
            personal: &personal,
        };
        let classified = rules.classify(&seen);
        let level = classified.as_ref().map(|seen| seen.classification);
        let holds = |policy: &&DataPolicy| level.is_some_and(|level| policy.from <= level);
        let policies = rules.policies.iter().filter(holds).map(|policy| policy.name.clone()).collect();
        let mut connections = Vec::new();
        let blocked = level.is_some_and(|level| rules.demanding(DataAction::Block, level).is_some());
        let known = if blocked { Vec::new() } else { self.connections.list().await };
        for known in known {
            if level.is_none_or(|level| rules.keeps_from(known.connection.is_in_house(), level).is_none()) {
                connections.push(known.connection.name);
            }
        }
        Ok(DataChecked { classified, policies, connections, personal })
    }

    pub(crate) async fn kept_data_rules(&self) -> AppResult<DataRules> {
        Ok(read_data_rules(&self.store, self.tenant()).await?)
    }
}

fn resolved(policies: Vec<DataPolicy>) -> Vec<ResolvedPolicy> {
    let policies = policies.into_iter().map(|policy| ResolvedPolicy {
        references_resolved: policy.references.iter().filter_map(|id| reference(id)).collect(),
        name: policy.name,
        from: policy.from,
        action: policy.action,
        mask_kinds: policy.mask_kinds,
        references: policy.references,
    });
    policies.collect()
}

fn reference(id: &str) -> Option<ResolvedReference> {
    STANDARDS.iter().find_map(|standard| {
        let clause = standard.clauses.iter().find(|clause| clause.id == id)?;
        let Clause { id, number, title, about, .. } = clause.clone();
        let (standard, standard_title) = (standard.name.clone(), standard.title.clone());
        Some(ResolvedReference { id, standard, standard_title, number, title, about })
    })
}

fn check_lengths(rules: &DataRulesInput) -> AppResult<()> {
    for (field, length, most) in
        [("labels", rules.labels.len(), MAX_LABELS), ("policies", rules.policies.len(), MAX_POLICIES)]
    {
        if length > most {
            return Err(AppError::invalid(field, format!("more than {most} {field}"), "join those that say the same"));
        }
    }
    Ok(())
}

fn check_rules(rules: &DataRules) -> AppResult<()> {
    let mut names = BTreeSet::new();
    for (index, label) in rules.labels.iter().enumerate() {
        check_name(&format!("labels.{index}.name"), &label.name)?;
        check_label(index, label)?;
        if !names.insert(label.name.as_str()) {
            return Err(twice(&format!("labels.{index}.name"), &label.name));
        }
    }
    let mut names = BTreeSet::new();
    for (index, policy) in rules.policies.iter().enumerate() {
        check_name(&format!("policies.{index}.name"), &policy.name)?;
        if !names.insert(policy.name.as_str()) {
            return Err(twice(&format!("policies.{index}.name"), &policy.name));
        }
        if policy.from == Classification::Public {
            return Err(AppError::invalid(
                format!("policies.{index}.from"),
                "what is public needs no policy",
                "choose internal, confidential or restricted",
            ));
        }
        if policy.action != DataAction::Mask && !policy.mask_kinds.is_empty() {
            return Err(AppError::invalid(
                format!("policies.{index}.mask_kinds"),
                "only the action `mask` has kinds that it masks",
                "leave them out, or choose `mask`",
            ));
        }
        if let Some(unknown) = policy.references.iter().find(|id| reference(id).is_none()) {
            return Err(AppError::invalid(
                format!("policies.{index}.references"),
                format!("there is no clause `{unknown}`"),
                "GET /api/data-governance/references lists those there are",
            ));
        }
    }
    Ok(())
}

fn check_label(index: usize, label: &DataLabel) -> AppResult<()> {
    let lists = [("paths", &label.paths), ("tools", &label.tools), ("tables", &label.tables), ("marks", &label.marks)];
    let empty = lists.iter().all(|(_, list)| list.is_empty()) && label.personal.is_empty() && label.agents.is_empty();
    if empty {
        return Err(AppError::invalid(
            format!("labels.{index}"),
            format!("the label `{}` says nothing of where such data is", label.name),
            "name paths, tools, tables, marks, agents or kinds of personal data",
        ));
    }
    if label.agents.len() > MAX_ENTRIES {
        return Err(AppError::invalid(
            format!("labels.{index}.agents"),
            format!("`agents` takes up to {MAX_ENTRIES} entries"),
            "make two labels of it",
        ));
    }
    for (field, list) in lists {
        let wrong = |entry: &String| {
            let length = entry.trim().chars().count();
            length == 0 || length > MAX_ENTRY || entry.chars().any(char::is_control)
        };
        if list.len() > MAX_ENTRIES || list.iter().any(wrong) {
            return Err(AppError::invalid(
                format!("labels.{index}.{field}"),
                format!("`{field}` takes up to {MAX_ENTRIES} entries of 1 to {MAX_ENTRY} characters on one line"),
                "leave empty entries out",
            ));
        }
    }
    Ok(())
}

fn check_name(field: &str, name: &str) -> AppResult<()> {
    if !is_trimmed_line(name, MAX_NAME) {
        return Err(AppError::invalid(
            field,
            format!("{name:?} is no name"),
            format!("1 to {MAX_NAME} characters on one line, with no space at the ends"),
        ));
    }
    Ok(())
}

fn twice(field: &str, name: &str) -> AppError {
    AppError::invalid(field, format!("there are two of the name `{name}`"), "give each a name of its own")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{STANDARDS, check_rules, reference};
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    #[test]
    fn ten_standards_are_there_with_clauses_of_their_own() {
        assert_eq!(STANDARDS.len(), 10);
        let mut ids = BTreeSet::new();
        for standard in STANDARDS.iter() {
            assert!(standard.clauses.len() >= 5, "{}", standard.id);
            for clause in &standard.clauses {
                assert!(clause.id.starts_with(&format!("{}:", standard.id)), "{}", clause.id);
                assert!(ids.insert(clause.id.as_str()), "{} is there twice", clause.id);
                assert!(reference(&clause.id).is_some());
            }
        }
    }

    #[test]
    fn rules_that_say_nothing_are_refused() {
        let label = |change: Value| {
            let mut label = json!({"name": "hr", "classification": "confidential", "paths": ["hr/**"]});
            label.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            label
        };
        let policy = |change: Value| {
            let mut policy = json!({"name": "house", "from": "confidential", "action": "local_only"});
            policy.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            policy
        };
        let nothing = json!({});
        for (labels, policies, field) in [
            (vec![label(nothing.clone())], vec![policy(nothing.clone())], None),
            (vec![label(json!({"paths": []}))], vec![], Some("labels.0")),
            (vec![label(json!({"paths": [" "]}))], vec![], Some("labels.0.paths")),
            (vec![label(json!({"name": ""}))], vec![], Some("labels.0.name")),
            (vec![label(nothing.clone()), label(nothing.clone())], vec![], Some("labels.1.name")),
            (vec![], vec![policy(json!({"from": "public"}))], Some("policies.0.from")),
            (vec![], vec![policy(json!({"mask_kinds": ["email"]}))], Some("policies.0.mask_kinds")),
            (vec![], vec![policy(json!({"action": "mask", "mask_kinds": ["email"]}))], None),
            (vec![], vec![policy(json!({"references": ["gdpr:0"]}))], Some("policies.0.references")),
            (vec![], vec![policy(nothing.clone()), policy(nothing.clone())], Some("policies.1.name")),
        ] {
            let rules = json!({"version": 0, "labels": labels, "policies": policies});
            let found = check_rules(&serde_json::from_value(rules.clone()).unwrap());
            let wrong = found.err().and_then(|error| error.detail.field);
            assert_eq!(wrong.as_deref(), field, "{rules}");
        }
    }
}
