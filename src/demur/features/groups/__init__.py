"""Groups of units: for whom a system is worse, at one threshold and by the curve of each group."""
