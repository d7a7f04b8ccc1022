// No directive: the library's layer norm.
