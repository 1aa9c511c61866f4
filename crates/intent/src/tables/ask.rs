//! Turns questions about the tables of files and databases into one structured query.

use super::links::{Links, Source, each_of, superlative};
use super::queries::{
    columns_of, dates, labelled, narrowed, numbers, selected, shown, table_names, unclear, which_column, wished,
};
use super::{ASKED, said_at};
use crate::draft::{Desk, Draft, Told, call, files, near, open};
use crate::read::path::{is_database, is_rows};
use serde_json::json;
use steward_core::tables::{Aggregate, Condition, Op, Order, Query, QueryColumn, Select, Table};
use steward_core::text::{plain, words};

const SOURCES: usize = 12;
/// Score of a word that is only similar to a table's name.
const ALIKE: f32 = 0.8;
const SHOWN: u32 = 40;
/// Kinds of requests that ask for rows or for numbers over them.
const ASKS_ROWS: &[&str] = &["count", "extreme", "average", "sum", "rows"];

impl Desk<'_> {
    pub(crate) async fn table(&self) -> Option<Draft> {
        let named = self.file().filter(|found| is_rows(&found.path) || is_database(&found.path));
        let apart = named.as_ref().map_or((0, 0), |found| found.span);
        let mut paths: Vec<String> = match &named {
            Some(found) => vec![found.path.clone()],
            None => self.view.sources(),
        };
        // If a file is named and no table, other sources can't answer the question.
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
        let told = self.heard(apart);
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
            let only = paths.iter().find(|path| is_database(path));
            return Some(self.tables_of(only.unwrap_or(&source.path)));
        }
        if !self.wanted.sure && named.is_none() && score < 0.9 {
            return None;
        }
        if named.is_none() && score <= 0.0 && paths.len() > 1 {
            return Some(open("which_table", vec![("names", paths.join(", "))]));
        }
        if let Some(draft) = self.described(&source, apart).await {
            return Some(draft);
        }
        self.ask(&source, &told, links).await
    }

    /// The query that is read as of described data; `None`: too little is understood so, or the request goes on from another.
    async fn described(&self, source: &Source, apart: (usize, usize)) -> Option<Draft> {
        if self.wanted.since > 0 || !ASKS_ROWS.contains(&self.wanted.kind) {
            return None;
        }
        let text = self.wanted.text;
        let request = format!("{} {}", text.get(..apart.0)?, text.get(apart.1..)?);
        let path = source.path.clone();
        let made = self.view.blocking(move |view| view.draft(&path, &request)).await??;
        if made.refused {
            let columns: Vec<String> = source
                .schema
                .tables
                .iter()
                .flat_map(|table| &table.columns)
                .map(|column| column.name.clone())
                .collect();
            let words =
                vec![("spare", made.unread.join(", ")), ("table", source.path.clone()), ("names", columns.join(", "))];
            return Some(open("not_found", words));
        }
        if !made.sure {
            return None;
        }
        let mut what = made.said;
        if !made.unread.is_empty() {
            what = format!("{what}; –{}", made.unread.join(", "));
        }
        let frame = if made.number { "data_number" } else { "rows" };
        let arguments = json!({"database": source.path, "query": {"sql": made.sql}});
        Some(call("sql", arguments, frame, vec![("what", what), ("file", source.path.clone())]))
    }

    pub(crate) fn tables_of(&self, path: &str) -> Draft {
        let Some(source) = self.view.tables(path) else {
            return files::nothing();
        };
        let tables = table_names(source.schema());
        let told = vec![("file", path.to_owned()), ("number", tables.len().to_string()), ("names", tables.join(", "))];
        call("sql", files::schema(path, "*"), "tables", told)
    }

    /// The kind of question: rows with a superlative are the extreme ones, and lines of a table are its rows.
    pub(crate) fn asked(&self) -> &str {
        let text = plain(self.wanted.text);
        let bound = [&ASKED.least, &ASKED.most].into_iter().any(|list| said_at(&text, list).is_some());
        let extreme = || !bound && words(self.wanted.text).iter().any(|word| superlative(&word.lower));
        match self.wanted.kind {
            "lines" => "count",
            "rows" if extreme() => "extreme",
            kind => kind,
        }
    }

    async fn ask(&self, source: &Source, told: &[Told], mut links: Links) -> Option<Draft> {
        self.liken(source, &mut links).await;
        let Some(table) = subject(source, &links) else {
            return Some(open("which_table", vec![("names", table_names(&source.schema).join(", "))]));
        };
        let mut kind = self.asked();
        if kind == "columns" {
            // A longer request that names no file asks for something else.
            let named = self.file().is_some_and(|file| file.span != (0, 0)) && links.values.is_empty();
            let clear = named || unclear(source, table, &links, None, kind).is_none();
            return clear.then(|| columns_of(source, table));
        }
        // "how many litres" asks for the sum of a column, not for rows.
        let first = told.iter().find(|one| !one.asks);
        let counted = links.columns.iter().find(|(at, of, column, score)| {
            *of == table.name
                && *score >= 1.0
                && first.is_some_and(|first| first.at == *at)
                && numbers(table).any(|known| known.name == *column)
        });
        if kind == "count" && counted.is_some() && links.number.is_none() {
            kind = "sum";
        }
        let top = links.number.filter(|(_, count, op)| kind == "extreme" && *op == Op::Eq && *count >= 1.0);
        if top.is_some() {
            links.number = None;
        }
        let measure = if matches!(kind, "count" | "rows") && links.number.is_none() {
            None
        } else {
            self.measured(source, table, &mut links).await
        };
        if let Some(unclear) = unclear(source, table, &links, measure.as_ref(), kind) {
            return Some(unclear);
        }
        let (mut query, mut what) = match narrowed(source, table, &links, measure.as_ref()) {
            Ok(narrowed) => narrowed,
            Err(draft) => return Some(draft),
        };
        what.insert(0, shown(source, table));
        let each = each_of(told, &links, &table.name);
        let draft = match kind {
            "count" => {
                query.select = vec![Select { aggregate: Some(Aggregate::Count), ..Select::default() }];
                let plain_file = is_rows(&source.path) && query.conditions.is_empty();
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
                    return self.compares().then(|| which_column(source, table));
                };
                let low = self.lowest(source, table, &column);
                query.order_by = Some(Order { column: Some(column.clone()), desc: !low, ..Order::default() });
                query.conditions.push(Condition { column: column.clone(), table: None, op: Op::Ne, value: json!("") });
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 40")]
                let limit = top.map_or(1, |(_, count, _)| count.min(f64::from(SHOWN)) as u32);
                query.limit = Some(limit);
                query.select = labelled(table, &column, &links);
                let frame = if low { "lowest" } else { "highest" };
                (if limit > 1 { "rows" } else { frame }, vec![("column", column)])
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
        let (mut frame, mut words) = draft;
        if let Some(each) = each.filter(|_| !matches!(kind, "rows" | "extreme")) {
            let number = query.select.first().cloned().unwrap_or_default();
            query.order_by =
                Some(Order { column: number.column, aggregate: number.aggregate, desc: true, table: None });
            query.select.insert(0, selected(each.clone()));
            query.group_by = vec![QueryColumn { column: each, table: None }];
            query.limit = Some(SHOWN);
            frame = "rows";
        }
        words.push(("what", what.join(", ")));
        words.push(("file", source.path.clone()));
        self.finished(source, &query, frame, words)
    }

    /// A word may mean the rows without being the table's name: "clients" of a table of customers.
    async fn liken(&self, source: &Source, links: &mut Links) {
        let mut tables: Vec<String> = links.tables.iter().map(|(_, name, _)| name.clone()).collect();
        if tables.is_empty() {
            tables = table_names(&source.schema);
        }
        let spare = links.spare.iter().enumerate().filter(|(_, one)| !one.quoted);
        let spare: Vec<(usize, String)> = spare.map(|(index, one)| (index, one.text.clone())).collect();
        for (index, word) in spare {
            if let Some(at) = near::meaning(&word, &tables, self.embedder).await {
                let one = links.spare.remove(index);
                links.tables.push((one.at, tables[at].clone(), ALIKE));
                return;
            }
        }
    }

    /// The column that is compared or added up: named, or nearest in meaning to what the request compares.
    async fn measured(&self, source: &Source, table: &Table, links: &mut Links) -> Option<String> {
        let number = |column: &String| numbers(table).any(|known| known.name == *column);
        let date = |column: &String| dates(source, table).contains(column);
        let extreme = self.asked() == "extreme";
        let mut named: Vec<(f32, String)> = links
            .columns
            .iter()
            .filter(|(_, of, column, score)| {
                *of == table.name && (number(column) || (extreme && *score >= ALIKE && date(column)))
            })
            .map(|(at, _, column, score)| {
                let new = f32::from(u8::from(*at >= links.since && links.since > 0));
                (score + new + f32::from(u8::from(number(column))), column.clone())
            })
            .collect();
        named.sort_by(|a, b| b.0.total_cmp(&a.0));
        if let Some((score, column)) = named.first() {
            let rival = named.iter().any(|(other, rival)| rival != column && (other - score).abs() < 0.01);
            if !rival {
                return Some(column.clone());
            }
            // "temperature" for temp_min and temp_max: the words of comparison decide.
            let side = if self.says(&ASKED.low) { "min" } else { "max" };
            return named.iter().map(|(_, column)| column).find(|name| name.to_lowercase().contains(side)).cloned();
        }
        let known: Vec<String> = numbers(table).map(|column| column.name.clone()).collect();
        // A number belongs to a unit, which similarity can't tell: minutes are not milliseconds.
        let compares = !extreme || self.compares();
        let alike = links.spare.iter().filter(|_| links.number.is_none() && compares);
        for word in alike.map(|one| one.text.clone()).collect::<Vec<_>>() {
            if let Some(at) = near::meaning(&word, &known, self.embedder).await {
                links.spare.retain(|one| one.text != word);
                return known.get(at).cloned();
            }
        }
        let (by, _) = ASKED.by.iter().find(|(_, list)| extreme && self.says(list))?;
        if by == "date" {
            let dates = dates(source, table);
            if let [only] = dates.as_slice() {
                return Some(only.clone());
            }
            let at = near::meaning(by, &dates, self.embedder).await?;
            return dates.get(at).cloned();
        }
        let at = near::meaning(by, &known, self.embedder).await?;
        known.get(at).cloned()
    }

    fn lowest(&self, source: &Source, table: &Table, column: &str) -> bool {
        let date = dates(source, table).iter().any(|date| date == column);
        self.says(&ASKED.low) != (date && self.says(&ASKED.age))
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
        let label = parent.columns.iter().find(|column| column.is_text())?;
        let query = Query {
            from: child.name.clone(),
            select: vec![
                Select { column: Some(label.name.clone()), table: Some(parent.name.clone()), aggregate: None },
                Select { aggregate: Some(Aggregate::Count), ..Select::default() },
            ],
            join: vec![parent.name.clone()],
            group_by: vec![QueryColumn { column: label.name.clone(), table: Some(parent.name.clone()) }],
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
        self.finished(source, &query, frame, told)
    }

    /// Whether any word compares: without one, what was read as a question for the most is some other question.
    fn compares(&self) -> bool {
        let of = [&ASKED.low, &ASKED.high, &ASKED.many, &ASKED.more, &ASKED.less, &ASKED.age];
        of.into_iter().chain(ASKED.by.values()).any(|list| self.says(list))
    }

    /// Whether a word of the list occurs: in what is new, if that compares at all.
    fn says(&self, list: &[String]) -> bool {
        let new = &self.wanted.text[self.wanted.since.min(self.wanted.text.len())..];
        let compares = [&ASKED.low, &ASKED.high].into_iter().any(|list| said_at(&plain(new), list).is_some());
        said_at(&plain(if compares { new } else { self.wanted.text }), list).is_some()
    }
}

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
        .or_else(|| links.values.first().map(|said| said.place.table.as_str()))
        .and_then(find)
}
