//! Schema linking: which words of a request name tables, columns and values of a database.

use super::source::{Found, Source};
use super::words::{alike, words as lists};
use crate::suggest::extract::quoted::quoted;
use crate::suggest::extract::text::{parts, stem, words};

/// Words of one value at most.
const LONGEST: usize = 6;

/// A word of the request, as the linker sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// As written.
    pub text: String,
    /// In lower case.
    pub lower: String,
    /// In the singular.
    pub stem: String,
    /// Whether it is written with a capital inside a sentence, or quoted.
    pub proper: bool,
    /// Whether it stands between quotation marks.
    pub quoted: bool,
    /// Whether the request means something else by it: the name of the database.
    pub apart: bool,
}

/// A word or some that name a table or column.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// First token.
    pub at: usize,
    /// How many.
    pub len: usize,
    /// The table.
    pub table: String,
    /// The column; `None`: the table itself.
    pub column: Option<String>,
    /// 0 to 1.
    pub score: f32,
}

/// A value of the database in the request.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    /// First token.
    pub at: usize,
    /// How many.
    pub len: usize,
    /// Where it was found; several places if it is ambiguous.
    pub places: Vec<Found>,
    /// Whether only a part of the stored value was said.
    pub partial: bool,
}

/// All links of a request.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// The request's words.
    pub tokens: Vec<Token>,
    /// Tables named, in order.
    pub tables: Vec<Mention>,
    /// Columns named, in order; ambiguous ones repeatedly.
    pub columns: Vec<Mention>,
    /// Values, none within another.
    pub values: Vec<Linked>,
    /// Single words that are values and stand within a longer one.
    pub pieces: Vec<Linked>,
}

/// The words of a request. `apart` are byte ranges that name the database or another file.
pub fn tokens(request: &str, apart: &[(usize, usize)]) -> Vec<Token> {
    let quotes = quoted(request);
    let mut begins = true;
    words(request)
        .into_iter()
        .map(|word| {
            let in_quotes = quotes
                .iter()
                .any(|q| word.start >= q.start && word.end <= q.end);
            let capital = word.text.chars().next().is_some_and(char::is_uppercase);
            let token = Token {
                text: word
                    .text
                    .trim_end_matches("'s")
                    .trim_end_matches("’s")
                    .to_owned(),
                stem: stem(&word.lower),
                proper: in_quotes || (capital && !begins),
                quoted: in_quotes,
                apart: apart
                    .iter()
                    .any(|(from, to)| word.start < *to && *from < word.end),
                lower: word.lower,
            };
            begins = request[word.end..].starts_with(['.', '?', '!'])
                && request[word.end..]
                    .trim_start_matches(['.', '?', '!', '"', '\''])
                    .starts_with(char::is_whitespace);
            token
        })
        .collect()
}

/// Links a request with a database.
pub fn link(tokens: Vec<Token>, source: &impl Source) -> Links {
    let mut links = Links {
        tokens,
        ..Links::default()
    };
    names(&mut links, source);
    values(&mut links, source);
    links
}

fn names(links: &mut Links, source: &impl Source) {
    for table in &source.schema().tables {
        let name: Vec<String> = parts(&table.name).iter().map(|part| stem(part)).collect();
        mentions(
            &links.tokens,
            &name,
            |at, len, score| Mention {
                at,
                len,
                table: table.name.clone(),
                column: None,
                score,
            },
            &mut links.tables,
        );
        for column in &table.columns {
            let name: Vec<String> = parts(&column.name).iter().map(|part| stem(part)).collect();
            mentions(
                &links.tokens,
                &name,
                |at, len, score| Mention {
                    at,
                    len,
                    table: table.name.clone(),
                    column: Some(column.name.clone()),
                    score,
                },
                &mut links.columns,
            );
        }
    }
    strongest(&mut links.tables);
    strongest(&mut links.columns);
    // A longer name hides the shorter ones within: "invoice line" is no invoice.
    let longer: Vec<Mention> = links.tables.iter().filter(|m| m.len > 1).cloned().collect();
    links
        .tables
        .retain(|m| m.len > 1 || !longer.iter().any(|l| l.at <= m.at && m.at < l.at + l.len));
}

/// Where the parts of a name are said: all in a row, or the telling one of them.
fn mentions(
    tokens: &[Token],
    name: &[String],
    make: impl Fn(usize, usize, f32) -> Mention,
    out: &mut Vec<Mention>,
) {
    let joined = name.concat();
    for at in 0..tokens.len() {
        let token = &tokens[at];
        if token.apart || token.quoted {
            continue;
        }
        let row = name.len() > 1
            && tokens.len() >= at + name.len()
            && name
                .iter()
                .zip(&tokens[at..])
                .all(|(part, token)| same(part, token));
        if row {
            out.push(make(at, name.len(), 1.0));
            continue;
        }
        if token.stem == joined
            || stem(&joined) == token.stem
            || parts(&token.lower)
                .iter()
                .map(|p| stem(p))
                .collect::<Vec<_>>()
                == name
        {
            out.push(make(at, 1, 1.0));
        } else if name.len() == 1 && alike(&name[0], &token.stem) {
            out.push(make(at, 1, 0.75));
        } else if name.len() > 1 {
            let (first, last) = (&name[0], &name[name.len() - 1]);
            if last != "id" && same(last, token) {
                out.push(make(at, 1, 0.6));
            } else if last != "id" && first.len() > 3 && same(first, token) {
                out.push(make(at, 1, 0.5));
            } else if last != "id" && (alike(last, &token.stem) || alike(first, &token.stem)) {
                out.push(make(at, 1, 0.4));
            }
        }
    }
}

/// The same noun, or its verb: "hired" for `hire`, "released" for `release`.
fn same(part: &str, token: &Token) -> bool {
    token.stem == *part
        || (part.len() >= 4
            && token.stem.len() <= part.len() + 2
            && token.stem.starts_with(part)
            && (token.stem.ends_with('d') || token.stem.ends_with("ing")))
}

/// For each place only the best mentions.
fn strongest(found: &mut Vec<Mention>) {
    let all = found.clone();
    found.retain(|m| {
        !all.iter().any(|other| {
            let overlaps = other.at < m.at + m.len && m.at < other.at + other.len;
            overlaps
                && (other.len > m.len || other.score > m.score + 0.01)
                && other.score >= m.score
        })
    });
    found.sort_by(|a, b| a.at.cmp(&b.at).then(b.score.total_cmp(&a.score)));
}

fn values(links: &mut Links, source: &impl Source) {
    let stop = &lists().stop;
    let tokens = &links.tokens;
    let mut spans: Vec<(usize, usize, String)> = Vec::new();
    for at in 0..tokens.len() {
        for len in 1..=LONGEST.min(tokens.len() - at) {
            let piece = &tokens[at..at + len];
            let says_nothing = piece
                .iter()
                .all(|token| stop.contains(&token.lower) || stop.contains(&token.stem));
            // A bare year is a date, whatever postal codes there may be.
            let year = len == 1
                && !piece[0].quoted
                && piece[0].text.len() == 4
                && piece[0]
                    .text
                    .parse::<u16>()
                    .is_ok_and(|year| (1500..2200).contains(&year));
            if year
                || piece.iter().any(|token| token.apart)
                || (says_nothing && !piece.iter().any(|t| t.quoted || t.proper))
            {
                continue;
            }
            // A value doesn't begin or end outside of quotation marks that it enters.
            if piece.iter().any(|t| t.quoted) && !piece.iter().all(|t| t.quoted) {
                continue;
            }
            let text = piece
                .iter()
                .map(|token| token.text.as_str())
                .collect::<Vec<_>>()
                .join(" ");
            for form in forms(&text) {
                spans.push((at, len, form));
            }
        }
    }
    let mut texts: Vec<String> = spans.iter().map(|(_, _, text)| text.clone()).collect();
    texts.sort();
    texts.dedup();
    texts.truncate(400);
    let found = source.whole(&texts);
    let mut linked: Vec<Linked> = Vec::new();
    let mut pieces: Vec<Linked> = Vec::new();
    spans.sort_by_key(|(at, len, _)| (usize::MAX - len, *at));
    for (at, len, text) in &spans {
        let (at, len) = (*at, *len);
        if linked
            .iter()
            .any(|known| at < known.at + known.len && known.at < at + len)
        {
            let places: Vec<Found> = found
                .iter()
                .filter(|place| len == 1 && lower(&place.value) == *text)
                .cloned()
                .collect();
            if !places.is_empty() {
                pieces.push(Linked {
                    at,
                    len,
                    places,
                    partial: false,
                });
            }
            continue;
        }
        let piece = &tokens[at..at + len];
        let proper = piece.iter().any(|token| token.proper);
        // Where it names a table or column it is no value, unless quoted or it stands beside one.
        let named = links
            .tables
            .iter()
            .chain(&links.columns)
            .any(|m| m.score >= 0.6 && m.at <= at && at + len <= m.at + m.len);
        let places: Vec<Found> = found
            .iter()
            .filter(|place| lower(&place.value) == *text)
            .filter(|place| proper || len > 1 || place.few)
            .filter(|_| !named || piece.iter().all(|token| token.quoted) || (proper && len > 1))
            .cloned()
            .collect();
        if !places.is_empty() {
            linked.push(Linked {
                at,
                len,
                places,
                partial: false,
            });
        }
    }
    parts_of_values(&mut linked, links, source);
    linked.sort_by_key(|value| value.at);
    links.values = linked;
    links.pieces = pieces;
}

/// A text and the country that it is a word of origin for, all in the lower case of the database.
fn forms(text: &str) -> Vec<String> {
    let own = lower(text);
    let mut all = vec![own.clone()];
    all.extend(
        lists()
            .origins
            .iter()
            .filter(|(word, _)| *word == own)
            .map(|(_, place)| place.clone()),
    );
    let singular = stem(&own);
    if singular != own && !own.contains(' ') {
        all.push(singular);
    }
    all
}

/// As SQLite lowers: ASCII only.
fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}

/// Proper names and quotations that are no whole value may be part of one.
fn parts_of_values(linked: &mut Vec<Linked>, links: &Links, source: &impl Source) {
    let tokens = &links.tokens;
    let mut at = 0;
    while at < tokens.len() {
        let free = |index: usize| {
            tokens[index].proper
                && !tokens[index].apart
                && !linked
                    .iter()
                    .any(|known| known.at <= index && index < known.at + known.len)
                && (tokens[index].quoted
                    || !links
                        .tables
                        .iter()
                        .chain(&links.columns)
                        .any(|m| m.score >= 0.75 && m.at <= index && index < m.at + m.len))
                && (tokens[index].quoted
                    || crate::suggest::extract::number::value(&tokens[index].text).is_none())
        };
        if !free(at) {
            at += 1;
            continue;
        }
        let mut len = 1;
        while at + len < tokens.len()
            && free(at + len)
            && tokens[at + len].quoted == tokens[at].quoted
        {
            len += 1;
        }
        let text = tokens[at..at + len]
            .iter()
            .map(|token| token.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        if text.chars().count() >= 3 {
            let places: Vec<Found> = source
                .part(&text)
                .into_iter()
                .map(|(table, column)| Found {
                    table,
                    column,
                    value: text.clone(),
                    few: false,
                })
                .collect();
            if !places.is_empty() {
                linked.push(Linked {
                    at,
                    len,
                    places,
                    partial: true,
                });
            }
        }
        at += len;
    }
}
