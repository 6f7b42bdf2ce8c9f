//! Memory for large weights, in pages as large as the system provides them.
//!
//! A processor remembers where some thousand pages are. The weights of a model fill more small ones, and a product
//! would wait at each until its place is looked up.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use pulp::bytemuck::{Pod, cast_slice, cast_slice_mut};

/// Numbers in pages of their own.
#[derive(Debug)]
pub struct Pages<T> {
    memory: MmapMut,
    of: PhantomData<T>,
}

impl<T> Pages<T> {
    /// Returns zeros, which take no memory until they are written.
    ///
    /// # Panics
    /// If the system has no room for them.
    pub fn zeros(count: usize) -> Self {
        let memory = MmapMut::map_anon(count * size_of::<T>()).expect("room for weights");
        // Neighbouring matrices share a large page, so all of them are best made before one is written. A system
        // without large pages refuses, and has small ones.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Self { memory, of: PhantomData }
    }
}

impl<T: Pod> Pages<T> {
    /// Returns each entry's image.
    pub fn map<U: Pod>(&self, image: impl Fn(T) -> U) -> Pages<U> {
        let mut images = Pages::zeros(self.len());
        images.iter_mut().zip(&**self).for_each(|(to, &x)| *to = image(x));
        images
    }
}

impl<T> Clone for Pages<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.memory.len() / size_of::<T>());
        copy.memory.copy_from_slice(&self.memory);
        copy
    }
}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        cast_slice(&self.memory)
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        cast_slice_mut(&mut self.memory)
    }
}
