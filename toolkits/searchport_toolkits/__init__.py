"""The built-in toolkits, one file a provider. Each reads as a data sheet: how its vendor differs, and nothing else."""
