//! Reads arithmetic in symbols and words as one expression of digits, operators and functions.

use super::number;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calculation {
    /// In awk's syntax: numbers, `+ - * / % ^ ( )`, `sqrt( )`, and nothing else.
    pub expression: String,
    pub operands: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(String),
    Operator(&'static str),
    Open,
    Close,
    Percent,
    Of,
    /// "the square root of", "half of": a prefix.
    Prefix(&'static str, &'static str),
    /// "squared": a suffix.
    Suffix(&'static str),
    /// "the sum of A and B": what the next "and" means.
    Lead(&'static str),
    And,
    Other,
}

/// `None` unless the request has exactly one run of numbers and operators that makes sense as a calculation.
pub fn calculation(request: &str) -> Option<Calculation> {
    let tokens = tokens(request);
    let mut best: Option<Calculation> = None;
    for run in tokens.split(|token| *token == Token::Other) {
        if let Some(found) = build(run)
            && best.as_ref().is_none_or(|kept| kept.operands < found.operands)
        {
            best = Some(found);
        }
    }
    // Leaving out a number would make it another calculation.
    let all = tokens.iter().filter(|token| matches!(token, Token::Number(_))).count();
    best.filter(|found| found.operands >= all)
}

fn tokens(request: &str) -> Vec<Token> {
    // Parentheses belong to a calculation, so only the punctuation of sentences is left out.
    let request = joined(request);
    let words: Vec<&str> = request
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', ';', ':', '?', '!', '"', '\'']).trim_start_matches(['"', '\'']))
        .filter(|word| !word.is_empty())
        .collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let ahead = |n: usize| lower.get(at + n).map_or("", String::as_str);
        let (token, used) = match (ahead(0), ahead(1), ahead(2)) {
            ("square", "root", "of") | ("racine" | "raíz", "carrée" | "cuadrada", "de") => {
                (Token::Prefix("sqrt(", ")"), 3)
            }
            ("half", "of", _) => (Token::Prefix("0.5*(", ")"), 2),
            ("twice", _, _) => (Token::Prefix("2*(", ")"), 1),
            ("divided", "by", _) => (Token::Operator("/"), 2),
            ("geteilt", "durch", _) | ("divisé", "par", _) | ("dividido", "entre" | "por", _) => {
                (Token::Operator("/"), 2)
            }
            ("wurzel", "aus" | "von", _) => (Token::Prefix("sqrt(", ")"), 2),
            ("multiplied", "by", _) => (Token::Operator("*"), 2),
            ("to", "the", "power") => (Token::Operator("^"), if ahead(3) == "of" { 4 } else { 3 }),
            ("power", "of", _) => (Token::Operator("^"), 2),
            ("sum", "of", _) => (Token::Lead("+"), 2),
            ("product", "of", _) => (Token::Lead("*"), 2),
            ("difference", "between" | "of", _) => (Token::Lead("-"), 2),
            ("per" | "pour" | "por", "cent" | "ciento", _) => (Token::Percent, 2),
            (word, _, _) => {
                let Some(token) = single(word) else {
                    out.extend(symbols(words[at]));
                    at += 1;
                    continue;
                };
                (token, 1)
            }
        };
        out.push(token);
        at += used;
    }
    out
}

/// The text with `1 240` written as `1240`.
fn joined(request: &str) -> String {
    let mut out = String::with_capacity(request.len());
    let mut grouped = false;
    for word in request.split_whitespace() {
        let digits = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        let thousand = word.get(..3).is_some_and(digits) && !word[3..].starts_with(|c: char| c.is_alphanumeric());
        let goes_on = grouped && thousand;
        if !out.is_empty() && !goes_on {
            out.push(' ');
        }
        out.push_str(word);
        grouped = digits(word) && (word.len() <= 3 && (!grouped || word.len() == 3));
    }
    out
}

fn single(word: &str) -> Option<Token> {
    Some(match word {
        "plus" | "más" | "mas" => Token::Operator("+"),
        "minus" | "moins" | "menos" => Token::Operator("-"),
        "times" | "x" | "×" | "mal" | "fois" | "por" => Token::Operator("*"),
        "over" | "÷" => Token::Operator("/"),
        "mod" | "modulo" => Token::Operator("%"),
        "percent" | "%" | "prozent" => Token::Percent,
        "of" | "von" | "de" => Token::Of,
        "and" | "und" | "et" | "y" => Token::And,
        "squared" => Token::Suffix("^2"),
        "cubed" => Token::Suffix("^3"),
        "add" => Token::Lead("+"),
        "multiply" => Token::Lead("*"),
        _ => return None,
    })
}

/// A word of symbols: `12*3.5`, `(4+5)/3`, `17%`, `2^10`. Anything unknown makes it `Other`.
fn symbols(word: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut rest = word;
    if ["the"].contains(&word.to_lowercase().as_str()) {
        return out;
    }
    // A word such as `three` or `1,250`.
    if let Some(digits) = number::digits(word).filter(|_| !word.ends_with('%')) {
        return match digits.strip_prefix('-') {
            Some(positive) => vec![Token::Operator("-"), Token::Number(positive.to_owned())],
            None => vec![Token::Number(digits)],
        };
    }
    // A date or a number with dashes in it, such as 2024-01-01, is no subtraction.
    if word.matches('-').count() >= 2 {
        return vec![Token::Other];
    }
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_digit() || c == '.' {
            let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(rest.len());
            match number::digits(rest[..end].trim_end_matches(',')) {
                Some(digits) => out.push(Token::Number(digits)),
                None => return vec![Token::Other],
            }
            rest = &rest[end..];
            continue;
        }
        out.push(match c {
            '+' => Token::Operator("+"),
            '-' | '−' | '–' => Token::Operator("-"),
            '*' | '×' | '·' => Token::Operator("*"),
            '/' | '÷' => Token::Operator("/"),
            // 12 : 4 divides, 6:30 is a time.
            ':' if word.len() == 1 => Token::Operator("/"),
            '^' => Token::Operator("^"),
            '%' => Token::Percent,
            '(' => Token::Open,
            ')' => Token::Close,
            '=' | '?' | '$' | '€' => {
                rest = &rest[c.len_utf8()..];
                continue;
            }
            'x' if !out.is_empty() => Token::Operator("*"),
            _ => return vec![Token::Other],
        });
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// One expression from a run of tokens; `None` unless it is complete and has an operator.
fn build(run: &[Token]) -> Option<Calculation> {
    let mut expression = String::new();
    let mut lead: Option<&str> = None;
    let mut closers: Vec<&str> = Vec::new();
    let (mut operands, mut operators, mut depth) = (0usize, 0usize, 0i32);
    let mut wants_operand = true;
    // Connectives at the edges belong to the sentence, not to the calculation.
    let from = run.iter().position(|t| !matches!(t, Token::Of | Token::And | Token::Percent))?;
    let to = run.iter().rposition(|t| !matches!(t, Token::Of | Token::And | Token::Operator(_)))?;
    let run = run.get(from..=to)?;
    for (at, token) in run.iter().enumerate() {
        match token {
            Token::Number(digits) if wants_operand => {
                expression.push_str(digits);
                operands += 1;
                wants_operand = false;
                if !matches!(run.get(at + 1), Some(Token::Suffix(_) | Token::Percent)) {
                    expression.extend(closers.drain(..));
                }
            }
            Token::Operator("-") if wants_operand => expression.push('-'),
            Token::Operator(operator) if !wants_operand => {
                // "200 + 10%" adds ten percent of what precedes.
                let percent_next =
                    matches!(run.get(at + 2), Some(Token::Percent)) && !matches!(run.get(at + 3), Some(Token::Of));
                if percent_next
                    && (*operator == "+" || *operator == "-")
                    && let Some(Token::Number(share)) = run.get(at + 1)
                {
                    expression = format!("({expression})*(1{operator}{share}/100)");
                    return (run.len() == at + 3).then_some(Calculation { expression, operands: operands + 1 });
                }
                expression.push_str(operator);
                operators += 1;
                wants_operand = true;
            }
            Token::Percent if !wants_operand => {
                expression.push_str("/100");
                expression.extend(closers.drain(..));
                operators += 1;
            }
            Token::Of if !wants_operand => {
                expression.push('*');
                wants_operand = true;
                operators += 1;
            }
            Token::And if !wants_operand => {
                expression.push_str(lead?);
                operators += 1;
                wants_operand = true;
            }
            Token::Open if wants_operand => {
                expression.push('(');
                depth += 1;
            }
            Token::Close if !wants_operand && depth > 0 => {
                expression.push(')');
                depth -= 1;
            }
            Token::Prefix(open, close) if wants_operand => {
                expression.push_str(open);
                closers.push(close);
                operators += 1;
            }
            Token::Suffix(suffix) if !wants_operand => {
                expression.push_str(suffix);
                expression.extend(closers.drain(..));
                operators += 1;
            }
            Token::Lead(operator) if wants_operand => lead = Some(operator),
            _ => return None,
        }
    }
    // "15 %" is a number; "the root of 15" is a calculation.
    let function = run.iter().any(|t| matches!(t, Token::Prefix(..) | Token::Suffix(_)));
    (!wants_operand && depth == 0 && operators > 0 && (operands > 1 || function))
        .then_some(Calculation { expression, operands })
}

#[cfg(test)]
mod tests {
    use super::calculation;

    #[test]
    fn words_and_symbols() {
        for (request, expect) in [
            ("What is 17 percent of 2328.60? Compute it.", Some("17/100*2328.60")),
            ("what's 12 times 3.5", Some("12*3.5")),
            ("compute (4+5)/3", Some("(4+5)/3")),
            ("Work out (18 + 24) * 3.", Some("(18+24)*3")),
            ("square root of 144", Some("sqrt(144)")),
            ("What is the sum of 12 and 30?", Some("12+30")),
            ("calculate 2^10 - 24", Some("2^10-24")),
            ("how much is 1,250 divided by 8", Some("1250/8")),
            ("add 15% to nothing", None),
            ("80 + 15%", Some("(80)*(1+15/100)")),
            ("What is 7 squared?", Some("7^2")),
            ("5 lines of stocks.csv", None),
            ("the first 5", None),
            ("half of 90", Some("0.5*(90)")),
            ("what happened on 2024-01-01", None),
        ] {
            assert_eq!(calculation(request).map(|c| c.expression).as_deref(), expect, "{request}");
        }
    }
}
