//! What the words of a request name in a table: the table itself, its columns, its values, and times.

use super::ASKED;
use crate::draft::{Desk, Told, near};
use crate::lexicon::lexicon;
use crate::read::number::{numbers, value};
use steward_core::ports::TableReader;
use steward_core::tables::{Found, Op, Schema};
use steward_core::text::{plain, stem, words};

/// Most words of one value.
const LONGEST: usize = 5;
/// Most different values of a column whose values may be in lower case, or be words of asking.
const MANY: usize = 100;
const FEW: usize = 30;
/// Words of asking up to this length are no values; months up to it need a capital or a small word before them.
const SHORT: usize = 3;

pub(crate) struct Source {
    pub path: String,
    pub schema: Schema,
    pub values: Vec<Said>,
    /// Columns of dates: table and column.
    pub dates: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Said {
    /// Index of its first word.
    pub at: usize,
    pub len: usize,
    pub place: Found,
    pub op: Op,
    /// Whether the previous request said it.
    pub before: bool,
}

/// A month, a year, or both.
#[derive(Debug, Clone)]
pub(crate) struct When {
    pub at: usize,
    pub len: usize,
    pub month: Option<usize>,
    pub year: Option<i32>,
    pub shown: String,
    pub op: Op,
}

/// What the meaningful words name in one source.
#[derive(Default)]
pub(crate) struct Links {
    /// Named tables in the order of the request: index of the word, table, score.
    pub tables: Vec<(usize, String, f32)>,
    pub columns: Vec<(usize, String, String, f32)>,
    pub values: Vec<Said>,
    /// A number of the request, and how it is compared.
    pub number: Option<(usize, f64, Op)>,
    pub when: Option<When>,
    /// Meaningful words that name nothing.
    pub spare: Vec<Told>,
    /// Index of the first new word.
    pub since: usize,
}

impl Desk<'_> {
    pub(crate) async fn open(&self, path: String, told: Vec<Told>) -> Option<Source> {
        let opened = self.view.blocking(move |view| {
            let database = view.tables(&path)?;
            let values = values(&told, database.as_ref());
            let schema = database.schema().clone();
            Some(Source { path, schema, values, dates: database.dates() })
        });
        opened.await?
    }

    /// `told`: all words but those of the file's name.
    pub(crate) fn links(&self, told: &[Told], source: &Source) -> Links {
        let since = told.iter().find(|one| !one.before).map_or(0, |one| one.at);
        let mut links = Links { values: source.values.clone(), since, ..Links::default() };
        let mut explained: Vec<usize> = Vec::new();
        for said in &links.values {
            let words = told.iter().skip_while(|one| one.at != said.at).take(said.len);
            explained.extend(words.map(|one| one.at));
        }
        for one in told.iter().filter(|one| !one.quoted) {
            // A word of asking names only what is called exactly that.
            let long = one.text.chars().count() > SHORT;
            let names = |score: f32| score > 0.0 && (!one.asks || (long && score >= 1.0));
            for table in &source.schema.tables {
                let score = near::letters(&one.text, &table.name);
                if names(score) {
                    links.tables.push((one.at, table.name.clone(), score));
                    explained.push(one.at);
                }
                for column in &table.columns {
                    let score = near::letters(&one.text, &column.name);
                    if names(score) {
                        links.columns.push((one.at, table.name.clone(), column.name.clone(), score));
                        explained.push(one.at);
                    }
                }
            }
        }
        // The best name for each word.
        links.tables.sort_by(|a, b| a.0.cmp(&b.0).then(b.2.total_cmp(&a.2)));
        links.tables.dedup_by_key(|one| one.0);
        links.when = if source.dates.is_empty() { None } else { when(told) };
        explained.extend(links.when.iter().flat_map(|when| when.at..when.at + when.len));
        links.number = self.compared(&explained);
        explained.extend(links.number.iter().map(|number| number.0));
        let extreme = self.asked() == "extreme";
        let spare = |one: &&Told| {
            let word = one.text.to_lowercase();
            let number = links.number.is_some_and(|(_, _, op)| op != Op::Eq);
            let compares = (number || links.when.is_some())
                && [&ASKED.more, &ASKED.less, &ASKED.least, &ASKED.most]
                    .into_iter()
                    .flatten()
                    .any(|known| known.split(' ').any(|part| part == word));
            if explained.contains(&one.at) || compares {
                return false;
            }
            let reversed = ASKED.not.contains(&word) || word.ends_with("n't") || word.ends_with("n’t");
            let superlative = superlative(&word);
            reversed || (superlative && !extreme) || (!one.asks && !one.before && !superlative)
        };
        links.spare = told.iter().filter(spare).cloned().collect();
        links
    }

    /// "above 25": the new number, else the previous one.
    fn compared(&self, explained: &[usize]) -> Option<(usize, f64, Op)> {
        let text = self.wanted.text;
        let all = words(text);
        let numbers = || numbers(&all).filter(|(at, word, _)| !explained.contains(at) && !is_code(word.text));
        let new = numbers().find(|(_, word, _)| word.start >= self.wanted.since);
        let (at, word, number) = new.or_else(|| numbers().next())?;
        Some((at, number, op_after(&plain(&text[..word.start]))))
    }
}

/// Whether digits are no number but a code, such as `0010`.
fn is_code(word: &str) -> bool {
    word.len() > 1 && word.starts_with('0') && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word is a superlative; a word that compares with a number is not.
pub(crate) fn superlative(word: &str) -> bool {
    let begins = |list: &Vec<String>| list.iter().any(|known| word.starts_with(known.as_str()));
    let opens = |list: &Vec<String>| list.iter().any(|known| known.split(' ').next() == Some(word));
    let extreme = begins(&ASKED.low) || begins(&ASKED.high) || ASKED.by.values().any(begins);
    extreme && word.chars().count() > SHORT + 1 && !(opens(&ASKED.more) || opens(&ASKED.less))
}

/// How the words before a number compare: "supérieur à", "at least".
fn op_after(before: &str) -> Op {
    let bare = |text: &str| {
        let small = [" à", " a", " to", " als", " de", " than"];
        small.into_iter().find_map(|small| text.strip_suffix(small)).unwrap_or(text).to_owned()
    };
    let before = bare(before);
    let ends =
        |word: &String| before.strip_suffix(&bare(word)).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric));
    let said = |list: &[String]| list.iter().any(ends);
    let of = [(&ASKED.least, Op::Gte), (&ASKED.most, Op::Lte), (&ASKED.more, Op::Gt), (&ASKED.less, Op::Lt)];
    of.into_iter().find(|(list, _)| said(list)).map_or(Op::Eq, |(_, op)| op)
}

/// The month or year in the request; a new one takes precedence.
fn when(told: &[Told]) -> Option<When> {
    let months = &lexicon().time.months;
    let year = |one: &Told| one.text.parse().ok().filter(|year| (1900..2100).contains(year) && one.text.len() == 4);
    let month = |index: usize| {
        let one = told.get(index)?;
        let lower = one.text.to_lowercase();
        let led =
            index.checked_sub(1).and_then(|at| told.get(at)).is_some_and(|word| word.text.chars().count() < SHORT);
        let sure = lower.chars().count() > SHORT || one.proper || led;
        months.iter().position(|names| sure && names.contains(&lower))
    };
    let op = |index: usize| {
        let before: Vec<&str> = told[..index].iter().map(|one| one.text.as_str()).collect();
        op_after(&plain(&before.join(" ")))
    };
    let at = |index: usize| {
        let one = &told[index];
        let next = told.get(index + 1).filter(|next| next.at == one.at + 1);
        let alone = When { at: one.at, len: 1, month: month(index), year: None, shown: one.text.clone(), op: Op::Eq };
        match (alone.month, year(one), next.and_then(year)) {
            (Some(_), _, Some(year)) => {
                Some(When { len: 2, shown: format!("{} {year}", one.text), year: Some(year), ..alone })
            }
            (Some(_), ..) => Some(alone),
            (None, Some(year), _) => Some(When { year: Some(year), op: op(index), ..alone }),
            _ => None,
        }
    };
    let new = (0..told.len()).filter(|index| !told[*index].before).find_map(at);
    new.or_else(|| (0..told.len()).find_map(at))
}

impl Links {
    /// How much of the request names something here.
    pub fn score(&self, told: &[Told]) -> f32 {
        let best = |one: &Told| {
            let tables = self.tables.iter().filter(|(at, ..)| *at == one.at).map(|(_, _, score)| *score);
            let columns = self.columns.iter().filter(|(at, ..)| *at == one.at).map(|(_, _, _, score)| 0.9 * score);
            let values = self.values.iter().filter(|said| (said.at..said.at + said.len).contains(&one.at)).map(|_| 0.9);
            tables.chain(columns).chain(values).fold(0.0, f32::max)
        };
        told.iter().map(best).sum()
    }
}

/// Values of the source in the request, the longest first; a new one replaces an earlier one of the same column.
fn values(told: &[Told], database: &dyn TableReader) -> Vec<Said> {
    let tables = &database.schema().tables;
    let is_name = |one: &Told| {
        tables.iter().any(|table| {
            near::letters(&one.text, &table.name) >= 1.0
                || table.columns.iter().any(|c| near::letters(&one.text, &c.name) >= 1.0)
        })
    };
    let named = |table: &str| told.iter().any(|one| !one.asks && near::letters(&one.text, table) >= 0.8);
    // Of several places of a value, the best is a table that a named one refers to ("albums by …": the artist's name,
    // not an album's), then a named table, then one of few values.
    let meant = |place: &Found| {
        let name = tables
            .iter()
            .find(|table| table.name == place.table)
            .and_then(|table| table.columns.iter().find(|column| column.is_text()));
        let referred = tables
            .iter()
            .filter(|table| named(&table.name))
            .any(|table| table.foreign_keys.iter().any(|key| key.table == place.table));
        let of_its_name = name.is_some_and(|column| column.name == place.column);
        (referred && of_its_name, named(&place.table), database.at_most(place, MANY))
    };
    let find = |run: &[Told]| {
        let side_by_side = run.windows(2).all(|two| two[0].at + 1 == two[1].at && two[0].before == two[1].before);
        let first = &run[0];
        let asks = run.iter().all(|one| one.asks);
        let alone = run.len() == 1 && !first.quoted;
        let short = asks && first.text.chars().count() < SHORT;
        let reversed = ASKED.not.contains(&first.text.to_lowercase());
        if !side_by_side
            || (asks && (!alone || short || reversed))
            || (alone && (is_name(first) || (value(&first.text).is_some() && !is_code(&first.text))))
        {
            return None;
        }
        let text = run.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ");
        let mut forms = vec![text.to_ascii_lowercase()];
        forms.extend(alone.then(|| stem(&text)));
        let whole = database.whole(&forms).into_iter();
        // A small word may match one of many values by chance.
        let by_chance =
            |place: &Found| alone && !first.proper && !database.at_most(place, if asks { FEW } else { MANY });
        if let Some(place) = whole.filter(|place| !by_chance(place)).max_by_key(|place| meant(place)) {
            return Some((place, Op::Eq));
        }
        if !run.iter().all(|one| one.proper) || text.chars().count() < SHORT {
            return None;
        }
        let (table, column) = database.part(&text).into_iter().next()?;
        Some((Found { table, column, value: text }, Op::Contains))
    };
    let mut said: Vec<Said> = Vec::new();
    let mut from = 0;
    while from < told.len() {
        let mut lengths = (1..=LONGEST.min(told.len() - from)).rev();
        let found = lengths.find_map(|len| find(&told[from..from + len]).map(|(place, op)| (len, place, op)));
        if let Some((len, place, op)) = &found {
            let one = &told[from];
            said.push(Said { at: one.at, len: *len, place: place.clone(), op: *op, before: one.before });
        }
        from += found.map_or(1, |(len, ..)| len);
    }
    let new: Vec<Found> = said.iter().filter(|one| !one.before).map(|one| one.place.clone()).collect();
    said.retain(|one| {
        let same = |other: &Found| other.table == one.place.table && other.column == one.place.column;
        !one.before || !new.iter().any(same)
    });
    said
}

/// The column by which a number is asked for: "per pump".
pub(crate) fn each_of(told: &[Told], links: &Links, table: &str) -> Option<String> {
    let each = told.iter().find(|one| ASKED.each.contains(&one.text.to_lowercase()))?;
    let after = links.columns.iter().filter(|(at, of, ..)| (each.at + 1..=each.at + 2).contains(at) && of == table);
    after.max_by(|a, b| a.3.total_cmp(&b.3)).map(|(_, _, column, _)| column.clone())
}
