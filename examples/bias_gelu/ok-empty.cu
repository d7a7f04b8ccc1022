// No directive: the library runs both nodes.
