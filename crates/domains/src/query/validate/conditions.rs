//! Conditions: which comparisons a field permits, and what they compare with.

use serde_json::Value;

use super::scope::{Hop, Target, chain_name, column};
use super::{Checker, Scope};
use crate::model::{Field, FieldKind};
use crate::query::dates::When;
use crate::query::error::{Problem, QueryError, shown};
use crate::query::plan::{Compared, Expr, Source, Test};
use crate::query::values::{self, example, kind_in_words};
use crate::query::{Compare, Condition, Function, Op};
use crate::registry::listed;

/// Most values of all conditions together.
pub(super) const MOST_VALUES: usize = 100;

/// The comparisons that fit a kind.
pub(crate) fn ops(kind: FieldKind) -> &'static [Op] {
    match kind {
        FieldKind::String | FieldKind::Text => {
            &[Op::Eq, Op::Ne, Op::Contains, Op::Starts, Op::In, Op::IsNull, Op::NotNull]
        }
        FieldKind::Bool => &[Op::Eq, Op::Ne, Op::IsNull, Op::NotNull],
        FieldKind::Int | FieldKind::Float | FieldKind::Date | FieldKind::Datetime => {
            &[Op::Eq, Op::Ne, Op::Gt, Op::Gte, Op::Lt, Op::Lte, Op::In, Op::Between, Op::IsNull, Op::NotNull]
        }
    }
}

impl<'d> Checker<'d> {
    /// Conditions that must all hold. Those on one relation to many mean the same row of it.
    pub fn conjunction(&mut self, scope: &mut Scope<'d>, conditions: &[Condition], path: &str) -> Vec<Test> {
        self.all_of(scope, conditions, &|at| format!("{path}[{at}]"))
    }

    /// `path` says where a condition stands.
    fn all_of(&mut self, scope: &mut Scope<'d>, conditions: &[Condition], path: &dyn Fn(usize) -> String) -> Vec<Test> {
        let (mut tests, mut open) = (Vec::new(), Vec::new());
        for (at, condition) in conditions.iter().enumerate() {
            let path = path(at);
            match condition {
                Condition::Compare(compare) => {
                    if let Err(problem) = self.compare(scope, compare, &mut tests, &mut open) {
                        self.wrong(&path, problem);
                    }
                }
                Condition::All { all } => {
                    let inner = self.conjunction(scope, all, &format!("{path}.all"));
                    tests.push(Test::All(inner));
                }
                Condition::Not { not } => {
                    self.not_empty("not", not, &path);
                    let inner = self.conjunction(scope, not, &format!("{path}.not"));
                    tests.push(Test::Not(inner));
                }
                Condition::Any { any } => {
                    self.not_empty("any", any, &path);
                    let mut alternatives = Vec::new();
                    for (at, one) in any.iter().enumerate() {
                        let path = format!("{path}.any[{at}]");
                        let mut inner = self.all_of(scope, std::slice::from_ref(one), &|_| path.clone());
                        alternatives.extend(inner.pop());
                    }
                    tests.push(Test::Any(alternatives));
                }
            }
        }
        tests
    }

    fn not_empty(&mut self, word: &str, conditions: &[Condition], path: &str) {
        if conditions.is_empty() {
            self.wrong(path, Problem::Other(format!("`{word}` needs a condition at least")));
        }
    }

    fn compare(
        &mut self,
        scope: &mut Scope<'d>,
        compare: &Compare,
        tests: &mut Vec<Test>,
        open: &mut Vec<((usize, Vec<String>), usize)>,
    ) -> Result<(), Problem> {
        let target = self.find(scope.domain, &compare.field)?;
        let Some(field) = target.field else {
            tests.push(self.presence(scope, &target, compare)?);
            return Ok(());
        };
        filterable(&target, field, &compare.field)?;
        let other = self.other(scope, compare, &target)?;
        let (before, chain, after) = target.to_many();
        let anchor = self.reach(&mut scope.sources, scope.root, before);
        if chain.is_empty() {
            let outer = !before.is_empty();
            let expr = Expr::Column(column(target.domain, field, anchor, outer));
            tests.push(match &other {
                None => self.test(field, expr, compare)?,
                Some(other) => {
                    let source = self.reach(&mut scope.sources, scope.root, &other.hops);
                    columns(field, expr, other, source, compare)?
                }
            });
            return Ok(());
        }
        let key = chain_name(anchor, chain);
        let place = open.iter().find(|(known, _)| *known == key).map(|(_, at)| *at);
        let place = place.unwrap_or_else(|| {
            let sources = self.inner(anchor, chain);
            tests.push(Test::Exists { sources, tests: Vec::new(), negated: false });
            open.push((key, tests.len() - 1));
            tests.len() - 1
        });
        // A field of the row itself, beside one of its list.
        let outside = other.as_ref().filter(|other| other.to_many().1.is_empty());
        let outside = outside.map(|other| (other, self.reach(&mut scope.sources, scope.root, &other.hops)));
        if let (Some(Test::Exists { sources, tests, .. }), Some((other, source))) = (tests.get_mut(place), outside) {
            let end = self.end_of(sources, chain, after);
            let expr = Expr::Column(column(target.domain, field, end, !after.is_empty()));
            tests.push(columns(field, expr, other, source, compare)?);
        } else if let Some(Test::Exists { sources, tests, .. }) = tests.get_mut(place) {
            let test = self.inside(sources, &target, field, chain, after, (compare, other.as_ref()))?;
            tests.push(test);
        }
        Ok(())
    }

    /// The test within the sources of a relation to many.
    pub fn inside(
        &mut self,
        sources: &mut Vec<Source>,
        target: &Target<'d>,
        field: &Field,
        chain: &[Hop<'d>],
        after: &[Hop<'d>],
        (compare, other): (&Compare, Option<&Target<'d>>),
    ) -> Result<Test, Problem> {
        let end = self.end_of(sources, chain, after);
        let expr = Expr::Column(column(target.domain, field, end, !after.is_empty()));
        let Some(other) = other else { return self.test(field, expr, compare) };
        let source = self.end_of(sources, chain, other.to_many().2);
        columns(field, expr, other, source, compare)
    }

    /// The source at the end of a relation to many, seen from its first one.
    fn end_of(&mut self, sources: &mut Vec<Source>, chain: &[Hop<'d>], after: &[Hop<'d>]) -> usize {
        let first = sources.first().map_or(0, |source| source.id);
        let end = self.reach(sources, first, chain.get(1..).unwrap_or_default());
        self.reach(sources, end, after)
    }

    /// The field that a condition compares with, where it is one: `{"field": …}` in place of a value. It must be of the
    /// same row, or of the row that has the list.
    fn other(
        &mut self,
        scope: &Scope<'d>,
        compare: &Compare,
        target: &Target<'d>,
    ) -> Result<Option<Target<'d>>, Problem> {
        let Value::Object(map) = &compare.value else { return Ok(None) };
        let Some(Value::String(name)) = map.get("field").filter(|_| map.len() == 1) else { return Ok(None) };
        if !matches!(compare.op, Op::Eq | Op::Ne | Op::Gt | Op::Gte | Op::Lt | Op::Lte) {
            return Err(Problem::Other(format!(
                "`{}` can't compare two fields; use eq, ne, gt, gte, lt or lte",
                compare.op.name()
            )));
        }
        let other = self.find(scope.domain, name)?;
        let Some(field) = other.field else {
            return Err(Problem::Other(format!("`{}` is a relation; name a field of it", shown(name))));
        };
        filterable(&other, field, name)?;
        if target.rows() != other.rows() && !other.to_many().1.is_empty() {
            return Err(Problem::Other(format!(
                "`{}` and `{}` are not of the same row, so they can't be compared",
                shown(&compare.field),
                shown(name)
            )));
        }
        Ok(Some(other))
    }

    /// Whether rows of a relation exist.
    fn presence(&mut self, scope: &mut Scope<'d>, target: &Target<'d>, compare: &Compare) -> Result<Test, Problem> {
        let negated = match compare.op {
            Op::IsNull => true,
            Op::NotNull => false,
            _ => {
                let fields = target.domain.domain.fields.iter().map(|field| &field.name);
                return Err(Problem::Other(format!(
                    "`{}` is a relation: compare one of its fields ({}), or use is_null or not_null to ask whether there are rows",
                    shown(&compare.field),
                    listed(fields)
                )));
            }
        };
        let (last, before) = target.hops.split_last().map_or((None, [].as_slice()), |(last, rest)| (Some(last), rest));
        let many = before.iter().any(|(relation, _)| relation.kind == crate::model::RelationKind::HasMany);
        let Some(last) = last.filter(|_| !many) else {
            return Err(Problem::Other(format!(
                "`{}` leads over a list of rows; ask for a field of it instead",
                shown(&compare.field)
            )));
        };
        let anchor = self.reach(&mut scope.sources, scope.root, before);
        let sources = self.inner(anchor, std::slice::from_ref(last));
        Ok(Test::Exists { sources, tests: Vec::new(), negated })
    }

    fn count_values(&mut self, more: usize) -> Result<(), Problem> {
        self.values += more;
        if self.values > MOST_VALUES {
            return Err(Problem::Other(format!(
                "the conditions hold more than {MOST_VALUES} values; compare with fewer"
            )));
        }
        Ok(())
    }

    /// A comparison of an expression that has the kind of `field`.
    pub fn test(&mut self, field: &Field, expr: Expr, compare: &Compare) -> Result<Test, Problem> {
        let (op, value) = (compare.op, &compare.value);
        let allowed = ops(field.kind);
        if !allowed.contains(&op) {
            return Err(Problem::Op {
                op: op.name(),
                field: shown(&compare.field),
                kind: kind_in_words(field.kind),
                allowed: allowed.iter().map(|op| op.name()).collect::<Vec<_>>().join(", "),
            });
        }
        let single = || match value {
            Value::Null | Value::Array(_) | Value::Object(_) => Err(values::wrong(field, value)),
            one => Ok(one),
        };
        let list = || match value {
            Value::Array(list) if !list.is_empty() => Ok(list.clone()),
            Value::Array(_) | Value::Null | Value::Object(_) => {
                let example = format!("[{}]", example(field));
                Err(Problem::NoValue { field: field.name.clone(), example })
            }
            one => Ok(vec![one.clone()]),
        };
        match op {
            Op::IsNull | Op::NotNull => Ok(Test::Null { expr, negated: op == Op::NotNull }),
            Op::Contains | Op::Starts => {
                self.count_values(1)?;
                let Value::String(text) = values::plain(field, single()?)? else {
                    return Err(values::wrong(field, value));
                };
                let open = if op == Op::Contains { "%" } else { "" };
                Ok(Test::Like { expr, pattern: format!("{open}{}%", escape(&text)) })
            }
            Op::In => {
                let list = list()?;
                self.count_values(list.len())?;
                if field.kind.is_time() {
                    let each = list.iter().map(|one| at_time(field, &expr, Op::Eq, one));
                    return each.collect::<Result<_, _>>().map(Test::Any);
                }
                let values = list.iter().map(|one| values::plain(field, one)).collect::<Result<_, _>>()?;
                Ok(Test::In { expr, kind: field.kind, values })
            }
            Op::Between => {
                let (low, high) = match value {
                    Value::Array(list) if list.len() == 2 => (&list[0], &list[1]),
                    Value::Object(map) if map.len() == 2 && map.contains_key("from") && map.contains_key("to") => {
                        (&map["from"], &map["to"])
                    }
                    _ => {
                        let example = format!("[{0}, {0}]", example(field));
                        return Err(Problem::NoValue { field: field.name.clone(), example });
                    }
                };
                self.count_values(2)?;
                let low = one(field, &expr, Op::Gte, low)?;
                Ok(Test::All(vec![low, one(field, &expr, Op::Lte, high)?]))
            }
            _ => {
                self.count_values(1)?;
                one(field, &expr, op, single()?)
            }
        }
    }

    /// The conditions on a relation to many that stand by themselves, for numbers over the same rows.
    pub fn also_inside(
        &mut self,
        scope: &Scope<'d>,
        conditions: &[Condition],
        key: &(usize, Vec<String>),
        sources: &mut Vec<Source>,
    ) -> Vec<Test> {
        let mut tests = Vec::new();
        for condition in conditions {
            let Condition::Compare(compare) = condition else { continue };
            let Ok(target) = self.find(scope.domain, &compare.field) else { continue };
            let Some(field) = target.field else { continue };
            let (before, chain, after) = target.to_many();
            let mut joined = scope.sources.clone();
            let anchor = self.reach(&mut joined, scope.root, before);
            if chain.is_empty() || joined.len() != scope.sources.len() || chain_name(anchor, chain) != *key {
                continue;
            }
            // What is wrong with it was said where it stands.
            let Ok(other) = self.other(scope, compare, &target) else { continue };
            if other.as_ref().is_some_and(|other| other.to_many().1.is_empty()) {
                let problem = format!(
                    "`{}` can't be compared with a field outside of its list where the list is summed up",
                    shown(&compare.field)
                );
                self.wrong("where", Problem::Other(problem));
                continue;
            }
            tests.extend(self.inside(sources, &target, field, chain, after, (compare, other.as_ref())).ok());
        }
        tests
    }

    pub fn wrong(&mut self, path: &str, problem: Problem) {
        self.errors.push(QueryError::new(path, problem));
    }
}

/// A comparison of two fields, the other one at the end of `source`.
fn columns(field: &Field, left: Expr, other: &Target<'_>, source: usize, compare: &Compare) -> Result<Test, Problem> {
    let Some(with) = other.field else { return Err(Problem::Other("it is no field".to_owned())) };
    let allowed = ops(field.kind);
    let family = |kind: FieldKind| match kind {
        FieldKind::String | FieldKind::Text => 0,
        FieldKind::Int | FieldKind::Float => 1,
        FieldKind::Date | FieldKind::Datetime => 2,
        FieldKind::Bool => 3,
    };
    if family(field.kind) != family(with.kind) || !allowed.contains(&compare.op) {
        return Err(Problem::Other(format!(
            "`{}` holds {} and `{}` {}; they can't be compared by {}",
            shown(&compare.field),
            kind_in_words(field.kind),
            shown(compare.value["field"].as_str().unwrap_or(&with.name)),
            kind_in_words(with.kind),
            compare.op.name()
        )));
    }
    let right = Expr::Column(column(other.domain, with, source, !other.hops.is_empty()));
    let turned = compare.op == Op::Ne && (may_be_null(&left) || may_be_null(&right));
    let sign = sign(if turned { Op::Eq } else { compare.op });
    let test = Test::Compare { expr: left, kind: field.kind, sign, with: Compared::Column(right) };
    Ok(if turned { Test::Not(vec![test]) } else { test })
}

/// Whether an expression may have no value.
fn may_be_null(expr: &Expr) -> bool {
    match expr {
        Expr::Column(column) => !column.required,
        Expr::Aggregate { function, .. } | Expr::Summed { function, .. } => *function != Function::Count,
        Expr::Part(..) => true,
    }
}

fn one(field: &Field, expr: &Expr, op: Op, value: &Value) -> Result<Test, Problem> {
    // `ne` holds wherever `eq` does not: also where there is no value.
    if op == Op::Ne && may_be_null(expr) {
        return Ok(Test::Not(vec![one(field, expr, Op::Eq, value)?]));
    }
    if field.kind.is_time() {
        return at_time(field, expr, op, value);
    }
    Ok(compared(field.kind, expr, sign(op), values::plain(field, value)?))
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Ne => "<>",
        Op::Gt => ">",
        Op::Gte => ">=",
        Op::Lt => "<",
        Op::Lte => "<=",
        _ => "=",
    }
}

fn compared(kind: FieldKind, expr: &Expr, sign: &'static str, value: Value) -> Test {
    Test::Compare { expr: expr.clone(), kind, sign, with: Compared::Value(value) }
}

/// A day stands for all its moments, a month for its days.
fn at_time(field: &Field, expr: &Expr, op: Op, value: &Value) -> Result<Test, Problem> {
    let kind = field.kind;
    let mut when = values::when(field, value)?;
    if let (FieldKind::Date, When::Moment(moment)) = (kind, &when) {
        let day = moment.get(..10).unwrap_or(moment).to_owned();
        when = values::when(field, &Value::from(day))?;
    }
    let compared = |sign, text: String| compared(kind, expr, sign, Value::from(text));
    Ok(match (when, op) {
        (When::Moment(moment), op) => compared(sign(op), moment),
        (When::Days { from, .. }, Op::Gte) => compared(">=", from),
        // Nothing comes after the last day.
        (When::Days { from, .. }, Op::Lt) | (When::Days { from, to: None }, Op::Ne) => compared("<", from),
        (When::Days { to: Some(to), .. }, Op::Gt) => compared(">=", to),
        (When::Days { to: Some(to), .. }, Op::Lte) => compared("<", to),
        (When::Days { from, to: Some(to) }, Op::Ne) => Test::Any(vec![compared("<", from), compared(">=", to)]),
        (When::Days { from, to: Some(to) }, _) => Test::All(vec![compared(">=", from), compared("<", to)]),
        (When::Days { from, to: None }, Op::Gt) => Test::All(vec![compared("<", from.clone()), compared(">", from)]),
        (When::Days { to: None, .. }, Op::Lte) => Test::Null { expr: expr.clone(), negated: true },
        (When::Days { from, to: None }, _) => compared(">=", from),
    })
}

/// The signs of LIKE as characters; `!` takes them literally in every dialect.
fn escape(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}

/// A field in the sense of conditions, for what is computed.
pub(super) fn computed(name: &str, kind: FieldKind) -> Field {
    Field {
        name: name.to_owned(),
        kind,
        readonly: true,
        filterable: true,
        trusted: None,
        options: None,
        examples: Vec::new(),
        aliases: Vec::new(),
    }
}

fn filterable(target: &Target<'_>, field: &Field, name: &str) -> Result<(), Problem> {
    if field.filterable {
        return Ok(());
    }
    let prefix: String = target.hops.iter().flat_map(|(relation, _)| [relation.name.as_str(), "."]).collect();
    let fields = target.domain.domain.fields.iter().filter(|field| field.filterable);
    let names: Vec<String> = fields.map(|field| format!("{prefix}{}", field.name)).collect();
    let hint = if names.is_empty() {
        format!("no field of `{}` is filterable", target.domain.domain.name)
    } else {
        format!("filterable are {}", listed(names))
    };
    Err(Problem::NotFilterable { field: shown(name), hint })
}
