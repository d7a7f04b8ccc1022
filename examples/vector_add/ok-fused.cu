// One line for the writer, which makes the kernel.
//! fuse add_1 : items=2
