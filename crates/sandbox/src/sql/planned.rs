//! How many rows a server expects to look at for a statement, by its own plan, so that one that would read a whole large
//! table is refused before it runs.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use serde_json::Value;

use super::error::{SqlError, limit};

/// Statements of a connection whose plans are remembered.
const REMEMBERED: usize = 1_000;

/// Statements whose plans were fine: they are not asked for again, whatever their values.
#[derive(Debug, Default)]
pub(super) struct Planned(HashSet<u64>);

impl Planned {
    pub fn is_known(&self, sql: &str) -> bool {
        self.0.contains(&mark(sql))
    }

    pub fn check(&mut self, sql: &str, rows: f64, most: u64) -> Result<(), SqlError> {
        #[expect(clippy::cast_precision_loss, reason = "a limit")]
        if rows > most as f64 {
            return Err(limit(format!(
                "the database expects to look at about {rows:.0} rows for it, and {most} are allowed for this \
                 datasource; narrow it by a condition on a field with an index"
            )));
        }
        if self.0.len() >= REMEMBERED {
            self.0.clear();
        }
        self.0.insert(mark(sql));
        Ok(())
    }
}

fn mark(sql: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::new().hash_one(sql)
}

fn number(node: &Value, key: &str) -> f64 {
    node[key].as_f64().unwrap_or(0.0)
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node["Plans"].as_array().into_iter().flatten()
}

/// The tables that a plan of PostgreSQL reads from end to end, with their schemas.
pub(super) fn scanned(plan: &Value) -> Vec<String> {
    let all: BTreeSet<String> = children(plan).flat_map(scanned).chain(relation(plan)).collect();
    Vec::from_iter(all)
}

fn relation(node: &Value) -> Option<String> {
    let whole = node["Node Type"].as_str().is_some_and(|kind| kind.ends_with("Seq Scan"));
    let (schema, name) = (node["Schema"].as_str()?, node["Relation Name"].as_str()?);
    whole.then(|| format!("{schema}.{name}"))
}

/// Rows that a plan of PostgreSQL looks at. `sizes`: rows of the tables that it reads from end to end. `times`: how often
/// the node is run.
pub(super) fn of_postgres(node: &Value, sizes: &HashMap<String, f64>, times: f64) -> f64 {
    let kind = node["Node Type"].as_str().unwrap_or_default();
    let own = match relation(node) {
        Some(name) => sizes.get(&name).copied().unwrap_or_default().max(number(node, "Plan Rows")),
        None if children(node).next().is_none() || kind == "Materialize" => number(node, "Plan Rows"),
        None => 0.0,
    };
    let mut all = own * times;
    let mut outer = 1.0;
    for child in children(node) {
        let role = child["Parent Relationship"].as_str().unwrap_or_default();
        let child_times = match role {
            // Once for each row of the outer side.
            "Inner" if kind == "Nested Loop" => times * outer,
            "SubPlan" => times * number(node, "Plan Rows").max(1.0),
            // What is kept is read once.
            _ if kind == "Materialize" => 1.0,
            _ => times,
        };
        all += of_postgres(child, sizes, child_times);
        if role == "Outer" {
            outer = number(child, "Plan Rows").max(1.0);
        }
    }
    all
}

/// Rows that a plan of MariaDB or MySQL looks at: for each part of the statement, those of its tables multiplied in the order
/// of joining.
pub(super) fn of_mysql(steps: &[(i64, f64)]) -> f64 {
    let mut all = 0.0;
    let mut product = 1.0;
    let mut part = None;
    for (id, rows) in steps {
        if part != Some(*id) {
            (part, product) = (Some(*id), 1.0);
        }
        product *= rows.max(1.0);
        all += product;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{Planned, of_mysql, of_postgres, scanned};
    use serde_json::json;

    #[test]
    fn rows_of_a_plan_are_added_up() {
        let scan = |rows: f64| json!({"Node Type": "Seq Scan", "Schema": "public", "Relation Name": "track", "Plan Rows": rows});
        let sizes = [("public.track".to_owned(), 5_000.0)].into();
        for (plan, expect) in [
            (json!({"Node Type": "Limit", "Plan Rows": 5, "Plans": [scan(5.0)]}), 5_000.0),
            (json!({"Node Type": "Index Scan", "Schema": "public", "Relation Name": "track", "Plan Rows": 3}), 3.0),
            (
                json!({"Node Type": "Nested Loop", "Plan Rows": 30, "Plans": [
                    {"Node Type": "Index Scan", "Parent Relationship": "Outer", "Plan Rows": 10},
                    {"Node Type": "Index Scan", "Parent Relationship": "Inner", "Plan Rows": 3}]}),
                40.0,
            ),
            (
                json!({"Node Type": "Nested Loop", "Plan Rows": 30, "Plans": [
                    {"Node Type": "Index Scan", "Parent Relationship": "Outer", "Plan Rows": 10},
                    {"Node Type": "Materialize", "Parent Relationship": "Inner", "Plan Rows": 3, "Plans": [scan(3.0)]}]}),
                5_040.0,
            ),
            (
                json!({"Node Type": "Index Scan", "Plan Rows": 4, "Plans": [
                    {"Node Type": "Index Scan", "Parent Relationship": "SubPlan", "Plan Rows": 2}]}),
                8.0,
            ),
        ] {
            assert!(
                (of_postgres(&plan, &sizes, 1.0) - expect).abs() < 1e-6,
                "{plan}: {}",
                of_postgres(&plan, &sizes, 1.0)
            );
        }
        assert_eq!(scanned(&json!({"Plans": [scan(1.0), scan(2.0)]})), ["public.track"]);
        assert!((of_mysql(&[(1, 10.0), (1, 3.0), (2, 7.0)]) - 47.0).abs() < 1e-6);
        let mut planned = Planned::default();
        assert!(planned.check("SELECT 1", 11.0, 10).unwrap_err().to_string().contains("about 11 rows"));
        assert!(!planned.is_known("SELECT 1"));
        planned.check("SELECT 1", 10.0, 10).unwrap();
        assert!(planned.is_known("SELECT 1") && !planned.is_known("SELECT 2"));
    }
}
