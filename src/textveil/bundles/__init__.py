"""Prepared languages: bundles, the vectors in them, how they are built, and the ones that ship with textveil."""
