//! The terms of a block's output that no head adds, in words: what its norms and its feed-forward layer do to the move.

pub use attune_engine::numerics::contributions::Part;

/// As an arrow is named; `norms` is how many norms lie between what the heads add and the block's output.
pub fn name(part: Part, norms: usize) -> &'static str {
    match part {
        Part::Rescaled if norms > 1 => "rescaled by the norms",
        Part::Rescaled => "rescaled by the norm",
        Part::Bias => "b_O",
        Part::Shift if norms > 1 => "shift of the first norm",
        Part::Shift => "shift of the norm",
        Part::FeedForward => "feed-forward part",
        Part::LastShift => "shift of the second norm",
    }
}

/// Its symbol; `{}` is where the block is named.
pub fn symbol(part: Part, norms: usize) -> &'static str {
    match part {
        Part::Rescaled => "Norm(X{}) − X{}",
        Part::Bias if norms == 0 => "b_O{}",
        Part::Bias => "Norm(b_O{})",
        Part::Shift if norms > 1 => "Norm(β₁{})",
        Part::Shift => "β{}",
        Part::FeedForward if norms == 0 => "F{}",
        Part::FeedForward => "Norm(F{})",
        Part::LastShift => "β₂{}",
    }
}

/// Its place in the list of all, by which an entry names it.
pub fn index(part: Part) -> usize {
    Part::ALL.iter().position(|other| *other == part).unwrap_or(0)
}
