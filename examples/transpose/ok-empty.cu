// No directive: the library copies.
