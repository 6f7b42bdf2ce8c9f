//! The waking of the window by other threads.

use std::sync::{Arc, OnceLock};

use bevy::winit::{EventLoopProxy, WinitUserEvent};

/// A handle that wakes the window from another thread. It does nothing until the window exists.
#[derive(Clone, Default)]
pub struct Waker(Arc<OnceLock<EventLoopProxy<WinitUserEvent>>>);

impl Waker {
    pub fn connect(&self, proxy: EventLoopProxy<WinitUserEvent>) {
        // There is never a second window, so the first proxy stays.
        let _ = self.0.set(proxy);
    }

    /// Returns a function that wakes the window from another thread.
    pub fn hook(&self) -> impl Fn() + Send + Sync + 'static {
        let waker = self.clone();
        move || waker.wake()
    }

    pub fn wake(&self) {
        if let Some(proxy) = self.0.get() {
            // A closing window needs no waking.
            let _ = proxy.send_event(WinitUserEvent::WakeUp);
        }
    }
}
