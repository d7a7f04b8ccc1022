// A directive for the kernel writer, which this version does not have.
//! fuse add_1 : vector=4
