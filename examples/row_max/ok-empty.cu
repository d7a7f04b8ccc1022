// No directive: the library's maximum with both results.
