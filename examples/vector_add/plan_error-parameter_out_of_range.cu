// Seventeen elements at once are no choice.
//! fuse add_1 : vector=17
