"""Where work runs: this machine or a Ray cluster, and the cache of finished parts."""
