// No directive: the library's matrix product.
