// No directive: the library's sum.
