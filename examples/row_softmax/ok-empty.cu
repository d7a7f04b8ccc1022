// No directive: the library's softmax.
