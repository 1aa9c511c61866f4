//! Finds what the names of a query mean to its caller, and fits its values.

pub(crate) mod conditions;
mod numbers;
mod repeats;
mod scope;

use serde_json::{Value, json};
use steward_core::hash;

use super::cursor;
use super::error::{Problem, QueryError, shown};
use super::plan::{Checked, Expr, Nested, Output, Role, Rows, Sort, Source};
use super::{Condition, DEFAULT_LIMIT, MOST_EMBEDDED, MOST_PARENTS, MOST_ROWS, Order, Query, With};
use crate::model::{FieldKind, Grantee, RelationKind};
use crate::registry::{Domains, Known, Visible, listed, suggestion};
use numbers::on_numbers;
use scope::{Target, column};

const MOST_FIELDS: usize = 100;
const MOST_OF_OTHERS: usize = 10;
/// Values that may stand in a statement for keys of embedded rows.
const MOST_KEYS: u32 = 380;
const EMBEDDED: u32 = 20;

/// Checks a query for a caller with these roles; what the caller may not read does not exist.
pub fn validate(query: &Query, domains: &Domains, roles: &[Grantee]) -> Result<Checked, Vec<QueryError>> {
    validate_for(query, domains.seen_by(roles))
}

/// Checks a query against what a caller sees.
pub(crate) fn validate_for(query: &Query, visible: Visible<'_>) -> Result<Checked, Vec<QueryError>> {
    let Some(domain) = visible.domain(&query.domain) else {
        let names = visible.iter().map(|known| known.domain.name.as_str());
        let hint = suggestion(&query.domain, names);
        return Err(vec![QueryError::new("domain", Problem::Domain { name: shown(&query.domain), hint })]);
    };
    let mut work = Checker { visible, ids: 0, errors: Vec::new(), values: 0 };
    match work.query(query, domain) {
        Some(checked) if work.errors.is_empty() => Ok(checked),
        _ => Err(work.errors),
    }
}

struct Checker<'d> {
    visible: Visible<'d>,
    ids: usize,
    errors: Vec<QueryError>,
    values: usize,
}

/// The tables of a statement and the domain that it asks.
struct Scope<'d> {
    domain: Known<'d>,
    root: usize,
    sources: Vec<Source>,
    outputs: Vec<Output>,
    /// Summaries among the sources, by the relation to many that they are over.
    summaries: Vec<((usize, Vec<String>), usize)>,
}

impl<'d> Checker<'d> {
    fn scope(&mut self, domain: Known<'d>) -> Scope<'d> {
        let base = self.base(domain, "");
        Scope { domain, root: base.id, sources: vec![base], outputs: Vec::new(), summaries: Vec::new() }
    }

    fn query(&mut self, query: &Query, domain: Known<'d>) -> Option<Checked> {
        self.sizes(query);
        let mut scope = self.scope(domain);
        let grouped = !query.group.is_empty() || !query.aggregate.is_empty();
        let (mut with, mut groups) = (query.with.clone(), Vec::new());
        if grouped {
            groups = self.groups(&mut scope, query);
            self.aggregates(&mut scope, &query.aggregate);
            if !with.is_empty() {
                let problem = "a query with numbers has no rows to embed relations in; ask for one of both";
                self.wrong("with", Problem::Other(problem.to_owned()));
            }
        } else {
            self.fields(&mut scope, &query.fields, "fields", Some(&mut with));
        }
        let (of_rows, of_groups): (Vec<Condition>, Vec<Condition>) =
            query.conditions.iter().cloned().partition(|condition| !on_numbers(condition, &scope.outputs));
        let tests = self.conjunction(&mut scope, &of_rows, "where");
        self.same_rows(&mut scope, &of_rows);
        let having = self.having(&scope, &of_groups);
        let order = if grouped {
            self.order_of_groups(&scope, &query.order)
        } else {
            self.order(&mut scope, &query.order, "order")
        };
        let nested = self.nested(&mut scope, &with);
        let mark = hash::of_json(&json!([domain.domain.name, query.conditions, query.order]));
        let mark = mark.get(..12).unwrap_or_default().to_owned();
        let pages = !grouped && !domain.facts.key.is_empty();
        let after = query.after.as_ref().and_then(|text| {
            let problem = if pages {
                match cursor::decode(text, &mark, &order) {
                    Ok(values) => return Some(values),
                    Err(problem) => problem,
                }
            } else if grouped {
                Problem::Other("groups have no pages; raise the limit instead of giving `after`".to_owned())
            } else {
                Problem::Other(format!("`{}` has no known key to page by; raise the limit", domain.domain.name))
            };
            self.wrong("after", problem);
            None
        });
        let most = most_rows(&nested);
        if !self.errors.is_empty() {
            return None;
        }
        Some(Checked {
            domain: domain.domain.name.clone(),
            datasource: domain.domain.datasource.clone(),
            rows: Rows {
                sources: scope.sources,
                outputs: scope.outputs,
                tests,
                order,
                limit: query.limit.unwrap_or(DEFAULT_LIMIT).min(most),
            },
            grouped,
            groups,
            having,
            after,
            pages,
            nested,
            mark,
        })
    }

    fn sizes(&mut self, query: &Query) {
        for (path, count, most) in [
            ("fields", query.fields.len(), MOST_FIELDS),
            ("order", query.order.len(), MOST_OF_OTHERS),
            ("group", query.group.len(), MOST_OF_OTHERS),
            ("aggregate", query.aggregate.len(), MOST_OF_OTHERS),
            ("with", query.with.len(), MOST_OF_OTHERS),
            ("where", query.conditions.len(), conditions::MOST_VALUES),
        ] {
            if count > most {
                self.wrong(path, Problem::Other(format!("there are {count} of them; at most {most} can be given")));
            }
        }
    }

    /// Adds the fields that are asked for. A field of a list is embedded by `with`, where that can be.
    fn fields(&mut self, scope: &mut Scope<'d>, fields: &[String], path: &str, mut with: Option<&mut Vec<With>>) {
        if fields.is_empty() {
            for field in &scope.domain.domain.fields {
                let column = column(scope.domain, field, scope.root, false);
                add(&mut scope.outputs, field.name.clone(), Expr::Column(column), field.kind, Role::Field);
            }
        }
        for (at, name) in fields.iter().enumerate() {
            let path = format!("{path}[{at}]");
            let target = match self.find(scope.domain, name) {
                Ok(target) => target,
                Err(problem) => {
                    self.wrong(&path, problem);
                    continue;
                }
            };
            let many = target.hops.iter().position(|(relation, _)| relation.kind == RelationKind::HasMany);
            if let (Some(0), Some(with)) = (many, with.as_deref_mut()) {
                embed(with, &target);
                continue;
            }
            let problem = match (target.field, many) {
                (Some(field), None) => {
                    let source = self.reach(&mut scope.sources, scope.root, &target.hops);
                    let column = column(target.domain, field, source, !target.hops.is_empty());
                    let name = path_of(&target);
                    add(&mut scope.outputs, name, Expr::Column(column), field.kind, Role::Field);
                    continue;
                }
                (None, _) => {
                    let known = listed(target.domain.domain.fields.iter().map(|field| &field.name));
                    format!("`{0}` is a relation; name a field of it such as `{0}.…`: {known}", shown(name))
                }
                (Some(_), Some(_)) => format!(
                    "`{}` is in a list of rows; ask the domain `{}` itself",
                    shown(name),
                    target.domain.domain.name
                ),
            };
            self.wrong(&path, Problem::Other(problem));
        }
    }

    /// A field without relations to many on its way.
    fn single(&mut self, scope: &mut Scope<'d>, name: &str, what: &str) -> Result<(Target<'d>, Expr), Problem> {
        let target = self.find(scope.domain, name)?;
        if target.hops.iter().any(|(relation, _)| relation.kind == RelationKind::HasMany) {
            return Err(Problem::Other(format!(
                "rows can't be {what} by `{}`, of which each has a list; ask the domain `{}` itself",
                shown(name),
                target.domain.domain.name
            )));
        }
        let Some(field) = target.field else {
            return Err(Problem::Other(format!(
                "`{0}` is a relation; name a field of it such as `{0}.…`",
                shown(name)
            )));
        };
        let source = self.reach(&mut scope.sources, scope.root, &target.hops);
        let column = column(target.domain, field, source, !target.hops.is_empty());
        Ok((target, Expr::Column(column)))
    }

    /// The order of rows; the key at its end makes it the same each time.
    fn order(&mut self, scope: &mut Scope<'d>, order: &[Order], path: &str) -> Vec<Sort> {
        let mut sorts: Vec<Sort> = Vec::new();
        for (at, one) in order.iter().enumerate() {
            match self.single(scope, &one.field, "ordered") {
                Err(problem) => self.wrong(&format!("{path}[{at}]"), problem),
                Ok((_, expr)) => sort_by(scope, &mut sorts, expr, one.desc),
            }
        }
        let desc = !sorts.is_empty() && sorts.iter().all(|sort| sort.desc);
        let known = scope.domain;
        let keys: Vec<Expr> = if known.facts.key.is_empty() {
            let shown = scope.outputs.iter().filter(|output| output.role == Role::Field);
            shown.map(|output| output.expr.clone()).collect()
        } else {
            let fields = known.facts.key.iter().filter_map(|name| known.field(name));
            fields.map(|field| Expr::Column(column(known, field, scope.root, false))).collect()
        };
        for expr in keys {
            sort_by(scope, &mut sorts, expr, desc);
        }
        sorts
    }

    fn nested(&mut self, scope: &mut Scope<'d>, with: &[With]) -> Vec<Nested> {
        let mut nested: Vec<Nested> = Vec::new();
        for (at, one) in with.iter().enumerate() {
            let path = format!("with[{at}]");
            let Some((relation, to)) = self.visible.relation(scope.domain, &one.relation) else {
                let known = self.visible.relations(scope.domain).map(|(relation, _)| relation.name.as_str());
                let problem = Problem::Relation {
                    domain: scope.domain.domain.name.clone(),
                    name: shown(&one.relation),
                    hint: suggestion(&one.relation, known),
                };
                self.wrong(&path, problem);
                continue;
            };
            if nested.iter().any(|nested| nested.name == relation.name) {
                self.wrong(&path, Problem::Other(format!("`{}` is embedded twice; leave one out", relation.name)));
                continue;
            }
            let mut inner = self.scope(to);
            self.fields(&mut inner, &one.fields, &format!("{path}.fields"), None);
            let tests = self.conjunction(&mut inner, &one.conditions, &format!("{path}.where"));
            let order = self.order(&mut inner, &one.order, &format!("{path}.order"));
            let (mut parents, mut children) = (Vec::new(), Vec::new());
            for (local, foreign) in &relation.bind {
                if let (Some(here), Some(there)) = (scope.domain.field(local), to.field(foreign)) {
                    let here_column = column(scope.domain, here, scope.root, false);
                    parents.push(hidden(&mut scope.outputs, here_column.kind, Expr::Column(here_column)));
                    let there_column = column(to, there, inner.root, false);
                    children.push(hidden(&mut inner.outputs, there_column.kind, Expr::Column(there_column)));
                }
            }
            let many = relation.kind == RelationKind::HasMany;
            let limit = if many { one.limit.unwrap_or(EMBEDDED).min(MOST_EMBEDDED) } else { 1 };
            let rows = Rows { sources: inner.sources, outputs: inner.outputs, tests, order, limit };
            nested.push(Nested { name: relation.name.clone(), many, parents, children, rows });
        }
        nested
    }
}

fn most_rows(nested: &[Nested]) -> u32 {
    let widest = nested.iter().map(|nested| nested.parents.len()).max();
    let widest = widest.map(|columns| u32::try_from(columns).unwrap_or(1).max(1));
    widest.map_or(MOST_ROWS, |columns| (MOST_KEYS / columns).min(MOST_PARENTS))
}

/// The path of a target as the domains spell it.
fn path_of(target: &Target<'_>) -> String {
    let names = target.hops.iter().map(|(relation, _)| relation.name.as_str());
    names.chain(target.field.map(|field| field.name.as_str())).collect::<Vec<_>>().join(".")
}

/// The place of the column, which is added unless it is there.
fn add(outputs: &mut Vec<Output>, name: String, expr: Expr, kind: FieldKind, role: Role) -> usize {
    if let Some(at) = outputs.iter().position(|output| output.name == name && output.expr == expr) {
        return at;
    }
    outputs.push(Output { name, expr, kind, role });
    outputs.len() - 1
}

/// The place of a column with this value. Numbers with a fraction are read anew, as exactly as they are compared.
fn hidden(outputs: &mut Vec<Output>, kind: FieldKind, expr: Expr) -> usize {
    let same = |output: &Output| output.expr == expr && (kind != FieldKind::Float || output.role == Role::Hidden);
    if let Some(at) = outputs.iter().position(same) {
        return at;
    }
    outputs.push(Output { name: String::new(), expr, kind, role: Role::Hidden });
    outputs.len() - 1
}

fn sort_by(scope: &mut Scope<'_>, sorts: &mut Vec<Sort>, expr: Expr, desc: bool) {
    let Expr::Column(column) = &expr else {
        return;
    };
    if sorts.iter().any(|sort| sort.expr == expr) {
        return;
    }
    let (kind, nullable) = (column.kind, !column.required);
    let exact = column.source == scope.root && scope.domain.facts.key.contains(&column.name);
    let output = hidden(&mut scope.outputs, kind, expr.clone());
    sorts.push(Sort { expr, kind, desc, nullable, exact, output });
}

/// Adds the field of a list to what is embedded.
fn embed(with: &mut Vec<With>, target: &Target<'_>) {
    let Some(((relation, _), rest)) = target.hops.split_first() else {
        return;
    };
    let names = rest.iter().map(|(relation, _)| relation.name.as_str());
    let names: Vec<&str> = names.chain(target.field.map(|field| field.name.as_str())).collect();
    let field = Some(names.join(".")).filter(|field| !field.is_empty());
    match with.iter_mut().find(|one| one.relation == relation.name) {
        Some(one) => one.fields.extend(field),
        None => {
            with.push(With { relation: relation.name.clone(), fields: field.into_iter().collect(), ..With::default() });
        }
    }
}

/// The values of a row by which the next page begins.
pub(crate) fn order_values(order: &[Sort], row: &[Value]) -> Option<Vec<Value>> {
    order.iter().map(|sort| row.get(sort.output).cloned()).collect()
}
