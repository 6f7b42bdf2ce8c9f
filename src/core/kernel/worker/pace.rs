//! How fast a training plays: as fast as it goes, or so slowly that it can be watched.

use std::time::{Duration, Instant};

/// Optimiser steps a second; `None`: as fast as it goes. What comes of the steps does not depend on it.
pub type Pace = Option<u32>;

/// When the next step is due.
pub struct Metronome {
    pace: Pace,
    next: Instant,
}

impl Metronome {
    pub fn new(pace: Pace, now: Instant) -> Self {
        Self { pace, next: now }
    }

    /// One step lasts so long.
    fn beat(&self) -> Option<Duration> {
        self.pace.map(|pace| Duration::from_secs(1) / pace.max(1))
    }

    /// How long nothing is due.
    pub fn rest(&self, now: Instant) -> Option<Duration> {
        self.beat().map(|_| self.next.saturating_duration_since(now)).filter(|rest| !rest.is_zero())
    }

    /// The steps that are due, at most so many; those that were missed are not made up for. `None`: as many as
    /// there is time for.
    pub fn due(&mut self, now: Instant, most: usize) -> Option<usize> {
        let beat = self.beat()?;
        if now < self.next {
            return Some(0);
        }
        let late = (now - self.next).as_nanos() / beat.as_nanos().max(1);
        let steps = (late as usize).saturating_add(1).min(most.max(1));
        self.next = (self.next + beat * steps as u32).max(now);
        Some(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_at_their_pace_and_missed_ones_are_forgotten() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let mut slow = Metronome::new(Some(10), begin);
        assert_eq!((slow.due(at(0), 8), slow.due(at(50), 8)), (Some(1), Some(0)));
        assert_eq!(slow.rest(at(60)), Some(Duration::from_millis(40)));
        assert_eq!((slow.due(at(100), 8), slow.due(at(430), 8)), (Some(1), Some(3)));
        // A training that stood still does not run to catch up.
        assert_eq!(slow.due(at(60_000), 8), Some(8));
        assert_eq!(slow.due(at(60_001), 8), Some(1));
        assert_eq!(slow.due(at(60_002), 8), Some(0));
        let mut fast = Metronome::new(None, begin);
        assert_eq!((fast.due(at(0), 8), fast.rest(at(0))), (None, None));
    }
}
