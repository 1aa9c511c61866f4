//! Conditions: values, comparisons, dates, keys, missing values.

use super::super::joins;
use super::super::link::{Linked, Links};
use super::super::query::{Condition, Op};
use super::super::source::{Found, Source};
use super::super::words::words;
use super::columns::{DateForm, column, date, hinted, is_measure, labels, table};
use super::phrases;
use super::target;
use crate::suggest::extract::number;
use crate::suggest::extract::text::{parts, stem};
use serde_json::{Value, json};

/// A condition on `of`, or on `from` where they are the same.
fn condition(from: &str, of: &str, column: &str, op: Op, value: Value) -> Condition {
    Condition {
        column: column.to_owned(),
        table: (from != of).then(|| of.to_owned()),
        op,
        value,
    }
}

/// Conditions from the values of the database that the request names.
pub fn of_values(
    links: &Links,
    source: &impl Source,
    from: &str,
    used: &mut [bool],
) -> Vec<Condition> {
    let edges = joins::edges(source.schema());
    let mut out: Vec<Condition> = Vec::new();
    for value in links
        .values
        .iter()
        .flat_map(|value| split(links, from, value))
    {
        let Some(place) = best(links, source, &edges, from, value) else {
            continue;
        };
        used[value.at..value.at + value.len].fill(true);
        let op = if value.partial { Op::Contains } else { Op::Eq };
        let new = condition(from, &place.table, &place.column, op, json!(place.value));
        let same = out.iter_mut().find(|known| {
            known.column == new.column
                && known.table == new.table
                && matches!(known.op, Op::Eq | Op::In)
                && op == Op::Eq
        });
        match same {
            Some(known) => {
                let mut list = match std::mem::take(&mut known.value) {
                    Value::Array(list) => list,
                    one => vec![one],
                };
                list.push(new.value);
                known.op = Op::In;
                known.value = Value::Array(list);
            }
            None => out.push(new),
        }
    }
    out
}

/// A whole name that only another table has may be first and last name here.
fn split<'l>(links: &'l Links, from: &str, value: &'l Linked) -> Vec<&'l Linked> {
    if value.len < 2 || value.places.iter().any(|place| place.table == from) {
        return vec![value];
    }
    let own = |piece: &&Linked| {
        piece.at >= value.at
            && piece.at + piece.len <= value.at + value.len
            && piece.places.iter().any(|place| place.table == from)
    };
    let pieces: Vec<&Linked> = links.pieces.iter().filter(own).collect();
    let said: usize = pieces.iter().map(|piece| piece.len).sum();
    if said == value.len {
        pieces
    } else {
        vec![value]
    }
}

fn best<'v>(
    links: &Links,
    source: &impl Source,
    edges: &[joins::Edge],
    from: &str,
    value: &'v Linked,
) -> Option<&'v Found> {
    let lists = words();
    let schema = source.schema();
    let end = value.at + value.len;
    let near = |at: usize, len: usize| at + len + 3 > value.at && at < end + 2;
    value
        .places
        .iter()
        .filter_map(|place| {
            let mut score = -target::distance(edges, from, &place.table)?;
            let name = parts(&place.column);
            if links.columns.iter().any(|m| {
                m.table == place.table
                    && m.column.as_ref() == Some(&place.column)
                    && near(m.at, m.len)
            }) {
                score += 1.6;
            }
            if links
                .tables
                .iter()
                .any(|m| m.table == place.table && near(m.at, m.len))
            {
                score += 1.0;
            }
            let home = table(schema, &place.table)?;
            if labels(home).contains(&place.column) {
                score += if value.partial { 0.8 } else { 0.4 };
            }
            // "albums by X", "sold by X": X made it and is not what it is called.
            let made =
                (1..=2).any(|back| value.at >= back && links.tokens[value.at - back].lower == "by");
            // What a row refers to says more of it than what refers to the row.
            let parent = joins::path(edges, &[from.to_owned()], &place.table)
                .is_some_and(|steps| !steps.iter().any(|step| step.many));
            if made && place.table == from && labels(home).contains(&place.column) {
                score -= 2.5;
            } else if !parent {
                score -= if made { 1.0 } else { 0.3 };
            }
            let said_from = value.at > 0 && lists.from.contains(&links.tokens[value.at - 1].lower);
            if said_from && name.iter().any(|part| lists.places.contains(part)) {
                score += 0.8;
            }
            #[expect(clippy::cast_precision_loss, reason = "a few parts")]
            let long = name.len() as f32;
            Some((score - 0.1 * long, place))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, place)| place)
}

/// "more than 5 minutes", "after 2010", "at least 100".
pub fn of_comparisons(
    links: &Links,
    source: &impl Source,
    from: &str,
    used: &mut [bool],
) -> Vec<Condition> {
    let mut out = Vec::new();
    for comparison in &words().comparisons {
        while let Some((at, len)) = phrases::first(&links.tokens, &comparison.words, used) {
            used[at..at + len].fill(true);
            let Some(index) = (at + len..(at + len + 3).min(links.tokens.len()))
                .find(|&i| amount(&links.tokens[i].text).is_some() || iso(&links.tokens[i].text))
            else {
                continue;
            };
            if let Some(found) = compared(links, source, from, (at, len), index, comparison.op) {
                used[index] = true;
                if index + 1 < used.len()
                    && words()
                        .units
                        .iter()
                        .any(|unit| unit.words.contains(&links.tokens[index + 1].stem))
                {
                    used[index + 1] = true;
                }
                out.push(found);
            }
        }
    }
    between(links, source, from, used, &mut out);
    out
}

fn amount(text: &str) -> Option<f64> {
    number::value(text)
}

fn between(
    links: &Links,
    source: &impl Source,
    from: &str,
    used: &mut [bool],
    out: &mut Vec<Condition>,
) {
    let Some((at, _)) = phrases::find(&links.tokens, "between", used) else {
        return;
    };
    let fits = |i: usize| {
        links
            .tokens
            .get(i)
            .is_some_and(|t| amount(&t.text).is_some() || iso(&t.text))
    };
    if !(fits(at + 1) && fits(at + 3)) {
        return;
    }
    let low = compared(links, source, from, (at, 1), at + 1, Op::Gte);
    let high = compared(links, source, from, (at, 3), at + 3, Op::Lte);
    if let (Some(low), Some(mut high)) = (low, high) {
        high.column.clone_from(&low.column);
        high.table.clone_from(&low.table);
        used[at..at + 4].fill(true);
        out.extend([low, high]);
    }
}

fn iso(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn year(text: &str) -> Option<i64> {
    text.parse()
        .ok()
        .filter(|year| text.len() == 4 && (1500..2200).contains(year))
}

fn compared(
    links: &Links,
    source: &impl Source,
    from: &str,
    phrase: (usize, usize),
    index: usize,
    op: Op,
) -> Option<Condition> {
    let schema = source.schema();
    let tokens = &links.tokens;
    let word = &tokens[index].text;
    let home = table(schema, from)?;
    let near: Vec<String> = tokens[phrase.0.saturating_sub(3)..phrase.0]
        .iter()
        .map(|t| t.stem.clone())
        .collect();
    if (year(word).is_some() || iso(word))
        && let Some((column, form)) = date(source, home, &near)
    {
        return Some(condition(from, from, &column, op, bound(word, form, op)));
    }
    let amount = amount(word)?;
    let unit = [index + 1, index.wrapping_sub(1)]
        .into_iter()
        .filter_map(|i| tokens.get(i))
        .find_map(|token| {
            words()
                .units
                .iter()
                .find(|unit| unit.words.contains(&token.stem))
        })
        .or_else(|| {
            words().units.iter().find(|unit| {
                unit.words.iter().any(|w| {
                    w.len() <= 3 && !w.is_ascii() && word.contains(w.as_str())
                        || w == "$" && word.starts_with('$')
                })
            })
        });
    // A column that is named goes first, then what the unit or the adjective speaks of.
    let named = target::measure_near(links, schema, from, phrase, index + 3 - phrase.0 - phrase.1);
    if let Some(mention) = named
        && let Some(name) = &mention.column
    {
        let factor = unit.and_then(|unit| factor(unit, name)).unwrap_or(1.0);
        return Some(condition(
            from,
            &mention.table,
            name,
            op,
            numeric(amount * factor),
        ));
    }
    if let Some(unit) = unit
        && let Some((column, factor)) = unit
            .columns
            .iter()
            .find_map(|(hint, factor)| Some((hinted(home, std::slice::from_ref(hint))?, *factor)))
        && is_measure(home, column)
    {
        return Some(condition(
            from,
            from,
            &column.name,
            op,
            numeric(amount * factor),
        ));
    }
    let adjective = tokens[phrase.0..phrase.0 + phrase.1]
        .iter()
        .map(|t| t.lower.as_str())
        .collect::<Vec<_>>();
    let hints = words().superlatives.iter().find(|s| {
        s.words.iter().any(|w| {
            adjective
                .iter()
                .any(|a| root(a) == root(w) && root(a).len() > 2)
        })
    });
    if let Some(column) = hints
        .and_then(|s| hinted(home, &s.columns))
        .filter(|column| is_measure(home, column))
    {
        return Some(condition(from, from, &column.name, op, numeric(amount)));
    }
    let column = super::columns::measure(home)?;
    Some(condition(from, from, &column.name, op, numeric(amount)))
}

/// `longer` and `longest` have the root `long`.
fn root(word: &str) -> &str {
    word.strip_suffix("est")
        .or_else(|| word.strip_suffix("er"))
        .unwrap_or(word)
}

fn factor(unit: &super::super::words::Unit, column: &str) -> Option<f64> {
    let name = parts(column);
    unit.columns
        .iter()
        .find(|(hint, _)| name.iter().any(|part| stem(part) == stem(hint)))
        .map(|(_, factor)| *factor)
}

fn numeric(value: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be whole and small"
    )]
    if value.fract() == 0.0 && value.abs() < 9e15 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

/// The end of a year or day that a comparison means, as the column writes it.
fn bound(word: &str, form: DateForm, op: Op) -> Value {
    let first = word.get(..4).unwrap_or(word);
    match form {
        DateForm::Year => numeric(first.parse().unwrap_or_default()),
        DateForm::Iso(mark) if word.len() == 4 => match op {
            Op::Gt | Op::Lte => json!(format!("{word}{mark}12{mark}31~")),
            _ => json!(format!("{word}{mark}01{mark}01")),
        },
        DateForm::Iso(mark) => {
            let day = word.replace('-', &mark.to_string());
            match op {
                Op::Gt | Op::Lte => json!(format!("{day}~")),
                _ => json!(day),
            }
        }
    }
}

/// "in 2012", "in March 2012", "on 2012-03-01".
pub fn of_dates(
    links: &Links,
    source: &impl Source,
    from: &str,
    used: &mut [bool],
) -> Vec<Condition> {
    let tokens = &links.tokens;
    let Some(index) = (0..tokens.len()).find(|&i| {
        !used[i]
            && !tokens[i].quoted
            && !tokens[i].apart
            && (year(&tokens[i].text).is_some() || iso(&tokens[i].text))
    }) else {
        return Vec::new();
    };
    let near: Vec<String> = tokens[index.saturating_sub(4)..(index + 3).min(tokens.len())]
        .iter()
        .map(|t| t.stem.clone())
        .collect();
    let edges = joins::edges(source.schema());
    let mut homes: Vec<&str> = vec![from];
    homes.extend(
        links
            .tables
            .iter()
            .map(|m| m.table.as_str())
            .filter(|name| *name != from && target::distance(&edges, from, name).is_some()),
    );
    for home in homes {
        let Some((column, form)) =
            table(source.schema(), home).and_then(|t| date(source, t, &near))
        else {
            continue;
        };
        used[index] = true;
        let word = &tokens[index].text;
        let months = &crate::suggest::lexicon::lexicon().time.months;
        let month = index.checked_sub(1).and_then(|i| {
            months
                .iter()
                .position(|names| names.contains(&tokens[i].lower))
        });
        let (op, value) = match (form, month) {
            (DateForm::Year, _) => (
                Op::Eq,
                numeric(
                    word.get(..4)
                        .and_then(|y| y.parse().ok())
                        .unwrap_or_default(),
                ),
            ),
            (DateForm::Iso(mark), Some(month)) if word.len() == 4 => {
                used[index - 1] = true;
                (Op::Starts, json!(format!("{word}{mark}{:02}", month + 1)))
            }
            (DateForm::Iso(mark), _) => (Op::Starts, json!(word.replace('-', &mark.to_string()))),
        };
        return vec![condition(from, home, &column, op, value)];
    }
    Vec::new()
}

/// "customer 5", "order number 17".
pub fn of_keys(
    links: &Links,
    source: &impl Source,
    from: &str,
    used: &mut [bool],
) -> Vec<Condition> {
    let tokens = &links.tokens;
    for mention in links.tables.iter().filter(|m| m.score >= 0.75) {
        let mut at = mention.at + mention.len;
        let singular = tokens[at - 1].lower == tokens[at - 1].stem;
        let marked =
            phrases::first(&tokens[at..], &words().key, &used[at..]).filter(|(n, _)| *n == 0);
        at += marked.map_or(0, |(_, len)| len);
        let Some(token) = tokens.get(at).filter(|_| !used[at]) else {
            continue;
        };
        let digits = token.text.trim_start_matches('#');
        let (Ok(id), Some(key)) = (
            digits.parse::<i64>(),
            table(source.schema(), &mention.table).and_then(joins::primary),
        ) else {
            continue;
        };
        if !singular
            || column(source.schema(), &mention.table, &key)
                .is_none_or(|c| !super::super::source::is_number(&c.kind))
        {
            continue;
        }
        used[at - marked.map_or(0, |(_, len)| len)..=at].fill(true);
        return vec![condition(from, &mention.table, &key, Op::Eq, json!(id))];
    }
    Vec::new()
}

/// "without a phone number".
pub fn of_missing(
    links: &Links,
    source: &impl Source,
    from: &str,
    used: &mut [bool],
) -> Vec<Condition> {
    let Some((at, len)) = phrases::first(&links.tokens, &words().null, used) else {
        return Vec::new();
    };
    let Some(mention) = target::resolve(links, source.schema(), from, |m| {
        m.at >= at + len && m.at < at + len + 3 && m.score >= 0.5
    }) else {
        return Vec::new();
    };
    used[at..mention.at + mention.len].fill(true);
    let name = mention.column.clone().unwrap_or_default();
    vec![condition(
        from,
        &mention.table,
        &name,
        Op::IsNull,
        Value::Null,
    )]
}
