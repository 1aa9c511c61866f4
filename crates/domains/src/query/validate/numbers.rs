//! Groups and the numbers that are computed over them.

use super::conditions::computed;
use super::repeats::{repeats_inside, shared_hops};
use super::scope::{Hop, Target, chain_name, column};
use super::{Checker, Scope, add, path_of};
use crate::model::FieldKind;
use crate::query::error::{Problem, shown};
use crate::query::formula::{self, Formula};
use crate::query::plan::{Calculation, Column, Expr, Measure, Operand, Output, Role, Sort, Source, Summary, Test};
use crate::query::values::kind_in_words;
use crate::query::{Aggregate, Condition, Function, Group, Order, Query};
use crate::registry::suggestion;

impl<'d> Checker<'d> {
    /// Adds the groups; fields beside numbers are groups too.
    pub fn groups(&mut self, scope: &mut Scope<'d>, query: &Query) -> Vec<usize> {
        let named: Vec<String> = query.aggregate.iter().map(number_name).collect();
        let beside = query.fields.iter().filter(|field| !named.contains(field));
        let beside = beside.filter(|field| !query.group.iter().any(|group| group.field == **field));
        let beside = beside.map(|field| Group { field: field.clone(), by: None });
        let mut places = Vec::new();
        let all = query.group.iter().cloned().map(|group| ("group", group));
        for (at, (list, group)) in all.chain(beside.map(|group| ("fields", group))).enumerate() {
            let path = if list == "group" { format!("group[{at}]") } else { "fields".to_owned() };
            match self.single(scope, &group.field, "grouped") {
                Err(problem) => self.wrong(&path, problem),
                Ok((target, expr)) => {
                    let kind = target.field.map_or(FieldKind::String, |field| field.kind);
                    let name = path_of(&target);
                    let (name, expr, kind, role) = match (group.by, expr) {
                        (Some(part), Expr::Column(column)) if kind.is_time() => {
                            let name = format!("{name}_{}", part.name());
                            (name, Expr::Part(column, part), FieldKind::String, Role::Time(part))
                        }
                        (Some(_), _) => {
                            let problem = format!("`{name}` holds {}, not dates; leave `by` out", kind_in_words(kind));
                            self.wrong(&path, Problem::Other(problem));
                            continue;
                        }
                        (None, expr) => (name, expr, kind, Role::Group),
                    };
                    places.push(add(&mut scope.outputs, name, expr, kind, role));
                }
            }
        }
        places.dedup();
        places
    }

    pub fn aggregates(&mut self, scope: &mut Scope<'d>, aggregates: &[Aggregate]) {
        for (at, aggregate) in aggregates.iter().enumerate() {
            let path = format!("aggregate[{at}]");
            let name = number_name(aggregate);
            let odd = name.is_empty() || name.chars().count() > 60 || name.chars().any(char::is_control);
            if odd {
                let problem = "`as` should be a name of 1 to 60 characters without control characters";
                self.wrong(&format!("{path}.as"), Problem::Other(problem.to_owned()));
                continue;
            }
            if scope.outputs.iter().any(|output| output.name == name) {
                let problem = format!("two columns are named `{name}`; give another name with `as`");
                self.wrong(&format!("{path}.as"), Problem::Other(problem));
                continue;
            }
            match self.aggregate(scope, aggregate) {
                Ok((expr, kind)) => {
                    add(&mut scope.outputs, name, expr, kind, Role::Number(aggregate.function));
                }
                Err(problem) => self.wrong(&path, problem),
            }
        }
    }

    fn aggregate(&mut self, scope: &mut Scope<'d>, aggregate: &Aggregate) -> Result<(Expr, FieldKind), Problem> {
        let function = aggregate.function;
        let Some(name) = &aggregate.field else {
            if function == Function::Count {
                let of_rows = Expr::Aggregate { function, of: None, distinct: false, once: Vec::new() };
                return Ok((of_rows, FieldKind::Int));
            }
            return Err(Problem::Other(format!("`{}` needs a field", function.name())));
        };
        let target = match self.find(scope.domain, name) {
            Ok(target) => target,
            Err(problem) => {
                let Some(formula) = formula::read(name) else { return Err(problem) };
                let formula = formula
                    .map_err(|why| Problem::Other(format!("`{}` can't be read as a formula: {why}", shown(name))))?;
                return self.calculated(scope, aggregate, &formula);
            }
        };
        let kind = match (function, target.field) {
            (Function::Count, _) => FieldKind::Int,
            (_, None) => return Err(Problem::Other(format!("`{}` is a relation; name a field of it", shown(name)))),
            (Function::Sum | Function::Avg, Some(field)) => match field.kind {
                FieldKind::Int | FieldKind::Float if function == Function::Avg => FieldKind::Float,
                FieldKind::Int | FieldKind::Float => field.kind,
                other => {
                    let (function, kind) = (function.name(), kind_in_words(other));
                    return Err(Problem::Other(format!("`{function}` needs numbers; `{}` holds {kind}", shown(name))));
                }
            },
            (_, Some(field)) if field.kind == FieldKind::Bool => {
                return Err(Problem::Other(format!("`{}` has no order; count its values", shown(name))));
            }
            (_, Some(field)) => field.kind,
        };
        let (before, chain, after) = target.to_many();
        let once = self.repeated(scope, before, aggregate);
        let anchor = self.reach(&mut scope.sources, scope.root, before);
        if chain.is_empty() {
            let Some(field) = target.field else {
                return Err(Problem::Other(format!("each row has one `{}` at most; name a field of it", shown(name))));
            };
            let column = column(target.domain, field, anchor, !before.is_empty());
            let of = Some(Operand::Column(column));
            return Ok((Expr::Aggregate { function, of, distinct: aggregate.distinct, once }, kind));
        }
        if aggregate.distinct {
            let problem = format!("different values of a list can't be counted; ask `{}`", target.domain.domain.name);
            return Err(Problem::Other(problem));
        }
        repeats_inside(scope, name, aggregate, (before, chain, after))?;
        self.of_list(scope, (anchor, chain, once), (function, kind), |work, sources, end| {
            let end = work.reach(sources, end, after);
            target.field.map(|field| Operand::Column(column(target.domain, field, end, !after.is_empty())))
        })
    }

    /// A number over a formula: its fields are of the same rows.
    fn calculated(
        &mut self,
        scope: &mut Scope<'d>,
        aggregate: &Aggregate,
        formula: &Formula,
    ) -> Result<(Expr, FieldKind), Problem> {
        let function = aggregate.function;
        let mut fields: Vec<(String, Target<'d>)> = Vec::new();
        self.fields_of(scope, formula, &mut fields)?;
        let Some((_, first)) = fields.first() else {
            return Err(Problem::Other("a formula needs a field".to_owned()));
        };
        let apart = fields.iter().find(|(_, target)| target.rows() != first.rows());
        if let Some((_, apart)) = apart {
            let domain = if apart.to_many().1.is_empty() { first } else { apart };
            return Err(Problem::Other(format!(
                "the fields of a formula should be of the same rows; ask the domain `{}` itself",
                domain.domain.domain.name
            )));
        }
        let (before, chain, _) = first.to_many();
        let kind = |operand: &Operand| match function {
            Function::Count => FieldKind::Int,
            Function::Avg => FieldKind::Float,
            _ if operand.is_whole() => FieldKind::Int,
            _ => FieldKind::Float,
        };
        let shared = shared_hops(&fields);
        if chain.is_empty() {
            let root = scope.root;
            let once = self.repeated(scope, shared, aggregate);
            let of = self.operand(formula, &fields, &mut scope.sources, &|target| (root, target.hops.as_slice()));
            let kind = kind(&of);
            return Ok((Expr::Aggregate { function, of: Some(of), distinct: aggregate.distinct, once }, kind));
        }
        if aggregate.distinct {
            let problem = format!("different values of a list can't be taken; ask `{}`", first.domain.domain.name);
            return Err(Problem::Other(problem));
        }
        let name = aggregate.field.as_deref().unwrap_or_default();
        repeats_inside(scope, name, aggregate, (before, chain, &shared[before.len() + chain.len()..]))?;
        let once = self.repeated(scope, before, aggregate);
        let anchor = self.reach(&mut scope.sources, scope.root, before);
        let whole = fields.iter().all(|(_, target)| target.field.is_some_and(|field| field.kind == FieldKind::Int));
        let whole = whole && function != Function::Avg && !has_fractions(formula);
        let kind = if whole || function == Function::Count { FieldKind::Int } else { FieldKind::Float };
        self.of_list(scope, (anchor, chain, once), (function, kind), |work, sources, end| {
            Some(work.operand(formula, &fields, sources, &|target| (end, target.to_many().2)))
        })
    }

    /// The fields that a formula names, which hold numbers.
    fn fields_of(
        &mut self,
        scope: &Scope<'d>,
        formula: &Formula,
        fields: &mut Vec<(String, Target<'d>)>,
    ) -> Result<(), Problem> {
        match formula {
            Formula::Number(_) => Ok(()),
            Formula::Calculated(left, _, right) => {
                self.fields_of(scope, left, fields)?;
                self.fields_of(scope, right, fields)
            }
            Formula::Path(path) => {
                let target = self.find(scope.domain, path)?;
                match target.field {
                    Some(field) if field.kind.is_number() => {}
                    Some(field) => {
                        let kind = kind_in_words(field.kind);
                        return Err(Problem::Other(format!("a formula needs numbers; `{}` holds {kind}", shown(path))));
                    }
                    None => {
                        return Err(Problem::Other(format!("`{}` is a relation; name a field of it", shown(path))));
                    }
                }
                fields.push((path.clone(), target));
                Ok(())
            }
        }
    }

    /// `place`: from which source relations lead to a field, and which.
    fn operand<'t>(
        &mut self,
        formula: &Formula,
        fields: &'t [(String, Target<'d>)],
        sources: &mut Vec<Source>,
        place: &dyn Fn(&'t Target<'d>) -> (usize, &'t [Hop<'d>]),
    ) -> Operand {
        match formula {
            Formula::Number(number) => Operand::Number(number.clone().into()),
            Formula::Calculated(left, calculation, right) => {
                let left = self.operand(left, fields, sources, place);
                let right = self.operand(right, fields, sources, place);
                Operand::Calculated(Box::new(left), *calculation, Box::new(right))
            }
            Formula::Path(path) => {
                let found = fields.iter().find(|(name, _)| name == path);
                let found = found.and_then(|(_, target)| Some((target, target.field?)));
                let Some((target, field)) = found else { return Operand::Number(0.into()) };
                let (from, hops) = place(target);
                let source = self.reach(sources, from, hops);
                Operand::Column(column(target.domain, field, source, !hops.is_empty()))
            }
        }
    }

    /// A number over the rows of a relation to many, which are summed up for each row that they belong to. `operand` is
    /// given the sources of these rows and the one that the relation ends in.
    fn of_list(
        &mut self,
        scope: &mut Scope<'d>,
        (anchor, chain, once): (usize, &[Hop<'d>], Vec<Column>),
        (function, kind): (Function, FieldKind),
        operand: impl FnOnce(&mut Self, &mut Vec<Source>, usize) -> Option<Operand>,
    ) -> Result<(Expr, FieldKind), Problem> {
        let key = chain_name(anchor, chain);
        let known = scope.summaries.iter().find(|(known, _)| *known == key).map(|(_, at)| *at);
        let place = known.unwrap_or_else(|| {
            let sources = self.inner(anchor, chain);
            let joined = sources.first().and_then(|first| first.joined.clone());
            let summary = Summary { sources, tests: Vec::new(), measures: Vec::new() };
            let mut source = self.base(scope.domain, &format!("{anchor} over {}", key.1.join(".")));
            source.joined = joined;
            source.outer = true;
            source.summary = Some(Box::new(summary));
            scope.sources.push(source);
            scope.summaries.push((key, scope.sources.len() - 1));
            scope.sources.len() - 1
        });
        let id = scope.sources[place].id;
        let Some(mut summary) = scope.sources[place].summary.take() else {
            return Err(Problem::Other("it can't be summed up".to_owned()));
        };
        let first = summary.sources.first().map_or(0, |source| source.id);
        let end = self.reach(&mut summary.sources, first, &chain[1..]);
        let of = operand(self, &mut summary.sources, end);
        let mut measure = |function| {
            let wanted = Measure { function, of: of.clone() };
            let there = summary.measures.iter().position(|measure| *measure == wanted);
            there.unwrap_or_else(|| {
                summary.measures.push(wanted);
                summary.measures.len() - 1
            })
        };
        let (at, count) = match function {
            Function::Avg => (measure(Function::Sum), measure(Function::Count)),
            other => (measure(other), 0),
        };
        scope.sources[place].summary = Some(summary);
        Ok((Expr::Summed { source: id, function, measure: at, count, kind, once }, kind))
    }

    /// Conditions on rows of a relation to many also say which of them are summed up.
    pub fn same_rows(&mut self, scope: &mut Scope<'d>, conditions: &[Condition]) {
        for (key, place) in scope.summaries.clone() {
            if let Some(mut summary) = scope.sources[place].summary.take() {
                let tests = self.also_inside(scope, conditions, &key, &mut summary.sources);
                summary.tests = tests;
                scope.sources[place].summary = Some(summary);
            }
        }
    }

    pub fn having(&mut self, scope: &Scope<'d>, conditions: &[Condition]) -> Vec<Test> {
        let mut tests = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Compare(compare) => {
                    let Some(output) = scope.outputs.iter().find(|output| output.name == compare.field) else {
                        let problem = "a condition on a number can't stand beside one on a field here; put them apart";
                        self.wrong("where", Problem::Other(problem.to_owned()));
                        continue;
                    };
                    let field = computed(&output.name, output.kind);
                    match self.test(&field, output.expr.clone(), compare) {
                        Ok(test) => tests.push(test),
                        Err(problem) => self.wrong("where", problem),
                    }
                }
                Condition::All { all } => tests.push(Test::All(self.having(scope, all))),
                Condition::Any { any } => tests.push(Test::Any(self.having(scope, any))),
                Condition::Not { not } => tests.push(Test::Not(self.having(scope, not))),
            }
        }
        tests
    }

    pub fn order_of_groups(&mut self, scope: &Scope<'d>, order: &[Order]) -> Vec<Sort> {
        let mut sorts: Vec<Sort> = Vec::new();
        let sort = |output: usize, desc: bool| {
            let of = &scope.outputs[output];
            let nullable = !matches!(&of.role, Role::Number(Function::Count))
                && !matches!(&of.expr, Expr::Column(column) if column.required);
            Sort { expr: of.expr.clone(), kind: of.kind, desc, nullable, exact: false, output }
        };
        for (at, one) in order.iter().enumerate() {
            let exact = scope.outputs.iter().position(|output| output.name == one.field);
            let found = exact.or_else(|| {
                let target = self.find(scope.domain, &one.field).ok()?;
                let name = path_of(&target);
                scope.outputs.iter().position(|output| {
                    output.name == name
                        || matches!((&output.role, output.name.rsplit_once('_')), (Role::Time(_), Some((of, _))) if of == name)
                })
            });
            if let Some(output) = found {
                sorts.push(sort(output, one.desc));
            } else {
                let known: Vec<&str> = scope.outputs.iter().map(|output| output.name.as_str()).collect();
                let hint = suggestion(&one.field, known);
                self.wrong(&format!("order[{at}]"), Problem::Key { name: shown(&one.field), hint });
            }
        }
        for (output, of) in scope.outputs.iter().enumerate() {
            let there = sorts.iter().any(|sort| sort.output == output);
            if !there && matches!(of.role, Role::Group | Role::Time(_)) {
                sorts.push(sort(output, false));
            }
        }
        sorts
    }
}

/// Whether a condition is on numbers of groups.
pub(super) fn on_numbers(condition: &Condition, outputs: &[Output]) -> bool {
    match condition {
        Condition::Compare(compare) => {
            outputs.iter().any(|output| matches!(output.role, Role::Number(_)) && output.name == compare.field)
        }
        Condition::Any { any: list } | Condition::All { all: list } | Condition::Not { not: list } => {
            list.iter().any(|condition| on_numbers(condition, outputs))
        }
    }
}

/// Whether whole numbers in it may come to others.
fn has_fractions(formula: &Formula) -> bool {
    match formula {
        Formula::Path(_) => false,
        Formula::Number(number) => !number.is_i64(),
        Formula::Calculated(left, calculation, right) => {
            *calculation == Calculation::Divide || has_fractions(left) || has_fractions(right)
        }
    }
}

fn number_name(aggregate: &Aggregate) -> String {
    let function = aggregate.function.name();
    match (&aggregate.name, &aggregate.field) {
        (Some(name), _) => name.clone(),
        (None, None) => function.to_owned(),
        (None, Some(field)) if formula::read(field).is_none() => format!("{function}_{}", field.replace('.', "_")),
        (None, Some(field)) => {
            let words = field.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
            let name = words.fold(function.to_owned(), |name, word| format!("{name}_{word}"));
            name.chars().take(60).collect()
        }
    }
}
