// No directive: the library runs the whole task.
