/// The tokens of one text, and where it stood among the others.
pub(super) struct Encoded {
    pub index: usize,
    pub tokens: Vec<i32>,
}

/// Splits texts, sorted by length, into batches of similar length.
pub(super) fn batches(sorted: &[Encoded], max_texts: usize, max_tokens: usize) -> Vec<&[Encoded]> {
    let mut batches = Vec::new();
    let mut rest = sorted;
    while !rest.is_empty() {
        let mut count = 1;
        // Sorted, so the last one decides how long all are padded to.
        while count < rest.len().min(max_texts) && rest[count].tokens.len() * (count + 1) <= max_tokens {
            count += 1;
        }
        let (batch, after) = rest.split_at(count);
        batches.push(batch);
        rest = after;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_order_and_limits() {
        let sorted: Vec<Encoded> = [1, 1, 2, 5, 9, 40]
            .iter()
            .enumerate()
            .map(|(index, length)| Encoded { index, tokens: vec![0; *length] })
            .collect();
        let made = batches(&sorted, 3, 20);
        let shape: Vec<Vec<usize>> = made.iter().map(|b| b.iter().map(|e| e.tokens.len()).collect()).collect();
        assert_eq!(shape, [vec![1, 1, 2], vec![5, 9], vec![40]]);
    }
}
