// No directive: the library's batch norm and ReLU.
