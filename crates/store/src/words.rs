//! The columns that hold people's words or names, as they are marked in the migration; its first lines say how.

use crate::migrate::FIRST;
use std::sync::LazyLock;

/// For each column whose words an erasure replaces: puts `$3` into the place of what the pattern `$2` finds.
pub(crate) static REPLACED: LazyLock<Vec<&str>> =
    LazyLock::new(|| columns().filter_map(|column| column.replacement()).collect());

/// Counts the rows of a table in which the pattern `$2` finds something. What is folded only repeats another column.
pub(crate) static MENTIONS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let counted = |column: &Column| column.mark.is_some() && !column.name.starts_with("folded_");
    let columns: Vec<Column> = columns().filter(counted).collect();
    columns.chunk_by(|one, next| one.table == next.table).filter_map(mentions).collect()
});

/// Whether an erasure leaves a table as it is.
pub(crate) fn stay_in(table: &str) -> bool {
    !columns()
        .any(|column| column.table == table && matches!(column.mark, Some(Mark::Replaced | Mark::ReplacedOnce(_))))
}

#[derive(Debug, Clone, Copy)]
enum Mark {
    Replaced,
    /// In rows where this holds.
    ReplacedOnce(&'static str),
    /// Configuration, files of the organisation, and the chain of the audit trail.
    Kept,
}

struct Column {
    table: &'static str,
    name: &'static str,
    mark: Option<Mark>,
}

/// Those of all tables that are text, in their order.
fn columns() -> impl Iterator<Item = Column> {
    let tables = FIRST.split("create table ").skip(1).filter_map(|text| {
        let (table, rest) = text.split_once(" (\n")?;
        Some((table, rest.split_once("\n);")?.0))
    });
    tables.flat_map(|(table, lines)| lines.lines().filter_map(move |line| Column::read(table, line)))
}

impl Column {
    fn read(table: &'static str, line: &'static str) -> Option<Self> {
        let (declared, comment) = line.split_once("-- ").unwrap_or((line, ""));
        let mut words = declared.split_whitespace();
        let (name, kind) = (words.next()?, words.next()?.trim_end_matches(','));
        (kind == "text").then(|| Self { table, name, mark: Mark::read(comment) })
    }

    fn replacement(&self) -> Option<&'static str> {
        let (table, name) = (self.table, self.name);
        let condition = match self.mark? {
            Mark::Replaced => String::new(),
            Mark::ReplacedOnce(condition) => format!(" and {condition}"),
            Mark::Kept => return None,
        };
        let set = format!("update {table} set {name} = regexp_replace({name}, $2, $3, 'g')");
        Some(&*format!("{set} where tenant_id = $1 and regexp_like({name}, $2){condition}").leak())
    }
}

impl Mark {
    fn read(comment: &'static str) -> Option<Self> {
        match comment.strip_prefix("words")? {
            "" => Some(Self::Replaced),
            ", kept" => Some(Self::Kept),
            more => more.strip_prefix(", once ").map(Self::ReplacedOnce),
        }
    }
}

fn mentions(columns: &[Column]) -> Option<(&'static str, &'static str)> {
    let table = columns.first()?.table;
    let found = |column: &Column| format!("regexp_like({}, $2)", column.name);
    let found = columns.iter().map(found).collect::<Vec<_>>().join(" or ");
    let sql = format!("select cast(count(*) as bigint) from {table} where tenant_id = $1 and ({found})");
    Some((table, &*sql.leak()))
}

#[cfg(test)]
mod tests {
    use super::{Column, FIRST, MENTIONS, REPLACED, columns, stay_in};
    use std::collections::BTreeSet;

    /// Columns without a mark, by their name or with their table, and why an erasure may pass them by.
    const UNMARKED: &[(&str, &str)] = &[
        (
            "words of the program",
            "action category classification ended_as fate grantee_kind kind level origin period problem purpose
             reason result role scope state status verdict runs.owner group_members.source user_groups.source
             occurrences.outcome deliveries.outcome",
        ),
        (
            "ids, hashes and what is sealed",
            "anchor_hash api_key_hash blob blob_names body_hash code_hash external_id hash id invitation_hash key_id password_hash prefix
             previous_hash request_hash sealed secret_hash sha256 source_key token_hash tool_set",
        ),
        ("another form of a column beside it", "folded folded_name folded_user_name sort_key"),
        (
            "what things are called and where they are",
            "address domain embedding_model endpoint model name next_model package path workspace ingest_jobs.label",
        ),
        (
            "configuration, as it is written",
            "connections.body credentials.body collections.body datasources.body domain_texts.text
             domain_text_versions.text exam_reports.body mcp_servers.body skill_packages.body skill_versions.body
             standing_instructions.body tool_sets.body virtual_keys.body",
        ),
        ("says which file or tool, and how confidential", "credential_uses.body origins"),
        (
            "goes with the account",
            "attributes email issuer subject user_name idempotency_keys.body idempotency_keys.owner login_sessions.label",
        ),
    ];

    #[test]
    fn every_column_of_text_is_marked_or_has_a_reason_not_to_be() {
        let all: BTreeSet<&str> = UNMARKED.iter().flat_map(|(_, names)| names.split_whitespace()).collect();
        let mut used: BTreeSet<&str> = BTreeSet::new();
        let unmarked = |column: &Column| column.table != "tenants" && column.mark.is_none();
        for column in columns().filter(unmarked) {
            let exact = format!("{}.{}", column.table, column.name);
            let entry = [column.name, exact.as_str()].into_iter().find_map(|name| all.get(name));
            assert!(
                entry.is_some(),
                "does {exact} hold words of people? Mark it in the migration, or say why not here"
            );
            used.extend(entry);
        }
        assert_eq!(all, used, "some of UNMARKED are in no table, or marked");
        let marked = columns().filter(|column| column.mark.is_some()).count();
        assert_eq!(FIRST.matches("-- words").count(), marked, "a mark can't be read");
    }

    #[test]
    fn marks_become_statements() {
        assert!(REPLACED.contains(
            &"update notes set text = regexp_replace(text, $2, $3, 'g') where tenant_id = $1 and regexp_like(text, $2)"
        ));
        assert!(REPLACED.iter().any(|sql| sql.ends_with(" and decided_at is not null")));
        assert!(!REPLACED.iter().any(|sql| sql.contains("audit_")), "the audit trail is a chain");
        let stays: Vec<&str> = MENTIONS.iter().map(|(table, _)| *table).filter(|table| stay_in(table)).collect();
        assert!(stays.contains(&"skills") && !stays.contains(&"notes") && !stays.contains(&"events"), "{stays:?}");
        let (_, sql) = MENTIONS.iter().find(|(table, _)| *table == "runs").expect("runs have words");
        assert_eq!(
            *sql,
            "select cast(count(*) as bigint) from runs where tenant_id = $1 and \
             (regexp_like(title, $2) or regexp_like(outcome, $2) or regexp_like(answer, $2))"
        );
    }
}
