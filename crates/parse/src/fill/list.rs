//! Things in a row.

use super::lexicon::Lexicon;
use super::phrase;
use super::request::{Request, What};
use super::token::Kind;

/// Longest row.
const LONGEST: usize = 64;

/// The kind that members of one row share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    Number,
    Quoted,
    Name,
    Code,
    Date,
    Words,
    List,
    Composite,
}

pub(super) fn find(request: &mut Request, words: &Lexicon) {
    let mut members = members(request);
    members.sort_by_key(|(index, _)| request.spans[*index].from);
    for kind in [Row::Number, Row::Quoted, Row::Composite, Row::Name, Row::Code, Row::Date, Row::List, Row::Words] {
        let own: Vec<usize> = members.iter().filter(|(_, row)| *row == kind).map(|(index, _)| *index).collect();
        let mut from = 0;
        while from < own.len() {
            let mut to = from + 1;
            while to < own.len() && to - from < LONGEST && linked(request, own[to - 1], own[to], words) {
                to += 1;
            }
            if to - from > 1 {
                let row = own[from..to].to_vec();
                let (first, last) = (&request.spans[row[0]], &request.spans[row[row.len() - 1]]);
                let (first, last) = (first.from, last.to);
                request.add(first, last, What::Group(row));
            }
            from = to;
        }
    }
}

/// The widest span of each kind at each place.
fn members(request: &Request) -> Vec<(usize, Row)> {
    let mut out: Vec<(usize, Row)> = Vec::new();
    for (index, span) in request.spans.iter().enumerate() {
        let row = match &span.what {
            What::Number(number) if !number.part && !number.often => Row::Number,
            What::Quoted => Row::Quoted,
            What::Name => Row::Name,
            What::Code => Row::Code,
            What::Date(_) => Row::Date,
            What::Phrase => Row::Words,
            What::List(_) => Row::List,
            _ => continue,
        };
        let composite = row == Row::Name && request.slice(span.from, span.to).contains(',');
        if composite {
            out.push((index, Row::Composite));
        }
        let wider = request.spans.iter().any(|other| {
            std::mem::discriminant(&other.what) == std::mem::discriminant(&span.what)
                && other.from <= span.from
                && other.to >= span.to
                && other.to - other.from > span.to - span.from
                && !(row == Row::Name && request.slice(other.from, other.to).contains(','))
        });
        if !wider && !composite {
            out.push((index, row));
        }
    }
    out
}

/// Whether only a comma or `and` stands between two spans.
fn linked(request: &Request, a: usize, b: usize, words: &Lexicon) -> bool {
    let (end, begin) = (request.spans[a].to, request.spans[b].from);
    if begin <= end || begin - end > 4 {
        return false;
    }
    let mut link = false;
    // `Paris, France` is one place.
    if end + 1 == begin && request.tokens[end].is(",") && within(request, a, b, words) {
        return false;
    }
    let spread = matches!(request.spans[a].what, What::Number(_) | What::Date(_))
        && request.spans[a]
            .from
            .checked_sub(1)
            .is_some_and(|at| matches!(request.tokens[at].lower.as_str(), "from" | "between"));
    for token in &request.tokens[end..begin] {
        match token.lower.as_str() {
            "," | "and" | "&" | "or" | ";" => link = true,
            "to" | "until" if spread => link = true,
            "'" | "\"" | "`" | "“" | "”" | "‘" | "’" | "the" | "a" | "an" | "$" | "as" | "well" => {}
            _ if token.kind == Kind::Mark && token.text == "/" => link = true,
            // `for Brest and for Vigo`
            _ if link
                && request.spans[a]
                    .from
                    .checked_sub(1)
                    .is_some_and(|at| request.tokens[at].lower == token.lower && token.kind == Kind::Word) => {}
            // `between x = -1 and x = 2`
            "=" => {}
            _ if token.kind == Kind::Word && token.text.len() == 1 => {}
            _ => return false,
        }
    }
    link
}

/// Whether the first of two names lies in the second.
fn within(request: &Request, a: usize, b: usize, words: &Lexicon) -> bool {
    let (a, b) = (&request.spans[a].text, &request.spans[b].text);
    phrase::region(b, words) && !phrase::alone(a, b, words)
}
