Here is a faster version: it multiplies and adds in one pass.
