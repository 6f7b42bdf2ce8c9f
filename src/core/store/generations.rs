//! Which older states to keep: few, and spread over time.
//!
//! A state becomes a checkpoint when it is replaced and the newest checkpoint is
//! [`SPACING`] older than it. Of more than [`KEPT`] the one goes whose neighbours in time are
//! nearest to each other, as a ratio of ages, so that what stays is some minutes, some tens of minutes,
//! some hours old and so on. The newest and the very first stay.

use std::time::{Duration, SystemTime};

/// Checkpoints of themselves are this far apart.
pub(super) const SPACING: Duration = Duration::from_secs(120);
/// So many of them, and as many of each label.
pub(super) const KEPT: usize = 5;

/// Whether the state of one time is to be kept when the newest checkpoint is of another.
pub(super) fn is_due(state: SystemTime, newest: Option<SystemTime>) -> bool {
    // A clock that was set back says nothing of what lies between: rather one too many.
    newest.is_none_or(|newest| state.duration_since(newest).map_or(true, |since| since >= SPACING))
}

/// Which of these to give up; they are of these times, the newest first.
pub(super) fn spare(saved: &[SystemTime]) -> Option<usize> {
    if saved.len() <= KEPT {
        return None;
    }
    let newest = saved[0];
    let age = |i: usize| (newest.duration_since(saved[i]).unwrap_or_default() + SPACING).as_secs_f64();
    let ratio = |i: &usize| age(i + 1) / age(i - 1);
    (1..saved.len() - 1).min_by(|a, b| ratio(a).total_cmp(&ratio(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_reaches_from_minutes_to_the_beginning() {
        let begin = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let mut kept: Vec<SystemTime> = Vec::new();
        for minute in 0..24 * 60u64 {
            let now = begin + Duration::from_secs(60 * minute);
            if is_due(now, kept.first().copied()) {
                kept.insert(0, now);
            }
            if let Some(i) = spare(&kept) {
                kept.remove(i);
            }
            assert!(kept.len() <= KEPT);
            assert_eq!(kept.last(), Some(&begin));
        }
        let minutes: Vec<u64> = kept.iter().map(|time| kept[0].duration_since(*time).unwrap().as_secs() / 60).collect();
        assert!((2..=20).contains(&minutes[1]), "{minutes:?}");
        assert!((15..=120).contains(&minutes[2]), "{minutes:?}");
        assert!((60..=720).contains(&minutes[3]), "{minutes:?}");
    }

    #[test]
    fn not_all_are_of_one_moment() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        assert!(is_due(now, None));
        assert!(!is_due(now + Duration::from_secs(1), Some(now)));
        assert!(is_due(now + SPACING, Some(now)));
        assert!(is_due(now - Duration::from_secs(1), Some(now)));
    }
}
