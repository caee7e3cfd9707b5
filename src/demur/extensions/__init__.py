"""Our own extensions, one folder each, found like anybody's: through the entry points of `demur.extension`."""
