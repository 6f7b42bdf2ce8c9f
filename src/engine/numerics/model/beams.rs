//! Beam search: the likeliest beginnings of a sentence are continued side by side, and the likeliest whole sentence is
//! taken (Sutskever, Vinyals & Le 2014, arXiv 1409.3215, section 3.2). Greedy search, which is the search with one
//! beam, can write a less likely sentence, because it never goes back to a word that was not the likeliest.
//!
//! The probability of a sentence is the product of the probabilities of its words and of its end. Unlike in some
//! programs, it is not divided by a power of the length, so short sentences have an advantage.

use super::Classes;
use super::generate::{Beginning, CannotGenerate, NextWord, Reader, RowsRead};
use crate::numerics::Scalar;

/// The largest number of beams, each of which has keys and values of its own.
pub const BEAMS_MAX: usize = 8;

/// A beginning of a sentence with the logarithm of its probability.
#[derive(Clone)]
struct Beam<S> {
    text: Beginning<S>,
    log_probability: f64,
}

/// A word that may continue a beam.
#[derive(Clone, Copy)]
struct Step {
    beam: usize,
    word: usize,
    log_probability: f64,
}

impl<S: Scalar> Reader<'_, S> {
    /// Returns the likeliest sentence that the search finds, of those that end within `count` words; if none ends, the
    /// likeliest beginning. Words of the classes `never` are not written.
    ///
    /// # Errors
    /// If a logit is not finite, the classes are not words, or `width` is not between 1 and [`BEAMS_MAX`].
    pub fn search(
        &self,
        text: Beginning<S>,
        count: usize,
        width: usize,
        never: &[usize],
    ) -> Result<Vec<NextWord>, CannotGenerate> {
        if !(1..=BEAMS_MAX).contains(&width) {
            return Err(CannotGenerate::Beams);
        }
        let mut beams = vec![Beam { text, log_probability: 0.0 }];
        let mut whole: Option<Beam<S>> = None;
        // A longer sentence is never likelier, so the search ends once no beginning is likelier than a whole sentence.
        while beams[0].text.found.len() < count
            && whole.as_ref().is_none_or(|whole| whole.log_probability < beams[0].log_probability)
        {
            let (steps, rows) = self.steps(&mut beams, width, never)?;
            let mut next: Vec<Beam<S>> = Vec::with_capacity(width);
            for Step { beam, word, log_probability } in steps {
                let mut text = beams[beam].text.clone();
                if !self.model.rules().ends.contains(&word) {
                    text.push(NextWord { word, rows: rows[beam] });
                    next.push(Beam { text, log_probability });
                } else if whole.as_ref().is_none_or(|whole| whole.log_probability < log_probability) {
                    whole = Some(Beam { text, log_probability });
                }
                if next.len() == width {
                    break;
                }
            }
            if next.is_empty() {
                break;
            }
            beams = next;
        }
        Ok(whole.unwrap_or_else(|| beams.swap_remove(0)).text.found)
    }

    /// Returns the likeliest words that may follow the beams, likeliest first. At least `width` of them do not end the
    /// sentence, if there are that many. Also returns the rows that were read for each beam.
    fn steps(
        &self,
        beams: &mut [Beam<S>],
        width: usize,
        never: &[usize],
    ) -> Result<(Vec<Step>, Vec<RowsRead>), CannotGenerate> {
        let Classes::Words(candidates) = &self.model.classes else { return Err(CannotGenerate::NotWords) };
        let (mut steps, mut rows) = (Vec::new(), Vec::with_capacity(beams.len()));
        for (number, Beam { text, log_probability }) in beams.iter_mut().enumerate() {
            let (logits, read) = self.next(text);
            rows.push(read);
            if !logits.iter().all(|z| z.is_finite()) {
                return Err(CannotGenerate::NotFinite);
            }
            let before = *log_probability - log_of_sum(&logits);
            let mut classes: Vec<usize> = (0..logits.len()).filter(|class| !never.contains(class)).collect();
            classes.sort_by(|&a, &b| logits[b].to_f64().total_cmp(&logits[a].to_f64()));
            classes.truncate(width + self.model.rules().ends.len());
            steps.extend(classes.into_iter().map(|class| Step {
                beam: number,
                word: candidates.words()[class],
                log_probability: before + logits[class].to_f64(),
            }));
        }
        steps.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability));
        Ok((steps, rows))
    }
}

/// Computes `ln Σ exp(z)`, shifted so that nothing overflows.
fn log_of_sum<S: Scalar>(logits: &[S]) -> f64 {
    let largest = logits.iter().map(|z| z.to_f64()).fold(f64::NEG_INFINITY, f64::max);
    largest + logits.iter().map(|z| (z.to_f64() - largest).exp()).sum::<f64>().ln()
}
