"""Importers: the logs of other tools become units, one registered module per tool."""
