"""Leaving a search API: its calls, replayed against another provider, and what would change."""
