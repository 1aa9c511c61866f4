//! One request, several calls of one tool: `the weather in Oslo and Bergen`.

use super::assign::{Assigned, Candidate};
use super::form::{Form, Type};
use super::lexicon::Lexicon;
use super::request::{Request, What};

/// Most calls of one request.
const MOST: usize = 24;
/// How much worse than the first value of an argument another one may fit.
const SLACK: f32 = 3.0;
/// What any further value has to reach.
const LEAST: f32 = -0.2;

type Taken = Vec<Option<Candidate>>;

/// The assignments of a request, one for each call; the first alone where it wants one.
pub(super) fn several(request: &Request, form: &Form, assigned: &Assigned) -> Vec<Taken> {
    let values = values(request, form, assigned);
    let counts: Vec<usize> = values.iter().map(Vec::len).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    if most < 2 {
        return vec![assigned.taken.clone()];
    }
    if let Some(all) = crossed(request, assigned, &values) {
        return all;
    }
    // The argument with most values leads; the others go along, or stay.
    let lead = counts.iter().position(|count| *count == most).unwrap_or(0);
    (0..most)
        .map(|call| {
            values
                .iter()
                .enumerate()
                .map(|(index, own)| match own.len() {
                    0 => assigned.taken[index].clone(),
                    1 => own.first().cloned(),
                    len if len == most => own.get(call).cloned(),
                    _ => nearest(own, values[lead][call].at),
                })
                .collect()
        })
        .collect()
}

/// The values of each argument in the order of the request.
fn values(request: &Request, form: &Form, assigned: &Assigned) -> Vec<Vec<Candidate>> {
    let mut values: Vec<Vec<Candidate>> = assigned.taken.iter().map(|taken| taken.iter().cloned().collect()).collect();
    let mut offers: Vec<(f32, usize, &Candidate)> = Vec::new();
    let (said, _) = again(request);
    let again = said;
    for (index, taken) in assigned.taken.iter().enumerate() {
        let Some(first) = taken else { continue };
        let param = &form.params[index];
        for other in &assigned.lists[index] {
            let chosen = !param.choices.is_empty() && !matches!(param.kind, Type::List(_));
            // A row that feeds two arguments is no row of calls: `sides of 3, 4 and 5`.
            let shared = assigned.taken.iter().enumerate().any(|(place, sibling)| {
                place != index && sibling.as_ref().is_some_and(|sibling| rows(request, first, sibling))
            });
            let beside = !shared && (rows(request, first, other) || same_before(request, first, other));
            let fits = if chosen {
                other.at != first.at && other.score >= 2.9 && first.score >= 2.9
            } else if beside && !matches!(param.kind, Type::List(_)) {
                let words = other.span.is_some_and(|span| request.spans[span].what == What::Phrase);
                !words || (param.required && other.score >= (first.score - 1.5).max(0.5))
            } else {
                (again || other.score >= first.score - 1.2)
                    && alike(request, first, other)
                    && other.score >= (first.score - SLACK).max(LEAST)
                    && !(wide(request, first).0 < other.to && other.from < wide(request, first).1)
            };
            if fits && other.value != first.value && new(request, assigned, index, form, other) {
                let bonus = if beside { 4.0 } else { 0.0 };
                offers.push((other.score - first.score + bonus, index, other));
            }
        }
    }
    offers.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, index, other) in offers {
        let used = values
            .iter()
            .flatten()
            .any(|one| (one.from < other.to && other.from < one.to) || one.value == other.value && one.at == other.at);
        if !used && values[index].len() < MOST {
            values[index].push(other.clone());
        }
    }
    // Outside of a row, one more name is no call yet; where two arguments repeat, it is.
    let repeated = values.iter().filter(|own| own.len() > 1).count() > 1;
    for (own, taken) in values.iter_mut().zip(&assigned.taken) {
        let Some(first) = taken else { continue };
        if !repeated {
            let literal = said && first.span.is_some_and(|span| !matches!(request.spans[span].what, What::Name));
            own.retain(|one| one == first || literal || rows(request, first, one) || same_before(request, first, one));
        }
        own.sort_by_key(|one| one.at);
    }
    values
}

/// Whether a further value says something that the first call does not say already.
fn new(request: &Request, assigned: &Assigned, index: usize, form: &Form, other: &Candidate) -> bool {
    let Some(span) = other.span.map(|span| &request.spans[span]) else {
        return true;
    };
    // One number for a list is a part of it, not another list.
    if matches!(form.params[index].kind, Type::List(_))
        && !matches!(span.what, What::List(_) | What::Group(_) | What::Quoted)
    {
        return false;
    }
    let taken = assigned.taken.iter().flatten();
    match span.what {
        What::Number(_) => !taken.into_iter().any(|one| one.value == other.value),
        What::Name => !assigned.taken[index].as_ref().is_some_and(|first| {
            let (a, b) = (first.value.to_string(), other.value.to_string());
            a.contains(b.trim_matches('"')) || b.contains(a.trim_matches('"'))
        }),
        _ => true,
    }
}

/// Whether two values are told in the same way.
fn alike(request: &Request, a: &Candidate, b: &Candidate) -> bool {
    let (Some(a), Some(b)) = (a.span, b.span) else {
        return false;
    };
    let (one, other) = (&request.spans[a], &request.spans[b]);
    match (&one.what, &other.what) {
        // Words are alike only in a row.
        (What::Phrase, What::Phrase) => row(request, a, b),
        (What::Number(x), What::Number(y)) => {
            x.unit == y.unit && x.percent == y.percent && x.money == y.money && x.word == y.word || row(request, a, b)
        }
        (x, y) => std::mem::discriminant(x) == std::mem::discriminant(y),
    }
}

fn rows(request: &Request, a: &Candidate, b: &Candidate) -> bool {
    match (a.span, b.span) {
        (Some(a), Some(b)) if a != b => row(request, a, b),
        _ => false,
    }
}

/// `the factorial of 5, the factorial of 7`: the same word leads to both.
fn same_before(request: &Request, a: &Candidate, b: &Candidate) -> bool {
    let words = Lexicon::get();
    let before = |one: &Candidate| {
        request.tokens[..one.from.min(request.tokens.len())]
            .iter()
            .rev()
            .take(3)
            .find(|token| token.is_content(words))
            .map(|token| token.stem.clone())
    };
    let (Some(x), Some(y)) = (a.span, b.span) else {
        return false;
    };
    let alike = std::mem::discriminant(&request.spans[x].what) == std::mem::discriminant(&request.spans[y].what);
    let literal = !matches!(request.spans[x].what, What::Phrase);
    alike && literal && a.from >= 2 && b.from >= 2 && before(a).is_some() && before(a) == before(b)
}

/// The whole name that a value is a part of.
fn wide(request: &Request, one: &Candidate) -> (usize, usize) {
    request
        .spans
        .iter()
        .filter(|span| span.what == What::Name && span.from <= one.from && span.to >= one.to && one.from < one.to)
        .fold((one.from, one.to), |(from, to), span| (from.min(span.from), to.max(span.to)))
}

/// Whether a request says that it wants something more than once, and whether it has sentences.
fn again(request: &Request) -> (bool, bool) {
    let words = Lexicon::get();
    let sentences = request
        .tokens
        .windows(2)
        .filter(|pair| pair[1].first && matches!(pair[0].text.as_str(), "." | "?" | ";" | "!"))
        .count();
    let said = request.tokens.iter().any(|token| words.again.contains(&token.lower));
    (said, sentences > 0)
}

fn row(request: &Request, a: usize, b: usize) -> bool {
    request
        .spans
        .iter()
        .any(|span| matches!(&span.what, What::Group(members) if members.contains(&a) && members.contains(&b)))
}

/// Every value of one row with every value of another: two firms, three years.
fn crossed(request: &Request, assigned: &Assigned, values: &[Vec<Candidate>]) -> Option<Vec<Taken>> {
    let many: Vec<usize> = (0..values.len()).filter(|index| values[*index].len() > 1).collect();
    let [a, b] = many[..] else { return None };
    let (one, other) = (&values[a], &values[b]);
    let rows = [one, other].iter().all(|own| {
        own.windows(2).all(|pair| match (pair[0].span, pair[1].span) {
            (Some(x), Some(y)) => row(request, x, y),
            _ => false,
        })
    });
    if one.len() == other.len() || !rows || one.len() * other.len() > MOST {
        return None;
    }
    let mut out = Vec::new();
    for x in one {
        for y in other {
            let mut taken = assigned.taken.clone();
            taken[a] = Some(x.clone());
            taken[b] = Some(y.clone());
            out.push(taken);
        }
    }
    Some(out)
}

/// The value that stands nearest to a place.
fn nearest(own: &[Candidate], at: usize) -> Option<Candidate> {
    own.iter().min_by_key(|one| one.at.abs_diff(at)).cloned()
}
