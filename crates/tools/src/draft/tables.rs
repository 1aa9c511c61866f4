//! Questions about the tables of files and databases, as one structured query.

mod queries;

use super::told::Told;
use super::{Desk, call, files, near, open};
use crate::sql::databases;
use crate::sql::query::{Aggregate, Column, Condition, Op, Order, Query, Select};
use crate::sql::source::{Database, Found, is_text};
use crate::suggest::extract::number::value;
use crate::suggest::extract::text::{plain, words};
use queries::{columns_of, finished, labelled, names, narrowed, numbers, shown, unclear, which_column, wished};
use serde::Deserialize;
use serde_json::json;
use std::sync::LazyLock;
use steward_core::ports::Draft;
use steward_sandbox::sql::{Policy, Schema, Table};

/// Sources looked into.
const SOURCES: usize = 12;
/// Words of one value at most.
const LONGEST: usize = 5;
/// Telling words that may stay unexplained.
const SPARE: usize = 1;
/// Words up to this length are compared whole.
const WHOLE: usize = 5;
/// Rows shown.
const SHOWN: u32 = 40;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    low: Vec<String>,
    high: Vec<String>,
    many: Vec<String>,
    more: Vec<String>,
    less: Vec<String>,
}

static ASKED: LazyLock<Asked> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/asked.toml")).unwrap_or_default());

/// A file or database, with what the request says of it.
struct Source {
    path: String,
    schema: Schema,
    values: Vec<Said>,
}

/// A value that the request says: place of its first word, number of words, where it stands, how it is compared.
type Said = (usize, usize, Found, Op);

/// What the telling words name in one source.
#[derive(Default)]
struct Links {
    /// Tables by name, in order of the request: place of the word, table, how well.
    tables: Vec<(usize, String, f32)>,
    columns: Vec<(usize, String, String, f32)>,
    values: Vec<Said>,
    /// A number of the request, and how it is compared.
    number: Option<(usize, f64, Op)>,
    /// Telling words that name nothing.
    spare: Vec<Told>,
}

impl Desk<'_> {
    pub(super) async fn table(&self) -> Option<Draft> {
        let named = self.file().filter(|found| is_source(&found.path));
        let apart = named.as_ref().map_or((0, 0), |found| found.span);
        let mut paths: Vec<String> = match &named {
            Some(found) => vec![found.path.clone()],
            None => databases::sources(&self.view),
        };
        // A file that is named and no table: what is asked can't be answered by others.
        if named.is_none()
            && let Some(other) = self.view.file(self.wanted.text).filter(|f| f.score >= 0.9)
        {
            return Some(open("no_table", vec![("file", other.path)]));
        }
        if paths.is_empty() {
            return Some(match self.no_file() {
                missing if missing.frame == "no_file" => missing,
                _ => files::nothing(),
            });
        }
        paths.truncate(SOURCES);
        let told = self.told(apart);
        let mut best: Option<(f32, Source, Links)> = None;
        for path in &paths {
            let Some(source) = self.open(path.clone(), told.clone()).await else {
                continue;
            };
            let links = self.links(&told, &source);
            let score = links.score(&told);
            if best.as_ref().is_none_or(|(known, ..)| score > *known) {
                best = Some((score, source, links));
            }
        }
        let (score, source, links) = best?;
        if self.wanted.kind == "tables" {
            let only = paths.iter().find(|path| crate::suggest::is_database(path));
            return Some(self.tables_of(only.unwrap_or(&source.path)));
        }
        if !self.wanted.sure && named.is_none() && score < 0.9 {
            return None;
        }
        if named.is_none() && score <= 0.0 && paths.len() > 1 {
            return Some(open("which_table", vec![("names", names(&paths))]));
        }
        self.ask(&source, links).await
    }

    /// The tables of a database.
    pub(super) fn tables_of(&self, path: &str) -> Draft {
        let Some(source) = databases::open(&self.view.workspace, path, Policy::default()).ok().and_then(Database::new)
        else {
            return files::nothing();
        };
        let tables: Vec<String> = source.schema().tables.iter().map(|t| t.name.clone()).collect();
        let told = vec![("file", path.to_owned()), ("number", tables.len().to_string()), ("names", names(&tables))];
        call("sql", files::schema(path, "*"), "tables", told)
    }

    async fn open(&self, path: String, told: Vec<Told>) -> Option<Source> {
        let workspace = self.view.workspace.clone();
        tokio::task::spawn_blocking(move || {
            let guard = databases::open(&workspace, &path, Policy::default()).ok()?;
            let database = Database::new(guard)?;
            let values = values(&told, &database);
            let schema = database.schema().clone();
            Some(Source { path, schema, values })
        })
        .await
        .ok()?
    }

    fn links(&self, told: &[Told], source: &Source) -> Links {
        let mut links = Links { values: source.values.clone(), ..Links::default() };
        let mut explained: Vec<usize> = Vec::new();
        for (at, len, ..) in &links.values {
            let words = told.iter().skip_while(|one| one.at != *at).take(*len);
            explained.extend(words.map(|one| one.at));
        }
        for one in told.iter().filter(|one| !one.quoted) {
            let table = source
                .schema
                .tables
                .iter()
                .map(|table| (near::letters(&one.text, &table.name), table))
                .filter(|(score, _)| *score > 0.0)
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let column = source
                .schema
                .tables
                .iter()
                .flat_map(|table| table.columns.iter().map(move |column| (table, column)))
                .map(|(table, column)| (near::letters(&one.text, &column.name), table, column))
                .filter(|(score, ..)| *score > 0.0)
                .collect::<Vec<_>>();
            if let Some((score, table)) = table {
                links.tables.push((one.at, table.name.clone(), score));
                explained.push(one.at);
            }
            for (score, table, column) in column {
                links.columns.push((one.at, table.name.clone(), column.name.clone(), score));
                explained.push(one.at);
            }
        }
        links.number = self.compared();
        explained.extend(links.number.iter().map(|number| number.0));
        let opposites = |word: &str| {
            [&ASKED.low, &ASKED.high, &ASKED.more, &ASKED.less]
                .iter()
                .any(|list| list.iter().any(|known| word.starts_with(known.as_str())))
        };
        links.spare = told
            .iter()
            .filter(|one| !explained.contains(&one.at) && !opposites(&one.text.to_lowercase()))
            .cloned()
            .collect();
        links
    }

    /// "above 25".
    fn compared(&self) -> Option<(usize, f64, Op)> {
        let text = self.wanted.text;
        let all = words(text);
        let (at, number) = all.iter().enumerate().find_map(|(at, word)| Some((at, value(word.text)?)))?;
        let before = plain(&text[..all[at].start]);
        let said = |list: &[String]| list.iter().any(|word| before.ends_with(word.as_str()));
        let op = match (said(&ASKED.more), said(&ASKED.less)) {
            (true, _) => Op::Gt,
            (_, true) => Op::Lt,
            _ => Op::Eq,
        };
        Some((at, number, op))
    }

    async fn ask(&self, source: &Source, mut links: Links) -> Option<Draft> {
        let kind = match self.wanted.kind {
            "lines" => "count",
            kind => kind,
        };
        let Some(table) = subject(source, &links) else {
            let known: Vec<String> = source.schema.tables.iter().map(|t| t.name.clone()).collect();
            return Some(open("which_table", vec![("names", names(&known))]));
        };
        if kind == "columns" {
            return Some(columns_of(source, table));
        }
        let measure = if matches!(kind, "count" | "rows") && links.number.is_none() {
            None
        } else {
            self.measured(table, &mut links).await
        };
        if let Some(unclear) = unclear(source, table, &links, measure.as_ref()) {
            return Some(unclear);
        }
        let (mut query, mut what) = narrowed(table, &links, measure.as_ref());
        what.insert(0, shown(source, table));
        let draft = match kind {
            "count" => {
                query.select = vec![Select { aggregate: Some(Aggregate::Count), ..Select::default() }];
                let plain_file = files::is_table(&source.path) && query.conditions.is_empty();
                let frame = if plain_file { "rows_of" } else { "count" };
                (frame, Vec::new())
            }
            "rows" => {
                query.limit = Some(SHOWN);
                query.select = wished(table, &links);
                ("rows", Vec::new())
            }
            "extreme" => {
                if measure.is_none()
                    && let Some(grouped) = self.grouped(source, &links)
                {
                    return Some(grouped);
                }
                let Some(column) = measure else {
                    return Some(which_column(source, table));
                };
                let low = self.says(&ASKED.low);
                query.order_by = Some(Order { column: Some(column.clone()), desc: !low, ..Order::default() });
                query.conditions.push(Condition { column: column.clone(), table: None, op: Op::Ne, value: json!("") });
                query.limit = Some(1);
                query.select = labelled(table, &column);
                (if low { "lowest" } else { "highest" }, vec![("column", column)])
            }
            _ => {
                let Some(column) = measure else {
                    return Some(which_column(source, table));
                };
                let (aggregate, frame) =
                    if kind == "sum" { (Aggregate::Sum, "sum") } else { (Aggregate::Avg, "average") };
                query.select = vec![Select { column: Some(column.clone()), aggregate: Some(aggregate), table: None }];
                (frame, vec![("column", column)])
            }
        };
        let (frame, mut told) = draft;
        told.push(("what", what.join(", ")));
        told.push(("file", source.path.clone()));
        finished(source, &query, frame, told)
    }

    /// The column of numbers that is meant: named, the only one, or nearest in meaning.
    async fn measured(&self, table: &Table, links: &mut Links) -> Option<String> {
        let known: Vec<String> = numbers(table).map(|column| column.name.clone()).collect();
        let dates = |name: &str| table.columns.iter().any(|c| c.name == name);
        let named = links
            .columns
            .iter()
            .filter(|(_, of, column, _)| *of == table.name && (known.contains(column) || dates(column)))
            .max_by(|a, b| {
                let number = |column: &String| f32::from(u8::from(known.contains(column)));
                (a.3 + number(&a.2)).total_cmp(&(b.3 + number(&b.2)))
            });
        if let Some((_, _, column, score)) = named {
            let rivals = links
                .columns
                .iter()
                .filter(|(_, of, other, rival)| {
                    *of == table.name && known.contains(other) && other != column && (rival - score).abs() < 0.01
                })
                .count();
            // "temperature" for temp_min and temp_max: the opposites tell.
            if rivals == 0 || known.contains(column) && *score >= 1.0 {
                return Some(column.clone());
            }
            let low = self.says(&ASKED.low);
            let sided = links.columns.iter().find(|(_, of, other, _)| {
                *of == table.name && other.to_lowercase().contains(if low { "min" } else { "max" })
            });
            return sided.map(|(_, _, column, _)| column.clone());
        }
        let said: Vec<String> = links.spare.iter().map(|one| one.text.clone()).collect();
        let opposites = words(self.wanted.text).into_iter().map(|word| word.lower).filter(|word| {
            let opposite = |list: &Vec<String>| list.iter().any(|known| word.starts_with(known.as_str()));
            word.chars().count() > 4 && (opposite(&ASKED.high) || opposite(&ASKED.low))
        });
        for word in said.into_iter().chain(opposites) {
            if let Some(at) = near::meaning(&word, &known, self.embedder).await {
                links.spare.retain(|one| one.text != word);
                return known.get(at).cloned();
            }
        }
        None
    }

    /// Which of one has the most of another.
    fn grouped(&self, source: &Source, links: &Links) -> Option<Draft> {
        if !self.says(&ASKED.many) {
            return None;
        }
        let mut tables = links.tables.iter().filter(|(_, _, score)| *score >= 0.8);
        let (first, second) = (tables.next()?, tables.next());
        let find = |name: &str| source.schema.tables.iter().find(|table| table.name == name);
        let (parent, child) = if let Some(second) = second {
            (find(&first.1)?, find(&second.1)?)
        } else {
            let child = find(&first.1)?;
            let [key] = child.foreign_keys.as_slice() else {
                return None;
            };
            (find(&key.table)?, child)
        };
        let label = parent.columns.iter().find(|column| is_text(&column.kind))?;
        let query = Query {
            from: child.name.clone(),
            select: vec![
                Select { column: Some(label.name.clone()), table: Some(parent.name.clone()), aggregate: None },
                Select { aggregate: Some(Aggregate::Count), ..Select::default() },
            ],
            join: vec![parent.name.clone()],
            group_by: vec![Column { column: label.name.clone(), table: Some(parent.name.clone()) }],
            order_by: Some(Order {
                aggregate: Some(Aggregate::Count),
                desc: !self.says(&ASKED.low),
                ..Order::default()
            }),
            limit: Some(1),
            ..Query::default()
        };
        let told = vec![("column", child.name.clone()), ("what", parent.name.clone())];
        let frame = if self.says(&ASKED.low) { "lowest" } else { "highest" };
        finished(source, &query, frame, told)
    }

    fn says(&self, list: &[String]) -> bool {
        said_at(&plain(self.wanted.text), list).is_some()
    }
}

/// Where a word of the list stands: short ones whole, longer ones as a beginning.
fn said_at(text: &str, list: &[String]) -> Option<usize> {
    list.iter()
        .flat_map(|known| {
            let places = text.match_indices(known.as_str()).map(|(at, _)| at);
            places.filter(|at| {
                let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
                edge(text[..*at].chars().next_back())
                    && (known.chars().count() > WHOLE || edge(text[at + known.len()..].chars().next()))
            })
        })
        .min()
}

impl Links {
    fn score(&self, told: &[Told]) -> f32 {
        let mut best = vec![0.0_f32; told.len()];
        for (index, one) in told.iter().enumerate() {
            for (at, _, score) in &self.tables {
                if *at == one.at {
                    best[index] = best[index].max(*score);
                }
            }
            for (at, _, _, score) in &self.columns {
                if *at == one.at {
                    best[index] = best[index].max(0.9 * score);
                }
            }
            for (at, len, _, _) in &self.values {
                if *at <= one.at && one.at < at + len {
                    best[index] = best[index].max(0.9);
                }
            }
        }
        best.iter().sum()
    }
}

/// The table that the question is about.
fn subject<'s>(source: &'s Source, links: &Links) -> Option<&'s Table> {
    let find = |name: &str| source.schema.tables.iter().find(|table| table.name == name);
    if let [only] = source.schema.tables.as_slice() {
        return Some(only);
    }
    let named = links.tables.iter().max_by(|a, b| a.2.total_cmp(&b.2).then(b.0.cmp(&a.0)));
    if let Some((_, name, score)) = named
        && *score >= 0.8
    {
        return find(name);
    }
    let column = links.columns.iter().max_by(|a, b| a.3.total_cmp(&b.3));
    if let Some((_, name, ..)) = column {
        let rivals = links.columns.iter().filter(|one| one.3 >= column.map_or(0.0, |c| c.3));
        let mut tables: Vec<&String> = rivals.map(|one| &one.1).collect();
        tables.dedup();
        if tables.len() == 1 {
            return find(name);
        }
    }
    named
        .map(|(_, name, _)| name.as_str())
        .or_else(|| links.values.first().map(|(_, _, found, _)| found.table.as_str()))
        .and_then(find)
}

/// Values of the source that the request says, the longest first.
fn values(told: &[Told], database: &Database) -> Vec<Said> {
    let tables = &database.schema().tables;
    let is_name = |one: &Told| {
        tables.iter().any(|table| {
            near::letters(&one.text, &table.name) >= 1.0
                || table.columns.iter().any(|c| near::letters(&one.text, &c.name) >= 1.0)
        })
    };
    let named = |table: &str| told.iter().any(|one| near::letters(&one.text, table) >= 0.8);
    // What stands in a row's name is best one of a table that a named one refers to ("albums by …": the artist's name, not
    // an album's), then one of a named table.
    let meant = |place: &Found| {
        let name = tables
            .iter()
            .find(|table| table.name == place.table)
            .and_then(|table| table.columns.iter().find(|column| is_text(&column.kind)));
        let referred = tables
            .iter()
            .filter(|table| named(&table.name))
            .any(|table| table.foreign_keys.iter().any(|key| key.table == place.table));
        let of_its_name = name.is_some_and(|column| column.name == place.column);
        (referred && of_its_name, named(&place.table))
    };
    let mut said = Vec::new();
    let mut from = 0;
    while from < told.len() {
        let lengths = (1..=LONGEST.min(told.len() - from)).rev();
        let found = lengths.into_iter().find_map(|len| {
            let run = &told[from..from + len];
            let side_by_side = run.windows(2).all(|two| two[0].at + 1 == two[1].at);
            if !side_by_side || (len == 1 && !run[0].quoted && is_name(&run[0])) {
                return None;
            }
            let text = run.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ");
            let whole = database.whole(std::slice::from_ref(&text.to_ascii_lowercase()));
            if let Some(place) = whole.into_iter().max_by_key(|place| meant(place)) {
                return Some((len, place, Op::Eq));
            }
            if !run.iter().all(|one| one.proper) || text.chars().count() < 3 {
                return None;
            }
            let (table, column) = database.part(&text).into_iter().next()?;
            let place = Found { table, column, value: text };
            Some((len, place, Op::Contains))
        });
        match found {
            Some((len, place, op)) => {
                said.push((told[from].at, len, place, op));
                from += len;
            }
            None => from += 1,
        }
    }
    said
}

fn is_source(path: &str) -> bool {
    files::is_table(path) || crate::suggest::is_database(path)
}
