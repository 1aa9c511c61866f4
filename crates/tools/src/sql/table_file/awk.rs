//! A structured query over one file as an awk program. Nothing of the request becomes program text
//! but numbers, column positions and escaped strings.

use super::file::RowFile;
use crate::sql::query::{Aggregate, Condition, Op, Query, Select};
use serde_json::Value;

/// Rows shown at most.
const SHOWN: u32 = 100;

/// Splits a line with quoted values into `$1`…; mawk knows no other way.
const SPLIT: &str = r#"function cells(line,  n, i, c, q, v) { n = 1; v = ""; q = 0; for (i = 1; i <= length(line); i++) { c = substr(line, i, 1); if (c == "\"") { q = !q } else if (c == FS && !q) { F[n++] = v; v = "" } else { v = v c } } F[n] = v } "#;

/// The argument vector; `None` if awk is no good for the query.
pub fn lower(query: &Query, table: &RowFile, path: &str) -> Option<Vec<String>> {
    let cell = |column: &str| -> Option<String> {
        let at = table.place(column)?;
        Some(if table.quoted {
            format!("F[{at}]")
        } else {
            format!("${at}")
        })
    };
    let mut tests = vec!["NR > 1".to_owned()];
    for condition in &query.conditions {
        tests.push(test(condition, &cell)?);
    }
    let take = if table.quoted {
        "{ sub(/\\r$/, \"\"); cells($0) } "
    } else {
        "{ sub(/\\r$/, \"\") } "
    };
    let function = if table.quoted { SPLIT } else { "" };
    let body = body(query, &cell)?;
    let program = format!("{function}{take}{} {body}", tests.join(" && "));
    let separator = if table.separator == '\t' {
        "\\t".to_owned()
    } else {
        table.separator.to_string()
    };
    Some(vec![
        "awk".to_owned(),
        "-F".to_owned(),
        separator,
        program,
        path.to_owned(),
    ])
}

fn body(query: &Query, cell: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let aggregate = query
        .select
        .iter()
        .find(|select| select.aggregate.is_some());
    match (aggregate, query.group_by.first()) {
        (Some(select), None)
            if select.aggregate == Some(Aggregate::Count)
                && query.distinct
                && select.column.is_some() =>
        {
            let value = cell(select.column.as_deref()?)?;
            Some(format!(
                "{{ if (!({value} in seen)) {{ seen[{value}] = 1; n++ }} }} END {{ print n + 0 }}"
            ))
        }
        (Some(select), None) => number(select, cell),
        (Some(select), Some(group)) => grouped(select, &cell(&group.column)?, cell),
        (None, _) => rows(query, cell),
    }
}

fn number(select: &Select, cell: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let value = match &select.column {
        Some(column) => cell(column)?,
        None => "1".to_owned(),
    };
    Some(match select.aggregate? {
        Aggregate::Count => "{ n++ } END { print n + 0 }".to_owned(),
        Aggregate::Sum => format!("{{ s += {value} }} END {{ printf \"%.10g\\n\", s }}"),
        Aggregate::Avg => format!(
            "&& {value} != \"\" {{ s += {value}; n++ }} END {{ if (n) printf \"%.10g\\n\", s / n }}"
        ),
        Aggregate::Max => format!(
            "{{ if ({value} != \"\" && (!n++ || {value} + 0 > m)) {{ m = {value} + 0; row = $0 }} }} END {{ if (n) {{ printf \"%.10g\\n\", m; print row }} }}"
        ),
        Aggregate::Min => format!(
            "{{ if ({value} != \"\" && (!n++ || {value} + 0 < m)) {{ m = {value} + 0; row = $0 }} }} END {{ if (n) {{ printf \"%.10g\\n\", m; print row }} }}"
        ),
    })
}

fn grouped(select: &Select, key: &str, cell: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let value = match &select.column {
        Some(column) => cell(column)?,
        None => "1".to_owned(),
    };
    let (keep, show) = match select.aggregate? {
        Aggregate::Count => (String::new(), "n[k]"),
        Aggregate::Sum => (format!("s[{key}] += {value}; "), "s[k]"),
        Aggregate::Avg => (format!("s[{key}] += {value}; "), "s[k] / n[k]"),
        Aggregate::Max => (
            format!("if (!({key} in s) || {value} + 0 > s[{key}]) s[{key}] = {value} + 0; "),
            "s[k]",
        ),
        Aggregate::Min => (
            format!("if (!({key} in s) || {value} + 0 < s[{key}]) s[{key}] = {value} + 0; "),
            "s[k]",
        ),
    };
    Some(format!(
        "{{ {keep}n[{key}]++ }} END {{ for (k in n) printf \"%s\\t%.10g\\n\", k, {show} }}"
    ))
}

/// Rows as they are, or the first of them in an order.
fn rows(query: &Query, cell: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let limit = query.limit.unwrap_or(SHOWN).min(SHOWN);
    let shown = if query.select.is_empty() {
        "$0".to_owned()
    } else {
        let cells: Option<Vec<String>> = query
            .select
            .iter()
            .map(|select| cell(select.column.as_deref()?))
            .collect();
        cells?.join(" \"\\t\" ")
    };
    if let Some(order) = &query.order_by {
        let value = cell(order.column.as_deref()?)?;
        let better = if order.desc { ">" } else { "<" };
        return Some(format!(
            "&& {value} != \"\" {{ n++; v[n] = {value}; row[n] = {shown} }} END {{ for (i = 1; i <= {limit} && i <= n; i++) {{ b = 0; for (j = 1; j <= n; j++) if (!(j in done) && (!b || v[j] {better} v[b])) b = j; done[b] = 1; print row[b] }} }}"
        ));
    }
    if query.distinct {
        return Some(format!(
            "{{ line = {shown}; if (!(line in seen) && n++ < {limit}) {{ seen[line] = 1; print line }} }}"
        ));
    }
    Some(format!(
        "{{ if (n++ < {limit}) print {shown} }} END {{ print \"(\" n + 0 \" rows)\" }}"
    ))
}

fn test(condition: &Condition, cell: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let value = cell(&condition.column)?;
    let operator = match condition.op {
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Gt => ">",
        Op::Gte => ">=",
        Op::Lt => "<",
        Op::Lte => "<=",
        Op::IsNull => return Some(format!("{value} == \"\"")),
        Op::Contains => {
            return Some(format!(
                "index(tolower({value}), {}) > 0",
                literal(&condition.value)?
            ));
        }
        Op::Starts => {
            return Some(format!(
                "index(tolower({value}), {}) == 1",
                literal(&condition.value)?
            ));
        }
        Op::In => {
            let all: Option<Vec<String>> = condition
                .value
                .as_array()?
                .iter()
                .map(|one| Some(format!("tolower({value}) == {}", literal(one)?)))
                .collect();
            return Some(format!("({})", all?.join(" || ")));
        }
    };
    match &condition.value {
        Value::Number(number) => Some(format!(
            "{value} != \"\" && {value} + 0 {operator} {number}"
        )),
        text => Some(format!("tolower({value}) {operator} {}", literal(text)?)),
    }
}

/// A text as an awk string, in lower case.
fn literal(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.to_lowercase(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    if text.chars().any(char::is_control) {
        return None;
    }
    Some(format!(
        "\"{}\"",
        text.replace('\\', "\\\\").replace('"', "\\\"")
    ))
}
