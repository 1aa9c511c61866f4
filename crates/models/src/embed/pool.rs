/// The mean of the vectors of the tokens that are there, at length 1.
///
/// `states` holds one row of `width` numbers per token.
pub(super) fn mean_normalised(states: &[f32], tokens: usize, width: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; width];
    for row in states.chunks_exact(width).take(tokens) {
        for (total, value) in sum.iter_mut().zip(row) {
            *total += value;
        }
    }
    // Dividing by the number of tokens would be undone by the normalisation.
    let norm = sum.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt();
    if norm > 0.0 {
        for value in &mut sum {
            #[expect(clippy::cast_possible_truncation, reason = "single precision is kept")]
            let scaled = (f64::from(*value) / norm) as f32;
            *value = scaled;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::mean_normalised;

    #[test]
    fn padding_does_not_count() {
        let got = mean_normalised(&[3.0, 0.0, 0.0, 4.0, 100.0, 100.0], 2, 2);
        assert!((got[0] - 0.6).abs() < 1e-6 && (got[1] - 0.8).abs() < 1e-6);
    }

    #[test]
    fn nothing_stays_nothing() {
        assert_eq!(mean_normalised(&[0.0, 0.0], 1, 2), [0.0, 0.0]);
    }
}
